// Local thickness on a GPU for arrays in host memory. Includes no CUDA header and no fmt, so that both twins can.
#pragma once

#include "edge/device_run.hpp"
#include "nearfield/thickness.hpp"

namespace nearfield::edge {

/// local_thickness() on device `ordinal`, or union_of_balls() with `radii_given`: copies the image there, computes,
/// copies what is wanted back and waits. All arrays are contiguous. Throws what run_on_device does.
device_timing thickness_on_device(int ordinal, const any_input<host>& image, const thickness_fields<host>& out,
                                  const thickness_options& options, bool radii_given = false);

}  // namespace nearfield::edge
