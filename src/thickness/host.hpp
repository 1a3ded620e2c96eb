// Code shared by the host's two paths: painting, and the threads that paint.
#pragma once

#include <atomic>

#include "base/parallel.hpp"
#include "thickness/core.hpp"

namespace nearfield::thickness {

/// Raises a cell to at least r2. `shared` tells that other threads may write the cell at the same time.
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

}  // namespace nearfield::thickness
