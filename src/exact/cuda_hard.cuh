// Tiles that steps (cuda_tile.cuh) and offers (cuda_gather.cuh) leave, by hulls in shared memory. How many tiles they are is
// known on the device only: a fixed number of blocks shares the list.
#pragma once

#include "exact/cuda_short.cuh"
#include "exact/cuda_tile.cuh"

namespace nearfield::exact {
namespace {

/// The first pass's values along one line of the second, for the hulls.
class word_values {
public:
    __device__ word_values(const word_lines& of, const word_group& group, int lane) : line_(of, group, lane) {}
    __device__ std::int32_t load(std::int64_t row) const {
        const std::int32_t apart = line_.load(row);
        return word_lines::reader::is_site(apart) ? apart * apart : no_site<std::int32_t>();
    }
    __device__ std::int32_t value(std::int32_t loaded) const { return loaded; }
    __device__ std::int32_t key(std::int32_t, std::int64_t) const { return 0; }

private:
    word_lines::reader line_;
};

/// A block one hard tile after another, as search_in_shared.
template <bool Last>
__global__ void __launch_bounds__(short_threads)
    search_hard_words(const word_lines lines, const metric<std::int32_t> m, const hard_tiles hard,
                      const sink<std::int32_t, std::int32_t, false, Last> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ packed_point points[];
    const int count = *hard.count;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const word_group group = lines.group_of(hard.list[nth]);
        // Lanes beyond the last column repeat it; they write the same values to the same cells.
        const int lane = min(static_cast<int>(threadIdx.x), lines.width(group) - 1);
        const word_values line(lines, group, lane);
        const std::int64_t first = lines.first_cell(group, lane), inner = lines.inner();
        search_lines<false>(points, lines.rows(), m.weight[m.rank - 2], line,
                            [&](int q, std::int32_t value, std::int32_t) { to.put(m, first + q * inner, value, 0); });
        __syncthreads();
    }
}

/// The same for a pass that reads a state.
template <bool Last>
__global__ void __launch_bounds__(short_threads)
    search_hard(const value_lines lines, const metric<std::int32_t> m, const hard_tiles hard,
                const sink<std::int32_t, std::int32_t, false, Last> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ packed_point points[];
    const int count = *hard.count;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        search_columns<false, 1>(points, hard.list[nth], lines.g, m, lines.cells, to);
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
