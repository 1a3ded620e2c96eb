// Draws masks: trusted results, and the changes that an operation made.
#include "cli/picture.hpp"
#include "cli/slabs.hpp"
#include "cli/solid.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

/// Draws every pixel in the colour of its cell, and in colour_of(-1) where the sheet shows none.
template <class ColourOf>
picture in_colours(const sheet& on, const ColourOf& colour_of) {
    picture image(on);
    for (const panel& part : on.panels)
        for_slabs(part.height, [&](std::int64_t begin, std::int64_t end) {
            for (int y = static_cast<int>(begin); y < end; ++y)
                for (int x = 0; x < part.width; ++x) {
                    const std::int64_t down = static_cast<std::int64_t>((y + 0.5) * on.pitch / part.shows.row_spacing);
                    const std::int64_t row = part.rows_up ? part.shows.rows - 1 - down : down,
                                       column =
                                           static_cast<std::int64_t>((x + 0.5) * on.pitch / part.shows.column_spacing);
                    const bool known = row >= 0 && row < part.shows.rows && column < part.shows.columns;
                    image.at(part.left + x, part.top + y) = colour_of(known ? part.shows.cell(row, column) : -1);
                }
        });
    return image;
}

using cell_test = bool (*)(const void*, std::int64_t);

/// A test whether a cell of an array of this type is not zero.
cell_test set_in(dtype type) {
    return with_elements(nullptr, type, []<class T>(const T*) -> cell_test {
        return [](const void* data, std::int64_t cell) { return static_cast<const T*>(data)[cell] != T{}; };
    });
}

}  // namespace

picture draw_trust(const sheet& on, const io::array& trusted) {
    const auto* cells = reinterpret_cast<const std::uint8_t*>(trusted.data.get());
    constexpr rgb sure{176, 218, 196}, open{229, 140, 96};
    return in_colours(on, [&](std::int64_t cell) { return cell >= 0 && cells[cell] != 0 ? sure : open; });
}

picture draw_change(const sheet& on, const io::array& before, const io::array& after) {
    constexpr rgb outside{24, 24, 28}, stays{235, 233, 226}, gone{219, 122, 52}, fresh{66, 135, 197};
    const cell_test was = set_in(before.type), is = set_in(after.type);
    const auto colour_of = [&](std::int64_t cell) {
        if (cell < 0) return outside;
        const bool shape = was(before.data.get(), cell), kept = is(after.data.get(), cell);
        return shape ? (kept ? stays : gone) : kept ? fresh : outside;
    };
    picture image = in_colours(on, colour_of);
    const solid seen = see_solid(on, after);
    seen.put(image, [&](std::size_t pixel) { return colour_of(seen.cell[pixel]); });
    return image;
}

}  // namespace nearfield::cli
