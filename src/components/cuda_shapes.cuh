// Cells, coordinates, boxes and faces of labels on a device.
#pragma once

#include "components/cuda_walk.cuh"
#include "label/statistics_rows.hpp"

namespace nearfield::components {

/// Selects the sums that a kernel adds up.
enum class tally : std::uint8_t { shapes, shapes_and_faces, cells, runs };

constexpr bool is_shape(tally what) { return what == tally::shapes || what == tally::shapes_and_faces; }

/// Words of a row in device memory; `cells` and `runs` have only the first one.
enum shape_word {
    size_at,
    sum_x_at,
    sum_w_at,
    sum_p_at,
    low_x_at,
    end_x_at,
    low_w_at,
    end_w_at,
    low_p_at,
    end_p_at,
    faces_at,
    shape_words
};
constexpr int words_of(tally what) { return is_shape(what) ? shape_words : 1; }

/// Sums of a label within a tile, relative to the tile's origin. If an axis is folded, w counts its folds.
struct tile_shape {
    std::uint32_t n = 0, sum_x = 0, sum_w = 0, low_x = no_row, high_x = 0, low_w = no_row, high_w = 0, faces = 0;

    __device__ void reduce() {
        for (int by = cuda::warp / 2; by > 0; by /= 2) {
            n += __shfl_xor_sync(cuda::every_lane, n, by), sum_x += __shfl_xor_sync(cuda::every_lane, sum_x, by);
            sum_w += __shfl_xor_sync(cuda::every_lane, sum_w, by),
                faces += __shfl_xor_sync(cuda::every_lane, faces, by);
            low_x = min(low_x, __shfl_xor_sync(cuda::every_lane, low_x, by));
            high_x = max(high_x, __shfl_xor_sync(cuda::every_lane, high_x, by));
            low_w = min(low_w, __shfl_xor_sync(cuda::every_lane, low_w, by));
            high_w = max(high_w, __shfl_xor_sync(cuda::every_lane, high_w, by));
        }
    }
};

/// Words of all rows of a block, in shared memory.
struct block_shapes {
    block_rows rows;
    std::uint32_t n[block_rows::places], sum_x[block_rows::places], sum_w[block_rows::places],
        low_x[block_rows::places], high_x[block_rows::places], low_w[block_rows::places], high_w[block_rows::places],
        faces[block_rows::places];

    __device__ void clear() {
        const unsigned i = threadIdx.x;
        rows.clear();
        n[i] = sum_x[i] = sum_w[i] = high_x[i] = high_w[i] = faces[i] = 0;
        low_x[i] = low_w[i] = no_row;
    }
    template <tally What>
    __device__ void add(int place, const tile_shape& s) {
        atomicAdd(n + place, s.n);
        if (!is_shape(What)) return;
        atomicAdd(sum_x + place, s.sum_x), atomicAdd(sum_w + place, s.sum_w);
        atomicMin(low_x + place, s.low_x), atomicMax(high_x + place, s.high_x);
        atomicMin(low_w + place, s.low_w), atomicMax(high_w + place, s.high_w);
        if (What == tally::shapes_and_faces) atomicAdd(faces + place, s.faces);
    }
    [[nodiscard]] __device__ tile_shape get(int place) const {
        return {n[place],      sum_x[place], sum_w[place],  low_x[place],
                high_x[place], low_w[place], high_w[place], faces[place]};
    }
};

/// Adds the sums of a tile to the row's words in device memory.
template <tally What>
__device__ void add_to_row(const walk& by, const stand& at, word* words, std::uint32_t row, const tile_shape& s) {
    word* const to = words + static_cast<std::int64_t>(row) * words_of(What);
    atomicAdd(to + size_at, static_cast<word>(s.n));
    if (!is_shape(What)) return;
    const auto n = static_cast<word>(s.n);
    const std::int64_t x = at.x0 + by.folded * at.w0;
    atomicAdd(to + sum_x_at, n * static_cast<word>(x) + s.sum_x + static_cast<word>(by.folded) * s.sum_w);
    lower(to + low_x_at, static_cast<word>(x + s.low_x)), raise(to + end_x_at, static_cast<word>(x + s.high_x + 1));
    if (by.has_w) {
        atomicAdd(to + sum_w_at, n * static_cast<word>(at.w0) + s.sum_w);
        lower(to + low_w_at, static_cast<word>(at.w0 + s.low_w));
        raise(to + end_w_at, static_cast<word>(at.w0 + s.high_w + 1));
    }
    if (by.has_p) {
        atomicAdd(to + sum_p_at, n * static_cast<word>(at.p));
        lower(to + low_p_at, static_cast<word>(at.p)), raise(to + end_p_at, static_cast<word>(at.p + 1));
    }
    if (What == tally::shapes_and_faces) atomicAdd(to + faces_at, static_cast<word>(s.faces));
}

/// Adds up the sums of labels. A block owns a tile, a lane 64 cells of a column; lanes read cells side by side.
template <tally What>
__global__ void __launch_bounds__(threads_of_block) add_up_shapes(const walk by, const labels32 labels, word* words) {
    __shared__ block_shapes sums;
    sums.clear();
    __syncthreads();
    const stand at(by);
    std::uint32_t row = no_row;
    tile_shape mine;
    const auto put = [&](std::uint32_t which, const tile_shape& s) {
        const int place = sums.rows.place_of(which);
        if (place >= 0) sums.template add<What>(place, s);
        else add_to_row<What>(by, at, words, which, s);
    };
    const auto with_columns = [&](tile_shape s) {
        s.sum_x = s.n * static_cast<std::uint32_t>(at.x);
        s.low_x = static_cast<std::uint32_t>(at.x + by.folded * s.low_w);
        s.high_x = static_cast<std::uint32_t>(at.x + by.folded * s.high_w);
        return s;
    };
    walk_down<What == tally::shapes_and_faces>(by, labels, at, [&](std::uint32_t found, int i, std::uint32_t faces) {
        if (found == no_row) return;
        if constexpr (What == tally::runs) {
            const std::int64_t x = at.x0 + at.x, w = at.w0 + at.w + i;
            if (x + by.folded * w > 0 && (x > 0 || by.folded != 0)) {
                const std::uint32_t* const here = labels.data() + by.offset(x, w, at.p);
                if (here[-by.step_x] == *here) return;
            }
        }
        if (found != row) {
            if (row != no_row) put(row, with_columns(mine));
            row = found, mine = {};
            mine.low_w = static_cast<std::uint32_t>(at.w + i);
        }
        ++mine.n, mine.sum_w += static_cast<std::uint32_t>(at.w + i);
        mine.high_w = static_cast<std::uint32_t>(at.w + i);
        mine.faces += faces;
    });
    put_by_warp(row, with_columns(mine), put);
    __syncthreads();
    const std::uint32_t own = sums.rows.row[threadIdx.x];
    if (own != no_row) add_to_row<What>(by, at, words, own, sums.get(static_cast<int>(threadIdx.x)));
}

/// Sets the words of rows to those of a row without cells.
template <tally What>
__global__ void __launch_bounds__(threads_of_block) clear_shapes(word* words, std::int64_t count) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= count) return;
    const auto which = static_cast<int>(i - quotient(i, words_of(What)) * words_of(What));
    words[i] = is_shape(What) && (which == low_x_at || which == low_w_at || which == low_p_at) ? ~word{0} : 0;
}

/// Clears the words, then adds up the sums of the labels' cells.
template <tally What>
void launch_shapes(const device& on, const labels32& labels, int axes, std::int64_t rows, word* words) {
    const std::int64_t count = rows * words_of(What);
    cuda::launch(on, clear_shapes<What>, blocks_for(count, threads_of_block), dim3(threads_of_block), 0, words, count);
    if (labels.at.cells() == 0) return;
    const walk by(labels.at, axes);
    cuda::launch(on, add_up_shapes<What>, by.tiles, dim3(threads_of_block), 0, by, labels, words);
}

}  // namespace nearfield::components
