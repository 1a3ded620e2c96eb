// Random calls of fill_nearest() and interpolate_slices(), compared with their definitions cell by cell.
#pragma once

#include <functional>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/fill.hpp"

namespace nearfield::test {

/// A call of fill_nearest(). Values are integers that stand for elements of any type; channels are the last axis.
struct fill_case {
    shape_t cells;
    std::int64_t channels = 0;  ///< 0 if there is no channel axis
    std::vector<std::int64_t> value;
    flags_t missing;
    std::vector<double> spacing;
    std::vector<border> ends;
    double max_distance = 1e300;
    int batch_axes = 0;
    dtype type = dtype::int32;

    [[nodiscard]] fill_options options() const {
        return {spacing.empty() ? nearfield::spacing{} : nearfield::spacing(spacing.data(), spacing.size()),
                ends.empty() ? borders{} : borders(ends.data(), ends.size()), max_distance, batch_axes};
    }
    [[nodiscard]] shape_t shape() const;
};

/// A call of interpolate_slices() for labels of int32.
struct slice_case {
    shape_t shape;
    int axis = 0;
    std::vector<std::int64_t> label, drawn;
    std::vector<slice_position> positions;
    std::vector<double> spacing;
    bool align = false;
    dtype type = dtype::int32;

    [[nodiscard]] slice_options options() const {
        return {spacing.empty() ? nearfield::spacing{} : nearfield::spacing(spacing.data(), spacing.size()), drawn,
                align};
    }
    [[nodiscard]] shape_t answer_shape() const;
};

/// Converts integers to elements of a type and back, in C order.
std::vector<std::byte> packed(const std::vector<std::int64_t>& value, dtype type);
std::vector<std::int64_t> unpacked(const std::vector<std::byte>& bytes, dtype type);

std::vector<std::int64_t> expected(const fill_case& c);
/// `last`: among labels equally near within 1e-9, takes the last one instead of the first.
std::vector<std::int64_t> expected(const slice_case& c, bool last = false);
/// Draws a call; the same seed gives the same call on every machine.
fill_case drawn_fill_case(std::uint64_t seed);
/// `real`: with a spacing whose lengths are no multiples of one length.
slice_case drawn_slice_case(std::uint64_t seed, bool real = false);

/// Checks the seeds [first, end); stops at the first wrong one.
void check_fill(const std::function<std::vector<std::int64_t>(const fill_case&)>& run, std::uint64_t first,
                std::uint64_t end);
void check_slices(const std::function<std::vector<std::int64_t>(const slice_case&)>& run, std::uint64_t first,
                  std::uint64_t end, bool real = false);

}  // namespace nearfield::test
