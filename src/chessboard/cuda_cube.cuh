// Volumes of up to 64 x 64 x 64 cells on a device, in one kernel without workspace. Eight neighbouring blocks are a
// cluster, which finishes four columns: a block reads an eighth of the planes as bits, solves the columns' cells along
// the last axis and along the second one, and passes them to the blocks that finish them along the first axis. All rows
// lower all cells: at most 64 times, for two cells at once.
#pragma once

#include "base/cluster.cuh"
#include "chessboard/cuda_small.cuh"

namespace nearfield::chessboard {
namespace {

constexpr int cube_side = 64, cube_blocks = 8, cube_columns = 4, cube_items = 16, rows_pitch = 18;
constexpr int cells_at_once = 4;          ///< cells of a line that a thread owns
constexpr std::int64_t most_cubes = 264;  ///< blocks: two on each multiprocessor of a large GPU
static_assert(threads_of_block * cells_at_once == cube_items * cube_side);

struct alignas(16) cube_memory {
    std::uint32_t apart[2][2 * cube_side];  ///< of two axes: the steps between cells -64 to 63 apart, in both halves
    std::uint32_t rows[cube_side * rows_pitch];  ///< rows of 8 planes, two pairs of columns each
    std::uint32_t
        lines[cube_side * cube_items];  ///< planes of the block's 8 rows; all blocks of the cluster write them
};

/// Returns the steps from four adjacent cells of a row of n, the first one at x, to its nearest site, two in a word.
__device__ uint2 along_bits(const problem& p, unsigned long long bits, int x, int n) {
    const border ends = p.ends[p.rank - 1];
    const unsigned long long lower = bits << (63 - x) << 1, own = bits >> x, upper = own >> cube_columns;
    const int to_end = n - x - (cube_columns - 1);  // not positive if some of the four lie beyond the row
    int left = lower != 0 ? __clzll(static_cast<long long>(lower)) + 1 : static_cast<int>(small_none),
        right = upper != 0 ? __ffsll(static_cast<long long>(upper)) : static_cast<int>(small_none);
    if (ends == border::closed) left = min(left, x + 1), right = min(right, to_end);
    if (ends == border::periodic && bits != 0) {
        if (lower == 0) left = x + n - (63 - __clzll(static_cast<long long>(bits)));
        if (upper == 0) right = to_end + __ffsll(static_cast<long long>(bits)) - 1;
    }
    int steps[cube_columns];
#pragma unroll
    for (int k = 0; k < cube_columns; ++k, ++left) steps[k] = left = (own >> k & 1) != 0 ? 0 : left;
#pragma unroll
    for (int k = cube_columns - 1; k >= 0; --k, ++right) {
        right = (own >> k & 1) != 0 ? 0 : right;
        steps[k] = min(steps[k], right) & 0xffff;
    }
    const auto two = [&](int k) { return static_cast<std::uint32_t>(steps[k] | steps[k + 1] << 16); };
    return {two(0), two(2)};
}

/// Lowers four cells of a line, the first one at `first`, by all of its rows.
template <bool Diagonal, class Load>
__device__ void lower_four(std::uint32_t (&best)[cells_at_once], const std::uint32_t* apart, int first, int rows,
                           const Load& load) {
#pragma unroll 4
    for (int row = 0; row < rows; row += 4) {
        const auto* const from = reinterpret_cast<const uint4*>(apart + cube_side + row - first - 4);
        const uint4 low = from[0], high = from[1];
        const std::uint32_t steps[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
        const std::uint32_t value[] = {load(row), load(row + 1), load(row + 2), load(row + 3)};
#pragma unroll
        for (int i = 0; i < cells_at_once; ++i) {
            const std::uint32_t* const away = steps + 4 - i;
            if (Diagonal)
                for (int k = 0; k < 4; k += 2)
                    best[i] = __vimin3_u16x2(best[i], __vmaxu2(value[k], away[k]), __vmaxu2(value[k + 1], away[k + 1]));
            else
                for (int k = 0; k < 4; ++k) best[i] = __viaddmin_u16x2(value[k], away[k], best[i]);
        }
    }
}
__device__ std::uint32_t closed_end(const problem& p, int back, int at) {
    const auto n = static_cast<int>(p.size[p.rank - back]);
    const bool closed = p.ends[p.rank - back] == border::closed && at < n;
    return 0x10001U * (closed ? static_cast<std::uint32_t>(min(at + 1, n - at)) : small_none);
}

/// The beginning of an image, and a cell in it.
__device__ std::int64_t begin_of(const problem& p, const std::int64_t* step, std::int64_t first) {
    return first == 0 ? 0 : offset_in(p, step, first);
}
__device__ std::int64_t place_in(const problem& p, const std::int64_t* step, int z, int y, int x) {
    return z * step[p.rank - 3] + y * step[p.rank - 2] + x * step[p.rank - 1];
}

/// Solves volumes. It is over 40 lines because its phases share the block's position.
template <bool Diagonal>
__global__ void __launch_bounds__(threads_of_block) solve_cube(const __grid_constant__ problem p) {
    extern __shared__ uint4 memory_of_cube[];
    cube_memory& m = *reinterpret_cast<cube_memory*>(memory_of_cube);
    const auto thread = static_cast<int>(threadIdx.x), rank = static_cast<int>(cuda::rank_in_cluster());
    const auto size = [&](int back) { return static_cast<int>(p.size[p.rank - back]); };
    const int depth = size(3), height = size(2), width = size(1);
    {
        const int axis = thread / (2 * cube_side), n = axis == 0 ? height : depth;
        int steps = abs(thread % (2 * cube_side) - cube_side);
        if (p.ends[p.rank - 2 - axis] == border::periodic) steps = min(steps, abs(n - steps));
        m.apart[axis][thread % (2 * cube_side)] = 0x10001U * static_cast<std::uint32_t>(steps);
    }
    cuda::arrive_in_cluster();  // blocks that have begun can be written to
    cuda::wait_for_kernel_before();
    const int across = (width + cube_columns - 1) / cube_columns, cluster = static_cast<int>(blockIdx.x) / cube_blocks,
              image = cluster / across, first_x = (cluster - image * across) * cube_columns,
              share = (depth + cube_blocks - 1) / cube_blocks, first_z = rank * share,
              planes = min(depth - first_z, share);
    const std::int64_t first = std::int64_t{image} * depth * height * width;
    constexpr int rows_of_thread = 8 * cube_side / threads_of_block;
    unsigned long long read[rows_of_thread] = {};
#pragma unroll
    for (int k = 0; k < rows_of_thread; ++k) {
        const int i = thread + k * threads_of_block, plane = i / cube_side, y = i % cube_side;
        unsigned long long& bits = read[k];
        if (plane < planes && y < height) {
            const std::uint8_t* const from = static_cast<const std::uint8_t*>(p.image) +
                                             begin_of(p, p.image_step, first) +
                                             place_in(p, p.image_step, first_z + plane, y, 0);
            bits = nonzero_bytes(p, from, width);
            if (width > mark_bits)
                bits |= static_cast<unsigned long long>(nonzero_bytes(p, from + mark_bits, width - mark_bits))
                        << mark_bits;
            if (!p.nonzero) bits = ~bits & (~0ULL >> (cube_side - width));
        }
    }
#pragma unroll
    for (int j = 0; j < rows_of_thread; ++j) {
        const int i = thread + j * threads_of_block, plane = i / cube_side, y = i % cube_side;
        *reinterpret_cast<uint2*>(m.rows + y * rows_pitch + plane * 2) =
            y < height ? along_bits(p, read[j], first_x, width) : uint2{small_none * 0x10001U, small_none * 0x10001U};
    }
    for (int i = thread; i < ((depth + 3) / 4 * 4 - depth) * cube_items; i += threads_of_block)
        m.lines[depth * cube_items + i] = small_none * 0x10001U;
    __syncthreads();
    cuda::wait_for_cluster();

    // Along the second axis: a thread owns four rows of a pair of columns in a plane.
    const int item = thread % cube_items, begin = thread / cube_items * cells_at_once;
    std::uint32_t best[cells_at_once];
#pragma unroll
    for (int i = 0; i < cells_at_once; ++i) best[i] = closed_end(p, 2, begin + i);
    if (begin < height && item / 2 < planes) {
        lower_four<Diagonal>(best, m.apart[0], begin, height, [&](int y) { return m.rows[y * rows_pitch + item]; });
        std::uint32_t* const to =
            cuda::shared_of(m.lines + (first_z + item / 2) * cube_items + begin % 8 * 2 + item % 2, begin / 8);
#pragma unroll
        for (int i = 0; i < cells_at_once; ++i) to[i * 2] = best[i];
    }
    cuda::arrive_in_cluster();
    cuda::wait_for_cluster();

    // Along the first axis: a thread owns four planes of a pair of columns in one of the block's rows.
    const int y = rank * 8 + item / 2, x = first_x + item % 2 * 2;
    if (begin >= depth || y >= height || x >= width) return;
#pragma unroll
    for (int i = 0; i < cells_at_once; ++i) best[i] = closed_end(p, 3, begin + i);
    lower_four<Diagonal>(best, m.apart[1], begin, depth, [&](int z) { return m.lines[z * cube_items + item]; });
    const std::int64_t start = begin_of(p, p.out_step, first) + place_in(p, p.out_step, begin, y, x),
                       step = p.out_step[p.rank - 3];
    with_output(p.out_type, [&]<class Out>(Out, std::uint32_t none) {
#pragma unroll
        for (int i = 0; i < cells_at_once; ++i)
            if (begin + i < depth)
                put_two<Out>(p, start + i * step, start + i * step + p.out_step[p.rank - 1], x + 1 < width, best[i],
                             none);
    });
}

inline std::int64_t clusters_of(const problem& p) {
    return p.product(0, p.batch) * cuda::blocks_for(p.size[p.rank - 1], cube_columns);
}
/// Whether one kernel solves a problem whose reads are set.
inline bool is_cube(const problem& p) {
    if (p.rank - p.batch != 3 || p.read_at_once == 0 || !limit_of_ways.small) return false;
    for (int axis = p.batch; axis < p.rank; ++axis)
        if (p.size[axis] > cube_side) return false;
    return clusters_of(p) * cube_blocks <= most_cubes && cuda::has_clusters(true);
}
inline void solve_one_cube(const device& on, const problem& p) {
    cuda::launch<cuda::order::overlapped>(
        on, p.diagonal ? solve_cube<true> : solve_cube<false>,
        cuda::grid{clusters_of(p) * cube_blocks, dim3(threads_of_block), sizeof(cube_memory), cube_blocks}, p);
    if (watched != nullptr) *watched = {.small = true, .cube = true};
}

}  // namespace
}  // namespace nearfield::chessboard
