// The area of a surface within 2x2x2 cells, some of which belong to a mask.
//
// The polygons' vertices are the midpoints between two neighbouring cells, one of which belongs to the mask. Cells that
// connect by faces share a polygon; if more than four belong to the mask, the other cells do. Polygons that are not
// flat are cut into flat pieces.
#include <bit>
#include <cmath>

#include "metrics/core.hpp"

namespace nearfield::metrics {
namespace {

/// The cells whose bits lie one step along an axis from those of `cells`; bits are numbered as in set_areas().
constexpr int step_of[] = {2, 1, 4};  // change of a bit's number by a step along z, y, x
constexpr unsigned moved(unsigned cells, int axis) {
    unsigned to = 0;
    for (int k = 0; k < 8; ++k)
        if ((cells >> k & 1) != 0) to |= 1u << (k ^ step_of[axis]);
    return to;
}
constexpr unsigned component_of(unsigned cells) {
    unsigned found = cells & -cells;
    for (int times = 0; times < 3; ++times)
        for (int axis = 0; axis < 3; ++axis) found |= moved(found, axis) & cells;
    return found;
}

struct faces {
    double face[3];    ///< areas of a cell's faces, by the axis to which they are normal
    double across[3];  ///< twice the area of the rectangle along an axis on the midpoints of two edges
    double diagonal;   ///< eight times the area of the triangle that cuts off a corner

    explicit faces(const double (&length)[3])
        : face{length[1] * length[2], length[0] * length[2], length[0] * length[1]},
          across{std::hypot(face[1], face[2]), std::hypot(face[0], face[2]), std::hypot(face[0], face[1])},
          diagonal(std::hypot(face[0], face[1], face[2])) {}
    [[nodiscard]] double area(unsigned component) const;
};

/// Area of the polygon of up to four connected cells.
double faces::area(unsigned component) const {
    int edges[3], middle = -1;
    for (int axis = 0; axis < 3; ++axis) {
        const unsigned ends = moved(component, axis) & component;
        edges[axis] = std::popcount(ends) / 2;
        // In a path of four cells, both ends of the middle step have two neighbours.
        bool between = ends != 0;
        for (int other = 0; other < 3; ++other)
            if (other != axis) between = between && (moved(component, other) & component & ends) != 0;
        if (between) middle = axis;
    }
    const auto only = [&](int count) { return edges[0] == count ? 0 : edges[1] == count ? 1 : 2; };
    switch (std::popcount(component)) {
        case 1: return diagonal / 8;
        case 2: return across[only(1)] / 2;
        case 3: return face[only(0)] / 2 + diagonal * 3 / 8;  // a triangle and a trapezoid
        default: break;
    }
    if (edges[0] + edges[1] + edges[2] == 4) return face[only(0)];
    bool star = false;  // a cell and three neighbours
    for (int k = 0; k < 8; ++k) {
        const unsigned one = 1u << k;
        star = star || (moved(one, 0) | moved(one, 1) | moved(one, 2) | one) == component;
    }
    if (star) return diagonal * 3 / 4;  // a flat hexagon
    // A triangle on every other vertex, and the three triangles that complete the polygon.
    return diagonal / 2 + (across[(middle + 1) % 3] + across[(middle + 2) % 3]) / 4;
}

}  // namespace

void set_areas(const double (&length)[3], weights& w) {
    const faces of(length);
    for (unsigned cells = 1; cells < 255; ++cells) {
        double area = 0;
        for (unsigned left = std::popcount(cells) > 4 ? ~cells & 255u : cells; left != 0;) {
            const unsigned component = component_of(left);
            area += of.area(component), left &= ~component;
        }
        w.area[cells] = area;
    }
}

}  // namespace nearfield::metrics
