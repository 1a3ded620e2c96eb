// What the kernels of the engine with options share: the rules of a problem, and the state along any line.
#pragma once

#include "exact/cuda_common.cuh"
#include "exact/cuda_options_gate.cuh"
#include "exact/cuda_options_marks.hpp"

namespace nearfield::exact {

/// All that decides about values. Passed to kernels by value.
template <class V>
struct rules {
    metric<V> m;
    V limit = no_site<V>();      ///< larger values mean no site
    const V* initial = nullptr;  ///< of a power diagram: values that sites start from, a cell each
    const V* values =
        nullptr;  ///< of a power diagram with sites: kept beside the state, since looking up weights is slow
    V* next_values = nullptr;       ///< where a pass leaves them
    const V* extremes = nullptr;    ///< of a power diagram's weights, negated: the least, and the largest magnitude
    double largest = 0, ratio = 0;  ///< of a power diagram in double: bound of the terms, and see winners_ordered

    /// No value is smaller than this, whatever terms are still to come.
    __device__ V least() const { return extremes == nullptr ? V{0} : extremes[0]; }

    /// Whether winners bound each other, see plan::rows_ordered; in double the weights of a power diagram count too.
    __device__ bool winners_ordered(const pass& g) const {
        if constexpr (std::is_floating_point_v<V>)
            if (extremes != nullptr) return (largest + extremes[1]) / m.weight[g.axis] < ratio;
        return g.rows_ordered;
    }

    /// Value of the packed site `key` seen from the packed coordinates `own`, over axes from `first` on; `start` is
    /// the first cell of the image.
    template <class K>
    __device__ V value(K key, K own, int first, std::int64_t start = 0) const {
        if (key == no_key<K>) return no_site<V>();
        V sum = initial == nullptr ? V{0} : initial[element(key, first, start)];
        for (int axis = m.rank - 1; axis >= first; --axis)
            sum += m.between(axis, static_cast<steps<V>>(m.keys.coordinate(own, axis)),
                             static_cast<steps<V>>(m.keys.coordinate(key, axis)));
        return sum;
    }
    /// Element of the site `key` in a contiguous image; axes before `first` are those of element `start`.
    template <class K>
    __device__ std::int64_t element(K key, int first, std::int64_t start) const {
        std::int64_t within = 0;
        for (int axis = first; axis < m.rank; ++axis)
            within = within * m.size[axis] + static_cast<std::int64_t>(m.keys.coordinate(key, axis));
        return start + within;
    }
};

/// Rows farther than this never matter along an axis: there are none, or the limit forbids them.
template <class V>
std::int64_t radius_of(const rules<V>& by, int axis) {
    std::int64_t low = 0, high = by.m.periodic[axis] ? by.m.size[axis] / 2 : by.m.size[axis] - 1;
    while (low < high) {
        const std::int64_t middle = (low + high + 1) / 2;
        if (by.m.term(axis, static_cast<steps<V>>(middle)) > by.limit) high = middle - 1;
        else low = middle;
    }
    return low;
}

/// Values and packed sites along one line of a pass; like line_reader, for all rules. Rows may be `rows` too small or
/// too large along a periodic axis.
template <class V, class K, bool Keyed>
class any_line {
    using state = state_of<V, K, Keyed>;

public:
    __device__ any_line(const rules<V>& by, const pass& g, const state* cells, std::int64_t column)
        : by_(by), inner_(g.inner), rows_(g.rows), axis_(g.axis), periodic_(by.m.periodic[g.axis]), cells_(cells) {
        const std::int64_t outer = quotient(column, g.inner);
        std::int64_t rest = column - outer * g.inner;
        start_ = outer * g.rows * g.inner;
        first_cell_ = start_ + rest;
        if constexpr (Keyed)
            for (int axis = by.m.rank - 1; axis > g.axis; --axis) {
                const std::int64_t above = quotient(rest, by.m.size[axis]);
                own_ = by.m.keys.with(own_, axis, rest - above * by.m.size[axis]);
                rest = above;
            }
    }

    __device__ std::int64_t wrapped(std::int64_t row) const {
        if (periodic_) row += row < 0 ? rows_ : row >= rows_ ? -rows_ : 0;
        return row;
    }
    __device__ bool has(std::int64_t row) const {
        return periodic_ ? row >= -rows_ && row < 2 * rows_ : row >= 0 && row < rows_;
    }
    __device__ std::int64_t cell(std::int64_t row) const { return first_cell_ + row * inner_; }
    __device__ state load(std::int64_t row) const { return cells_[cell(wrapped(row))]; }
    __device__ V value(state s, std::int64_t row) const { return value_at(s, wrapped(row)); }
    __device__ K key(state s, std::int64_t row) const {
        if constexpr (Keyed) return key_at(s, wrapped(row));
        else return K{0};
    }
    // The same for a row that needs no wrapping.
    __device__ state load_at(std::int64_t row) const { return cells_[cell(row)]; }
    __device__ V value_at(state s, std::int64_t row) const {
        if constexpr (!Keyed) return s;
        else if (by_.values != nullptr) return by_.values[cell(row)];
        else return by_.value(s, own_, axis_ + 1);
    }
    __device__ K key_at(K s, std::int64_t row) const { return by_.m.keys.with(s, axis_, row); }
    [[nodiscard]] __device__ std::int64_t rows() const { return rows_; }
    /// Packed coordinates, along this axis and those after it, of the line's own cell in a row.
    __device__ K own(std::int64_t row) const { return by_.m.keys.with(own_, axis_, row); }
    __device__ std::int64_t start() const { return start_; }
    __device__ V term(std::int64_t apart) const { return by_.m.term(axis_, static_cast<steps<V>>(apart)); }

    /// Lowest and highest row that can win for row q: along a periodic axis half the way round is the farthest.
    __device__ std::int64_t lowest(std::int64_t q) const { return periodic_ ? q - rows_ / 2 : 0; }
    __device__ std::int64_t highest(std::int64_t q) const { return periodic_ ? q + rows_ / 2 : rows_ - 1; }

private:
    const rules<V>& by_;
    std::int64_t inner_, rows_;
    int axis_;
    bool periodic_;
    const state* cells_;
    std::int64_t start_ = 0, first_cell_ = 0;
    K own_ = 0;
};

/// The state of a cell whose best value and site are these.
template <class V, class K, bool Keyed>
__device__ state_of<V, K, Keyed> state_for(const rules<V>& by, V value, K key) {
    const bool found = value < no_site<V>() && !(value > by.limit);
    if constexpr (Keyed) return found ? key : no_key<K>;
    else return found ? value : no_site<V>();
}

/// Cells to the nearest marks on either side of cell i of a word. Sites: the cell's own mark counts to both sides.
/// Changes: a mark stands on the first cell that is different, so the cell before it is the one on the left.
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
    /// Where that is, seen from cell x of a line of `rows`: the smaller coordinate of two equally near ones.
    __device__ std::int64_t where(std::int64_t x, std::int64_t rows) const {
        std::int64_t l = x - left, r = x + right;
        if (l < 0) l += rows;
        if (r >= rows) r -= rows;
        return left < right ? l : right < left ? r : min(l, r);
    }
};

}  // namespace nearfield::exact
