// The grid of the rung for few sites, its boxes of cells, and bounds of a site's value in a box. See few.cu.
#pragma once

#include <cstdint>
#include <type_traits>

#include "exact/gpu/ground/column.cuh"
#include "exact/gpu/ground/few_sites.hpp"

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

}  // namespace
}  // namespace nearfield::exact::gpu
