// The pass over nearest sites of masks in unit spacing on a device: a warp owns columns and walks along the first axis.
#pragma once

#include "base/cuda.cuh"
#include "base/divide.hpp"
#include "medial_axis/problem.hpp"

namespace nearfield::medial_axes {

using cuda::blocks_for;
using cuda::every_lane;
using cuda::quotient;

inline constexpr int threads_of_block = 256, warps_of_block = threads_of_block / cuda::warp;

/// Planes that a warp walks through; and the columns that it owns, as the outer two of 32 belong to its neighbours.
inline constexpr int planes_of_walk = 16, own_columns = cuda::warp - 2;

struct columns {
    const std::int32_t* index;
    std::uint8_t* axis;
    std::int32_t size[most_axes];
    std::int64_t image_cells;
    divisor by_row, by_plane;         ///< size[2], size[1]
    std::uint32_t of_line, of_plane;  ///< factors of a site's line and plane in a near_cell's word
    rule<std::int32_t, true> by;
    std::int32_t tiles[most_axes];
    std::int64_t warps;
};

/// A cell's vector to its nearest site in bytes: 64 + z, 64 + y and 64 + x, from the lowest byte on. Along y it starts
/// in the warp's first row instead, so that rows share a constant. All stay between 1 and 127, so that sums and
/// differences of two words carry nothing from one byte to the next.
struct near_cell {
    std::uint32_t word;

    static constexpr std::uint32_t zero = 0x00404040, signs = 0x80808080;
    static constexpr std::int32_t reach = 62;  ///< one less, as cells beyond the grid repeat its outermost ones
    static constexpr std::uint32_t rows(int count) { return static_cast<std::uint32_t>(count) << 8; }
};
using far_cell = cell<std::int32_t>;

__device__ inline bool is_site(const near_cell& p, int row) { return p.word == near_cell::zero + near_cell::rows(row); }
__device__ inline bool is_site(const far_cell& p, int) { return p.squared == 0; }

/// A warp's part of an image: 30 columns of `Rows` rows from y on, in planes first .. end - 1.
struct part {
    const std::int32_t* index;
    std::uint8_t* axis;
    std::int32_t y, x, first, end;
    bool own;  ///< the lane's column is one of the 30
};

/// Unpacks the site of the cell in plane z and row `row` of a part. If there is no site, all cells get the same one.
template <bool Flat>
__device__ inline void unpack(const columns& c, const part& p, std::int32_t z, int row, std::int32_t found,
                              far_cell& to) {
    const std::int32_t site = found < 0 ? 0 : found;
    const auto line = static_cast<std::int32_t>(c.by_row.quotient(static_cast<std::uint32_t>(site)));
    const auto plane = Flat ? line : static_cast<std::int32_t>(c.by_plane.quotient(static_cast<std::uint32_t>(line)));
    to.to[0] = plane - z, to.to[1] = Flat ? 0 : line - plane * c.size[1] - (p.y + row);
    to.to[2] = site - line * c.size[2] - p.x;
    to.squared = found < 0 ? 0 : c.by.dot(to.to, to.to);
}
template <bool Flat>
__device__ inline void unpack(const columns& c, const part& p, std::int32_t z, int, std::int32_t found, near_cell& to) {
    const auto site = static_cast<std::uint32_t>(found);
    const std::uint32_t line = c.by_row.quotient(site), plane = Flat ? 0 : c.by_plane.quotient(line);
    const std::uint32_t own = static_cast<std::uint32_t>(z) + (Flat ? 0 : static_cast<std::uint32_t>(p.y) << 8) +
                              (static_cast<std::uint32_t>(p.x) << 16);
    to.word = (site << 16) + (near_cell::zero - own) + line * c.of_line + plane * c.of_plane;
}

/// The cells of a warp's columns in one plane: `Rows` of its own and, if `Rows` > 1, the rows before and after these.
/// One row is for images, whose planes have no other one. Beyond the grid its outermost cells are repeated: such a pair
/// has one site, so it never counts.
template <int Rows, class Cell>
struct plane_of_cells {
    static constexpr int halo = Rows > 1 ? 1 : 0;
    Cell at[Rows + 2 * halo];

    /// Returns whether all cells are within reach of a near_cell. Distances of neighbours differ by one at most, so the
    /// first row tells it for the others.
    __device__ bool read(const columns& c, const part& p, std::int32_t z,
                         const std::int32_t (&row_at)[Rows + 2 * halo]) {
        const std::int32_t* const plane =
            p.index + static_cast<std::int64_t>(inside(z, c.size[0])) * (c.size[1] * c.size[2]);
        bool near = true;
#pragma unroll
        for (int k = 0; k < Rows + 2 * halo; ++k) {
            const std::int32_t found = plane[row_at[k]];
            unpack<Rows == 1>(c, p, z, k - halo, found, at[k]);
            if (!std::is_same_v<Cell, near_cell> || k != halo) continue;
            constexpr std::int32_t most = near_cell::reach - Rows;
            far_cell exact;
            unpack<Rows == 1>(c, p, z, 0, found, exact);
            near = found >= 0 && exact.squared <= most * most;
        }
        return near;
    }
    __device__ static std::int32_t inside(std::int32_t at, std::int32_t size) { return max(0, min(at, size - 1)); }
};

__device__ inline far_cell of_next_lane(const far_cell& own) {
    far_cell next;
#pragma unroll
    for (int axis = 0; axis < most_axes; ++axis) next.to[axis] = __shfl_down_sync(every_lane, own.to[axis], 1);
    next.squared = __shfl_down_sync(every_lane, own.squared, 1);
    return next;
}
__device__ inline near_cell of_next_lane(const near_cell& own) { return {__shfl_down_sync(every_lane, own.word, 1)}; }

/// The sign bits tell which of two cells are on the axis; the other bits have no meaning.
struct marks {
    std::int32_t of_p, of_q;
};

/// Evaluates a pair: p in row `row` of its part, and q, the next cell along `axis`.
template <bool Constant>
__device__ inline marks weigh(const columns& c, const far_cell& p, const far_cell& q, int axis, int) {
    const bond<std::int32_t> found = between<Constant>(c.by, p, q, axis);
    return {found.counts && found.side >= 0 ? -1 : 0, found.counts && found.side <= 0 ? -1 : 0};
}
/// With e = f(p) - f(q), the side is e.(f(p) + f(q) - p - q), as in between() for doubles. Pruning is constant, and
/// `least` is at least 1.
template <bool Constant>
__device__ inline marks weigh(const columns& c, const near_cell& p, const near_cell& q, int axis, int row) {
    const std::uint32_t step = axis == 1 ? 0 : 1U << 8 * axis,
                        rows = near_cell::rows(axis == 1 ? 2 * row + 1 : 2 * row);
    const auto e = static_cast<std::int32_t>((p.word - q.word + (near_cell::signs - step)) ^ near_cell::signs);
    const auto sum = static_cast<std::int32_t>((p.word + q.word - rows) ^ near_cell::signs);
    const std::int32_t more = __dp4a(e, e, ~c.by.least), side = __dp4a(e, sum, 0);
    return {~(more | side), ~more & (side - 1)};
}

/// Sets signs of the cells of `here` that pairs within the plane mark.
template <int Rows, bool Constant, class Cell>
__device__ void mark_within(const columns& c, const plane_of_cells<Rows, Cell>& here, std::int32_t (&marked)[Rows]) {
    constexpr int halo = plane_of_cells<Rows, Cell>::halo;
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
        const marks found = weigh<Constant>(c, here.at[k + halo], of_next_lane(here.at[k + halo]), 2, k);
        marked[k] |= found.of_p | __shfl_up_sync(every_lane, found.of_q, 1);
    }
#pragma unroll
    for (int k = -halo; k < Rows - 1 + halo; ++k) {
        const marks found = weigh<Constant>(c, here.at[k + halo], here.at[k + halo + 1], 1, k);
        if (k >= 0) marked[k] |= found.of_p;
        if (k + 1 < Rows) marked[k + 1] |= found.of_q;
    }
}

/// Sets signs of the cells of `here` that pairs with `next` mark, and returns those of `next`.
template <int Rows, bool Constant, class Cell>
__device__ void mark_between(const columns& c, const plane_of_cells<Rows, Cell>& here,
                             const plane_of_cells<Rows, Cell>& next, std::int32_t (&of_here)[Rows],
                             std::int32_t (&of_next)[Rows]) {
    constexpr int halo = plane_of_cells<Rows, Cell>::halo;
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
        const marks found = weigh<Constant>(c, here.at[k + halo], next.at[k + halo], 0, k);
        of_here[k] |= found.of_p, of_next[k] = found.of_q;
    }
}

/// Walks through a warp's planes with two of them in registers. It unpacks a site once and evaluates each pair once;
/// pairs along the last axis take two shuffles. Returns false, with some planes unwritten, if cells are out of reach.
template <int Rows, bool Constant, class Cell>
__device__ bool walk(const columns& c, const part& p) {
    using plane = plane_of_cells<Rows, Cell>;
    constexpr bool narrow = std::is_same_v<Cell, near_cell>;
    std::int32_t row_at[Rows + 2 * plane::halo], marked[Rows] = {}, of_next[Rows];
#pragma unroll
    for (int k = 0; k < Rows + 2 * plane::halo; ++k)
        row_at[k] = plane::inside(p.y + k - plane::halo, c.size[1]) * c.size[2] + plane::inside(p.x, c.size[2]);
    plane here, next;
    bool near = here.read(c, p, p.first - 1, row_at);
    near = next.read(c, p, p.first, row_at) && near;
    if (narrow && !__all_sync(every_lane, near)) return false;
    mark_between<Rows, Constant>(c, here, next, marked, of_next);
    for (std::int32_t z = p.first; z < p.end; ++z) {
        here = next;
#pragma unroll
        for (int k = 0; k < Rows; ++k) marked[k] = of_next[k];
        near = next.read(c, p, z + 1, row_at);
        if (narrow && !__all_sync(every_lane, near)) return false;
        mark_within<Rows, Constant>(c, here, marked);
        mark_between<Rows, Constant>(c, here, next, marked, of_next);
        std::uint8_t* const line = p.axis + (static_cast<std::int64_t>(z) * c.size[1] + p.y) * c.size[2] + p.x;
#pragma unroll
        for (int k = 0; k < Rows; ++k)
            if (p.own && p.y + k < c.size[1])
                line[static_cast<std::int64_t>(k) * c.size[2]] = marked[k] < 0 && !is_site(here.at[k + plane::halo], k);
    }
    return true;
}

/// Rows of a warp in volumes whose cells are near their sites, and in others. With 4 instead of 8 a call took 2.08
/// instead of 1.93 ms (512^3 s8 50 %, H200, 2026-11-30).
inline constexpr int near_rows = 8, far_rows = 4;

/// A warp marks its part of an image, with words for cells if all lie near their sites. Otherwise it begins anew.
template <bool Flat, bool Constant>
__global__ void __launch_bounds__(threads_of_block, 3) mark_columns(const columns c) {
    constexpr int rows = Flat ? 1 : near_rows, few = Flat ? 1 : far_rows;
    const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * warps_of_block + threadIdx.x / cuda::warp;
    if (number >= c.warps) return;
    const std::int64_t band = quotient(number, c.tiles[2]), slab = quotient(band, c.tiles[1]);
    const std::int64_t image = quotient(slab, c.tiles[0]);
    part p{c.index + image * c.image_cells, c.axis + image * c.image_cells};
    const auto lane = static_cast<std::int32_t>(threadIdx.x % cuda::warp);
    p.x = static_cast<std::int32_t>(number - band * c.tiles[2]) * own_columns + lane - 1;
    p.y = static_cast<std::int32_t>(band - slab * c.tiles[1]) * rows;
    p.first = static_cast<std::int32_t>(slab - image * c.tiles[0]) * planes_of_walk;
    p.end = min(p.first + planes_of_walk, c.size[0]);
    p.own = lane > 0 && lane <= own_columns && p.x < c.size[2];
    if constexpr (Constant)
        if (walk<rows, true, near_cell>(c, p)) return;
    for (int k = 0; k < rows; k += few, p.y += few) walk<few, Constant, far_cell>(c, p);
}

}  // namespace nearfield::medial_axes
