#include "voxelize/room.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>

#include "base/check.hpp"
#include "base/scratch.hpp"
#include "voxelize/edge_tree.hpp"

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

/// Finds the cells inside a mesh with open edges, from the crossings in each cell, whose number it replaces by 1 or 0.
class settling {
public:
    settling(const lattice& l, std::int32_t* count) : l_(l), edges_(edges_of(l)), tree_(edges_), count_(count) {}

    void run(workers& team) const {
        constexpr std::int64_t side = 16;
        const auto& n = l_.grid.shape;
        const std::int64_t down = (n[0] + side - 1) / side, across = (n[1] + side - 1) / side;
        team.for_each(down * across, 1, side * side * n[2], [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t tile = first; tile < last; ++tile) {
                const std::int64_t i = tile / across * side, j = tile % across * side;
                const box whole{{i, j, 0}, {std::min(i + side, n[0]), std::min(j + side, n[1]), n[2]}};
                for (std::int64_t line = 0; line < side * side; ++line)
                    if (i + line / side < n[0] && j + line % side < n[1]) add_up(i + line / side, j + line % side);
                settle(whole, false);
            }
        });
    }

private:
    struct box {
        std::array<std::int64_t, 3> first, end;
    };

    void add_up(std::int64_t i, std::int64_t j) const {
        std::int32_t* const own = count_ + (i * l_.grid.shape[1] + j) * l_.grid.shape[2];
        for (std::int64_t k = 1; k < l_.grid.shape[2]; ++k) own[k] += own[k - 1];
    }
    /// Whether the upward extension of an edge may separate columns of the box.
    [[nodiscard]] bool is_crossed(const box& b) const {
        if (b.end[0] - b.first[0] == 1 && b.end[1] - b.first[1] == 1) return false;
        std::int64_t first[3], last[3];
        for (std::size_t k = 0; k < 3; ++k) first[k] = b.first[k] << l_.shift, last[k] = (b.end[k] - 1) << l_.shift;
        return tree_.is_below(first, last);
    }
    /// Finds the cells of a box. `is_settled` says that the sums of a column's cells round to the same number.
    void settle(const box& b, bool is_settled) const {
        std::int64_t cell[3], size[3];
        double reach2 = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const std::int64_t middle = (b.first[k] + b.end[k]) / 2;
            const double away = l_.grid.pitch[k] * static_cast<double>(middle - b.first[k]);
            cell[k] = middle << l_.shift, size[k] = b.end[k] - b.first[k], reach2 += away * away;
        }
        const bool is_one = size[0] * size[1] * size[2] == 1, crossed = is_crossed(b);
        // Boxes of a few cells rarely settle all of them.
        const bool tries = is_settled ? !crossed : is_one || size[0] * size[1] * size[2] > 4;
        if (tries) {
            open_edges::seen its = tree_.at(cell, is_settled ? 0 : std::sqrt(reach2), edge_tree::coarse);
            bool is_sure = its.is_settled();
            is_settled = is_settled || is_sure;
            if (is_one || (is_settled && !crossed)) {
                if (!is_sure) its = tree_.at(cell, 0, edge_tree::fine), is_sure = its.is_settled();
                if (!is_sure) its = edges_.at(cell);
                return for_cells(b, [&](std::int32_t& at) {
                    at = (is_one ? its.sum.is_inside(at) : at + its.sum.turns != 0) ? 1 : 0;
                });
            }
        }
        if (is_settled) size[2] = 0;  // only columns differ
        const auto axis = static_cast<std::size_t>(std::max_element(size, size + 3) - size);
        box low = b, high = b;
        low.end[axis] = high.first[axis] = (b.first[axis] + b.end[axis]) / 2;
        settle(low, is_settled), settle(high, is_settled);
    }
    template <class Body>
    void for_cells(const box& b, const Body& body) const {
        for (std::int64_t i = b.first[0]; i < b.end[0]; ++i)
            for (std::int64_t j = b.first[1]; j < b.end[1]; ++j)
                for (std::int64_t k = b.first[2]; k < b.end[2]; ++k)
                    body(count_[(i * l_.grid.shape[1] + j) * l_.grid.shape[2] + k]);
    }

    const lattice& l_;
    open_edges edges_;
    edge_tree tree_;
    std::int32_t* count_;
};

template <class T>
void walk_lines(workers& team, const lattice& l, bool winding,
                const std::function<void(std::int64_t, const std::uint8_t*)>& line) {
    const std::int64_t n = l.grid.shape[2];
    const host_scratch<T> count(l.lines() * n);
    count_crossings(team, l, count.get());
    const bool open = winding && !l.open.empty();
    if constexpr (std::is_same_v<T, std::int32_t>)
        if (open) settling(l, count.get()).run(team);
    team.for_each(l.lines(), std::max<std::int64_t>(1, 16384 / n), n, [&](std::int64_t first, std::int64_t last, int) {
        std::vector<std::uint8_t> inside(static_cast<std::size_t>(n));
        for (std::int64_t at = first; at < last; ++at) {
            T sum = 0;
            for (std::int64_t k = 0; k < n; ++k) {
                const T own = count.get()[at * n + k];
                sum = static_cast<T>(open ? own : sum + own);
                inside[static_cast<std::size_t>(k)] = (winding ? sum != 0 : (sum & 1) != 0) ? 1 : 0;
            }
            line(at, inside.data());
        }
    });
}

}  // namespace

open_edges edges_of(const lattice& l) {
    open_edges made{l.open.data(), static_cast<std::int64_t>(l.open.size()), l.vertices.data(), {}};
    for (std::size_t k = 0; k < 3; ++k) made.unit[k] = std::ldexp(l.grid.pitch[k], -l.shift);
    return made;
}

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

void check_solid(std::int64_t open_edges, bool winding) {
    if (open_edges < 0) fail("mesh was copied without its open edges, which cells and signs need; leave edges true");
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
