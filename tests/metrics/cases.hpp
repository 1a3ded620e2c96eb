// Random calls of compare_surfaces() and its definition: all points of a surface against all points of the other.
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
    std::vector<std::int64_t> labels;  ///< empty: the call finds them
    surface_options options;

    /// The elements of an image in their type, in C order.
    [[nodiscard]] std::vector<std::byte> packed(int side) const;
};

using surface_runner = std::function<std::vector<surface_distances>(const surface_case&)>;

/// Area of the polygons within 2x2x2 cells of these lengths; bit 4 x + 2 z + y marks a cell of the mask. Rotates and
/// reflects a list of polygons.
double element_area(unsigned cells, const double (&length)[3]);

std::vector<surface_distances> expected(const surface_case& c);
/// Draws a call, the same for a seed on every machine: 1 to 3 axes of up to 7 cells, and sometimes a batch axis.
surface_case drawn_surface_case(std::uint64_t seed);
/// Two images of overlapping spheres with labels 1 to `labels`, for larger calls.
surface_case spheres(const shape_t& shape, int labels, std::uint64_t seed);
/// Checks the seeds [first, end); stops at the first wrong one.
void check_surfaces(const surface_runner& run, std::uint64_t first, std::uint64_t end);
/// Expects equal numbers, NaN equal to NaN; with a `tolerance` means and shares may differ by that relative error.
void expect_same(const std::vector<surface_distances>& came, const std::vector<surface_distances>& wanted,
                 double tolerance = 0);

}  // namespace nearfield::test
