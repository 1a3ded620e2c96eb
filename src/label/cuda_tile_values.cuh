// Images of values by tiles: which cells hang together is asked of the values, cell by cell, and kept as words; what follows is
// the same as for bits.
#pragma once

#include "label/cuda_cells.cuh"
#include "label/cuda_tile_border.cuh"
#include "label/cuda_tile_unite.cuh"

namespace nearfield::labelling {

/// A tile's links as words: of each thread's word, cells that hang together with the one before them; of each touch, those with
/// the cells there of the same column, the one before and the one after.
template <class Tiling>
struct tile_links {
    word on[Tiling::threads];
    word link[Tiling::touching::count][3][Tiling::threads];
    std::uint8_t joined[Tiling::threads];  ///< whether the first cell hangs together with the word before
};

/// Where a tile's cells are read; cells outside the image or the tile are background.
template <class Tiling, class T>
struct tile_values {
    const narrow_lattice& g;
    const tile_place<Tiling>& at;
    const cell_source<T>& from;
    const T* image;

    [[nodiscard]] __device__ const T* cell(int plane, int line, int x) const {
        return from.cell(image, at.z + plane, at.y + line, at.word * word_cells + x);
    }
    [[nodiscard]] __device__ bool foreground(int plane, int line, int x) const {
        return x >= 0 && x < Tiling::columns && at.z + plane < g.size[0] && at.y + line < g.size[1] &&
               at.word * word_cells + x < g.size[2] && from.foreground(cell(plane, line, x));
    }
};

/// A warp owns a word at a time, a lane a cell.
template <class Tiling, class T>
__device__ void find_links(tile_workshop<Tiling>& s, tile_links<Tiling>& links, const tile_values<Tiling, T>& v) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    for (int t = static_cast<int>(threadIdx.x) / cuda::warp; t < Tiling::threads; t += Tiling::threads / cuda::warp) {
        const tile_bundle<Tiling> b(t);
        const int plane = b.plane(0), line = b.line(0), x = b.w * word_cells + lane;
        const bool set = v.foreground(plane, line, x);
        const T* const me = v.cell(plane, line, x);
        const bool goes_on = set && v.foreground(plane, line, x - 1) && v.from.linked(me, v.cell(plane, line, x - 1));
        const word here = __ballot_sync(cuda::every_lane, set), on = __ballot_sync(cuda::every_lane, goes_on);
        if (lane == 0) s.cells[b.at(0)] = s.all[t] = here, links.on[t] = on & ~1U, links.joined[t] = on & 1;
        if (lane == 0) s.first[t] = here & ~(on & ~1U);
#pragma unroll
        for (int i = 0; i < Tiling::touching::count; ++i) {
            const touch to = Tiling::touching::get(i);
            const bool there = set && b.reaches(to);
#pragma unroll
            for (int k = 0; k < (to.slanted ? 3 : 1); ++k) {
                const int other_x = x + (k == 0 ? 0 : k == 1 ? -1 : 1);
                const bool link = there && v.foreground(plane + to.dz, line + to.dy, other_x) &&
                                  v.from.linked(me, v.cell(plane + to.dz, line + to.dy, other_x));
                const word all = __ballot_sync(cuda::every_lane, link);
                if (lane == 0) links.link[i][k][t] = all;
            }
        }
    }
}

/// Links that others do not say already. Slanted ones go by way of a cell beside either end.
template <class Tiling>
__device__ touches touches_of(const tile_links<Tiling>& links, const tile_bundle<Tiling>& b, int i, const touch& t) {
    if (!b.reaches(t)) return {0, 0, 0, 0};
    const int me = b.thread, other = b.other(t);
    const word here = links.on[me], there = links.on[other], same = links.link[i][0][me];
    touches c{same, 0, 0, here & there};
    if (!t.slanted) return c;
    const word west = links.link[i][1][me], east = links.link[i][2][me];
    c.west = west & ~((here & same << 1) | (same & there) | (west << 1 & here & there << 1));
    c.east = east & ~((same & there >> 1) | (here >> 1 & same >> 1) | (east << 1 & here & there >> 1));
    return c;
}

template <class Tiling, class T>
__global__ void __launch_bounds__(Tiling::threads)
    unite_valued_tiles(narrow_lattice g, cell_source<T> from, tile_store out, state* states, std::int64_t state_count) {
    __shared__ tile_workshop<Tiling> s;
    __shared__ tile_links<Tiling> links;
    cuda::wait_for_kernel_before();
    const int me = static_cast<int>(threadIdx.x);
    for (std::int64_t i = std::int64_t{blockIdx.x} * Tiling::threads + me; i < state_count;
         i += std::int64_t{gridDim.x} * Tiling::threads)
        states[i] = 0;
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const tile_bundle<Tiling> b(me);
    find_links(s, links, tile_values<Tiling, T>{g, at, from, from.image(at.image)});
    __syncthreads();
    out.starts[std::int64_t{at.number} * Tiling::threads + me] = s.first[me];
    touches found[Tiling::touching::count];
#pragma unroll
    for (int i = 0; i < Tiling::touching::count; ++i) found[i] = touches_of(links, b, i, Tiling::touching::get(i));
    unite_found(s, g, at, b, out, found, links.on[me], links.joined[me] != 0);
}

/// A cell and the cells of other tiles that come before it and hang together with it.
template <class Tiling, class T>
struct valued_border {
    const narrow_lattice& g;
    const cell_source<T>& from;
    const tile_store& store;
    const backward_list& steps;
    const tile_place<Tiling>& at;
    const T* image;

    /// The part of the foreground cell at (z, y, x) of the image; false where it is background.
    [[nodiscard]] __device__ bool find_part(int z, int y, int x, std::uint32_t& part) const {
        const int across = tile_place<Tiling>::across(g, 2), down = tile_place<Tiling>::across(g, 1);
        const int deep = tile_place<Tiling>::across(g, 0);
        const int tile =
            ((at.image * deep + z / Tiling::planes) * down + y / Tiling::rows) * across + x / Tiling::columns;
        const int thread =
            (z % Tiling::planes * Tiling::rows + y % Tiling::rows) * Tiling::words + x % Tiling::columns / word_cells;
        const std::int64_t w = std::int64_t{tile} * Tiling::threads + thread;
        if ((store.cells[w] >> x % word_cells & 1) == 0) return false;
        const std::uint32_t begin = static_cast<std::uint32_t>(tile) * Tiling::nodes;
        part = begin + store.node_part[begin + store.before[w] +
                                       static_cast<std::uint32_t>(rank_of(store.starts[w], x % word_cells))];
        return true;
    }
    __device__ void join(int plane, int line, int column, pair_memory& memory) const {
        const int z = at.z + plane, y = at.y + line, x = at.word * word_cells + column;
        std::uint32_t mine = 0, other = 0;
        if (x >= g.size[2] || !find_part(z, y, x, mine)) return;
        for (int i = 0; i < steps.count; ++i) {
            const backward d = steps.step[i];
            const int c = z + d.dz, b = y + d.dy, a = x + d.dx;
            if (c < 0 || b < 0 || a < 0 || b >= g.size[1] || a >= g.size[2]) continue;
            if (c / Tiling::planes == z / Tiling::planes && b / Tiling::rows == y / Tiling::rows &&
                a / Tiling::columns == x / Tiling::columns)
                continue;
            if (!find_part(c, b, a, other) || !from.linked(from.cell(image, z, y, x), from.cell(image, c, b, a)))
                continue;
            if (!memory.remembers(mine, other)) part_forest{store.parts}.unite(mine, other);
        }
    }
};

/// Links between tiles, asked of the values: a warp owns a row of a tile. Rows at a face are looked at cell by cell, of others
/// only the first and the last cell.
template <class Tiling, class T>
__global__ void __launch_bounds__(Tiling::threads)
    unite_valued_borders(narrow_lattice g, cell_source<T> from, tile_store store, backward_list steps) {
    __shared__ pair_memory memory;
    cuda::wait_for_kernel_before();
    for (int i = static_cast<int>(threadIdx.x); i < pair_memory::size; i += Tiling::threads) memory.seen[i] = 0;
    __syncthreads();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const valued_border<Tiling, T> walk{g, from, store, steps, at, from.image(at.image)};
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    for (int row = static_cast<int>(threadIdx.x) / cuda::warp; row < Tiling::rows * Tiling::planes;
         row += Tiling::threads / cuda::warp) {
        const int plane = row / Tiling::rows, line = row % Tiling::rows;
        if (!at.holds(g, plane, line, 0)) continue;
        const bool face = line == 0 || (Tiling::deep > 1 && (plane == 0 || line == Tiling::rows - 1));
        for (int x = face        ? lane
                     : lane == 0 ? 0
                     : lane == 1 ? Tiling::columns - 1
                                 : Tiling::columns;
             x < Tiling::columns; x += face ? cuda::warp : Tiling::columns)
            walk.join(plane, line, x, memory);
    }
}

}  // namespace nearfield::labelling
