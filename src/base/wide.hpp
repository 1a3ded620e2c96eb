// Integers wider than the machine's, as far as exact sums need them, and their single rounding to double.
#pragma once

#include <bit>
#include <cstdint>

#include "base/annotate.hpp"

namespace nearfield {

__extension__ using uint128 = unsigned __int128;
__extension__ using int128 = __int128;

/// Returns the number of zeros above the highest set bit; x must not be 0.
NF_HD constexpr int leading_zeros(std::uint64_t x) {
#if defined(__CUDA_ARCH__)
    return __clzll(static_cast<long long>(x));  // nvcc 13.0 turns std::countl_zero into a constant
#else
    return std::countl_zero(x);
#endif
}

/// 256 bits, the lowest limb first.
struct wide {
    std::uint64_t limb[4] = {};

    NF_HD constexpr bool is_zero() const { return (limb[0] | limb[1] | limb[2] | limb[3]) == 0; }
    /// Returns the number of bits up to the highest set one; 0 for 0.
    NF_HD constexpr int length() const {
        // This does not search from above and stop: nvcc 13.0 then counted the zeros of the limb before the found one.
        int bits = 0;
        for (int i = 0; i < 4; ++i) bits = limb[i] != 0 ? 64 * i + 64 - leading_zeros(limb[i]) : bits;
        return bits;
    }
};

NF_HD constexpr wide widened(uint128 x) {
    return {{static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(x >> 64), 0, 0}};
}

/// Returns a - b modulo 2^256.
NF_HD constexpr wide difference(const wide& a, const wide& b) {
    wide d;
    std::uint64_t borrow = 0;
    for (int i = 0; i < 4; ++i) {
        const uint128 x = static_cast<uint128>(a.limb[i]) - b.limb[i] - borrow;
        d.limb[i] = static_cast<std::uint64_t>(x);
        borrow = static_cast<std::uint64_t>(x >> 64) & 1;
    }
    return d;
}

/// Returns a * b modulo 2^256.
NF_HD constexpr wide product(const wide& a, std::uint64_t b) {
    wide p;
    uint128 carry = 0;
    for (int i = 0; i < 4; ++i) {
        carry += static_cast<uint128>(a.limb[i]) * b;
        p.limb[i] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
    }
    return p;
}

NF_HD constexpr wide squared(uint128 x) {
    const auto low = static_cast<std::uint64_t>(x), high = static_cast<std::uint64_t>(x >> 64);
    const uint128 cross = static_cast<uint128>(low) * high;
    wide s = widened(static_cast<uint128>(low) * low);
    const uint128 top = static_cast<uint128>(high) * high;
    s.limb[2] = static_cast<std::uint64_t>(top), s.limb[3] = static_cast<std::uint64_t>(top >> 64);
    for (int twice = 0; twice < 2; ++twice) {
        uint128 carry = static_cast<uint128>(s.limb[1]) + static_cast<std::uint64_t>(cross);
        s.limb[1] = static_cast<std::uint64_t>(carry);
        carry = (carry >> 64) + s.limb[2] + static_cast<std::uint64_t>(cross >> 64);
        s.limb[2] = static_cast<std::uint64_t>(carry);
        s.limb[3] += static_cast<std::uint64_t>(carry >> 64);
    }
    return s;
}

/// Shifts left; `by` is in [0, 255].
NF_HD constexpr wide shifted_left(const wide& a, int by) {
    wide s;
    const int limbs = by / 64, bits = by % 64;
    for (int i = 3; i >= limbs; --i) {
        s.limb[i] = a.limb[i - limbs] << bits;
        if (bits != 0 && i > limbs) s.limb[i] |= a.limb[i - limbs - 1] >> (64 - bits);
    }
    return s;
}

/// Divides in place and returns the remainder. `by` is not 0, and below 2^63.
NF_HD constexpr std::uint64_t divide(wide& a, std::uint64_t by) {
    std::uint64_t rest = 0;
    for (int i = 3; i >= 0; --i) {
        if (rest == 0) {
            rest = a.limb[i] % by, a.limb[i] /= by;
            continue;
        }
        const uint128 x = static_cast<uint128>(rest) << 64 | a.limb[i];
        a.limb[i] = static_cast<std::uint64_t>(x / by), rest = static_cast<std::uint64_t>(x % by);
    }
    return rest;
}

/// Returns the double nearest to (a + x) * 2^exponent, ties to even, where x is 0, or in (0, 1) if `more` is set.
/// Returns +inf beyond the largest double. With `more` set, `a` must be at least 2^54.
NF_HD constexpr double nearest_double(const wide& a, bool more, int exponent) {
    const int length = a.length();
    if (length == 0) return 0;
    const wide top = shifted_left(a, 256 - length);
    more = more || (top.limb[0] | top.limb[1] | top.limb[2]) != 0;
    const std::uint64_t high = top.limb[3];    // the value is high * 2^scale, plus lower bits
    const int scale = exponent + length - 64;  // 2^63 <= high
    constexpr int lowest_scale = -1074;        // exponent of a double's last bit
    const int last = scale + 11 < lowest_scale ? lowest_scale : scale + 11, drop = last - scale;
    if (drop > 64) return 0;
    const std::uint64_t kept = drop == 64 ? 0 : high >> drop, half = std::uint64_t{1} << (drop - 1),
                        rest = high & (2 * half - 1);
    const bool up = rest > half || (rest == half && (more || (kept & 1) != 0));
    // Exponent fields of 0 and 1 mean the same power; a carry out of the fraction correctly increments the field.
    const std::int64_t field = last - lowest_scale;
    if (field >= 2046) return std::bit_cast<double>(std::uint64_t{0x7ff} << 52);
    return std::bit_cast<double>((static_cast<std::uint64_t>(field) << 52) + kept + (up ? 1 : 0));
}

}  // namespace nearfield
