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

/// Checks rows and lines of 1 to 66000 cells with no, one, few or only sites, in both metrics, with all kinds of ends.
/// On a GPU the lengths lie around those of a chunk (8 cells), a word of marks (32), groups (64, 512), a tile (512
/// cells of 16 bits, 256 of 32 bits, which lengths beyond 65534 take) and a stretch of marks (1024).
void check_lengths(const step_runner& run);

/// Checks larger images and volumes with many sites and a hole, with all kinds of ends: a distance is 0 at a site,
/// elsewhere one more than the least beside it. This defines distances, if there is a site.
void check_dense(const step_runner& run);

}  // namespace nearfield::test
