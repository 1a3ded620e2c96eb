#include "base/simd.hpp"

#include <hwy/highway.h>

namespace nearfield {

// Targets are bits; the lowest one is the best.
const char* simd_name() {
    const auto usable = hwy::SupportedTargets();
    return hwy::TargetName(usable & -usable);
}

}  // namespace nearfield
