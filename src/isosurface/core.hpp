// Mathematics of isosurfaces that host and device share: the problem, the point where an edge crosses the level, and
// the polygons that separate a cell's inside corners from the others. One rule generates their table.
//
// Corner c of a cell lies at (c >> 2, c >> 1 & 1, c & 1). Edge 8 * axis + c goes from corner c along an axis.
#pragma once

#include <array>
#include <cstdint>

#include "base/annotate.hpp"
#include "nearfield/isosurface.hpp"

namespace nearfield::isosurfaces {

template <class Place>
struct problem {
    any_input<Place> field;
    double level = 0;
    isosurface_options how;
    std::int64_t rim = 0;                 ///< number of outside planes that are added around the field
    std::array<std::int64_t, 3> nodes{};  ///< nodes of the field including the rim

    [[nodiscard]] NF_HD std::int64_t plane_nodes() const { return nodes[1] * nodes[2]; }
    [[nodiscard]] NF_HD double coordinate(std::size_t axis, double node) const {
        return how.origin[axis] + how.spacing[axis] * (node - static_cast<double>(rim));
    }
    /// True if a value is inside; NaN is outside.
    [[nodiscard]] NF_HD bool is_inside(double value) const { return how.inside_below ? value < level : value > level; }
};

/// Position of the level along an edge with values a and b, as a share of its length.
[[nodiscard]] NF_HD inline double place_between(double a, double b, double level) {
    constexpr double nearest = 0x1p-10;
    const double t = (level - a) / (b - a);
    if (!(t == t)) return 0.5;
    return t < nearest ? nearest : t > 1 - nearest ? 1 - nearest : t;
}

constexpr int bit_of(int axis) { return 4 >> axis; }
constexpr int edge_between(int a, int b) {
    const int bits = a ^ b, axis = bits == 4 ? 0 : bits == 2 ? 1 : 2;
    return 8 * axis + (a & b);
}
/// True if two edges of a cell lie on a common face.
constexpr bool on_one_face(int e, int f) {
    for (int axis = 0; axis < 3; ++axis)
        if (axis != e / 8 && axis != f / 8 && (((e ^ f) % 8) & bit_of(axis)) == 0) return true;
    return false;
}

/// Finds the polygons of a cell whose inside corners are the bits of `cell`: for each edge the next edge, or -1.
constexpr std::array<std::int8_t, 24> links_of(int cell) {
    std::array<std::int8_t, 24> next{};
    next.fill(-1);
    for (int axis = 0; axis < 3; ++axis)
        for (int side = 0; side < 2; ++side) {
            // The corners of a face, counter-clockwise as seen from outside the cell. A polygon enters the face where
            // inside corners begin and leaves it where they next end, so it cuts off one run of inside corners.
            const int p = bit_of((axis + 1) % 3), q = bit_of((axis + 2) % 3), base = side * bit_of(axis);
            int corner[4] = {base, base + p, base + p + q, base + q};
            if (side == 0) corner[1] = base + q, corner[3] = base + p;
            for (int k = 0; k < 4; ++k) {
                const int a = corner[k], b = corner[(k + 1) % 4];
                if ((cell >> a & 1) != 0 || (cell >> b & 1) == 0) continue;
                int end = k + 1;
                while ((cell >> corner[end % 4] & 1) != 0) ++end;
                next[static_cast<std::size_t>(edge_between(a, b))] =
                    static_cast<std::int8_t>(edge_between(corner[(end - 1) % 4], corner[end % 4]));
            }
        }
    return next;
}

/// Polygons of a cell, and the triangles into which they are cut.
struct polygons {
    std::int8_t count = 0;
    std::array<std::int8_t, 4> size{};      ///< number of corners of each polygon
    std::array<std::int8_t, 12> edge{};     ///< corners of all polygons, as edges, one polygon after the other
    std::array<std::int8_t, 24> of_edge{};  ///< the polygon of each edge
    std::uint8_t doubled = 0;               ///< bit 2 * axis + side: a polygon passes that face of the cell twice
    std::int8_t triangles = 0;
    std::array<std::int8_t, 15> corners{};  ///< edges, three for each triangle
};

/// Corner of a fan whose diagonals lie on no face, where a neighbour could have the same diagonal. One always exists.
constexpr int apex_of(const polygons& p, int first, int size) {
    for (int k = 0; k < size; ++k) {
        bool good = true;
        for (int m = 2; m < size - 1; ++m)
            good = good && !on_one_face(p.edge[static_cast<std::size_t>(first + k)],
                                        p.edge[static_cast<std::size_t>(first + (k + m) % size)]);
        if (good) return k;
    }
    return -1;
}

constexpr polygons polygons_of(int cell) {
    std::array<std::int8_t, 24> next = links_of(cell);
    polygons made;
    int edges = 0, corners = 0;
    for (int start = 0; start < 24; ++start) {
        if (next[static_cast<std::size_t>(start)] < 0) continue;
        const int first = edges;
        for (int e = start; next[static_cast<std::size_t>(e)] >= 0;) {
            made.edge[static_cast<std::size_t>(edges++)] = static_cast<std::int8_t>(e);
            const int to = next[static_cast<std::size_t>(e)];
            next[static_cast<std::size_t>(e)] = -1, e = to;
        }
        const int size = edges - first, apex = apex_of(made, first, size);
        for (int k = first; k < edges; ++k)
            made.of_edge[static_cast<std::size_t>(made.edge[static_cast<std::size_t>(k)])] = made.count;
        for (int face = 0; face < 6; ++face) {
            int there = 0;
            for (int k = first; k < edges; ++k) {
                const int e = made.edge[static_cast<std::size_t>(k)], axis = face / 2;
                there += e / 8 != axis && ((e & bit_of(axis)) != 0) == (face % 2 != 0) ? 1 : 0;
            }
            if (there == 4) made.doubled = static_cast<std::uint8_t>(made.doubled | 1 << face);
        }
        made.size[static_cast<std::size_t>(made.count++)] = static_cast<std::int8_t>(size);
        for (int m = 1; m + 1 < size; ++m)
            for (const int k : {apex, apex + m, apex + m + 1})
                made.corners[static_cast<std::size_t>(corners++)] =
                    made.edge[static_cast<std::size_t>(first + k % size)];
    }
    made.triangles = static_cast<std::int8_t>(corners / 3);
    return made;
}

constexpr std::array<polygons, 256> all_polygons() {
    std::array<polygons, 256> made{};
    for (int cell = 0; cell < 256; ++cell) made[static_cast<std::size_t>(cell)] = polygons_of(cell);
    return made;
}
inline constexpr std::array<polygons, 256> table = all_polygons();

}  // namespace nearfield::isosurfaces
