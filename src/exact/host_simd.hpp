// The host engine's inner loops, compiled once per instruction set and chosen at run time.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "exact/core.hpp"

namespace nearfield {
class workers;
}

namespace nearfield::exact {

/// Rows of a tile are this many bytes or a multiple of it, so that every SIMD width divides them.
inline constexpr std::int64_t tile_align = 64;

/// Neighbouring lines of one axis, row by row: element (row, line) is at [row * pitch + line]. `key` and `best_key` are
/// null when only values are wanted. Lines beyond the real ones repeat a real one. Of a periodic axis rows are repeated
/// before the first and behind the last query.
template <class V, class K>
struct tile {
    std::int64_t rows = 0;
    std::int64_t pitch = 0;
    const V* value = nullptr;
    const K* key = nullptr;                     ///< packed sites, the tile's own axis included
    std::int64_t first_query = 0, queries = 0;  ///< rows that are searched for
    std::int64_t window = 0;                    ///< rows to either side that may matter
    const V* term = nullptr;  ///< what a distance of that many rows adds, up to `window`; then no_site
    V base{};                 ///< no value is below it; not 0 only if `negative`
    bool negative = false;
    bool rows_ordered = true;
    std::int64_t best_pitch = 0;  ///< of the results, which need no alignment and start with the first query
    V* best = nullptr;            ///< may be null when only keys are wanted
    K* best_key = nullptr;
    workers* team = nullptr;  ///< asked during long searches whether the call is to go on; may be null
    V* winner = nullptr;      ///< scratch of the tile's size: the winning rows, as V, in which they are exact
};

/// best(q) = min over rows r within the window of value(r) + term(|q - r|), and with keys the winner's key.
void search_tile(const tile<std::int32_t, std::int32_t>& t);
void search_tile(const tile<std::int64_t, std::int64_t>& t);
void search_tile(const tile<double, std::int64_t>& t);

/// Values of one row of packed sites: value_of with the coordinates of the axes from `first` on; `at[axis]` points to
/// the coordinate of each line along that axis.
void values_of_keys(const metric<std::int32_t>& m, int first, const std::int32_t* key, const std::int64_t* const* at,
                    std::int64_t count, std::int32_t* value);
void values_of_keys(const metric<std::int64_t>& m, int first, const std::int64_t* key, const std::int64_t* const* at,
                    std::int64_t count, std::int64_t* value);
void values_of_keys(const metric<double>& m, int first, const std::int64_t* key, const std::int64_t* const* at,
                    std::int64_t count, double* value);

/// Distances from values that are counted in units of `unit2`.
template <class V, class T>
void roots_one_by_one(const V* squared, double unit2, std::int64_t count, T* out) {
    for (std::int64_t i = 0; i < count; ++i)
        out[i] = squared[i] >= no_site<V>() ? std::numeric_limits<T>::infinity()
                                            : static_cast<T>(std::sqrt(unit2 * static_cast<double>(squared[i])));
}

/// Distances from squared distances: root in double, rounded once to the output's type; +inf where there is no site.
template <class V>
void roots(const V* squared, std::int64_t count, float* out);
template <class V>
void roots(const V* squared, std::int64_t count, double* out);
/// The same of values in other units than 1.
void roots_in_units(const std::int32_t* squared, double unit2, std::int64_t count, float* out);

}  // namespace nearfield::exact
