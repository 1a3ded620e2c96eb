// Balls that enter a shape through faces of the array, for porosimetry.
#pragma once

#include "cli/compute.hpp"
#include "cli/load.hpp"

namespace nearfield::cli {

/// Computes the squared radius of the largest ball whose centre gets from the inlets to a cell within the shape, for
/// every cell; 0 where none does. The type is uint16 if they fit, since union_of_balls() is fastest then. `given` has
/// spacing and borders of the distance. Refuses an image without any zero cell, in which balls have no size.
/// --plan plans this call and `after` together, with `ways` of the type of squared distances.
[[nodiscard]] computed find_ways(const arguments& args, const loaded& input, const distance_options& given,
                                 const placed_call& after, io::array& ways);

}  // namespace nearfield::cli
