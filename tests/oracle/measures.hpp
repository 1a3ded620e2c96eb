// Slow, independent shapes of labels: sets of corners, edges and faces, hulls by gift wrapping, 113-bit sums. Shares no
// line with src/ and includes none of the library's headers.
#pragma once

#include "oracle/tables.hpp"

namespace oracle {

struct shape_row {
    std::int64_t cells = 0, euler_number = 0, euler_number_faces = 0;
    double extent = 0;
    quad covariance[3][3] = {};  ///< covariance of coordinates, in cells
    /// Number of cells whose neighbour a step back has another label, for steps (0, 0, 1), (0, 1, -1), ... (1, 1, 1).
    std::vector<std::int64_t> crossings;
    // Set for images only.
    double perimeter = 0;
    std::int64_t convex_cells = 0;
    double feret_diameter = 0;
};

/// Rows for labels 1 to `rows`, of 2 or 3 axes. `lengths`: cell length along each axis.
std::vector<shape_row> shapes_of(const label_image& image, std::int64_t rows, const std::vector<double>& lengths);

}  // namespace oracle
