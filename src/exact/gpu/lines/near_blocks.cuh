// Windows of words and of values share this: the ends of runs round a block of rows, and the blocks of a window.
#pragma once

#include <type_traits>

#include "exact/gpu/lines/near_plan.cuh"
#include "exact/gpu/lines/pivots.cuh"

namespace nearfield::exact::gpu {
namespace {

/// Ends of a line's runs round the rows of a block.
struct block_ends {
    std::uint32_t bits = 0;  ///< bits of the block's rows and the next one: a run begins there
    int low = 0, high = 0;   ///< rows from the first row to the end before, and from the last one to the end behind

    template <class C>
    __device__ block_ends(const C& c, int m) {
        constexpr std::uint32_t far = 1 << 20;
        const int word = m / mark_bits, i = m % mark_bits, last = i + near_block - 1;
        const run_word<C> here(c, word), next(c, (m + near_block - 1) / mark_bits);
        const bool within = last < mark_bits;
        const std::uint32_t behind = within ? 0 : next.bits, lower = here.bits << (31 - i),
                            upper = within ? here.bits >> last >> 1 : next.bits >> (last - mark_bits) >> 1;
        bits = __funnelshift_r(here.bits, behind, i);
        low = lower != 0 ? __clz(static_cast<int>(lower)) + 1 : i + 1 + static_cast<int>(min(here.before, far));
        high = upper != 0 ? __ffs(static_cast<int>(upper))
                          : static_cast<int>(min(next.after, far)) - (within ? last : last - mark_bits);
    }
    [[nodiscard]] __device__ bool begins(int i) const { return (bits >> i & 1) != 0; }
};

/// The bits of a column, or of neighbouring ones, that say where runs begin.
class column_begins {
public:
    template <class V>
    __device__ column_begins(const line_pass<V>& g, std::int64_t first_cell) : step_(g.begins.step) {
        const std::int64_t line = quotient(first_cell, g.done_size[0]), x = first_cell - line * g.done_size[0];
        from_ = g.begins.bits + line * g.begins.pitch + x / 8, place_ = static_cast<int>(x % 8);
    }
    /// Returns the bit of a row's cell, below those of the cells behind it in the same eight.
    [[nodiscard]] __device__ std::uint32_t operator()(int row) const {
        return static_cast<std::uint32_t>(__ldg(from_ + row * step_)) >> place_;
    }

private:
    const std::uint8_t* from_;
    std::int64_t step_;
    int place_;
};

/// Calls stage(threads) with the number of a block's threads: a constant, which loops unroll by, if it has `Most`.
template <int Most, class Stage>
__device__ void with_threads(const Stage& stage) {
    if (blockDim.x == Most) stage(std::integral_constant<int, Most>{});
    else stage(static_cast<int>(blockDim.x));
}

/// Repeats the last staged row of a line that has fewer rows than a block. It is farther there, so it never wins.
template <class Word>
__device__ void fill_block(Word* staged, int rows) {
    if (rows >= near_block) return;
    __syncthreads();
    for (int i = rows * cuda::warp + static_cast<int>(threadIdx.x); i < near_block * cuda::warp;
         i += static_cast<int>(blockDim.x))
        staged[i] = staged[(rows - 1) * cuda::warp + i % cuda::warp];
}

/// Returns the first row of a block at `row`. The last block of a line shares rows with the one before, even if that is
/// in the window before; that of a line of fewer rows goes beyond it.
__device__ inline int block_begin(int row, int rows) { return max(min(row, rows - near_block), 0); }

/// Returns the number of blocks for windows of which another rung has solved most: each block takes several.
inline std::int64_t blocks_for_left(std::int64_t windows, bool most_are_solved) {
    constexpr std::int64_t blocks_of_multiprocessor = 16;
    return most_are_solved ? std::min(windows, blocks_of_multiprocessor * cuda::limits().multiprocessors) : windows;
}

/// Calls solve(nth) for those of the block's windows that are left: of every gridDim.x-th one. A lane looks at each.
template <class IsLeft, class Solve>
__device__ void each_left(std::int64_t windows, const IsLeft& is_left, const Solve& solve) {
    const std::int64_t step = gridDim.x, lane = threadIdx.x % cuda::warp;
    for (std::int64_t first = blockIdx.x; first < windows; first += cuda::warp * step) {
        const std::int64_t mine = first + lane * step;
        for (unsigned bits = __ballot_sync(cuda::every_lane, mine < windows && is_left(mine)); bits != 0;
             bits &= bits - 1) {
            solve(first + (__ffs(static_cast<int>(bits)) - 1) * step);
            __syncthreads();
        }
    }
}

/// Calls put<Count>(row) for the rows of a block: all at once, or one after another in a line of fewer rows.
template <class Rows, class Put>
__device__ void put_block(Rows& rows, int m, int line_rows, const Put& put) {
    if (line_rows >= near_block) return put.template operator()<near_block>(m);
#pragma unroll 1
    for (int row = 0; row < line_rows; ++row, rows.shift()) put.template operator()<1>(row);
}

/// State that the warps of a window share.
struct near_progress {
    int taken, failures;
    unsigned left;  ///< a bit per strip

    __device__ void begin() { taken = static_cast<int>(blockDim.x) / cuda::warp, failures = 0, left = 0; }
    [[nodiscard]] __device__ bool has_enough() const {
        return *static_cast<const volatile int*>(&failures) >= most_failures;
    }
    /// Calls solve(row, failed) for the first rows of a warp's blocks among the rows [from, to), in strips that are
    /// `wanted`. If it returns false, the block's strip stays unresolved.
    template <class Solve>
    __device__ void each_block(int from, int to, int rows, unsigned wanted, const Solve& solve) {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp, blocks = (to - from + near_block - 1) / near_block;
        for (int b = static_cast<int>(threadIdx.x) / cuda::warp; b < blocks;
             b = __shfl_sync(cuda::every_lane, lane == 0 ? atomicAdd(&taken, 1) : 0, 0)) {
            bool failed = false;
            if ((wanted >> b * near_block / strip & 1) == 0) continue;
            if (solve(block_begin(from + b * near_block, rows), failed) || lane != 0) continue;
            atomicOr(&left, 1u << b * near_block / strip);
            if (failed) atomicAdd(&failures, 1);
        }
    }
    /// Stores the unresolved strips; called by one thread at the end. `which` has solved all others.
    template <class V>
    __device__ void leave(const line_pass<V>& g, rung which, std::int64_t tile, int from, int to,
                          unsigned wanted) const {
        std::uint8_t* const words = g.left + tile * ((g.rows + left_rows - 1) / left_rows);
        for (int w = from / left_rows; w * left_rows < to; ++w)
            words[w] = static_cast<std::uint8_t>(left >> (w - from / left_rows) * (left_rows / strip));
        if (left != 0 && g.unsolved != nullptr) *g.unsolved = 1;
        count_solved(g.solved, which, __popc(wanted & ~left));
    }
};

}  // namespace
}  // namespace nearfield::exact::gpu
