// On a device: lists points of surfaces with their distances to the other side's points.
//
// Most points have one of the other side within a few cells, which each finds by itself in the bits of rows. Points
// that find none within some rows are far. If a job has few of them, a warp looks in more rows for each one. Distances
// of the rest come from the exact engine.
#include <algorithm>

#include "base/cuda_scan.cuh"
#include "metrics/cuda_common.cuh"
#include "metrics/near.hpp"

namespace nearfield::metrics {
namespace {

constexpr int near_rows = 6, far_rows = 64;  // rows to each side in which points are looked for

/// Number of far points of a job up to which each looks for its nearest one in more rows. By estimate the engine takes
/// less time if there are more of them.
__device__ std::int64_t most_far(const job& j) { return 256 + j.cells() / 1024; }

/// The lists of a group, and what is known of its jobs.
struct lists {
    const job* jobs;
    int count;
    bool elements, doubles;
    std::int64_t room;  ///< words of a side
    const std::uint32_t* bits[2];
    word* taken;         ///< of each side of each job: the places of its list that blocks have reserved
    std::uint32_t* far;  ///< of each job: the number of its points that found no other
    std::uint8_t* left;  ///< of each job: keys with far_bit are left
    std::uint64_t* key;
    std::uint8_t* code;

    [[nodiscard]] __device__ int job_of(std::int64_t word_of_side) const {
        return last_upto(count, word_of_side, [&](int k) { return jobs[k].base; });
    }
};

/// Returns the coordinates of a bit of a job.
__device__ inline spot spot_of(const job& j, std::int64_t bit) {
    const auto at = static_cast<std::uint32_t>(bit / 32), words = static_cast<std::uint32_t>(j.row_words()),
               rows = static_cast<std::uint32_t>(j.size[1]), row = at / words, plane = row / rows;
    return {static_cast<std::int32_t>(plane), static_cast<std::int32_t>(row - plane * rows),
            static_cast<std::int32_t>((at - row * words) * 32 + bit % 32)};
}

/// Looks for the nearest of a side's points in the bits of rows.
struct nearest_bit : nearest {
    const std::uint32_t* bits;
    std::int32_t words;

    __device__ nearest_bit(const job& j, const std::uint32_t* of_side)
        : nearest(j), bits(of_side + j.base), words(static_cast<std::int32_t>(j.row_words())) {}

    /// Looks in the row that lies so far from a point.
    __device__ void look(const spot& at, int z, int y) {
        const std::uint32_t* const line = bits + (static_cast<std::int64_t>(at.z + z) * rows + at.y + y) * words;
        const std::int32_t own = at.x / 32, bit = at.x % 32;
        const std::uint32_t here = line[own];
        if (const std::uint32_t after = here >> bit; after != 0) offer(z, y, __ffs(static_cast<int>(after)) - 1);
        if (const std::uint32_t before = here << (31 - bit); before != 0) offer(z, y, __clz(static_cast<int>(before)));
        for (std::int32_t k = own - 1, x = bit + 1; k >= 0 && square(z, y, x) < least; --k, x += 32)
            if (line[k] != 0) offer(z, y, x + __clz(static_cast<int>(line[k])));
        for (std::int32_t k = own + 1, x = 32 - bit; k < words && square(z, y, x) < least; ++k, x += 32)
            if (line[k] != 0) offer(z, y, x + __ffs(static_cast<int>(line[k])) - 1);
    }
    /// Returns whether a near point is the nearest one.
    __device__ bool in_near_rows(const spot& at) {
        return in_rows(at, near_rows, [&](int z, int y) { look(at, z, y); });
    }
    /// Does the same in more rows, in rings. All lanes of a warp call it for one point.
    __device__ bool in_far_rows(const spot& at) {
        const int last = max(max(at.z, planes - 1 - at.z), max(at.y, rows - 1 - at.y));
        const double most = beyond(far_rows);
        least = most;
        for (int ring = 0; ring <= far_rows; ++ring) {
            for (int k = lane_of_thread(); k < max(8 * ring, 1); k += cuda::warp) {
                const int side = k / max(2 * ring, 1), along = k - side * 2 * ring - ring;
                const int z = side < 2 ? (side == 0 ? -ring : ring) : (side == 2 ? along : -along),
                          y = side < 2 ? (side == 0 ? along : -along) : (side == 2 ? ring : -ring);
                if (has_row(at, z, y)) look(at, z, y);
            }
            for (int by = cuda::warp / 2; by > 0; by /= 2)
                least = fmin(least, __shfl_xor_sync(cuda::every_lane, least, by));
            if (ring >= last || least <= beyond(ring)) break;
        }
        return least < most || !(most < std::numeric_limits<double>::infinity());
    }
};

/// Returns the weights' index of a point: 1 for cells, for corners a bit for each cell of the job's label around it.
template <class Code>
__device__ std::uint8_t code_of_point(const problem& p, const job& j, const coded& codes, int side, const spot& at) {
    if (!p.elements) return 1;
    const auto own = static_cast<Code>(j.row - cuda::quotient(j.row, p.labels) * p.labels + 1);
    const Code* const image = codes.side<Code>(side) + cuda::quotient(j.row, p.labels) * p.image_cells();
    const std::int64_t corner[most_axes] = {j.first[0] + at.z, j.first[1] + at.y, j.first[2] / 32 * 32 + at.x};
    unsigned bits = 0;
    for (int k = 0; k < 8; ++k) {
        const int back[most_axes] = {p.has(0) && k % 4 < 2 ? 1 : 0, p.has(1) && k % 2 == 0 ? 1 : 0, k < 4 ? 1 : 0};
        std::int64_t cell = 0;
        bool inside = true;
        for (int axis = 0; axis < most_axes; ++axis) {
            const std::int64_t there = corner[axis] - back[axis];
            inside = inside && there >= 0 && there < p.size[axis], cell = cell * p.size[axis] + there;
        }
        if (inside && image[cell] == own) bits |= 1U << k;
    }
    return static_cast<std::uint8_t>(bits);
}

/// Lists the points of a block of words, and looks for the points near them.
template <class Code>
__global__ void __launch_bounds__(threads_of_block)
    list_points(const __grid_constant__ problem p, const __grid_constant__ lists l,
                const __grid_constant__ coded codes) {
    static_assert(points_step == threads_of_block);
    __shared__ std::uint16_t found[32 * threads_of_block];
    __shared__ int held[threads_of_block / cuda::warp];
    __shared__ std::int64_t start;
    __shared__ std::uint32_t far;
    const std::int64_t blocks = l.room / threads_of_block;
    const int side = blockIdx.x < blocks ? 0 : 1;
    const std::int64_t first = (blockIdx.x - side * blocks) * threads_of_block;
    const int k = l.job_of(first);
    const job& j = l.jobs[k];
    const std::int64_t own = first - j.base + threadIdx.x;
    std::uint32_t bits = own < j.words() ? l.bits[side][j.base + own] : 0;
    int all = 0, to = cuda::sum_before(__popc(bits), held, all);
    if (all == 0) return;
    for (; bits != 0; bits &= bits - 1)
        found[to++] = static_cast<std::uint16_t>(32 * threadIdx.x + __ffs(static_cast<int>(bits)) - 1);
    if (threadIdx.x == 0) {
        start = j.start[side] + static_cast<std::int64_t>(atomicAdd(l.taken + 2 * k + side, static_cast<word>(all)));
        far = 0;
    }
    __syncthreads();
    nearest_bit point(j, l.bits[1 - side]);
    const bool alone = j.points[1 - side] == 0;
    const bool looks = *static_cast<volatile std::uint32_t*>(l.far + k) <= most_far(j);
    for (int i = static_cast<int>(threadIdx.x); i < all; i += threads_of_block) {
        const std::int64_t bit = 32 * (first - j.base) + found[i];
        const spot at = spot_of(j, bit);
        std::uint64_t key = 0;
        if (!alone) {
            if (looks && point.in_near_rows(at) && point.exact()) key = point.key(l.doubles);
            else key = far_bit | static_cast<std::uint64_t>(bit), atomicAdd(&far, 1U);
        }
        l.key[start + i] = key, l.code[start + i] = code_of_point<Code>(p, j, codes, side, at);
    }
    __syncthreads();
    if (threadIdx.x == 0 && far > 0) atomicAdd(l.far + k, far);
}

/// Looks for the nearest points of far ones, unless a job has many. A warp takes 32 points of a list at a time, which
/// are far from each other, because far points often follow each other.
__global__ void __launch_bounds__(threads_of_block) look_farther(const __grid_constant__ lists l, int blocks_of_job) {
    const int k = static_cast<int>(blockIdx.x) / blocks_of_job;
    const job& j = l.jobs[k];
    if (l.far[k] == 0) return;
    if (l.far[k] > most_far(j)) {
        l.left[k] = 1;
        return;
    }
    const std::int64_t warps = blocks_of_job * (threads_of_block / cuda::warp),
                       own = (blockIdx.x - k * blocks_of_job) * (threads_of_block / cuda::warp) +
                             threadIdx.x / cuda::warp;
    for (int side = 0; side < 2; ++side) {
        nearest_bit point(j, l.bits[1 - side]);
        const std::int64_t apart = cuda::blocks_for(j.points[side], cuda::warp);
        for (std::int64_t i = own; i < apart; i += warps) {
            const std::int64_t mine = i + apart * lane_of_thread();
            const std::uint64_t key = mine < j.points[side] ? l.key[j.start[side] + mine] : 0;
            for (unsigned far = __ballot_sync(cuda::every_lane, key & far_bit ? 1 : 0); far != 0; far &= far - 1) {
                const int lane = __ffs(static_cast<int>(far)) - 1;
                const std::uint64_t its = __shfl_sync(cuda::every_lane, key, lane);
                const bool known =
                    point.in_far_rows(spot_of(j, static_cast<std::int64_t>(its & ~far_bit))) && point.exact();
                if (lane_of_thread() != lane) continue;
                if (known) l.key[j.start[side] + mine] = point.key(l.doubles);
                else l.left[k] = 1;
            }
        }
    }
}

/// Writes the mask of a side, a byte for each cell of the jobs' boxes. A thread writes 16 of them.
__global__ void __launch_bounds__(threads_of_block)
    write_mask(const job* jobs, int count, std::int64_t cells, const std::uint32_t* bits, std::uint8_t* mask) {
    constexpr int at_once = 16;
    static_assert(cells_step % at_once == 0);
    const std::int64_t first = at_once * thread_of_grid();
    if (first >= cells) return;
    const job& j = jobs[last_upto(count, first, [&](int k) { return jobs[k].far; })];
    const std::int64_t cell = first - j.far;
    std::int64_t row = cuda::quotient(cell, j.size[2]), x = cell - row * j.size[2];
    const std::int64_t words = j.row_words(), begin = j.first[2] % 32, left = j.cells() - cell;
    alignas(at_once) std::uint8_t made[at_once];
    for (int i = 0; i < at_once; ++i) {
        const std::int64_t bit = begin + x;
        made[i] = i < left ? static_cast<std::uint8_t>(bits[j.base + row * words + bit / 32] >> bit % 32 & 1) : 0;
        if (++x == j.size[2]) x = 0, ++row;
    }
    *reinterpret_cast<int4*>(mask + first) = *reinterpret_cast<const int4*>(made);
}

/// Replaces far keys of one side's lists by those of squared distances.
template <class T>
__global__ void __launch_bounds__(threads_of_block)
    read_squares(const job* jobs, int blocks_of_job, int side, const T* squared, std::uint64_t* key) {
    const int k = static_cast<int>(blockIdx.x) / blocks_of_job;
    const job& j = jobs[k];
    for (std::int64_t i = (blockIdx.x - k * blocks_of_job) * threads_of_block + threadIdx.x; i < j.points[side];
         i += static_cast<std::int64_t>(blocks_of_job) * threads_of_block) {
        std::uint64_t& own = key[j.start[side] + i];
        if ((own & far_bit) == 0) continue;
        const spot at = spot_of(j, static_cast<std::int64_t>(own & ~far_bit));
        using as = std::conditional_t<std::is_same_v<T, double>, double, std::uint64_t>;
        own = key_of(static_cast<as>(squared[j.far + (at.z * j.size[1] + at.y) * j.size[2] + at.x - j.first[2] % 32]));
    }
}

/// The number of blocks that share a job's lists.
int blocks_for_lists(const group& g) {
    std::int64_t most = 1;
    for (const job& j : g.jobs) most = std::max({most, j.points[0], j.points[1]});
    return static_cast<int>(std::min<std::int64_t>(cuda::blocks_for(most, 4 * threads_of_block), 256));
}

}  // namespace

std::vector<std::uint8_t> list_near(const device& on, const problem& p, const coded& codes, const group& g) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const std::int64_t jobs = std::ssize(g.jobs);
    const auto job_at = memory.reserve<job>(jobs), taken = memory.reserve<word>(2 * jobs),
               far = memory.reserve<std::uint32_t>(jobs), left = memory.reserve<std::uint8_t>(jobs);
    memory.allocate();
    lists l{memory.get<job>(job_at),
            static_cast<int>(jobs),
            p.elements,
            p.squared == dtype::float64,
            g.room,
            {g.bits[0], g.bits[1]},
            memory.get<word>(taken),
            memory.get<std::uint32_t>(far),
            memory.get<std::uint8_t>(left),
            g.key,
            g.code};
    copy_to(on, memory.get<job>(job_at), g.jobs);
    clear(on, l.taken, 16 * jobs), clear(on, l.far, 4 * jobs), clear(on, l.left, jobs);
    const auto start = [&]<class Code>(Code) {
        cuda::launch(on, list_points<Code>, 2 * (g.room / threads_of_block), dim3(threads_of_block), 0, p, l, codes);
    };
    if (p.wide_codes()) start(std::uint32_t{});
    else start(std::uint8_t{});
    const int blocks = blocks_for_lists(g);
    cuda::launch(on, look_farther, jobs * blocks, dim3(threads_of_block), 0, l, blocks);
    std::vector<std::uint8_t> found(g.jobs.size(), rehearsing() != nullptr ? 1 : 0);
    copy_from(on, found, l.left);
    return found;
}

void fill_mask(const device& on, const group& g, int side) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const auto job_at = memory.reserve<job>(std::ssize(g.jobs));
    memory.allocate();
    copy_to(on, memory.get<job>(job_at), g.jobs);
    cuda::launch(on, write_mask, cuda::blocks_for(g.cells, 16 * threads_of_block), dim3(threads_of_block), 0,
                 memory.get<job>(job_at), static_cast<int>(g.jobs.size()), g.cells, g.bits[side], g.mask[side]);
}

void look_up(const device& on, dtype squared, const group& g, int side) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const auto job_at = memory.reserve<job>(std::ssize(g.jobs));
    memory.allocate();
    copy_to(on, memory.get<job>(job_at), g.jobs);
    const int blocks = blocks_for_lists(g);
    const auto start = [&]<class T>(T) {
        cuda::launch(on, read_squares<T>, std::ssize(g.jobs) * blocks, dim3(threads_of_block), 0,
                     memory.get<job>(job_at), blocks, side, static_cast<const T*>(g.squared), g.key);
    };
    if (squared == dtype::uint32) start(std::uint32_t{});
    else if (squared == dtype::uint64) start(std::uint64_t{});
    else start(double{});
}

}  // namespace nearfield::metrics
