// Nearest cells of another class from distances: where tiles have found how far a cell's site is, few places are as far.
#pragma once

#include "exact/cuda_options_tiles.hpp"

namespace nearfield::exact {

/// Whether tiles may leave the distances of a call to find_sites: of classes in images and volumes, in unit spacing and
/// within open borders, for fields of plain types.
bool finds_sites(const option_call& call);

/// Makes the fields of a call from its distances. `refused` is not 0 afterwards where a distance is too large for it, and
/// nothing is done where it is so before.
void find_sites(const option_call& call, const narrow_states& distances, const elements& image, std::int32_t* refused);

}  // namespace nearfield::exact
