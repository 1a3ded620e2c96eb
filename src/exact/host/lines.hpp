// Lines of one axis: the lower envelope of parabolas along neighbouring lines, one line per lane of a vector.
//
//   best(q) = min(first(q), min over the rows r of value(r) + term(|q - r|))
//
// Blocks of rows search outward together and share one test of whether anything farther can still win. A block that is
// not done after line_tile::outward steps makes the tile find the winners of every 16th row by halving. Winners never
// move back as rows advance, so each block then takes the cheaper of the outward search and the rows between the
// winners around it. It declines nothing: if rounding may reverse winners (plan::rows_ordered), it searches all rows
// with a site within reach. Bytes: a number, a best and, with first values, one more for each cell of a tile. Meijster,
// Roerdink, Hesselink, "A general algorithm for computing distance transforms in linear time", 2000; Aggarwal et al.,
// "Geometric applications of a matrix-searching algorithm", 1987 (winners by halving).
#pragma once

#include <cstdint>
#include <vector>

#include "base/overloads.hpp"
#include "exact/host/terms.hpp"

namespace nearfield {
class workers;
}

namespace nearfield::exact {

/// A thread's lists: least and largest winner of each pivot, rows with a site, and the number of these before each
/// row.
struct line_lists {
    std::vector<std::int64_t> low, high, sites, next;
};

/// number<T>::columns neighbouring lines; rows are `pitch` elements apart in all arrays.
template <class T>
struct line_tile {
    std::int64_t rows = 0, pitch = number<T>::columns;
    std::int64_t columns = number<T>::columns;  ///< those to search, in whole vectors
    std::int64_t margin = 0;                    ///< rows without sites before the first and behind the last
    bool periodic = false;
    bool saturates = sizeof(T) == 2;  ///< integers may be too small for a result, which is then infinite
    bool ordered = true;              ///< winners never move back: false for doubles whose order rounding may reverse
    /// Steps to either side beyond which pivots cost less. `far`: most rows have no site, so that pivots come at once.
    std::int64_t outward = 24;
    bool far = false;
    lane_of_number<T> floor{};  ///< lower bound of all values: not 0 in power diagrams of numbers with separate sites
    const axis_terms<lane_of_number<T>>* terms = nullptr;
    const T* value = nullptr;
    const T* first = nullptr;  ///< values without any row: ends of runs, closed borders; null: none
    T* best = nullptr;
    line_lists* lists = nullptr;
    workers* team = nullptr;  ///< tested for cancellation during long searches; may be null
};

template <class T>
using tile_solver = void (*)(const line_tile<T>& t);
/// Solves the lines of a tile, for this machine's instruction set.
using line_solvers =
    overloads<tile_solver<std::uint16_t>, tile_solver<std::int32_t>, tile_solver<double>, tile_solver<std::int64_t>,
              tile_solver<packed_site>, tile_solver<wide_site<std::int64_t>>, tile_solver<wide_site<double>>>;
const line_solvers& line_solver();

/// Lines of at most this many rows are solved by relaxing every row with every other one.
inline constexpr std::int64_t few_rows = 8;
/// First values of a tile's lines: a cell's steps to the end of its run of equal classes, and to a closed border, are
/// upper bounds of its distance to another class. A row of another class costs at least as much as the end of the run,
/// so that the search along a line needs no classes.
template <class T>
struct run_ends {
    std::int64_t rows = 0, pitch = number<T>::columns;
    const std::uint8_t* cut =
        nullptr;  ///< bits: class differs from the row before, columns / 8 bytes a row; null: no runs
    std::int64_t cut_pitch = number<T>::columns / 8;
    bool closed = false, periodic = false;
    const step_cost<lane_of_number<T>>* cost = nullptr;
    const std::int64_t* column_site = nullptr;  ///< for numbers with sites: each column's site along the other axes
    int site_shift = 0;                         ///< shift of the axis
    T* first = nullptr;
};

template <class T>
using row_relaxer = void (*)(const T* value, std::int64_t rows, std::int64_t count, const lane_of_number<T>* term,
                             const T* first, T* best);
template <class T>
using run_loop = void (*)(const run_ends<T>& r);

/// Loops over lines without a search, for this machine's instruction set.
struct run_loops {
    /// best(q, i) = min(first(q, i), min over the rows r of value(r, i) + term(|q - r|)), for `count` neighbouring
    /// lines, a multiple of columns. `first` may be null.
    overloads<row_relaxer<std::uint16_t>, row_relaxer<std::int32_t>, row_relaxer<double>, row_relaxer<packed_site>,
              row_relaxer<wide_site<std::int64_t>>, row_relaxer<wide_site<double>>>
        relax;
    overloads<run_loop<std::uint16_t>, run_loop<std::int32_t>, run_loop<double>, run_loop<packed_site>,
              run_loop<wide_site<std::int64_t>>, run_loop<wide_site<double>>>
        first_values;
};
const run_loops& loops_of_runs();

}  // namespace nearfield::exact
