// The convex hull of a label of an image, in integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nearfield::components {

/// Cells of a line.
struct line_span {
    std::int64_t line, first, last;
};

/// A point, in half cells.
struct half_point {
    std::int64_t y, x;
};

/// Hull of the middles of cells' edges, as scikit-image takes it. Keeps its memory from label to label.
class convex_hull {
public:
    /// Runs of a label in raster order, each (first cell, cells), of an image whose lines have `side` cells.
    void take(std::span<const std::int64_t> runs, std::int64_t side);
    /// Cells whose centres lie in the hull or on it.
    [[nodiscard]] std::int64_t cells() const { return cells_; }
    /// The square of the largest distance between middles of edges of those cells.
    [[nodiscard]] double diameter2(double cell_y, double cell_x) const;

private:
    void fill();

    std::vector<line_span> lines_, filled_;
    std::vector<half_point> left_, right_;  ///< corners from the first line to the last; of the right x is negative
    std::int64_t cells_ = 0;
};

}  // namespace nearfield::components
