// Division by a number that is known before a kernel starts: a product and a shift instead of twenty instructions.
#pragma once

#include <bit>
#include <cstdint>

#include "base/annotate.hpp"

namespace nearfield {

/// Divides numbers below 2^31 by a number from 1 to 2^31. Let 2^s be the smallest power of two that is not below it:
/// ceil(2^(31+s) / by) is too large by a factor below 1 + 2^-31, which changes no quotient of numbers below 2^31.
struct divisor {
    std::uint32_t by = 1, multiplier = std::uint32_t{1} << 31;
    std::int32_t shift = 31;

    constexpr divisor() = default;
    constexpr explicit divisor(std::int64_t number)
        : by(static_cast<std::uint32_t>(number)), shift(31 + static_cast<std::int32_t>(std::bit_width(by - 1))) {
        multiplier = static_cast<std::uint32_t>(((std::uint64_t{1} << shift) + by - 1) / by);
    }
    NF_HD constexpr std::uint32_t quotient(std::uint32_t of) const {
        return static_cast<std::uint32_t>(std::uint64_t{of} * multiplier >> shift);
    }
};

namespace self_check {
constexpr bool divides(std::int64_t by) {
    constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
    const divisor d(by);
    const std::int64_t near[] = {0,   1, by - 1, by, by + 1, 5 * by - 1, 5 * by, most / by * by - 1, most / by * by,
                                 most};
    for (std::int64_t n : near)
        if (n <= most && d.quotient(static_cast<std::uint32_t>(n)) != static_cast<std::uint32_t>(n / by)) return false;
    return true;
}
static_assert(divides(1) && divides(2) && divides(3) && divides(7) && divides(641) && divides(8192) && divides(46341));
static_assert(divides(65537) && divides((1 << 30) - 1) && divides((1 << 30) + 1) && divides(2147483646));
}  // namespace self_check

}  // namespace nearfield
