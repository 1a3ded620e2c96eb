// The public calls.
#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lines.hpp"
#include "base/rehearsal.hpp"
#include "base/unwritten.hpp"
#include "mesh/core.hpp"
#include "voxelize/room.hpp"

namespace nearfield {
namespace voxels {
namespace {

using meshes::box;

/// The box of the faces; of all vertices if there are no faces.
box checked_box(const mesh& m, std::int64_t margin) {
    meshes::check_mesh("mesh", m);
    if (m.vertices.empty()) fail("mesh has no vertices, so there is no grid round it; give a grid");
    if (margin < 0 || margin > 1 << 20) fail(fmt::format("margin is {}; give 0 to 2^20 cells", margin));
    if (m.faces.empty()) return meshes::box_of(m);
    const auto& first = m.vertices[static_cast<std::size_t>(m.faces[0][0])];
    box made{first, first, false};
    for (const auto& face : m.faces)
        for (const std::int32_t v : face)
            for (std::size_t k = 0; k < 3; ++k) {
                const double x = m.vertices[static_cast<std::size_t>(v)][k];
                made.low[k] = std::min(made.low[k], x), made.high[k] = std::max(made.high[k], x);
            }
    return made;
}

mesh_grid centred(const box& b, const std::array<std::int64_t, 3>& shape, double pitch) {
    mesh_grid made{shape, {}, {pitch, pitch, pitch}};
    for (std::size_t k = 0; k < 3; ++k)
        made.origin[k] = (b.low[k] + b.high[k]) / 2 - pitch * (static_cast<double>(shape[k] - 1) / 2);
    check_grid(made);
    return made;
}

/// The output's bytes, which faces set atomically.
class marks {
public:
    marks(const any_output<host>& out) : out_(out), at_(out.shape.data(), out.stride.data(), 3) {}
    [[nodiscard]] std::atomic_ref<std::uint8_t> operator[](std::int64_t cell) const {
        return std::atomic_ref(static_cast<std::uint8_t*>(out_.data)[at_.of(cell)]);
    }

private:
    const any_output<host>& out_;
    cell_offsets at_;
};

void run_here(const host& on, const lattice& l, const any_output<host>& out, const voxelize_options& options) {
    const std::int64_t n = l.grid.shape[2], faces = static_cast<std::int64_t>(l.of.faces.size());
    const std::int64_t* const shape = l.grid.shape.data();
    rehearse_step("triangles counted below the cells of each column; 32 bytes a triangle");
    workers team(on, 2 * l.lines() * n + 2 * faces);
    const marks to(out);
    if (options.solid)
        for_each_inside_line(team, l, options.winding, [&](std::int64_t line, const std::uint8_t* inside) {
            for (std::int64_t k = 0; k < n; ++k) to[line * n + k].store(inside[k], std::memory_order_relaxed);
        });
    else
        team.for_each(l.lines() * n, 1 << 14, 1, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t cell = first; cell < last; ++cell) to[cell].store(0, std::memory_order_relaxed);
        });
    if (!options.surface) return;
    team.for_each(faces, 64, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t f = first; f < last; ++f)
            meet_cells(l.at(f), l.shift, shape, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
                to[(i * shape[1] + j) * n + k].store(1, std::memory_order_relaxed);
            });
    });
}

template <class Place>
void check(std::int64_t open_edges, const mesh_grid& grid, const any_output<Place>& out,
           const voxelize_options& options) {
    if (options.solid) check_solid(open_edges, options.winding);
    else if (!options.surface) fail("neither solid nor surface is asked for; ask for one of them");
    check_type("out", out.type, {dtype::boolean, dtype::uint8});
    check_same_shape<Place>("out", out, any_input<Place>::contiguous(nullptr, dtype::uint8, grid.shape));
    const named_view<Place> views[] = {{"out", out}};
    check_data<Place>(views);
    check_apart<Place>(views, 0);
}

}  // namespace
}  // namespace voxels

mesh_grid grid_around(const mesh& of, double pitch, std::int64_t margin) {
    return in_call([&] {
        const meshes::box b = voxels::checked_box(of, margin);
        if (!(pitch > 0) || !std::isfinite(pitch)) fail(fmt::format("pitch is {}; give a positive length", pitch));
        std::array<std::int64_t, 3> shape{};
        for (std::size_t k = 0; k < 3; ++k) {
            const double cells = std::ceil((b.high[k] - b.low[k]) / pitch);
            if (!(cells < 0x1p20))
                fail(fmt::format("pitch is {}, which makes {:.3g} cells along axis {}; give a larger one", pitch, cells,
                                 k));
            shape[k] = std::max<std::int64_t>(1, static_cast<std::int64_t>(cells)) + 2 * margin;
        }
        return voxels::centred(b, shape, pitch);
    });
}

mesh_grid grid_around(const mesh& of, const std::array<std::int64_t, 3>& shape, std::int64_t margin) {
    return in_call([&] {
        const meshes::box b = voxels::checked_box(of, margin);
        double pitch = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            if (shape[k] <= 2 * margin)
                fail(fmt::format("shape along axis {} is {}; give more than twice the margin of {}", k, shape[k],
                                 margin));
            pitch = std::max(pitch, (b.high[k] - b.low[k]) / static_cast<double>(shape[k] - 2 * margin));
        }
        return voxels::centred(b, shape, pitch > 0 ? pitch : 1);
    });
}

void voxelize(const host& on, const mesh& of, const mesh_grid& grid, const any_output<host>& out,
              const voxelize_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    in_call([&] {
        const voxels::lattice l(of, grid);
        voxels::check<host>(std::ssize(l.open), grid, out, options);
        if (out.cells() > 0) voxels::run_here(on, l, out, options);
    });
}
void voxelize(const device& on, const device_mesh& of, const mesh_grid& grid, const any_output<device>& out,
              const voxelize_options& options) {
    in_call([&] {
        const device_mesh::parts& m = of.inside();
        voxels::check_grid(grid);
        const int shift = voxels::shift_for(m.box, grid);
        voxels::check<device>(m.open_count, grid, out, options);
        if (out.cells() > 0) voxels::run(on, m, grid, shift, out, options);
    });
}

}  // namespace nearfield
