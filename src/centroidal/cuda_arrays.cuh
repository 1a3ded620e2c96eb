// Kernels between the caller's arrays and those of a call.
#pragma once

#include "centroidal/cuda_regions.cuh"

namespace nearfield::centroidal {
namespace {

__global__ void __launch_bounds__(threads_of_block)
    widen(const __grid_constant__ strided from, std::int64_t cells, std::uint16_t* to) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < cells) to[i] = from.number_at(i);
}

__global__ void __launch_bounds__(threads_of_block)
    read_sites(const __grid_constant__ problem p, const __grid_constant__ strided from, std::int32_t* site) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= p.sites) return;
    place to{};
    for (int axis = 0; axis < p.axes; ++axis) {
        const std::int64_t u = static_cast<const std::int32_t*>(from.data)[i * from.stride[0] + axis * from.stride[1]],
                           last = p.size[3 - p.axes + axis] - 1;
        to.at[3 - p.axes + axis] = static_cast<std::int32_t>(u < 0 ? 0 : u > last ? last : u);
    }
    site[i] = part_of(p, to);
}

__global__ void __launch_bounds__(threads_of_block)
    write_sites(const __grid_constant__ problem p, const __grid_constant__ arrays a, const __grid_constant__ strided to,
                const __grid_constant__ strided weights) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= p.sites) return;
    const place at = place_of(p, a.site[i]);
    for (int axis = 0; axis < p.axes; ++axis)
        static_cast<std::int32_t*>(to.data)[i * to.stride[0] + axis * to.stride[1]] = at.at[3 - p.axes + axis];
    if (weights.data != nullptr)
        static_cast<std::int64_t*>(weights.data)[i * weights.stride[0]] = static_cast<std::int64_t>(a.sum[i].mass);
}

__global__ void __launch_bounds__(threads_of_block)
    write_energy(const __grid_constant__ problem p, const __grid_constant__ arrays a,
                 const __grid_constant__ strided to) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (k > p.rounds) return;
    const std::int64_t last = *a.settled;
    const uint128 energy = energy_at(a, static_cast<int>(last != 0 && k > last ? last : k));
    auto* const out = static_cast<std::uint64_t*>(to.data) + k * to.stride[0];
    out[0] = static_cast<std::uint64_t>(energy >> 64), out[to.stride[1]] = static_cast<std::uint64_t>(energy);
}

__global__ void __launch_bounds__(threads_of_block)
    write_labels(const __grid_constant__ problem p, const __grid_constant__ arrays a,
                 const __grid_constant__ strided to) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < p.cells()) static_cast<std::int32_t*>(to.data)[to.at(i)] = a.number[a.nearest[middle_of(p, i)]];
}

/// Writes the masses of all regions, one thread per site.
__global__ void __launch_bounds__(threads_of_block)
    write_masses(const __grid_constant__ problem p, const __grid_constant__ arrays a, std::int64_t* to) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < p.sites) to[i] = static_cast<std::int64_t>(a.sum[i].mass);
}

/// Writes a site's seed and power, one thread per site. Powers of other parts are never read.
__global__ void __launch_bounds__(threads_of_block)
    put_powers(std::int64_t sites, const std::int32_t* site, const std::int64_t* own, std::uint8_t* seed,
               std::int64_t* power) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < sites) seed[site[i]] = 1, power[site[i]] = own[i];
}

/// Second moments of a region, as sums that a device can add atomically.
struct region_sums {
    sums of;
    std::uint64_t parts, low[6], high[6];
};

/// Adds the moments of one part per thread.
__global__ void __launch_bounds__(threads_of_block)
    measure_all(const __grid_constant__ problem p, const __grid_constant__ arrays a, region_sums* to) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= p.parts()) return;
    const std::int32_t part = a.nearest[i];
    const place here = place_of(p, i), at = place_of(p, part);
    const auto w = static_cast<std::int64_t>(a.density[cell_of(p, here.at[0], here.at[1], here.at[2])]);
    std::int64_t d[3];
    for (int axis = 0; axis < 3; ++axis) d[axis] = step(p, axis, at.at[axis], here.at[axis]);
    auto* const sum = reinterpret_cast<unsigned long long*>(to + a.number[part]);
    add(sum, w), add(sum + 4, 1);
    for (int axis = 0, k = 0; axis < 3; ++axis) {
        add(sum + 1 + axis, w * d[axis]);
        for (int other = axis; other < 3; ++other, ++k) {
            const std::int64_t term = w * d[axis] * d[other];
            add(sum + 5 + k, term & 0xffffffff), add(sum + 11 + k, term >> 32);
        }
    }
}
static_assert(sizeof(region_sums) == 17 * 8 && sizeof(sums) == 4 * 8);

/// Moves sites from cells to the middle of finer parts, one thread per site.
__global__ void __launch_bounds__(threads_of_block)
    refine_sites(const __grid_constant__ problem p, const __grid_constant__ problem finer, const std::int32_t* from,
                 std::int32_t* to) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < p.sites) to[i] = refined(p, finer, from[i]);
}

}  // namespace
}  // namespace nearfield::centroidal
