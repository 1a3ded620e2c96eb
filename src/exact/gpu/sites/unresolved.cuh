// Hulls in shared memory for the lines that the search for nearest sites in words (search.cuh) leaves unresolved. Only
// the device knows their number, so a fixed number of blocks shares the list.
#pragma once

#include "exact/gpu/sites/hulls.cuh"
#include "exact/gpu/sites/search.cuh"

namespace nearfield::exact {
namespace {

// From this number of unresolved groups of lines on, a sweep (sweep.cuh) solves them: it takes 0.36 ms for one group of
// 512 rows and 1.8 ms for 8192, whereas hulls take 0.29 ms for 1000 (H200, 2026-11-23).
constexpr int least_swept = 1536;

/// Adapter of a line for search_lines.
template <class Lines, class Target>
class hull_line {
public:
    __device__ hull_line(const typename Lines::reader& line, const Target& target) : line_(line), target_(target) {}
    __device__ std::int32_t load(std::int64_t row) const { return line_.load(row); }
    __device__ std::int32_t value(std::int32_t loaded) const {
        return Lines::reader::is_site(loaded) ? Lines::value(loaded) : no_site<std::int32_t>();
    }
    __device__ std::int64_t key(std::int32_t loaded, std::int64_t row) const {
        return target_.key(Lines::reader::site(loaded), static_cast<std::int32_t>(row));
    }

private:
    const typename Lines::reader& line_;
    const Target& target_;
};

/// Solves groups of lines that have an unresolved window, one after another per block, unless a sweep solves them.
/// Lanes beyond the last line repeat it; they write the same values to the same cells.
template <ending End, class Lines>
__global__ void __launch_bounds__(short_threads)
    search_unresolved_sites(const Lines lines, const windows cut, const metric<std::int32_t> m,
                            const unresolved_tiles unresolved, const bool sweeps, std::uint32_t* next,
                            const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ packed_point points[];
    const int count = *unresolved.count;
    if (sweeps && count >= least_swept) return;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const auto group = lines.place(cut, unresolved.list[nth]).group;
        // Another window of the group may have assigned it to a block already.
        bool taken = false;
        if (cut.count > 1)
            for (int i = static_cast<int>(threadIdx.y * cuda::warp + threadIdx.x); i < nth;
                 i += blockDim.y * cuda::warp)
                taken |= lines.place(cut, unresolved.list[i]).group.number == group.number;
        if (__syncthreads_or(taken)) continue;
        const int lane = min(static_cast<int>(threadIdx.x), lines.width(group) - 1);
        const auto target = lines.template target<End>(m, next, to, group, lane);
        const typename Lines::reader line(lines, group, lane);
        search_lines(points, lines.rows(), hull_line<Lines, decltype(target)>(line, target),
                     [&](int q, std::int32_t value, std::int64_t key) { target.put_key(q, value, key); });
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
