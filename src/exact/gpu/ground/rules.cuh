// Definitions that kernels of the engine with options share: the rules of a problem, and the state along any line.
#pragma once

#include "exact/gpu/ground/common.cuh"
#include "exact/gpu/ground/marks.hpp"

namespace nearfield::exact {

/// Everything that determines values. Passed to kernels by value.
template <class V>
struct rules {
    metric<V> m;
    V limit = no_site<V>();      ///< larger values mean no site
    const V* initial = nullptr;  ///< first values of a power diagram's sites, one per cell

    /// Returns the value of the packed site `key` at the packed coordinates `own`, over axes from `first` on; `start`
    /// is the first cell of the image.
    template <class K>
    __device__ V value(K key, K own, int first, std::int64_t start = 0) const {
        if (key == no_key<K>) return no_site<V>();
        V sum = initial == nullptr ? V{0} : initial[element(key, first, start)];
        for (int axis = m.rank - 1; axis >= first; --axis)
            sum += m.between(axis, static_cast<steps<V>>(m.keys.coordinate(own, axis)),
                             static_cast<steps<V>>(m.keys.coordinate(key, axis)));
        return sum;
    }
    /// Returns the element of the site `key` in a contiguous image; axes before `first` are those of element `start`.
    template <class K>
    __device__ std::int64_t element(K key, int first, std::int64_t start) const {
        std::int64_t within = 0;
        for (int axis = first; axis < m.rank; ++axis)
            within = within * m.size[axis] + static_cast<std::int64_t>(m.keys.coordinate(key, axis));
        return start + within;
    }
};

/// Cells to the nearest marks on either side of cell i of a word. Sites: the cell's own mark counts for both sides.
/// Changes: a mark stands on the first cell that differs, so the cell before it is the one on the left.
struct gaps {
    std::uint32_t left, right;

    __device__ gaps(std::uint32_t bits, std::uint32_t to_before, std::uint32_t to_after, int i, bool changes) {
        const std::uint32_t upto = bits << (31 - i), beyond = changes ? (i < 31 ? bits >> (i + 1) : 0) : bits >> i;
        const auto extra = static_cast<std::uint32_t>(changes);
        left = upto                   ? static_cast<std::uint32_t>(__clz(static_cast<int>(upto))) + extra
               : to_before == no_mark ? no_mark
                                      : to_before + static_cast<std::uint32_t>(i) + extra;
        right = beyond                ? static_cast<std::uint32_t>(__ffs(static_cast<int>(beyond))) - 1 + extra
                : to_after == no_mark ? no_mark
                                      : to_after - static_cast<std::uint32_t>(i);
    }
    __device__ bool none() const { return left == no_mark && right == no_mark; }
    __device__ std::uint32_t nearest() const { return min(left, right); }
    /// Returns the position of that mark for cell x of a line of `rows`: the smaller coordinate of two equally near.
    __device__ std::int64_t where(std::int64_t x, std::int64_t rows) const {
        std::int64_t l = x - left, r = x + right;
        if (l < 0) l += rows;
        if (r >= rows) r -= rows;
        return left < right ? l : right < left ? r : min(l, r);
    }
};

}  // namespace nearfield::exact
