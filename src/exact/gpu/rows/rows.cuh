// The last axis: writes the keys of the nearest sites of each row, from marks, or, for power diagrams, the first values
// of sites.
#pragma once

#include <limits>

#include "exact/gpu/rows/first_values.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int row_warps = 8;
constexpr int row_threads = row_warps * cuda::warp;
constexpr int cells_of_lane = 8;

/// Selects the nearer of the marks on both sides of a cell; at a change, the cell before is the site to the left.
struct row_sites {
    marked from;
    bool changes;

    /// Returns the site of cell `at`, in word w; -1 if there is none.
    __device__ std::int64_t site(std::int64_t line, std::int64_t at) const {
        const std::int64_t w = at / mark_bits, mine = line * from.words + w;
        const int i = static_cast<int>(at % mark_bits);
        if (from.zeros != nullptr && from.zeros[mine] >> i & 1) return at;
        const gaps near(from.bits[mine], from.to_before[mine], from.to_after[mine], i, changes);
        return near.none() ? -1 : near.where(at, from.rows);
    }
};

/// Writes wide keys, of int32 numbers with their value above, or positions in 32 bits. A warp owns 256 cells of a row,
/// a lane eight neighbours.
template <class V, class Key>
__global__ void __launch_bounds__(row_threads)
    write_rows(const row_sites sites, std::int64_t stretches, const metric<V> m, Key* to) {
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * row_warps + threadIdx.x / cuda::warp;
    const std::int64_t line = quotient(nth, stretches);
    if (line >= sites.from.columns) return;
    const std::int64_t first =
        (nth - line * stretches) * (cuda::warp * cells_of_lane) + threadIdx.x % cuda::warp * cells_of_lane;
    const std::int64_t length = sites.from.rows;
#pragma unroll
    for (int i = 0; i < cells_of_lane; ++i) {
        if (first + i >= length) return;
        const std::int64_t site = sites.site(line, first + i);
        if constexpr (sizeof(Key) == sizeof(std::int32_t)) {
            to[line * length + first + i] = static_cast<Key>(site);
            continue;
        }
        std::int64_t key = site < 0 ? -1 : m.keys.template field<std::int64_t>(m.rank - 1, site);
        if constexpr (std::is_same_v<V, std::int32_t>)
            if (site >= 0) key |= static_cast<std::int64_t>(m.between(m.rank - 1, first + i, site)) << 32;
        to[line * length + first + i] = static_cast<Key>(key);
    }
}

}  // namespace
}  // namespace nearfield::exact::gpu
