// Computes fields on a GPU for arrays in host memory. Includes no CUDA header and no fmt, so builds without CUDA can.
#pragma once

#include <vector>

#include "edge/work.hpp"

namespace nearfield {
namespace [[gnu::visibility("default")]] edge {

struct device_timing {
    double copy_ms = 0;                ///< to the device and back
    double upload_ms = 0;              ///< the part of copy_ms to the device
    std::vector<double> compute_ms{};  ///< one for each repetition, by the device's clock
};

/// Copies the images (and weights) to device `ordinal`, runs `warmups` untimed and `repeat` timed repetitions, copies
/// the wanted fields back and waits. All arrays are contiguous. Throws out_of_memory with the bytes needed and free,
/// device for other failures of the runtime, and unsupported if the build has no CUDA.
device_timing run_on_device(int ordinal, const work<host>& what, int warmups, int repeat);

}  // namespace edge
}  // namespace nearfield
