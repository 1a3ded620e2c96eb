// Runs any call of the library on a GPU for arrays in host memory. Includes no CUDA header, so builds without CUDA can.
#pragma once

#include <functional>
#include <span>

#include "edge/device_run.hpp"

namespace nearfield {
namespace [[gnu::visibility("default")]] edge {

/// A call, given device views of its inputs and outputs in the order in which the host arrays were given.
using device_work = std::function<void(const device& on, std::span<const any_input<device>> in,
                                       std::span<const any_output<device>> out)>;

/// Copies `in` to device `ordinal`, runs `warmups` untimed and `repeat` timed repetitions, copies `out` back and waits.
/// All arrays are contiguous. Throws what run_on_device does.
device_timing run_arrays_on_device(int ordinal, std::span<const any_input<host>> in,
                                   std::span<const any_output<host>> out, const device_work& work, int warmups = 0,
                                   int repeat = 1);

}  // namespace edge
}  // namespace nearfield
