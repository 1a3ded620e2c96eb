// On a device: marks points of surfaces.
#include <algorithm>

#include "base/cuda_by_warp.cuh"
#include "metrics/cuda_common.cuh"

namespace nearfield::metrics {
namespace {

/// A warp's findings about the points of a job's surface.
struct found_points {
    word points, weight;
    std::uint32_t bits;  ///< of the points among the warp's

    __device__ void reduce() {
        bits = __reduce_or_sync(cuda::every_lane, bits), points = static_cast<word>(__popc(bits));
        for (int by = cuda::warp / 2; by > 0; by /= 2) weight += __shfl_xor_sync(cuda::every_lane, weight, by);
    }
};

/// Everything that marking needs: the planes of the image in which the group's jobs lie, and their bits.
struct marking {
    const weights* by;
    const std::int32_t* job_of_row;  ///< negative: not in this group
    job* jobs;
    std::uint32_t* bits[2];
    std::int64_t first_image, images, first_plane, planes, blocks_of_image;
};
constexpr int lines_of_block = 32;

__device__ inline void add_to_job(const marking& m, std::int32_t which, int side, const found_points& more) {
    atomicAdd(reinterpret_cast<word*>(&m.jobs[which].points[side]), more.points);
    atomicAdd(reinterpret_cast<word*>(&m.jobs[which].weight[side]), more.weight);
}

/// A line of points of one image on one side. A cell is a point of its code's surface if a neighbour lacks the code, a
/// corner one of every code that some but not all of the eight cells around it have. Cells outside have code 0.
template <class Code>
struct line_of_points {
    const problem& p;
    const marking& m;
    const Code* image;
    std::int64_t row, z, y;
    int side;
    found_points* held;  ///< of codes of one byte, in the block's memory; else null

    __device__ static void add(found_points* to, const found_points& more) {
        atomicAdd(&to->points, more.points), atomicAdd(&to->weight, more.weight);
    }
    /// Returns a line of cells at an offset from this one, or null outside of the image.
    __device__ const Code* cells(int by_z, int by_y) const {
        const std::int64_t cz = z + by_z, cy = y + by_y;
        if (cz < 0 || cy < 0 || cz >= p.size[0] || cy >= p.size[1]) return nullptr;
        return image + (cz * p.size[1] + cy) * p.size[2];
    }
    __device__ Code at(const Code* cells, std::int32_t x) const {
        return cells == nullptr || x < 0 || x >= p.size[2] ? Code{0} : cells[x];
    }
    /// Sets the bit of a point of a code, whose weight has the index `value`. All lanes call it, with consecutive x of
    /// one word; lanes without a point give code 0.
    __device__ void put(std::int32_t x, std::uint32_t code, std::uint8_t value) const {
        const std::int32_t which = code == 0 ? -1 : m.job_of_row[row + code - 1];
        found_points mine{0, 0, 0};
        if (which >= 0) mine = {1, m.by->rank[value], 1U << x % 32};
        cuda::put_by_warp(which >= 0 ? code : 0, 0U, mine, [&](std::uint32_t of_code, const found_points& of) {
            const std::int32_t to = m.job_of_row[row + of_code - 1];
            const job& j = m.jobs[to];
            atomicOr(m.bits[side] + j.base + ((z - j.first[0]) * j.size[1] + y - j.first[1]) * j.row_words() + x / 32 -
                         j.first[2] / 32,
                     of.bits);
            if (held != nullptr) add(held + of_code - 1, of);
            else add_to_job(m, to, side, of);
        });
    }
    /// Marks the line's cells. A missing axis has the same cells on both sides.
    __device__ void mark_cells() const {
        const Code* const own = cells(0, 0);
        const Code* beside[4];
        for (int k = 0; k < 4; ++k) {
            const int by = k % 2 == 0 ? -1 : 1;
            beside[k] = !p.has(k / 2) ? own : k < 2 ? cells(by, 0) : cells(0, by);
        }
        if constexpr (sizeof(Code) == 1) return mark_fours(own, beside);
        const std::int32_t lane = lane_of_thread();
        for (std::int32_t x = lane; x - lane < p.size[2]; x += cuda::warp) {
            const Code code = at(own, x);
            bool inner = at(own, x - 1) == code && at(own, x + 1) == code;
#pragma unroll
            for (const Code* const line : beside) inner = inner && at(line, x) == code;
            inner = inner || code == 0;
            if (__any_sync(cuda::every_lane, inner ? 0 : 1) != 0) put(x, inner ? 0 : code, 1);
        }
    }
    /// Does so for 128 cells at a time, four a lane.
    __device__ void mark_fours(const Code* own, const Code* const (&beside)[4]) const {
        const auto n = static_cast<std::int32_t>(p.size[2]);
        for (std::int32_t first = 0; first < n; first += warp_codes) {
            const std::int32_t x = first + lane_codes * lane_of_thread();
            const std::uint32_t mine = four_codes(own, x, n);
            std::uint32_t after = __shfl_down_sync(cuda::every_lane, mine, 1);
            if (lane_of_thread() == cuda::warp - 1) after = at(own, first + warp_codes);
            std::uint32_t differ = (mine ^ codes_before(mine, at(own, first - 1))) | (mine ^ (mine >> 8 | after << 24));
#pragma unroll
            for (const Code* const line : beside) differ |= mine ^ four_codes(line, x, n);
            const std::uint32_t points = bytes_not_zero(differ) & bytes_not_zero(mine);
            if (__any_sync(cuda::every_lane, points != 0 ? 1 : 0) == 0) continue;
            for (int group = 0; group < lane_codes; ++group) {
                const std::uint32_t code = byte_of_group(mine, group), is_point = byte_of_group(points, group);
                put(first + cuda::warp * group + lane_of_thread(), is_point != 0 ? code : 0, 1);
            }
        }
    }
    /// Marks the line's corners, one more than there are cells.
    __device__ void mark_corners() const {
        const Code* around[4];
        for (int k = 0; k < 4; ++k) around[k] = cells(p.has(0) && k < 2 ? -1 : 0, p.has(1) && k % 2 == 0 ? -1 : 0);
        if constexpr (sizeof(Code) == 1) return mark_corners_by_fours(around);
        const std::int32_t lane = lane_of_thread();
        for (std::int32_t x = lane; x - lane <= p.size[2]; x += cuda::warp) {
            Code cell[8];
            bool some = false;
#pragma unroll
            for (int k = 0; k < 8; ++k) cell[k] = at(around[k % 4], k < 4 ? x - 1 : x), some |= cell[k] != cell[0];
            if (__any_sync(cuda::every_lane, some ? 1 : 0) != 0) mark_corner(x, cell, some);
        }
    }
    /// Does so for 128 corners at a time, four a lane.
    __device__ void mark_corners_by_fours(const Code* const (&around)[4]) const {
        const auto n = static_cast<std::int32_t>(p.size[2]);
        for (std::int32_t first = 0; first <= n; first += warp_codes) {
            std::uint32_t four[8], differ = 0;
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                four[k + 4] = four_codes(around[k], first + lane_codes * lane_of_thread(), n);
                four[k] = codes_before(four[k + 4], at(around[k], first - 1));
            }
#pragma unroll
            for (const std::uint32_t each : four) differ |= each ^ four[0];
            if (__any_sync(cuda::every_lane, differ != 0 ? 1 : 0) == 0) continue;
            differ = bytes_not_zero(differ);
            for (int group = 0; group < lane_codes; ++group) {
                const bool some = byte_of_group(differ, group) != 0;
                if (__any_sync(cuda::every_lane, some ? 1 : 0) == 0) continue;
                Code cell[8];
#pragma unroll
                for (int k = 0; k < 8; ++k) cell[k] = static_cast<Code>(byte_of_group(four[k], group));
                mark_corner(first + cuda::warp * group + lane_of_thread(), cell, some);
            }
        }
    }
    __device__ void mark_corner(std::int32_t x, const Code (&cell)[8], bool some) const {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            unsigned bits = 0;
            bool first = some && cell[k] != 0;
#pragma unroll
            for (int other = 0; other < 8; ++other) {
                const bool same = cell[other] == cell[k];
                bits |= same ? 1U << other : 0U;
                if (other < k && same) first = false;
            }
            if (__any_sync(cuda::every_lane, first ? 1 : 0) != 0)
                put(x, first ? cell[k] : 0, static_cast<std::uint8_t>(bits));
        }
    }
};

/// Marks the points of both sides in masks of zeros, and counts them. A warp goes along a line of points.
template <class Code>
__global__ void __launch_bounds__(threads_of_block)
    mark_points(const __grid_constant__ problem p, const __grid_constant__ marking m,
                const __grid_constant__ coded codes) {
    constexpr int codes_held = sizeof(Code) == 1 ? 255 : 1;
    __shared__ found_points held[codes_held];
    for (int i = static_cast<int>(threadIdx.x); i < codes_held; i += threads_of_block)
        held[i].points = held[i].weight = 0;
    __syncthreads();
    const auto points = [&](int axis) { return p.size[axis] + (p.elements && p.has(axis) ? 1 : 0); };
    const std::int64_t which = cuda::quotient(blockIdx.x, m.blocks_of_image);
    const int side = which < m.images ? 0 : 1;
    const std::int64_t image = m.first_image + which - side * m.images,
                       begin = (blockIdx.x - which * m.blocks_of_image) * lines_of_block;
    for (int k = static_cast<int>(threadIdx.x) / cuda::warp; k < lines_of_block; k += threads_of_block / cuda::warp) {
        const std::int64_t plane = cuda::quotient(begin + k, points(1));
        if (plane >= m.planes) break;
        const line_of_points<Code> line{p,
                                        m,
                                        codes.side<Code>(side) + image * p.image_cells(),
                                        image * p.labels,
                                        m.first_plane + plane,
                                        begin + k - plane * points(1),
                                        side,
                                        sizeof(Code) == 1 ? held : nullptr};
        if (p.elements) line.mark_corners();
        else line.mark_cells();
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); sizeof(Code) == 1 && i < codes_held; i += threads_of_block)
        if (held[i].points != 0) add_to_job(m, m.job_of_row[image * p.labels + i], side, held[i]);
}

}  // namespace

void mark(const device& on, const problem& p, const weights& w, const coded& codes, group& g) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    std::vector<std::int32_t> job_of_row(static_cast<std::size_t>(p.images * p.labels), -1);
    marking m{};
    std::int64_t last_image = 0, last_plane = 0;
    m.first_image = p.images, m.first_plane = p.size[0];
    for (std::size_t k = 0; k < g.jobs.size(); ++k) {
        const job& j = g.jobs[k];
        job_of_row[static_cast<std::size_t>(j.row)] = static_cast<std::int32_t>(k);
        m.first_image = std::min(m.first_image, j.row / p.labels), last_image = std::max(last_image, j.row / p.labels);
        m.first_plane = std::min(m.first_plane, j.first[0]);
        last_plane = std::max(last_plane, j.first[0] + j.size[0] - 1);
    }
    m.images = last_image - m.first_image + 1, m.planes = last_plane - m.first_plane + 1;
    m.blocks_of_image = cuda::blocks_for(m.planes * (p.size[1] + (p.elements && p.has(1) ? 1 : 0)), lines_of_block);
    const auto job_at = memory.reserve<job>(std::ssize(g.jobs)), weight = memory.reserve<weights>(1),
               row = memory.reserve<std::int32_t>(std::ssize(job_of_row));
    memory.allocate();
    m.by = memory.get<weights>(weight), m.jobs = memory.get<job>(job_at), m.job_of_row = memory.get<std::int32_t>(row);
    copy_to(on, m.jobs, g.jobs);
    copy_to(on, memory.get<weights>(weight), std::vector<weights>{w});
    copy_to(on, memory.get<std::int32_t>(row), job_of_row);
    for (int side = 0; side < 2; ++side) m.bits[side] = g.bits[side], clear(on, g.bits[side], 4 * g.room);
    const auto start = [&]<class Code>(Code) {
        cuda::launch(on, mark_points<Code>, 2 * m.images * m.blocks_of_image, dim3(threads_of_block), 0, p, m, codes);
    };
    if (p.wide_codes()) start(std::uint32_t{});
    else start(std::uint8_t{});
    copy_from(on, g.jobs, m.jobs);
}

}  // namespace nearfield::metrics
