// The host's dense engine: plain masks of images and volumes, in 16 bits wherever the values allow it.
//
// It solves the axes in another order than the general engine (host.cpp): the first one first. Steps along the first
// axis are counted for whole planes at a time. The search of lines (host/lines.hpp) then solves the middle axis of a
// volume, with neighbouring columns in the lanes of a vector, and the last axis, with lines in them, which are
// transposed there and back. A plane stays in a core's cache from the steps to the result, and results are written in
// memory order. If 16 bits do not hold the values of a tile of lines, it is searched in 32.
#pragma once

#include <algorithm>
#include <cstdint>

#include "exact/plan.hpp"

namespace nearfield::exact {

/// True if solve_planes() serves the call.
bool suits_planes(const plan& p, int threads);
void solve_planes(const host& on, const plan& p, const arrays<host>& a);

/// Partition of the problem, which describe() reports.
struct plane_shape {
    std::int64_t images = 1, rows = 1, lines = 1, length = 1;  ///< along the batch, the first, middle and last axis
    std::int64_t slab = 1;        ///< planes of the first axis that a thread takes at a time
    std::int64_t together = 1;    ///< planes of these that are searched together
    bool image_a_thread = false;  ///< false: all threads work on one image

    plane_shape(const plan& p, int threads);
    [[nodiscard]] std::int64_t plane() const { return lines * length; }
    [[nodiscard]] std::int64_t slabs() const { return (rows + slab - 1) / slab; }
    [[nodiscard]] std::int64_t rows_of(std::int64_t slab_number) const {
        return std::min(slab, rows - slab_number * slab);
    }
    /// Returns the number of steps at the ends of all slabs of an image, in one direction.
    [[nodiscard]] std::int64_t end_elements() const { return (slabs() + 1) * plane(); }
    [[nodiscard]] std::int64_t workspace_bytes(const plan& p, int threads) const;
};

}  // namespace nearfield::exact
