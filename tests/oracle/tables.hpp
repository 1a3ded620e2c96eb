// Slow, independent results about labels: cell by cell, with 113-bit sums. Shares no line with src/ and includes none
// of the library's headers.
#pragma once

#include <cstdint>
#include <vector>

namespace oracle {

__extension__ using quad = __float128;

/// Labels of up to three axes, in C order, as 64-bit integers.
struct label_image {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> label;
    std::vector<bool> periodic = {};  ///< empty if no axis is periodic

    [[nodiscard]] std::int64_t cells() const { return static_cast<std::int64_t>(label.size()); }
    [[nodiscard]] std::vector<std::int64_t> place_of(std::int64_t cell) const;
    /// The cell at these coordinates, which may lie one cell beyond a periodic end; -1 outside the image.
    [[nodiscard]] std::int64_t at(const std::vector<std::int64_t>& place) const;
};

struct table_row {
    std::int64_t size = 0, faces = 0;
    std::vector<std::int64_t> first, end;
    std::vector<double> centroid;
    bool border = false;
    double lowest = 0, highest = 0;  ///< NaN if one of the values is NaN
    quad sum = 0, mean = 0, variance = 0;
};

/// Rows for labels 1 to `rows`. `values`: empty, or one for each cell.
std::vector<table_row> rows_of(const label_image& image, std::int64_t rows, const std::vector<double>& values);

/// The cells of each label 1 to `rows`, or its runs as (first cell, cells), one after another.
std::vector<std::vector<std::int64_t>> lists_of(const label_image& image, std::int64_t rows, bool runs);

/// Numbers the values in the order of their first cells; 0 stays 0.
std::vector<std::int64_t> numbered(const label_image& image);

struct touching_pair {
    std::int64_t a, b, pairs;
    double area;
};
/// Touching pairs, sorted by a, then b. `lengths`: cell length along each axis.
std::vector<touching_pair> touching(const label_image& image, int connectivity, const std::vector<double>& lengths);

}  // namespace oracle
