// IEEE binary16 from double, rounded once, the same on host and device. (A detour over float would round twice.)
#pragma once

#include <bit>
#include <cstdint>

#include "base/annotate.hpp"

namespace nearfield::exact {

/// Bits of the binary16 nearest to `value`, ties to even; beyond 65504 infinity.
NF_HD constexpr std::uint16_t half_bits(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000u);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    if (exponent == 1024)
        return static_cast<std::uint16_t>(sign | 0x7c00u | (fraction != 0 ? 0x200u : 0u));
    if (exponent > 15) return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (exponent < -25) return sign;
    // Significand with its leading bit, to be cut to 11 bits, or fewer where the result is subnormal.
    const std::uint64_t significand = fraction | std::uint64_t{1} << 52;
    const int cut = exponent < -14 ? 42 + (-14 - exponent) : 42;
    const std::uint64_t kept = significand >> cut, rest = significand & ((std::uint64_t{1} << cut) - 1);
    const std::uint64_t half = std::uint64_t{1} << (cut - 1);
    const std::uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
    // A carry into the exponent is what rounding up means; the leading bit adds the one that is taken off here.
    const std::uint64_t base = exponent < -14 ? 0 : static_cast<std::uint64_t>(exponent + 14) << 10;
    return static_cast<std::uint16_t>(sign | (base + rounded));
}

static_assert(half_bits(0.0) == 0 && half_bits(1.0) == 0x3c00 && half_bits(-2.0) == 0xc000);
static_assert(half_bits(65504.0) == 0x7bff && half_bits(65519.999) == 0x7bff && half_bits(65520.0) == 0x7c00);
static_assert(half_bits(0x1p-14) == 0x0400 && half_bits(0x1p-24) == 1 && half_bits(0x1p-25) == 0);
static_assert(half_bits(1.0 + 0x1p-11) == 0x3c00 && half_bits(1.0 + 0x1.8p-10) == 0x3c02, "ties to even");
static_assert(half_bits(0x1.8p-25) == 1 && half_bits(0x1.ffcp-15 + 0x1p-26) == 0x0400);

}  // namespace nearfield::exact
