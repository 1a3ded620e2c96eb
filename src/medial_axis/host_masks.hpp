// The host's pass over masks in unit spacing with open borders.
#pragma once

#include "medial_axis/problem.hpp"

namespace nearfield::medial_axes {

/// Marks the axis of problems for which serves_wide_masks() is true.
void mark_masks(const host& on, const problem& p, const pass& over);

}  // namespace nearfield::medial_axes
