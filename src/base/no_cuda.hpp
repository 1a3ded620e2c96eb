// The error of a library without kernels if a device is asked for.
#pragma once

namespace nearfield {

[[noreturn]] void refuse_device();

}  // namespace nearfield
