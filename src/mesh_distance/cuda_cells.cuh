// Finds the nearest triangles of all cells, given lists for blocks of them.
//
// A block of threads owns 8^3 cells and makes their list from that of the larger block. Then each warp owns 4^3 cells
// and selects the triangles of the list that can be nearest in them, about 30. Each cell tests these by the plane that
// touches the triangle (see bound): of 10^5 triangles in 512^3 cells a cell measures 8 to 16.
#pragma once

#include "base/cuda.cuh"
#include "mesh_distance/core.hpp"

namespace nearfield::nearest_faces {

constexpr int block_level = 3, part_level = 2, threads_of_block = 256, warps_of_block = threads_of_block / cuda::warp;
constexpr int room_in_block = 2048;  ///< triangles in a block's list; if there are more it uses the larger block's

struct task {
    space in;
    const triangle* triangles;
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

struct found {
    double squared;
    std::int32_t face;
};
__device__ inline bool is_before(const found& a, const found& b) {
    return a.squared < b.squared || (a.squared == b.squared && a.face < b.face);
}

/// The nearest triangle to a point among every `step`-th one from `first` on, then among those of the warp's lanes.
__device__ inline found least_of(const task& t, const candidates& of, const double* at, int first, int step) {
    found best{std::numeric_limits<double>::infinity(), std::numeric_limits<std::int32_t>::max()};
    for (std::int64_t i = first; i < of.count; i += step) {
        const std::int32_t face = of[i];
        const found one{nearest_of(t.triangles[face], at[0], at[1], at[2]).squared, face};
        if (is_before(one, best)) best = one;
    }
    for (int by = cuda::warp / 2; by > 0; by /= 2) {
        const found other{__shfl_xor_sync(cuda::every_lane, best.squared, by),
                          __shfl_xor_sync(cuda::every_lane, best.face, by)};
        if (is_before(other, best)) best = other;
    }
    return best;
}
/// The nearest among the results of a block's warps. All threads call it.
__device__ inline found least_of_block(const found& mine, found* held) {
    if (threadIdx.x % cuda::warp == 0) held[threadIdx.x / cuda::warp] = mine;
    __syncthreads();
    found best = held[0];
    for (unsigned w = 1; w < blockDim.x / cuda::warp; ++w)
        if (is_before(held[w], best)) best = held[w];
    return best;
}

/// The box around the centres of a block's cells.
struct box {
    double centre[3], half[3], radius;

    __device__ static box of(const space& in, const std::int64_t* first, int level) {
        box made;
        in.half_of_block(level, made.half);
        made.radius = std::sqrt(dot(made.half, made.half));
        const double middle = static_cast<double>((std::int64_t{1} << level) - 1) / 2;
        for (int k = 0; k < 3; ++k) made.centre[k] = in.at(k, static_cast<double>(first[k]) + middle);
        return made;
    }
    __device__ bound bounds(const task& t, std::int32_t face) const {
        const triangle& nearest = t.triangles[face];
        return bound::of(nearest_of(nearest, centre[0], centre[1], centre[2]), nearest.loss, radius, t.in.most);
    }
};

struct written_fields {
    void* distance = nullptr;
    std::int32_t* triangle = nullptr;
    bool is_double = false;
    std::int64_t distance_step[3] = {}, triangle_step[3] = {};
    const std::uint32_t* inside = nullptr;  ///< bits of voxels::find_inside(), or null
    std::int64_t words = 0;                 ///< words of a line of `inside`
    std::int32_t first_number = 0;          ///< number of triangle 0; a cell without one gets one less

    __device__ void write(const space& in, const std::int64_t* at, const found& best) const {
        for (int k = 0; k < 3; ++k)
            if (at[k] >= in.shape[k]) return;
        const answer told = answer::of(in, best.squared, best.face);
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

/// Bounds the distance from a triangle to the cell at centre + u from below by low + n u (see bound).
struct touching {
    double low, n[3];
    std::int32_t face;

    __device__ static touching of(const nearest& at, std::int32_t face) {
        const double over = inverse(std::sqrt(at.squared));
        return {at.support * over - slack, {at.e[0] * over, at.e[1] * over, at.e[2] * over}, face};
    }
    __device__ bool may_be_nearest(const double* u, double squared) const {
        const double least = low + dot(n, u);
        return !(least > 0 && least * least > squared);
    }
};

/// The two cells of a lane: the 4^3 cells of a warp are two halves along axis 0.
struct lane_cells {
    std::int64_t cell[2][3];
    double at[2][3], from_centre[2][3];
    found best[2];

    __device__ lane_cells(const space& in, const std::int64_t* first, const double* centre) {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
        for (int h = 0; h < 2; ++h) {
            cell[h][0] = first[0] + 2 * h + lane / 16, cell[h][1] = first[1] + lane / 4 % 4;
            cell[h][2] = first[2] + lane % 4;
            for (int k = 0; k < 3; ++k)
                at[h][k] = in.at(k, static_cast<double>(cell[h][k])), from_centre[h][k] = at[h][k] - centre[k];
            best[h] = {std::numeric_limits<double>::infinity(), -1};
        }
    }
    __device__ void measure(const task& t, int h, std::int32_t face) {
        const found one{nearest_of(t.triangles[face], at[h][0], at[h][1], at[h][2]).squared, face};
        if (is_before(one, best[h])) best[h] = one;
    }
};

/// Finds the nearest triangles of a warp's 4^3 cells. `waiting` has room for one triangle of each lane.
__device__ inline void solve_part(const task& t, const candidates& given, const box& at, touching* waiting,
                                  lane_cells& cells) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const found nearest = least_of(t, given, at.centre, lane, cuda::warp);
    if (given.count == 0 || nearest.squared > bound::far2(at.radius, t.in.most)) return;
    const bound limits = at.bounds(t, nearest.face);
    for (int h = 0; h < 2; ++h) cells.measure(t, h, nearest.face);
    for (std::int64_t start = 0; start < given.count; start += cuda::warp) {
        const std::int32_t face = start + lane < given.count ? given[start + lane] : nearest.face;
        bool kept = false;
        if (face != nearest.face) {
            const auto one = nearest_of(t.triangles[face], at.centre[0], at.centre[1], at.centre[2]);
            kept = limits.keeps(one, at.half);
            if (kept) waiting[lane] = touching::of(one, face);
        }
        __syncwarp();
        for (unsigned left = __ballot_sync(cuda::every_lane, kept ? 1 : 0); left != 0; left &= left - 1) {
            const touching& one = waiting[__ffs(static_cast<int>(left)) - 1];
            for (int h = 0; h < 2; ++h)
                if (__any_sync(cuda::every_lane,
                               one.may_be_nearest(cells.from_centre[h], cells.best[h].squared) ? 1 : 0) != 0)
                    cells.measure(t, h, one.face);
        }
        __syncwarp();
    }
}

/// A block of threads owns 8^3 cells, a warp 4^3 of them.
__global__ void __launch_bounds__(threads_of_block, 2)
    find_nearest(const __grid_constant__ task t, const __grid_constant__ blocks from,
                 const __grid_constant__ blocks own, const __grid_constant__ written_fields out) {
    __shared__ found held[warps_of_block];
    __shared__ std::int32_t numbers[room_in_block];
    __shared__ int kept;
    __shared__ touching waiting[threads_of_block];
    std::int64_t first[3];
    own.place(blockIdx.x, first);
    const box whole = box::of(t.in, first, block_level);
    candidates given = from.list_at(first);
    if (threadIdx.x == 0) kept = 0;
    const found nearest =
        least_of_block(least_of(t, given, whole.centre, static_cast<int>(threadIdx.x), threads_of_block), held);
    if (nearest.squared > bound::far2(whole.radius, t.in.most)) given.count = 0;
    if (given.count > 0) {
        const bound limits = whole.bounds(t, nearest.face);
        for (std::int64_t i = threadIdx.x; i < given.count; i += threads_of_block) {
            const std::int32_t face = given[i];
            const double* const c = whole.centre;
            if (!limits.keeps(nearest_of(t.triangles[face], c[0], c[1], c[2]), whole.half)) continue;
            const int place = atomicAdd(&kept, 1);
            if (place < room_in_block) numbers[place] = face;
        }
        __syncthreads();
        if (kept <= room_in_block) given = {numbers, kept};
    }
    const int part = static_cast<int>(threadIdx.x) / cuda::warp;
    for (int k = 0; k < 3; ++k) {
        first[k] += (part >> (2 - k) & 1) << part_level;
        if (first[k] >= t.in.shape[k]) return;
    }
    const box at = box::of(t.in, first, part_level);
    lane_cells cells(t.in, first, at.centre);
    solve_part(t, given, at, waiting + part * cuda::warp, cells);
    for (int h = 0; h < 2; ++h) out.write(t.in, cells.cell[h], cells.best[h]);
}

inline void solve_cells(const device& on, const task& t, const blocks& from, const written_fields& out) {
    blocks own;
    own.level = block_level;
    for (int k = 0; k < 3; ++k) own.size[k] = cuda::blocks_for(t.in.shape[k], std::int64_t{1} << block_level);
    cuda::launch(on, find_nearest, own.count(), dim3(threads_of_block), 0, t, from, own, out);
}

}  // namespace nearfield::nearest_faces
