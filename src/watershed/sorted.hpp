// Peaks in the order of their values, some of them too near to earlier ones: on a device, and for both places.
#pragma once

#include <cstdint>
#include <vector>

#include "watershed/core.hpp"

namespace nearfield::watersheds {

inline constexpr int most_thinned_axes = 4;  ///< on a device

/// Returns the number of a coordinate's bucket along its axis. Peaks that are nearer to each other than `apart` lie in
/// the same bucket or in neighbouring ones. The sides of buckets are longer than that by more than rounding errors.
NF_HD inline std::int64_t side_of(std::int64_t at, double apart) {
    constexpr double longer = 1 + 1e-9;
    return static_cast<std::int64_t>(static_cast<double>(at) / (apart * longer));
}

/// Sorts peaks that come in raster order, and thins them if `apart` is above 1. `sizes` leaves out axes of length 1.
std::vector<peak> sort_peaks(const device& on, const std::vector<peak>& found, const std::vector<std::int64_t>& sizes,
                             bool maxima, double apart);

}  // namespace nearfield::watersheds
