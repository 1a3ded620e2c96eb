// Lists of the triangles that may be nearest in blocks of cells, and the tests that make a list from a larger block's.
#pragma once

#include "base/cuda_scan.cuh"
#include "mesh_distance/cuda_rough.cuh"

namespace nearfield::nearest_faces {

constexpr int listed_level = 4, block_level = 3, part_level = 2, threads_of_block = 256,
              warps_of_block = threads_of_block / cuda::warp;
constexpr int blocks_at_once = 3;               ///< blocks that a multiprocessor holds
constexpr int planes_held = 2048;               ///< triangles whose planes a block of threads keeps in shared memory
constexpr int room_in_block = 4 * planes_held;  ///< numbers that a block of threads collects in shared memory
constexpr std::int64_t most_spilled = 1 << 16;  ///< triangles of a list of 8^3 cells
constexpr int records_held = 7 * planes_held / 32;  ///< triangles of a list that is in shared memory with them

struct task {
    space in;
    const triangle* triangles;
    const rough_triangle* rough;
    double middle[3];  ///< origin of the coordinates of `rough`
};

/// Numbers of triangles.
struct candidates {
    const std::int32_t* numbers;
    std::int64_t count;
    __device__ std::int32_t operator[](std::int64_t i) const { return numbers[i]; }
};

/// Blocks of 2^level cells along each axis, with a list for each.
struct blocks {
    candidates* lists = nullptr;
    std::int64_t size[3] = {};
    int level = 0;
    std::int64_t first = 0;        ///< number of the first block of a group
    std::int32_t* some = nullptr;  ///< numbers of the blocks that have candidates, or null
    int* some_count = nullptr;
    int* next = nullptr;              ///< number of eighths of blocks that are taken
    std::int32_t* spilled = nullptr;  ///< room for a list of each resident block of threads
    std::int64_t spill_room = 0;

    [[nodiscard]] NF_HD std::int64_t count() const { return size[0] * size[1] * size[2]; }
    /// Number of the block in the group of `tops` that is at place `at` of the group: its children are counted first.
    /// -1 if it lies beyond the grid.
    __device__ std::int64_t in_group(const blocks& tops, std::int64_t at) const {
        const int below = tops.level - level, rest = static_cast<int>(at & ((std::int64_t{1} << 3 * below) - 1));
        std::int64_t first[3];
        tops.place(tops.first + (at >> 3 * below), first);
        std::int64_t number = 0;
        for (int k = 0; k < 3; ++k) {
            const std::int64_t own = (first[k] >> level) + (rest >> (2 - k) * below & ((1 << below) - 1));
            if (own >= size[k]) return -1;
            number = number * size[k] + own;
        }
        return number;
    }
    /// Computes the first cell of a block.
    __device__ void place(std::int64_t number, std::int64_t* first) const {
        const std::int64_t row = cuda::quotient(number, size[2]), plane = cuda::quotient(row, size[1]);
        first[0] = plane << level, first[1] = (row - plane * size[1]) << level;
        first[2] = (number - row * size[2]) << level;
    }
    /// The list of the block that contains this cell.
    __device__ candidates list_at(const std::int64_t* cell) const {
        return lists[((cell[0] >> level) * size[1] + (cell[1] >> level)) * size[2] + (cell[2] >> level)];
    }
};

/// A squared distance and the triangle's number, as one word in the order of the distances.
using near_word = unsigned long long;
constexpr near_word nowhere = ~0ULL;
__device__ inline near_word smaller(near_word a, near_word b) { return b < a ? b : a; }
__device__ inline std::int32_t face_of(near_word x) { return static_cast<std::int32_t>(x & 0xffffffff); }

__device__ inline near_word word_of(float squared, std::int32_t face) {
    return static_cast<near_word>(__float_as_uint(squared)) << 32 | static_cast<std::uint32_t>(face);
}
__device__ inline near_word least_of_warp(near_word best) {
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

/// The triangles of a list, for a block of threads that reads it twice: planes of the first ones are held.
struct planes {
    const task& t;
    const candidates& of;
    touching* held;
    int threads;  ///< of the block

    /// Returns a triangle near the box's centre: the nearest one, up to rounding. All threads call it.
    __device__ near_word nearest(const rough_box& at, near_word* of_warps) const {
        near_word best = nowhere;
        const std::int64_t first = of.count < planes_held ? of.count : planes_held;
        const auto thread = static_cast<int>(threadIdx.x);
#pragma unroll 4
        for (std::int64_t i = thread; i < first; i += threads) {
            const std::int32_t face = of[i];
            const rough_triangle own = t.rough[face];
            const rough_nearest q = at.to(own);
            held[i] = touching(at, own, q);
            best = smaller(word_of(q.squared, face), best);
        }
#pragma unroll 4
        for (std::int64_t i = planes_held + thread; i < of.count; i += threads) {
            const std::int32_t face = of[i];
            const rough_triangle own = t.rough[face];
            best = smaller(word_of(at.to(own).squared, face), best);
        }
        return least_of_block(least_of_warp(best), of_warps);
    }
    __device__ touching at(const rough_box& at, std::int64_t i) const {
        return i < planes_held ? held[i] : touching(at, t.rough[of[i]]);
    }
};

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

/// The first cell of a block.
struct first_cell {
    std::int64_t at[3];
};
constexpr int long_list = 192;  ///< triangles of a list from which drop_later() is worth its time

/// Shortens a list by the triangles whose nearest point to all cells of a block is the same corner, that of the
/// triangle nearest to the block's centre: keeps the first of them. Near the tip of a cone these are all triangles.
/// Returns the new length. All threads of a block call it. It is a call of its own, which keeps its registers from
/// kernels' loops.
static __device__ __noinline__ int drop_later(const task& t, first_cell cell, int level, std::int32_t nearest,
                                              std::int32_t* numbers, int count) {
    __shared__ std::int32_t first;
    __shared__ int kept;
    if (threadIdx.x == 0) first = std::numeric_limits<std::int32_t>::max(), kept = 0;
    const box of = box::of(t, cell.at, level);
    const ball in{{of.centre[0], of.centre[1], of.centre[2]}, double{of.rough.radius}};
    double corner[3];
    bool some = false;
    in.for_corner(t.triangles[nearest], [&](const double* at) {
        some = true;
        for (int k = 0; k < 3; ++k) corner[k] = at[k];
    });
    if (!some) return count;
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
        if (in.ends_at(t.triangles[numbers[i]], corner)) atomicMin(&first, numbers[i]);
    __syncthreads();
    for (int start = 0; start < count; start += static_cast<int>(blockDim.x)) {
        const int i = start + static_cast<int>(threadIdx.x);
        const std::int32_t face = i < count ? numbers[i] : -1;
        const bool stays = face >= 0 && (face <= first || !in.ends_at(t.triangles[face], corner));
        __syncthreads();  // all have read the part, in which, or before which, they write
        if (stays) numbers[atomicAdd(&kept, 1)] = face;
        __syncthreads();
    }
    return kept;
}

}  // namespace nearfield::nearest_faces
