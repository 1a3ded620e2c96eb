// Medial axes on a GPU for arrays in host memory. Includes no CUDA header and no fmt, so that both twins can.
#pragma once

#include "edge/device_run.hpp"
#include "nearfield/medial_axis.hpp"

namespace nearfield::edge {

/// medial_axis() on device `ordinal`: copies the image there, calls, copies what is wanted back and waits. All arrays
/// are contiguous. Throws what run_on_device does.
device_timing medial_axis_on_device(int ordinal, const any_input<host>& image, const medial_axis_fields<host>& out,
                                    const medial_axis_options& options);

/// The same for reconstruct().
device_timing reconstruct_on_device(int ordinal, const any_input<host>& axis, const any_input<host>& squared,
                                    const any_output<host>& out, const reconstruct_options& options);

}  // namespace nearfield::edge
