// Definitions that all kernels of the exact engine share: the shape of a pass, reading the state along a line, writing
// finished cells; the cost of a step along an axis, and bounds that hold under rounding.
#pragma once

#include <cuda_runtime.h>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/cuda.cuh"
#include "exact/core.hpp"
#include "exact/half.hpp"

namespace nearfield::exact {

/// Integer type that holds a coordinate and its square in the numbers V.
template <class V>
using steps = std::conditional_t<std::is_same_v<V, std::int32_t>, std::int32_t, std::int64_t>;

/// Strides in elements along the problem's axes; passed to kernels by value.
struct strides {
    std::int64_t of[max_rank]{};
};

using cuda::blocks_for;

/// A pass searches lines of `rows` cells, `inner` apart. Columns are numbered so that neighbours are adjacent in memory
/// wherever `inner` allows it.
struct pass {
    int axis = 0;
    std::int64_t rows = 1, inner = 1, columns = 1;

    __device__ std::int64_t first_cell(std::int64_t column) const {
        if (columns == inner) return column;
        const std::int64_t outer = quotient(column, inner);
        return outer * rows * inner + (column - outer * inner);
    }
};

/// The caller's fields, contiguous, one pointer each; null if not wanted.
struct outputs {
    float* distance32 = nullptr;
    double* distance64 = nullptr;
    std::uint16_t* distance16 = nullptr;
    std::uint8_t* within = nullptr;  ///< 1 if there is a site
    std::uint32_t* squared32 = nullptr;
    std::uint64_t* squared64 = nullptr;
    double* squared_float = nullptr;
    float* squared_float32 = nullptr;
    std::int64_t* index = nullptr;
    std::int32_t* index32 = nullptr;
    std::int32_t* coordinates = nullptr;
    bool only_distance32 = false;   ///< distance32 is the only field
    bool only_within = false;       ///< `within` is the only field
    int image_rank = 1;             ///< axes of the caller's image without those that number images
    int problem_axis[max_rank]{};   ///< problem axis of each of those axes; -1 for one of length 1
    std::int64_t step[max_rank]{};  ///< C-order steps of the problem's axes
    std::int64_t cells = 0;
    double unit2 = 1;  ///< square of the unit of values
    float unit = 1;    ///< its root if that is a power of two, else 0
    std::uint64_t whole_unit2 = 1;

    __device__ bool in_units() const { return unit2 != 1; }
    /// Writes the fields that follow from a cell's value; values above `limit` mean no site.
    template <class V>
    __device__ void put_value(std::int64_t cell, V value, V limit) const;
};

/// The largest value that a site can have.
template <class V>
NF_HD constexpr V last_value() {
    if constexpr (std::is_floating_point_v<V>) return std::numeric_limits<V>::max();
    else return no_site<V>() - 1;
}

/// Returns the root of a whole number below 2^23, correctly rounded (checked for all of them): only sqrt's fast path.
__device__ inline float root_of_whole(float x) {
    float guess;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(x + 1e-30f));  // the root of 0 must not become 0 * inf
    const float root = x * guess;
    return __fmaf_rn(__fmaf_rn(-root, root, x), 0.5f * guess, root);
}

/// Returns the root of a whole number of units.
__device__ inline float root_in(double unit2, float value) {
    return static_cast<float>(__dsqrt_rn(static_cast<double>(value) * unit2));
}

/// Converts a value in units of `unit2` to a squared distance.
template <class V>
__device__ double in_unit(V value, double unit2) {
    return static_cast<double>(value) * unit2;
}

/// Returns the root of a squared distance in double, rounded once; +inf above `limit`. In units of 1 and below 2^24 a
/// correctly rounded float root is the same number.
template <class V>
__device__ float root32(V squared, V limit, double unit2 = 1) {
    if (squared > limit) return __int_as_float(0x7f800000);
    if constexpr (std::is_same_v<V, std::int32_t>)
        if (squared < (1 << 24) && unit2 == 1) return __fsqrt_rn(static_cast<float>(squared));
    return static_cast<float>(__dsqrt_rn(in_unit(squared, unit2)));
}

template <class T, class V>
__device__ T converted(V squared, V limit, T none, std::uint64_t unit2) {
    return squared > limit ? none : static_cast<T>(static_cast<T>(squared) * static_cast<T>(unit2));
}

template <class V>
__device__ void outputs::put_value(std::int64_t cell, V value, V limit) const {
    const double infinite = __longlong_as_double(0x7ff0000000000000);
    if (distance32) distance32[cell] = root32(value, limit, unit2);
    if (distance16) distance16[cell] = half_bits(value > limit ? infinite : __dsqrt_rn(in_unit(value, unit2)));
    if (distance64) distance64[cell] = value > limit ? infinite : __dsqrt_rn(in_unit(value, unit2));
    if (within) within[cell] = !(value > limit);
    if (squared32) squared32[cell] = converted<std::uint32_t>(value, limit, UINT32_MAX, whole_unit2);
    if (squared64) squared64[cell] = converted<std::uint64_t>(value, limit, UINT64_MAX, whole_unit2);
    if (squared_float) squared_float[cell] = value > limit ? infinite : in_unit(value, unit2);
    if (squared_float32) squared_float32[cell] = static_cast<float>(value > limit ? infinite : in_unit(value, unit2));
}

}  // namespace nearfield::exact

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
