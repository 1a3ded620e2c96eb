// Which instruction set the SIMD code runs on.
#pragma once

namespace nearfield {

/// Highway's name of the best one that this machine has and this build contains, such as "AVX2".
const char* simd_name();

}  // namespace nearfield
