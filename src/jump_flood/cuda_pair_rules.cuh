// Keeps the two nearest sites of a tile's cells, by either way of comparing in cuda_rules.cuh. The six sites that three
// words offer to a cell are compared together.
#pragma once

#include "jump_flood/cuda_rules.cuh"

namespace nearfield::methods::tiles {

/// Lets the multiplication pipe add, by factors that the compiler does not know. They are variables for that reason.
struct factors {
    std::uint32_t one, minus_one;

    __device__ std::uint32_t sum(std::uint32_t a, std::uint32_t b) const { return a * one + b; }
    __device__ std::uint32_t difference(std::uint32_t a, std::uint32_t b) const { return b * minus_one + a; }
    __device__ std::uint32_t complement(std::uint32_t a) const { return a * minus_one + minus_one; }  ///< -a - 1
};

/// Compares each site by one number, which is the same for the same site. The second is the smallest number above the
/// first: x - first - 1 as an unsigned number is largest if x is the first itself.
struct packed_pairs {
    const packed& one;
    const factors& by;
    using doubt = packed::doubt;
    struct kept {
        std::int32_t first, second;
    };
    static __device__ kept nothing() { return {packed::nothing(), packed::nothing()}; }

    /// Offers six sites to a cell. `Along` -1, 0 or 1: the cell lies a step after the words, in their plane, or a step
    /// before. `sums`: the numbers of the two sites of each word.
    template <int Along>
    __device__ void offer(kept& best, const std::uint32_t (&sums)[6], const heard (&of)[6], const Key (&)[6]) const {
        std::uint32_t x[6];
#pragma unroll
        for (int k = 0; k < 6; ++k)
            x[k] = Along == 0 ? sums[k] : by.sum(Along < 0 ? of[k].before : of[k].after, sums[k]);
        const auto number = [&x](int k) { return static_cast<std::int32_t>(x[k]); };
        const std::int32_t first = __vimin3_s32(__vimin3_s32(best.first, number(0), number(1)),
                                                __vimin3_s32(number(2), number(3), number(4)), number(5));
        const std::uint32_t less = by.complement(static_cast<std::uint32_t>(first));
        std::uint32_t above = __viaddmin_u32(static_cast<std::uint32_t>(best.first), less,
                                             by.sum(static_cast<std::uint32_t>(best.second), less));
#pragma unroll
        for (int k = 0; k < 6; ++k) above = __viaddmin_u32(x[k], less, above);
        best = {first, static_cast<std::int32_t>(by.difference(above, less))};
    }
    struct numbers {
        std::uint32_t first, second;
    };
    __device__ numbers with_own(const kept& best, int cell) const {
        return {one.with_own(best.first, cell), one.with_own(best.second, cell)};
    }
    static __device__ void look_at(const numbers& best, doubt& worst) { packed::look_at(best.second, worst); }
    template <bool Volume>
    __device__ void sites_of(const numbers& best, std::uint32_t begin, Key& first, Key& second) const {
        first = one.template site_of<Volume>(best.first, begin),
        second = one.template site_of<Volume>(best.second, begin);
    }
};

/// Compares each site by distance and site, joined in one number of 64 bits.
struct separate_pairs {
    const separate& one;
    using doubt = separate::doubt;
    struct kept {
        std::int64_t first, second;
    };
    static constexpr std::int64_t of(std::int32_t distance2, Key key) {
        return static_cast<std::int64_t>(distance2) << 32 | static_cast<std::uint32_t>(key);
    }
    static __device__ kept nothing() {
        constexpr std::int64_t none_yet = of(no_site<std::int32_t>(), none<Key>);
        return {none_yet, none_yet};
    }
    template <int Along>
    __device__ void offer(kept& best, const std::uint32_t (&sums)[6], const heard (&from)[6],
                          const Key (&key)[6]) const {
#pragma unroll
        for (int k = 0; k < 6; ++k) {
            if (!separate::counts(key[k])) continue;
            const std::uint32_t d = sums[k] + (Along < 0 ? from[k].before : Along > 0 ? from[k].after : 0);
            const std::int64_t x = of(static_cast<std::int32_t>(d), key[k]);
            const std::int64_t later = x > best.first && x < best.second ? x : best.second;
            best.second = x < best.first ? best.first : later;
            best.first = min(x, best.first);
        }
    }
    static __device__ const kept& with_own(const kept& best, int) { return best; }
    static __device__ void look_at(const kept&, doubt&) {}
    template <bool>
    __device__ void sites_of(const kept& best, std::uint32_t, Key& first, Key& second) const {
        first = static_cast<Key>(best.first), second = static_cast<Key>(best.second);
    }
};

}  // namespace nearfield::methods::tiles
