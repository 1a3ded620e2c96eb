// Access to elements of arrays whose type is known only at run time.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "nearfield/grid.hpp"

namespace nearfield::cli {

/// An IEEE binary16 as stored in a file.
struct half {
    std::uint16_t bits;

    operator double() const {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
        if (exponent == 31) value = fraction != 0 ? NAN : INFINITY;
        return bits >> 15 != 0 ? -value : value;
    }
};

/// Calls use(pointer to const elements of the array's type).
template <class Use>
decltype(auto) with_elements(const void* data, dtype type, Use&& use) {
    switch (type) {
        case dtype::boolean: return use(static_cast<const bool*>(data));
        case dtype::int8: return use(static_cast<const std::int8_t*>(data));
        case dtype::uint8: return use(static_cast<const std::uint8_t*>(data));
        case dtype::int16: return use(static_cast<const std::int16_t*>(data));
        case dtype::uint16: return use(static_cast<const std::uint16_t*>(data));
        case dtype::int32: return use(static_cast<const std::int32_t*>(data));
        case dtype::uint32: return use(static_cast<const std::uint32_t*>(data));
        case dtype::int64: return use(static_cast<const std::int64_t*>(data));
        case dtype::uint64: return use(static_cast<const std::uint64_t*>(data));
        case dtype::float16: return use(static_cast<const half*>(data));
        case dtype::float32: return use(static_cast<const float*>(data));
        default: return use(static_cast<const double*>(data));
    }
}

constexpr bool is_floating(dtype type) { return type >= dtype::float16; }

}  // namespace nearfield::cli
