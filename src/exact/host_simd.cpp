// One search for all instruction sets: a group of neighbouring lines, one per SIMD lane, walks its rows together.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "base/parallel.hpp"
#include "exact/host_lanes.hpp"
#include "exact/host_simd.hpp"

HWY_BEFORE_NAMESPACE();
#include "exact/host_blocks.hpp"

namespace nearfield::exact::HWY_NAMESPACE {

/// The lines of one SIMD vector, and what the search needs of its tile. `Negative`: values may be, down to the tile's
/// base.
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
        if (t_.window <= near_rows || (!Negative && peak <= t_.term[near_rows])) return every_row();
        if constexpr (std::is_floating_point_v<V>)
            if (!t_.rows_ordered) return by_blocks();
        by_halving();
    }

private:
    // Below this distance (in rows) a search outward from every row ends so soon that bounds do not pay.
    static constexpr std::int64_t near_rows = 32;
    // One row for all lanes together costs about as much as this many rows of one lane.
    static constexpr std::int64_t together_gain = 2;
    // A stop is heard after at most so many rows that settle among their neighbours, or steps of another search: 1 ms.
    static constexpr std::int64_t rows_between_asking = 1 << 13, steps_between_asking = 1 << 17;

    /// Each row for itself. In dense images most settle before they look at their first neighbour.
    void every_row() {
        const values next = hn::Set(of_value, t_.term[1]);
        const std::int64_t end = last_query();
        for (std::int64_t from = t_.first_query; from <= end; from += rows_between_asking) {
            for (std::int64_t q = from; q < std::min(from + rows_between_asking, end + 1); ++q) {
                winner own{load(q), {}, {}};
                if constexpr (Keyed) own.key = load_key(q);
                store(q, settled(next, own) ? own : outward<false>(q, first(q), last(q)));
            }
            if (from + rows_between_asking <= end) ask();
        }
    }

    /// Asks the callback whether the call is to go on.
    void ask() const {
        if (t_.team != nullptr) t_.team->go_on(0);
    }

    /// For rows whose winners do not bound each other because sums are rounded: each row for itself, but blocks of
    /// rows that cannot win are passed over. The rows that won for the row before are offered first. The least (value,
    /// key) of all rows does not depend on the order.
    void by_blocks() {
        const row_blocks<V, K, Keyed> blocks(t_, line_);
        V before[tile_align / sizeof(V)];
        std::fill(before, before + lanes(), static_cast<V>(t_.first_query));
        std::int64_t steps = 0;
        for (std::int64_t q = t_.first_query; q <= last_query(); ++q) {
            winner w{load(q), {}, hn::Set(of_value, static_cast<V>(q))};
            if constexpr (Keyed) w.key = load_key(q);
            if (!settled(hn::Set(of_value, t_.term[1]), w)) offer_again(q, before, w);
            for (const bool down : {true, false}) {
                std::int64_t row = down ? q - 1 : q + 1;
                for (std::int64_t left = down ? q - first(q) : last(q) - q; left > 0;) {
                    if (++steps % steps_between_asking == 0) ask();
                    const values extra = hn::Set(of_value, t_.term[std::abs(row - q)]);
                    if (settled(extra, w)) break;
                    int level = blocks.level_at(down ? row + 1 : row, left);
                    const auto start = [&] { return down ? row + 1 - blocks.rows_of(level) : row; };
                    while (level > 0 && blocks.may_win(level, start(), extra, w.value, w.key)) --level;
                    if (level == 0) visit<true, true>(row, extra, w);
                    left -= blocks.rows_of(level);
                    row += down ? -blocks.rows_of(level) : blocks.rows_of(level);
                }
            }
            store(q, w);
            hn::StoreU(w.row, of_value, before);
        }
    }

    /// Offers row q, lane by lane, the row of `rows` or what is nearest to it within the window.
    void offer_again(std::int64_t q, const V* rows, winner& w) const {
        V value[tile_align / sizeof(V)], row[tile_align / sizeof(V)];
        K key[tile_align / sizeof(V)];
        for (std::int64_t i = 0; i < lanes(); ++i) {
            const std::int64_t r = std::clamp(static_cast<std::int64_t>(rows[i]), first(q), last(q));
            const V own = t_.value[r * t_.pitch + line_ + i];
            value[i] = r == q ? own : own + t_.term[std::abs(r - q)];
            row[i] = static_cast<V>(r);
            if constexpr (Keyed) key[i] = t_.key[r * t_.pitch + line_ + i];
        }
        keys mine{};
        if constexpr (Keyed) mine = hn::LoadU(of_key, key);
        offer<true, true>(hn::LoadU(of_value, value), mine, hn::LoadU(of_value, row), w);
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

    /// The ends first, then the middle row, then the middles of both halves, and so on: the winners of the rows above
    /// and below bound the rows to look at, so all queries of one level together look at each row about once.
    void by_halving() {
        for (const std::int64_t q : {t_.first_query, last_query()}) {
            const winner w = outward<true>(q, first(q), last(q));
            store(q, w);
            store_winners(q, w.row);
        }
        std::int64_t step = 1;
        while (2 * step < t_.queries - 1) step *= 2;
        for (; step > 1; step /= 2) {
            level<true>(step);
            if (t_.queries / step > rows_between_asking) ask();
        }
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

    /// Offers w what a row is worth. `Rows`: its number is kept too, where its value is less or, with `Ties`, its key.
    template <bool Rows, bool Ties>
    HWY_INLINE void offer(values f, keys mine, values row, winner& w) const {
        const auto less = hn::Lt(f, w.value);
        auto kept = less;
        if constexpr (Keyed) {
            const auto ties = hn::And(hn::RebindMask(of_key, hn::Eq(f, w.value)), hn::Lt(mine, w.key));
            const auto wins = hn::Or(hn::RebindMask(of_key, less), ties);
            w.key = hn::IfThenElse(wins, mine, w.key);
            if constexpr (Ties) kept = hn::RebindMask(of_value, wins);
        }
        if constexpr (Rows) w.row = hn::IfThenElse(kept, row, w.row);
        w.value = hn::Min(f, w.value);
    }

    template <bool Rows, bool Ties = false>
    HWY_INLINE void visit(std::int64_t row, values extra, winner& w) const {
        keys mine{};
        if constexpr (Keyed) mine = load_key(row);
        offer<Rows, Ties>(hn::Add(load(row), extra), mine, hn::Set(of_value, static_cast<V>(row)), w);
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

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(search_int32);
HWY_EXPORT(search_int64);
HWY_EXPORT(search_float64);

void search_tile(const tile<std::int32_t, std::int32_t>& t) { HWY_DYNAMIC_DISPATCH(search_int32)(t); }
void search_tile(const tile<std::int64_t, std::int64_t>& t) { HWY_DYNAMIC_DISPATCH(search_int64)(t); }
void search_tile(const tile<double, std::int64_t>& t) { HWY_DYNAMIC_DISPATCH(search_float64)(t); }

}  // namespace nearfield::exact
#endif
