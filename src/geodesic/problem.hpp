// What the public call hands to the host's solver, checked.
#pragma once

#include "geodesic/core.hpp"

namespace nearfield::geodesics {

/// A step, with the cells besides its ends that must be in the mask.
struct step {
    vector_of_step by{};
    std::int32_t offset = 0;  ///< within a tile
    std::int32_t price = 0;
    std::vector<vector_of_step> between{};
    std::vector<std::int32_t> between_offset{};
};

struct problem {
    tiling where;                ///< axes of length 1 are left out
    int rank = 0;                ///< of the arrays, batch axes among them
    std::vector<int> axis_of{};  ///< array axis of each axis of `where`
    std::vector<step> steps{};
    int reach = 1;
    bool both = false;
    std::uint64_t most = 0;  ///< cost above which there is no path
    double unit = 1;
    any_input<host> mask, seeds, cost;
    geodesic_fields<host> out;
};

void run(const host& on, const problem& p);

}  // namespace nearfield::geodesics
