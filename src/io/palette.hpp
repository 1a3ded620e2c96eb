// Pictures of indices into a table of colours.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "io/formats.hpp"

namespace nearfield::io {

using palette_color = std::array<std::uint8_t, 3>;  ///< red, green, blue

/// Converts indices of colours to RGB, or to gray if all colours of the table are gray. `index` may exceed the table:
/// such cells are black. Throws like claimed_array.
inline array with_palette(std::string_view name, const std::vector<std::uint8_t>& index, std::int64_t height,
                          std::int64_t width, const std::vector<palette_color>& table, const read_limits& limits) {
    const bool gray = std::ranges::all_of(table, [](const palette_color& c) { return c[0] == c[1] && c[1] == c[2]; });
    std::vector<std::int64_t> shape{height, width};
    if (!gray) shape.push_back(3);
    array values = claimed_array(name, dtype::uint8, std::move(shape), limits, std::nullopt);
    values.color = !gray;
    std::byte* to = values.data.get();
    for (const std::uint8_t each : index) {
        const palette_color color = each < table.size() ? table[each] : palette_color{};
        for (std::size_t sample = 0; sample < (gray ? 1U : 3U); ++sample) *to++ = std::byte{color[sample]};
    }
    return values;
}

}  // namespace nearfield::io
