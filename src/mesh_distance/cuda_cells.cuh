// Finds the nearest triangles of all cells, given lists for blocks of 16^3 of them.
//
// A block of threads owns 8^3 cells and makes their list from that of the larger block. Then each warp owns 4^3 cells
// and selects the triangles of the list that can be nearest in them, about 40. Each cell tests these by the plane that
// touches the triangle (see bound): of 10^5 triangles in 512^3 cells a cell measures about 20.
#pragma once

#include "mesh_distance/cuda_lists.cuh"

namespace nearfield::nearest_faces {

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

/// A cell of a lane. The 4^3 cells of a warp are two halves along axis 0.
struct cell_place {
    std::int64_t at[3];
    __device__ cell_place(const std::int64_t* first, int half) {
        const int lane = cuda::lane_of_thread();
        at[0] = first[0] + 2 * half + lane / 16, at[1] = first[1] + lane / 4 % 4, at[2] = first[2] + lane % 4;
    }
};

/// A cell of a lane, and the nearest triangle so far.
struct lane_cell {
    double at[3];
    float from_centre[3];
    float limit;  ///< bound of the distance from the nearest triangle
    found best;

    __device__ lane_cell(const space& in, const cell_place& cell, const double* centre)
        : limit(std::numeric_limits<float>::infinity()), best{std::numeric_limits<double>::infinity(), -1} {
        for (int k = 0; k < 3; ++k) {
            at[k] = in.at(k, static_cast<double>(cell.at[k]));
            from_centre[k] = static_cast<float>(at[k] - centre[k]);
        }
    }
    __device__ bool is_near(const touching& plane) const { return !(plane.least(from_centre) > limit); }
    __device__ void measure(const task& t, std::int32_t face) {
        const triangle own = t.triangles[face];
        const double squared = nearest_of(own, at[0], at[1], at[2]).squared;
        if (squared > best.squared || (squared == best.squared && face > best.face)) return;
        best = {squared, face};
        const auto rough = static_cast<float>(squared);
        limit = rounded_up(rough * inverse_root(rough));
    }
};

/// Shared memory of a block of threads: planes and numbers while it makes its list, then triangles of the list with
/// their numbers.
union block_words {
    touching held[planes_held];
    std::int32_t numbers[room_in_block];
    struct {
        std::int32_t numbers[records_held];
        float4 records[4][records_held];
    } brief;
};
static_assert(sizeof(block_words) == sizeof(touching) * planes_held);

/// The list of 8^3 cells, which the block's warps read together through shared memory.
struct block_list {
    candidates of;
    block_words* words;

    /// Calls body(count) after the next `count` triangles were copied. A second turn through a list that fits does not
    /// copy it again. All threads call it.
    template <class Body>
    __device__ void for_parts(const task& t, bool again, const Body& body) const {
        for (std::int64_t first = 0; first < of.count; first += records_held) {
            const auto count = static_cast<int>(of.count - first < records_held ? of.count - first : records_held);
            if (!again || of.count > records_held) hold(t, first, count);
            body(count);
        }
    }
    __device__ rough_triangle at(int i) const {
        const auto& held = words->brief.records;
        return rough_of(held[0][i], held[1][i], held[2][i], held[3][i]);
    }
    __device__ std::int32_t number(int i) const { return words->brief.numbers[i]; }

private:
    __device__ void hold(const task& t, std::int64_t first, int count) const {
        __syncthreads();
        for (auto i = static_cast<int>(threadIdx.x); i < count; i += threads_of_block) {
            const std::int32_t face = of[first + i];
            words->brief.numbers[i] = face;
            const auto* const from = reinterpret_cast<const float4*>(t.rough + face);
            for (int k = 0; k < 4; ++k) words->brief.records[k][i] = from[k];
        }
        __syncthreads();
    }
};

/// Finds and writes the nearest triangles of a warp's 4^3 cells, unless they lie beyond the grid. Lanes have two cells:
/// halves along axis 0. `waiting` has room for a plane of each lane. All threads of the block call it.
__device__ inline void solve_part(const task& t, const block_list& given, const std::int64_t* first, bool in_grid,
                                  touching* waiting, const written_fields& out) {
    const box at = box::of(t, first, part_level);
    const int lane = cuda::lane_of_thread();
    const bool some = given.of.count > 0;
    near_word best = nowhere;
    given.for_parts(t, false, [&](int count) {
        for (int i = lane; i < count && in_grid; i += cuda::warp)
            best = smaller(word_of(at.rough.to(given.at(i)).squared, given.number(i)), best);
    });
    lane_cell cells[] = {{t.in, {first, 0}, at.centre}, {t.in, {first, 1}, at.centre}};
    const std::int32_t nearest = some && in_grid ? face_of(least_of_warp(best)) : 0;
    const rough_bound limits = at.bounds(t, nearest);
    for (lane_cell& cell : cells)
        if (some) cell.measure(t, nearest);
    given.for_parts(t, true, [&](int count) {
        for (int start = 0; start < count && in_grid; start += cuda::warp) {
            const int i = start + lane < count ? start + lane : start;
            const touching plane(at.rough, given.at(i));
            const bool kept = i == start + lane && given.number(i) != nearest && limits.keeps(plane, at.rough.half);
            if (kept) waiting[lane] = plane;
            __syncwarp();
            for (unsigned left = __ballot_sync(cuda::every_lane, kept ? 1 : 0); left != 0; left &= left - 1) {
                const int next = __ffs(static_cast<int>(left)) - 1;
                const touching one = waiting[next];
#pragma unroll
                for (lane_cell& cell : cells)  // all lanes take the same way, so that they read one triangle
                    if (__any_sync(cuda::every_lane, cell.is_near(one) ? 1 : 0) != 0)
                        cell.measure(t, given.number(start + next));
            }
            __syncwarp();
        }
    });
    for (int h = 0; h < 2 && in_grid; ++h)
        out.write(t.in, cell_place(first, h).at, answer::of(t.in, cells[h].best.squared, cells[h].best.face));
}

/// Finds the list of 8^3 cells: the triangles of a larger block's list that can be nearest to one. It lies in shared
/// memory, or, if it is too long for that, in `spilled`. A list that is too long for either remains the larger block's.
__device__ inline candidates list_in_block(const task& t, const blocks& from, const std::int64_t* first,
                                           block_words& words) {
    const candidates given = from.list_at(first);
    std::int32_t* const spilled = from.spilled + from.spill_room * blockIdx.x;
    __shared__ near_word of_warps[warps_of_block];
    __shared__ int count;
    const box whole = box::of(t, first, block_level);
    if (threadIdx.x == 0) count = 0;
    const planes by{t, given, words.held, threads_of_block};
    const std::int32_t nearest = face_of(by.nearest(whole.rough, of_warps));
    const rough_bound limits = whole.bounds(t, nearest);
    // Numbers replace the planes, which only the first turn of this loop reads.
    for (std::int64_t start = 0; start < given.count; start += std::int64_t{64} * threads_of_block) {
        const std::int64_t own = start + threadIdx.x;
        std::uint64_t kept = 0;
#pragma unroll 4
        for (int k = 0; k < 64; ++k)
            if (const std::int64_t i = own + threads_of_block * k; i < given.count)
                kept |= std::uint64_t{limits.keeps(by.at(whole.rough, i), whole.rough.half)} << k;
            else break;
        __syncthreads();
        for (; kept != 0; kept &= kept - 1) {
            const int place = atomicAdd(&count, 1), k = __ffsll(static_cast<long long>(kept)) - 1;
            const std::int32_t face = given[own + threads_of_block * k];
            if (place < room_in_block) words.numbers[place] = face;
            else if (place < from.spill_room) spilled[place] = face;
        }
    }
    __syncthreads();
    int kept = count;
    if (kept > long_list && kept <= room_in_block)
        kept = drop_later(t, {{first[0], first[1], first[2]}}, block_level, nearest, words.numbers, kept);
    if (kept <= records_held) return {words.numbers, kept};
    if (kept > from.spill_room) return given;
    for (auto i = static_cast<int>(threadIdx.x); i < kept && i < room_in_block; i += threads_of_block)
        spilled[i] = words.numbers[i];
    return {spilled, kept};  // for_parts() has a barrier before it reads them
}

/// Solves an eighth of a block that has candidates: 8^3 cells. A warp owns 4^3 of them.
__device__ inline void solve_eighth(const task& t, const blocks& from, const written_fields& out, std::int64_t number,
                                    block_words& words, touching* waiting) {
    std::int64_t first[3];
    from.place(from.some == nullptr ? number / 8 : from.some[number / 8], first);
    for (int k = 0; k < 3; ++k) {
        first[k] += (number >> (2 - k) & 1) << block_level;
        if (first[k] >= t.in.shape[k]) return;
    }
    const block_list given{list_in_block(t, from, first, words), &words};
    const int part = static_cast<int>(threadIdx.x) / cuda::warp;
    bool in_grid = true;
    for (int k = 0; k < 3; ++k) {
        first[k] += (part >> (2 - k) & 1) << part_level;
        in_grid = in_grid && first[k] < t.in.shape[k];
    }
    solve_part(t, given, first, in_grid, waiting + part * cuda::warp, out);
}

/// Solves the blocks that have candidates. Blocks of threads take eighths of them in turn.
__global__ void __launch_bounds__(threads_of_block, blocks_at_once)
    find_nearest(const __grid_constant__ task t, const __grid_constant__ blocks from,
                 const __grid_constant__ written_fields out) {
    __shared__ touching waiting[threads_of_block];
    __shared__ block_words words;
    __shared__ std::int64_t taken;
    const std::int64_t all = 8 * (from.some == nullptr ? from.count() : std::int64_t{*from.some_count});
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) taken = atomicAdd(from.next, 1);
        __syncthreads();
        if (taken >= all) return;
        solve_eighth(t, from, out, taken, words, waiting);
    }
}

/// Returns how many blocks of threads take `count` blocks of cells in turn.
inline std::int64_t resident_blocks(std::int64_t count) {
    const std::int64_t resident = blocks_at_once * cuda::limits().multiprocessors;
    return 8 * count < resident ? 8 * count : resident;
}
/// Solves at most `count` blocks.
inline void solve_cells(const device& on, const task& t, const blocks& from, std::int64_t count,
                        const written_fields& out) {
    cuda::launch(on, find_nearest, resident_blocks(count), dim3(threads_of_block), 0, t, from, out);
}

}  // namespace nearfield::nearest_faces
