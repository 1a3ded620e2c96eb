#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host/lines.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <type_traits>

#include "base/parallel.hpp"
#include "exact/host/lines.hpp"
#include "exact/host_lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {

/// Rows that search together: one test that is hard to predict for all. 192x256x256 with 16 bits, blocks of 4 and 8:
/// 13, 9 ms.
constexpr int block = 8;
/// Steps to either side before pivots are cheaper.
constexpr std::int64_t patience = 24;
/// Rows from pivot to pivot.
constexpr std::int64_t strip = 16;
/// Lines in which no more rows have a site need no pivots: each site is offered to all rows.
constexpr std::size_t few_sites = 6;
/// Rows between pivots' winners from which a block's own first and last winner are looked for.
constexpr std::int64_t many_rows = 64;
/// Blocks after which the call is asked whether it is to go on.
constexpr std::int64_t blocks_between_asking = 1024;

template <class T>
class line_group {
    using tag_of = hn::CappedTag<T, 64 / sizeof(T)>;
    using values = hn::Vec<tag_of>;
    static constexpr tag_of tag{};
    static constexpr T infinite = number<T>::infinite;
    /// Rows are kept in a lane as their distance from the query, plus this.
    static constexpr std::int64_t zero_at = sizeof(T) == 2 ? 32768 : std::int64_t{1} << 29;

public:
    line_group(const line_tile<T>& t, std::int64_t column)
        : t_(t), l_(*t.lists), term_(t.terms->get()), value_(t.value + column), column_(column), n_(t.rows) {}

    static constexpr std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(tag)); }

    template <bool First>
    void solve() {
        std::int64_t m = 0, asked = 0;
        for (; m + block <= n_; m += block) {
            solve_block<block, First>(m);
            if (++asked % blocks_between_asking == 0) t_.team->go_on(0);
        }
        for (; m + 2 <= n_; m += 2) solve_block<2, First>(m);
        for (; m < n_; ++m) solve_block<1, First>(m);
    }

private:
    // ---- rows -------------------------------------------------------------------------------------------------------

    [[nodiscard]] HWY_INLINE std::int64_t row(std::int64_t r) const {
        if (t_.periodic) return r < 0 ? r + n_ : r >= n_ ? r - n_ : r;
        return std::clamp<std::int64_t>(r, 0, n_ - 1);
    }
    HWY_INLINE values at(std::int64_t r) const { return hn::LoadU(tag, value_ + row(r) * t_.pitch); }
    static HWY_INLINE values sum(values a, values b) {
        if constexpr (sizeof(T) == 2) return hn::SaturatedAdd(a, b);
        else return hn::Add(a, b);
    }
    static HWY_INLINE bool none_above(values v, values bound) {
        return hn::AllTrue(tag, hn::Eq(hn::Max(v, bound), bound));
    }
    static HWY_INLINE auto less(values a, values b) { return hn::Not(hn::Eq(hn::Max(a, b), a)); }
    static T largest(values v) { return hn::GetLane(hn::MaxOfLanes(tag, v)); }
    static T least(values v) { return hn::GetLane(hn::MinOfLanes(tag, v)); }
    HWY_INLINE values offer(std::int64_t r, std::int64_t query) const {
        return sum(at(r), hn::Set(tag, term_[r < query ? query - r : r - query]));
    }
    template <int R>
    static HWY_INLINE values most_of(const values (&best)[R]) {
        values most = best[0];
        for (int i = 1; i < R; ++i) most = hn::Max(most, best[i]);
        return most;
    }

    /// Rows of [from, to] that have a site in some lane.
    template <class Body>
    HWY_INLINE void each_site(std::int64_t from, std::int64_t to, const Body& body) const {
        if (t_.periodic) {
            for (std::int64_t r = from; r <= to; ++r) body(r);
            return;
        }
        if (from > to) return;
        const std::int64_t count = static_cast<std::int64_t>(l_.sites.size());
        for (std::int64_t i = l_.next[static_cast<std::size_t>(from)]; i < count; ++i) {
            const std::int64_t r = l_.sites[static_cast<std::size_t>(i)];
            if (r > to) return;
            body(r);
        }
    }

    // ---- a block of rows --------------------------------------------------------------------------------------------

    template <int R, bool First>
    HWY_INLINE void solve_block(std::int64_t m) {
        values best[R];
#pragma GCC unroll 8
        for (int i = 0; i < R; ++i) {
            best[i] = at(m + i);
            if constexpr (First) best[i] = hn::Min(best[i], hn::LoadU(tag, t_.first + (m + i) * t_.pitch + column_));
        }
        if (pivots_ready_ || !outward<R>(m, patience, best)) among_pivots<R>(m, best);
#pragma GCC unroll 8
        for (int i = 0; i < R; ++i) hn::StoreU(best[i], tag, t_.best + (m + i) * t_.pitch + column_);
    }

    /// Offers the rows up to `limit` steps away on both sides; false where farther ones may still win. Beyond an end
    /// the last row is offered again for more than it costs, which never wins.
    template <int R>
    HWY_INLINE bool outward(std::int64_t m, std::int64_t limit, values (&best)[R]) const {
        const std::int64_t farthest = t_.periodic ? n_ / 2 : std::max(m + R - 1, n_ - 1 - m);
        const std::int64_t last = std::min(farthest, t_.terms->window());
        for (std::int64_t k = 1;;) {
            if (k > last || none_above(most_of(best), hn::Set(tag, term_[k]))) return true;
            if (k > limit) return false;
            if (m - k - 1 >= 0 && m + R + k < n_) {
                for (int twice = 0; twice < 2; ++twice, ++k) {
                    const values term = hn::Set(tag, term_[k]);
                    const T* const above = value_ + (m - k) * t_.pitch;
                    const T* const below = value_ + (m + k) * t_.pitch;
#pragma GCC unroll 8
                    for (int i = 0; i < R; ++i) {
                        const values nearer =
                            hn::Min(hn::LoadU(tag, above + i * t_.pitch), hn::LoadU(tag, below + i * t_.pitch));
                        best[i] = hn::Min(best[i], sum(nearer, term));
                    }
                }
            } else {
                const values term = hn::Set(tag, term_[k]);
                for (int i = 0; i < R; ++i)
                    best[i] = hn::Min(best[i], sum(hn::Min(at(m + i - k), at(m + i + k)), term));
                ++k;
            }
        }
    }

    template <int R>
    HWY_NOINLINE void among_pivots(std::int64_t m, values (&best)[R]) {
        if (!pivots_ready_) find_pivots();
        if (few_) return offer_sites<R>(m, 0, n_ - 1, best);
        const auto j = static_cast<std::size_t>(m / strip);
        const auto next = std::min(static_cast<std::size_t>((m + R - 1) / strip + 1), l_.high.size() - 1);
        std::int64_t from = l_.low[j], to = l_.high[next];
        // Searching outward takes three operations for two rows and needs no winners.
        const std::int64_t cheaper = std::clamp<std::int64_t>((to - from) / 3, 2, n_);
        if (largest(most_of(best)) <= term_[cheaper]) {
            (void)outward<R>(m, n_ + block, best);
            return;
        }
        if (to - from > many_rows) {
            const span first = winners(m, from, to);
            const span last = winners(m + R - 1, std::max(from, std::min(first.low, to)), to);
            from = std::max(from, first.low), to = std::min(to, last.high);
        }
        offer_sites<R>(m, from, to, best);
    }

    template <int R>
    HWY_INLINE void offer_sites(std::int64_t m, std::int64_t from, std::int64_t to, values (&best)[R]) const {
        const std::int64_t steps = t_.terms->steps_within(largest(most_of(best)));
        each_site(std::max(from, m - steps), std::min(to, m + R - 1 + steps), [&](std::int64_t r) {
            const values v = at(r);
#pragma GCC unroll 8
            for (int i = 0; i < R; ++i) {
                const std::int64_t apart = r < m + i ? m + i - r : r - m - i;
                best[i] = hn::Min(best[i], sum(v, hn::Set(tag, term_[apart])));
            }
        });
    }

    // ---- pivots -----------------------------------------------------------------------------------------------------

    /// Least and largest winning row over the lanes.
    struct span {
        std::int64_t low, high;
    };

    /// Of row m, among rows [from, to]; more rows never hurt.
    span winners(std::int64_t m, std::int64_t from, std::int64_t to) const {
        const values infinity = hn::Set(tag, infinite);
        values best = at(m), who = hn::Set(tag, static_cast<T>(zero_at));
        const auto take = [&](std::int64_t r) {
            const values v = offer(r, m);
            who = hn::IfThenElse(less(v, best), hn::Set(tag, static_cast<T>(zero_at + r - m)), who);
            best = hn::Min(best, v);
        };
        // No winner is farther than half a turn: a row that is has a copy nearer by.
        if (t_.periodic) from = std::max(from, m - n_ / 2), to = std::min(to, m + n_ / 2);
        std::int64_t steps = t_.terms->steps_within(static_cast<T>(infinite - 1));
        if (sizeof(T) == 2) from = std::max(from, m - steps), to = std::min(to, m + steps);
        const span given{from, to};
        if (from <= to) take(from), take(to);
        steps = t_.terms->steps_within(largest(best));
        each_site(std::max(from, m - steps), std::min(to, m + steps), take);
        const auto none = hn::Not(less(best, infinity));
        // A lane that saturates here need not do so elsewhere: nothing but the reach of 16 bits bounds its winners.
        if (sizeof(T) == 2 && !hn::AllFalse(tag, none)) return given;
        const T low = least(hn::IfThenElse(none, hn::Set(tag, static_cast<T>(2 * zero_at - 1)), who));
        const T high = largest(hn::IfThenElse(none, hn::Zero(tag), who));
        if (hn::AllTrue(tag, none)) return {axis_terms<T>::beyond, -axis_terms<T>::beyond};
        return {static_cast<std::int64_t>(low) - zero_at + m, static_cast<std::int64_t>(high) - zero_at + m};
    }

    HWY_NOINLINE void find_pivots() {
        pivots_ready_ = true;
        list_sites();
        if (few_) return;
        if (t_.periodic) {
            // Pivot `last` stands for row n, the first one again.
            const auto last = static_cast<std::size_t>((n_ + strip - 1) / strip);
            l_.low.assign(last + 1, 0), l_.high.assign(last + 1, 0);
            set_pivot(0, winners(0, -(n_ / 2), n_ / 2));
            set_pivot(last, {l_.low[0] + n_, l_.high[0] + n_});
            return halve(0, last);
        }
        const auto last = static_cast<std::size_t>((n_ - 1 + strip - 1) / strip);
        l_.low.assign(last + 1, 0), l_.high.assign(last + 1, 0);
        set_pivot(0, winners(0, 0, n_ - 1));
        if (last > 0) set_pivot(last, winners(n_ - 1, 0, n_ - 1));
        halve(0, last);
    }

    void list_sites() {
        l_.sites.clear();
        few_ = false;
        if (t_.periodic) return;
        l_.next.resize(static_cast<std::size_t>(n_) + 1);
        for (std::int64_t r = 0; r < n_; ++r) {
            l_.next[static_cast<std::size_t>(r)] = static_cast<std::int64_t>(l_.sites.size());
            if (!hn::AllFalse(tag, less(at(r), hn::Set(tag, infinite)))) l_.sites.push_back(r);
        }
        l_.next[static_cast<std::size_t>(n_)] = static_cast<std::int64_t>(l_.sites.size());
        few_ = l_.sites.size() <= few_sites;
    }

    void set_pivot(std::size_t pivot, span s) { l_.low[pivot] = s.low, l_.high[pivot] = s.high; }

    void halve(std::size_t a, std::size_t b) {
        if (b - a < 2) return;
        const std::size_t c = (a + b) / 2;
        if (b - a > 64) t_.team->go_on(0);
        set_pivot(c, winners(std::min(static_cast<std::int64_t>(c) * strip, n_ - 1), l_.low[a], l_.high[b]));
        halve(a, c), halve(c, b);
    }

    const line_tile<T>& t_;
    line_lists& l_;
    const T* const term_;
    const T* const value_;
    const std::int64_t column_, n_;
    bool pivots_ready_ = false, few_ = false;
};

template <class T>
void lines_of(const line_tile<T>& t) {
    for (std::int64_t c = 0; c < number<T>::columns; c += line_group<T>::lanes()) {
        line_group<T> one(t, c);
        if (t.first != nullptr) one.template solve<true>();
        else one.template solve<false>();
    }
}
void lines16(const line_tile<std::uint16_t>& t) { lines_of(t); }
void lines32(const line_tile<std::int32_t>& t) { lines_of(t); }
void lines64(const line_tile<double>& t) { lines_of(t); }

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(lines16);
HWY_EXPORT(lines32);
HWY_EXPORT(lines64);

void solve_lines(const line_tile<std::uint16_t>& t) { HWY_DYNAMIC_DISPATCH(lines16)(t); }
void solve_lines(const line_tile<std::int32_t>& t) { HWY_DYNAMIC_DISPATCH(lines32)(t); }
void solve_lines(const line_tile<double>& t) { HWY_DYNAMIC_DISPATCH(lines64)(t); }
}  // namespace nearfield::exact
#endif
