// What the exact room does for others.
#pragma once

#include <array>
#include <cstdint>

#include "nearfield/distance.hpp"

namespace nearfield::exact {

/// Throws unless a field of this type holds every distance of such a call: none of them inf, none above 0 rounded to
/// it.
void check_distance_type(const std::int64_t* shape, int rank, const distance_options& options, dtype type);

/// What squared distances of such a call are counted in: the sum of (length * cells)^2 over the axes, times unit2.
struct counting {
    std::array<double, max_rank> length{};  ///< whole numbers where a call counts, else the spacing
    double unit2 = 1;
};
counting counting_of(const std::int64_t* shape, int rank, const distance_options& options);

}  // namespace nearfield::exact
