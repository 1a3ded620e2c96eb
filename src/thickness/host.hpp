// What the host's two ways share: painting, and the threads that do it.
#pragma once

#include <atomic>

#include "base/parallel.hpp"
#include "thickness/contained.hpp"

namespace nearfield::thickness {

/// Raises a cell to r2. `shared`: other threads may be at it.
template <class N>
void raise(N& cell, N r2, bool shared) {
    if (!shared) {
        if (cell < r2) cell = r2;
        return;
    }
    const std::atomic_ref<N> now(cell);
    N before = now.load(std::memory_order_relaxed);
    while (before < r2 && !now.compare_exchange_weak(before, r2, std::memory_order_relaxed)) {
    }
}

/// Paints all images of a grid that is counted in cells and does not wrap.
void paint_plain(workers& team, const grid3& g, const std::int32_t* field, std::int32_t* painted);

}  // namespace nearfield::thickness
