// One call with options: images and outputs in any type and layout, the expected result, and the comparison, for every
// place where the engine runs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exact/guarded.hpp"
#include "exact/options_choice.hpp"
#include "nearfield/distance_where.hpp"
#include "nearfield/voronoi.hpp"
#include "oracle/options.hpp"

namespace nearfield::test {

/// The fields that a call fills, with their types and layouts.
struct wanted_fields {
    std::optional<dtype> squared{}, distance{}, index{}, trusted{};
    bool coordinates = false, label = false;
    layout image_layout = layout::contiguous, output_layout = layout::contiguous;
};

/// Values of an image before they have a type: 0 is zero, every other number stands for some nonzero value.
using codes_t = std::vector<std::uint32_t>;

/// One image, its arrays and its result.
struct option_item {
    oracle::option_problem problem;
    oracle::option_answer answer;
    guarded image;
    std::optional<guarded> weights, where, squared, distance, index, coordinates, label, trusted;

    option_item(const shape_t& shape, dtype type, const codes_t& codes, const distance_options& options,
                const wanted_fields& wanted, std::uint64_t seed);
    /// Turns the call into a power diagram with random weights.
    void weigh(dtype type, layout how, std::uint64_t seed);
    /// Excludes a random part of the cells from the call.
    void leave_out(layout how, std::uint64_t seed);
    void solve() { answer = oracle::solve(problem); }

    [[nodiscard]] std::vector<guarded*> arrays();
};

struct option_call {
    form_value form = form_value::call;
    int threads = 1;
    distance_options options;
    std::vector<option_item> items;  ///< one item, except in a list
    std::string story;               ///< everything that is needed to repeat the case

    [[nodiscard]] std::vector<guarded*> arrays();
    /// Calls the library; memory[k] holds, on that place, the contents of arrays()[k].
    template <class Place>
    void start(const Place& on, const std::vector<void*>& memory);
};

/// Makes the case that a choice describes; draws everything else.
option_call make_case(const choice& c, dice& random, std::int64_t most_cells);

/// Runs a call; its outputs are in the call's arrays.
using option_engine = std::function<void(option_call&)>;
option_engine host_options_engine();

/// Runs the call. Returns "" or the error: a wrong value, a changed guard byte, a changed input, an exception that
/// should not occur, or a missing one.
std::string check(const option_engine& run, option_call& c);

/// Returns "" or the first wrong element of an item after a run.
std::string verdict(const option_item& done);

/// `value` as IEEE binary16, rounded once, to nearest, ties to even.
std::uint16_t half_bits(double value);

}  // namespace nearfield::test
