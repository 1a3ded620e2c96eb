// The trust mask.
#include "cli/picture.hpp"
#include "cli/slabs.hpp"

namespace nearfield::cli {

picture draw_trust(const sheet& on, const io::array& trusted) {
    const auto* cells = reinterpret_cast<const std::uint8_t*>(trusted.data.get());
    constexpr rgb sure{176, 218, 196}, open{229, 140, 96};
    picture image(on);
    for (const panel& part : on.panels)
        for_slabs(part.height, [&](std::int64_t begin, std::int64_t end) {
            for (int y = static_cast<int>(begin); y < end; ++y)
                for (int x = 0; x < part.width; ++x) {
                    const std::int64_t down = static_cast<std::int64_t>((y + 0.5) * on.pitch / part.shows.row_spacing);
                    const std::int64_t row = part.rows_up ? part.shows.rows - 1 - down : down,
                                       column =
                                           static_cast<std::int64_t>((x + 0.5) * on.pitch / part.shows.column_spacing);
                    const bool known = row >= 0 && row < part.shows.rows && column < part.shows.columns &&
                                       cells[part.shows.cell(row, column)] != 0;
                    image.at(part.left + x, part.top + y) = known ? sure : open;
                }
        });
    return image;
}

}  // namespace nearfield::cli
