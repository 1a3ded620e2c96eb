// Diameters from squared radii on the host. Compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "thickness/host_diameters.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "thickness/host_tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::thickness::HWY_NAMESPACE {

bool make_diameters(const std::int32_t* r2, float* made, std::int64_t count) {
    std::int32_t any = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        any |= r2[k];
        made[k] = 2 * __builtin_sqrtf(static_cast<float>(r2[k] & 0xffffff));
    }
    return (any & ~0xffffff) == 0;
}

}  // namespace nearfield::thickness::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::thickness {

HWY_EXPORT(make_diameters);
bool make_diameters(const std::int32_t* r2, float* made, std::int64_t count) {
    return HWY_DYNAMIC_DISPATCH(make_diameters)(r2, made, count);
}

}  // namespace nearfield::thickness
#endif
