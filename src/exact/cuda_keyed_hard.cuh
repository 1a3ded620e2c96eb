// What the searches for nearest sites in words leave (cuda_keyed_search.cuh), by hulls: of short lines in shared
// memory, of long ones by slabs (cuda_far.cuh). How much it is is known on the device only: a fixed number of blocks
// shares the lists.
#pragma once

#include "exact/cuda_far.cuh"
#include "exact/cuda_keyed_search.cuh"
#include "exact/cuda_short.cuh"

namespace nearfield::exact {
namespace {

// Hard groups of lines from which on a sweep takes them (cuda_keyed_sweep.cuh), which takes 0.36 ms for one group of
// 512 rows and 1.8 ms for 8192, where hulls take 0.29 ms for 1000 (H200, 2026-11-23).
constexpr int least_swept = 1536;

/// A line for search_lines.
template <class Lines, class Target>
class hull_line {
public:
    __device__ hull_line(const typename Lines::reader& line, const Target& target) : line_(line), target_(target) {}
    __device__ std::int32_t load(std::int64_t row) const { return line_.load(row); }
    __device__ std::int32_t value(std::int32_t loaded) const {
        return Lines::reader::is_site(loaded) ? static_cast<std::int32_t>(Lines::value(loaded))
                                              : no_site<std::int32_t>();
    }
    __device__ std::int64_t key(std::int32_t loaded, std::int64_t row) const {
        return target_.key(Lines::reader::site(loaded), static_cast<std::int32_t>(row));
    }

private:
    const typename Lines::reader& line_;
    const Target& target_;
};

/// A block one group of lines with a hard window after another; none where a sweep does them. Lanes beyond the last
/// line repeat it; they write the same to the same cells.
template <ending End, class Lines>
__global__ void __launch_bounds__(short_threads)
    search_hard_sites(const Lines lines, const windows cut, const metric<std::int32_t> m, const hard_tiles hard,
                      const bool sweeps, std::uint32_t* next, const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ packed_point points[];
    const int count = *hard.count;
    if (sweeps && count >= least_swept) return;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const auto group = lines.place(cut, hard.list[nth]).group;
        // Another window's group is a block's already.
        bool taken = false;
        if (cut.count > 1)
            for (int i = static_cast<int>(threadIdx.y * cuda::warp + threadIdx.x); i < nth;
                 i += blockDim.y * cuda::warp)
                taken |= lines.place(cut, hard.list[i]).group.number == group.number;
        if (__syncthreads_or(taken)) continue;
        const int lane = min(static_cast<int>(threadIdx.x), lines.width(group) - 1);
        const auto target = lines.template target<End>(m, next, to, group, lane);
        const typename Lines::reader line(lines, group, lane);
        search_lines(points, lines.rows(), hull_line<Lines, decltype(target)>(line, target),
                     [&](int q, std::int32_t value, std::int64_t key) { target.put_key(q, value, key); });
        __syncthreads();
    }
}

/// The groups of long lines that have hard windows.
struct hard_site_groups {
    const std::int32_t* number;
    const std::int32_t* list;

    template <class Lines>
    __device__ hard_site_groups(const hard_tiles& hard, const Lines&) : number(hard.owner_count), list(hard.owners) {}
    __device__ std::int64_t count() const { return *number; }
    __device__ std::int64_t operator[](std::int64_t nth) const { return list[nth]; }
};

/// A warp 32 rows after another of hard windows of long lines; a block's rows follow each other.
template <ending End, class Lines>
__global__ void __launch_bounds__(walk_threads)
    walk_far_sites(const Lines lines, const windows cut, const metric<std::int32_t> m, const hard_tiles hard,
                   const far_lists lists, std::uint32_t* next, const site_sink to) {
    cuda::wait_for_kernel_before();
    constexpr int rows_of_block = walk_warps * band_rows;
    const int parts = (cut.rows + rows_of_block - 1) / rows_of_block;
    const std::int64_t count = static_cast<std::int64_t>(*hard.count) * parts;
    for (std::int64_t nth = blockIdx.x; nth < count; nth += gridDim.x) {
        const std::int64_t above = quotient(nth, parts);
        const auto at = lines.place(cut, hard.list[above]);
        const int top = at.window * cut.rows, end = min(top + cut.rows, lines.rows());
        const int from =
            top + static_cast<int>(nth - above * parts) * rows_of_block + static_cast<int>(threadIdx.y) * band_rows;
        if (from >= end) continue;
        const int lane = min(static_cast<int>(threadIdx.x), lines.width(at.group) - 1);
        const far_hull<Lines> hull(lines, lists, at.group, lane);
        const typename Lines::reader line(lines, at.group, lane);
        const auto target = lines.template target<End>(m, next, to, at.group, lane);
        walk(
            hull, lists.slabs, from / slab_rows, from, min(from + band_rows, end),
            [&](const auto& p) { return target.key(Lines::reader::site(line.load(p.row())), p.row()); },
            [&](int q, auto value, std::int64_t key) { target.put_key(q, value, key); });
    }
}

}  // namespace
}  // namespace nearfield::exact
