// Rows of a power diagram: lines whose values are minus the weights, either one after the other by the sites of their
// lower envelope, or transposed so that neighbours share a tile.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "exact/host/lines.hpp"
#include "exact/host_weights.hpp"

namespace nearfield::exact {

/// Copies column c of a tile's row.
template <class T>
void copy_number(const T* from, int c, T* to, int there) {
    using lane = lane_of_number<T>;
    reinterpret_cast<lane*>(to)[there] = reinterpret_cast<const lane*>(from)[c];
    if constexpr (number<T>::wide)
        reinterpret_cast<std::int64_t*>(to)[number<T>::columns + there] =
            reinterpret_cast<const std::int64_t*>(from)[number<T>::columns + c];
}

/// Writes `lines` lines of n cells from line `first` on, one per column; the last line fills the remaining columns.
/// Packed values have the least of all subtracted, times `scale`.
template <class T, class V>
void put_powers(const weight_field<V>& powers, std::int64_t first, std::int64_t lines, std::int64_t n, double scale,
                T* to) {
    using lane = lane_of_number<T>;
    constexpr int columns = number<T>::columns;
    for (int c = 0; c < columns; ++c) {
        const V* const from = powers.values() + (first + std::min<std::int64_t>(c, lines - 1)) * n;
        for (std::int64_t x = 0; x < n; ++x) {
            const bool none = !(from[x] < no_site<V>());
            auto* const row = reinterpret_cast<lane*>(to + x * columns);
            if constexpr (number<T>::wide) {
                row[c] = from[x];
                reinterpret_cast<std::int64_t*>(row)[columns + c] = none ? no_key<std::int64_t> : 0;
            } else {
                row[c] = none ? number<T>::infinite : static_cast<lane>(from[x] - powers.base()) * scale;
            }
        }
    }
}

/// True if put_envelope() serves a block's lines: it takes no periodic ones, nor winners without order. Few lines, and
/// those with few sites, cost less one after the other than side by side. Processor time in ns a cell, AVX-512, side by
/// side and one after the other: 1x2^20 with sites everywhere 229, 37; 1024^2 20, 33; 1024^2 with 1 % of
/// sites, float64 24, 16.
template <class T, class V>
bool one_by_one(const line_tile<T>& t, std::int64_t lines, const weight_field<V>& powers) {
    return t.ordered && !t.periodic && (lines < number<T>::columns / 2 || powers.sparse());
}

/// Rows between two tests of whether the call is cancelled.
constexpr std::int64_t rows_between_asking = 1 << 16;

/// The lower envelope of the parabolas of one row's sites, site by site: a site leaves the list if the next one beats
/// it in the first cell that it wins. Costs and ties are those of line_solver(); the row may not be periodic, and its
/// winners are in order (line_tile::ordered). Felzenszwalb, Huttenlocher, "Distance transforms of sampled functions",
/// 2012.
template <class T, class V>
class power_envelope {
    using lane = lane_of_number<T>;
    static constexpr std::int64_t columns = number<T>::columns;

public:
    /// `shift`: shift of the row's coordinate in a site. The lists of `t` hold the winners and their first cells.
    power_envelope(const weight_field<V>& powers, std::int64_t line, double scale, int shift, const line_tile<T>& t)
        : from_(powers.values() + line * t.rows),
          n_(t.rows),
          base_(powers.base()),
          scale_(scale),
          shift_(shift),
          term_(t.terms->get()),
          twice_weight_(2 * static_cast<double>(t.terms->cost().weight)),
          row_(t.lists->sites),
          start_(t.lists->low) {
        row_.clear(), start_.clear();
        for (std::int64_t r = 0; r < n_; ++r) {
            if (r % rows_between_asking == 0) t.team->go_on(0);
            if (from_[r] < no_site<V>()) add(r);
        }
    }

    /// Writes the row in tiles; the last cell fills the remaining columns.
    void put(T* to) const {
        for (std::size_t i = 0; i < row_.size(); ++i) {
            const std::int64_t r = row_[i], end = i + 1 < row_.size() ? start_[i + 1] : n_;
            const lane value = value_of(r);
            for (std::int64_t q = start_[i]; q < end; ++q) put_cell(to, q, value + term_[std::abs(q - r)], r << shift_);
        }
        for (std::int64_t q = 0; q < n_ && row_.empty(); ++q)
            put_cell(to, q, number<T>::infinite, no_key<std::int64_t>);
        T* const last = to + (n_ - 1) / columns * columns;
        const auto end = static_cast<int>((n_ - 1) % columns);
        for (int c = end + 1; c < columns; ++c) copy_number(last, end, last, c);
    }

private:
    [[nodiscard]] lane value_of(std::int64_t r) const {
        if constexpr (number<T>::wide) return from_[r];
        else
            return static_cast<lane>(from_[r] - base_) * scale_ +
                   static_cast<lane>(r) * static_cast<lane>(std::int64_t{1} << shift_);
    }
    [[nodiscard]] lane cost(lane value, std::int64_t r, std::int64_t q) const { return value + term_[std::abs(q - r)]; }

    void add(std::int64_t r) {
        const lane value = value_of(r);
        while (!row_.empty() && cost(value, r, start_.back()) < cost(last_, row_.back(), start_.back())) drop();
        const std::int64_t first = row_.empty() ? 0 : first_won(value, r);
        if (first == n_) return;
        row_.push_back(r), start_.push_back(first), last_ = value;
    }
    void drop() {
        row_.pop_back(), start_.pop_back();
        if (!row_.empty()) last_ = value_of(row_.back());
    }
    /// Returns the first cell in which site r beats the last winner, which it does not in that one's first cell.
    [[nodiscard]] std::int64_t first_won(lane value, std::int64_t r) const {
        const std::int64_t before = row_.back(), least = start_.back() + 1;
        const auto beats = [&](std::int64_t q) { return cost(value, r, q) < cost(last_, before, q); };
        // An estimate within a few cells, since neighbouring cells differ by more than rounding.
        const double middle = static_cast<double>(r + before) / 2, apart = static_cast<double>(r - before);
        const double at = middle + static_cast<double>(value - last_) / (twice_weight_ * apart);
        auto q = static_cast<std::int64_t>(std::clamp(at + 1, static_cast<double>(least), static_cast<double>(n_)));
        while (q > least && beats(q - 1)) --q;
        while (q < n_ && !beats(q)) ++q;
        return q;
    }
    static void put_cell(T* to, std::int64_t q, lane value, std::int64_t site) {
        auto* const row = reinterpret_cast<lane*>(to + q / columns * columns);
        row[q % columns] = value;
        if constexpr (number<T>::wide) reinterpret_cast<std::int64_t*>(row)[columns + q % columns] = site;
    }

    const V* const from_;
    const std::int64_t n_;
    const V base_;
    const double scale_;
    const int shift_;
    const lane* const term_;
    const double twice_weight_;
    std::vector<std::int64_t>&row_, &start_;  ///< winners, and the first cell of each
    lane last_{};                             ///< value of the last winner
};

}  // namespace nearfield::exact
