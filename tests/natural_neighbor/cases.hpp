// Random calls of natural_neighbor() and its definition: each cell of a tiling against each cell.
#pragma once

#include <functional>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/natural_neighbor.hpp"

namespace nearfield::test {

/// A call. Values are multiples of 1/8, so that sums of doubles are exact.
struct natural_case {
    shape_t shape;
    std::vector<double> value, spacing;
    std::vector<std::uint8_t> known;  ///< empty: all cells with a finite value are known
    std::vector<border> ends;
    dtype type = dtype::float64;
    int batch_axes = 0;

    [[nodiscard]] natural_neighbor_options options() const {
        return {spacing.empty() ? nearfield::spacing{} : nearfield::spacing(spacing.data(), spacing.size()),
                ends.empty() ? borders{} : borders(ends.data(), ends.size()), batch_axes};
    }
    /// The values' elements in their type, in C order.
    [[nodiscard]] std::vector<std::byte> packed() const;
};

/// Runs a call; returns float64 in C order.
using natural_runner = std::function<std::vector<double>(const natural_case&)>;

std::vector<double> expected(const natural_case& c);
/// Draws a call, the same for a seed on every machine: 1 to 3 axes of up to 9 cells, and sometimes a batch axis.
natural_case drawn_natural_case(std::uint64_t seed);
/// Checks the seeds [first, end); stops at the first wrong one.
void check_natural(const natural_runner& run, std::uint64_t first, std::uint64_t end);

}  // namespace nearfield::test
