// Images of values by tiles: which cells hang together is found 32 at a time and kept as words; what follows is the same as for
// bits.
#pragma once

#include "label/cuda_tile_border.cuh"
#include "label/cuda_tile_floats.cuh"
#include "label/cuda_tile_keys.cuh"

namespace nearfield::labelling {

template <class Tiling, class Source>
__global__ void __launch_bounds__(Tiling::threads)
    unite_valued_tiles(narrow_lattice g, Source from, tile_store out, state* states, std::int64_t state_count) {
    __shared__ tile_workshop<Tiling> s;
    __shared__ typename Source::template links<Tiling> links;
    cuda::wait_for_kernel_before();
    const int me = static_cast<int>(threadIdx.x);
    for (std::int64_t i = std::int64_t{blockIdx.x} * Tiling::threads + me; i < state_count;
         i += std::int64_t{gridDim.x} * Tiling::threads)
        states[i] = 0;
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const tile_bundle<Tiling> b(me);
    touches found[Tiling::touching::count];
    bool joined = false;
    find_links(s, links, g, at, from, b, found, joined);
    out.starts[std::int64_t{at.number} * Tiling::threads + me] = s.first[me];
    unite_found(s, g, at, b, out, found, links.on[me], joined);
}

/// A word of any tile, read from device memory.
struct stored_word {
    std::int64_t at;
    std::uint32_t begin;  ///< of its tile's nodes
    word cells, starts;
    [[nodiscard]] __device__ word on() const { return cells & ~starts; }
    [[nodiscard]] __device__ bool has(int bit) const { return (cells >> bit & 1) != 0; }
};

/// Links between a tile and those before it, asked of the values.
template <class Tiling, class Source>
struct valued_border {
    const narrow_lattice& g;
    const Source& from;
    const tile_store& store;
    const tile_place<Tiling>& at;
    pair_memory& memory;
    const typename Source::value* image;

    static constexpr int touching = Tiling::touching::count, of_row = 1 + 2 * touching;

    /// The word `dz`, `dy` rows and `dw` words away from the thread's; of no cells where there is none.
    [[nodiscard]] __device__ stored_word read(int thread, int dz, int dy, int dw) const {
        bool there = false;
        const stored_bundle<Tiling> of =
            stored_bundle<Tiling>{g, store, at.number, thread}.beside(at, dz, dy, dw, there);
        if (!there) return {0, 0, 0, 0};
        const std::int64_t w = std::int64_t{of.tile} * Tiling::threads + of.thread;
        return {w, static_cast<std::uint32_t>(of.tile) * Tiling::nodes, store.cells[w], store.starts[w]};
    }
    __device__ void unite(const stored_word& one, int bit, const stored_word& other, int other_bit) const {
        const auto part_of_cell = [&](const stored_word& w, int x) {
            return w.begin +
                   store.node_part[w.begin + store.before[w.at] + static_cast<std::uint32_t>(rank_of(w.starts, x))];
        };
        const std::uint32_t a = part_of_cell(one, bit), c = part_of_cell(other, other_bit);
        if (!memory.remembers(a, c)) part_forest{store.parts}.unite(a, c);
    }

    /// A warp looks at the thread's word and the row above or in front, which is another tile's; a lane has a cell.
    __device__ void join_row(const touch& t, int thread) const {
        const tile_bundle<Tiling> b(thread);
        if (!at.holds(g, b.plane(0), b.line(0), b.w)) return;
        const stored_word mine = read(thread, 0, 0, 0), other = read(thread, t.dz, t.dy, 0);
        stored_word west{0, 0, 0, 0}, east = west;
        if (t.slanted) west = read(thread, t.dz, t.dy, -1), east = read(thread, t.dz, t.dy, 1);
        const three_words there{west.cells, other.cells, east.cells};
        if (mine.cells == 0 || there.near() == 0) return;
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
        const int z = at.z + b.plane(0), y = at.y + b.line(0), x = (at.word + b.w) * word_cells + lane;
        const auto value = mine.has(lane) ? from.load(image, z, y, x) : typename Source::value{};
        const auto links_with = [&](word cells, int dx) {
            const bool both = (mine.cells & cells) >> lane & 1;
            return __ballot_sync(cuda::every_lane,
                                 both && from.linked(value, from.load(image, z + t.dz, y + t.dy, x + dx)));
        };
        three_links l{links_with(there.here, 0), 0, 0};
        if (t.slanted) l.west = links_with(there.before(), -1), l.east = links_with(there.after(), 1);
        const touches c = without_implied(l, mine.on(), other.on(), t.slanted);
        if ((first_of_each(c.same, c.on) >> lane & 1) != 0) unite(mine, lane, other, lane);
        if ((c.west >> lane & 1) != 0) unite(mine, lane, lane > 0 ? other : west, (lane + 31) % 32);
        if ((c.east >> lane & 1) != 0) unite(mine, lane, lane < 31 ? other : east, (lane + 1) % 32);
    }

    /// A row's first cell and the tile to the west. `which`: with the cell before it, or, of each touch within the tile's rows, this
    /// cell with the one before there, or the one before with the first there.
    __device__ void join_west(int row, int which) const {
        const int thread = row * Tiling::words;
        const tile_bundle<Tiling> b(thread);
        if (at.word == 0 || !at.holds(g, b.plane(0), b.line(0), 0)) return;
        touch t{0, 0, 1, 1, true};
        if (which > 0) t = Tiling::touching::get((which - 1) / 2);
        if (which > 0 && !(t.slanted && b.reaches(t))) return;
        const bool mine_is_first = which % 2 == 0;  // of `which` 0 as well
        const stored_word mine = read(thread, 0, 0, mine_is_first ? 0 : -1),
                          other = read(thread, t.dz, t.dy, mine_is_first ? -1 : 0);
        const int bit = mine_is_first ? 0 : 31, other_bit = 31 - bit;
        if (!mine.has(bit) || !other.has(other_bit)) return;
        const int z = at.z + b.plane(0), y = at.y + b.line(0), x = at.word * word_cells - (mine_is_first ? 0 : 1);
        const int other_x = at.word * word_cells - (mine_is_first ? 1 : 0);
        if (from.linked(from.load(image, z, y, x), from.load(image, z + t.dz, y + t.dy, other_x)))
            unite(mine, bit, other, other_bit);
    }
};

template <class Tiling, class Source>
__global__ void __launch_bounds__(Tiling::threads)
    unite_valued_borders(narrow_lattice g, Source from, tile_store store) {
    using items = border_items<Tiling>;
    using walk_of = valued_border<Tiling, Source>;
    __shared__ pair_memory memory;
    cuda::wait_for_kernel_before();
    for (int i = static_cast<int>(threadIdx.x); i < pair_memory::size; i += Tiling::threads) memory.seen[i] = 0;
    __syncthreads();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const walk_of walk{g, from, store, at, memory, from.image(at.image)};
    int item = static_cast<int>(threadIdx.x) / cuda::warp;
    for (int i = 0; i < walk_of::touching; ++i) {
        const touch t = Tiling::touching::get(i);
        for (; item < items::of(t); item += Tiling::threads / cuda::warp) walk.join_row(t, items::bundle_of(t, item));
        item -= items::of(t);
    }
    constexpr int rows = Tiling::down * Tiling::deep;
    for (int i = static_cast<int>(threadIdx.x); i < rows * walk_of::of_row; i += Tiling::threads)
        walk.join_west(i % rows, i / rows);
}

}  // namespace nearfield::labelling
