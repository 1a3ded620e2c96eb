// Reading the image: which cells of a line are sites.
#pragma once

#include <cstdint>

#include "nearfield/distance.hpp"
#include "nearfield/grid.hpp"

namespace nearfield {

/// site[i] = 1 where element i of a line is a site, else 0. `first` points to the line's first element, `stride` is in
/// elements. Zero is zero of either sign; NaN is not zero.
void read_sites(const void* first, dtype type, std::int64_t stride, std::int64_t count, sites rule, std::uint8_t* site);

}  // namespace nearfield
