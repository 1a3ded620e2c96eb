// The fields on a GPU for arrays in host memory. Includes no CUDA header and no fmt, so that both twins can.
#pragma once

#include <vector>

#include "edge/work.hpp"

namespace nearfield {
namespace [[gnu::visibility("default")]] edge {

struct device_timing {
    double copy_ms = 0;                ///< both ways
    double upload_ms = 0;              ///< of that, to the device
    std::vector<double> compute_ms{};  ///< one for each repeat, by the device's own clock
};

/// Copies the images (and weights) to device `ordinal`, computes `repeat` times after `warmups` that are not timed,
/// copies what is wanted back and waits. All arrays are contiguous. Throws out_of_memory with the bytes needed and
/// free, device for other failures of the runtime, unsupported where the build has no CUDA.
device_timing run_on_device(int ordinal, const work<host>& what, int warmups, int repeat);

}  // namespace edge
}  // namespace nearfield
