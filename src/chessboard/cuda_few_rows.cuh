// Images of which few rows have sites, on a device: cells are compared with those rows, between the kernels of
// cuda_sweeps.cuh that find steps along rows and those that sweep. The latter then do nothing.
#pragma once

#include "chessboard/cuda_marks.cuh"
#include "chessboard/cuda_words.cuh"

namespace nearfield::chessboard {
namespace {

constexpr int few_rows_across = 4, few_rows_down = 8;  ///< cells of a thread

/// Counts and lists rows with sites. All lanes call it.
__device__ inline void list_row(const columns& c, std::int64_t row, bool has_sites) {
    const unsigned all = __ballot_sync(cuda::every_lane, has_sites ? 1 : 0), lower = all & ((1U << own_lane()) - 1);
    std::uint32_t start = 0;
    if (has_sites && lower == 0) start = atomicAdd(c.row_count(), static_cast<std::uint32_t>(__popc(all)));
    start = __shfl_sync(cuda::every_lane, start, all != 0 ? __ffs(static_cast<int>(all)) - 1 : 0);
    const std::uint32_t place = start + static_cast<std::uint32_t>(__popc(lower));
    if (has_sites && place < most_rows_listed) c.rows_listed()[place] = static_cast<std::uint32_t>(row);
}

/// Compares cells with the rows that have sites, if these are few. A thread owns 4 cells of each of 8 rows.
template <bool Diagonal>
__global__ void __launch_bounds__(threads_of_block)
    compare_rows(const __grid_constant__ problem p, const __grid_constant__ columns c, const mark_steps steps) {
    cuda::wait_for_kernel_before();
    const std::uint32_t count = *c.row_count();
    const std::int64_t across = cuda::blocks_for(c.n, few_rows_across), item = own_item(),
                       down = cuda::quotient(item, across), x = (item - down * across) * few_rows_across,
                       first = down * few_rows_down;
    if (count > most_rows_listed || first >= c.height || p.is_solved()) return;
    const auto join = [](std::uint32_t along, std::uint32_t rows) {
        return Diagonal ? max(along, rows) : along + rows;
    };
    std::uint32_t best[few_rows_down][few_rows_across];
#pragma unroll
    for (int i = 0; i < few_rows_down; ++i) {
        const std::int64_t y = first + i;
        const bool closed = p.ends[p.rank - 2] == border::closed;
#pragma unroll
        for (std::uint32_t& one : best[i])
            one = closed ? static_cast<std::uint32_t>(min(y + 1, c.height - y)) : 0x7fffffff;
    }
    for (std::uint32_t k = 0; k < count; ++k) {
        const std::int64_t row = c.rows_listed()[k], place = x / mark_bits * c.height + row;
        const std::uint32_t bits = c.marks[place], before = steps.before[place], behind = steps.behind[place];
#pragma unroll
        for (int j = 0; j < few_rows_across; ++j) {
            const int bit = static_cast<int>(x % mark_bits) + j;
            const std::uint32_t left = bits << (31 - bit), right = bits >> bit;
            const std::uint32_t along = min(left != 0 ? __clz(static_cast<int>(left)) : before + bit,
                                            right != 0 ? __ffs(static_cast<int>(right)) - 1 : behind + 31 - bit);
#pragma unroll
            for (int i = 0; i < few_rows_down; ++i)
                best[i][j] =
                    min(best[i][j], join(along, static_cast<std::uint32_t>(abs(static_cast<int>(first + i - row)))));
        }
    }
    const row_places rows(p, c, p.out_step, 0);
    with_output(p.out_type, [&]<class Out>(Out, std::uint32_t most) {
#pragma unroll
        for (int i = 0; i < few_rows_down; ++i)
            if (first + i < c.height) write_four<Out>(p, rows, {0, first + i, x}, c.n, best[i], most);
    });
}

/// Compares an image's cells with few rows. Returns the problem that is left for others.
template <bool Diagonal>
problem try_few_rows(const device& on, problem p, const columns& c, const mark_steps& steps) {
    if (!c.lists_rows()) return p;
    const std::int64_t threads = cuda::blocks_for(c.n, few_rows_across) * cuda::blocks_for(c.height, few_rows_down);
    cuda::launch_overlapped(on, compare_rows<Diagonal>, cuda::blocks_for(threads, threads_of_block),
                            dim3(threads_of_block), 0, p, c, steps);
    p.rows_with_sites = c.row_count();
    if (watched == nullptr || !watched->swept) return p;
    std::uint32_t count = 0;
    cuda::fetch(on, &count, c.row_count(), sizeof count);
    watched->rows = count <= most_rows_listed, watched->swept = !watched->rows;
    return p;
}

}  // namespace
}  // namespace nearfield::chessboard
