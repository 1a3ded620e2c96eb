#include "voxelize/room.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <numbers>

#include "base/check.hpp"
#include "base/scratch.hpp"
#include "mesh/core.hpp"

namespace nearfield::voxels {
namespace {

constexpr int coordinate_bits = 29, least_shift = 8, most_shift = 24;
constexpr std::int64_t faces_at_once = 256;

/// Solid angles of the open edges and the direction up, summed: the winding number of the mesh less that of the mesh
/// with all open edges drawn out upwards, which is the sum of the crossings below a cell. Angles are added as products
/// of complex numbers, whose half turns are counted.
class edge_angles {
public:
    explicit edge_angles(const lattice& l) : l_(l) {
        for (std::size_t k = 0; k < 3; ++k) unit_[k] = std::ldexp(l.grid.pitch[k], -l.shift);
    }
    [[nodiscard]] double at(const std::int64_t (&cell)[3]) const {
        double re = 1, im = 0, turns = 0;
        for (const open_edge& e : l_.open) {
            std::int64_t a[3], b[3];
            double u[3], w[3];
            for (std::size_t k = 0; k < 3; ++k) {
                a[k] = l_.vertices[static_cast<std::size_t>(e.from)][k] - cell[k];
                b[k] = l_.vertices[static_cast<std::size_t>(e.to)][k] - cell[k];
                u[k] = unit_[k] * static_cast<double>(a[k]), w[k] = unit_[k] * static_cast<double>(b[k]);
            }
            const std::int64_t left = left_of(a, b, 0, 0);
            const double lu = std::sqrt((u[0] * u[0] + u[1] * u[1]) + u[2] * u[2]),
                         lw = std::sqrt((w[0] * w[0] + w[1] * w[1]) + w[2] * w[2]);
            const double x = ((lu * lw + ((u[0] * w[0] + u[1] * w[1]) + u[2] * w[2])) + u[2] * lw) + w[2] * lu;
            // Half the solid angle is that of (x, y). Where the cell is above or below the edge its side decides.
            const bool negative = left == 0 ? !tie_is_left(a, b) : left < 0;
            const double y = left == 0 ? 0 : u[0] * w[1] - u[1] * w[0];
            const double size = std::abs(x) + std::abs(y);
            if (!(size > 0)) continue;
            for (std::int64_t n = 0; n < std::abs(e.net); ++n)
                turn(re, im, turns, x / size, y / size, negative == (e.net > 0));
        }
        return (std::atan2(im, re) / std::numbers::pi + 2 * turns) / 2;  // half the sum of 2 angles over 2 pi
    }

private:
    /// Adds the angle of (x, +-|y|), which is in [-pi, 0] where `negative`, else in [0, pi].
    static void turn(double& re, double& im, double& turns, double x, double y, bool negative) {
        y = negative ? -std::abs(y) : std::abs(y);
        const bool below = std::signbit(im);
        const double r = re * x - im * y, i = re * y + im * x, size = std::abs(r) + std::abs(i);
        // From one half plane on by up to half a turn the same way: past the cut at the negative axis, or not.
        if (!below && !negative && (i < 0 || (i == 0 && r > 0 && re < 0))) turns += 1;
        if (below && negative && (i > 0 || (i == 0 && r > 0 && re < 0))) turns -= 1;
        re = r / size, im = i / size;
        if (im == 0) im = (x > 0 ? below : negative) ? -0.0 : 0.0;
    }

    const lattice& l_;
    double unit_[3];
};

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

template <class T>
void walk_lines(workers& team, const lattice& l, bool winding,
                const std::function<void(std::int64_t, const std::uint8_t*)>& line) {
    const std::int64_t n = l.grid.shape[2];
    const host_scratch<T> count(l.lines() * n);
    count_crossings(team, l, count.get());
    const edge_angles angles(l);
    const bool open = winding && !l.open.empty();
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
                                  in = std::abs(static_cast<double>(sum) + angles.at(cell)) > 0.5;
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

void check_solid(const lattice& l, bool winding) {
    if (!winding && !l.open.empty())
        fail(
            fmt::format("mesh has {} open edges, so that parity cannot tell inside from outside; close it, or use the "
                        "winding number (winding)",
                        l.open.size()));
}

lattice::lattice(const mesh& m, const mesh_grid& g) : of(m), grid(g) {
    meshes::check_mesh("mesh", m);
    check_grid(g);
    double farthest = 1;
    for (const std::int64_t n : g.shape) farthest = std::max(farthest, static_cast<double>(n));
    for (const auto& at : m.vertices)
        for (std::size_t k = 0; k < 3; ++k) farthest = std::max(farthest, std::abs((at[k] - g.origin[k]) / g.pitch[k]));
    shift = std::min(most_shift, coordinate_bits - 1 - std::ilogb(farthest));
    if (shift < least_shift)
        fail(
            fmt::format("mesh reaches {:.3g} cells from the origin of the grid; give a larger pitch, or an origin near "
                        "the mesh: at most 2^20 cells",
                        farthest));
    for (const auto& at : m.vertices) {
        std::array<std::int32_t, 3> moved{};
        for (std::size_t k = 0; k < 3; ++k)
            moved[k] = static_cast<std::int32_t>(std::rint(std::ldexp((at[k] - g.origin[k]) / g.pitch[k], shift)));
        vertices.push_back(moved);
    }
    meshes::for_each_edge(m, [&](std::int32_t low, std::int32_t high, std::int64_t forward, std::int64_t backward) {
        if (forward != backward) open.push_back({low, high, forward - backward});
    });
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
