// A mesh on the lattice of a grid, and which cells lie inside it: for voxelize() and the signs of distances.
#pragma once

#include <functional>
#include <vector>

#include "base/parallel.hpp"
#include "voxelize/core.hpp"

namespace nearfield::voxels {

/// An edge that faces run along `net` times more often from `from` to `to` than back.
struct open_edge {
    std::int32_t from, to;
    std::int64_t net;
};

struct lattice {
    const mesh& of;
    mesh_grid grid;
    int shift = 0;
    std::vector<std::array<std::int32_t, 3>> vertices;
    std::vector<open_edge> open;

    /// Checks mesh and grid; throws invalid_argument.
    lattice(const mesh& m, const mesh_grid& g);
    [[nodiscard]] triangle at(std::int64_t face) const;
    [[nodiscard]] std::int64_t lines() const { return grid.shape[0] * grid.shape[1]; }
};

/// Throws invalid_argument for a shape, an origin or a pitch that is none.
void check_grid(const mesh_grid& grid);
/// Throws invalid_argument where parity cannot tell: the mesh has open edges and `winding` is not asked for.
void check_solid(const lattice& l, bool winding);

/// Calls line(number, inside) for every line of cells along axis 2, in blocks, with a byte a cell: 1 inside.
void for_each_inside_line(workers& team, const lattice& l, bool winding,
                          const std::function<void(std::int64_t, const std::uint8_t*)>& line);

}  // namespace nearfield::voxels
