// Distances in spacings whose squares are in proportion to small integers, such as 5, 0.65, 0.65 or 0.7, 0.31, 0.5.
#pragma once

#include <cstdint>

#include "exact/cuda_call.hpp"

namespace nearfield::exact {

/// Squares of spacings as whole numbers of units, as near as the rounding of doubles lets them be.
struct counted_weights {
    bool serve = false;
    std::uint32_t of[max_rank]{};  ///< by axes
    double unit = 1;
};

/// Whether a call is served so: distances in float32 alone, without a limit, of two or three axes.
counted_weights counted_weights_for(const plan& p, const fields<device>& out);

/// Returns the bytes of workspace.
std::int64_t search_counted(const device_call& call, const counted_weights& weights);

}  // namespace nearfield::exact
