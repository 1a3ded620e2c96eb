// The instruction set that the SIMD code uses.
#pragma once

namespace nearfield {

/// Returns Highway's name of the best one that this machine has and this build contains, such as "AVX2".
const char* simd_name();

}  // namespace nearfield
