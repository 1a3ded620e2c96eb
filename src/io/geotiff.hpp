// GeoTIFF's tags: where a raster lies on the earth. They are carried to what is made of an image, as they are; only the
// size of a cell is looked at. Ritter, Ruth, "GeoTIFF format specification", revision 1.0, 2000.
#pragma once

#include <tiffio.h>

#include <string>

#include "io/io.hpp"

namespace nearfield::io {

/// Those of the current page; empty when there are none, or none of the types that the format gives them.
[[nodiscard]] geo_place read_place(TIFF* tiff);
void write_place(TIFF* tiff, const geo_place& place);

struct cell_lengths {
    double y = 0, x = 0;  ///< 0 where the file does not say, or its axes are skewed
    std::string unit;     ///< of a projected raster; else empty
};
[[nodiscard]] cell_lengths lengths_of(const geo_place& place);

}  // namespace nearfield::io
