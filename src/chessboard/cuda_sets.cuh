// Dense images and volumes on a device, solved by growing sets of cells, a bit each. A warp holds a tile in registers:
// a lane has a row of 64 cells in each plane, of which the middle 32 are its own. It grows the set of sites by one step
// at a time, as host_levels.cpp does, and so finds distances of up to `steps` without access to memory. If a cell lies
// farther away, the next round begins with the sets that the warps kept. If the last round leaves a cell, the other
// kernels solve the problem; otherwise they do nothing.
#pragma once

#include <utility>

#include "chessboard/cuda_marks.cuh"

namespace nearfield::chessboard {
namespace {

using row_bits = unsigned long long;

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
    cuda::wait_for_kernel_before();
    constexpr int most_steps = tile_of<Axes>::steps, rows = own_rows<Axes>, planes = own_planes<Axes>,
                  groups = tile_of<Axes>::groups, plane_halo = tile_of<Axes>::plane_halo,
                  row_halo = tile_of<Axes>::row_halo;
    __shared__ row_distances memory[threads_of_tiles / cuda::warp][rows * planes];
    const std::int64_t item = (static_cast<std::int64_t>(blockIdx.x) * threads_of_tiles + threadIdx.x) / cuda::warp;
    if (item >= c.tiles(rows, planes) || c.is_given_up() || (round > 0 && c.general[round] == 0)) return;
    const tile_place t(c, item, rows, planes);
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
                const std::uint32_t left = counts ? ~set.own(k + plane_halo, g) & c.inside(t.w) : 0;
                missing |= left;
                found[k][g].add(left, step);
            }
        if (__any_sync(cuda::every_lane, missing != 0 ? 1 : 0) == 0) break;
        if (step == most_steps) {
            c.general[round + 1 < c.rounds ? round + 1 : 0] = 1;
            break;
        }
        if (round * most_steps + step == p.limit) break;
        set.grow();
    }
    if (round + 1 < c.rounds) set.keep(c, t);
    if (round > 0 && step == 0) return;
    row_distances* const all = memory[threadIdx.x / cuda::warp];
    share_rows<Axes>(found, all);
    __syncwarp();
    with_output(p.out_type, [&]<class Out>(Out, std::uint32_t most) {
        write_tile<Axes, Out>(p, c, t, all, round * most_steps, most);
    });
}

/// Tries to solve a problem from its marks.
template <int Axes>
void try_sets(const device& on, const problem& p, columns c) {
    const std::int64_t tiles = c.tiles(own_rows<Axes>, own_planes<Axes>);
    for (int round = 0; round < c.rounds; ++round) {
        cuda::launch_overlapped(on, p.diagonal ? grow_sets<Axes, true> : grow_sets<Axes, false>,
                                cuda::blocks_for(tiles * cuda::warp, threads_of_tiles), dim3(threads_of_tiles), 0, p, c,
                                round);
        c.marks = std::exchange(c.next, round == 0 ? c.after : c.marks);
    }
}

}  // namespace
}  // namespace nearfield::chessboard
