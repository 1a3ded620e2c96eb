// The mathematics of propagation by sweeps: the cells of a sweep's line, and the sites that a cell receives from the
// line before.
//
// A sweep goes along one axis, line after line (in a volume plane after plane). Each cell keeps the nearest of its own
// site and those of the 3 cells (in a volume 9) before it, which are final since the line before. So a site travels
// within the cone of 45 degrees in front of it; the cones of all sweeps cover the grid.
//
// The method is nearly exact: a cell gets its nearest site only if a neighbour has that site too. A cell whose
// neighbours all have other nearest sites (an exclave) keeps a farther one.
#pragma once

#include <cstdint>

#include "base/annotate.hpp"
#include "methods/core.hpp"

namespace nearfield::sweeps {

using methods::metric;
using methods::none;

/// A cell's coordinates, in the order of the arrays' axes.
struct place {
    std::int32_t z, y, x;
};

/// One sweep. A line has `rows` x `columns` cells, and columns are adjacent in memory: sweeps along the last axis work
/// on arrays with the last two axes exchanged.
struct sweep {
    int axis = 1;
    bool back = false;
    std::int32_t positions = 1, rows = 1, columns = 1;
    std::int64_t step = 1, row_step = 1;

    /// Position of the sweep's line number `line`.
    [[nodiscard]] NF_HD constexpr std::int32_t position(std::int32_t line) const {
        return back ? positions - 1 - line : line;
    }
    [[nodiscard]] NF_HD constexpr std::int64_t cell(std::int32_t position, std::int32_t row,
                                                    std::int32_t column) const {
        return position * step + row * row_step + column;
    }
    [[nodiscard]] NF_HD constexpr place at(std::int32_t position, std::int32_t row, std::int32_t column) const {
        if (axis == 0) return {position, row, column};
        if (axis == 1) return {row, position, column};
        return {row, column, position};
    }
    [[nodiscard]] NF_HD constexpr std::int64_t line_cells() const { return static_cast<std::int64_t>(rows) * columns; }
};

constexpr sweep sweep_along(const std::int64_t* size, int axis, bool back) {
    const auto side = [size](int a) { return static_cast<std::int32_t>(size[a]); };
    if (axis == 0) return {0, back, side(0), side(1), side(2), size[1] * size[2], size[2]};
    if (axis == 1) return {1, back, side(1), side(0), side(2), size[2], size[1] * size[2]};
    return {2, back, side(2), side(0), side(1), size[1], size[1] * size[2]};
}

/// The nearest of the sites that a cell has received. In an image, `Planes` false, all of them have z = 0.
template <class V, class Key, bool Planes>
class nearest {
public:
    NF_HD nearest(const metric<V>& m, const place& here, Key own) : m_(m), here_(here) { ask(own); }
    NF_HD void ask(Key site) {
        // Neighbours often have the same site; then no distance needs to be computed.
        if (site < 0 || site == site_) return;
        V distance2 =
            m_.term(2, m_.keys.coordinate(site, 2), here_.x) + m_.term(1, m_.keys.coordinate(site, 1), here_.y);
        if constexpr (Planes) distance2 += m_.term(0, m_.keys.coordinate(site, 0), here_.z);
        if (!methods::nearer(distance2, site, distance2_, site_)) return;
        distance2_ = distance2, site_ = site;
    }
    [[nodiscard]] NF_HD Key site() const { return site_; }

private:
    const metric<V>& m_;
    place here_;
    V distance2_ = methods::no_site<V>();
    Key site_ = none<Key>;
};

namespace self_check {
constexpr std::int64_t size[] = {2, 3, 5};
static_assert(sweep_along(size, 0, false).cell(1, 2, 4) == 29 && sweep_along(size, 1, false).cell(2, 1, 4) == 29);
static_assert(sweep_along(size, 2, false).cell(4, 1, 2) == 1 * 15 + 4 * 3 + 2, "z, x, y");
static_assert(sweep_along(size, 2, true).position(0) == 4 && sweep_along(size, 2, true).at(4, 1, 2).y == 2);
}  // namespace self_check

}  // namespace nearfield::sweeps
