// Kernels of questions to basins that are kept: the tree of basins comes from the host as one value a basin.
#pragma once

#include <bit>

#include "base/cuda_by_warp.cuh"
#include "watershed/cuda_cells.cuh"
#include "watershed/host_tree.hpp"

namespace nearfield::watersheds {

using word = unsigned long long;  // the type that CUDA's 64-bit atomics take

/// Numbers basins anew.
static __global__ void __launch_bounds__(threads_of_block)
    renumber(const __grid_constant__ work w, const std::int32_t* number) {
    const std::int32_t place = place_of_thread();
    if (place < w.where.places && w.basin[place] != nowhere) w.basin[place] = -2 - number[-2 - w.basin[place]];
}

/// Marks the lowest cells of some basins. One thread handles four cells, as in write_cut().
static __global__ void __launch_bounds__(threads_of_block)
    mark_lowest(const __grid_constant__ work w, const std::int32_t* key, const std::uint64_t* top,
                const std::uint8_t* marked) {
    const quad own(w.where);
    std::int32_t code[cells_of_thread], here[cells_of_thread];
    std::uint8_t found[cells_of_thread];
    own.read(w.basin + own.place, code), own.read(key + own.place, here);
    own.each([&](int i) {
        found[i] = code[i] != nowhere && here[i] == key_in(top[-2 - code[i]]) ? marked[-2 - code[i]] : std::uint8_t{0};
    });
    own.write(w.extrema, found);
}

/// Separates merged basins. The edges are the passes of the tree of basins; their end points are written anew.
static __global__ void __launch_bounds__(threads_of_block)
    separate(const __grid_constant__ work w, const std::int32_t* into, const std::uint64_t* top, std::int64_t basins) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= basins) return;
    const auto own = static_cast<std::int32_t>(i);
    w.best[i] = no_key, w.top[i] = w.heights ? top[i] : no_key, w.up[i] = own, w.pass[i] = 0;
    w.edge_a[i] = own, w.edge_b[i] = into[i] < 0 ? own : into[i];
    if (i == 0) w.count[basins_found] = w.count[edges_found] = static_cast<std::uint32_t>(basins);
}

/// Writes the labels of a cut, given the label in it for each label of the watershed from all minima.
static __global__ void __launch_bounds__(threads_of_block)
    write_cut(const __grid_constant__ work w, const std::int32_t* label, const std::int32_t* in_cut) {
    const quad own(w.where);
    std::int32_t found[cells_of_thread];
    own.read(label + own.place, found);
    own.each([&](int i) { found[i] = in_cut[found[i]]; });
    own.write(w.label, found);
}

/// Finds which basins keep a region of their own in a cut by height.
template <class Value>
__global__ void __launch_bounds__(threads_of_block)
    keep_regions(const __grid_constant__ work w, const std::int32_t* into, const std::int32_t* pass,
                 const std::uint64_t* top, std::int64_t basins, std::uint32_t* keeps) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= basins) return;
    keeps[i] = into[i] < 0 || w.least.reached<Value>(exact_key<Value>(w, key_in(top[i])), exact_key<Value>(w, pass[i]));
}
/// Writes what write_cut() needs, given for each basin the number of regions before its own.
static __global__ void __launch_bounds__(threads_of_block)
    name_regions(const __grid_constant__ work, const std::int32_t* into, const std::uint32_t* before,
                 const std::int32_t* minima, std::int64_t count, std::int32_t* in_cut) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i == 0) in_cut[0] = 0;
    if (i >= count) return;
    std::int32_t basin = minima[i];
    while (before[basin + 1] == before[basin]) basin = into[basin];
    in_cut[i + 1] = static_cast<std::int32_t>(before[basin]) + 1;
}

/// Reads the basins and the keys of listed places.
static __global__ void __launch_bounds__(threads_of_block)
    read_cells(const __grid_constant__ work w, const std::int32_t* keys, const std::int32_t* place, std::int64_t count,
               std::int32_t* basin, std::int32_t* key) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < count) basin[i] = w.basin[place[i]], key[i] = keys[place[i]];
}
/// Replaces ranks by 64-bit keys.
static __global__ void __launch_bounds__(threads_of_block)
    read_exact(const __grid_constant__ work w, const std::int32_t* rank, std::int64_t count, std::int64_t* key) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < count) key[i] = w.exact[rank[i]];
}

/// Finds the largest finite absolute value; bits of doubles that are not negative have their order.
template <class Value>
__global__ void __launch_bounds__(threads_of_block)
    find_largest(const __grid_constant__ work w, const std::int32_t* key, word* to) {
    const std::int32_t place = place_of_thread();
    double value = 0;
    if (place < w.where.places && w.basin[place] != nowhere)
        value = fabs(static_cast<double>(value_of<Value>(turned(exact_key<Value>(w, key[place]), w.maxima))));
    if (!(value <= 1.7976931348623157e308)) value = 0;
    for (int by = cuda::warp / 2; by > 0; by /= 2) {
        const double other = __shfl_xor_sync(cuda::every_lane, value, by);
        value = max(value, other);
    }
    if (threadIdx.x % cuda::warp == 0 && value > 0) atomicMax(to, std::bit_cast<word>(value));
}

/// The tree and the lakes of lakes_of_tree, with keys of 32 bits.
struct lakes_on_device {
    const std::int32_t *into, *pass, *first, *end;
    word* sums;  ///< of each lake three: cells, the lower 32 bits of values, the others
    double factor;
};
inline constexpr int places_of_filler = 32;
struct lake_sums {
    std::int64_t of[3] = {0, 0, 0};
    __device__ void reduce() {
        for (std::int64_t& each : of)
            for (int by = cuda::warp / 2; by > 0; by /= 2) each += __shfl_xor_sync(cuda::every_lane, each, by);
    }
};
/// Returns the first lake that covers a cell.
__device__ inline std::int32_t lake_of(const lakes_on_device& l, std::int32_t basin, std::int32_t key) {
    while (l.into[basin] >= 0 && l.pass[basin] <= key) basin = l.into[basin];
    std::int32_t low = l.first[basin], high = l.first[basin + 1] - 1;  // the first lake that ends above the cell
    while (low < high) {
        const std::int32_t middle = low + (high - low) / 2;
        if (l.end[middle] > key) high = middle;
        else low = middle + 1;
    }
    return low;
}

/// Sums of lakes that a block has met. Many cells of all blocks lie in few lakes, for which they would compete.
struct lake_table {
    static constexpr int size = 512, most_tries = 8;
    std::int32_t lake[size];
    word sums[3 * size];

    __device__ void clear() {
        for (int i = static_cast<int>(threadIdx.x); i < size; i += threads_of_block) lake[i] = nowhere;
        for (int i = static_cast<int>(threadIdx.x); i < 3 * size; i += threads_of_block) sums[i] = 0;
        __syncthreads();
    }
    __device__ void add(const lakes_on_device& l, std::int32_t to, const lake_sums& of) {
        word* sum = l.sums + 3 * static_cast<std::int64_t>(to);
        unsigned slot = (static_cast<unsigned>(to) * 0x9e3779b1U >> 16) % size;
        for (int tries = 0; tries < most_tries; ++tries, slot = (slot + 1) % size) {
            const std::int32_t old = atomicCAS(lake + slot, nowhere, to);
            if (old != nowhere && old != to) continue;
            sum = sums + 3 * slot;
            break;
        }
        for (int i = 0; i < 3; ++i) atomicAdd(sum + i, static_cast<word>(of.of[i]));
    }
    __device__ void put(const lakes_on_device& l) {
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < 3 * size; i += threads_of_block)
            if (lake[i / 3] != nowhere) atomicAdd(l.sums + 3 * static_cast<std::int64_t>(lake[i / 3]) + i % 3, sums[i]);
    }
};

/// Adds every cell to its lake. A thread handles some places, 32 apart, and adds them up while the lake is the same.
template <class Value>
__global__ void __launch_bounds__(threads_of_block)
    fill_lakes(const __grid_constant__ work w, const std::int32_t* keys, const __grid_constant__ lakes_on_device l) {
    __shared__ lake_table table;
    table.clear();
    const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x,
                       first = thread / cuda::warp * cuda::warp * places_of_filler + thread % cuda::warp;
    const auto put = [&](std::int32_t to, const lake_sums& of) { table.add(l, to, of); };
    std::int32_t lake = nowhere;
    lake_sums held;
    for (int i = 0; i < places_of_filler; ++i) {
        const std::int64_t place = first + i * cuda::warp;
        const bool cell = place < w.where.places && w.basin[place] != nowhere;
        const std::int32_t key = cell ? keys[place] : 0, own = cell ? lake_of(l, -2 - w.basin[place], key) : lake;
        if (__any_sync(cuda::every_lane, own != lake && lake != nowhere ? 1 : 0) != 0)
            cuda::put_by_warp(own != lake ? lake : nowhere, nowhere, held, put);
        if (own != lake) lake = own, held = {};
        if (!cell) continue;
        const std::int64_t value = summand_of<Value>(exact_key<Value>(w, key), w.maxima, l.factor);
        ++held.of[0], held.of[1] += value & 0xffffffff, held.of[2] += value >> 32;
    }
    cuda::put_by_warp(lake, nowhere, held, put);
    table.put(l);
}

}  // namespace nearfield::watersheds
