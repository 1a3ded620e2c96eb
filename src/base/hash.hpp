// Pseudo-random numbers that are the same on all machines.
#pragma once

#include <cstdint>

#include "base/annotate.hpp"

namespace nearfield {

/// Returns 64 well-mixed bits: splitmix64's output function (Steele, Lea, Flood 2014).
NF_HD constexpr std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

}  // namespace nearfield
