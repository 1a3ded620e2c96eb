// Finds the nearest triangles of all cells, given lists for blocks of 16^3 of them.
//
// A block of threads owns 8^3 cells and makes their list from that of the larger block. Then each warp owns 4^3 cells
// and selects the triangles of the list that can be nearest in them, about 30. Each cell tests these by the plane that
// touches the triangle (see bound): of 10^5 triangles in 512^3 cells a cell measures 8 to 16.
#pragma once

#include "base/cuda.cuh"
#include "mesh_distance/cuda_rough.cuh"

namespace nearfield::nearest_faces {

constexpr int listed_level = 4, block_level = 3, part_level = 2, threads_of_block = 256,
              warps_of_block = threads_of_block / cuda::warp;
constexpr int blocks_at_once = 2;    ///< blocks that a multiprocessor holds
constexpr int room_in_block = 2048;  ///< triangles in a block's list; if there are more it uses the larger block's

struct task {
    space in;
    const triangle* triangles;
    const rough_triangle* rough;
    double middle[3];  ///< origin of the coordinates of `rough`
};

/// Numbers of triangles; without a list they are 0, 1, ...
struct candidates {
    const std::int32_t* numbers;
    std::int64_t count;
    __device__ std::int32_t operator[](std::int64_t i) const {
        return numbers == nullptr ? static_cast<std::int32_t>(i) : numbers[i];
    }
};

/// Blocks of 2^level cells along each axis, with a list for each.
struct blocks {
    candidates* lists = nullptr;  ///< null: all triangles are candidates
    candidates all{};
    std::int64_t size[3] = {};
    int level = 0;
    std::int32_t* some = nullptr;  ///< numbers of the blocks that have candidates, or null
    int* some_count = nullptr;
    int* next = nullptr;  ///< number of eighths of blocks that are taken

    [[nodiscard]] NF_HD std::int64_t count() const { return size[0] * size[1] * size[2]; }
    /// Computes the first cell of a block.
    __device__ void place(std::int64_t number, std::int64_t* first) const {
        const std::int64_t row = cuda::quotient(number, size[2]), plane = cuda::quotient(row, size[1]);
        first[0] = plane << level, first[1] = (row - plane * size[1]) << level;
        first[2] = (number - row * size[2]) << level;
    }
    /// The list of the block that contains this cell.
    __device__ candidates list_at(const std::int64_t* cell) const {
        if (lists == nullptr) return all;
        return lists[((cell[0] >> level) * size[1] + (cell[1] >> level)) * size[2] + (cell[2] >> level)];
    }
};

/// A squared distance and the triangle's number, as one word in the order of the distances.
using near_word = unsigned long long;
constexpr near_word nowhere = ~0ULL;
__device__ inline near_word smaller(near_word a, near_word b) { return b < a ? b : a; }
__device__ inline std::int32_t face_of(near_word x) { return static_cast<std::int32_t>(x & 0xffffffff); }

/// A triangle near a box's centre: the nearest one, up to rounding, among every `step`-th one from `first` on and among
/// those of the warp's lanes.
__device__ inline near_word least_of(const task& t, const candidates& of, const rough_box& at, int first, int step) {
    near_word best = nowhere;
#pragma unroll 4
    for (std::int64_t i = first; i < of.count; i += step) {
        const std::int32_t face = of[i];
        const rough_triangle own = t.rough[face];
        const auto squared = static_cast<near_word>(__float_as_uint(at.to(own).squared));
        best = smaller(squared << 32 | static_cast<std::uint32_t>(face), best);
    }
    for (int by = cuda::warp / 2; by > 0; by /= 2) best = smaller(__shfl_xor_sync(cuda::every_lane, best, by), best);
    return best;
}
/// The least of the results of a block's warps. All threads call it.
__device__ inline near_word least_of_block(near_word mine, near_word* held) {
    if (threadIdx.x % cuda::warp == 0) held[threadIdx.x / cuda::warp] = mine;
    __syncthreads();
    near_word best = held[0];
    for (unsigned w = 1; w < blockDim.x / cuda::warp; ++w) best = smaller(held[w], best);
    return best;
}

/// The box around the centres of a block's cells.
struct box {
    double centre[3];
    rough_box rough;

    __device__ static box of(const task& t, const std::int64_t* first, int level) {
        box made;
        double half[3];
        t.in.half_of_block(level, half);
        const double middle = static_cast<double>((std::int64_t{1} << level) - 1) / 2;
        made.rough.radius = made.rough.reach = rounded_up(std::sqrt(dot(half, half)));
        for (int k = 0; k < 3; ++k) {
            made.centre[k] = t.in.at(k, static_cast<double>(first[k]) + middle);
            made.rough.at[k] = static_cast<float>(made.centre[k] - t.middle[k]);
            made.rough.half[k] = rounded_up(half[k]), made.rough.reach += std::abs(made.rough.at[k]);
        }
        return made;
    }
    __device__ rough_bound bounds(const task& t, std::int32_t face) const {
        return {rough, t.rough[face], t.triangles[face].loss, t.in.most};
    }
};

struct found {
    double squared;
    std::int32_t face;
};

struct written_fields {
    void* distance = nullptr;
    std::int32_t* triangle = nullptr;
    bool is_double = false;
    std::int64_t distance_step[3] = {}, triangle_step[3] = {};
    const std::uint32_t* inside = nullptr;  ///< bits of voxels::find_inside(), or null
    std::int64_t words = 0;                 ///< words of a line of `inside`
    std::int32_t first_number = 0;          ///< number of triangle 0; a cell without one gets one less

    __device__ void write(const space& in, const std::int64_t* at, const answer& told) const {
        for (int k = 0; k < 3; ++k)
            if (at[k] >= in.shape[k]) return;
        if (triangle != nullptr) triangle[place(at, triangle_step)] = told.face + first_number;
        if (distance == nullptr) return;
        double d = told.distance;
        if (inside != nullptr && d != 0 &&
            (inside[(at[0] * in.shape[1] + at[1]) * words + at[2] / 32] >> (at[2] % 32) & 1) != 0)
            d = -d;
        if (is_double) static_cast<double*>(distance)[place(at, distance_step)] = d;
        else static_cast<float*>(distance)[place(at, distance_step)] = static_cast<float>(d);
    }

    __device__ std::int32_t read_triangle(const std::int64_t* at) const { return triangle[place(at, triangle_step)]; }

private:
    __device__ static std::int64_t place(const std::int64_t* at, const std::int64_t* step) {
        return (at[0] * step[0] + at[1] * step[1]) + at[2] * step[2];
    }
};

/// The two cells of a lane: the 4^3 cells of a warp are two halves along axis 0.
struct lane_cells {
    std::int64_t cell[2][3];
    double at[2][3];
    float from_centre[2][3];
    float limit[2];  ///< bound of the distance from the nearest triangle so far
    found best[2];

    __device__ lane_cells(const space& in, const std::int64_t* first, const double* centre) {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
        for (int h = 0; h < 2; ++h) {
            cell[h][0] = first[0] + 2 * h + lane / 16, cell[h][1] = first[1] + lane / 4 % 4;
            cell[h][2] = first[2] + lane % 4;
            for (int k = 0; k < 3; ++k) {
                at[h][k] = in.at(k, static_cast<double>(cell[h][k]));
                from_centre[h][k] = static_cast<float>(at[h][k] - centre[k]);
            }
            best[h] = {std::numeric_limits<double>::infinity(), -1};
            limit[h] = std::numeric_limits<float>::infinity();
        }
    }
    __device__ void measure(const task& t, int h, std::int32_t face) {
        const triangle own = t.triangles[face];
        const double squared = nearest_of(own, at[h][0], at[h][1], at[h][2]).squared;
        if (squared > best[h].squared || (squared == best[h].squared && face > best[h].face)) return;
        best[h] = {squared, face};
        limit[h] = rounded_up(static_cast<double>(std::sqrt(static_cast<float>(squared))));
    }
};

/// A triangle that can be nearest to some cells of a warp.
struct waiting_face {
    touching plane;
    std::int32_t face;
};

/// Finds the nearest triangles of a warp's 4^3 cells. `waiting` has room for one triangle of each lane.
__device__ inline void solve_part(const task& t, const candidates& given, const box& at, waiting_face* waiting,
                                  lane_cells& cells) {
    if (given.count == 0) return;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const std::int32_t nearest = face_of(least_of(t, given, at.rough, lane, cuda::warp));
    const rough_bound limits = at.bounds(t, nearest);
    for (int h = 0; h < 2; ++h) cells.measure(t, h, nearest);
    for (std::int64_t start = 0; start < given.count; start += cuda::warp) {
        const std::int32_t face = start + lane < given.count ? given[start + lane] : nearest;
        const rough_triangle own = t.rough[face];
        const touching plane(at.rough, own);
        const bool kept = face != nearest && limits.keeps(plane, at.rough.half);
        if (kept) waiting[lane] = {plane, face};
        __syncwarp();
        for (unsigned left = __ballot_sync(cuda::every_lane, kept ? 1 : 0); left != 0; left &= left - 1) {
            const waiting_face& one = waiting[__ffs(static_cast<int>(left)) - 1];
            for (int h = 0; h < 2; ++h) {
                const bool near = !(one.plane.least(cells.from_centre[h]) > cells.limit[h]);
                if (__any_sync(cuda::every_lane, near ? 1 : 0) != 0) cells.measure(t, h, one.face);
            }
        }
        __syncwarp();
    }
}

/// Finds the list of 8^3 cells in shared memory: the triangles of a larger block's list that can be nearest to one.
__device__ inline candidates list_in_block(const task& t, const candidates& given, const std::int64_t* first,
                                           std::int32_t* numbers) {
    __shared__ near_word held[warps_of_block];
    __shared__ int kept;
    const box whole = box::of(t, first, block_level);
    if (threadIdx.x == 0) kept = 0;
    const near_word nearest =
        least_of_block(least_of(t, given, whole.rough, static_cast<int>(threadIdx.x), threads_of_block), held);
    const rough_bound limits = whole.bounds(t, face_of(nearest));
    for (std::int64_t i = threadIdx.x; i < given.count; i += threads_of_block) {
        const std::int32_t face = given[i];
        const rough_triangle own = t.rough[face];
        if (!limits.keeps(touching(whole.rough, own), whole.rough.half)) continue;
        const int place = atomicAdd(&kept, 1);
        if (place < room_in_block) numbers[place] = face;
    }
    __syncthreads();
    return kept <= room_in_block ? candidates{numbers, kept} : given;
}

/// Solves an eighth of a block that has candidates: 8^3 cells. A warp owns 4^3 of them.
__device__ inline void solve_eighth(const task& t, const blocks& from, const written_fields& out, std::int64_t number,
                                    std::int32_t* numbers, waiting_face* waiting) {
    std::int64_t first[3];
    from.place(from.some == nullptr ? number / 8 : from.some[number / 8], first);
    for (int k = 0; k < 3; ++k) {
        first[k] += (number >> (2 - k) & 1) << block_level;
        if (first[k] >= t.in.shape[k]) return;
    }
    const candidates given = list_in_block(t, from.list_at(first), first, numbers);
    const int part = static_cast<int>(threadIdx.x) / cuda::warp;
    for (int k = 0; k < 3; ++k) {
        first[k] += (part >> (2 - k) & 1) << part_level;
        if (first[k] >= t.in.shape[k]) return;
    }
    const box at = box::of(t, first, part_level);
    lane_cells cells(t.in, first, at.centre);
    solve_part(t, given, at, waiting + part * cuda::warp, cells);
    for (int h = 0; h < 2; ++h)
        out.write(t.in, cells.cell[h], answer::of(t.in, cells.best[h].squared, cells.best[h].face));
}

/// Solves the blocks that have candidates. Blocks of threads take eighths of them in turn.
__global__ void __launch_bounds__(threads_of_block, blocks_at_once)
    find_nearest(const __grid_constant__ task t, const __grid_constant__ blocks from,
                 const __grid_constant__ written_fields out) {
    __shared__ std::int32_t numbers[room_in_block];
    __shared__ waiting_face waiting[threads_of_block];
    __shared__ std::int64_t taken;
    const std::int64_t all = 8 * (from.some == nullptr ? from.count() : std::int64_t{*from.some_count});
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) taken = atomicAdd(from.next, 1);
        __syncthreads();
        if (taken >= all) return;
        solve_eighth(t, from, out, taken, numbers, waiting);
    }
}

inline void solve_cells(const device& on, const task& t, const blocks& from, const written_fields& out) {
    const std::int64_t resident = blocks_at_once * cuda::limits().multiprocessors, all = 8 * from.count();
    cuda::launch(on, find_nearest, all < resident ? all : resident, dim3(threads_of_block), 0, t, from, out);
}

}  // namespace nearfield::nearest_faces
