// GeoTIFF's tags: a raster's place on the earth. Outputs made from an image keep them unchanged; only the size of a
// cell is interpreted. Ritter, Ruth, "GeoTIFF format specification", revision 1.0, 2000.
#pragma once

#include <tiffio.h>

#include <string>

#include "io/io.hpp"

namespace nearfield::io {

/// Reads the tags of the current page; they are empty if missing, or of a type that the format does not allow.
[[nodiscard]] geo_place read_place(TIFF* tiff);
void write_place(TIFF* tiff, const geo_place& place);

struct cell_lengths {
    double y = 0, x = 0;  ///< 0 if the file does not say, or if its axes are skewed
    std::string unit;     ///< of a projected raster; else empty
};
[[nodiscard]] cell_lengths lengths_of(const geo_place& place);

}  // namespace nearfield::io
