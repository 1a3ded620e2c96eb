// Dispatches on sizes of elements that are known only at run time.
#pragma once

#include <cstdint>

namespace nearfield {

/// Calls body(T{}) with the unsigned integer of 1, 2, 4 or 8 bytes.
template <class Body>
constexpr decltype(auto) with_bytes(std::int64_t bytes, const Body& body) {
    switch (bytes) {
        case 1: return body(std::uint8_t{});
        case 2: return body(std::uint16_t{});
        case 4: return body(std::uint32_t{});
        default: return body(std::uint64_t{});
    }
}

}  // namespace nearfield
