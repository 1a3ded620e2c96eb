// One call of the exact engine: inputs and outputs in any layout, the expected result, and the comparison, for every
// place where the engine runs.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "exact/cases.hpp"
#include "exact/guarded.hpp"
#include "nearfield/distance.hpp"
#include "oracle/oracle.hpp"

namespace nearfield::test {

/// The outputs that a call fills, and their types.
struct outputs {
    enum class distance_t : std::uint8_t { none, float32, float64 };
    enum class squared_t : std::uint8_t { none, narrowest, uint64, float64 };
    distance_t distance = distance_t::none;
    squared_t squared = squared_t::none;
    bool index = false;
    bool coordinates = false;

    [[nodiscard]] bool any() const {
        return distance != distance_t::none || squared != squared_t::none || index || coordinates;
    }
    /// Combination k of 1..47; 0 would want no output.
    static outputs number(std::uint64_t k) {
        return {static_cast<distance_t>(k % 3), static_cast<squared_t>(k / 3 % 4), k / 12 % 2 == 1, k / 24 % 2 == 1};
    }
    static outputs all() { return {distance_t::float32, squared_t::narrowest, true, true}; }
};
inline constexpr std::uint64_t output_combinations = 48;

/// Layouts and types of a call's arrays.
struct dress {
    dtype image = dtype::uint8;
    layout image_layout = layout::contiguous;
    layout output_layout = layout::contiguous;
    bool sites_are_nonzero = false;
    std::uint64_t seed = 0;

    /// Variant k; the first 72 combine every image type with every layout.
    static dress number(std::uint64_t k);
};

/// A problem with its result, which is computed once for many calls.
struct solved {
    oracle::problem problem;
    nearfield::spacing spacing;
    oracle::answer answer;
};
solved solve(const shape_t& shape, const flags_t& sites, const spacing_case& cell);

/// The arrays of one call.
struct call {
    guarded image;
    std::optional<guarded> distance, squared, index, coordinates;
    distance_options options;

    call(const solved& s, const outputs& wanted, const dress& how);

    [[nodiscard]] std::vector<guarded*> arrays();
    /// Paints the outputs, and writes new sites of the same shape into the image.
    void refill(const flags_t& sites);
};

/// Returns "" or the first error: a wrong value, a changed guard byte, a changed input.
std::string verdict(const call& done, const call& before, const solved& expected);

/// Runs a call; its outputs are in the call's arrays.
using engine = std::function<void(call&)>;
engine host_engine(int threads);

/// Runs a case. Returns "" or the error with everything that is needed to repeat the case.
std::string check(const engine& run, const solved& s, const outputs& wanted, const dress& how);

}  // namespace nearfield::test
