// Dense images and volumes on a device, solved by growing sets of cells, a bit each. A warp holds a tile in registers:
// a lane has a row of 64 cells in each plane, of which the middle 32 are its own. It grows the set of sites by one step
// at a time, as host_levels.cpp does, and so finds distances of up to `steps` without access to memory. If a cell lies
// farther away, the next round begins with the sets that the warps kept. If the last round leaves a cell, the other
// kernels solve the problem; otherwise they do nothing.
#pragma once

#include <utility>

#include "chessboard/cuda_rows.cuh"

namespace nearfield::chessboard {
namespace {

using row_bits = unsigned long long;

/// Cells of a tile, with the halo that its steps use up: `own_rows` rows in each of `own_planes` planes are its own.
template <int Axes>
struct tile_of;
template <>
struct tile_of<2> {
    static constexpr int steps = 15, planes = 1, groups = 4, plane_halo = 0, row_halo = 16;
    static constexpr int patch_words = 2, patch_rows = 64, patch_planes = 1;
};
template <>
struct tile_of<3> {
    static constexpr int steps = 8, planes = 32, groups = 1, plane_halo = 8, row_halo = 8;
    static constexpr int patch_words = 1, patch_rows = 32, patch_planes = 4;
};
template <int Axes>
constexpr int own_rows = tile_of<Axes>::groups * cuda::warp - 2 * tile_of<Axes>::row_halo;
template <int Axes>
constexpr int own_planes = tile_of<Axes>::planes - 2 * tile_of<Axes>::plane_halo;
constexpr int threads_of_tiles = 128;
constexpr std::int64_t fewest_cells_of_sets = 1 << 17;  ///< launches take longer than smaller problems gain
constexpr std::int64_t fewest_cells_of_rounds = 1 << 19, fewest_of_volumes = 1 << 22;
constexpr int most_rounds = 3, most_rounds_of_blocks = 5;  ///< of chessboard distances, of city blocks

/// Calls are tried if two or three axes are searched and none of these is a ring.
NF_HD inline bool may_use_sets(const problem& p) {
    const int axes = p.rank - p.batch;
    if ((axes != 2 && axes != 3) || p.cells < fewest_cells_of_sets) return false;
    for (int axis = p.batch; axis < p.rank; ++axis)
        if (p.ends[axis] == border::periodic) return false;
    return true;
}

/// The searched axes of a problem, and its marks: words of 32 cells along the last axis, adjacent for adjacent rows.
struct columns {
    std::int64_t n, height, depth, words, images;
    int rounds;
    std::uint32_t *marks, *next;  ///< the set with which a round begins, and that with which the next one does
    std::uint32_t*
        general;  ///< set to 1 if the other kernels have to solve the problem; then, by round, if it left cells

    /// `memory` has size() words.
    NF_HD columns(const problem& p, std::uint32_t* memory)
        : n(p.size[p.rank - 1]),
          height(p.size[p.rank - 2]),
          depth(p.rank - p.batch == 3 ? p.size[p.batch] : 1),
          words(cuda::blocks_for(n, mark_bits)),
          images(p.cells / (n * height * depth)),
          rounds(p.cells < (depth > 1 ? fewest_of_volumes : fewest_cells_of_rounds) ? 1
                 : p.diagonal                                                       ? most_rounds
                                                                                    : most_rounds_of_blocks),
          marks(memory),
          next(memory + (rounds > 1 ? count() : 0)),
          general(next + count()) {}
    NF_HD std::int64_t size() const { return (rounds > 1 ? 2 : 1) * count() + rounds; }
    NF_HD std::int64_t count() const { return images * depth * words * height; }
    /// Number of tiles with this many rows, planes and words of a row.
    NF_HD std::int64_t tiles(int rows, int planes, int wide = 1) const {
        return images * cuda::blocks_for(depth, planes) * cuda::blocks_for(height, rows) *
               cuda::blocks_for(words, wide);
    }
    __device__ std::int64_t column(std::int64_t image, std::int64_t z, std::int64_t w) const {
        return ((image * depth + z) * words + w) * height;
    }
    /// Whether a warp has given up before, the same for all lanes of the caller's warp.
    __device__ bool is_given_up() const { return __any_sync(cuda::every_lane, *general != 0 ? 1 : 0) != 0; }
    /// A mask of the cells of a word that lie in the row.
    __device__ std::uint32_t inside(std::int64_t w) const {
        const std::int64_t rest = n - w * mark_bits;
        return rest >= mark_bits ? ~0U : (1U << rest) - 1;
    }
};
/// A tile's place, found from its number: its word, first row, first plane and image.
struct tile_place {
    std::int64_t w, y, z, image;

    __device__ tile_place(const columns& c, std::int64_t tile, int rows, int planes, int wide = 1) {
        const std::int64_t across = cuda::blocks_for(c.words, wide), a = cuda::quotient(tile, across),
                           high = cuda::blocks_for(c.height, rows), b = cuda::quotient(a, high),
                           deep = cuda::blocks_for(c.depth, planes);
        image = cuda::quotient(b, deep);
        w = (tile - a * across) * wide, y = (a - b * high) * rows, z = (b - image * deep) * planes;
    }
};
/// The elements of an image's planes and rows.
struct row_places {
    std::int64_t first, of_plane, of_row, of_cell;

    __device__ row_places(const problem& p, const columns& c, const std::int64_t* step, std::int64_t image)
        : first(offset_in(p, step, image * c.depth * c.height * c.n)),
          of_plane(c.depth > 1 ? step[p.rank - 3] : 0),
          of_row(step[p.rank - 2]),
          of_cell(step[p.rank - 1]) {}
    __device__ std::int64_t at(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return first + z * of_plane + y * of_row + x * of_cell;
    }
};

/// Reads a word of 32 rows of a plane from row y on; a lane returns the bits of its own row. A warp reads 32 adjacent
/// cells at a time, or a lane those of its row.
__device__ std::uint32_t read_column(const problem& p, const columns& c, const row_places& rows, std::int64_t z,
                                     std::int64_t y, std::int64_t w) {
    const int lane = own_lane();
    const std::int64_t x = w * mark_bits;
    std::uint32_t mine = 0;
    if (p.read_at_once > 0) {
        const std::int64_t cells = y + lane < c.height ? c.n - x : 0;
        return nonzero_bytes(p, static_cast<const std::uint8_t*>(p.image) + rows.at(z, y + lane, x), cells);
    }
    with_bits(p.image_type, [&]<class Bits>(Bits, Bits counts) {
        const Bits* from = static_cast<const Bits*>(p.image) + rows.at(z, y, x + lane);
        for (int row = 0; row < cuda::warp; row += words_at_once) {
            Bits read[words_at_once];
#pragma unroll
            for (int i = 0; i < words_at_once; ++i, from += rows.of_row)
                read[i] = x + lane < c.n && y + row + i < c.height ? *from : Bits{};
#pragma unroll
            for (int i = 0; i < words_at_once; ++i) {
                const unsigned nonzero = __ballot_sync(cuda::every_lane, (read[i] & counts) != 0 ? 1 : 0);
                if (lane == row + i) mine = nonzero;
            }
        }
    });
    return mine;
}

/// Writes marks. A warp owns a patch, a lane words of rows. A patch without a site says that sets will not suffice.
template <int Axes>
__global__ void __launch_bounds__(threads_of_block)
    mark_columns(const __grid_constant__ problem p, const __grid_constant__ columns c) {
    constexpr int planes = tile_of<Axes>::patch_planes, tall = tile_of<Axes>::patch_rows,
                  wide = tile_of<Axes>::patch_words;
    const std::int64_t item = own_item() / cuda::warp;
    if (item >= c.tiles(tall, planes, wide) || c.is_given_up()) return;
    const tile_place t(c, item, tall, planes, wide);
    const row_places rows(p, c, p.image_step, t.image);
    const int lane = own_lane();
    std::uint32_t any = 0;
    for (std::int64_t z = t.z; z < t.z + planes && z < c.depth; ++z)
        for (std::int64_t y = t.y; y < t.y + tall && y < c.height; y += cuda::warp)
            for (std::int64_t w = t.w; w < t.w + wide && w < c.words; ++w) {
                const std::uint32_t inside = c.inside(w), nonzero = read_column(p, c, rows, z, y, w),
                                    mine = (p.nonzero ? nonzero : ~nonzero) & inside;
                const std::uint32_t beyond = p.ends[p.rank - 1] == border::closed ? ~inside : 0;
                if (y + lane < c.height) any |= mine, c.marks[c.column(t.image, z, w) + y + lane] = mine | beyond;
            }
    const bool whole =
        t.z + planes <= c.depth && t.y + tall <= c.height && (t.w + wide) * std::int64_t{mark_bits} <= c.n;
    if (__any_sync(cuda::every_lane, any != 0 ? 1 : 0) == 0 && whole && p.limit >= tile_of<Axes>::steps) *c.general = 1;
}

/// A set of cells of a tile.
template <int Axes, bool Diagonal>
struct tile_set {
    static constexpr int planes = tile_of<Axes>::planes, groups = tile_of<Axes>::groups;
    row_bits bits[planes][groups];

    __device__ void read(const problem& p, const columns& c, const tile_place& t) {
        const auto fill = [&](int back) { return p.ends[p.rank - back] == border::closed ? ~0U : 0; };
        const std::uint32_t beside = fill(1), above = fill(2), behind = Axes == 3 ? fill(3) : 0;
#pragma unroll
        for (int k = 0; k < planes; ++k)
#pragma unroll
            for (int g = 0; g < groups; ++g) {
                const std::int64_t z = t.z + k - tile_of<Axes>::plane_halo,
                                   y = t.y + g * cuda::warp + own_lane() - tile_of<Axes>::row_halo;
                const bool in_plane = z >= 0 && z < c.depth, in_row = y >= 0 && y < c.height;
                const std::uint32_t outside = (in_plane ? 0 : behind) | (in_row ? 0 : above);
                const std::uint32_t* const own = c.marks + c.column(t.image, z, t.w) + y;
                const auto word = [&](std::int64_t w) -> row_bits {
                    if (!in_plane || !in_row) return outside;
                    return t.w + w >= 0 && t.w + w < c.words ? own[w * c.height] : beside;
                };
                bits[k][g] =
                    word(-1) >> mark_bits / 2 | word(0) << mark_bits / 2 | word(1) << (mark_bits + mark_bits / 2);
            }
    }
    /// Keeps the tile's own cells for the next round.
    __device__ void keep(const columns& c, const tile_place& t) const {
#pragma unroll
        for (int k = 0; k < own_planes<Axes>; ++k)
#pragma unroll
            for (int g = 0; g < groups; ++g) {
                const int row = g * cuda::warp + own_lane() - tile_of<Axes>::row_halo;
                if (row >= 0 && row < own_rows<Axes> && t.y + row < c.height && t.z + k < c.depth)
                    c.next[c.column(t.image, t.z + k, t.w) + t.y + row] = own(k + tile_of<Axes>::plane_halo, g);
            }
    }
    /// The lane's own 32 cells of a row.
    __device__ std::uint32_t own(int k, int g) const { return static_cast<std::uint32_t>(bits[k][g] >> mark_bits / 2); }

    /// Adds the cells one step away. What the halo misses spreads inwards by a cell a step.
    __device__ void grow() {
        const int lane = own_lane();
        row_bits before[groups];
#pragma unroll
        for (int k = 0; k < planes; ++k) {
            row_bits mid[groups], wide[groups], up[groups], down[groups];
#pragma unroll
            for (int g = 0; g < groups; ++g) {
                mid[g] = bits[k][g], wide[g] = mid[g] | mid[g] << 1 | mid[g] >> 1;
                const row_bits moved = Diagonal ? wide[g] : mid[g];
                up[g] = __shfl_sync(cuda::every_lane, moved, (lane + cuda::warp - 1) % cuda::warp);
                down[g] = __shfl_sync(cuda::every_lane, moved, (lane + 1) % cuda::warp);
            }
#pragma unroll
            for (int g = 0; g < groups; ++g) {
                row_bits all = wide[g];
                all |= lane > 0 ? up[g] : g > 0 ? up[g - 1] : 0;
                all |= lane < cuda::warp - 1 ? down[g] : g < groups - 1 ? down[g + 1] : 0;
                if (!Diagonal && k > 0) all |= before[g];
                if (!Diagonal && k < planes - 1) all |= bits[k + 1][g];
                before[g] = mid[g], bits[k][g] = all;
            }
        }
        if constexpr (Diagonal) unite_planes();
    }

private:
    __device__ void unite_planes() {
        row_bits before[groups];
#pragma unroll
        for (int k = 0; k < planes; ++k)
#pragma unroll
            for (int g = 0; g < groups; ++g) {
                const row_bits mid = bits[k][g];
                if (k > 0) bits[k][g] |= before[g];
                if (k < planes - 1) bits[k][g] |= bits[k + 1][g];
                before[g] = mid;
            }
    }
};

/// Distances of a tile's own cells, bit by bit: a word for each bit of a row's 32 distances.
struct row_distances {
    std::uint32_t bit[4];

    /// Adds 1 to the distances of cells that are not in the set after a number of steps.
    __device__ void add(std::uint32_t missing, int step) {
        bit[0] ^= missing;
        if (step % 2 == 1) bit[1] ^= missing;
        if (step % 4 == 3) bit[2] ^= missing;
        if (step % 8 == 7) bit[3] ^= missing;
    }
};

/// Puts a lane's own rows to those of the tile.
template <int Axes>
__device__ void share_rows(const row_distances (&found)[own_planes<Axes>][tile_of<Axes>::groups], row_distances* all) {
#pragma unroll
    for (int k = 0; k < own_planes<Axes>; ++k)
#pragma unroll
        for (int g = 0; g < tile_of<Axes>::groups; ++g) {
            const int row = g * cuda::warp + own_lane() - tile_of<Axes>::row_halo;
            if (row >= 0 && row < own_rows<Axes>) all[k * own_rows<Axes> + row] = found[k][g];
        }
}

/// Writes a tile's distances, which are `before` larger than those in `all`; if `before` is not 0, only of cells with
/// other ones than 0 there. Eight lanes own a row, four cells each.
template <int Axes, class Out>
__device__ void write_tile(const problem& p, const columns& c, const tile_place& t, const row_distances* all,
                           std::uint32_t before, std::uint32_t most) {
    struct alignas(4 * sizeof(Out)) four {
        Out one[4];
    };
    constexpr int across = 8;
    const row_places rows(p, c, p.out_step, t.image);
    const int shift = 4 * (own_lane() % across);
    const std::int64_t x = t.w * mark_bits + shift;
    for (int i = own_lane() / across; i < own_planes<Axes> * own_rows<Axes>; i += cuda::warp / across) {
        const std::int64_t z = t.z + i / own_rows<Axes>, y = t.y + i % own_rows<Axes>;
        if (z >= c.depth || y >= c.height) continue;
        const row_distances d = all[i];
        std::uint32_t bytes = 0;  // the four distances
#pragma unroll
        for (int k = 0; k < 4; ++k) bytes |= ((d.bit[k] >> shift & 15) * 0x204081 & 0x1010101) << k;
        if (before > 0 && bytes == 0) continue;
        four made;
#pragma unroll
        for (int k = 0; k < 4; ++k)
            made.one[k] =
                static_cast<Out>(written(before + (bytes >> 8 * k & 255), static_cast<std::uint32_t>(p.limit), most));
        Out* const to = static_cast<Out*>(p.out) + rows.at(z, y, x);
        const bool all_four = before == 0 || ((bytes + 0x7f7f7f7f) & 0x80808080) == 0x80808080;
        if (all_four && rows.of_cell == 1 && x + 4 <= c.n && reinterpret_cast<std::uintptr_t>(to) % sizeof(four) == 0) {
            *reinterpret_cast<four*>(to) = made;
            continue;
        }
        for (int k = 0; k < 4 && x + k < c.n; ++k)
            if (before == 0 || (bytes >> 8 * k & 255) != 0) to[k * rows.of_cell] = made.one[k];
    }
}

/// Finds the distances of a round from the set with which it begins. The last round sets `general` if cells are left. A
/// warp owns a tile.
template <int Axes, bool Diagonal>
__global__ void __launch_bounds__(threads_of_tiles)
    grow_sets(const __grid_constant__ problem p, const __grid_constant__ columns c, int round) {
    constexpr int most_steps = tile_of<Axes>::steps, rows = own_rows<Axes>, planes = own_planes<Axes>,
                  groups = tile_of<Axes>::groups, plane_halo = tile_of<Axes>::plane_halo,
                  row_halo = tile_of<Axes>::row_halo;
    __shared__ row_distances memory[threads_of_tiles / cuda::warp][rows * planes];
    const std::int64_t item = (static_cast<std::int64_t>(blockIdx.x) * threads_of_tiles + threadIdx.x) / cuda::warp;
    if (item >= c.tiles(rows, planes) || c.is_given_up() || (round > 0 && c.general[round] == 0)) return;
    const tile_place t(c, item, rows, planes);
    const std::uint32_t inside = c.inside(t.w);
    const int before = round * most_steps;
    tile_set<Axes, Diagonal> set;
    set.read(p, c, t);
    row_distances found[planes][groups] = {};
    int step = 0;
    for (;; ++step) {
        std::uint32_t missing = 0;
#pragma unroll
        for (int k = 0; k < planes; ++k)
#pragma unroll
            for (int g = 0; g < groups; ++g) {
                const int row = g * cuda::warp + own_lane() - row_halo;
                const bool counts = row >= 0 && row < rows && t.y + row < c.height && t.z + k < c.depth;
                const std::uint32_t left = counts ? ~set.own(k + plane_halo, g) & inside : 0;
                missing |= left;
                found[k][g].add(left, step);
            }
        if (__any_sync(cuda::every_lane, missing != 0 ? 1 : 0) == 0) break;
        if (step == most_steps) {
            c.general[round + 1 < c.rounds ? round + 1 : 0] = 1;
            break;
        }
        if (before + step == p.limit) break;
        set.grow();
    }
    if (round + 1 < c.rounds) set.keep(c, t);
    if (round > 0 && step == 0) return;
    row_distances* const all = memory[threadIdx.x / cuda::warp];
    share_rows<Axes>(found, all);
    __syncwarp();
    with_output(p.out_type,
                [&]<class Out>(Out, std::uint32_t most) { write_tile<Axes, Out>(p, c, t, all, before, most); });
}

/// Tries to solve a problem; `c` has room for its marks.
template <int Axes>
void try_sets(const device& on, const problem& p, columns c) {
    cuda::clear(on, c.general, c.rounds * static_cast<std::int64_t>(sizeof *c.general));
    using shape = tile_of<Axes>;
    const std::int64_t patches = c.tiles(shape::patch_rows, shape::patch_planes, shape::patch_words),
                       tiles = c.tiles(own_rows<Axes>, own_planes<Axes>);
    cuda::launch(on, mark_columns<Axes>, cuda::blocks_for(patches * cuda::warp, threads_of_block),
                 dim3(threads_of_block), 0, p, c);
    for (int round = 0; round < c.rounds; ++round, std::swap(c.marks, c.next))
        cuda::launch(on, p.diagonal ? grow_sets<Axes, true> : grow_sets<Axes, false>,
                     cuda::blocks_for(tiles * cuda::warp, threads_of_tiles), dim3(threads_of_tiles), 0, p, c, round);
}

}  // namespace
}  // namespace nearfield::chessboard
