// Sites and steps that travel with values: their origin in rows, the values of tiles, the summand of a pass, and their
// decoding.
//
// A site is a number of packed coordinates (core.hpp, key_layout), so that the smaller of two is the first by the tie
// rule. A pass along an axis adds the row's coordinate before its search. Numbers with sites are packed_site if the
// largest value * 2^(bits of a site) is below 2^53, else wide_site.
#pragma once

#include <cstdint>

#include "exact/host/lines.hpp"
#include "exact/host/rows.hpp"
#include "exact/host/terms.hpp"

namespace nearfield::exact {

/// Computes r.site[x], the coordinate of the row's cell nearest to cell x, of two the smaller one, from the steps of
/// steps_of_row(); -1 in a row without sites. `changed[x]`: cell x differs in class from the cell before; null if all
/// cells have the same sites. As many cells as a tile may have behind the row repeat its last cell.
void sites_of_row(std::int64_t count, row_kind kind, bool periodic, const std::uint8_t* changed, row_scratch& r);
/// Computes changed[x] for cells [0, count] of a row, round the ends if it is periodic.
void changes_of_row(const void* classes, int bytes, std::int64_t count, bool periodic, std::uint8_t* changed);

/// Rows whose cells know their nearest site; a packed site is its coordinate << shift.
struct row_of_sites {
    std::int64_t count;
    bool periodic;
    int shift;
};

/// Computes the values and sites of a tile, number<T>::columns cells of each row from cell `first` on, from the sites
/// of sites_of_row().
template <class T>
void put_sites(const std::int32_t* site, std::int64_t rows, const row_of_sites& r, std::int64_t first,
               const step_cost<lane_of_number<T>>& cost, T* to);

/// Adds r << shift to the sites of row r, for `rows` rows of a tile.
void add_coordinates(packed_site* value, std::int64_t rows, std::int64_t pitch, int shift);
template <class V>
void add_coordinates(wide_site<V>* value, std::int64_t rows, std::int64_t pitch, int shift);

/// Solves lines of `size` rows that are `apart` rows of a tile apart, if they are few: each row relaxes all.
template <class T>
void relax_axis(T* value, std::int64_t size, std::int64_t apart, std::int64_t rows,
                const axis_terms<lane_of_number<T>>& terms, int shift, T* best) {
    using lane = lane_of_number<T>;
    constexpr std::int64_t columns = number<T>::columns;
    for (std::int64_t at = 0; at < rows; at += size * apart) {
        T *const from = value + at * columns, *const to = best + at * columns;
        if constexpr (number<T>::sited)
            for (std::int64_t i = 0; i < apart; ++i) add_coordinates(from + i * columns, size, apart * columns, shift);
        relax_lines(reinterpret_cast<const lane*>(from), size, apart * columns, terms.get(),
                    reinterpret_cast<lane*>(to));
    }
}

/// Rows of at most this many cells have steps of 16 bits; the largest number means that there is no mark.
inline constexpr std::int64_t most_short_row = 65000;
/// Writes a row's steps in 16 bits, from which costs_of_steps() computes the costs of a tile: `rows` groups of
/// number<T>::columns cells, whose steps are `pitch` apart.
void put_steps(const row_scratch& r, row_kind kind, std::int64_t count, std::uint16_t* to);
void costs_of_steps(const std::uint16_t* steps, std::int64_t rows, std::int64_t pitch,
                    const step_cost<std::int32_t>& cost, std::int32_t* to);
void costs_of_steps(const std::uint16_t* steps, std::int64_t rows, std::int64_t pitch, const step_cost<double>& cost,
                    double* to);

/// Splits a tile's rows into values and sites; -1 for cells without a site.
template <class L, class V, class K>
void split_sites(const wide_site<L>* tile, std::int64_t rows, V* value, K* site);
/// Does the same for values from which `base` was subtracted.
void split_sites(const packed_site* tile, std::int64_t rows, int bits, std::int64_t base, std::int32_t* value,
                 std::int32_t* site);
void split_sites(const packed_site* tile, std::int64_t rows, int bits, std::int64_t base, std::int64_t* value,
                 std::int64_t* site);

/// Returns the coordinates of sites along an axis, -1 without one.
void coordinates_of(const std::int32_t* site, std::int64_t count, int shift, int bits, std::int32_t* to);
void coordinates_of(const std::int64_t* site, std::int64_t count, int shift, int bits, std::int32_t* to);

/// Strides over axes [first, end) of a problem, by which the coordinates of a site become the number of a cell.
struct site_steps {
    const key_layout& keys;
    const std::int64_t* step;
    int first, end;
};
/// Returns sums of coordinates times strides, -1 without a site. A number in 32 bits is computed modulo 2^32.
void offsets_of(const std::int32_t* site, std::int64_t count, const site_steps& s, std::int32_t* to);
void offsets_of(const std::int32_t* site, std::int64_t count, const site_steps& s, std::int64_t* to);
void offsets_of(const std::int64_t* site, std::int64_t count, const site_steps& s, std::int64_t* to);

}  // namespace nearfield::exact
