// Cells, boxes, centroids, borders and faces of components, and values of one or two bytes, from the bits and nodes that tiles
// left: no label is read.
//
// What a node has is known in closed form. A block adds its tile's nodes up by part, those of split components (cuda_tile_rows.cuh)
// by component, and then finishes or adds to their rows.
#pragma once

#include "base/cuda_by_warp.cuh"
#include "label/cuda_tile_rows.cuh"

namespace nearfield::labelling {

/// Calls take(node's number, its columns, its rows' words) for the nodes of a thread's bundle.
template <class Tiling, class Take>
__device__ void each_node(const tile_place<Tiling>& at, const tile_store& from, const tile_bundle<Tiling>& b,
                          const Take& take) {
    using bundle = typename Tiling::bundle;
    word cells[bundle::count], all = 0;
#pragma unroll
    for (int r = 0; r < bundle::count; ++r) {
        cells[r] = from.cells[std::int64_t{at.number} * Tiling::row_words + b.at(r)];
        all |= cells[r];
    }
    const word starts =
        Tiling::valued ? from.starts[std::int64_t{at.number} * Tiling::threads + b.thread] : all & ~(all << 1);
    std::uint32_t node = from.before[std::int64_t{at.number} * Tiling::threads + b.thread];
    for (word left = starts; left != 0; left &= left - 1, ++node) {
        // The node ends before the next one, or before a column without cells.
        const word low = left & -left, behind = (starts | ~all) & ~(low | (low - 1));
        take(node, (behind & -behind) - low, cells);
    }
}

/// What a block has in shared memory while it measures its tile.
template <class Tiling, class Wish>
struct measuring_desk {
    /// Parts that are added up at once; few tiles have more. So that a multiprocessor holds five blocks or six.
    static constexpr std::uint32_t room = Wish::values                 ? 384
                                          : Tiling::deep > 1           ? 512
                                          : Tiling::bundle::count == 1 ? 384
                                                                       : 896;
    /// Split components, behind the parts: most often the same few.
    static constexpr std::uint32_t split_room = 128, slots = room + split_room, tries = 4;
    static constexpr std::uint32_t none = 0xffffffffU, nowhere = 0xffffU, loose = 0x80000000U;
    /// A tile with as many parts has its nodes dealt out: by bundles some threads would have many more than others.
    static constexpr std::uint32_t many_parts = 200;

    part_tally<Tiling, Wish, slots> tally;
    std::uint32_t
        row[slots];  ///< of a part that is a component, or of a split one; `loose`: one that found no place behind
    word cells[Tiling::row_words], starts[Tiling::valued ? Tiling::threads : 1];
    std::uint32_t nodes;
    std::uint16_t slot_of[room];           ///< where a part's sums are
    std::uint16_t of_node[Tiling::nodes];  ///< part of each node, or its bundle and first column

    __device__ void clear(std::uint32_t slot) {
        tally.clear(slot);
        row[slot] = none;
    }
    /// A split component's slot; `none` where there is none.
    [[nodiscard]] __device__ std::uint32_t slot_of_row(std::uint32_t wanted) {
        std::uint32_t at = wanted * 0x9e3779b1U >> 25;
        static_assert(split_room == 1U << (32 - 25));
        for (std::uint32_t i = 0; i < tries; ++i, at = (at + 1) % split_room) {
            std::uint32_t held = *static_cast<volatile std::uint32_t*>(row + room + at);
            if (held == none) held = atomicCAS(row + room + at, none, wanted);
            if (held == none || held == wanted) return room + at;
        }
        return none;
    }
    /// Finds the row and the slot of part `i` of those from `first` on.
    __device__ void place(std::uint32_t i, std::uint32_t id, const component_numbers& numbers, const table_target& to) {
        clear(i);
        const std::uint32_t wanted = numbers.of(id) - 1;
        std::uint32_t slot = i;
        if (wanted >= to.rows) {
            slot = nowhere;
        } else if ((to.split[id / word_cells] >> id % word_cells & 1) == 0) {
            row[i] = wanted;
        } else {
            slot = slot_of_row(wanted);
            if (slot == none) slot = i, row[i] = wanted | loose;
        }
        slot_of[i] = static_cast<std::uint16_t>(slot);
    }
};

/// A thread's words.
template <class Tiling>
struct bundle_words {
    word cells[Tiling::bundle::count], all = 0, starts;
    std::uint32_t before;  ///< nodes of the tile before the bundle's

    __device__ bundle_words(int tile, const tile_store& from, const tile_bundle<Tiling>& b) {
#pragma unroll
        for (int r = 0; r < Tiling::bundle::count; ++r) {
            cells[r] = from.cells[std::int64_t{tile} * Tiling::row_words + b.at(r)];
            all |= cells[r];
        }
        const std::int64_t at = std::int64_t{tile} * Tiling::threads + b.thread;
        starts = Tiling::valued ? from.starts[at] : all & ~(all << 1);
        before = from.before[at];
    }
    [[nodiscard]] __device__ std::uint32_t behind() const {
        return before + static_cast<std::uint32_t>(__popc(starts));
    }
};

/// A thread walks through its bundle, and takes together what belongs to the slot of the node before.
template <class Tiling, class Wish>
__device__ void add_by_bundle(measuring_desk<Tiling, Wish>& s, const tile_view<Tiling>& in,
                              const tile_bundle<Tiling>& b, const bundle_words<Tiling>& w, std::uint32_t first) {
    constexpr std::uint32_t nowhere = measuring_desk<Tiling, Wish>::nowhere;
    std::uint32_t place = nowhere, node = w.before;
    word columns = 0;
    for (word left = w.starts; left != 0; left &= left - 1, ++node) {
        const std::uint32_t part = s.of_node[node] - first;
        if (part >= s.room) continue;
        const std::uint32_t slot = s.slot_of[part];
        if (slot != place) {
            if (place != nowhere) s.tally.add(place, sums_of_columns<Tiling, Wish>(in, b, columns, w.cells));
            place = slot, columns = 0;
        }
        const word low = left & -left, behind = (w.starts | ~w.all) & ~(low | (low - 1));
        columns |= (behind & -behind) - low;
    }
    part_sums<Tiling, Wish> mine;
    if (place != nowhere) mine = sums_of_columns<Tiling, Wish>(in, b, columns, w.cells);
    cuda::put_by_warp(place, nowhere, mine,
                      [&](std::uint32_t which, const part_sums<Tiling, Wish>& sums) { s.tally.add(which, sums); });
}

/// Threads share the nodes evenly. `parts`: of the tile's nodes.
template <class Tiling, class Wish>
__device__ void add_by_node(measuring_desk<Tiling, Wish>& s, const tile_view<Tiling>& in, const std::uint16_t* parts,
                            std::uint32_t first) {
    using bundle = typename Tiling::bundle;
    for (std::uint32_t a = threadIdx.x; a < s.nodes; a += Tiling::threads) {
        const std::uint32_t part = parts[a] - first;
        if (part >= s.room) continue;
        const std::uint32_t slot = s.slot_of[part];
        if (slot == s.nowhere) continue;
        const tile_bundle<Tiling> b(s.of_node[a] / word_cells);
        const word low = word{1} << s.of_node[a] % word_cells;
        word cells[bundle::count], all = 0;
#pragma unroll
        for (int r = 0; r < bundle::count; ++r) cells[r] = s.cells[b.at(r)], all |= cells[r];
        const word stops = Tiling::valued ? s.starts[b.thread] | ~all : ~all, behind = stops & ~(low | (low - 1));
        s.tally.add(slot, sums_of_columns<Tiling, Wish>(in, b, (behind & -behind) - low, cells));
    }
}

/// Lists where nodes begin, or their parts.
template <class Tiling, class Wish>
__device__ void list_nodes(measuring_desk<Tiling, Wish>& s, const tile_bundle<Tiling>& b, const bundle_words<Tiling>& w,
                           const std::uint16_t* parts, bool deal) {
    if (threadIdx.x == Tiling::threads - 1) s.nodes = w.behind();
    if (!deal) {  // a warp's nodes lie one behind the other
        const std::uint32_t first = __shfl_sync(cuda::every_lane, w.before, 0),
                            end = __shfl_sync(cuda::every_lane, w.behind(), cuda::warp - 1);
        for (std::uint32_t a = first + threadIdx.x % cuda::warp; a < end; a += cuda::warp) s.of_node[a] = parts[a];
        return;
    }
#pragma unroll
    for (int r = 0; r < Tiling::bundle::count; ++r) s.cells[b.at(r)] = w.cells[r];
    if (Tiling::valued) s.starts[b.thread] = w.starts;
    std::uint32_t node = w.before;
    for (word left = w.starts; left != 0; left &= left - 1)
        s.of_node[node++] = static_cast<std::uint16_t>(b.thread * word_cells + __ffs(static_cast<int>(left)) - 1);
}

/// Adds up what the parts of tile `number` have. All threads of a block call it: a thread owns a bundle of words, and then a part.
template <class Tiling, class Wish>
__device__ void measure_tile(measuring_desk<Tiling, Wish>& s, const narrow_lattice& g, int number,
                             const tile_store& from, const component_numbers& numbers, const table_target& to) {
    const std::uint32_t count = from.counts[number], begin = static_cast<std::uint32_t>(number) * Tiling::nodes;
    const std::uint16_t* const parts = from.node_part + std::int64_t{number} * Tiling::nodes;
    const tile_bundle<Tiling> b(static_cast<int>(threadIdx.x));
    const bundle_words<Tiling> w(number, from, b);
    if (count == 0) return;
    const bool deal = count >= s.many_parts;
    for (std::uint32_t i = s.room + threadIdx.x; i < s.slots; i += Tiling::threads) s.clear(i);
    list_nodes(s, b, w, parts, deal);
    __syncthreads();
    for (std::uint32_t first = 0; first < count; first += s.room) {
        const std::uint32_t here = min(count - first, s.room);
        for (std::uint32_t i = threadIdx.x; i < here; i += Tiling::threads)
            s.place(i, static_cast<std::uint32_t>(from.parts[begin + first + i] >> 32), numbers, to);
        __syncthreads();
        {
            const tile_place<Tiling> at(g, number);
            const tile_view<Tiling> in{g, at, from, to.values};
            if (deal) add_by_node(s, in, parts, first);
            else add_by_bundle(s, in, b, w, first);
        }
        __syncthreads();
        for (std::uint32_t i = threadIdx.x; i < here; i += Tiling::threads) {
            const std::uint32_t row = s.row[i];
            if (row == s.none) continue;
            const tile_place<Tiling> at(g, number);
            if ((row & s.loose) != 0) add_to_row(to, at, row & ~s.loose, s.tally.get(i));
            else put_whole(to, g, at, row, s.tally.get(i));
        }
        if (first + s.room < count) __syncthreads();
    }
    for (std::uint32_t i = s.room + threadIdx.x; i < s.slots; i += Tiling::threads)
        if (s.row[i] != s.none) add_to_row(to, tile_place<Tiling>(g, number), s.row[i], s.tally.get(i));
}

/// Blocks that measure, at a time on a multiprocessor.
template <class Tiling>
constexpr int measuring_blocks = Tiling::threads < 256       ? 8
                                 : Tiling::deep > 1          ? 4
                                 : Tiling::bundle::count > 1 ? 5
                                                             : 6;

/// A block owns a tile.
template <class Tiling, class Wish>
__global__ void __launch_bounds__(Tiling::threads, measuring_blocks<Tiling>)
    measure_tiles(narrow_lattice g, tile_store from, component_numbers numbers, table_target to) {
    __shared__ measuring_desk<Tiling, Wish> s;
    cuda::wait_for_kernel_before();
    measure_tile(s, g, static_cast<int>(blockIdx.x), from, numbers, to);
}

/// Of two neighbouring blocks one writes a tile's labels, bound by memory, and one measures it, bound by instructions.
template <class Tiling, class Wish>
__global__ void __launch_bounds__(Tiling::threads, measuring_blocks<Tiling>)
    write_and_measure_tiles(narrow_lattice g, tile_store from, component_numbers numbers,
                            const std::int64_t* image_base, label_target<std::uint32_t> label, table_target to) {
    union desks {
        measuring_desk<Tiling, Wish> measure;
        writing_desk<Tiling> write;
    };
    __shared__ desks s;
    cuda::wait_for_kernel_before();
    const int number = static_cast<int>(blockIdx.x / 2);
    if (blockIdx.x % 2 == 0) measure_tile(s.measure, g, number, from, numbers, to);
    else write_tile<Tiling, true>(s.write, g, number, from, numbers, image_base, label);
}

}  // namespace nearfield::labelling
