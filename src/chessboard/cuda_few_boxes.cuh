// Boxes of cells, in which few sites can be nearest (cuda_few.cuh), and bounds of distances in them.
#pragma once

#include "chessboard/cuda_marks.cuh"

namespace nearfield::chessboard {
namespace {

/// A site that few_lists has.
struct alignas(16) few_site {
    int at[3];  ///< the last axis first
    int image;
};
/// Lists of few sites (cuda_few.cuh).
struct few_lists {
    std::uint32_t *crowded, *count;
    few_site *sites, *near;    ///< all of them; those of each coarse box
    std::int32_t* near_count;  ///< number of those
    int most, most_near;       ///< room for sites, 0 if they are not listed; room for those of a coarse box

    __device__ bool is_crowded() const { return *static_cast<const volatile std::uint32_t*>(crowded) != 0; }
};

/// The size of a box by axis, the last one first, as exponents.
struct few_size {
    int of[3];
};
/// Sizes of coarse boxes, of a block's fine ones and of a warp's tile.
NF_HD constexpr few_size coarse_size() { return {{6, 6, 6}}; }
NF_HD constexpr few_size fine_size() { return {{5, 4, 4}}; }
NF_HD constexpr few_size tile_size() { return {{4, 3, 3}}; }
constexpr int lanes_across = 4;  ///< of a tile
constexpr int fines_of_coarse = 32;

/// A box of cells, of which `last` are the last ones. It may lie beyond the grid.
struct few_box {
    int first[3], last[3], image;

    __device__ int nearest(const few_site& s, int axis) const {
        return max(max(first[axis] - s.at[axis], s.at[axis] - last[axis]), 0);
    }
    __device__ int farthest(const few_site& s, int axis) const {
        return max(last[axis] - s.at[axis], s.at[axis] - first[axis]);
    }
    template <bool Diagonal, class Term>
    static __device__ int joined(const Term& term) {
        return Diagonal ? max(max(term(0), term(1)), term(2)) : term(0) + term(1) + term(2);
    }
    /// Returns the largest distance of a site in the box.
    template <bool Diagonal>
    __device__ int most(const few_site& s) const {
        return joined<Diagonal>([&](int axis) { return farthest(s, axis); });
    }
    /// Returns the least number of steps along an axis by which a site is farther than another one in the box.
    __device__ int more(const few_site& s, const few_site& than, int axis) const {
        const auto at = [&](int x) { return abs(s.at[axis] - x) - abs(than.at[axis] - x); };
        return min(at(first[axis]), at(last[axis]));
    }
    /// Returns whether a site may be nearer than `best`, whose largest distance is `bound`, to a cell of the box.
    template <bool Diagonal>
    __device__ bool gains(const few_site& s, const few_site& best, int bound) const {
        if (joined<Diagonal>([&](int axis) { return nearest(s, axis); }) >= bound) return false;
        if (best.image < 0) return true;
        if constexpr (!Diagonal) {
            return joined<false>([&](int axis) { return more(s, best, axis); }) < 0;
        } else {
            for (int axis = 0; axis < 3; ++axis) {
                const auto other = [&](int k) { return k == axis ? 0 : farthest(best, k); };
                if (joined<true>(other) <= nearest(s, axis) && more(s, best, axis) >= 0) return false;
            }
            return true;
        }
    }
    /// Returns part `nth` of a box of 2^whole cells along each axis, in parts of 2^part.
    __device__ few_box part(const columns& c, int nth, const few_size& whole, const few_size& size) const {
        few_box one{};
        one.image = image;
        for (int axis = 0; axis < 3; ++axis) {
            const int bits = whole.of[axis] - size.of[axis];
            one.set(c, axis, first[axis] + ((nth & ((1 << bits) - 1)) << size.of[axis]), size.of[axis]);
            nth >>= bits;
        }
        return one;
    }
    __device__ void set(const columns& c, int axis, int from, int bits) {
        first[axis] = from;
        last[axis] = min(from + (1 << bits), static_cast<int>(axis == 0 ? c.n : axis == 1 ? c.height : c.depth)) - 1;
    }
    __device__ bool is_empty() const { return last[0] < first[0] || last[1] < first[1] || last[2] < first[2]; }
};

/// Returns the number of coarse boxes along an axis.
NF_HD inline std::int64_t coarse_along(const columns& c, int axis) {
    return cuda::blocks_for(axis == 0   ? c.n
                            : axis == 1 ? c.height
                                        : c.depth,
                            std::int64_t{1} << coarse_size().of[axis]);
}
NF_HD inline std::int64_t coarse_boxes(const columns& c) {
    return c.images * coarse_along(c, 0) * coarse_along(c, 1) * coarse_along(c, 2);
}
__device__ few_box coarse_box(const columns& c, std::int64_t nth) {
    few_box b{};
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t along = coarse_along(c, axis), rest = cuda::quotient(nth, along);
        b.set(c, axis, static_cast<int>(nth - rest * along) << coarse_size().of[axis], coarse_size().of[axis]);
        nth = rest;
    }
    b.image = static_cast<int>(nth);
    return b;
}

}  // namespace
}  // namespace nearfield::chessboard
