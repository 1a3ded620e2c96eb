// Grids of up to 2048 cells along each axis on a device, in one kernel for each axis and in a time that hardly depends
// on how far sites are. Rows become words of marks with the steps to the nearest mark on either side. A block then owns
// a few adjacent lines along an axis (cuda_chunks.cuh). A ring is a line that has half of itself again at either end.
//
// One kernel solves images of up to 512 x 512 cells, without workspace. Eight neighbouring blocks are a cluster, which
// finishes 32 columns: a block makes the words of an eighth of the rows, then solves four columns.
#pragma once

#include <algorithm>
#include <utility>

#include "base/cluster.cuh"
#include "chessboard/cuda_chunks.cuh"
#include "chessboard/ways.hpp"

namespace nearfield::chessboard {
namespace {

constexpr int chunk_of_lines = 8, chunk_of_image = 4;
constexpr int threads_of_lines = 512, most_shift = 5, least_shift = 2;
constexpr std::int64_t enough_blocks = 256, most_blocks = 1 << 14;

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

/// Chunks of a line of n cells, and those of them that repeat a ring before it, as many as behind it.
struct chunk_count {
    int turning, all;
    NF_HD chunk_count(std::int64_t n, border ends, int cells)
        : turning(ends == border::periodic ? static_cast<int>((n / 2 + cells - 1) / cells) : 0),
          all(static_cast<int>((n + cells - 1) / cells) + 2 * turning) {}
};

/// The distance of cell `row` of n with closed ends to what is beyond them.
__device__ std::uint32_t beyond_end(border ends, int row, int n) {
    return ends == border::closed ? static_cast<std::uint32_t>(min(row + 1, n - row)) : small_none;
}

/// A pass along an axis, in which two adjacent cells of a line lie `inner` cells apart.
struct small_pass {
    const uint2* words;          ///< of rows, if the last axis alone is solved, else null
    const std::uint32_t* marks;  ///< the same, apart from `steps`, or null
    mark_steps steps;
    const std::uint16_t* from;   ///< distances across the solved axes
    int inner, rows, n, axis;    ///< `rows` of the grid, n cells of a line
    int shift, chunks, turning;  ///< log2 of a block's lines; chunks of a line, of which so many are the ring's end
    std::uint32_t most;          ///< larger distances are none
    border ends;
};

/// Writes the distances of a chunk that begins with cell `row` of n, `step` apart.
template <class Out, int Cells>
__device__ void put_chunk(const problem& p, Out* to, std::int64_t step, std::uint32_t none,
                          const std::uint32_t (&best)[Cells], int row, int n, border ends) {
#pragma unroll
    for (int i = 0; i < Cells; ++i, to += step)
        if (row + i < n)
            *to = static_cast<Out>(
                written(min(best[i], beyond_end(ends, row + i, n)), static_cast<std::uint32_t>(p.limit), none));
}

/// Solves an axis. A block owns 2^shift adjacent lines.
template <bool Diagonal>
__global__ void __launch_bounds__(threads_of_lines, 4)
    solve_chunks(const __grid_constant__ problem p, const __grid_constant__ small_pass a) {
    cuda::wait_for_kernel_before();
    extern __shared__ uint4 memory_of_lines[];
    __shared__ std::uint32_t most_of_block;
    if (p.is_solved()) return;
    if (threadIdx.x == 0) most_of_block = 0;
    const chunked_lines<Diagonal, chunk_of_lines> own(memory_of_lines, a.shift, a.chunks);
    const int columns = 1 << a.shift, groups = (a.inner + columns - 1) / columns,
              outer = static_cast<int>(blockIdx.x) / groups,
              line = ((static_cast<int>(blockIdx.x) - outer * groups) << a.shift) +
                     (static_cast<int>(threadIdx.x) & (columns - 1)),
              first = outer * a.n;
    const bool is_line = line < a.inner;
    const uint2* const words = a.words == nullptr ? nullptr : a.words + line / mark_bits * a.rows + first;
    const int bit = line % mark_bits;
    __syncthreads();
    std::uint32_t most = own.stage([&](int at) -> std::uint32_t {
        int row = at - a.turning * chunk_of_lines;
        if (a.ends == border::periodic) row %= a.n, row += row < 0 ? a.n : 0;
        if (row >= a.n || !is_line) return small_none;
        if (words != nullptr) return along_word(words[row], bit);
        if (a.marks != nullptr) return along_word(a.steps.word(a.marks, line / mark_bits * a.rows + row), bit);
        return min(std::uint32_t{a.from[(first + row) * a.inner + line]}, small_none);
    });
    most = __reduce_max_sync(cuda::every_lane, most);
    if (own_lane() == 0) atomicMax(&most_of_block, most);
    __syncthreads();
    most = min(most_of_block, a.most);
    const int levels = own.complete(most);
    if (!is_line) return;
    const std::int64_t start = offset_in(p, p.out_step, std::int64_t{first} * a.inner + line),
                       step = p.out_step[a.axis];
    own.for_chunks(a.turning, a.chunks - a.turning, [&](int c) {
        std::uint32_t best[chunk_of_lines];
        own.solve(best, c, levels, most);
        const int row = (c - a.turning) * chunk_of_lines;
        with_output(p.out_type, [&]<class Out>(Out, std::uint32_t none) {
            put_chunk(p, static_cast<Out*>(p.out) + start + row * step, step, none, best, row, a.n, a.ends);
        });
    });
}

// ---- images in one kernel -------------------------------------------------------------------------------------------

constexpr int image_side = 512, image_blocks = 8, image_shift = 2, image_words = image_side / mark_bits;
constexpr std::uint32_t few_rows = 16;        ///< rows with sites that are taken one by one
constexpr std::int64_t most_clustered = 264;  ///< blocks: two on each multiprocessor of a large GPU
static_assert(image_blocks << image_shift == mark_bits);

/// Lowers the best of a chunk by a cell of its ring or line of n, with distance `value`, `away` rows behind its first.
template <bool Diagonal>
__device__ void compare(std::uint32_t (&best)[chunk_of_image], std::uint32_t value, int away, int n, border ends) {
#pragma unroll
    for (int i = 0; i < chunk_of_image; ++i) {
        int apart = abs(away - i);
        if (ends == border::periodic) apart = min(apart, n - apart);
        const auto steps = static_cast<std::uint32_t>(apart);
        best[i] = min(best[i], Diagonal ? max(value, steps) : value + steps);
    }
}

/// Solves images. It is over 40 lines because its phases share the block's position.
template <bool Diagonal>
__global__ void __launch_bounds__(image_side) solve_image(const __grid_constant__ problem p, std::uint32_t largest) {
    cuda::wait_for_kernel_before();
    extern __shared__ uint4 memory_of_image[];
    auto* const rows_of_block = reinterpret_cast<uint2*>(memory_of_image);
    auto* const words = rows_of_block + image_side / image_blocks;
    auto *const most_of_block = reinterpret_cast<std::uint32_t*>(words + image_side), *const found = most_of_block + 1,
                *const listed = found + 3;
    const auto thread = static_cast<int>(threadIdx.x), lane = own_lane(),
               rank = static_cast<int>(cuda::rank_in_cluster()), height = static_cast<int>(p.size[p.rank - 2]),
               width = static_cast<int>(p.size[p.rank - 1]);
    const int across = (width + mark_bits - 1) / mark_bits, cluster = static_cast<int>(blockIdx.x) / image_blocks,
              image = cluster / across, at = cluster - image * across,
              share = (height + image_blocks - 1) / image_blocks, first_row = rank * share;
    const std::int64_t first = std::int64_t{image} * height * width;
    if (thread == 0) *most_of_block = *found = 0;

    // Sixteen lanes make a row's words; one of them has the word of the cluster's columns.
    for (int i = thread / cuda::warp * 2; i < share; i += image_side / image_words) {
        const int row = i + lane / image_words, nth = lane % image_words;
        const std::uint32_t word = row < share && first_row + row < height
                                       ? row_word(p, first + std::int64_t{first_row + row} * width, nth)
                                       : 0;
        const unsigned full = __ballot_sync(cuda::every_lane, word != 0 ? 1 : 0) >> (lane & image_words) & 0xffff;
        const std::uint32_t steps = steps_beside(
            p, full, at, [&](int w) { return static_cast<int>(__shfl_sync(cuda::every_lane, word, w, image_words)); });
        if (nth == at && row < share) rows_of_block[row] = {word, steps};
    }
    cuda::arrive_in_cluster();
    cuda::wait_for_cluster();
    if (thread < height) {
        const uint2 word = *cuda::shared_of(rows_of_block + thread % share, thread / share);
        words[thread] = word;
        if (word.x != 0 || word.y != small_none * 0x10001U)
            if (const std::uint32_t nth = atomicAdd(found, 1U); nth < few_rows) listed[nth] = thread;
    }
    cuda::arrive_in_cluster();  // blocks of the cluster may end when all have read
    __syncthreads();

    const border ends = p.ends[p.rank - 2];
    const chunk_count count(height, ends, chunk_of_image);
    const chunked_lines<Diagonal, chunk_of_image> own(listed + few_rows, image_shift, count.all);
    const int bit = (rank << image_shift) + thread % (1 << image_shift), x = at * mark_bits + bit;
    const bool is_sparse = *found <= few_rows;  // then cells are compared with the rows that have sites
    std::uint32_t most = 0;
    int levels = 0;
    if (!is_sparse) {
        most = own.stage([&](int nth) -> std::uint32_t {
            int row = nth - count.turning * chunk_of_image;
            if (ends == border::periodic) row %= height, row += row < 0 ? height : 0;
            return row < height ? along_word(words[row], bit) : small_none;
        });
        most = __reduce_max_sync(cuda::every_lane, most);
        if (lane == 0) atomicMax(most_of_block, most);
        __syncthreads();
        most = min(*most_of_block, largest);
        levels = own.complete(most);
    }
    if (x < width) {
        const std::int64_t start = offset_in(p, p.out_step, first + x), step = p.out_step[p.rank - 2];
        own.for_chunks(count.turning, count.all - count.turning, [&](int c) {
            const int row = (c - count.turning) * chunk_of_image;
            std::uint32_t best[chunk_of_image];
            if (!is_sparse) own.solve(best, c, levels, most);
            else
                for (std::uint32_t& one : best) one = small_none;
            for (std::uint32_t k = 0; is_sparse && k < *found; ++k) {
                const auto other = static_cast<int>(listed[k]);
                compare<Diagonal>(best, along_word(words[other], bit), other - row, height, ends);
            }
            with_output(p.out_type, [&]<class Out>(Out, std::uint32_t none) {
                put_chunk(p, static_cast<Out*>(p.out) + start + row * step, step, none, best, row, height, ends);
            });
        });
    }
    cuda::wait_for_cluster();
}

// ---- launches -------------------------------------------------------------------------------------------------------

/// The largest distance that is not none.
inline std::uint32_t most_of(const problem& p) {
    return static_cast<std::uint32_t>(std::min(p.limit, std::max<std::int64_t>(p.most - 1, 1)));
}
template <int Cells>
std::size_t bytes_of_lines(const problem& p, int axis, int columns) {
    const int chunks = chunk_count(p.size[axis], p.ends[axis], Cells).all;
    return p.diagonal ? chunked_lines<true, Cells>::bytes(chunks, most_of(p), columns)
                      : chunked_lines<false, Cells>::bytes(chunks, most_of(p), columns);
}
/// Returns log2 of the lines of a block, -1 if these do not fit or there would be too many blocks.
inline int shift_for(const problem& p, int axis) {
    const std::int64_t inner = p.product(axis + 1, p.rank), outer = p.product(0, axis);
    for (int shift = most_shift; shift >= least_shift; --shift) {
        const std::int64_t blocks = outer * cuda::blocks_for(inner, 1 << shift);
        if (blocks > most_blocks) return -1;
        if (bytes_of_lines<chunk_of_lines>(p, axis, 1 << shift) + 64 > cuda::limits().shared_bytes) continue;
        if (blocks >= enough_blocks || shift == least_shift) return shift;
    }
    return -1;
}

/// Whether these kernels solve a problem sooner than others.
inline bool is_small(const problem& p) {
    const int axes = p.rank - p.batch;
    const std::int64_t most = axes == 2 ? 1 << 22 : 1 << 21;
    if (!limit_of_ways.small || axes < 2 || p.cells > most || p.most >= small_none) return false;
    for (int axis = p.batch; axis < p.rank; ++axis)
        if (p.size[axis] > most_small || (axis < p.rank - 1 && shift_for(p, axis) < 0)) return false;
    return true;
}

inline std::int64_t clusters_of_image(const problem& p) {
    return p.product(0, p.batch) * cuda::blocks_for(p.size[p.rank - 1], mark_bits);
}
/// Whether one kernel solves a problem for which is_small() is true.
inline bool is_image(const problem& p) {
    return p.rank - p.batch == 2 && p.read_at_once > 0 && p.size[p.rank - 1] <= image_side &&
           p.size[p.rank - 2] <= image_side && clusters_of_image(p) * image_blocks <= most_clustered &&
           cuda::has_clusters(true);
}

inline void solve_one_image(const device& on, const problem& p) {
    const std::size_t bytes = (image_side + image_side / image_blocks) * sizeof(uint2) + sizeof(uint4) +
                              few_rows * sizeof(std::uint32_t) +
                              bytes_of_lines<chunk_of_image>(p, p.rank - 2, 1 << image_shift);
    cuda::launch<cuda::order::overlapped>(
        on, p.diagonal ? solve_image<true> : solve_image<false>,
        cuda::grid{clusters_of_image(p) * image_blocks, dim3(image_side), bytes, image_blocks}, p, most_of(p));
}

/// Solves the lines along an axis from what `a` has.
inline void launch_chunks(const device& on, const problem& p, const problem& to, int axis, small_pass a) {
    const chunk_count count(p.size[axis], p.ends[axis], chunk_of_lines);
    a.axis = axis, a.n = static_cast<int>(p.size[axis]), a.ends = p.ends[axis], a.most = most_of(p);
    a.inner = static_cast<int>(p.product(axis + 1, p.rank));
    a.rows = static_cast<int>(p.product(0, p.rank - 1));
    a.shift = shift_for(p, axis), a.chunks = count.all, a.turning = count.turning;
    const auto threads = static_cast<unsigned>(std::min<std::int64_t>(
        cuda::blocks_for(std::int64_t{count.all} << a.shift, cuda::warp) * cuda::warp, threads_of_lines));
    cuda::launch_overlapped(on, p.diagonal ? solve_chunks<true> : solve_chunks<false>,
                            p.product(0, axis) * cuda::blocks_for(a.inner, 1 << a.shift), dim3(threads),
                            bytes_of_lines<chunk_of_lines>(p, axis, 1 << a.shift), to, a);
}

/// Whether chunks solve the lines of one image sooner than sweeps.
inline bool has_short_columns(const problem& p) {
    constexpr std::int64_t most = 10 << 19;  // of 2300 x 2300 cells with 0.01 % of sites 110 us instead of 92 (H200)
    return limit_of_ways.small && p.cells <= most && p.cells == p.size[p.rank - 1] * p.size[p.rank - 2] &&
           p.most < small_none && shift_for(p, p.rank - 2) >= 0;
}

/// Solves a problem for which is_small() is true.
inline void solve_all_small(const device& on, const problem& p) {
    const int last = p.rank - 1;
    const std::int64_t n = p.size[last], rows = p.cells / n;
    if (watched != nullptr) *watched = {.small = true, .image = is_image(p)};
    if (is_image(p)) return solve_one_image(on, p);
    cuda::workspace memory(on);
    const std::int64_t words = memory.reserve<uint2>(cuda::blocks_for(n, mark_bits) * rows);
    std::int64_t between[2] = {};
    for (int k = 0; k < 2; ++k) between[k] = memory.reserve<std::uint16_t>(last - p.batch > 1 + k ? p.cells : 0);
    memory.allocate();
    cuda::launch_overlapped(on, mark_small, cuda::blocks_for(rows * lanes_of_row(p), threads_of_block),
                            dim3(threads_of_block), 0, p, memory.get<uint2>(words));
    std::uint16_t *from = nullptr, *to = memory.get<std::uint16_t>(between[0]),
                  *next = memory.get<std::uint16_t>(between[1]);
    for (int axis = last - 1; axis >= p.batch; --axis) {
        small_pass a{};
        if (from == nullptr) a.words = memory.get<uint2>(words);
        a.from = from;
        launch_chunks(on, p, output_of(p, axis, to), axis, a);
        from = to, std::swap(to, next);
    }
}

}  // namespace
}  // namespace nearfield::chessboard
