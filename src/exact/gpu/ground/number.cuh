// Squared distances on the device: the cost of a step along an axis, and bounds that hold under rounding.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "exact/core.hpp"

namespace nearfield::exact::gpu {

/// The largest value of the number type, above every sum with no_site.
template <class V>
NF_HD constexpr V top() {
    if constexpr (std::is_floating_point_v<V>) return std::numeric_limits<V>::infinity();
    else return std::numeric_limits<V>::max();
}

/// Returns weight * steps^2, rounded as `along` rounds it. In double, the square of a 32-bit number needs no conversion
/// instruction, which runs at a quarter of the rate of a sum.
template <class V>
__device__ V cost(V weight, int steps) {
    if constexpr (std::is_same_v<V, std::int32_t>) {
        return weight * steps * steps;
    } else if constexpr (std::is_same_v<V, std::int64_t>) {
        return weight * (std::int64_t{steps} * steps);
    } else {
        const double size = __hiloint2double(0x43300000, steps < 0 ? -steps : steps) - 4503599627370496.0;
        return weight * (size * size);
    }
}

__device__ inline float endless() { return __int_as_float(0x7f800000); }

/// Bounds of a value as floats, rounded so that they hold after three more roundings of a sum of terms.
template <class V>
__device__ float lower_bound(V v) {
    const float f = static_cast<float>(v);
    return v >= no_site<V>() ? endless() : f - fabsf(f) * 1e-6f;
}
template <class V>
__device__ float upper_bound(V v) {
    const float f = static_cast<float>(v);
    return v >= no_site<V>() ? endless() : f + fabsf(f) * 1e-6f;
}

/// Returns the square root with a relative error of 10^-6.
__device__ inline float near_root(float x) {
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}

/// Moves i by n into [0, n); i lies in [-n, 2n).
__device__ inline int wrapped(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

}  // namespace nearfield::exact::gpu
