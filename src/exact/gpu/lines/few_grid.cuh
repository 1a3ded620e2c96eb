// The grid of the rung for few sites, its boxes of cells, bounds of a site's value in a box, and the list of sites. See
// few.cu.
#pragma once

#include <cstdint>
#include <type_traits>

#include "exact/gpu/ground/column.cuh"
#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/rows/rows.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int few_threads = 256;
constexpr int few_warps = few_threads / cuda::warp;
constexpr int few_loads = 16;    // loads of a thread before it uses any
constexpr int few_blocks = 512;  // blocks that read the image; those of one round see that sites are many
constexpr int rows_bits = 3;     // rows of a lane: 8
constexpr int lane_rows = 1 << rows_bits;
constexpr int tiles_bits = 4;     // warps' tiles of a fine box: 16
constexpr int boxes_bits = 6;     // fine boxes of a coarse one: 64
constexpr int taken_bits = 2;     // fine boxes that a block takes at once: 4
constexpr int most_near = 8192;   // sites of a coarse box
constexpr int most_found = 512;   // sites of a fine box
constexpr int fullest_bits = 17;  // of the number of a coarse box
static_assert(most_near >> (31 - fullest_bits) == 0);
constexpr int coordinate_bits = 21;
constexpr std::int64_t most_few = std::int64_t{1} << 18;  // bounds the time of coarse boxes, which look at all sites

struct few_box {
    int first[few_axes];  ///< first cell
    int middle[few_axes];
    int half[few_axes];  ///< cells from the middle to the farther end
    int image;
};

/// Sizes of boxes by axis, as exponents.
struct few_shapes {
    int lanes[few_axes]{3, 0, 0}, tile[few_axes]{3, 0, rows_bits}, fine[few_axes]{}, coarse[few_axes]{};
};

/// The grid. Passed to kernels by value.
template <class V>
struct few_grid {
    few_shapes shapes;
    int size[few_axes]{1, 1, 1};
    int around[few_axes]{far_away, far_away, far_away};  ///< the length of a periodic axis
    int most[few_axes]{};                                ///< largest number of cells between two along the axis
    V weight[few_axes]{};
    bool closed[few_axes]{};
    bool half_cell = false, bent = false;
    bool values = false;             ///< distances are wanted, not only sites
    bool only_roots = false;         ///< and only as float32
    std::int64_t boxes[few_axes]{};  ///< coarse boxes along each axis
    int coordinate_of[max_rank]{};   ///< axis of each plane of coordinates; few_axes for one of length 1
    V limit = no_site<V>();

    /// Returns the box of 2^bits cells from `first` on, which begins in the grid.
    __device__ few_box box(const int (&first)[few_axes], const int (&bits)[few_axes], int image) const {
        few_box b{};
        b.image = image;
        for (int a = 0; a < few_axes; ++a) {
            const int last = min(first[a] + (1 << bits[a]), size[a]) - 1;
            b.first[a] = first[a], b.middle[a] = (first[a] + last) / 2, b.half[a] = last - b.middle[a];
        }
        return b;
    }
    __device__ few_box coarse_box(std::int64_t nth) const {
        int first[few_axes];
        for (int a = 0; a < few_axes; ++a) {
            const std::int64_t above = quotient(nth, boxes[a]);
            first[a] = static_cast<int>(nth - above * boxes[a]) << shapes.coarse[a];
            nth = above;
        }
        return box(first, shapes.coarse, static_cast<int>(nth));
    }
    /// Moves `first` to part `nth` of a box of 2^whole cells, whose parts have 2^part; returns whether that begins in
    /// the grid.
    __device__ bool take_part(int (&first)[few_axes], int nth, const int (&whole)[few_axes],
                              const int (&part)[few_axes]) const {
        bool within = true;
        for (int a = 0; a < few_axes; ++a) {
            const int bits = whole[a] - part[a];
            first[a] += (nth & ((1 << bits) - 1)) << part[a];
            nth >>= bits;
            within &= first[a] < size[a];
        }
        return within;
    }

    __device__ V term(int axis, int steps) const {
        return cost(weight[axis], half_cell ? max(2 * steps - 1, 0) : steps);
    }
    __device__ int apart(int axis, int a, int b) const {
        const int straight = abs(a - b);
        return min(straight, around[axis] - straight);
    }
    /// Returns the value of a site in a cell of the box: a lower bound or, if `Far`, an upper one.
    template <bool Far, bool Bent = true>
    __device__ V bound(const few_site<V>& site, const few_box& b) const {
        V sum = site.first;
#pragma unroll
        for (int a = 0; a < few_axes; ++a) {
            const int steps = Bent ? apart(a, site.at[a], b.middle[a]) : abs(site.at[a] - b.middle[a]),
                      bounded = Far ? min(steps + b.half[a], most[a]) : max(steps - b.half[a], 0);
            sum += Bent ? term(a, bounded) : cost(weight[a], bounded);
        }
        return sum;
    }
    /// Returns false if a site is farther than another one from all of a box. Along straight axes the difference of
    /// both values is linear, so that it is least at a corner. The slack exceeds what rounding changes.
    __device__ bool wins_somewhere(const few_site<V>& site, const few_site<V>& other, const few_box& b) const {
        if (bent) return true;
        if constexpr (std::is_same_v<V, std::int32_t>) {  // whole numbers without first values
            std::int32_t more = 0;
            std::uint32_t change = 0;
#pragma unroll
            for (int a = 0; a < few_axes; ++a) {
                const int p = site.at[a] - b.middle[a], q = other.at[a] - b.middle[a];
                more += weight[a] * (p * p - q * q);
                change +=
                    2u * static_cast<std::uint32_t>(weight[a] * abs(p - q)) * static_cast<std::uint32_t>(b.half[a]);
            }
            return more <= 0 || static_cast<std::uint32_t>(more) <= change;
        }
        double more = static_cast<double>(site.first) - static_cast<double>(other.first),
               size = fabs(static_cast<double>(site.first)) + fabs(static_cast<double>(other.first)), change = 0;
#pragma unroll
        for (int a = 0; a < few_axes; ++a) {
            const double p = site.at[a] - b.middle[a], q = other.at[a] - b.middle[a], half = b.half[a];
            const auto w = static_cast<double>(weight[a]);
            more += w * (p * p - q * q), change += 2 * w * fabs(p - q) * half;
            size += w * (p * p + q * q + half * half);
        }
        return !(more > change + 1e-9 * (size + change));  // infinite weights are kept
    }
};

/// Lists in device memory.
template <class V>
struct few_lists : few_sites<V> {
    std::int32_t* next;        ///< the next box to be taken: coarse ones, then fine ones
    std::int32_t* listed;      ///< number of coarse boxes whose sites are listed
    std::int32_t* fullest;     ///< the one with most sites, below their number: see fullest_bits
    std::int32_t* near_count;  ///< number of sites that can win in each coarse box
    std::int32_t* near;        ///< their numbers: most_near each

    __device__ bool gave_up() const { return *static_cast<const volatile std::int32_t*>(this->many) != 0; }
};

template <class V>
__device__ V least_of_lanes(V value) {
    if constexpr (std::is_same_v<V, std::int32_t>) return __reduce_min_sync(cuda::every_lane, value);
    for (int o = cuda::warp / 2; o > 0; o /= 2) value = min(value, __shfl_xor_sync(cuda::every_lane, value, o));
    return value;
}

// ---- the list of sites ----------------------------------------------------------------------------------------------

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
        const int before = cuda::sum_before_in_warp(__popc(sites)),
                  all = __shfl_sync(cuda::every_lane, before + __popc(sites), cuda::warp - 1);
        int place = lane == 0 ? atomicAdd(to.count, all) : 0;
        place = __shfl_sync(cuda::every_lane, place, 0) + before;
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
