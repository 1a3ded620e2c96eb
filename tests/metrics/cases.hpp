// Random calls of compare_surfaces() against the definitions: all points of a surface against all of the other one.
#pragma once

#include <functional>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/metrics.hpp"

namespace nearfield::test {

struct surface_case {
    shape_t shape;
    std::vector<std::int64_t> value[2];
    dtype type[2] = {dtype::uint8, dtype::uint8};
    std::vector<std::int64_t> labels;  ///< empty: found
    surface_options options;

    /// An image in its element type, C order.
    [[nodiscard]] std::vector<std::byte> packed(int side) const;
};

using surface_runner = std::function<std::vector<surface_distances>(const surface_case&)>;

/// Area of the polygons between 2x2x2 cells of these lengths; bit 4 x + 2 z + y is a cell of the mask. From a list of
/// polygons, turned and mirrored.
double element_area(unsigned cells, const double (&length)[3]);

std::vector<surface_distances> expected(const surface_case& c);
/// The same call for the same seed on every machine: 1 to 3 axes of up to 7 cells, and one of a batch.
surface_case drawn_surface_case(std::uint64_t seed);
/// Two images of spheres that overlap, labels 1 to `labels`, for larger calls.
surface_case spheres(const shape_t& shape, int labels, std::uint64_t seed);
/// Seeds [first, end); stops at the first one that is wrong.
void check_surfaces(const surface_runner& run, std::uint64_t first, std::uint64_t end);
/// All numbers are equal, NaN to NaN; with a `tolerance` means and shares may differ by so much of their size.
void expect_same(const std::vector<surface_distances>& came, const std::vector<surface_distances>& wanted,
                 double tolerance = 0);

}  // namespace nearfield::test
