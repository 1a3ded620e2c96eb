// One search for all instruction sets: a group of neighbouring lines, one per SIMD lane, walks its rows together.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <utility>

#include "exact/host_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The lines of one SIMD vector, and what the search needs of its tile.
template <class V, class K, bool Keyed>
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
        // Farther than the line is long, squares may exceed the numbers.
        if (!t_.rows_ordered || peak <= along(t_.weight, std::min(near_rows, t_.rows - 1))) {
            for (std::int64_t q = 0; q < t_.rows; ++q) store(q, outward<false>(q, 0, t_.rows - 1));
        } else {
            by_halving();
        }
    }

private:
    // Below this distance (in rows) a search outward from every row ends so soon that bounds do not pay.
    static constexpr std::int64_t near_rows = 32;
    // One row for all lanes together costs about as much as this many rows of one lane.
    static constexpr std::int64_t together_gain = 2;

    std::pair<V, V> extremes() const {
        values least = load(0), most = least;
        for (std::int64_t r = 1; r < t_.rows; ++r) {
            const values v = load(r);
            least = hn::Min(least, v), most = hn::Max(most, v);
        }
        return {hn::GetLane(hn::MinOfLanes(of_value, least)), hn::GetLane(hn::MaxOfLanes(of_value, most))};
    }

    values load(std::int64_t row) const { return hn::Load(of_value, t_.value + row * t_.pitch + line_); }

    /// No line has a site: every row keeps what it has.
    void keep_rows() const {
        for (std::int64_t r = 0; r < t_.rows; ++r) {
            if (t_.best != nullptr) hn::StoreU(load(r), of_value, t_.best + r * t_.best_pitch + line_);
            if constexpr (Keyed)
                hn::StoreU(hn::Set(of_key, no_key<K>), of_key, t_.best_key + r * t_.best_pitch + line_);
        }
    }

    values load_winners(std::int64_t row) const { return hn::Load(of_value, t_.winner + row * t_.pitch + line_); }

    /// The ends first, then the middle row, then the middles of both halves, and so on: the winners of the rows above and
    /// below bound the rows to look at, so all queries of one level together look at each row about once.
    void by_halving() {
        const std::int64_t end = t_.rows - 1;
        for (const std::int64_t q : {std::int64_t{0}, end}) {
            const winner w = outward<true>(q, 0, end);
            store(q, w);
            hn::Store(w.row, of_value, t_.winner + q * t_.pitch + line_);
        }
        std::int64_t step = 1;
        while (2 * step < end) step *= 2;
        for (; step > 1; step /= 2) level<true>(step);
        if (end > 1) level<false>(1);
    }

    template <bool KeepWinners>
    void level(std::int64_t step) {
        for (std::int64_t q = step; q < t_.rows - 1; q += 2 * step) {
            if (own_wins<KeepWinners>(q)) continue;
            const values above = load_winners(q - step), below = load_winners(std::min(q + step, t_.rows - 1));
            const auto first = static_cast<std::int64_t>(hn::GetLane(hn::MinOfLanes(of_value, above)));
            const auto last = static_cast<std::int64_t>(hn::GetLane(hn::MaxOfLanes(of_value, below)));
            const auto apart = static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(of_value, hn::Sub(below, above))));
            if (last - first > together_gain * (apart + lanes())) {
                one_by_one<KeepWinners>(q, q - step, std::min(q + step, t_.rows - 1));
                continue;
            }
            const winner w = outward<KeepWinners>(q, first, last);
            store(q, w);
            if constexpr (KeepWinners) hn::Store(w.row, of_value, t_.winner + q * t_.pitch + line_);
        }
    }

    /// Where no neighbour can be nearer in any lane there is nothing to bound or to search.
    template <bool KeepWinners>
    HWY_INLINE bool own_wins(std::int64_t q) const {
        const winner own = start_at<true>(q, q);
        if (!settled(hn::Set(of_value, t_.weight), own)) return false;
        store(q, own);
        if constexpr (KeepWinners) hn::Store(own.row, of_value, t_.winner + q * t_.pitch + line_);
        return true;
    }

    /// The lines of this group have little in common: each looks at its own rows only, so that no image is quadratic.
    template <bool KeepWinners>
    void one_by_one(std::int64_t q, std::int64_t above, std::int64_t below) const {
        for (std::int64_t line = line_; line < line_ + lanes(); ++line) {
            const auto first = static_cast<std::int64_t>(t_.winner[above * t_.pitch + line]);
            const auto last = static_cast<std::int64_t>(t_.winner[below * t_.pitch + line]);
            const auto key_of = [&](std::int64_t r) {
                if constexpr (Keyed)
                    return static_cast<K>(t_.key[r * t_.pitch + line] |
                                          static_cast<K>(static_cast<K>(r) << t_.key_shift));
                else return K{0};
            };
            V value = t_.value[first * t_.pitch + line] + along(t_.weight, q - first);
            K key = key_of(first);
            std::int64_t row = first;
            for (std::int64_t r = first + 1; r <= last; ++r) {
                const V f = t_.value[r * t_.pitch + line] + along(t_.weight, q - r);
                if (nearer(f, key_of(r), value, key)) value = f, key = key_of(r), row = r;
            }
            if (t_.best != nullptr) t_.best[q * t_.best_pitch + line] = std::min(value, no_site<V>());
            if constexpr (Keyed) t_.best_key[q * t_.best_pitch + line] = key;
            if constexpr (KeepWinners) t_.winner[q * t_.pitch + line] = static_cast<V>(row);
        }
    }

    template <bool Rows>
    HWY_INLINE void visit(std::int64_t row, values extra, winner& w) const {
        const values f = hn::Add(load(row), extra);
        const auto less = hn::Lt(f, w.value);
        if constexpr (Keyed) {
            const keys mine = hn::Or(hn::Load(of_key, t_.key + row * t_.pitch + line_),
                                     hn::Set(of_key, static_cast<K>(static_cast<K>(row) << t_.key_shift)));
            const auto ties = hn::And(hn::RebindMask(of_key, hn::Eq(f, w.value)), hn::Lt(mine, w.key));
            const auto wins = hn::Or(hn::RebindMask(of_key, less), ties);
            w.key = hn::IfThenElse(wins, mine, w.key);
        }
        if constexpr (Rows) w.row = hn::IfThenElse(less, hn::Set(of_value, static_cast<V>(row)), w.row);
        w.value = hn::Min(f, w.value);
    }

    /// True when no row at least this far away can change any lane.
    HWY_INLINE bool settled(values extra, const winner& w) const {
        if constexpr (Keyed) return hn::AllTrue(of_value, hn::Lt(w.value, extra));
        else return hn::AllFalse(of_value, hn::Lt(extra, w.value));
    }

    /// What row `start` offers query row q.
    template <bool Rows>
    HWY_INLINE winner start_at(std::int64_t q, std::int64_t start) const {
        winner w{hn::Add(load(start), hn::Set(of_value, along(t_.weight, q - start))),
                 {},
                 hn::Set(of_value, static_cast<V>(start))};
        if constexpr (Keyed)
            w.key = hn::Or(hn::Load(of_key, t_.key + start * t_.pitch + line_),
                           hn::Set(of_key, static_cast<K>(static_cast<K>(start) << t_.key_shift)));
        return w;
    }

    /// Nearest row of [first, last] for query row q, looking at the closest rows first.
    template <bool Rows>
    HWY_INLINE winner outward(std::int64_t q, std::int64_t first, std::int64_t last) const {
        const std::int64_t start = std::clamp(q, first, last);
        winner w = start_at<Rows>(q, start);
        std::int64_t up = start - 1, down = start + 1;
        for (; up >= first && down <= last; --up, ++down) {
            const values extra_up = hn::Set(of_value, along(t_.weight, q - up));
            const values extra_down = hn::Set(of_value, along(t_.weight, down - q));
            if (settled(hn::Min(extra_up, extra_down), w)) return w;
            visit<Rows>(up, extra_up, w);
            visit<Rows>(down, extra_down, w);
        }
        for (; up >= first; --up) {
            const values extra = hn::Set(of_value, along(t_.weight, q - up));
            if (settled(extra, w)) return w;
            visit<Rows>(up, extra, w);
        }
        for (; down <= last; ++down) {
            const values extra = hn::Set(of_value, along(t_.weight, down - q));
            if (settled(extra, w)) return w;
            visit<Rows>(down, extra, w);
        }
        return w;
    }

    void store(std::int64_t q, const winner& w) const {
        if (t_.best != nullptr)
            hn::StoreU(hn::Min(w.value, hn::Set(of_value, no_site<V>())), of_value,
                       t_.best + q * t_.best_pitch + line_);
        if constexpr (Keyed) hn::StoreU(w.key, of_key, t_.best_key + q * t_.best_pitch + line_);
    }

    const tile<V, K>& t_;
    std::int64_t line_;
};

template <class V, class K>
void search(const tile<V, K>& t) {
    if (t.key != nullptr) {
        for (std::int64_t line = 0; line < t.pitch; line += group<V, K, true>::lanes())
            group<V, K, true>(t, line).solve();
    } else {
        for (std::int64_t line = 0; line < t.pitch; line += group<V, K, false>::lanes())
            group<V, K, false>(t, line).solve();
    }
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
        for (std::int64_t i = 0; i < count; ++i) {
            const N apart = static_cast<N>(static_cast<K>(here[i]) - static_cast<K>((key[i] >> shift) & mask));
            const N term = weight * (apart * apart);
            value[i] = static_cast<V>(start ? term : static_cast<N>(value[i]) + term);
        }
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
        if (hn::AllTrue(whole, hn::Lt(v, hn::Set(whole, 1 << 24)))) {
            hn::StoreU(hn::Sqrt(hn::ConvertTo(single, v)), single, out + i);
        } else {
            roots_one_by_one(squared + i, lanes, out + i);
        }
    }
    roots_one_by_one(squared + i, count - i, out + i);
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
template <>
void roots(const std::int32_t* squared, std::int64_t count, double* out) {
    roots_one_by_one(squared, count, out);
}
template <>
void roots(const std::int64_t* squared, std::int64_t count, float* out) {
    roots_one_by_one(squared, count, out);
}
template <>
void roots(const std::int64_t* squared, std::int64_t count, double* out) {
    roots_one_by_one(squared, count, out);
}
template <>
void roots(const double* squared, std::int64_t count, float* out) {
    roots_one_by_one(squared, count, out);
}
template <>
void roots(const double* squared, std::int64_t count, double* out) {
    roots_one_by_one(squared, count, out);
}

}  // namespace nearfield::exact
#endif
