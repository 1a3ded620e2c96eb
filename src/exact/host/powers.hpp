// Rows of a power diagram: lines whose values are minus the weights, transposed so that neighbours share a tile.
#pragma once

#include <algorithm>
#include <type_traits>

#include "exact/host/terms.hpp"
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

}  // namespace nearfield::exact
