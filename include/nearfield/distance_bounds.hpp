// Distance fields with a separate bound for every cell.
#pragma once

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// distance_transform in which a cell whose distance (as a double) exceeds its own bound has no site. Its contract
/// holds; options.max_distance bounds all cells, and reduces the work if it is the largest bound.
///
///   bounds   float32 or float64, the shape of `image`, any strides, 0 if one bound serves many cells; in units of
///            `spacing`. +inf bounds nothing; a cell whose bound is negative or NaN has no site
///   out      any fields but `trusted`
///
/// Time: a distance_transform with distances in float64, and one more pass over the requested fields. Workspace: that,
/// and 8 bytes a cell unless out.distance is float64. Throws nearfield::error before any work is started.
void bounded_distance_transform(const host& on, const any_input<host>& image, const any_input<host>& bounds,
                                const fields<host>& out, const distance_options& options = {});
void bounded_distance_transform(const device& on, const any_input<device>& image, const any_input<device>& bounds,
                                const fields<device>& out, const distance_options& options = {});

}  // namespace nearfield
