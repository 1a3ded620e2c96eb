#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host/lines.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/parallel.hpp"
#include "exact/host/lines.hpp"
#include "exact/host_lanes.hpp"

HWY_BEFORE_NAMESPACE();
#include "exact/host/line_lanes.hpp"
namespace nearfield::exact::HWY_NAMESPACE {

/// Rows from one pivot to the next.
constexpr std::int64_t strip = 16;
/// Lines with at most this number of rows with a site need no pivots: each site relaxes all rows.
constexpr std::size_t few_sites = 6;
/// From this number of rows between pivots' winners, a block searches its own first and last winner.
constexpr std::int64_t many_rows = 64;
/// Blocks between two tests of whether the call is cancelled.
constexpr std::int64_t blocks_between_asking = 1024;

/// `Dense`: rows follow each other, so that their addresses are constants apart.
template <class T, bool Dense>
class line_group {
    using lanes_of = line_lanes<T>;
    using lane = typename lanes_of::lane;
    using cells = typename lanes_of::cells;
    using values = typename lanes_of::values;
    static constexpr auto tag = lanes_of::tag;
    static constexpr auto row_tag = lanes_of::row_tag;
    static constexpr std::int64_t beyond = axis_terms<lane>::beyond;
    static constexpr lane infinite = number<T>::infinite;
    /// A lane stores a row as its distance from the query plus this number.
    static constexpr std::int64_t zero_at = sizeof(lane) == 2 ? 32768 : sizeof(lane) == 4 ? 1 << 29 : 1LL << 40;
    using row_lane = decltype(hn::GetLane(hn::Zero(row_tag)));

public:
    line_group(const line_tile<T>& t, std::int64_t column)
        : t_(t), l_(*t.lists), term_(t.terms->get()), column_(column), n_(t.rows) {}

    static constexpr std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(tag)); }

    template <bool First>
    void solve() {
        std::int64_t m = 0, asked = 0;
        if (t_.far) find_pivots();
        for (; m + lanes_of::block <= n_; m += lanes_of::block) {
            solve_block<lanes_of::block, First>(m);
            if (++asked % blocks_between_asking == 0) ask();
        }
        if (m < n_ && n_ >= lanes_of::block) return solve_block<lanes_of::block, First>(n_ - lanes_of::block);
        for (; m < n_; ++m) solve_block<1, First>(m);
    }

private:
    // ---- rows -------------------------------------------------------------------------------------------------------

    [[nodiscard]] HWY_INLINE std::int64_t row(std::int64_t r) const {
        if (t_.periodic) return r < 0 ? r + n_ : r >= n_ ? r - n_ : r;
        return std::clamp<std::int64_t>(r, 0, n_ - 1);
    }
    HWY_INLINE cells here(std::int64_t r) const { return lanes_of::load(t_.value + r * pitch(), column_); }
    [[nodiscard]] HWY_INLINE std::int64_t pitch() const { return Dense ? number<T>::columns : t_.pitch; }
    HWY_INLINE cells at(std::int64_t r) const { return here(row(r)); }
    void ask() const {
        if (t_.team != nullptr) t_.team->go_on(0);
    }
    static lane largest(values v) { return hn::GetLane(hn::MaxOfLanes(tag, v)); }
    /// Returns the least cost of a row k rows away.
    [[nodiscard]] HWY_INLINE lane bound(std::int64_t k) const {
        if constexpr (number<T>::wide) return term_[k] + t_.floor;
        else return term_[k];
    }
    /// Returns a distance in rows beyond which every row costs more than `value`.
    [[nodiscard]] std::int64_t steps_within(lane value) const {
        if constexpr (number<T>::wide)
            if (t_.floor != lane{} && value < infinite) {
                // Allowance for the rounding error of the sum of the floor and a step.
                if constexpr (std::is_same_v<lane, double>)
                    return t_.terms->steps_within(value - t_.floor + 0x1p-50 * (std::abs(value) + std::abs(t_.floor)));
                value -= t_.floor;
            }
        return t_.terms->steps_within(value);
    }
    HWY_INLINE cells candidate(std::int64_t r, std::int64_t query) const {
        return lanes_of::add(at(r), term_[r < query ? query - r : r - query]);
    }
    template <int R>
    static HWY_INLINE values most_of(const cells (&best)[R]) {
        values most = lanes_of::value(best[0]);
        for (int i = 1; i < R; ++i) most = hn::Max(most, lanes_of::value(best[i]));
        return most;
    }

    /// Calls body for the rows of [from, to] that have a site in some lane.
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
        cells best[R];
#pragma GCC unroll 8
        for (int i = 0; i < R; ++i) {
            best[i] = here(m + i);
            if constexpr (First)
                best[i] = lanes_of::nearer(best[i], lanes_of::load(t_.first + (m + i) * pitch(), column_));
        }
        const std::int64_t pitch = this->pitch(), column = column_;
        T* const to = t_.best + m * pitch;
        const std::int64_t k = pivots_ready_ ? 1 : inside<R>(m, t_.outward, 1, best);
        if (k != 0) {
            // A copy: the cells themselves stay in registers.
            cells far[R];
            std::copy_n(best, R, far);
            further<R>(m, k, far);
            std::copy_n(far, R, best);
        }
#pragma GCC unroll 8
        for (int i = 0; i < R; ++i) lanes_of::store(best[i], to + i * pitch, column);
    }

    template <int R>
    HWY_NOINLINE void further(std::int64_t m, std::int64_t k, cells (&best)[R]) {
        if (pivots_ready_ || !outward<R>(m, t_.outward, best, k)) among_pivots<R>(m, best);
    }

    template <int R>
    [[nodiscard]] HWY_INLINE bool done(std::int64_t m, std::int64_t k, const cells (&best)[R]) const {
        const std::int64_t farthest = t_.periodic ? n_ / 2 : std::max(m + R - 1, n_ - 1 - m);
        return k > std::min(farthest, t_.terms->window()) || lanes_of::settled(most_of(best), bound(k));
    }
    /// Relaxes with the rows from k up to `limit` steps away as long as both sides have them. Returns 0 if none farther
    /// can win, or the next step.
    template <int R>
    HWY_INLINE std::int64_t inside(std::int64_t m, std::int64_t limit, std::int64_t k, cells (&best)[R]) const {
        const std::int64_t pitch = this->pitch(), column = column_, room = std::min(m, n_ - R - m) + t_.margin;
        const T *up = t_.value + (m - k) * pitch, *down = t_.value + (m + k) * pitch;
        const lane* const term = term_;
        for (;;) {
            if (done<R>(m, k, best)) return 0;
            if (k > limit || k + 1 > room) return k;
            for (int twice = 0; twice < 2; ++twice, ++k, up -= pitch, down += pitch) {
                // Two addresses, not two for each row.
                if constexpr (Dense) asm("" : "+r"(up), "+r"(down));
#pragma GCC unroll 8
                for (int i = 0; i < R; ++i)
                    best[i] = lanes_of::relax(best[i], lanes_of::load(up + i * pitch, column),
                                              lanes_of::load(down + i * pitch, column), term[k]);
            }
        }
    }
    /// Relaxes with the rows up to `limit` steps away; returns false if farther ones may still win. In place of a row
    /// beyond an end the last one counts, at more than its own cost.
    template <int R>
    HWY_INLINE bool outward(std::int64_t m, std::int64_t limit, cells (&best)[R], std::int64_t k = 1) const {
        k = inside<R>(m, limit, k, best);
        if (k == 0) return true;
        for (;;) {
            if (k > limit) return false;
            for (int twice = 0; twice < 2; ++twice, ++k)
#pragma GCC unroll 8
                for (int i = 0; i < R; ++i) best[i] = lanes_of::relax(best[i], at(m + i - k), at(m + i + k), term_[k]);
            if (done<R>(m, k, best)) return true;
        }
    }

    template <int R>
    HWY_NOINLINE void among_pivots(std::int64_t m, cells (&best)[R]) {
        if (!pivots_ready_) find_pivots();
        if (!t_.ordered && t_.periodic) return (void)outward<R>(m, n_ + lanes_of::block, best);
        if (few_ || !t_.ordered) return relax_by_sites<R>(m, 0, n_ - 1, best);
        const auto j = static_cast<std::size_t>(m / strip);
        const auto next = std::min(static_cast<std::size_t>((m + R - 1) / strip + 1), l_.high.size() - 1);
        std::int64_t from = l_.low[j], to = l_.high[next];
        // Searching outward takes three operations for two rows and needs no winners.
        const std::int64_t cheaper = std::clamp<std::int64_t>((to - from) / 3, 2, n_);
        if (largest(most_of(best)) <= bound(cheaper)) {
            (void)outward<R>(m, n_ + lanes_of::block, best);
            return;
        }
        if (to - from > many_rows) {
            const span first = winners(m, from, to);
            const span last = winners(m + R - 1, std::max(from, std::min(first.low, to)), to);
            from = std::max(from, first.low), to = std::min(to, last.high);
        }
        relax_by_sites<R>(m, from, to, best);
    }

    template <int R>
    HWY_INLINE void relax_by_sites(std::int64_t m, std::int64_t from, std::int64_t to, cells (&best)[R]) const {
        const std::int64_t steps = few_ ? n_ : steps_within(largest(most_of(best)));
        each_site(std::max(from, m - steps), std::min(to, m + R - 1 + steps), [&](std::int64_t r) {
            const cells v = at(r);
#pragma GCC unroll 8
            for (int i = 0; i < R; ++i) {
                const std::int64_t apart = r < m + i ? m + i - r : r - m - i;
                best[i] = lanes_of::nearer(best[i], lanes_of::add(v, term_[apart]));
            }
        });
    }

    // ---- pivots -----------------------------------------------------------------------------------------------------

    /// Least and largest winning row over the lanes.
    struct span {
        std::int64_t low, high;
    };

    /// Returns the winners of row m among rows [from, to]; a larger range never hurts.
    span winners(std::int64_t m, std::int64_t from, std::int64_t to) const {
        cells best = at(m);
        auto who = hn::Set(row_tag, static_cast<row_lane>(zero_at));
        const auto take = [&](std::int64_t r) {
            const cells v = candidate(r, m);
            who = hn::IfThenElse(lanes_of::is_nearer(v, best), hn::Set(row_tag, static_cast<row_lane>(zero_at + r - m)),
                                 who);
            best = lanes_of::nearer(best, v);
        };
        // No winner is farther than half a period: a row beyond has a nearer copy.
        if (t_.periodic) from = std::max(from, m - n_ / 2), to = std::min(to, m + n_ / 2);
        std::int64_t steps = t_.terms->steps_within(static_cast<lane>(infinite - 1));
        if (t_.saturates) from = std::max(from, m - steps), to = std::min(to, m + steps);
        const span given{from, to};
        if (from <= to) take(from), take(to);
        steps = steps_within(largest(lanes_of::value(best)));
        each_site(std::max(from, m - steps), std::min(to, m + steps), take);
        const auto none = hn::Not(lanes_of::has_site(best));
        // A lane that saturates here may not saturate elsewhere: only the reach of its numbers bounds its winners.
        if (t_.saturates && !hn::AllFalse(row_tag, none)) return given;
        if (hn::AllTrue(row_tag, none)) return {beyond, -beyond};
        const auto high_end = hn::Set(row_tag, static_cast<row_lane>(2 * zero_at - 1));
        const auto low = hn::MinOfLanes(row_tag, hn::IfThenElse(none, high_end, who));
        const auto high = hn::MaxOfLanes(row_tag, hn::IfThenElse(none, hn::Zero(row_tag), who));
        return {static_cast<std::int64_t>(hn::GetLane(low)) - zero_at + m,
                static_cast<std::int64_t>(hn::GetLane(high)) - zero_at + m};
    }

    HWY_NOINLINE void find_pivots() {
        pivots_ready_ = true;
        list_sites();
        if (few_ || !t_.ordered) return;
        if (t_.periodic) {
            // Pivot `last` represents row n, which is the first one again.
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
            if (!hn::AllFalse(row_tag, lanes_of::has_site(here(r)))) l_.sites.push_back(r);
        }
        l_.next[static_cast<std::size_t>(n_)] = static_cast<std::int64_t>(l_.sites.size());
        few_ = l_.sites.size() <= few_sites;
    }

    void set_pivot(std::size_t pivot, span s) { l_.low[pivot] = s.low, l_.high[pivot] = s.high; }

    void halve(std::size_t a, std::size_t b) {
        if (b - a < 2) return;
        const std::size_t c = (a + b) / 2;
        if (b - a > 64) ask();
        set_pivot(c, winners(std::min(static_cast<std::int64_t>(c) * strip, n_ - 1), l_.low[a], l_.high[b]));
        halve(a, c), halve(c, b);
    }

    const line_tile<T>& t_;
    line_lists& l_;
    const lane* const term_;
    const std::int64_t column_, n_;
    bool pivots_ready_ = false, few_ = false;
};

template <class T, bool Dense = false>
void lines_of(const line_tile<T>& t) {
    if constexpr (std::is_integral_v<T> && !Dense)
        if (t.pitch == number<T>::columns) return lines_of<T, true>(t);
    for (std::int64_t c = 0; c < t.columns; c += line_group<T, Dense>::lanes()) {
        line_group<T, Dense> one(t, c);
        if (t.first != nullptr) one.template solve<true>();
        else one.template solve<false>();
    }
}
const line_solvers& line_table() {
    static constexpr line_solvers every{lines_of<std::uint16_t>,    lines_of<std::int32_t>,
                                        lines_of<double>,           lines_of<std::int64_t>,
                                        lines_of<packed_site>,      lines_of<wide_site<std::int64_t>>,
                                        lines_of<wide_site<double>>};
    return every;
}

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(line_table);
const line_solvers& line_solver() { return HWY_DYNAMIC_DISPATCH(line_table)(); }

}  // namespace nearfield::exact
#endif
