// Grids of up to 2048 cells along each axis on a device, in one kernel for each axis and in a time that hardly depends
// on how far sites are. Rows become words of marks with the steps to the nearest mark on either side. A block then owns
// a few adjacent lines along an axis, two to a word of shared memory.
//
// In the chessboard metric a cell's distance is the least k for which a cell at most k away has a value of at most k.
// It is found bit by bit, from minima of 1, 2, 4 ... cells. In the city-block metric lines are swept, or lowered by
// lines 1, 2, 4 ... cells away.
#pragma once

#include <algorithm>
#include <utility>

#include "chessboard/cuda_rows.cuh"
#include "chessboard/ways.hpp"

namespace nearfield::chessboard {
namespace {

constexpr int most_small = 2 * stretch;  ///< cells of an axis
constexpr int threads_of_lines = 1024, most_pairs = mark_bits / 2;
constexpr std::int64_t enough_blocks = 128, most_blocks = 1 << 14;
constexpr std::uint32_t small_none = 0x7fff;

/// Number of bits of x: 2^bits_of(x) exceeds x.
NF_HD inline int bits_of(std::uint32_t x) {
    int bits = 0;
    for (; x != 0; x >>= 1) ++bits;
    return bits;
}

/// Writes the words of all rows, those of adjacent rows next to each other: x has the marks, y the steps from the first
/// cell back to a mark before the word in its lower half, and from the last cell on. A warp owns a row.
__global__ void __launch_bounds__(threads_of_block) mark_small(const __grid_constant__ problem p, uint2* to) {
    cuda::wait_for_kernel_before();
    const std::int64_t row = own_item() / cuda::warp, n = p.size[p.rank - 1], rows = cuda::quotient(p.cells, n);
    if (row >= rows) return;
    const border ends = p.ends[p.rank - 1];
    const int cells = static_cast<int>(n), words = (cells + mark_bits - 1) / mark_bits;
    std::uint32_t mine[2] = {};
    unsigned long long full = 0;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const int left = cells - k * stretch;
        if (left > 0) mine[k] = read_marks(p, row, k * stretch, left < stretch ? left : stretch);
        full |= static_cast<unsigned long long>(__ballot_sync(cuda::every_lane, mine[k] != 0 ? 1 : 0)) << 32 * k;
    }
    const auto word_at = [&](int w) {
        const std::uint32_t low = __shfl_sync(cuda::every_lane, mine[0], w % cuda::warp),
                            high = __shfl_sync(cuda::every_lane, mine[1], w % cuda::warp);
        return static_cast<int>(w < cuda::warp ? low : high);
    };
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const int at = k * cuda::warp + own_lane(), first = at * mark_bits, last = first + mark_bits - 1;
        const unsigned long long lower = full & ((1ULL << at) - 1), upper = full & ~((2ULL << at) - 1);
        const bool turns = ends == border::periodic && full != 0;
        const unsigned long long before = turns && lower == 0 ? full : lower,
                                 behind = turns && upper == 0 ? full : upper;
        const int w = before != 0 ? 63 - __clzll(static_cast<long long>(before)) : 0,
                  v = behind != 0 ? __ffsll(static_cast<long long>(behind)) - 1 : 0;
        const int mark = w * mark_bits + 31 - __clz(word_at(w)), next = v * mark_bits + __ffs(word_at(v)) - 1;
        const auto none = static_cast<int>(small_none);
        const int back = before != 0              ? first - mark + (lower == 0 ? cells : 0)
                         : ends == border::closed ? first + 1
                                                  : none,
                  on = behind != 0              ? next - last + (upper == 0 ? cells : 0)
                       : ends == border::closed ? cells - last
                                                : none;
        if (at < words)
            to[at * rows + row] = {mine[k], (static_cast<std::uint32_t>(back) & 0xffff) | static_cast<std::uint32_t>(on)
                                                                                              << 16};
    }
}

/// Returns the steps along the row from a cell of a word to the nearest mark.
__device__ std::uint32_t along_word(const uint2& word, int bit) {
    const std::uint32_t left = word.x << (31 - bit), right = word.x >> bit;
    const std::uint32_t a = left != 0 ? __clz(static_cast<int>(left)) : (word.y & 0xffff) + bit,
                        b = right != 0 ? __ffs(static_cast<int>(right)) - 1 : ((word.y >> 16) + 31 - bit) & 0xffff;
    return min(min(a, b), small_none);
}

/// Writes the distances of two cells, the halves of a word, to two elements of the output, or only the first one.
template <class Out>
__device__ void put_two(const problem& p, std::int64_t first, std::int64_t second, bool both, std::uint32_t two,
                        std::uint32_t none) {
    struct alignas(2 * sizeof(Out)) pair_of {
        Out one[2];
    };
    const auto limit = static_cast<std::uint32_t>(p.limit);
    const pair_of made{static_cast<Out>(written(two & 0xffff, limit, none)),
                       static_cast<Out>(written(two >> 16, limit, none))};
    Out* const to = static_cast<Out*>(p.out);
    if (both && second == first + 1 && reinterpret_cast<std::uintptr_t>(to + first) % sizeof(pair_of) == 0) {
        *reinterpret_cast<pair_of*>(to + first) = made;
    } else {
        to[first] = made.one[0];
        if (both) to[second] = made.one[1];
    }
}

/// A pass along an axis, in which two adjacent cells of a line lie `inner` cells apart.
struct small_pass {
    const uint2* words;         ///< of rows, if the last axis alone is solved, else null
    const std::uint16_t* from;  ///< distances across the solved axes
    std::int64_t inner, rows;   ///< `rows` of the grid
    int n, pairs, axis;         ///< cells of a line, pairs of lines of a block
    std::uint32_t most;         ///< larger distances are none
    border ends;
};

/// A thread's pair of adjacent lines, whose distances are the halves of a word.
struct line_pair {
    const small_pass& a;
    int pair, nth;  ///< of the block's pairs; the thread's place among those of the pair
    std::int64_t outer, line;

    __device__ explicit line_pair(const small_pass& a_) : a(a_) {
        const auto thread = static_cast<int>(threadIdx.x);
        nth = thread / a.pairs, pair = thread - nth * a.pairs;
        const std::int64_t groups = cuda::blocks_for(a.inner, 2 * a.pairs);
        outer = cuda::quotient(blockIdx.x, groups);
        line = ((blockIdx.x - outer * groups) * a.pairs + pair) * 2;
    }
    __device__ std::int64_t cell(std::int64_t row) const { return (outer * a.n + row) * a.inner + line; }
    __device__ bool has(int k) const { return line + k < a.inner; }

    __device__ std::uint32_t read(int row) const {
        std::uint32_t two[2] = {};
        if (a.words != nullptr) {
            const uint2 word = has(0) ? a.words[line / mark_bits * a.rows + outer * a.n + row] : uint2{};
            for (int k = 0; k < 2; ++k)
                if (has(k)) two[k] = along_word(word, static_cast<int>(line % mark_bits) + k);
        } else {
            for (int k = 0; k < 2; ++k)
                if (has(k)) two[k] = min(std::uint32_t{a.from[cell(row) + k]}, small_none);
        }
        return two[0] | two[1] << 16;
    }
    /// Calls body(put), where put(row, two) writes the distances at a row.
    template <class Body>
    __device__ void write(const problem& p, const Body& body) const {
        if (!has(0)) return;
        const std::int64_t step = p.out_step[a.axis], start = offset_in(p, p.out_step, cell(0)),
                           second = has(1) ? offset_in(p, p.out_step, cell(0) + 1) : start;
        with_output(p.out_type, [&]<class Out>(Out, std::uint32_t none) {
            body([&](int row, std::uint32_t two) {
                put_two<Out>(p, start + row * step, second + row * step, has(1), two, none);
            });
        });
    }
};

/// Solves an axis in the city-block metric. A thread sweeps `Rows` rows of a pair in registers, there and back, from
/// what the sweeps of the pair's other threads end with.
template <int Rows>
__global__ void __launch_bounds__(threads_of_lines)
    sweep_small(const __grid_constant__ problem p, const __grid_constant__ small_pass a) {
    cuda::wait_for_kernel_before();
    constexpr std::uint32_t one = 0x10001;
    __shared__ std::uint32_t ends_on[threads_of_lines], ends_back[threads_of_lines];
    const line_pair own(a);
    const int parts = (a.n + Rows - 1) / Rows, first = own.nth * Rows, count = min(Rows, a.n - first);
    std::uint32_t cells[Rows], on = small_none * one, back = on;
#pragma unroll
    for (int i = 0; i < Rows; ++i) cells[i] = i < count ? own.read(first + i) : small_none * one;
#pragma unroll
    for (int i = 0; i < Rows; ++i)
        if (i < count) on = __vminu2(on + one, cells[i]);
#pragma unroll
    for (int i = Rows - 1; i >= 0; --i) back = __vminu2(back + one, cells[i]);
    ends_on[threadIdx.x] = on, ends_back[threadIdx.x] = back;
    __syncthreads();
    if (count <= 0) return;
    const bool ring = a.ends == border::periodic;
    on = back = a.ends == border::closed ? 0 : small_none * one;
    const auto rows_of = [&](int part) { return static_cast<std::uint32_t>(min(Rows, a.n - part * Rows)) * one; };
    for (int k = ring ? own.nth - parts : 0; k < own.nth; ++k) {
        const int part = k < 0 ? k + parts : k;
        on = __vminu2(on + rows_of(part), ends_on[part * a.pairs + own.pair]);
    }
    for (int k = ring ? own.nth + parts : parts - 1; k > own.nth; --k) {
        const int part = k < parts ? k : k - parts;
        back = __vminu2(back + rows_of(part), ends_back[part * a.pairs + own.pair]);
    }
#pragma unroll
    for (int i = 0; i < Rows; ++i) cells[i] = on = __vminu2(on + one, cells[i]);
#pragma unroll
    for (int i = Rows - 1; i >= 0; --i)
        if (i < count) cells[i] = back = __vminu2(back + one, cells[i]);
    own.write(p, [&](const auto& put) {
#pragma unroll
        for (int i = 0; i < Rows; ++i)
            if (i < count) put(first + i, cells[i]);
    });
}

/// The lines of a block in shared memory: word row * pairs + pair of a level has a row of a pair.
struct small_lines : line_pair {
    std::uint32_t* memory;
    int apart;  ///< rows from one of the thread's rows to the next

    __device__ small_lines(const small_pass& a_, std::uint32_t* memory_)
        : line_pair(a_), memory(memory_), apart(static_cast<int>(blockDim.x) / a.pairs) {}
    __device__ std::uint32_t& at(int level, int row) const { return memory[(level * a.n + row) * a.pairs + pair]; }
    template <class Body>
    __device__ void for_rows(const Body& body) const {
        for (int row = nth; row < a.n; row += apart) body(row);
    }

    /// Lowers lines by the city-block metric up to `reach` cells away: 1 cell, then 2, 4 and so on, of which every
    /// distance is a sum. Returns the level that has the result.
    [[nodiscard]] __device__ int step(std::uint32_t reach) const {
        int now = 0;
        for (int by = 1; by <= static_cast<int>(reach); by *= 2, now ^= 1) {
            for_rows([&](int row) {
                std::uint32_t best = at(now, row);
                const auto take = [&](int other) {
                    if (other < 0 || other >= a.n) {
                        if (a.ends != border::periodic) return;
                        other += other < 0 ? a.n : -a.n;
                    }
                    best = __vminu2(best, at(now, other) + static_cast<std::uint32_t>(by) * 0x10001U);
                };
                take(row - by), take(row + by);
                at(now ^ 1, row) = best;
            });
            __syncthreads();
        }
        return now;
    }
    /// Gives level i + 1 the least of 2^(i + 1) cells from each one on. In a level whose stretches are not shorter than
    /// the line each of them has all cells, or all to the line's end.
    __device__ void widen(int levels) const {
        for (int level = 0; level + 1 < levels; ++level) {
            for_rows([&](int row) {
                int other = row + (1 << level);
                if (other >= a.n) other = a.ends == border::periodic ? other - a.n : a.n - 1;
                at(level + 1, row) = __vminu2(at(level, row), at(level, other));
            });
            __syncthreads();
        }
    }
    /// Finds the distance of line k of the pair at a row, in the chessboard metric. Stretches that would cross an end
    /// begin at it instead: their cells are no farther away.
    [[nodiscard]] __device__ std::uint32_t search(int row, int k, int levels) const {
        const auto value = [&](int level, int other) { return at(level, other) >> 16 * k & 0xffff; };
        std::uint32_t least = value(0, row);
        if (least == 0) return 0;
        const bool has_bound = least <= a.most;  // the distance is no larger
        const int bits = bits_of(has_bound ? least : a.most);
        int steps = 0;
        for (int bit = bits - 1; bit >= 0; --bit) {
            const int level = min(bit, levels - 1), more = 1 << bit;
            int on = row + steps + 1, back = row - steps - more;
            if (a.ends == border::periodic) {
                on %= a.n, back %= a.n, back += back < 0 ? a.n : 0;
            } else {
                on = min(on, max(a.n - (1 << level), 0)), back = max(back, 0);
            }
            const std::uint32_t all = min(least, min(value(level, on), value(level, back)));
            if (all > static_cast<std::uint32_t>(steps + more)) steps += more, least = all;
        }
        return !has_bound && steps == (1 << bits) - 1 ? small_none : static_cast<std::uint32_t>(steps + 1);
    }
};

/// Levels of lines of n cells whose distances have so many bits.
NF_HD inline int levels_of(int n, int bits) {
    const int most = bits_of(static_cast<std::uint32_t>(n - 1)) + 1, least = bits < most ? bits : most;
    return least < 1 ? 1 : least;
}

/// Solves an axis. A block owns `pairs` pairs of lines.
template <bool Diagonal>
__global__ void __launch_bounds__(threads_of_lines)
    search_small(const __grid_constant__ problem p, const __grid_constant__ small_pass a) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t memory_of_lines[];
    __shared__ std::uint32_t most_of_block;
    if (threadIdx.x == 0) most_of_block = 0;
    const small_lines own(a, memory_of_lines);
    __syncthreads();
    std::uint32_t most = 0;
    own.for_rows([&](int row) {
        const std::uint32_t two = own.read(row);
        own.at(0, row) = two, most = max(most, max(two & 0xffff, two >> 16));
    });
    most = __reduce_max_sync(cuda::every_lane, most);
    if (own_lane() == 0) atomicMax(&most_of_block, most);
    __syncthreads();
    const std::uint32_t reach = min(most_of_block, a.most);
    const int levels = levels_of(a.n, bits_of(reach));
    int result = 0;
    if (Diagonal) own.widen(levels);
    else result = own.step(min(reach, static_cast<std::uint32_t>(a.n - 1)));
    own.write(p, [&](const auto& put) {
        own.for_rows([&](int row) {
            std::uint32_t two =
                Diagonal ? own.search(row, 0, levels) | own.search(row, 1, levels) << 16 : own.at(result, row);
            if (a.ends == border::closed)
                two = __vminu2(two, 0x10001U * static_cast<std::uint32_t>(min(row + 1, a.n - row)));
            put(row, two);
        });
    });
}

/// The largest distance that is not none.
inline std::uint32_t most_of(const problem& p) {
    return static_cast<std::uint32_t>(std::min(p.limit, std::max<std::int64_t>(p.most - 1, 1)));
}
/// Rows that a thread sweeps; 0 if it sweeps none: in the chessboard metric, and if too few threads would.
inline int swept_rows(const problem& p, int axis) {
    constexpr std::int64_t most_short = 256, cells_a_row = 1 << 16;  // 2^15 threads
    const int rows = p.size[axis] <= most_short ? 8 : 32;
    return p.diagonal || p.cells < rows * cells_a_row ? 0 : rows;
}
/// The threads of a pair of lines, and its bytes of shared memory.
inline std::int64_t threads_of_pair(const problem& p, int axis) {
    const int rows = swept_rows(p, axis);
    return cuda::blocks_for(p.size[axis], rows == 0 ? 1 : rows);
}
inline std::size_t bytes_of_pair(const problem& p, int axis) {
    if (swept_rows(p, axis) > 0) return 0;
    const auto n = static_cast<int>(p.size[axis]);
    return static_cast<std::size_t>((p.diagonal ? levels_of(n, bits_of(most_of(p))) : 2) * n) * sizeof(std::uint32_t);
}
/// Returns the pairs of lines of a block, 0 if one does not fit or there would be too many blocks.
inline int pairs_for(const problem& p, int axis) {
    const std::int64_t inner = p.product(axis + 1, p.rank), outer = p.product(0, axis);
    for (int pairs = most_pairs; pairs > 0; pairs /= 2) {
        const std::int64_t blocks = outer * cuda::blocks_for(inner, 2 * pairs);
        if (blocks > most_blocks) return 0;
        if (bytes_of_pair(p, axis) * static_cast<std::size_t>(pairs) + 64 > cuda::limits().shared_bytes) continue;
        if (blocks >= enough_blocks || pairs == 1) return pairs;
    }
    return 0;
}

/// Whether these kernels solve a problem sooner than others.
inline bool is_small(const problem& p) {
    const int axes = p.rank - p.batch;
    const std::int64_t most = axes == 2 ? (p.diagonal ? 1 << 20 : 1 << 22) : (p.diagonal ? 1 << 18 : 1 << 21);
    if (!limit_of_ways.small || axes < 2 || p.cells > most || p.most >= small_none) return false;
    for (int axis = p.batch; axis < p.rank; ++axis)
        if (p.size[axis] > most_small || (axis < p.rank - 1 && pairs_for(p, axis) == 0)) return false;
    return true;
}

/// Solves a problem for which is_small() is true.
inline void solve_all_small(const device& on, const problem& p) {
    const int last = p.rank - 1;
    const std::int64_t n = p.size[last], rows = p.cells / n;
    cuda::workspace memory(on);
    const std::int64_t words = memory.reserve<uint2>(cuda::blocks_for(n, mark_bits) * rows);
    std::int64_t between[2] = {};
    for (int k = 0; k < 2; ++k) between[k] = memory.reserve<std::uint16_t>(last - p.batch > 1 + k ? p.cells : 0);
    memory.allocate();
    cuda::launch_overlapped(on, mark_small, cuda::blocks_for(rows, warps_of_block), dim3(threads_of_block), 0, p,
                            memory.get<uint2>(words));
    std::uint16_t *from = nullptr, *to = memory.get<std::uint16_t>(between[0]),
                  *next = memory.get<std::uint16_t>(between[1]);
    for (int axis = last - 1; axis >= p.batch; --axis) {
        const int pairs = pairs_for(p, axis), size = static_cast<int>(p.size[axis]);
        const small_pass a{from == nullptr ? memory.get<uint2>(words) : nullptr,
                           from,
                           p.product(axis + 1, p.rank),
                           rows,
                           size,
                           pairs,
                           axis,
                           most_of(p),
                           p.ends[axis]};
        const std::int64_t blocks = p.product(0, axis) * cuda::blocks_for(a.inner, 2 * pairs);
        const auto threads = static_cast<unsigned>(std::min<std::int64_t>(
            cuda::blocks_for(threads_of_pair(p, axis) * pairs, cuda::warp) * cuda::warp, threads_of_lines));
        const int swept = swept_rows(p, axis);
        const auto kernel = p.diagonal   ? search_small<true>
                            : swept == 0 ? search_small<false>
                            : swept == 8 ? sweep_small<8>
                                         : sweep_small<32>;
        cuda::launch_overlapped(on, kernel, blocks, dim3(threads),
                                bytes_of_pair(p, axis) * static_cast<std::size_t>(pairs), output_of(p, axis, to), a);
        from = to, std::swap(to, next);
    }
    if (watched != nullptr) *watched = {.small = true};
}

}  // namespace
}  // namespace nearfield::chessboard
