// Hashing of numbers that files choose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace nearfield::cli {

/// For unordered_map: multiplication by a number drawn once a process, of which the upper bits count (Dietzfelbinger et
/// al., "A reliable randomized algorithm for the closest-pair problem", J. Algorithms 25, 1997). No choice of keys
/// makes it slow.
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
