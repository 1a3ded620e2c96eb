// What the public call hands to a solver, checked.
#pragma once

#include "geodesic/core.hpp"

namespace nearfield::geodesics {

/// Of a tile on a device: 4096 cells, and sides of which a warp can walk a line.
inline constexpr int device_tile_bits = 12, device_side_bits = 8;

/// A step, with the cells besides its ends that must be in the mask.
struct step {
    vector_of_step by{};
    std::int32_t offset = 0;  ///< within a tile
    std::int32_t price = 0;
    std::vector<vector_of_step> between{};
    std::vector<std::int32_t> between_offset{};
};

template <class Place>
struct problem_of {
    tiling where;                ///< axes of length 1 are left out
    int rank = 0;                ///< of the arrays, batch axes among them
    std::vector<int> axis_of{};  ///< array axis of each axis of `where`
    std::vector<step> steps{};
    int reach = 1;
    bool both = false;
    std::uint64_t most = 0;  ///< cost above which there is no path
    double unit = 1;
    any_input<Place> mask, seeds, cost;
    geodesic_fields<Place> out;

    [[nodiscard]] bool wants_seeds() const {
        return out.index.wanted() || out.coordinates.wanted() || out.label.wanted();
    }
    /// Cells of an image.
    [[nodiscard]] std::uint64_t image_cells() const {
        std::uint64_t cells = 1;
        for (int axis = where.batch; axis < where.axes; ++axis) cells *= static_cast<std::uint64_t>(where.size[axis]);
        return cells;
    }
};
using problem = problem_of<host>;

void run(const host& on, const problem& p);
void run(const device& on, const problem_of<device>& p);

}  // namespace nearfield::geodesics
