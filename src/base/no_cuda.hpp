// The error of a build without CUDA if a device is asked for.
#pragma once

#include "nearfield/error.hpp"

namespace nearfield {

[[noreturn]] inline void refuse_device() {
    throw error(error_code::unsupported,
                "device: this build has no CUDA backend; build with the CUDA toolkit installed, or use host{}");
}

}  // namespace nearfield
