// A hash of numbers that come from files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace nearfield::cli {

/// Hash for unordered_map: multiplies by a number drawn once a process; the product's upper bits are universal
/// (Dietzfelbinger et al., "A reliable randomized algorithm for the closest-pair problem", J. Algorithms 25, 1997). So
/// no choice of keys makes it slow.
struct seeded_hash {
    std::size_t operator()(std::uint64_t key) const {
        static const std::uint64_t times = [] {
            std::random_device random;
            return static_cast<std::uint64_t>(random()) << 32 | random() | 1;
        }();
        return (key * times) >> 24;
    }
};

}  // namespace nearfield::cli
