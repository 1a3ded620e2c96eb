// Numbers the components of tiles in raster order: a bit for the first cell of each, and a running count of bits.
#pragma once

#include "label/gpu/number.cuh"
#include "label/gpu/tiles/tile.cuh"

namespace nearfield::labelling {

/// Marks the component of `root` as one with parts in several tiles. One of its parts sets the bit atomically; later
/// ones see it set and skip the atomic.
__device__ inline void mark_split(word* split, part root) {
    const auto id = static_cast<std::uint32_t>(root >> 32);
    word* const bits = split + id / word_cells;
    const word mine = word{1} << id % word_cells;
    if ((*static_cast<volatile word*>(bits) & mine) == 0) atomicOr(bits, mine);
}

/// Links every part of a tile to its root, and marks the first cells of components and, in `split` unless that is null,
/// of those with parts in several tiles. A block owns a tile, and the words of `firsts` that its rows cover.
template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads)
    settle_parts(narrow_lattice g, tile_store from, word* firsts, word* split) {
    __shared__ word marks[Tiling::row_words];
    cuda::wait_for_kernel_before();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    for (int i = static_cast<int>(threadIdx.x); i < Tiling::row_words; i += Tiling::threads) marks[i] = 0;
    // Words behind the end, which are read in groups of number_words, hold no marks.
    const std::int64_t behind = g.all_words() + threadIdx.x;
    if (blockIdx.x == 0 && threadIdx.x < number_words && behind / number_words == (g.all_words() - 1) / number_words)
        firsts[behind] = 0;
    __syncthreads();
    const std::uint32_t begin = static_cast<std::uint32_t>(at.number) * Tiling::nodes, count = from.counts[at.number];
    const auto row_cells = static_cast<std::uint32_t>(g.words * word_cells);
    const std::uint32_t base =
        static_cast<std::uint32_t>(at.row(g, 0, 0)) * row_cells + static_cast<std::uint32_t>(at.word * word_cells);
    for (std::uint32_t i = begin + threadIdx.x; i < begin + count; i += Tiling::threads) {
        const part up = from.parts[i];
        if (static_cast<std::uint32_t>(up) != i) {
            const part root = part_forest{from.parts}.settled_root(up);
            from.parts[i] = root;
            if (split != nullptr) mark_split(split, root);
            continue;
        }
        const std::uint32_t cell = static_cast<std::uint32_t>(up >> 32) - base, row = cell / row_cells;
        const std::uint32_t plane = Tiling::planes > 1 ? row / static_cast<std::uint32_t>(g.size[1]) : 0;
        const std::uint32_t line = row - plane * static_cast<std::uint32_t>(g.size[1]), x = cell - row * row_cells;
        atomicOr(marks + (plane * Tiling::rows + line) * Tiling::words + x / word_cells, 1U << x % word_cells);
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < Tiling::row_words; i += Tiling::threads) {
        const int row = i / Tiling::words, w = i % Tiling::words, plane = row / Tiling::rows, line = row % Tiling::rows;
        if (at.holds(g, plane, line, w)) firsts[at.row(g, plane, line) * g.words + at.word + w] = marks[i];
    }
}

/// Rows whose sums are cleared as soon as components are numbered: those of split components.
struct rows_to_clear {
    const word* split = nullptr;
    state* sums = nullptr;
    std::int64_t rows = 0;
    int row_words = 0;  ///< even

    __device__ void clear(std::int64_t row) const {
        if (row >= rows) return;
        auto* const two = reinterpret_cast<uint4*>(sums + row * row_words);
        for (int k = 0; k < row_words / 2; ++k) two[k] = uint4{0, 0, 0, 0};
    }
    /// Clears the rows of those components whose first cells are `firsts`, of the words from `word_at` on; `before`
    /// components have their first cells in earlier words.
    __device__ void clear_of(std::int64_t word_at, const word* firsts, std::int64_t before) const {
        if (sums == nullptr) return;
        const uint4 bits = *reinterpret_cast<const uint4*>(split + word_at);
        const word each[number_words] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
        for (int i = 0; i < number_words; ++i) {
            for (word left = each[i]; left != 0; left &= left - 1)
                clear(before + __popc(firsts[i] & ((left & -left) - 1)));
            before += __popc(firsts[i]);
        }
    }
};

/// A thread owns number_words neighbouring words: `before` becomes the number of bits in all words before them.
static __global__ void __launch_bounds__(number_threads)
    count_firsts(std::int64_t words, const word* firsts, std::uint32_t* before, state* states,
                 std::int64_t words_per_image, std::int64_t images, std::int64_t* image_base, rows_to_clear rows) {
    __shared__ std::uint32_t held[number_threads / cuda::warp];
    __shared__ std::int64_t block_here;
    __shared__ state base;
    cuda::wait_for_kernel_before();
    if (threadIdx.x == 0) block_here = static_cast<std::int64_t>(atomicAdd(states, 1ULL));
    __syncthreads();
    const std::int64_t group = block_here * number_threads + threadIdx.x, first = group * number_words;
    static_assert(number_words == 4);
    uint4 bits{0, 0, 0, 0};
    if (first < words) bits = reinterpret_cast<const uint4*>(firsts)[group];  // there are none behind the last word
    const int each[number_words] = {__popc(bits.x), __popc(bits.y), __popc(bits.z), __popc(bits.w)};
    std::uint32_t total = 0;
    const std::uint32_t upto =
        cuda::sum_before(static_cast<std::uint32_t>(each[0] + each[1] + each[2] + each[3]), held, total);
    if (threadIdx.x < cuda::warp) {
        const state sum = count_before(states + 1, block_here, total);
        if (threadIdx.x == 0) base = sum;
    }
    __syncthreads();
    std::int64_t sum = static_cast<std::int64_t>(base) + upto;
    if (first < words) {
        before[group] = static_cast<std::uint32_t>(sum);
        const word each_first[number_words] = {bits.x, bits.y, bits.z, bits.w};
        rows.clear_of(first, each_first, sum);
    }
#pragma unroll
    for (int i = 0; i < number_words; ++i) {
        const std::int64_t w = first + i;
        if (w == 0 || (images > 1 && w < words && w % words_per_image == 0)) image_base[w / words_per_image] = sum;
        sum += each[i];
        if (w == words - 1) image_base[images] = sum;
    }
}

/// Returns the number of the component whose first cell is `id`, over all images.
struct component_numbers {
    const word* firsts;
    const std::uint32_t* before;
    const state* kept = nullptr;  ///< the result of component_choice; null: all components stay
    /// Returns the number from 1 on; 0 for a component that was dropped.
    [[nodiscard]] __device__ std::uint32_t of(std::uint32_t id) const { return staying(of_all(id)); }
    /// Returns the number of a component after the filter; 0 if it was dropped.
    [[nodiscard]] __device__ std::uint32_t staying(std::uint32_t number) const {
        if (kept == nullptr) return number;
        const state chosen = kept[number - 1];
        return chosen % 2 != 0 ? static_cast<std::uint32_t>(chosen / 2) : 0;
    }

private:
    [[nodiscard]] __device__ std::uint32_t of_all(std::uint32_t id) const {
        const std::uint32_t w = id / word_cells, group = w / number_words;
        std::uint32_t number = before[group];
        const uint4 bits = reinterpret_cast<const uint4*>(firsts)[group];
        const word each[number_words] = {bits.x, bits.y, bits.z, bits.w};
        const int last = static_cast<int>(w % number_words);
#pragma unroll
        for (int i = 0; i < number_words; ++i)
            number += __popc(i < last ? each[i] : i == last ? each[i] & up_to(static_cast<int>(id % word_cells)) : 0);
        return number;
    }
};

}  // namespace nearfield::labelling
