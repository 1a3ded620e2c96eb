// Cells, boxes, centroids, borders and faces of components, and values of one or two bytes, from the bits and nodes of
// tiles; no label is read.
//
// The sums of a node have a closed form. A block adds its tile's nodes by part, those of split components
// (gpu/tiles/rows.cuh) by component. It then finishes rows, or adds to the rows of split components.
#pragma once

#include "base/cuda_by_warp.cuh"
#include "label/gpu/tiles/rows.cuh"

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
        // The node ends before the next node, or before a column without cells.
        const word low = left & -left, behind = (starts | ~all) & ~(low | (low - 1));
        take(node, (behind & -behind) - low, cells);
    }
}

/// Shared memory of a block that measures its tile.
template <class Tiling, class Wish>
struct measuring_desk {
    /// Parts summed at once; few tiles have more. The number lets a multiprocessor hold five or six blocks.
    static constexpr std::uint32_t room = Wish::values ? 384 : Tiling::deep > 1 ? 512 : 768;
    /// Split components, stored behind the parts; most parts belong to the same few.
    static constexpr std::uint32_t split_room = 128, slots = room + split_room, tries = 4;
    static constexpr std::uint32_t none = 0xffffffffU, nowhere = 0xffffU, loose = 0x80000000U;
    /// From this number of parts on, nodes are distributed over threads; by bundles the load would be uneven.
    static constexpr std::uint32_t many_parts = 200;
    static_assert(split_room <= Tiling::threads && many_parts <= room && few_nodes < many_parts);

    part_tally<Tiling, Wish, slots> tally;
    std::uint32_t
        row[slots];  ///< row of a part that is a component, or of a split one; `loose`: a split one without slot behind
    word cells[Tiling::row_words], starts[Tiling::valued ? Tiling::threads : 1];
    std::uint32_t nodes;
    std::uint16_t slot_of[room];           ///< slot of a part's sums
    std::uint16_t of_node[Tiling::nodes];  ///< bundle and first column of each node, if nodes are distributed

    __device__ void clear(std::uint32_t slot) {
        tally.clear(slot);
        row[slot] = none;
    }
    __device__ void clear_split() {
        if (threadIdx.x < split_room) clear(room + threadIdx.x);
    }
    /// Returns the slot of a split component; `none` if none is free.
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
    /// Finds the row and the slot of part `i` of the parts from `first` on.
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
    /// Returns the first cell of a thread's next part; loaded before the previous one is placed.
    [[nodiscard]] __device__ static std::uint32_t id_of(const part* parts, std::uint32_t i, std::uint32_t here) {
        return i < here ? static_cast<std::uint32_t>(parts[i] >> 32) : 0;
    }
    /// Places `here` of the parts from `first` on. Synchronises.
    __device__ void place_parts(const tile_view<Tiling>& in, std::uint32_t first, std::uint32_t here,
                                const component_numbers& numbers, const table_target& to) {
        const part* const parts = in.from.parts + std::int64_t{in.at.number} * Tiling::nodes + first;
        std::uint32_t id = id_of(parts, threadIdx.x, here);
        for (std::uint32_t i = threadIdx.x; i < here; i += Tiling::threads) {
            const std::uint32_t next = id_of(parts, i + Tiling::threads, here);
            place(i, id, numbers, to);
            id = next;
        }
        __syncthreads();
    }
    __device__ void put_parts(const tile_view<Tiling>& in, std::uint32_t here, const table_target& to) const {
        for (std::uint32_t i = threadIdx.x; i < here; i += Tiling::threads) {
            const std::uint32_t of = row[i];
            if (of == none) continue;
            if ((of & loose) != 0) add_to_row(to, in.at, of & ~loose, tally.get(i));
            else put_whole(to, in.g, in.at, of, tally.get(i));
        }
    }
    __device__ void put_split(const tile_view<Tiling>& in, const table_target& to) const {
        const std::uint32_t i = room + threadIdx.x;
        if (threadIdx.x < split_room && row[i] != none) add_to_row(to, in.at, row[i], tally.get(i));
    }
};

/// Returns the bundle of a thread such that a warp has those of one word's columns: warps then add up nodes that
/// continue over many rows.
template <class Tiling>
__device__ tile_bundle<Tiling> upright_bundle(int thread) {
    constexpr int across = Tiling::down * Tiling::deep;
    static_assert(across % cuda::warp == 0);
    return tile_bundle<Tiling>(thread % across * Tiling::words + thread / across);
}

/// A thread's words.
template <class Tiling>
struct bundle_words {
    word cells[Tiling::bundle::count], all = 0, starts;
    std::uint32_t before;  ///< nodes of the tile before those of the bundle

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
    /// Returns the columns of the node that starts at bit `low`.
    [[nodiscard]] __device__ word columns_from(word low) const {
        const word behind = (starts | ~all) & ~(low | (low - 1));
        return (behind & -behind) - low;
    }
};

/// True if it saves time to find equal bundles below each other before a warp sums (H200, 2026-11-23, 8192^2, 50 %:
/// blocks of 4 0.346 to 0.329 ms, of 8 0.275 to 0.271; with 8 neighbours and in volumes 1 to 2 % slower).
template <class Tiling>
constexpr bool joins_bundles = Tiling::deep == 1 && Tiling::bundle::count == 1;

/// Among lanes whose bundles lie below each other, with a slot and the same columns in every row, the first one takes
/// the sums of all, by a product. Returns the lane's slot, or `nowhere` if another lane took it. All lanes call it.
template <class Tiling, class Wish>
__device__ std::uint32_t join_equal_bundles(std::uint32_t place, std::uint32_t nowhere, word columns, const word* cells,
                                            column_sums<Tiling, Wish>& mine) {
    constexpr std::uint32_t column = Tiling::down < cuda::warp ? Tiling::down : cuda::warp;  // lanes of one plane
    const std::uint32_t lane = threadIdx.x % cuda::warp;
    bool same = __shfl_up_sync(cuda::every_lane, place, 1) == place;
#pragma unroll
    for (int r = 0; r < Tiling::bundle::count; ++r) {
        const word row = cells[r] & columns;
        same &= __shfl_up_sync(cuda::every_lane, row, 1) == row;
    }
    if (Wish::faces) same &= __shfl_up_sync(cuda::every_lane, mine.pairs, 1) == mine.pairs;
    const unsigned begins = __ballot_sync(cuda::every_lane, lane % column == 0 || !same ? 1 : 0);
    const unsigned after = begins & ~(up_to(static_cast<int>(lane)));
    if ((begins >> lane & 1) == 0) return nowhere;
    const std::uint32_t end = after == 0 ? cuda::warp : static_cast<std::uint32_t>(__ffs(static_cast<int>(after)) - 1);
    if (place != nowhere) mine.repeat(end - lane);
    return place;
}

/// Threads traverse their bundles and merge consecutive sums of one slot; warps then add up what their lanes have for
/// the same slot.
template <class Tiling, class Wish>
__device__ void add_by_bundle(measuring_desk<Tiling, Wish>& s, const tile_view<Tiling>& in,
                              const tile_bundle<Tiling>& b, const bundle_words<Tiling>& w, const std::uint16_t* parts) {
    constexpr std::uint32_t nowhere = measuring_desk<Tiling, Wish>::nowhere;
    const int first_column = b.w * word_cells;
    word left = w.starts;
    std::uint32_t node = w.before;
    while (__any_sync(cuda::every_lane, left != 0 ? 1 : 0)) {
        std::uint32_t place = nowhere;
        word columns = 0;
        while (left != 0) {
            const std::uint32_t slot = s.slot_of[parts[node]];
            if (columns == 0) place = slot;
            else if (slot != place) break;
            columns |= w.columns_from(left & -left);
            left &= left - 1, ++node;
        }
        column_sums<Tiling, Wish> mine;
        if (place != nowhere) mine = sums_of_columns<false, Tiling, Wish>(in, b, columns, w.cells);
        if constexpr (!Wish::values && joins_bundles<Tiling>)
            place = join_equal_bundles(place, nowhere, columns, w.cells, mine);
        cuda::put_by_warp(place, nowhere, mine, [&](std::uint32_t slot, const column_sums<Tiling, Wish>& sums) {
            s.tally.add(slot, sums, first_column);
        });
    }
}

/// Lists the starts of nodes.
template <class Tiling, class Wish>
__device__ void list_nodes(measuring_desk<Tiling, Wish>& s, const tile_view<Tiling>& in) {
    const tile_bundle<Tiling> b(static_cast<int>(threadIdx.x));
    const bundle_words<Tiling> w(in.at.number, in.from, b);
    if (threadIdx.x == Tiling::threads - 1) s.nodes = w.behind();
#pragma unroll
    for (int r = 0; r < Tiling::bundle::count; ++r) s.cells[b.at(r)] = w.cells[r];
    if (Tiling::valued) s.starts[b.thread] = w.starts;
    std::uint32_t node = w.before;
    for (word left = w.starts; left != 0; left &= left - 1)
        s.of_node[node++] = static_cast<std::uint16_t>(b.thread * word_cells + __ffs(static_cast<int>(left)) - 1);
}

/// Threads share the nodes evenly. `parts`: part of each node of the tile; `next`: that of the thread's first one,
/// loaded early.
template <class Tiling, class Wish>
__device__ void add_by_node(measuring_desk<Tiling, Wish>& s, const tile_view<Tiling>& in, const std::uint16_t* parts,
                            std::uint32_t first, std::uint32_t next) {
    using bundle = typename Tiling::bundle;
    for (std::uint32_t a = threadIdx.x; a < s.nodes; a += Tiling::threads) {
        const std::uint32_t part = next - first;
        if (a + Tiling::threads < s.nodes) next = parts[a + Tiling::threads];
        if (part >= s.room) continue;
        const std::uint32_t slot = s.slot_of[part];
        if (slot == s.nowhere) continue;
        const tile_bundle<Tiling> b(s.of_node[a] / word_cells);
        const word low = word{1} << s.of_node[a] % word_cells;
        word cells[bundle::count], all = 0;
#pragma unroll
        for (int r = 0; r < bundle::count; ++r) cells[r] = s.cells[b.at(r)], all |= cells[r];
        const word stops = Tiling::valued ? s.starts[b.thread] | ~all : ~all, behind = stops & ~(low | (low - 1));
        s.tally.add(slot, sums_of_columns<true, Tiling, Wish>(in, b, (behind & -behind) - low, cells),
                    b.w * word_cells);
    }
}

/// Sums the parts of tile `number`. All threads of a block call it: a thread owns a bundle of words, and then a
/// part.
template <class Tiling, class Wish>
__device__ void measure_tile(measuring_desk<Tiling, Wish>& s, const narrow_lattice& g, int number,
                             const tile_store& from, const component_numbers& numbers, const table_target& to) {
    const std::uint32_t count = from.counts[number];
    if (count == 0) return;
    const tile_place<Tiling> at(g, number);
    const tile_view<Tiling> in{g, at, from, to.values};
    const std::uint16_t* const parts = from.node_part + std::int64_t{number} * Tiling::nodes;
    s.clear_split();
    if (count < s.many_parts) {
        const tile_bundle<Tiling> b = upright_bundle<Tiling>(static_cast<int>(threadIdx.x));
        const bundle_words<Tiling> w(number, from, b);
        __syncthreads();
        s.place_parts(in, 0, count, numbers, to);
        add_by_bundle(s, in, b, w, parts);
        __syncthreads();
        s.put_parts(in, count, to);
    } else {
        list_nodes(s, in);
        __syncthreads();
        for (std::uint32_t first = 0; first < count; first += s.room) {
            const std::uint32_t here = min(count - first, s.room);
            const std::uint32_t part = threadIdx.x < s.nodes ? parts[threadIdx.x] : 0;
            s.place_parts(in, first, here, numbers, to);
            add_by_node(s, in, parts, first, part);
            __syncthreads();
            s.put_parts(in, here, to);
            if (first + s.room < count) __syncthreads();
        }
    }
    s.put_split(in, to);
}

/// Measuring blocks on a multiprocessor. For 8192^2, blocks of 8, 50 %, six take 0.271 ms and five 0.281 (4
/// neighbours), five 0.204 and four 0.212 (8); volumes gain 5 % from one more if 10 % are filled and lose 10 % if 90 %
/// are (H200, 2026-11-23).
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

/// True if a block writes its tile's labels and then measures it. Otherwise, of two neighbouring blocks one writes a
/// tile's labels, limited by memory, and one measures it, limited by instructions. The former is faster with 6 and 18
/// neighbours, the latter with others (H200, 512^3 and 8192^2, g = 8, 50 %, 2026-11-22: 0.530 and 0.554 ms with 6,
/// 0.296 and 0.282 with 4).
template <class Tiling>
constexpr bool one_block_does_both = Tiling::deep > 1 && Tiling::bundle::count == 1;

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
    if constexpr (one_block_does_both<Tiling>) {
        const int number = static_cast<int>(blockIdx.x);
        write_tile<Tiling, true>(s.write, g, number, from, numbers, image_base, label);
        __syncthreads();
        measure_tile(s.measure, g, number, from, numbers, to);
    } else {
        const int number = static_cast<int>(blockIdx.x / 2);
        if (blockIdx.x % 2 == 0) measure_tile(s.measure, g, number, from, numbers, to);
        else write_tile<Tiling, true>(s.write, g, number, from, numbers, image_base, label);
    }
}

}  // namespace nearfield::labelling
