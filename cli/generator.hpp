// Random integers that are the same on every platform; the distributions of std are not.
#pragma once

#include <cstdint>

namespace nearfield::cli {

/// The finaliser of splitmix64: a bijection of 64 bits without a visible pattern.
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
constexpr std::uint64_t scramble(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/// A random value for a counter `at`, so that cells can be filled in any order.
constexpr std::uint64_t scramble(std::uint64_t seed, std::uint64_t at) { return scramble(scramble(seed) ^ at); }

class generator {
public:
    constexpr explicit generator(std::uint64_t seed) : state_(scramble(seed)) {}
    constexpr std::uint64_t next() { return scramble(state_++); }
    /// A random integer in [0, limit). The bias of the multiplication is below 2^-32 for limits below 2^32.
    constexpr std::int64_t below(std::int64_t limit) {
        return static_cast<std::int64_t>(((next() >> 32) * static_cast<std::uint64_t>(limit)) >> 32);
    }
    /// A random integer in [low, high].
    constexpr std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }

private:
    std::uint64_t state_;
};

/// Largest integer whose square is at most x, for 0 <= x < 2^62.
constexpr std::int64_t integer_root(std::int64_t x) {
    std::int64_t root = 0;
    for (std::int64_t bit = std::int64_t{1} << 30; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= x) root += bit;
    return root;
}

}  // namespace nearfield::cli
