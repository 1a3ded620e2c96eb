// The lists of cells on a device, sorted by turn and then by layer.
#pragma once

#include "base/cuda_scan.cuh"
#include "base/lines.hpp"
#include "skeleton/cuda_cells.cuh"

namespace nearfield::skeleton {

using cuda::every_lane;

constexpr int list_threads = 256, words_a_warp = 8;

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
    std::uint32_t* shape;
    Index* counts;  // of turn t in layer l: [l * turns + t]; later the position for its next cell
    Index* cells;
};

/// Calls use(word, lane's cell number, lane's place, whether the cell exists) for each word of a warp.
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

/// A warp handles words of 32 adjacent cells. It counts the cells of each turn and layer and writes the shape's bits;
/// with `Listing` it lists the cells instead.
template <bool Listing, class Index, class Squared>
__global__ void __launch_bounds__(list_threads) list_cells(const __grid_constant__ listing<Index, Squared> l) {
    const unsigned lane = threadIdx.x % cuda::warp;
    for_each_word(l.where, [&](Index word_number, std::int64_t cell, const place<Index>& p, bool inside) {
        const Squared squared = inside ? l.squared[cell] : Squared{0};
        const bool some = squared != 0;
        const unsigned shape = __ballot_sync(every_lane, some ? 1 : 0);
        if (!Listing && lane == 0) l.shape[word_number] = shape;
        if (shape == 0) return;
        const bool listed = some && (l.anchors.data == nullptr || l.anchors.data[l.anchors.at(cell)] == 0);
        int list = -1;
        if (listed) {
            const int layer = is_endless(squared) ? l.layers - 1 : layer_of(static_cast<double>(squared), l.thickness);
            list = (layer < l.layers ? layer : l.layers - 1) * l.turns + l.where.turn_of(p);
        }
        const unsigned same = __match_any_sync(every_lane, list);
        const int leader = __ffs(static_cast<int>(same)) - 1;
        Index before = 0;
        if (listed && static_cast<int>(lane) == leader)
            before = atomicAdd(l.counts + list, static_cast<Index>(__popc(same)));
        if constexpr (Listing) {
            before = __shfl_sync(every_lane, before, leader);
            const Index in_warp = static_cast<Index>(__popc(same & ((1U << lane) - 1)));
            if (listed) l.cells[before + in_warp] = (word_number << 5) + lane;
        }
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
    write_cells(const cell_grid<Index> where, const std::uint32_t* shape, const byte_array out) {
    for_each_word(where, [&](Index word_number, std::int64_t cell, const place<Index>&, bool inside) {
        if (inside) out.data[out.at(cell)] = shape[word_number] >> threadIdx.x % cuda::warp & 1;
    });
}

template <class Index>
std::int64_t blocks_of_words(const cell_grid<Index>& where) {
    const auto words = static_cast<std::int64_t>(where.images * where.size[0] * where.size[1] * where.words);
    return cuda::blocks_for(words, list_threads / cuda::warp * words_a_warp);
}

}  // namespace nearfield::skeleton
