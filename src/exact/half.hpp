// IEEE 754 half precision, for host and device.
#pragma once

#include <cstdint>

#include "base/annotate.hpp"

namespace nearfield::exact {

/// Returns the bits of the half nearest to `value`, ties to even.
NF_HD constexpr std::uint16_t half_bits(double value) {
    constexpr int cut = 42;                  // fraction bits of a double minus those of a half
    constexpr int smallest_exponent = 1009;  // exponent of 2^-14, the smallest normal half
    const auto bits = __builtin_bit_cast(std::uint64_t, value);
    const auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000);
    const std::uint64_t size = bits & 0x7fffffffffffffff;
    if (size > 0x7ff0000000000000) return sign | 0x7e00;   // NaN
    if (size >= 0x40effe0000000000) return sign | 0x7c00;  // 65520 and more round to infinity
    const int exponent = static_cast<int>(size >> 52);
    if (exponent < smallest_exponent - 11) return sign;
    const int shift = exponent >= smallest_exponent ? cut : cut + smallest_exponent - exponent;
    const std::uint64_t digits = (size & 0xfffffffffffff) | 0x10000000000000;
    const std::uint64_t rest = digits & ((std::uint64_t{1} << shift) - 1), middle = std::uint64_t{1} << (shift - 1);
    std::uint64_t half = digits >> shift;
    if (rest > middle || (rest == middle && (half & 1) != 0)) ++half;  // a carry into the exponent is correct
    if (exponent >= smallest_exponent) half += static_cast<std::uint64_t>(exponent - smallest_exponent) << 10;
    return static_cast<std::uint16_t>(sign | half);
}

namespace self_check {
static_assert(half_bits(0) == 0 && half_bits(-0.0) == 0x8000 && half_bits(1) == 0x3c00 && half_bits(-2) == 0xc000);
static_assert(half_bits(65504) == 0x7bff && half_bits(65519.99) == 0x7bff && half_bits(65520) == 0x7c00);
static_assert(half_bits(2049) == half_bits(2048) && half_bits(2051) == half_bits(2052), "ties to even");
static_assert(half_bits(1 + 0x1p-11) == 0x3c00 && half_bits(1 + 0x1p-11 + 0x1p-50) == 0x3c01, "rounded once");
static_assert(half_bits(0x1p-24) == 1 && half_bits(0x1p-25) == 0 && half_bits(0x1.8p-25) == 1 &&
              half_bits(0x1p-14) == 0x400);
}  // namespace self_check

}  // namespace nearfield::exact
