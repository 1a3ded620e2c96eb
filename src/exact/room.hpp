// Functions of the exact engine for other rooms.
#pragma once

#include <array>
#include <cstdint>

#include "nearfield/distance.hpp"

namespace nearfield::exact {

/// Throws unless a field of this type holds every distance of such a call: none becomes inf, and none above 0 rounds to
/// 0.
void check_distance_type(const std::int64_t* shape, int rank, const distance_options& options, dtype type);

/// Unit of the squared distances of such a call: they are the sum of (length * cells)^2 over the axes, times unit2.
struct counting {
    std::array<double, max_rank> length{};  ///< whole numbers if the call counts in a unit, else the spacing
    double unit2 = 1;
};
counting counting_of(const std::int64_t* shape, int rank, const distance_options& options);

}  // namespace nearfield::exact
