// When the rung for few sites is tried. See few.cu.
#pragma once

#include <cstdint>

namespace nearfield::exact::gpu {

/// Limits of the rung, which tests lower.
struct few_limits {
    /// Launches take a quarter of a call of dense masks of this size; power diagrams, which take longer, begin at 2^20.
    std::int64_t least_cells = std::int64_t{1} << 22;
    std::int64_t least_alone = std::int64_t{1} << 23;  ///< of volumes whose distances or indices words serve
    std::int64_t cells_a_site = 900;                   ///< the least number; several times as many where windows serve
};
inline few_limits few_limit;

}  // namespace nearfield::exact::gpu
