// Lines without a search: those of a few rows, and first values from the ends of runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host/runs.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <limits>

#include "exact/host/lines.hpp"
#include "exact/host_lanes.hpp"

HWY_BEFORE_NAMESPACE();
#include "exact/host/line_lanes.hpp"
namespace nearfield::exact::HWY_NAMESPACE {

template <class T, int Rows, bool First>
void relax_rows(const T* HWY_RESTRICT value, std::int64_t count, const lane_of_number<T>* term, const T* first,
                T* HWY_RESTRICT best) {
    using lanes_of = line_lanes<T>;
    const auto step = static_cast<std::int64_t>(hn::Lanes(lanes_of::tag));
    for (std::int64_t i = 0; i < count; i += number<T>::columns)
        for (std::int64_t c = 0; c < number<T>::columns; c += step) {
#pragma GCC unroll 8
            for (int q = 0; q < Rows; ++q) {
                auto least = lanes_of::load(value + q * count + i, c);
                if constexpr (First) least = lanes_of::nearer(least, lanes_of::load(first + q * count + i, c));
#pragma GCC unroll 8
                for (int r = 0; r < Rows; ++r) {
                    if (r == q) continue;
                    const auto v = lanes_of::load(value + r * count + i, c);
                    least = lanes_of::nearer(least, lanes_of::add(v, term[r < q ? q - r : r - q]));
                }
                lanes_of::store(least, best + q * count + i, c);
            }
        }
}
template <class T, bool First, int Rows = few_rows>
void relax_all(const T* value, std::int64_t rows, std::int64_t count, const lane_of_number<T>* term, const T* first,
               T* best) {
    if constexpr (Rows > 2)
        if (rows < Rows) return relax_all<T, First, Rows - 1>(value, rows, count, term, first, best);
    relax_rows<T, Rows, First>(value, count, term, first, best);
}
template <class T>
void relax(const T* value, std::int64_t rows, std::int64_t count, const lane_of_number<T>* term, const T* first,
           T* best) {
    if (first == nullptr) relax_all<T, false>(value, rows, count, term, first, best);
    else relax_all<T, true>(value, rows, count, term, first, best);
}

// ---- first values: plain loops, which the compiler vectorises for this instruction set ------------------------------

/// Counts the steps of a tile's columns to the nearest row above (below) of another class, row after row.
template <class T, class S>
class run_counter {
protected:
    static constexpr int columns = number<T>::columns;

    run_counter(const run_ends<T>& r, S none) : r_(r), none_(none) {}

    /// Calls put(m, steps) for every row, with `none_` if no such row exists.
    template <bool Up, class Put>
    void sweep(const Put& put) const {
        HWY_ALIGN S steps[columns];
        std::fill_n(steps, columns, r_.closed ? S{0} : none_);
        if (r_.periodic)
            for (std::int64_t i = 0; i < r_.rows; ++i) count<Up>(Up ? r_.rows - 1 - i : i, true, steps);
        for (std::int64_t i = 0; i < r_.rows; ++i) {
            const std::int64_t m = Up ? r_.rows - 1 - i : i;
            count<Up>(m, r_.periodic || i > 0, steps);
            put(m, steps);
        }
    }

private:
    /// Adds one step, or restarts at 1 where the class changes.
    template <bool Up>
    HWY_INLINE void count(std::int64_t m, bool has_before, S* HWY_RESTRICT steps) const {
        const hn::CappedTag<S, 16> tag;
        HWY_ALIGN static constexpr S bit[16] = {1,      1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                                                1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
        const std::int64_t at = !Up ? m : m + 1 < r_.rows ? m + 1 : 0;
        const std::uint8_t* const bits = r_.cut + at * r_.cut_pitch;
        const auto one = hn::Set(tag, S{1}), none = hn::Set(tag, none_);
        for (int c = 0; c < columns; c += static_cast<int>(hn::Lanes(tag))) {
            const int i = c / 16 * 2, word = has_before ? bits[i] | bits[i + 1] << 8 : 0;
            const auto own = hn::LoadU(tag, bit + c % 16);
            const auto cut = hn::Eq(hn::And(hn::Set(tag, static_cast<S>(word)), own), own);
            const auto more = hn::Min(hn::Add(hn::LoadU(tag, steps + c), one), none);
            hn::StoreU(hn::IfThenElse(cut, one, more), tag, steps + c);
        }
    }

protected:
    const run_ends<T>& r_;
    const S none_;
};

/// Steps of a tile's columns: 16 bits for values of 16 bits.
template <class T>
using steps_of = std::conditional_t<sizeof(T) == 2, T, std::int32_t>;

template <class T>
class run_sweep : run_counter<T, steps_of<T>> {
    using steps_t = steps_of<T>;
    using base = run_counter<T, steps_t>;
    using base::columns;
    using base::r_;

public:
    explicit run_sweep(const run_ends<T>& r)
        : base(r, static_cast<steps_t>(std::min<std::int32_t>(r.cost->most, most_steps) + 1)),
          weight_(r.cost->weight),
          most_(static_cast<steps_t>(base::none_ - 1)) {}

    void solve() const {
        if (r_.cut == nullptr) return put_borders();
        base::template sweep<false>(
            [this](std::int64_t m, const steps_t* steps) { put<false>(steps, r_.first + m * r_.pitch); });
        base::template sweep<true>(
            [this](std::int64_t m, const steps_t* steps) { put<true>(steps, r_.first + m * r_.pitch); });
    }

private:
    /// Limit that keeps steps, doubled for half cells, and their squares within the number.
    static constexpr std::int32_t most_steps = sizeof(T) == 2 ? 255 : 1 << 29;

    void put_borders() const {
        for (std::int64_t m = 0; m < r_.rows; ++m)
            std::fill_n(r_.first + m * r_.pitch, columns, r_.cost->of(std::min(m + 1, r_.rows - m)));
    }

    template <bool Up>
    HWY_INLINE void put(const steps_t* HWY_RESTRICT steps, T* HWY_RESTRICT first) const {
        const T twice = r_.cost->half_cell ? T{2} : T{1}, less = r_.cost->half_cell ? T{1} : T{0};
        for (int c = 0; c < columns; ++c) {
            const T reach = static_cast<T>(twice * static_cast<T>(std::min(steps[c], most_)) - less);
            const T value = static_cast<T>(weight_ * static_cast<T>(reach * reach));
            const T cost = steps[c] > most_ ? number<T>::infinite : value;
            first[c] = Up ? std::min(first[c], cost) : cost;
        }
    }

    const T weight_;
    const steps_t most_;
};

/// Counts the steps with the site, which is the cell beyond the run's end.
template <class T>
class site_sweep : run_counter<T, std::int32_t> {
    using base = run_counter<T, std::int32_t>;
    using base::columns;
    using base::r_;
    using lane = lane_of_number<T>;

public:
    explicit site_sweep(const run_ends<T>& r)
        : base(r, std::min(r.cost->most, std::numeric_limits<std::int32_t>::max() - 2) + 1) {
        for (int c = 0; c < columns; ++c) column_[c] = static_cast<double>(r.column_site[c]);
    }

    void solve() const {
        base::template sweep<false>([this](std::int64_t m, const std::int32_t* steps) { put<false>(m, steps); });
        base::template sweep<true>([this](std::int64_t m, const std::int32_t* steps) { put<true>(m, steps); });
    }

private:
    template <bool Up>
    HWY_INLINE void put(std::int64_t m, const std::int32_t* HWY_RESTRICT steps) const {
        if constexpr (number<T>::wide) return put_wide<Up>(m, steps);
        const hn::CappedTag<double, 8> tag;
        const hn::Rebind<std::int32_t, decltype(tag)> half;
        const auto last = hn::Set(tag, base::none_ - 1.0), infinite = hn::Set(tag, number<double>::infinite);
        const auto here = hn::Set(tag, static_cast<double>(m)), rows = hn::Set(tag, static_cast<double>(r_.rows));
        const auto weight = hn::Set(tag, static_cast<double>(r_.cost->weight));
        const auto step = hn::Set(tag, static_cast<double>(std::int64_t{1} << r_.site_shift));
        const auto twice = hn::Set(tag, r_.cost->half_cell ? 2.0 : 1.0), less = hn::Sub(twice, hn::Set(tag, 1.0));
        double* const value = reinterpret_cast<double*>(r_.first + m * r_.pitch);
        for (int c = 0; c < columns; c += static_cast<int>(hn::Lanes(tag))) {
            const auto away = hn::PromoteTo(tag, hn::LoadU(half, steps + c)),
                       cells = hn::Sub(hn::Mul(twice, away), less);
            auto row = Up ? hn::Add(here, away) : hn::Sub(here, away);
            if constexpr (Up) row = hn::IfThenElse(hn::Lt(row, rows), row, hn::Sub(row, rows));
            else row = hn::IfThenElse(hn::Lt(row, hn::Zero(tag)), hn::Add(row, rows), row);
            const auto site = hn::Add(hn::LoadU(tag, column_ + c), hn::Mul(row, step));
            auto cell = hn::Add(hn::Mul(weight, hn::Mul(cells, cells)), site);
            cell = hn::IfThenElse(hn::Lt(last, away), infinite, cell);
            hn::StoreU(Up ? hn::Min(hn::LoadU(tag, value + c), cell) : cell, tag, value + c);
        }
    }

    template <bool Up>
    HWY_INLINE void put_wide(std::int64_t m, const std::int32_t* HWY_RESTRICT steps) const {
        lane* HWY_RESTRICT const value = reinterpret_cast<lane*>(r_.first + m * r_.pitch);
        auto* const sites = reinterpret_cast<std::int64_t*>(value) + columns;
        for (int c = 0; c < columns; ++c) {
            const lane away = static_cast<lane>(steps[c]), cells = r_.cost->half_cell ? 2 * away - 1 : away;
            std::int64_t row = Up ? m + steps[c] : m - steps[c];
            row = row < 0 ? row + r_.rows : row >= r_.rows ? row - r_.rows : row;
            const lane cost = steps[c] >= base::none_ ? number<T>::infinite : r_.cost->weight * (cells * cells);
            const std::int64_t site = r_.column_site[c] + (row << r_.site_shift);
            const bool better = !Up || cost < value[c] || (cost == value[c] && site < sites[c]);
            value[c] = better ? cost : value[c], sites[c] = better ? site : sites[c];
        }
    }

    double column_[columns];
};

template <class T>
void first(const run_ends<T>& r) {
    if constexpr (number<T>::sited) site_sweep<T>(r).solve();
    else run_sweep<T>(r).solve();
}

const run_loops& run_table() {
    static constexpr run_loops every{{relax<std::uint16_t>, relax<std::int32_t>, relax<double>, relax<packed_site>,
                                      relax<wide_site<std::int64_t>>, relax<wide_site<double>>},
                                     {first<std::uint16_t>, first<std::int32_t>, first<double>, first<packed_site>,
                                      first<wide_site<std::int64_t>>, first<wide_site<double>>}};
    return every;
}

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(run_table);
const run_loops& loops_of_runs() { return HWY_DYNAMIC_DISPATCH(run_table)(); }

}  // namespace nearfield::exact
#endif
