// Small images and volumes, in one kernel.
#pragma once

#include <cstdint>

#include "exact/gpu/ground/common.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// Searches all axes of a problem for which whole_fits() holds and whose image has a byte a cell. Requires
/// cuda::kernels_overlap(). Uses no workspace.
void search_whole(const device& on, const plan& p, const std::uint8_t* image, bool zero_is_site, const outputs& out);

}  // namespace nearfield::exact
