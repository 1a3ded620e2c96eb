// A round of jump flooding on a device, for the grids that most calls are about.
#pragma once

#include <cstdint>

#include "methods/core.hpp"

namespace nearfield::methods {

/// From one array of sites to the other, on a grid that is solved in 32 bits with keys of 32 bits. `unit`: the shortest step
/// so far, this one included; every cell's site lies a multiple of it away along each axis.
void tiled_round(const device& on, const grid& g, std::int64_t step, std::int64_t unit, const std::int32_t* from,
                 std::int32_t* to);

}  // namespace nearfield::methods
