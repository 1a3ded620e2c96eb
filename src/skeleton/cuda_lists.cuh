// The lists of cells on a device, sorted by turn and then by layer.
#pragma once

#include "base/cuda_scan.cuh"
#include "base/lines.hpp"
#include "skeleton/cuda_cells.cuh"

namespace nearfield::skeleton {

using cuda::every_lane;

constexpr int list_threads = 256, words_a_warp = 16;

/// A caller's array of bytes; null if none is given.
struct byte_array {
    std::uint8_t* data = nullptr;
    int rank = 0;
    std::int64_t size[max_rank]{}, stride[max_rank]{};
    bool contiguous = false;

    __device__ std::int64_t at(std::int64_t cell) const {
        return contiguous ? cell : offset_of(cell, size, stride, rank);
    }
};

template <class Index, class Squared>
struct listing {
    cell_grid<Index> where;
    double thickness;
    int layers, turns;
    const Squared* squared;
    byte_array anchors;
    state* states;
    Index* counts;  // of turn t in layer l: [l * turns + t]; later the position for its next cell
    Index* cells;
};

/// Calls use(word, lane's cell number, lane's place, whether the cell exists) for each word of a warp. Words of a block
/// are adjacent.
template <class Index, class Use>
__device__ void for_each_word(const cell_grid<Index>& where, const Use& use) {
    const Index rows = where.images * where.size[0] * where.size[1], words = rows * where.words;
    const Index warp_number = static_cast<Index>(blockIdx.x) * (list_threads / cuda::warp) + threadIdx.x / cuda::warp;
    const Index begin = warp_number * words_a_warp;
    if (begin >= words) return;
    const Index count = words - begin < words_a_warp ? words - begin : words_a_warp;
    Index row = begin / where.words, in_row = begin - row * where.words;
    for (Index done = 0; done < count; ++done) {
        const Index plane = row / where.size[1], image = plane / where.size[0];
        place<Index> p{image, {plane - image * where.size[0], row - plane * where.size[1], in_row * 32}};
        const Index word_number = where.bit_of(p) >> 5;
        p.at[2] += threadIdx.x % cuda::warp;
        use(word_number, static_cast<std::int64_t>(row) * where.size[2] + p.at[2], p, p.at[2] < where.size[2]);
        if (++in_row == where.words) in_row = 0, ++row;
    }
}

/// Returns a cell's list, or -1 if it has none.
template <class Index, class Squared>
__device__ int list_of(const listing<Index, Squared>& l, Squared squared, std::int64_t cell, const place<Index>& p) {
    if (squared == 0 || (l.anchors.data != nullptr && l.anchors.data[l.anchors.at(cell)] != 0)) return -1;
    const int layer = is_endless(squared) ? l.layers - 1 : layer_of(static_cast<double>(squared), l.thickness);
    return (layer < l.layers ? layer : l.layers - 1) * l.turns + l.where.turn_of(p);
}

/// Finds the list of each cell of the thread, and the least and last of these lists; without `Listing` also writes the
/// shape's bits.
template <bool Listing, class Index, class Squared>
__device__ void find_lists(const listing<Index, Squared>& l, std::int32_t* own, int& least, int& last) {
    int mine = static_cast<int>(threadIdx.x);
    for_each_word(l.where, [&](Index word_number, std::int64_t cell, const place<Index>& p, bool inside) {
        const Squared squared = inside ? l.squared[cell] : Squared{0};
        const unsigned shape = __ballot_sync(every_lane, squared != 0 ? 1 : 0);
        if (!Listing && threadIdx.x % cuda::warp == 0) l.states[word_number] = {shape, 0};
        const int list = shape == 0 ? -1 : list_of(l, squared, cell, p);
        if (list >= 0) least = min(least, list), last = max(last, list);
        own[mine] = list, mine += list_threads;
    });
}

/// Finds the block's least and last list. Every thread gets both; `least` > `last` if no cell is listed.
__device__ inline void span_of_block(int& least, int& last) {
    __shared__ int ends[2];
    if (threadIdx.x == 0) ends[0] = std::numeric_limits<int>::max(), ends[1] = -1;
    __syncthreads();
    for (int by = cuda::warp / 2; by > 0; by /= 2) {
        least = min(least, __shfl_xor_sync(every_lane, least, by));
        last = max(last, __shfl_xor_sync(every_lane, last, by));
    }
    if (threadIdx.x % cuda::warp == 0) atomicMin(&ends[0], least), atomicMax(&ends[1], last);
    __syncthreads();
    least = ends[0], last = ends[1];
}

/// A block handles words of 32 adjacent cells. It counts the cells of each turn and layer and writes the shape's bits;
/// with `Listing` it lists the cells instead. Many cells belong to few lists, so a block counts in its own memory from
/// its least list on, and adds each count to the call's with one atomic. Lists beyond that memory take one for each
/// cell.
template <bool Listing, class Index, class Squared>
__global__ void __launch_bounds__(list_threads) list_cells(const __grid_constant__ listing<Index, Squared> l) {
    constexpr int held_lists = 16384 / sizeof(Index);
    __shared__ Index held[held_lists];  // counts, later the position for the first cell
    // The list of each cell, or -1; later its place in `held` and its rank there.
    __shared__ std::int32_t own[list_threads * words_a_warp];
    const auto thread = static_cast<int>(threadIdx.x);
    int least = std::numeric_limits<int>::max(), last = -1;
    find_lists<Listing>(l, own, least, last);
    span_of_block(least, last);
    const int lists = min(last - least + 1, held_lists);
    for (int i = thread; i < lists; i += list_threads) held[i] = 0;
    __syncthreads();
    int mine = thread;
    for_each_word(l.where, [&](Index word_number, std::int64_t, const place<Index>&, bool) {
        const int i = own[mine] - least;
        if (own[mine] >= 0 && i < held_lists) {
            const Index rank = atomicAdd(held + i, Index{1});
            own[mine] = static_cast<std::int32_t>(rank) * held_lists + i;
        } else if (own[mine] >= 0) {
            const Index to = atomicAdd(l.counts + own[mine], Index{1});
            if (Listing) l.cells[to] = (word_number << 5) + thread % cuda::warp;
            own[mine] = -1;
        }
        mine += list_threads;
    });
    __syncthreads();
    for (int i = thread; i < lists; i += list_threads) {
        if (held[i] == 0) continue;
        const Index first = atomicAdd(l.counts + least + i, held[i]);
        if (Listing) held[i] = first;
    }
    if (!Listing) return;
    __syncthreads();
    mine = thread;
    for_each_word(l.where, [&](Index word_number, std::int64_t, const place<Index>&, bool) {
        if (own[mine] >= 0)
            l.cells[held[own[mine] % held_lists] + own[mine] / held_lists] = (word_number << 5) + thread % cuda::warp;
        mine += list_threads;
    });
}

/// Computes where lists begin. The lists of one turn are contiguous, so that cells that wait for this turn can replace
/// those of the layers already tested. Layers without cells are left out. Runs in one block.
template <class Index>
__global__ void __launch_bounds__(cuda::sum_threads)
    place_lists(Index* counts, int layers, int turns, std::int32_t* occupied, Index* first, std::int32_t* found) {
    __shared__ std::int32_t held_count[cuda::sum_threads / cuda::warp];
    __shared__ Index held[cuda::sum_threads / cuda::warp];
    const int thread = static_cast<int>(threadIdx.x);
    int many = 0;
    for (int from = 0; from < layers; from += cuda::sum_threads) {
        const int layer = from + thread;
        bool some = false;
        for (int turn = 0; turn < turns && layer < layers; ++turn) some = some || counts[layer * turns + turn] != 0;
        std::int32_t here = 0;
        const std::int32_t before = cuda::sum_before(some ? 1 : 0, held_count, here);
        if (some) occupied[many + before] = layer;
        many += here;
    }
    __syncthreads();
    Index done = 0;
    for (int turn = 0; turn < turns; ++turn) {
        for (int from = 0; from < many; from += cuda::sum_threads) {
            const int i = from + thread;
            Index* const count = i < many ? counts + occupied[i] * turns + turn : nullptr;
            Index here = 0;
            const Index before = cuda::sum_before(count != nullptr ? *count : Index{0}, held, here);
            if (count != nullptr) first[i * turns + turn] = *count = done + before;
            done += here;
        }
        if (thread == 0) first[many * turns + turn] = done;
    }
    if (thread == 0) *found = many;
}

/// Writes the output. A thread handles one cell; a warp reads one word.
template <class Index>
__global__ void __launch_bounds__(list_threads)
    write_cells(const cell_grid<Index> where, const state* states, const byte_array out) {
    for_each_word(where, [&](Index word_number, std::int64_t cell, const place<Index>&, bool inside) {
        if (inside)
            out.data[out.at(cell)] =
                static_cast<std::uint8_t>(shape_of(states[word_number]) >> threadIdx.x % cuda::warp & 1);
    });
}

template <class Index>
std::int64_t blocks_of_words(const cell_grid<Index>& where) {
    const auto words = static_cast<std::int64_t>(where.images * where.size[0] * where.size[1] * where.words);
    return cuda::blocks_for(words, list_threads / cuda::warp * words_a_warp);
}

}  // namespace nearfield::skeleton
