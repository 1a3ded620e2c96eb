// Distance fields in which every cell has a bound of its own.
#pragma once

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// distance_transform in which a cell whose distance (as a double) exceeds its own bound has no site. Everything said
/// there holds; options.max_distance bounds all cells, and makes the work smaller where it is the largest bound.
///
///   bounds   float32 or float64, the shape of `image`, any strides, 0 where one bound serves many cells; in units of
///            `spacing`. +inf bounds nothing; a bound that is negative or NaN leaves no site
///   out      any fields but `trusted`
///
/// Time of a distance_transform with distances in float64, and one more pass over what is wanted. Workspace: that, and
/// 8 bytes a cell unless out.distance is float64. Throws nearfield::error before any work is started.
void bounded_distance_transform(const host& on, const any_input<host>& image, const any_input<host>& bounds,
                                const fields<host>& out, const distance_options& options = {});
void bounded_distance_transform(const device& on, const any_input<device>& image, const any_input<device>& bounds,
                                const fields<device>& out, const distance_options& options = {});

}  // namespace nearfield
