// One call of the exact engine with everything round it: inputs and outputs in any layout, the expected answer, and the
// comparison, for every place where the engine can run.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "exact/cases.hpp"
#include "exact/guarded.hpp"
#include "nearfield/distance.hpp"
#include "oracle/oracle.hpp"

namespace nearfield::test {

/// Which outputs one call fills, and with which types.
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
    /// 1..47: every combination once; 0 would be none of them.
    static outputs number(std::uint64_t k) {
        return {static_cast<distance_t>(k % 3), static_cast<squared_t>(k / 3 % 4), k / 12 % 2 == 1, k / 24 % 2 == 1};
    }
    static outputs all() { return {distance_t::float32, squared_t::narrowest, true, true}; }
};
inline constexpr std::uint64_t output_combinations = 48;

/// How the arrays of a call are laid out and typed.
struct dress {
    dtype image = dtype::uint8;
    layout image_layout = layout::contiguous;
    layout output_layout = layout::contiguous;
    bool sites_are_nonzero = false;
    std::uint64_t seed = 0;

    /// A different one for every k; the first 72 have every image type in every layout.
    static dress number(std::uint64_t k);
};

/// A problem with its answer, computed once and used by many calls.
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
    /// Paints the outputs and writes new sites of the same shape into the image.
    void refill(const flags_t& sites);
};

/// Empty, or the first thing that is wrong: a value, a guard byte, a changed input.
std::string verdict(const call& done, const call& before, const solved& expected);

/// Runs a call and leaves what it wrote in the call's arrays.
using engine = std::function<void(call&)>;
engine host_engine(int threads);

/// Runs the case and returns its verdict, with what is needed to repeat it; empty when all is well.
std::string check(const engine& run, const solved& s, const outputs& wanted, const dress& how);

}  // namespace nearfield::test
