// What a TIFF's ImageDescription says about its pages: ImageJ's lines, OME's XML, tifffile's JSON. Nothing in it is
// trusted: where it does not fit the pages, they have no known meaning.
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
    /// Of the axes that the pages make, slowest first as in the file, without those of length 1.
    std::vector<axis_kind> kinds;
    std::vector<std::int64_t> sizes;
    double z = 0, y = 0, x = 0;  ///< size of a cell, 0 where nothing is said
    std::string unit;
};

/// One page, as far as descriptions repeat it.
struct tiff_page_shape {
    std::int64_t height = 0, width = 0, samples = 1;
};

[[nodiscard]] tiff_description describe_pages(std::string_view text, std::int64_t pages, const tiff_page_shape& page);
/// ImageJ's number of images; 1 where the description is not ImageJ's.
[[nodiscard]] std::int64_t imagej_images(std::string_view text);

}  // namespace nearfield::io
