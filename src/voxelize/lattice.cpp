#include "voxelize/room.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "base/check.hpp"
#include "base/scratch.hpp"
#include "voxelize/winding.hpp"

namespace nearfield::voxels {
namespace {

constexpr int coordinate_bits = 29, least_shift = 8, most_shift = 24;
constexpr std::int64_t faces_at_once = 256;

template <class T>
void count_crossings(workers& team, const lattice& l, T* count) {
    const auto faces = static_cast<std::int64_t>(l.of.faces.size()), cells = l.lines() * l.grid.shape[2];
    team.for_each(cells, 1 << 16, 1,
                  [&](std::int64_t first, std::int64_t last, int) { std::fill(count + first, count + last, T{0}); });
    const std::int64_t* const shape = l.grid.shape.data();
    team.for_each(faces, faces_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t f = first; f < last; ++f)
            cross_columns(l.at(f), l.shift, shape, [&](std::int64_t i, std::int64_t j, std::int64_t k, int way) {
                std::atomic_ref(count[(i * shape[1] + j) * shape[2] + k])
                    .fetch_add(static_cast<T>(way), std::memory_order_relaxed);
            });
    });
}

open_edges edges_of(const lattice& l) {
    open_edges made{l.open.data(), static_cast<std::int64_t>(l.open.size()), l.vertices.data(), {}};
    for (std::size_t k = 0; k < 3; ++k) made.unit[k] = std::ldexp(l.grid.pitch[k], -l.shift);
    return made;
}

template <class T>
void walk_lines(workers& team, const lattice& l, bool winding,
                const std::function<void(std::int64_t, const std::uint8_t*)>& line) {
    const std::int64_t n = l.grid.shape[2];
    const host_scratch<T> count(l.lines() * n);
    count_crossings(team, l, count.get());
    const open_edges edges = edges_of(l);
    const bool open = winding && edges.count > 0;
    team.for_each(l.lines(), std::max<std::int64_t>(1, (open ? 256 : 16384) / n), n,
                  [&](std::int64_t first, std::int64_t last, int) {
                      std::vector<std::uint8_t> inside(static_cast<std::size_t>(n));
                      for (std::int64_t at = first; at < last; ++at) {
                          T sum = 0;
                          for (std::int64_t k = 0; k < n; ++k) {
                              sum = static_cast<T>(sum + count.get()[at * n + k]);
                              bool in = winding ? sum != 0 : (sum & 1) != 0;
                              if (open) {
                                  const std::int64_t cell[] = {(at / l.grid.shape[1]) << l.shift,
                                                               (at % l.grid.shape[1]) << l.shift, k << l.shift};
                                  in = edges.winds_round(cell, sum);
                              }
                              inside[static_cast<std::size_t>(k)] = in ? 1 : 0;
                          }
                          line(at, inside.data());
                      }
                  });
}

}  // namespace

void check_grid(const mesh_grid& grid) {
    double cells = 1;
    for (std::size_t k = 0; k < 3; ++k) {
        if (!(grid.pitch[k] > 0) || !std::isfinite(grid.pitch[k]))
            fail(fmt::format("grid: pitch along axis {} is {}; give a positive length", k, grid.pitch[k]));
        if (!std::isfinite(grid.origin[k])) fail(fmt::format("grid: origin along axis {} is not finite", k));
        if (grid.shape[k] < 0) fail(fmt::format("grid: shape along axis {} is {}; give 0 or more", k, grid.shape[k]));
        cells *= static_cast<double>(grid.shape[k]);
        if (grid.shape[k] > std::int64_t{1} << 20 || cells > 0x1p40)
            fail(fmt::format("grid: shape {} is too large; give at most 2^20 cells along an axis and 2^40 in all",
                             shape_text(grid.shape.data(), 3)));
    }
}

void check_solid(std::size_t open_edges, bool winding) {
    if (!winding && open_edges > 0)
        fail(
            fmt::format("mesh has {} open edges, so that parity cannot tell inside from outside; close it or use the "
                        "winding number (winding)",
                        open_edges));
}

int shift_for(const meshes::box& of, const mesh_grid& grid) {
    double farthest = 1;
    for (std::size_t k = 0; k < 3; ++k) {
        farthest = std::max(farthest, static_cast<double>(grid.shape[k]));
        for (const double end : {of.low[k], of.high[k]})
            if (!of.empty) farthest = std::max(farthest, std::abs((end - grid.origin[k]) / grid.pitch[k]));
    }
    const int shift = std::min(most_shift, coordinate_bits - 1 - std::ilogb(farthest));
    if (shift < least_shift)
        fail(
            fmt::format("mesh reaches {:.3g} cells from the origin of the grid; give a larger pitch, or an origin near "
                        "the mesh: at most 2^20 cells",
                        farthest));
    return shift;
}

lattice::lattice(const mesh& m, const mesh_grid& g) : of(m), grid(g) {
    meshes::check_mesh("mesh", m);
    check_grid(g);
    shift = shift_for(meshes::box_of(m), g);
    for (const auto& at : m.vertices) {
        std::array<std::int32_t, 3> moved{};
        for (std::size_t k = 0; k < 3; ++k) moved[k] = moved_to_lattice(at[k], g.origin[k], g.pitch[k], shift);
        vertices.push_back(moved);
    }
    open = meshes::open_edges_of(m);
}

triangle lattice::at(std::int64_t face) const {
    triangle made;
    for (std::size_t corner = 0; corner < 3; ++corner)
        for (std::size_t k = 0; k < 3; ++k)
            made.at[corner][k] =
                vertices[static_cast<std::size_t>(of.faces[static_cast<std::size_t>(face)][corner])][k];
    return made;
}

void for_each_inside_line(workers& team, const lattice& l, bool winding,
                          const std::function<void(std::int64_t, const std::uint8_t*)>& line) {
    if (l.lines() * l.grid.shape[2] == 0) return;
    if (winding) walk_lines<std::int32_t>(team, l, true, line);
    else walk_lines<std::uint8_t>(team, l, false, line);
}

}  // namespace nearfield::voxels
