// Random calls of chessboard_distance() and cityblock_distance(), compared with all pairs of cells.
#pragma once

#include <functional>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/chessboard.hpp"

namespace nearfield::test {

struct step_case {
    shape_t shape;
    flags_t mask;
    bool diagonal = true;
    step_options options;
};
template <class Place>
using step_call = void (*)(const Place&, const any_input<Place>&, const any_output<Place>&, const step_options&);
template <class Place>
step_call<Place> call_of(bool diagonal) {
    if (diagonal) return chessboard_distance;
    return cityblock_distance;
}

/// Runs a call; returns int32 distances in C order.
using step_runner = std::function<std::vector<std::int32_t>(const step_case&)>;

/// Checks the seeds [first, end), with 1 to 4 axes of up to 9 cells, some in batches; stops at the first wrong one.
/// `sides`: includes one-sided distances.
void check_steps(const step_runner& run, bool sides, std::uint64_t first, std::uint64_t end);

}  // namespace nearfield::test
