// Search for the winners of a few neighbouring rows among the rows between two known winners.
//
// A candidate row r costs G(r) + w (m - r)^2 in row m. Winners are monotone along a line under any tie rule: if b > a
// beats or ties a at m, it beats a at every later row, since the difference falls strictly. In double the same holds
// while w exceeds twice the rounding error of a value (plan::rows_ordered). Terms of half cells, (2d - 1)^2, are convex
// too.
//
// A row's own site, the sites of both bounds, and the ends of its run limit the distance of its winner. Rows of other
// runs are candidates as all others: they cost strictly more than the end of the run before them, so they never win.
#pragma once

#include "exact/gpu/ground/column.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int few_rows_between = 6;    // up to this number, rows are searched without a bound of the winner's distance
constexpr int group = 32;              // rows with a common least value in long searches
constexpr int many_rows_between = 48;  // from this number on, groups are tested first

/// Keys of a lane's line, staged or in device memory. One pointer for both halves the code of a strip.
template <class C>
struct keys_of_line {
    static constexpr int together = 2;  ///< keys that a search loads before it looks at the first
    const typename C::in* keys;         ///< key of row `base`
    std::int64_t step;                  ///< keys from a row to the next
    int base;
    const C& c;
    __device__ typename C::K operator()(int row) const {
        int i = row - base;
        if (C::bent && c.joined()) i = wrapped(i, c.rows());
        return keys[i * step];
    }
};
template <class C>
struct far_keys {
    static constexpr int together = 4;
    const C& c;
    __device__ typename C::K operator()(int row) const {
        return __ldg(static_cast<const typename C::in*>(c.g.from) + c.cell(c.row_in(row)));
    }
};

/// The candidates of a lane's strip if these are few.
struct listed_rows {
    const std::uint8_t* rows = nullptr;  ///< relative to `first`, 32 apart; null: all rows between are candidates
    int first = 0, count = 0;
};

/// The rows of a search, and its bounds.
template <int Count>
struct searched_rows {
    int first;      ///< first of Count rows
    int low, high;  ///< winners lie between these rows
    run_ends ends[Count];
    listed_rows listed{};
    int nth = 0, parts = 1;  ///< a part of the candidates: the first + nth, + parts, ...
};

/// Bound of the winners: no candidate outside [low, high] wins or ties in any of the rows, and none costs more than
/// `most`.
template <class V>
struct search_range {
    int low, high;
    V most;
};

template <int Count, class C, class Keys>
__device__ search_range<typename C::V> range_of(const C& c, const Keys& at, const searched_rows<Count>& rows,
                                                const typename C::K (&own)[Count]) {
    using V = typename C::V;
    search_range<V> range{rows.low, rows.high, top<V>()};
    if (C::bent && c.joined()) {
        range.low = max(range.low, rows.first - c.rows() / 2);
        range.high = min(range.high, rows.first + Count - 1 + c.rows() / 2);
    }
    if (C::labels && c.g.ordered) {
        int low = rows.ends[0].low, high = rows.ends[0].high;
#pragma unroll
        for (int i = 1; i < Count; ++i) low = min(low, rows.ends[i].low), high = max(high, rows.ends[i].high);
        range.low = max(range.low, low), range.high = min(range.high, high);
    }
    const int between = range.high - range.low;
    if (between < few_rows_between) return range;
    int low = far_away, high = -far_away;
    range.most = c.g.extremes == nullptr ? V{0} : c.g.extremes[0];
#pragma unroll
    for (int i = 0; i < Count; ++i) {
        const int m = min(rows.first + i, c.rows() - 1);
        V mine = min(c.beside(own[i], m), c.g.limit);
        if constexpr (C::labels) {
            if (rows.ends[i].low > -far_away) mine = min(mine, c.term(m - rows.ends[i].low));
            if (rows.ends[i].high < far_away) mine = min(mine, c.term(m - rows.ends[i].high));
        }
        if (Count == 1 || between >= many_rows_between) {
            mine = min(mine, c.value(c.beside(at(range.low), range.low), m - range.low));
            mine = min(mine, c.value(c.beside(at(range.high), range.high), m - range.high));
        }
        const int reach = c.reach(mine);
        low = min(low, m - reach), high = max(high, m + reach), range.most = max(range.most, mine);
    }
    range.low = max(range.low, low), range.high = min(range.high, high);
    return range;
}

/// Calls relax(row, key) for row_of(i) of the numbers low, low + step and so on up to `high`.
template <class Keys, class RowOf, class Relax>
__device__ void relax_rows(const Keys& at, int low, int high, int step, const RowOf& row_of, const Relax& relax) {
#pragma unroll 1
    for (int i = low; i <= high; i += Keys::together * step) {
        int row[Keys::together];
        decltype(at(0)) key[Keys::together];
#pragma unroll
        for (int k = 0; k < Keys::together; ++k)  // the last one may come more than once, without effect
            row[k] = row_of(min(i + k * step, high)), key[k] = at(row[k]);
#pragma unroll
        for (int k = 0; k < Keys::together; ++k) relax(row[k], key[k]);
    }
}

/// Calls relax(row, key) for the rows of a range that can win: all, or of a long range those of groups whose least
/// value in `least` does not exclude it.
template <int Count, class C, class Keys, class Relax, class Best>
__device__ void search_range_of(const C& c, const Keys& at, const float* least, const searched_rows<Count>& rows,
                                const search_range<typename C::V>& range, const Best& worst, const Relax& relax) {
    const bool by_groups = least != nullptr && range.high - range.low >= many_rows_between;
    const int m = rows.first, last_row = c.rows() - 1, step = by_groups ? 1 : rows.parts;
    float limit = by_groups ? upper_bound(range.most) : 0;
    int j = 0;
#pragma unroll 1
    for (int r = range.low + (by_groups ? 0 : rows.nth); r <= range.high; ++j) {
        int end = range.high;
        bool wins = true;
        if (by_groups) {
            const int row = c.row_in(r), g = row / group;
            end = min(range.high, r - row + min(g * group + group - 1, last_row));
            const int away = max(max(r - (m + Count - 1), m - end), 0);
            const float value = least[g * cuda::warp];
            wins = (j & (rows.parts - 1)) == rows.nth && value < endless() && value + c.nearly(away) <= limit;
        }
        if (wins) {
            relax_rows(at, r, end, step, [](int row) { return row; }, relax);
            if (by_groups) limit = min(limit, upper_bound(worst()));
        }
        r = end + 1;
    }
}

/// Considers an end of the run of row m. In rounded numbers a row of another run may tie; the end then wins if that
/// row's site belongs to another class.
template <class C>
__device__ void consider_end(const C& c, winner<typename C::V, typename C::K>& best, int m, int end) {
    const auto value = c.term(m - end);
    if (C::values) return consider(c, best, value, c.here(), end);
    bool better = precedes(value, C::tie(c.here()), best.value, C::tie(best.key));
    if (value == best.value && c.here() == best.key) better = c.row_in(end) < c.row_in(best.row);
    if constexpr (std::is_floating_point_v<typename C::V>)
        if (value == best.value && best.key < c.here() && best.key >= 0 && m < c.rows())
            better = !c.differ(best.key, best.row, m);
    if (better) best = {value, c.here(), end};
}

/// Finds the winners of Count rows.
template <int Count, class C, class Keys>
__device__ void search(const C& c, const Keys& at, const float* least, const searched_rows<Count>& rows,
                       winner<typename C::V, typename C::K> (&best)[Count]) {
    using V = typename C::V;
    using K = typename C::K;
    K own[Count];
    bool sites = !C::powers;
#pragma unroll
    for (int i = 0; i < Count; ++i) {
        own[i] = at(min(rows.first + i, c.rows() - 1));
        sites &= own[i] == c.here();
        best[i] = {top<V>(), std::numeric_limits<K>::max(), rows.first + i};
    }
    if (sites) {
#pragma unroll
        for (int i = 0; i < Count; ++i) best[i] = {V{0}, own[i], rows.first + i};
        return;
    }
    const auto relax = [&](int r, K key) {
        const V beside = c.beside(key, r);
#pragma unroll
        for (int i = 0; i < Count; ++i) consider(c, best[i], c.value(beside, rows.first + i - r), key, r);
    };
    if (!C::labels && rows.listed.rows != nullptr) {
        const listed_rows& list = rows.listed;
        relax_rows(at, 0, list.count - 1, 1, [&](int k) { return list.first + list.rows[k * cuda::warp]; }, relax);
    } else {
        const auto worst = [&] {
            V most = best[0].value;
#pragma unroll
            for (int i = 1; i < Count; ++i) most = max(most, best[i].value);
            return most;
        };
        search_range_of<Count>(c, at, least, rows, range_of<Count>(c, at, rows, own), worst, relax);
    }
    if constexpr (C::labels) {
#pragma unroll
        for (int i = 0; i < Count; ++i) {
            if (rows.ends[i].low > -far_away) consider_end(c, best[i], rows.first + i, rows.ends[i].low);
            if (rows.ends[i].high < far_away) consider_end(c, best[i], rows.first + i, rows.ends[i].high);
        }
    }
#pragma unroll
    for (int i = 0; i < Count; ++i)
        if (best[i].value >= no_site<V>() || best[i].value > c.g.limit)
            best[i] = {no_site<V>(), no_key<K>, rows.first + i};
}

}  // namespace
}  // namespace nearfield::exact::gpu
