// Steps of split() that no public call makes, on both places. Arrays are contiguous. In a rehearsal none is called.
#pragma once

#include <cstdint>

#include "nearfield/grid.hpp"

namespace nearfield {

/// Least height of a peak, in units of a cell's shortest side: cells' outlines raise a peak by less than this
/// (docs/objects.md has counts).
inline constexpr double usual_height = 0.75;

}  // namespace nearfield

namespace nearfield::splitting {

/// Returns the largest finite value of float64, or 0. On a device it waits.
double largest_of(const host& on, const any_output<host>& squared);
double largest_of(const device& on, const any_output<device>& squared);

/// Returns a value of int64. On a device it waits.
std::int64_t read(const host& on, const any_output<host>& value);
std::int64_t read(const device& on, const any_output<device>& value);

/// Replaces each of `count` parts (int32) by its barycentre, rounded to a cell. If parts share a cell, the first one
/// gets it.
void shrink(const host& on, const any_output<host>& parts, std::int64_t count);
void shrink(const device& on, const any_output<device>& parts, std::int64_t count);

/// Sets labels up to `count` (int32) to 0 outside the mask `inside` (bool), then those of fewer than `smallest` cells.
void keep_large(const host& on, const any_output<host>& inside, const any_output<host>& labels, std::int64_t count,
                std::int64_t smallest);
void keep_large(const device& on, const any_output<device>& inside, const any_output<device>& labels,
                std::int64_t count, std::int64_t smallest);

}  // namespace nearfield::splitting
