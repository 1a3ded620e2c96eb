// Dispatches on types of numbers that are known only at run time.
#pragma once

#include <cstdint>

#include "nearfield/grid.hpp"

namespace nearfield {

/// Calls body(T{}) with the integer type that the dtype names; a bool is read as a byte.
template <class Body>
constexpr decltype(auto) with_integer(dtype type, const Body& body) {
    switch (type) {
        case dtype::int8: return body(std::int8_t{});
        case dtype::int16: return body(std::int16_t{});
        case dtype::uint16: return body(std::uint16_t{});
        case dtype::int32: return body(std::int32_t{});
        case dtype::uint32: return body(std::uint32_t{});
        case dtype::int64: return body(std::int64_t{});
        case dtype::uint64: return body(std::uint64_t{});
        default: return body(std::uint8_t{});
    }
}

/// Calls body(T{}) with the type of the numbers, float32 and float64 included; float16 has none.
template <class Body>
constexpr decltype(auto) with_number(dtype type, const Body& body) {
    if (type == dtype::float32) return body(float{});
    if (type == dtype::float64) return body(double{});
    return with_integer(type, body);
}

}  // namespace nearfield
