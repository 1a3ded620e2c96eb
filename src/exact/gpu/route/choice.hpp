// Which keys serve a problem; decided before anything runs.
#pragma once

#include <cstdint>
#include <limits>

#include "exact/plan.hpp"

namespace nearfield::exact::gpu {

/// Images and volumes keep a site's place in its row in 16 bits, then the packed site in 32.
inline bool keys_are_narrow(const plan& p) {
    const int searched = p.rank - p.first_axis;
    if (searched < 2 || searched > 3 || p.keys.total() > narrow_key_bits) return false;
    for (int axis = p.first_axis + 1; axis < p.rank; ++axis)
        if (p.size[static_cast<std::size_t>(axis)] > std::numeric_limits<std::int16_t>::max()) return false;
    return true;
}

/// Distances alone are carried as int32 values, along any number of axes, after the last one in 16 bits.
inline bool values_suffice(const plan& p) {
    return p.numbers == tier::int32 && !p.sites_wanted && !p.weighted && p.rank - p.first_axis > 1 &&
           p.size[static_cast<std::size_t>(p.rank - 1)] <= std::numeric_limits<std::int16_t>::max();
}

}  // namespace nearfield::exact::gpu
