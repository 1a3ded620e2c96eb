// Rows side by side in a tile, one row per column: short rows of several axes, and rows of power diagrams. They are
// solved as lines and turned afterwards.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/with_bytes.hpp"
#include "exact/host/lines.hpp"
#include "exact/host_steps.hpp"

namespace nearfield::exact {

/// Copies a row of `count` classes of `bytes` bytes to column `column` of a tile.
inline void put_classes(const void* row, int bytes, std::int64_t count, std::int64_t column, std::int64_t columns,
                        void* tile) {
    with_bytes(bytes, [&]<class C>(C) {
        const C* const from = static_cast<const C*>(row);
        C* const to = static_cast<C*>(tile) + column;
        for (std::int64_t x = 0; x < count; ++x) to[x * columns] = from[x];
    });
}

/// First numbers of rows whose sites are their cells of class zero, or their other cells, as flags say; `none`: there
/// are no sites. Lines add the coordinates.
template <class T>
void first_sites(const std::uint8_t* is_zero, std::int64_t cells, bool zero_is_site, bool none, T* tile) {
    using lane = lane_of_number<T>;
    constexpr std::int64_t columns = number<T>::columns;
    for (std::int64_t i = 0; i < cells; i += columns) {
        lane* const row = reinterpret_cast<lane*>(tile + i);
        for (std::int64_t c = 0; c < columns; ++c) {
            const bool site = !none && (is_zero[i + c] != 0) == zero_is_site;
            row[c] = site ? lane{0} : number<T>::infinite;
            if constexpr (number<T>::wide)
                reinterpret_cast<std::int64_t*>(row)[columns + c] = site ? 0 : no_key<std::int64_t>;
        }
    }
}

/// Turns a tile of n rows into rows of `tiles` whole tiles, one for each column; the last cell fills them.
template <class T>
void turn_rows(T* tile, std::int64_t n, std::int64_t tiles, T* rows) {
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(lane_of_number<T>));
    using whole =
        std::conditional_t<bytes == 2, std::uint16_t, std::conditional_t<bytes == 4, std::int32_t, std::int64_t>>;
    constexpr std::int64_t columns = number<T>::columns, parts = number<T>::wide ? 2 : 1, pitch = parts * columns;
    for (std::int64_t x = n; x < tiles * columns; ++x)
        std::copy_n(tile + (n - 1) * columns, columns, tile + x * columns);
    const number_loops<whole>& loops = loops_of_planes();
    for (std::int64_t t = 0; t < tiles; ++t)
        for (std::int64_t part = 0; part < pitch; part += columns)
            loops.transpose(reinterpret_cast<const whole*>(tile + t * columns * columns) + part, columns, columns,
                            pitch, reinterpret_cast<whole*>(rows + t * columns) + part, tiles * pitch);
}

}  // namespace nearfield::exact
