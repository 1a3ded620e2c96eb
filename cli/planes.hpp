// Which planes of an array a picture shows, and where on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nearfield::cli {

/// A plane of an array: cell (row, column) lies at offset + row * row_stride + column * column_stride.
struct plane {
    std::int64_t rows = 1, columns = 1, offset = 0, row_stride = 0, column_stride = 0;
    std::int64_t first = 0;               ///< first cell of the image of a batch that the plane belongs to
    int row_axis = -1, column_axis = -1;  ///< -1: the array has no such axis
    double row_spacing = 1, column_spacing = 1;
    std::vector<std::int64_t> at;  ///< coordinate along every axis that is not drawn

    [[nodiscard]] std::int64_t cell(std::int64_t row, std::int64_t column) const {
        return offset + row * row_stride + column * column_stride;
    }
};

struct panel {
    plane shows;
    int left = 0, top = 0, width = 0, height = 0;
    bool rows_up = false;
};

/// A rectangle of pixels; left over is what stays free for a legend.
struct sheet {
    int width = 0, height = 0;
    double pitch = 1;  ///< length of a pixel's side, in units of the spacing
    std::vector<panel> panels;
    int legend_left = 0, legend_top = 0, legend_width = 0, legend_height = 0;
};

/// What of an array is drawn, and how large.
struct page {
    std::string slice{};  ///< "AXIS:INDEX", several joined by commas
    int batch_axes = 0;   ///< leading axes that number images
    int size = 0;         ///< pixels along the longest side, about; 0: 800, or 1200 for three planes
};

/// One axis: a strip. Two: the image. Three: the three middle planes, first axis upright where `rows_up`. A slice must
/// leave two or three axes of an image. Of a batch of images the first 16 are drawn side by side, of volumes the first
/// one. Small grids are enlarged, so that a pixel is a square; no side is longer than 8192 pixels.
/// Throws invalid_argument for a slice that does not fit and for an array without cells.
[[nodiscard]] sheet arrange(const std::vector<std::int64_t>& shape, const std::vector<double>& per_axis,
                            const page& drawn, bool rows_up);

/// The same with room for a legend at its right, where it has none and is so many pixels high.
[[nodiscard]] sheet with_legend(sheet on, int least_height = 80);

}  // namespace nearfield::cli
