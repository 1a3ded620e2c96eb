// One search for all instruction sets: a group of neighbouring lines, one per SIMD lane, walks its rows together.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <utility>

#include "exact/host_lanes.hpp"
#include "exact/host_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {

/// The lines of one SIMD vector, and what the search needs of its tile. `Negative`: values may be, down to the tile's base.
template <class V, class K, bool Keyed, bool Negative>
class group {
    using value_tag = hn::CappedTag<V, tile_align / sizeof(V)>;
    using key_tag = hn::Rebind<K, value_tag>;
    using values = hn::Vec<value_tag>;
    using keys = hn::Vec<key_tag>;
    static constexpr value_tag of_value{};
    static constexpr key_tag of_key{};

    /// Nearest row found so far for one query row.
    struct winner {
        values value;
        keys key;
        values row;  // as V: rows of a tile are exact in it
    };

public:
    static std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(of_value)); }

    group(const tile<V, K>& t, std::int64_t first_line) : t_(t), line_(first_line) {}

    void solve() {
        const auto [least, peak] = extremes();
        if (least >= no_site<V>()) return keep_rows();
        if (!t_.rows_ordered || t_.window <= near_rows || (!Negative && peak <= t_.term[near_rows])) {
            every_row();
        } else {
            by_halving();
        }
    }

private:
    // Below this distance (in rows) a search outward from every row ends so soon that bounds do not pay.
    static constexpr std::int64_t near_rows = 32;
    // One row for all lanes together costs about as much as this many rows of one lane.
    static constexpr std::int64_t together_gain = 2;

    /// Each row for itself. In dense images most settle before they look at their first neighbour.
    void every_row() {
        const values next = hn::Set(of_value, t_.term[1]);
        const std::int64_t end = last_query();
        for (std::int64_t q = t_.first_query; q <= end; ++q) {
            winner own{load(q), {}, {}};
            if constexpr (Keyed) own.key = load_key(q);
            store(q, settled(next, own) ? own : outward<false>(q, first(q), last(q)));
        }
    }

    std::int64_t last_query() const { return t_.first_query + t_.queries - 1; }
    std::int64_t first(std::int64_t q) const { return std::max<std::int64_t>(q - t_.window, 0); }
    std::int64_t last(std::int64_t q) const { return std::min(q + t_.window, t_.rows - 1); }

    std::pair<V, V> extremes() const {
        values least = load(0), most = least;
        for (std::int64_t r = 1; r < t_.rows; ++r) {
            const values v = load(r);
            least = hn::Min(least, v), most = hn::Max(most, v);
        }
        return {hn::GetLane(hn::MinOfLanes(of_value, least)), hn::GetLane(hn::MaxOfLanes(of_value, most))};
    }

    values load(std::int64_t row) const { return hn::Load(of_value, t_.value + row * t_.pitch + line_); }
    keys load_key(std::int64_t row) const { return hn::Load(of_key, t_.key + row * t_.pitch + line_); }

    /// No line has a site: every row keeps what it has.
    void keep_rows() const {
        for (std::int64_t q = t_.first_query; q <= last_query(); ++q)
            store(q, winner{load(q), hn::Set(of_key, no_key<K>), load(q)});
    }

    values load_winners(std::int64_t row) const { return hn::Load(of_value, t_.winner + row * t_.pitch + line_); }
    void store_winners(std::int64_t q, values row) const { hn::Store(row, of_value, t_.winner + q * t_.pitch + line_); }

    /// The ends first, then the middle row, then the middles of both halves, and so on: the winners of the rows above and
    /// below bound the rows to look at, so all queries of one level together look at each row about once.
    void by_halving() {
        for (const std::int64_t q : {t_.first_query, last_query()}) {
            const winner w = outward<true>(q, first(q), last(q));
            store(q, w);
            store_winners(q, w.row);
        }
        std::int64_t step = 1;
        while (2 * step < t_.queries - 1) step *= 2;
        for (; step > 1; step /= 2) level<true>(step);
        if (t_.queries > 2) level<false>(1);
    }

    template <bool KeepWinners>
    void level(std::int64_t step) {
        for (std::int64_t q = t_.first_query + step; q < last_query(); q += 2 * step) {
            if (own_wins<KeepWinners>(q)) continue;
            const std::int64_t next = std::min(q + step, last_query());
            const values above = load_winners(q - step), below = load_winners(next);
            const auto from =
                std::max(static_cast<std::int64_t>(hn::GetLane(hn::MinOfLanes(of_value, above))), first(q));
            const auto to = std::min(static_cast<std::int64_t>(hn::GetLane(hn::MaxOfLanes(of_value, below))), last(q));
            const auto between =
                static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(of_value, hn::Sub(below, above))));
            if (to - from > together_gain * (between + lanes())) {
                one_by_one<KeepWinners>(q, q - step, next);
                continue;
            }
            const winner w = outward<KeepWinners>(q, from, to);
            store(q, w);
            if constexpr (KeepWinners) store_winners(q, w.row);
        }
    }

    /// Where no neighbour can be nearer in any lane there is nothing to bound or to search.
    template <bool KeepWinners>
    HWY_INLINE bool own_wins(std::int64_t q) const {
        const winner own = start_at(q, q);
        if (!settled(hn::Set(of_value, t_.term[1]), own)) return false;
        store(q, own);
        if constexpr (KeepWinners) store_winners(q, own.row);
        return true;
    }

    /// The lines of this group have little in common: each looks at its own rows only, so that no image is quadratic.
    template <bool KeepWinners>
    void one_by_one(std::int64_t q, std::int64_t above, std::int64_t below) const {
        for (std::int64_t line = line_; line < line_ + lanes(); ++line) {
            const auto from = std::max(static_cast<std::int64_t>(t_.winner[above * t_.pitch + line]), first(q));
            const auto to = std::min(static_cast<std::int64_t>(t_.winner[below * t_.pitch + line]), last(q));
            const auto offer_of = [&](std::int64_t r) {
                return t_.value[r * t_.pitch + line] + t_.term[r < q ? q - r : r - q];
            };
            const auto key_of = [&](std::int64_t r) {
                if constexpr (Keyed) return t_.key[r * t_.pitch + line];
                else return K{0};
            };
            V value = offer_of(from);
            K key = key_of(from);
            std::int64_t row = from;
            for (std::int64_t r = from + 1; r <= to; ++r) {
                const V f = offer_of(r);
                if (nearer(f, key_of(r), value, key)) value = f, key = key_of(r), row = r;
            }
            const std::int64_t at = (q - t_.first_query) * t_.best_pitch + line;
            if (t_.best != nullptr) t_.best[at] = std::min(value, no_site<V>());
            if constexpr (Keyed) t_.best_key[at] = key;
            if constexpr (KeepWinners) t_.winner[q * t_.pitch + line] = static_cast<V>(row);
        }
    }

    template <bool Rows>
    HWY_INLINE void visit(std::int64_t row, values extra, winner& w) const {
        const values f = hn::Add(load(row), extra);
        const auto less = hn::Lt(f, w.value);
        if constexpr (Keyed) {
            const keys mine = load_key(row);
            const auto ties = hn::And(hn::RebindMask(of_key, hn::Eq(f, w.value)), hn::Lt(mine, w.key));
            const auto wins = hn::Or(hn::RebindMask(of_key, less), ties);
            w.key = hn::IfThenElse(wins, mine, w.key);
        }
        if constexpr (Rows) w.row = hn::IfThenElse(less, hn::Set(of_value, static_cast<V>(row)), w.row);
        w.value = hn::Min(f, w.value);
    }

    /// True when no row that adds `extra` or more can change any lane.
    HWY_INLINE bool settled(values extra, const winner& w) const {
        if constexpr (Negative) extra = hn::Add(extra, hn::Set(of_value, t_.base));
        if constexpr (Keyed) return hn::AllTrue(of_value, hn::Lt(w.value, extra));
        else return hn::AllFalse(of_value, hn::Lt(extra, w.value));
    }

    /// What row `start` offers query row q.
    HWY_INLINE winner start_at(std::int64_t q, std::int64_t start) const {
        const V extra = t_.term[q < start ? start - q : q - start];
        winner w{hn::Add(load(start), hn::Set(of_value, extra)), {}, hn::Set(of_value, static_cast<V>(start))};
        if constexpr (Keyed) w.key = load_key(start);
        return w;
    }

    /// Rows q + apart * direction and on, up to `most` rows away from q.
    template <bool Rows>
    HWY_INLINE winner one_way(std::int64_t q, std::int64_t direction, std::int64_t apart, std::int64_t most,
                              winner w) const {
        for (; apart <= most; ++apart) {
            const values extra = hn::Set(of_value, t_.term[apart]);
            if (settled(extra, w)) return w;
            visit<Rows>(q + apart * direction, extra, w);
        }
        return w;
    }

    /// Nearest row of [from, to] for query row q, looking at the closest rows first.
    template <bool Rows>
    HWY_INLINE winner outward(std::int64_t q, std::int64_t from, std::int64_t to) const {
        if (q < from) return one_way<Rows>(q, 1, from - q + 1, to - q, start_at(q, from));
        if (q > to) return one_way<Rows>(q, -1, q - to + 1, q - from, start_at(q, to));
        winner w{load(q), {}, hn::Set(of_value, static_cast<V>(q))};
        if constexpr (Keyed) w.key = load_key(q);
        const std::int64_t above = q - from, below = to - q, both = std::min(above, below);
        for (std::int64_t apart = 1; apart <= both; ++apart) {
            const values extra = hn::Set(of_value, t_.term[apart]);
            if (settled(extra, w)) return w;
            visit<Rows>(q - apart, extra, w);
            visit<Rows>(q + apart, extra, w);
        }
        return above > below ? one_way<Rows>(q, -1, both + 1, above, w) : one_way<Rows>(q, 1, both + 1, below, w);
    }

    void store(std::int64_t q, const winner& w) const {
        const std::int64_t at = (q - t_.first_query) * t_.best_pitch + line_;
        if (t_.best != nullptr) hn::StoreU(hn::Min(w.value, hn::Set(of_value, no_site<V>())), of_value, t_.best + at);
        if constexpr (Keyed) hn::StoreU(w.key, of_key, t_.best_key + at);
    }

    const tile<V, K>& t_;
    std::int64_t line_;
};

template <bool Keyed, bool Negative, class V, class K>
void search_groups(const tile<V, K>& t) {
    using one = group<V, K, Keyed, Negative>;
    for (std::int64_t line = 0; line < t.pitch; line += one::lanes()) one(t, line).solve();
}
template <class V, class K>
void search(const tile<V, K>& t) {
    if constexpr (sizeof(V) == 8) {  // the numbers of power diagrams
        if (t.negative) return t.key != nullptr ? search_groups<true, true>(t) : search_groups<false, true>(t);
    }
    t.key != nullptr ? search_groups<true, false>(t) : search_groups<false, false>(t);
}
void search_int32(const tile<std::int32_t, std::int32_t>& t) { search(t); }
void search_int64(const tile<std::int64_t, std::int64_t>& t) { search(t); }
void search_float64(const tile<double, std::int64_t>& t) { search(t); }

template <class V>
struct wrapping {
    using type = std::make_unsigned_t<V>;
};
template <>
struct wrapping<double> {
    using type = double;
};

// Plain loops: the compiler turns them into this instruction set's vectors.
template <class V, class K>
void values_from(const metric<V>& m, int first, const K* HWY_RESTRICT key, const std::int64_t* const* at,
                 std::int64_t count, V* HWY_RESTRICT value) {
    // What "no site" unpacks to may overflow before it is replaced; unsigned numbers may.
    using N = typename wrapping<V>::type;
    const auto add = [&](int axis, bool start) {
        const std::int64_t* HWY_RESTRICT here = at[axis];
        const int shift = m.keys.shift[axis];
        const K mask = static_cast<K>((std::make_unsigned_t<K>{1} << m.keys.bits[axis]) - 1);
        const N weight = static_cast<N>(m.weight[axis]);
        const auto sum_up = [&](const auto& steps_of) {
            for (std::int64_t i = 0; i < count; ++i) {
                const N steps = static_cast<N>(
                    steps_of(static_cast<K>(static_cast<K>(here[i]) - static_cast<K>((key[i] >> shift) & mask))));
                const N term = weight * (steps * steps);
                value[i] = static_cast<V>(start ? term : static_cast<N>(value[i]) + term);
            }
        };
        if (!m.periodic[axis] && !m.half_cell) return sum_up([](K difference) { return difference; });
        const K size = static_cast<K>(m.size[axis]);
        const bool periodic = m.periodic[axis], half_cell = m.half_cell;
        sum_up([=](K difference) {
            const K direct = difference < 0 ? static_cast<K>(-difference) : difference;
            const K steps = periodic ? std::min<K>(direct, static_cast<K>(size - direct)) : direct;
            return half_cell ? std::max<K>(static_cast<K>(2 * steps - 1), 0) : steps;
        });
    };
    add(m.rank - 1, true);
    for (int axis = m.rank - 2; axis >= first; --axis) add(axis, false);
    for (std::int64_t i = 0; i < count; ++i) value[i] = key[i] == no_key<K> ? no_site<V>() : value[i];
}
void values_int32(const metric<std::int32_t>& m, int first, const std::int32_t* key, const std::int64_t* const* at,
                  std::int64_t count, std::int32_t* value) {
    values_from(m, first, key, at, count, value);
}
void values_int64(const metric<std::int64_t>& m, int first, const std::int64_t* key, const std::int64_t* const* at,
                  std::int64_t count, std::int64_t* value) {
    values_from(m, first, key, at, count, value);
}
void values_float64(const metric<double>& m, int first, const std::int64_t* key, const std::int64_t* const* at,
                    std::int64_t count, double* value) {
    values_from(m, first, key, at, count, value);
}

/// A root in double, rounded. Integers below 2^24 are floats, whose correctly rounded root is the same number.
void roots_int32(const std::int32_t* squared, std::int64_t count, float* out) {
    const hn::ScalableTag<std::int32_t> whole;
    const hn::Rebind<float, decltype(whole)> single;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(whole));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto v = hn::LoadU(whole, squared + i);
        const auto exact = hn::Lt(v, hn::Set(whole, 1 << 24));
        const auto none = hn::Eq(v, hn::Set(whole, no_site<std::int32_t>()));
        if (hn::AllTrue(whole, hn::Or(exact, none))) {
            const auto root = hn::Sqrt(hn::ConvertTo(single, v));
            const auto infinite = hn::Set(single, std::numeric_limits<float>::infinity());
            hn::StoreU(hn::IfThenElse(hn::RebindMask(single, none), infinite, root), single, out + i);
        } else {
            roots_one_by_one(squared + i, 1, lanes, out + i);
        }
    }
    roots_one_by_one(squared + i, 1, count - i, out + i);
}

/// The same of values in other units: in double, half as many at a time.
void roots_scaled(const std::int32_t* squared, double unit2, std::int64_t count, float* out) {
    const hn::ScalableTag<double> precise;
    const hn::Rebind<std::int32_t, decltype(precise)> whole;
    const hn::Rebind<float, decltype(precise)> single;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(precise));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto v = hn::LoadU(whole, squared + i);
        const auto none = hn::Eq(v, hn::Set(whole, no_site<std::int32_t>()));
        const auto root = hn::Sqrt(hn::Mul(hn::Set(precise, unit2), hn::PromoteTo(precise, v)));
        const auto infinite = hn::Set(single, std::numeric_limits<float>::infinity());
        hn::StoreU(hn::IfThenElse(hn::RebindMask(single, none), infinite, hn::DemoteTo(single, root)), single, out + i);
    }
    roots_one_by_one(squared + i, unit2, count - i, out + i);
}

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(search_int32);
HWY_EXPORT(search_int64);
HWY_EXPORT(search_float64);
HWY_EXPORT(values_int32);
HWY_EXPORT(values_int64);
HWY_EXPORT(values_float64);
HWY_EXPORT(roots_int32);
HWY_EXPORT(roots_scaled);

void search_tile(const tile<std::int32_t, std::int32_t>& t) { HWY_DYNAMIC_DISPATCH(search_int32)(t); }
void search_tile(const tile<std::int64_t, std::int64_t>& t) { HWY_DYNAMIC_DISPATCH(search_int64)(t); }
void search_tile(const tile<double, std::int64_t>& t) { HWY_DYNAMIC_DISPATCH(search_float64)(t); }

void values_of_keys(const metric<std::int32_t>& m, int first, const std::int32_t* key, const std::int64_t* const* at,
                    std::int64_t count, std::int32_t* value) {
    HWY_DYNAMIC_DISPATCH(values_int32)(m, first, key, at, count, value);
}
void values_of_keys(const metric<std::int64_t>& m, int first, const std::int64_t* key, const std::int64_t* const* at,
                    std::int64_t count, std::int64_t* value) {
    HWY_DYNAMIC_DISPATCH(values_int64)(m, first, key, at, count, value);
}
void values_of_keys(const metric<double>& m, int first, const std::int64_t* key, const std::int64_t* const* at,
                    std::int64_t count, double* value) {
    HWY_DYNAMIC_DISPATCH(values_float64)(m, first, key, at, count, value);
}

template <>
void roots(const std::int32_t* squared, std::int64_t count, float* out) {
    HWY_DYNAMIC_DISPATCH(roots_int32)(squared, count, out);
}
void roots_in_units(const std::int32_t* squared, double unit2, std::int64_t count, float* out) {
    HWY_DYNAMIC_DISPATCH(roots_scaled)(squared, unit2, count, out);
}

template <>
void roots(const std::int32_t* squared, std::int64_t count, double* out) {
    roots_one_by_one(squared, 1, count, out);
}
template <>
void roots(const std::int64_t* squared, std::int64_t count, float* out) {
    roots_one_by_one(squared, 1, count, out);
}
template <>
void roots(const std::int64_t* squared, std::int64_t count, double* out) {
    roots_one_by_one(squared, 1, count, out);
}
template <>
void roots(const double* squared, std::int64_t count, float* out) {
    roots_one_by_one(squared, 1, count, out);
}
template <>
void roots(const double* squared, std::int64_t count, double* out) {
    roots_one_by_one(squared, 1, count, out);
}

}  // namespace nearfield::exact
#endif
