// The list of sites of the rung for few sites. See few.cu.
#pragma once

#include "exact/gpu/lines/few_grid.cuh"
#include "exact/gpu/rows/first_values.cuh"

namespace nearfield::exact::gpu {
namespace {

/// The image, and the weights of a power diagram.
template <class V>
struct few_source {
    elements image;
    bool nonzero, weighted;
    weighted_sites from;
    metric<V> m;
    std::int64_t cells;

    template <class Bits, class At>
    __device__ std::uint32_t sites_among(const At& at) const {
        const Bits keep = static_cast<Bits>(image.floating ? static_cast<Bits>(~Bits{0}) >> 1 : ~Bits{0});
        const Bits* const data = reinterpret_cast<const Bits*>(image.data);
        Bits read[few_loads];
#pragma unroll
        for (int k = 0; k < few_loads; ++k) read[k] = data[min(at(k), cells - 1)] & keep;
        std::uint32_t found = 0;
#pragma unroll
        for (int k = 0; k < few_loads; ++k)
            if (at(k) < cells) found |= ((read[k] != 0) == nonzero ? 1u : 0u) << k;
        return found;
    }
    /// Returns a bit for each of the cells at(0), at(1), ... that is a site.
    template <class At>
    __device__ std::uint32_t sites(const At& at) const {
        if (weighted && !from.contiguous) {
            std::uint32_t found = 0;
            for (int k = 0; k < few_loads; ++k)
                if (at(k) < cells && !is_zero(from.bits(m, at(k)), image.bytes, image.floating)) found |= 1u << k;
            return found;
        }
        switch (image.bytes) {
            case 1: return sites_among<std::uint8_t>(at);
            case 2: return sites_among<std::uint16_t>(at);
            case 4: return sites_among<std::uint32_t>(at);
            default: return sites_among<std::uint64_t>(at);
        }
    }
};

/// Clears the counters, unless so many of 4,096 cells are sites that sites cannot be few. If this errs, only time is
/// lost. One block; the golden ratio spreads its cells evenly over the image and over each axis.
template <class V>
__global__ void __launch_bounds__(few_threads) sample_sites(const few_source<V> of, const few_lists<V> to) {
    constexpr std::int64_t all = few_threads * few_loads;
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    const int own = __popc(of.sites([&](int k) {
        const double at = 0.61803398874989485 * (static_cast<int>(threadIdx.x) + k * few_threads);
        return static_cast<std::int64_t>((at - floor(at)) * static_cast<double>(of.cells));
    }));
    if (own != 0) atomicAdd(&found, own);
    __syncthreads();
    if (threadIdx.x != 0) return;
    const bool many = found > all / 128 + 4 * all * to.most / of.cells;
    *to.count = many ? to.most + 1 : 0, *to.many = many ? 1 : 0;
    *to.next = *to.listed = *to.fullest = 0;
}

template <class V>
__global__ void __launch_bounds__(few_threads)
    list_sites(const few_source<V> of, const few_grid<V> g, const few_lists<V> to) {
    constexpr std::int64_t share = few_threads * few_loads;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    for (std::int64_t start = blockIdx.x * share; start < of.cells; start += gridDim.x * share) {
        if (*static_cast<const volatile std::int32_t*>(to.count) > to.most) return;
        std::uint32_t sites = of.sites([&](int k) { return start + threadIdx.x + k * few_threads; });
        if (!__any_sync(cuda::every_lane, sites != 0)) continue;
        int before = __popc(sites);
        for (int o = 1; o < cuda::warp; o *= 2) {
            const int other = __shfl_up_sync(cuda::every_lane, before, o);
            if (lane >= o) before += other;
        }
        const int all = __shfl_sync(cuda::every_lane, before, cuda::warp - 1);
        int place = lane == 0 ? atomicAdd(to.count, all) : 0;
        place = __shfl_sync(cuda::every_lane, place, 0) + before - __popc(sites);
        for (; sites != 0 && place < to.most; sites &= sites - 1, ++place) {
            const std::int64_t cell = start + threadIdx.x + (__ffs(static_cast<int>(sites)) - 1) * few_threads;
            few_site<V> site{};
            std::int64_t rest = cell;
            for (int a = 0; a < few_axes; ++a) {
                const std::int64_t above = quotient(rest, g.size[a]);
                site.at[a] = static_cast<int>(rest - above * g.size[a]);
                rest = above;
            }
            site.image = static_cast<int>(rest);
            if (of.weighted) site.first = of.from.first(of.m, cell);
            if (site.first >= no_site<V>()) site.image = -1;  // it owns no cell
            to.sites[place] = site;
        }
    }
}

}  // namespace
}  // namespace nearfield::exact::gpu
