// The convex hull of a label in an image, computed in integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nearfield::components {

/// A span of cells of one line, both ends included.
struct line_span {
    std::int64_t line, first, last;
};

/// A point in units of half cells.
struct half_point {
    std::int64_t y, x;
};

/// Convex hull of the midpoints of cells' edges, as scikit-image takes it. Reuses its memory from label to label.
class convex_hull {
public:
    convex_hull(double cell_y, double cell_x) : cell_y_(cell_y), cell_x_(cell_x) {}
    /// Takes a label's runs in raster order, each as (first cell, cells), of an image whose lines have `side` cells.
    void take(std::span<const std::int64_t> runs, std::int64_t side);
    /// Number of cells whose centres lie in the hull or on it.
    [[nodiscard]] std::int64_t cells() const { return cells_; }
    /// Square of the largest distance between edge midpoints of those cells.
    [[nodiscard]] double diameter2() const;

private:
    void fill(std::int64_t skip_first, std::int64_t skip_end);
    void fill_ends(std::int64_t side);

    double cell_y_, cell_x_;

    std::vector<line_span> lines_, filled_;
    std::vector<half_point> left_, right_;  ///< corners from the first line to the last; right_ holds -x
    std::int64_t cells_ = 0;
};

}  // namespace nearfield::components
