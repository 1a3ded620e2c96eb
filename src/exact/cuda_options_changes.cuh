// Where labels change, as bits: a word for 32 neighbouring cells of a line, words of a line one after another, and a
// bit that says that a cell's label is not that of the cell before it along an axis.
#pragma once

#include "exact/gpu/ground/marks.hpp"

namespace nearfield::exact {

// Axes before the last one along which labels may change; problems with more have no such words.
constexpr int most_other_axes = 3;

/// What the tiles behind count in; whatever packs the image clears it.
struct tile_flags {
    std::int32_t* counts = nullptr;   ///< of an axis each
    std::int32_t* refused = nullptr;  ///< null where nothing is

    /// To be called by all threads of a kernel.
    __device__ void clear() const {
        if (blockIdx.x != 0 || threadIdx.x != 0 || threadIdx.y != 0) return;
        for (int axis = 0; axis < max_rank; ++axis) counts[axis] = 0;
        if (refused != nullptr) *refused = 0;
    }
};

/// Where changes go.
struct label_changes {
    std::uint32_t* along_last = nullptr;
    std::uint32_t* zeros = nullptr;              ///< which cells are zero; null is not wanted
    std::uint32_t* along[most_other_axes] = {};  ///< of the axes before, the first one first
    tile_flags flags;
};

/// Packs a contiguous image of a problem with `most_other_axes` axes before its last one at most.
void pack_changes(const device& on, const plan& p, const elements& image, const label_changes& to);

}  // namespace nearfield::exact
