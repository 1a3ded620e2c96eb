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

/// Loads, builds, merges and walks. It is one function, because the phases share the block's barriers and the reader's
/// registers.
template <class Lines, class Target>
__device__ __forceinline__ void solve_by_hulls(packed_point* points, int rows, const typename Lines::reader& line,
                                               const Target& target) {
    const int bands = static_cast<int>(blockDim.y), band = static_cast<int>(threadIdx.y);
    const int from = band * band_rows, end = min(from + band_rows, rows);
#pragma unroll 8
    for (int r = from; r < end; ++r) {
        const std::int32_t loaded = line.load(r), value = Lines::reader::is_site(loaded)
                                                              ? min(Lines::value(loaded), packed_none)
                                                              : packed_none;
        points[r * cuda::warp + threadIdx.x] = {static_cast<std::uint32_t>(value + r * r) << row_bits |
                                                static_cast<std::uint32_t>(r)};
    }
    const auto key_of = [&](packed_point p) { return target.key(Lines::reader::site(line.load(p.row())), p.row()); };
    packed_hull hull(points, reinterpret_cast<std::uint16_t*>(points + rows * cuda::warp));
    // Within a band rows differ by less than 32 and heights by less than 2^22: products fit 32 bits.
    build_band<std::int32_t>(hull, band, end - from);
    __syncthreads();
    for (int step = 1; step < bands; step *= 2) {
        if (band % (2 * step) == 0 && band + step < bands)
            merge_bands(hull, band, band + step, min(band + 2 * step, bands));
        __syncthreads();
    }
    walk(hull, bands, from, end, key_of,
         [&](int q, std::int32_t value, std::int64_t key) { target.put_key(q, value, key); });
}

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
        solve_by_hulls<Lines>(points, lines.rows(), line, target);
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
