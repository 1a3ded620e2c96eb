// Cells of volumes that the search for near sites (stencil.cuh) lists, because none of its offsets reached them: a warp
// searches the rows around each cell.
#pragma once

#include "exact/gpu/stencil/stencil.cuh"

namespace nearfield::exact {
namespace {

constexpr int mended_reach = 15;  // largest distance in rows
constexpr int mend_warps = 8;     // warps of a block

/// A listed cell: its bit of a word of a volume.
struct open_cell {
    near_tile at;
    int z, y, column, bit;

    /// Words are numbered in memory order.
    template <class Index>
    __device__ open_cell(const near_call<Index>& c, std::int64_t listed) {
        const std::int64_t word = listed / cuda::warp, above = quotient(word, c.lines.rows),
                           plane = quotient(above, c.lines.columns);
        bit = static_cast<int>(listed % cuda::warp), y = static_cast<int>(word - above * c.lines.rows);
        column = static_cast<int>(above - plane * c.lines.columns);
        at.first_plane = quotient(plane, c.planes) * c.planes, z = static_cast<int>(plane - at.first_plane);
    }
};

/// The least of a warp's sites around a cell, packed in the order of the tie rule.
struct near_site {
    static constexpr int bias = mended_reach + 1;
    std::uint32_t packed = ~0u;

    /// Searches rows up to `reach` away.
    template <class Index>
    __device__ near_site(const near_call<Index>& c, const open_cell& cell, int reach) {
        const int side = 2 * reach + 1;
#pragma unroll 4
        for (int i = static_cast<int>(threadIdx.x) % cuda::warp; i < side * side; i += cuda::warp) {
            const int dz = i / side - reach, dy = i - (dz + reach) * side - reach;
            const line_word w = cell.at.word(c, cell.z + dz, cell.y + dy, cell.column);
            relax(w.to_left(cell.bit), -1, dy, dz), relax(w.to_right(cell.bit), 1, dy, dz);
        }
        packed = __reduce_min_sync(cuda::every_lane, packed);
    }
    /// True if no site outside the searched rows is nearer, or equally near.
    [[nodiscard]] __device__ bool is_nearest(int reach) const {
        return packed >> 15 < static_cast<std::uint32_t>((reach + 1) * (reach + 1));
    }
    [[nodiscard]] __device__ int dx() const { return static_cast<int>(packed >> 10 & 31) - bias; }
    [[nodiscard]] __device__ int dy() const { return static_cast<int>(packed >> 5 & 31) - bias; }
    [[nodiscard]] __device__ int dz() const { return static_cast<int>(packed & 31) - bias; }

private:
    __device__ void relax(int apart, int side, int dy, int dz) {
        if (apart > mended_reach) return;
        packed = min(packed, static_cast<std::uint32_t>((apart * apart + dy * dy + dz * dz) << 15 |
                                                        (side * apart + bias) << 10 | (dy + bias) << 5 | (dz + bias)));
    }
};

/// Finishes listed cells, one after another per warp. A cell whose site is too far away stays unfinished.
template <class Index>
__global__ void __launch_bounds__(mend_warps* cuda::warp) mend_near_sites(const near_call<Index> c) {
    cuda::wait_for_kernel_before();
    if (*c.open > near_most_open) return;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const std::int64_t all = *c.listed;
    for (std::int64_t nth = blockIdx.x * std::int64_t{mend_warps} + warp; nth < all;
         nth += gridDim.x * std::int64_t{mend_warps}) {
        const open_cell cell(c, c.list[nth]);
        int reach = near_side + 1;
        near_site site(c, cell, reach);
        while (!site.is_nearest(reach) && reach < mended_reach) {
            reach = min(2 * reach, mended_reach);
            site = near_site(c, cell, reach);
        }
        if (!site.is_nearest(reach)) {
            *c.open = unfinished;
            return;
        }
        if (lane != 0) continue;
        const std::int64_t index =
            (cell.z * c.lines.rows + cell.y) * c.lines.length + cell.column * cuda::warp + cell.bit;
        c.out[cell.at.first_plane * c.plane_cells() + index] =
            static_cast<Index>(index + site.dx() + site.dy() * c.lines.length + site.dz() * c.plane_cells());
    }
}

}  // namespace
}  // namespace nearfield::exact
