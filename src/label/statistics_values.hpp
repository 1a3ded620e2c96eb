// Lowest, highest and sums of the values of a run, on the host.
#pragma once

#include "label/statistics.hpp"

namespace nearfield::statistics {

/// Values at a distance of `step` elements.
template <class V>
struct value_line {
    const V* first = nullptr;
    std::int64_t step = 1;
};

/// Calls loop(step); a step of 1 is passed as a compile-time constant.
template <class Loop>
void with_step(std::int64_t step, const Loop& loop) {
    if (step == 1) loop(std::integral_constant<std::int64_t, 1>());
    else loop(step);
}

template <class V>
value_range range_of(const value_line<V>& values, std::int64_t first, std::int64_t end) {
    using key = bits_of<V>;
    key low = std::numeric_limits<key>::max(), high = 0;
    key nan = 0;
    with_step(values.step, [&](auto step) {
        for (std::int64_t x = first; x < end; ++x) {
            const V value = values.first[x * step];
            const auto k = static_cast<key>(key_of(value));
            low = k < low ? k : low, high = k > high ? k : high;
            nan = static_cast<key>(nan | (value != value ? 1 : 0));
        }
    });
    if (nan != 0) return {lowest_key, highest_key};
    return {low, high};
}

/// Adds up to 2^31 values.
template <class V, bool Squares>
void add_values(const value_line<V>& values, std::int64_t first, std::int64_t end, const fixed_scale& scale,
                value_sums& to) {
    with_step(values.step, [&](auto step) {
        if constexpr (sizeof(V) <= 4 && !std::is_floating_point_v<V>) {
            // Squares of 32 bits are summed in halves: there are too few values for either sum to overflow.
            std::uint64_t sum = 0, low = 0, high = 0;
            for (std::int64_t x = first; x < end; ++x) {
                const std::uint64_t n = key_of(values.first[x * step]);
                sum += n;
                if constexpr (Squares && sizeof(V) == 4) low += n * n & 0xffffffff, high += n * n >> 32;
                else if constexpr (Squares) low += n * n;
            }
            to.add(sum, (static_cast<uint128>(high) << 32) + low);
        } else {
            value_sums sums;
            for (std::int64_t x = first; x < end; ++x) {
                const std::uint64_t n = natural_of(values.first[x * step], scale);
                if constexpr (Squares) sums.add_natural(n);
                else sums.add(n, 0);
            }
            to.add(sums);
        }
    });
}

}  // namespace nearfield::statistics
