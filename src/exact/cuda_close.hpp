// Nearest sites of images in which most cells have one close by, tile by tile, each straight from the image's bytes.
// Tiles with cells that are farther are left to the passes that all images can go through.
#pragma once

#include <cstdint>

#include "base/lines.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

inline constexpr int close_columns = 128, close_rows = 64;  // of a tile

/// Images of one size, and how they are cut into tiles.
struct close_images {
    int length = 1, rows = 1, tiles_x = 1, tiles_y = 1;
    std::int64_t images = 1;

    explicit close_images(const plan& p)
        : length(static_cast<int>(p.size[static_cast<std::size_t>(p.rank - 1)])),
          rows(static_cast<int>(p.size[static_cast<std::size_t>(p.rank - 2)])),
          tiles_x((length + close_columns - 1) / close_columns),
          tiles_y((rows + close_rows - 1) / close_rows),
          images(p.cells / length / rows) {}
    [[nodiscard]] std::int64_t tiles() const { return images * tiles_x * tiles_y; }
};

/// Whether it is worth it: images of two axes, small for as many launches as the passes take.
inline bool close_fits(const plan& p) {
    constexpr std::int64_t least_length = 1040, least_rows = 256, most_length = 4096, most_cells = 1 << 22;
    if (p.rank - p.first_axis != 2 || p.cells > most_cells || p.cells == 0) return false;
    const auto last = static_cast<std::size_t>(p.rank - 1);
    const std::int64_t length = p.size[last], rows = p.size[last - 1];
    return length >= least_length && length <= most_length && length % 16 == 0 && rows >= least_rows;
}

/// A cell of an image is a byte; image and indices begin at multiples of 16 bytes. Tile i is finished if left[i] is 0.
void search_close(const device& on, const close_images& of, const std::uint8_t* image, bool zero_is_site,
                  std::int32_t* index, std::uint8_t* left);
void search_close(const device& on, const close_images& of, const std::uint8_t* image, bool zero_is_site,
                  std::int64_t* index, std::uint8_t* left);

}  // namespace nearfield::exact
