// The planes of an array that a picture shows, and their places on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace nearfield::cli {

/// A plane of an array: cell (row, column) lies at offset + row * row_stride + column * column_stride.
struct plane {
    std::int64_t rows = 1, columns = 1, offset = 0, row_stride = 0, column_stride = 0;
    std::int64_t first = 0;               ///< first cell of the plane's image in a batch
    int row_axis = -1, column_axis = -1;  ///< -1 if the array has no such axis
    double row_spacing = 1, column_spacing = 1;
    std::vector<std::int64_t> at;  ///< coordinates along the axes that are not drawn

    [[nodiscard]] std::int64_t cell(std::int64_t row, std::int64_t column) const {
        return offset + row * row_stride + column * column_stride;
    }
};

struct panel {
    plane shows;
    int left = 0, top = 0, width = 0, height = 0;
    bool rows_up = false;
};

/// A picture's size, its panels, and the rectangle that stays free for a legend.
struct sheet {
    int width = 0, height = 0;
    double pitch = 1;  ///< side of a pixel, in units of the spacing
    std::vector<panel> panels;
    int legend_left = 0, legend_top = 0, legend_width = 0, legend_height = 0;
};

/// The part of an array to draw, and the size of the picture.
struct page {
    std::string slice{};  ///< "AXIS:INDEX", several of them joined by commas
    int batch_axes = 0;   ///< leading axes that number images
    int size = 0;         ///< approximate pixels along the longest side; 0: 800, or 1200 for three planes
};

/// Arranges the planes. One axis is a strip, two are the image, three the three middle planes, with the first axis
/// upright if `rows_up`. A slice must leave two or three axes of an image. A batch shows its first 16 images side by
/// side, or its first volume. Small grids are enlarged, so that a pixel is a square; no side exceeds 8192 pixels.
/// Throws invalid_argument for a slice that does not fit and for an array without cells.
[[nodiscard]] sheet arrange(const std::vector<std::int64_t>& shape, const std::vector<double>& per_axis,
                            const page& drawn, bool rows_up);

/// Returns the size of the letters of a legend of this height, and the width that such a legend takes.
inline int legend_letters(int height) { return std::clamp(height / 220, 1, 3); }
inline int legend_room(int height) { return 86 * legend_letters(height); }

/// Adds room for a legend at the right if the sheet has none and is at least `least_height` pixels high.
[[nodiscard]] sheet with_legend(sheet on, int least_height = 80);

}  // namespace nearfield::cli
