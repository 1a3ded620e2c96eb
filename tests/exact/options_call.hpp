// One call with options, everything round it: images and outputs in any type and layout, the expected answer, and the
// comparison, for every place where the engine can run.
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

/// Which fields one call fills, with which types and layouts.
struct wanted_fields {
    std::optional<dtype> squared{}, distance{}, index{}, trusted{};
    bool coordinates = false, label = false;
    layout image_layout = layout::contiguous, output_layout = layout::contiguous;
};

/// Values of an image before they have a type: 0 is zero, every other number some value that is not.
using codes_t = std::vector<std::uint32_t>;

/// One image, its arrays and its answer.
struct option_item {
    oracle::option_problem problem;
    oracle::option_answer answer;
    guarded image;
    std::optional<guarded> weights, where, squared, distance, index, coordinates, label, trusted;

    option_item(const shape_t& shape, dtype type, const codes_t& codes, const distance_options& options,
                const wanted_fields& wanted, std::uint64_t seed);
    /// Makes it a power diagram with random weights.
    void weigh(dtype type, layout how, std::uint64_t seed);
    /// A part of the cells, drawn, takes no part.
    void leave_out(layout how, std::uint64_t seed);
    void solve() { answer = oracle::solve(problem); }

    [[nodiscard]] std::vector<guarded*> arrays();
};

struct option_call {
    form_value form = form_value::call;
    int threads = 1;
    distance_options options;
    std::vector<option_item> items;  ///< one, except in a list
    std::string story;               ///< what is needed to make it again

    [[nodiscard]] std::vector<guarded*> arrays();
    /// Calls the library; memory[k] holds, on that place, what arrays()[k] holds here.
    template <class Place>
    void start(const Place& on, const std::vector<void*>& memory);
};

/// The case that a choice stands for; the rest is drawn.
option_call make_case(const choice& c, dice& random, std::int64_t most_cells);

/// Runs a call and leaves what it wrote in the call's arrays.
using option_engine = std::function<void(option_call&)>;
option_engine host_options_engine();

/// Runs the call and returns what is wrong with it: a value, a guard byte, a changed input, an error where none was due
/// or none where one was. Empty when all is well.
std::string check(const option_engine& run, option_call& c);

/// The first wrong element of an item that was run; empty when all is well.
std::string verdict(const option_item& done);

/// `value` as IEEE binary16, rounded once, to nearest, ties to even.
std::uint16_t half_bits(double value);

}  // namespace nearfield::test
