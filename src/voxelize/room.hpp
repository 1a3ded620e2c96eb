// A mesh on the lattice of a grid, and the cells inside it, on the host and on a device: for voxelize() and for signs
// of distances.
#pragma once

#include <functional>
#include <vector>

#include "base/parallel.hpp"
#include "mesh/room.hpp"
#include "voxelize/core.hpp"

namespace nearfield::voxels {

struct lattice {
    const mesh& of;
    mesh_grid grid;
    int shift = 0;
    std::vector<std::array<std::int32_t, 3>> vertices;
    std::vector<meshes::open_edge> open;

    /// Checks mesh and grid; throws invalid_argument.
    lattice(const mesh& m, const mesh_grid& g);
    [[nodiscard]] triangle at(std::int64_t face) const;
    [[nodiscard]] std::int64_t lines() const { return grid.shape[0] * grid.shape[1]; }
};

/// Throws invalid_argument if the grid's shape, origin or pitch is invalid.
void check_grid(const mesh_grid& grid);
/// Throws invalid_argument if parity cannot tell inside from outside: open edges, and `winding` is not asked for; or if
/// nobody has looked for them: -1.
void check_solid(std::int64_t open_edges, bool winding);
/// log2 of lattice steps per cell, for a mesh in this box. Throws invalid_argument if the box is too far away.
int shift_for(const meshes::box& of, const mesh_grid& grid);

/// Calls line(number, inside) for every line of cells along axis 2, in blocks. `inside` has a byte a cell: 1 is inside.
void for_each_inside_line(workers& team, const lattice& l, bool winding,
                          const std::function<void(std::int64_t, const std::uint8_t*)>& line);

/// Number of words of a line of cells along axis 2, one bit a cell: bit k % 32 of word k / 32.
[[nodiscard]] constexpr std::int64_t words_of(std::int64_t length) { return (length + 31) / 32; }
[[nodiscard]] inline std::int64_t words_of(const mesh_grid& grid) {
    return grid.shape[0] * grid.shape[1] * words_of(grid.shape[2]);
}

/// Sets the bits of the cells that lie inside. `shift` is that of shift_for().
void find_inside(const device& on, const device_mesh::parts& of, const mesh_grid& grid, int shift, bool winding,
                 std::uint32_t* bits);

void run(const device& on, const device_mesh::parts& of, const mesh_grid& grid, int shift,
         const any_output<device>& out, const voxelize_options& options);

}  // namespace nearfield::voxels
