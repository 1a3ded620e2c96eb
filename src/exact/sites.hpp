// Reading the image: the sites of a line.
#pragma once

#include <cstdint>

#include "nearfield/distance.hpp"
#include "nearfield/grid.hpp"

namespace nearfield {

/// Sets site[i] to 1 if element i of a line is a site, else to 0. `first` points to the line's first element, `stride`
/// is in elements. Zero of either sign is zero; NaN is not zero.
void read_sites(const void* first, dtype type, std::int64_t stride, std::int64_t count, sites rule, std::uint8_t* site);

}  // namespace nearfield
