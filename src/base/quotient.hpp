// Division of cell numbers.
#pragma once

#include <cstdint>

#include "base/annotate.hpp"

namespace nearfield {

/// Returns a / b for a >= 0, b > 0. Most sizes fit 32 bits, where a division costs a third.
NF_HD constexpr std::int64_t quotient(std::int64_t a, std::int64_t b) {
    if (((a | b) >> 32) == 0) return static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b);
    return a / b;
}

}  // namespace nearfield
