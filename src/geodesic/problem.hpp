// The checked problem that the public call hands to a solver.
#pragma once

#include "geodesic/core.hpp"

namespace nearfield::geodesics {

/// Tiles of a device: 4096 cells, with sides of at most 256 cells so that a warp can walk a line.
inline constexpr int device_tile_bits = 12, device_side_bits = 8;

/// A step, and the cells between its ends that must be in the mask.
struct step {
    vector_of_step by{};
    std::int32_t offset = 0;  ///< to a cell's number within a tile
    std::int32_t price = 0;
    std::vector<vector_of_step> between{};
    std::vector<std::int32_t> between_offset{};

    void set_offsets(const tiling& where) {
        const auto of = [&](const vector_of_step& v) {
            std::int64_t sum = 0;
            for (int axis = 0; axis < where.axes; ++axis)
                sum += std::int64_t{v[static_cast<std::size_t>(axis)]} * (std::int64_t{1} << where.shift[axis]);
            return static_cast<std::int32_t>(sum);
        };
        offset = of(by);
        between_offset.clear();
        for (const vector_of_step& cell : between) between_offset.push_back(of(cell));
    }
};

template <class Place>
struct problem_of {
    tiling where;                ///< axes of length 1 are left out
    int rank = 0;                ///< of the arrays, including batch axes
    std::vector<int> axis_of{};  ///< array axis of each axis of `where`
    std::vector<step> steps{};
    int reach = 1;
    bool both = false;
    std::uint64_t most = 0;  ///< a dearer path counts as none
    double unit = 1;
    any_input<Place> mask, seeds, cost;
    geodesic_fields<Place> out;

    [[nodiscard]] bool wants_seeds() const {
        return out.index.wanted() || out.coordinates.wanted() || out.label.wanted();
    }
    /// Number of cells of an image.
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
