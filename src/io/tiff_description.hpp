// Interprets a TIFF's ImageDescription: ImageJ's lines, OME's XML, tifffile's JSON. None of it is trusted: if it does
// not match the pages, their meaning is unknown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/io.hpp"

namespace nearfield::io {

struct tiff_description {
    enum class writer { none, imagej, tifffile, ome };

    writer by = writer::none;
    /// Axes that the pages form, slowest first as in the file, without axes of length 1.
    std::vector<axis_kind> kinds;
    std::vector<std::int64_t> sizes;
    double z = 0, y = 0, x = 0;  ///< size of a cell, 0 if unknown
    std::string unit;
};

/// Properties of a page that descriptions repeat.
struct tiff_page_shape {
    std::int64_t height = 0, width = 0, samples = 1;
};

[[nodiscard]] tiff_description describe_pages(std::string_view text, std::int64_t pages, const tiff_page_shape& page);
/// Returns ImageJ's number of images; 1 if the description is not ImageJ's.
[[nodiscard]] std::int64_t imagej_images(std::string_view text);

}  // namespace nearfield::io
