// Sites and steps that travel with values: their origin in rows, the values of tiles, the summand of a pass, and their
// decoding.
//
// A site is a number of packed coordinates (core.hpp, key_layout), so that the smaller of two is the first by the tie
// rule. A pass along an axis adds the row's coordinate before its search. Numbers with sites are packed_site if the
// largest value * 2^(bits of a site) is below 2^53, else wide_site.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/overloads.hpp"
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

/// Adds r << shift to the sites of row r, for `rows` rows of a tile.
void add_coordinates(packed_site* value, std::int64_t rows, std::int64_t pitch, int shift);
template <class V>
void add_coordinates(wide_site<V>* value, std::int64_t rows, std::int64_t pitch, int shift);

/// Steps of a row's cells, from which tiles compute costs, have 16 bits: doubles need more in rows of more cells than
/// this.
inline constexpr std::int64_t most_short_row = 65000;
/// Writes a row's steps in 16 or 32 bits; the largest number means that there is no mark.
template <class Steps>
void put_steps(const row_scratch& r, row_kind kind, std::int64_t count, Steps* to);

/// Splits a tile's rows into values and sites; -1 for cells without a site.
template <class L, class V, class K>
void split_sites(const wide_site<L>* tile, std::int64_t rows, V* value, K* site);

/// Strides over axes [first, end) of a problem, by which the coordinates of a site become the number of a cell.
struct site_steps {
    const key_layout& keys;
    const std::int64_t* step;
    int first, end;
};

template <class Steps>
using row_loop = void (*)(const Steps* steps, const std::uint8_t* changed, std::int64_t count, bool periodic,
                          std::int32_t* site);
template <class T>
using tile_loop = void (*)(const std::int32_t* site, std::int64_t rows, const row_of_sites& r, std::int64_t first,
                           const step_cost<lane_of_number<T>>& cost, T* to);
template <class Steps, class T>
using cost_loop = void (*)(const Steps* steps, std::int64_t rows, std::int64_t pitch, const step_cost<T>& cost, T* to);
template <class Steps>
using step_loop = void (*)(const std::uint8_t* near, const std::int32_t* far, std::int64_t count, Steps* to);
template <class V>
using split_loop = void (*)(const double* cell, std::int64_t count, int bits, std::int64_t base, V* value, V* site);
template <class K>
using coordinate_loop = void (*)(const K* site, std::int64_t count, int shift, int bits, std::int32_t* to);
template <class K, class T>
using offset_loop = void (*)(const K* site, std::int64_t count, const site_steps& s, T* to);

/// Loops over sites, for this machine's instruction set.
struct site_loops {
    /// Computes the sites of a row's cells from their steps and those of the cells beside the row (sites_of_row()).
    overloads<row_loop<std::uint8_t>, row_loop<std::int32_t>> share;
    /// Computes the values and sites of a tile, number<T>::columns cells of each row from cell `first` on, from the
    /// sites of sites_of_row().
    overloads<tile_loop<packed_site>, tile_loop<wide_site<std::int64_t>>, tile_loop<wide_site<double>>> put;
    void (*add)(double* value, std::int64_t count, double step);
    /// Splits packed sites, from whose values `base` was subtracted, into values and sites; -1 without a site.
    overloads<split_loop<std::int32_t>, split_loop<std::int64_t>> split;
    /// Computes the coordinates of sites along an axis, -1 without one.
    overloads<coordinate_loop<std::int32_t>, coordinate_loop<std::int64_t>> coordinates;
    /// Computes sums of coordinates times strides, -1 without a site. A number in 32 bits is computed modulo 2^32.
    overloads<offset_loop<std::int32_t, std::int32_t>, offset_loop<std::int32_t, std::int64_t>,
              offset_loop<std::int64_t, std::int64_t>>
        offsets;
    /// Computes the costs of a tile: `rows` groups of number<T>::columns cells, whose steps are `pitch` apart.
    overloads<cost_loop<std::uint16_t, std::uint16_t>, cost_loop<std::uint16_t, std::int32_t>,
              cost_loop<std::uint16_t, double>, cost_loop<std::int32_t, double>>
        costs;
    overloads<step_loop<std::uint16_t>, step_loop<std::int32_t>> steps;
};
const site_loops& loops_of_sites();

/// Solves the lines of a tile of `rows` rows like `t`, if they are few: each row relaxes all. `first`: values without
/// any row, or null.
template <class T>
void relax_axis(const line_tile<T>& t, std::int64_t rows, int shift, T* value, const T* first, T* best) {
    constexpr std::int64_t columns = number<T>::columns;
    lane_of_number<T> term[few_rows];
    for (std::int64_t k = 0; k < t.rows; ++k) term[k] = t.terms->get()[t.periodic ? std::min(k, t.rows - k) : k];
    for (std::int64_t at = 0; at < rows * columns; at += t.rows * t.pitch) {
        T* const from = value + at;
        if constexpr (number<T>::wide)
            for (std::int64_t i = 0; i < t.pitch; i += columns) add_coordinates(from + i, t.rows, t.pitch, shift);
        else if constexpr (number<T>::sited)
            for (std::int64_t r = 1; r < t.rows; ++r)
                loops_of_sites().add(reinterpret_cast<double*>(from + r * t.pitch), t.pitch,
                                     static_cast<double>(r << shift));
        loops_of_runs().relax(from, t.rows, t.pitch, term, first == nullptr ? nullptr : first + at, best + at);
    }
}

}  // namespace nearfield::exact
