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

/// Returns the steps along a row of n cells, which has these sites, to the nearest one.
__device__ std::uint32_t along_bits(const problem& p, unsigned long long bits, int x, int n) {
    const border ends = p.ends[p.rank - 1];
    const unsigned long long left = bits << (63 - x), right = bits >> x;
    auto best = static_cast<int>(small_none);
    if (left != 0) best = __clzll(static_cast<long long>(left));
    if (right != 0) best = min(best, __ffsll(static_cast<long long>(right)) - 1);
    if (ends == border::closed) best = min(best, min(x + 1, n - x));
    if (ends == border::periodic && bits != 0) {
        const int first = __ffsll(static_cast<long long>(bits)) - 1, last = 63 - __clzll(static_cast<long long>(bits));
        best = min(best, min(x + n - last, first + n - x));
    }
    return static_cast<std::uint32_t>(best);
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
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const std::uint32_t value = load(row + k);
#pragma unroll
            for (int i = 0; i < cells_at_once; ++i)
                best[i] = __vminu2(best[i], Diagonal ? __vmaxu2(value, steps[4 + k - i]) : value + steps[4 + k - i]);
        }
    }
}
__device__ std::uint32_t closed_end(const problem& p, int back, int at) {
    const auto n = static_cast<int>(p.size[p.rank - back]);
    const bool closed = p.ends[p.rank - back] == border::closed && at < n;
    return 0x10001U * (closed ? static_cast<std::uint32_t>(min(at + 1, n - at)) : small_none);
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
    for (int i = thread; i < 8 * cube_side; i += threads_of_block) {
        const int plane = i / cube_side, y = i % cube_side;
        unsigned long long bits = 0;
        if (plane < planes && y < height) {
            const auto* const from =
                static_cast<const std::uint8_t*>(p.image) +
                offset_in(p, p.image_step, first + (std::int64_t{first_z + plane} * height + y) * width);
            bits = nonzero_bytes(p, from, width);
            if (width > mark_bits)
                bits |= static_cast<unsigned long long>(nonzero_bytes(p, from + mark_bits, width - mark_bits))
                        << mark_bits;
            if (!p.nonzero) bits = ~bits & (~0ULL >> (cube_side - width));
        }
        std::uint32_t steps[cube_columns];
        for (int k = 0; k < cube_columns; ++k)
            steps[k] = y < height && first_x + k < width ? along_bits(p, bits, first_x + k, width) : small_none;
        *reinterpret_cast<uint2*>(m.rows + y * rows_pitch + plane * 2) = {steps[0] | steps[1] << 16,
                                                                          steps[2] | steps[3] << 16};
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
    const std::int64_t start = offset_in(p, p.out_step, first + (std::int64_t{begin} * height + y) * width + x),
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
