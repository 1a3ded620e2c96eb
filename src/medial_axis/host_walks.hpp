// The host's pass over nearest sites whose vectors are integers.
#pragma once

#include <atomic>

#include "medial_axis/problem.hpp"

namespace nearfield::medial_axes {

/// True if the pass serves a call. `dense`: index and axis are contiguous.
inline bool has_walks(const problem& p, const pass& over, bool dense) {
    return dense && p.counted && over.second.data == nullptr && over.index.type == dtype::int32 &&
           p.where.cells() < std::int64_t{1} << 31;
}
/// Walks that were done in small numbers, and walks in which a site was too far for them; tests read them.
struct small_walks {
    std::atomic<std::int64_t> done{0}, too_far{0};
};
inline small_walks small_walks_taken;

void mark_rows(const host& on, const problem& p, const pass& over);

}  // namespace nearfield::medial_axes
