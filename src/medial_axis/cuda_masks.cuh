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

/// Planes that a warp walks through, and its lanes that own columns: those of the outer two belong to its neighbours.
inline constexpr int planes_of_walk = 16, own_lanes = cuda::warp - 2;

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
    bool whole;  ///< rows start at multiples of 16 bytes, and their marks at multiples of 4
};

/// A cell's vector to its nearest site in bytes: 64 + z, 64 + y and 64 + x, from the lowest byte on. It starts in the
/// plane's first cell of the warp's rows and the lane's columns, so that all these share a constant. Sums and
/// differences of two words are right where those of the cells' own vectors fit a signed byte.
struct near_cell {
    std::uint32_t word;

    static constexpr std::uint32_t zero = 0x00404040, signs = 0x80808080;
    static constexpr std::int32_t reach = 62;  ///< one less, as cells beyond the grid repeat its outermost ones
    static constexpr std::uint32_t offset(int rows, int columns) {
        return (static_cast<std::uint32_t>(rows) << 8) + (static_cast<std::uint32_t>(columns) << 16);
    }
};
using far_cell = cell<std::int32_t>;

__device__ inline bool is_site(const near_cell& p, std::uint32_t offset) { return p.word == near_cell::zero + offset; }
__device__ inline bool is_site(const far_cell& p, std::uint32_t) { return p.squared == 0; }

/// A warp's part of an image: rows from y on, in planes first .. end - 1. A lane has a few columns from x on.
struct part {
    const std::int32_t* index;
    std::uint8_t* axis;
    std::int32_t y, x, first, end;
    bool own;  ///< the lane's columns are the warp's own, and the first one is in the grid
};

/// Unpacks the site of the cell in plane z, row `row` and column `column` of a part. If there is no site, all cells get
/// the same one.
template <bool Flat>
__device__ inline void unpack(const columns& c, const part& p, std::int32_t z, int row, int column, std::int32_t found,
                              far_cell& to) {
    const std::int32_t site = found < 0 ? 0 : found;
    const auto line = static_cast<std::int32_t>(c.by_row.quotient(static_cast<std::uint32_t>(site)));
    const auto plane = Flat ? line : static_cast<std::int32_t>(c.by_plane.quotient(static_cast<std::uint32_t>(line)));
    to.to[0] = plane - z, to.to[1] = Flat ? 0 : line - plane * c.size[1] - (p.y + row);
    to.to[2] = site - line * c.size[2] - (p.x + column);
    to.squared = found < 0 ? 0 : c.by.dot(to.to, to.to);
}
template <bool Flat>
__device__ inline void unpack(const columns& c, const part& p, std::int32_t z, int, int, std::int32_t found,
                              near_cell& to) {
    const auto site = static_cast<std::uint32_t>(found);
    const std::uint32_t line = c.by_row.quotient(site), plane = Flat ? 0 : c.by_plane.quotient(line);
    const std::uint32_t own = static_cast<std::uint32_t>(z) + (Flat ? 0 : static_cast<std::uint32_t>(p.y) << 8) +
                              (static_cast<std::uint32_t>(p.x) << 16);
    to.word = (site << 16) + (near_cell::zero - own) + line * c.of_line + plane * c.of_plane;
}

/// The cells of a lane's columns in one plane: `Rows` of the warp and, if `Rows` > 1, the rows before and after these.
/// One row is for images, whose planes have no other one. Beyond the grid its outermost cells are repeated: such a pair
/// has one site, so it never counts.
template <int Rows, int Columns, class Cell>
struct plane_of_cells {
    static constexpr int halo = Rows > 1 ? 1 : 0;
    Cell at[Rows + 2 * halo][Columns];

    /// Returns whether all cells are within reach of a near_cell. Distances of neighbours differ by one at most, so the
    /// first cell tells it for the others.
    __device__ bool read(const columns& c, const part& p, std::int32_t z) {
        const std::int32_t* const plane =
            p.index + static_cast<std::int64_t>(inside(z, c.size[0])) * (c.size[1] * c.size[2]);
        bool near = true;
#pragma unroll
        for (int k = 0; k < Rows + 2 * halo; ++k) {
            std::int32_t found[Columns];
            read_row(c, p, plane + inside(p.y + k - halo, c.size[1]) * c.size[2], found);
#pragma unroll
            for (int j = 0; j < Columns; ++j) unpack<Rows == 1>(c, p, z, k - halo, j, found[j], at[k][j]);
            if (!std::is_same_v<Cell, near_cell> || k != halo) continue;
            constexpr std::int32_t most = near_cell::reach - Rows - (Columns - 1);
            far_cell exact;
            unpack<Rows == 1>(c, p, z, 0, 0, found[0], exact);
            near = found[0] >= 0 && exact.squared <= most * most;
        }
        return near;
    }

private:
    /// Reads four cells at once where rows allow it. A lane beyond the grid then gets a lane's columns within it, and
    /// only the cell that has a neighbour in the grid needs to repeat that one.
    __device__ static void read_row(const columns& c, const part& p, const std::int32_t* row,
                                    std::int32_t (&found)[Columns]) {
        if (Columns == 4 && c.whole) {
            const int4 four = *reinterpret_cast<const int4*>(row + max(0, min(p.x, c.size[2] - 4)));
            const bool before = p.x < 0, behind = p.x >= c.size[2];
            const std::int32_t all[4] = {behind ? four.w : four.x, four.y, four.z, before ? four.x : four.w};
#pragma unroll
            for (int j = 0; j < Columns; ++j) found[j] = all[j];
            return;
        }
#pragma unroll
        for (int j = 0; j < Columns; ++j) found[j] = row[inside(p.x + j, c.size[2])];
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

/// A pair p and q, the next cell along `axis`. For words: what p's origin is before q's, and both cells' offsets.
struct pair {
    int axis;
    std::uint32_t step, offsets;
};

/// Evaluates a pair.
template <bool Constant>
__device__ inline marks weigh(const columns& c, const far_cell& p, const far_cell& q, const pair& of) {
    const bond<std::int32_t> found = between<Constant>(c.by, p, q, of.axis);
    return {found.counts && found.side >= 0 ? -1 : 0, found.counts && found.side <= 0 ? -1 : 0};
}
/// With e = f(p) - f(q), the side is e.(f(p) + f(q) - p - q), as in between() for doubles. Pruning is constant, and
/// `least` is at least 1.
template <bool Constant>
__device__ inline marks weigh(const columns& c, const near_cell& p, const near_cell& q, const pair& of) {
    const auto e = static_cast<std::int32_t>((p.word - q.word + (near_cell::signs - of.step)) ^ near_cell::signs);
    const auto sum = static_cast<std::int32_t>((p.word + q.word - of.offsets) ^ near_cell::signs);
    const std::int32_t more = __dp4a(e, e, ~c.by.least), side = __dp4a(e, sum, 0);
    return {~(more | side), ~more & (side - 1)};
}

/// Sets signs of the cells of `here` that pairs within the plane mark.
template <int Rows, int Columns, bool Constant, class Cell>
__device__ void mark_within(const columns& c, const plane_of_cells<Rows, Columns, Cell>& here,
                            std::int32_t (&marked)[Rows][Columns]) {
    constexpr int halo = plane_of_cells<Rows, Columns, Cell>::halo, last = Columns - 1;
    constexpr auto offset = near_cell::offset;
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
        const auto& row = here.at[k + halo];
#pragma unroll
        for (int j = 0; j < last; ++j) {
            const marks found = weigh<Constant>(c, row[j], row[j + 1], {2, 0, offset(2 * k, 2 * j + 1)});
            marked[k][j] |= found.of_p, marked[k][j + 1] |= found.of_q;
        }
        const marks found =
            weigh<Constant>(c, row[last], of_next_lane(row[0]), {2, offset(0, Columns), offset(2 * k, last)});
        marked[k][last] |= found.of_p, marked[k][0] |= __shfl_up_sync(every_lane, found.of_q, 1);
    }
#pragma unroll
    for (int k = -halo; k < Rows - 1 + halo; ++k)
#pragma unroll
        for (int j = 0; j < Columns; ++j) {
            const marks found =
                weigh<Constant>(c, here.at[k + halo][j], here.at[k + halo + 1][j], {1, 0, offset(2 * k + 1, 2 * j)});
            if (k >= 0) marked[k][j] |= found.of_p;
            if (k + 1 < Rows) marked[k + 1][j] |= found.of_q;
        }
}

/// Sets signs of the cells of `here` that pairs with `next` mark, and returns those of `next`.
template <int Rows, int Columns, bool Constant, class Cell>
__device__ void mark_between(const columns& c, const plane_of_cells<Rows, Columns, Cell>& here,
                             const plane_of_cells<Rows, Columns, Cell>& next, std::int32_t (&of_here)[Rows][Columns],
                             std::int32_t (&of_next)[Rows][Columns]) {
    constexpr int halo = plane_of_cells<Rows, Columns, Cell>::halo;
#pragma unroll
    for (int k = 0; k < Rows; ++k)
#pragma unroll
        for (int j = 0; j < Columns; ++j) {
            const marks found =
                weigh<Constant>(c, here.at[k + halo][j], next.at[k + halo][j], {0, 1, near_cell::offset(2 * k, 2 * j)});
            of_here[k][j] |= found.of_p, of_next[k][j] = found.of_q;
        }
}

/// Writes the marks of a lane's cells in a plane whose rows start at `line`.
template <int Rows, int Columns, class Cell>
__device__ void write(const columns& c, const part& p, const plane_of_cells<Rows, Columns, Cell>& here,
                      const std::int32_t (&marked)[Rows][Columns], std::uint8_t* line) {
#pragma unroll
    for (int k = 0; k < Rows; ++k, line += c.size[2]) {
        std::uint32_t bytes[Columns];
#pragma unroll
        for (int j = 0; j < Columns; ++j)
            bytes[j] = marked[k][j] < 0 &&
                       !is_site(here.at[k + plane_of_cells<Rows, Columns, Cell>::halo][j], near_cell::offset(k, j));
        if (!p.own || p.y + k >= c.size[1]) continue;
        if constexpr (Columns == 4)
            if (c.whole) {
                *reinterpret_cast<std::uint32_t*>(line) = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24;
                continue;
            }
#pragma unroll
        for (int j = 0; j < Columns; ++j)
            if (Columns == 1 || p.x + j < c.size[2]) line[j] = static_cast<std::uint8_t>(bytes[j]);
    }
}

/// Walks through a warp's planes with two of them in registers. It unpacks a site once and evaluates each pair once;
/// pairs of two lanes take two shuffles. Returns false, with some planes unwritten, if cells are out of reach.
template <int Rows, int Columns, bool Constant, class Cell>
__device__ bool walk(const columns& c, const part& p) {
    constexpr bool narrow = std::is_same_v<Cell, near_cell>;
    std::int32_t marked[Rows][Columns] = {}, of_next[Rows][Columns];
    plane_of_cells<Rows, Columns, Cell> here, next;
    bool near = here.read(c, p, p.first - 1);
    near = next.read(c, p, p.first) && near;
    if (narrow && !__all_sync(every_lane, near)) return false;
    mark_between<Rows, Columns, Constant>(c, here, next, marked, of_next);
    for (std::int32_t z = p.first; z < p.end; ++z) {
        here = next;
#pragma unroll
        for (int k = 0; k < Rows; ++k)
#pragma unroll
            for (int j = 0; j < Columns; ++j) marked[k][j] = of_next[k][j];
        near = next.read(c, p, z + 1);
        if (narrow && !__all_sync(every_lane, near)) return false;
        mark_within<Rows, Columns, Constant>(c, here, marked);
        mark_between<Rows, Columns, Constant>(c, here, next, marked, of_next);
        write(c, p, here, marked, p.axis + (static_cast<std::int64_t>(z) * c.size[1] + p.y) * c.size[2] + p.x);
    }
    return true;
}

/// Rows of a warp in volumes whose cells are near their sites, and in others. With 4 instead of 8 a call took 2.08
/// instead of 1.93 ms (512^3 s8 50 %, H200, 2026-11-30). In images a warp has one row, and a lane four columns of it.
inline constexpr int near_rows = 8, far_rows = 4, image_columns = 4;

/// A warp marks its part of an image, with words for cells if all lie near their sites. Otherwise it begins anew.
template <int Rows, int Few, int Columns, bool Constant>
__global__ void __launch_bounds__(threads_of_block, 3) mark_columns(const columns c) {
    const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * warps_of_block + threadIdx.x / cuda::warp;
    if (number >= c.warps) return;
    const std::int64_t band = quotient(number, c.tiles[2]), slab = quotient(band, c.tiles[1]);
    const std::int64_t image = quotient(slab, c.tiles[0]);
    part p{c.index + image * c.image_cells, c.axis + image * c.image_cells};
    const auto lane = static_cast<std::int32_t>(threadIdx.x % cuda::warp);
    p.x = (static_cast<std::int32_t>(number - band * c.tiles[2]) * own_lanes + lane - 1) * Columns;
    p.x = min(p.x, c.size[2]);  // beyond the grid, near its cells
    p.y = static_cast<std::int32_t>(band - slab * c.tiles[1]) * Rows;
    p.first = static_cast<std::int32_t>(slab - image * c.tiles[0]) * planes_of_walk;
    p.end = min(p.first + planes_of_walk, c.size[0]);
    p.own = lane > 0 && lane <= own_lanes && p.x < c.size[2];
    if constexpr (Constant)
        if (walk<Rows, Columns, true, near_cell>(c, p)) return;
    for (int k = 0; k < Rows; k += Few, p.y += Few) walk<Few, Columns, Constant, far_cell>(c, p);
}

}  // namespace nearfield::medial_axes
