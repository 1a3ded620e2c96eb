// Finds the first point of a ray on a surface of an interpolated field; host and device share it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/annotate.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::pictures {

/// A volume of bytes or floats. An image is a volume whose first axis has one cell.
struct volume {
    const void* data = nullptr;
    bool bytes = false;
    std::int64_t size[3] = {1, 1, 1}, step[3] = {};
    double length[3] = {1, 1, 1};

    NF_HD std::int64_t cells() const { return size[0] * size[1] * size[2]; }
    NF_HD std::int64_t place(std::int64_t z, std::int64_t y, std::int64_t x) const {
        return z * step[0] + y * step[1] + x * step[2];
    }
    NF_HD double at(std::int64_t place) const {
        if (bytes) return static_cast<const std::uint8_t*>(data)[place];
        const double value = static_cast<const float*>(data)[place];
        return value < 1e18 ? (value > -1e18 ? value : -1e18) : 1e18;
    }
    /// Step from a cell's first corner to its other one along an axis; both are the same if the axis has one cell.
    NF_HD std::int64_t side(int axis) const { return size[axis] > 1 ? step[axis] : 0; }
};

/// The surface on which the field equals `level`. Points with sense * (field - level) > 0 are free.
struct surface {
    volume field;
    double level = 0, sense = 1;
    /// Chessboard distance from each block of 2^3 cells to one with a corner that is not free, in blocks, at most 255;
    /// contiguous. Null: see `distance`.
    const std::uint8_t* skip = nullptr;
    bool distance = false;  ///< true if the field changes no faster than distance does
};

/// The line o + t d in cells, for t >= 0.
struct line {
    double o[3] = {}, d[3] = {};

    NF_HD double at(int axis, double t) const { return o[axis] + t * d[axis]; }
};

/// Values of a cell's corners minus the level, and the position of a point between them.
struct cell {
    std::int64_t base[3];
    double corner[8], share[3];

    NF_HD double value() const {
        double v[4];
        for (int k = 0; k < 4; ++k) v[k] = corner[2 * k] + share[2] * (corner[2 * k + 1] - corner[2 * k]);
        const double low = v[0] + share[1] * (v[1] - v[0]), high = v[2] + share[1] * (v[3] - v[2]);
        return low + share[0] * (high - low);
    }
    NF_HD double least() const {
        double low = corner[0];
        for (int k = 1; k < 8; ++k) low = corner[k] < low ? corner[k] : low;
        return low;
    }
    /// Gradient of the interpolated field, per cell.
    NF_HD void gradient(double* g) const {
        for (int axis = 0; axis < 3; ++axis) {
            const int bit = 4 >> axis, one = axis == 0 ? 2 : 4, two = axis == 2 ? 2 : 1;
            const double a = share[axis == 0 ? 1 : 0], b = share[axis == 2 ? 1 : 2];
            const auto along = [&](int from) { return corner[from + bit] - corner[from]; };
            const double near = along(0) + b * (along(two) - along(0)),
                         far = along(one) + b * (along(one + two) - along(one));
            g[axis] = near + a * (far - near);
        }
    }
};

/// Number of blocks of two cells along an axis.
NF_HD constexpr std::int64_t blocks_of(std::int64_t size) { return (size + 1) / 2; }

NF_HD inline std::int64_t clamped(std::int64_t at, std::int64_t most) { return at < 0 ? 0 : at > most ? most : at; }
/// The first corner, along an axis, of the cell that contains a coordinate.
NF_HD inline std::int64_t base_of(double x, std::int64_t size) {
    return x > 0 ? clamped(static_cast<std::int64_t>(x), size > 1 ? size - 2 : 0) : 0;
}

/// Reads the cell with first corner `base`, for a point.
NF_HD inline cell cell_at(const surface& s, const std::int64_t* base, const double* point) {
    const volume& f = s.field;
    cell c;
    for (int axis = 0; axis < 3; ++axis)
        c.base[axis] = base[axis], c.share[axis] = point[axis] - static_cast<double>(base[axis]);
    const std::int64_t first = f.place(base[0], base[1], base[2]), z = f.side(0), y = f.side(1), x = f.side(2);
    for (int k = 0; k < 8; ++k)
        c.corner[k] = s.sense * (f.at(first + (k >> 2) * z + (k >> 1 & 1) * y + (k & 1) * x) - s.level);
    return c;
}

/// The interpolated field on a line through a cell: a cubic in t, counted from the cell's point.
struct cubic {
    double c[4];

    NF_HD double at(double t) const { return c[0] + t * (c[1] + t * (c[2] + t * c[3])); }
};
NF_HD inline cubic cubic_of(const cell& q, const double* d) {
    const double* v = q.corner;
    double g[3];
    q.gradient(g);
    const double z = q.share[0], y = q.share[1], x = q.share[2];
    const double all = ((v[7] - v[6]) - (v[5] - v[4])) - ((v[3] - v[2]) - (v[1] - v[0]));
    const double zy = (v[6] - v[4]) - (v[2] - v[0]) + all * x, zx = (v[5] - v[4]) - (v[1] - v[0]) + all * y,
                 yx = (v[3] - v[2]) - (v[1] - v[0]) + all * z;
    return {{q.value(), g[0] * d[0] + g[1] * d[1] + g[2] * d[2],
             zy * (d[0] * d[1]) + zx * (d[0] * d[2]) + yx * (d[1] * d[2]), all * (d[0] * d[1] * d[2])}};
}
/// An interval in which a cubic, positive at its first end, reaches 0.
struct bracket {
    double free = 0, hit = 0;
};
/// Finds the interval of the least root in [0, end] of a cubic that is positive at 0; returns false if there is none.
NF_HD inline bool has_root(const cubic& p, double end, bracket& made) {
    double stop[3];  // between stops the cubic is monotone
    int stops = 0;
    const double a = 3 * p.c[3], half = p.c[2], inside = half * half - a * p.c[1];
    if (inside > 0) {
        const double q = half < 0 ? -half + std::sqrt(inside) : -half - std::sqrt(inside);
        const double one = a != 0 ? q / a : end, two = q != 0 ? p.c[1] / q : end;
        const double low = one < two ? one : two, high = one < two ? two : one;
        if (low > 0 && low < end) stop[stops++] = low;
        if (high > 0 && high < end) stop[stops++] = high;
    }
    stop[stops++] = end;
    made.free = 0;
    for (int k = 0; k < stops; made.free = stop[k], ++k)
        if (!(p.at(stop[k]) > 0)) {
            made.hit = stop[k];
            return true;
        }
    return false;
}
NF_HD inline double root_in(const cubic& p, bracket in) {
    for (int round = 0; round < 40; ++round) {
        const double middle = in.free + (in.hit - in.free) / 2;
        if (p.at(middle) > 0) in.free = middle;
        else in.hit = middle;
    }
    return in.hit;
}

/// The part of a line inside the grid, and the axis of the face by which it enters, or -1.
struct passage {
    double first, last;
    int face = -1;
};
NF_HD inline passage through(const volume& f, const line& l) {
    passage p{0, std::numeric_limits<double>::infinity()};
    for (int axis = 0; axis < 3; ++axis) {
        const auto most = static_cast<double>(f.size[axis] - 1);
        if (l.d[axis] == 0) {
            if (!(l.o[axis] >= 0 && l.o[axis] <= most)) p.last = -1;
            continue;
        }
        const double over = 1 / l.d[axis], zero = -l.o[axis] * over, end = (most - l.o[axis]) * over;  // as in walk
        const double enter = zero < end ? zero : end, leave = zero < end ? end : zero;
        if (enter > p.first) p.first = enter, p.face = axis;
        if (leave < p.last) p.last = leave;
    }
    return p;
}

struct meeting {
    double t = std::numeric_limits<double>::infinity();
    std::int32_t steps = 0;
    bool at_entry = false;  ///< true if the hit is where the line enters the grid
    cell where;             ///< the cell of the hit, if there is one

    NF_HD bool hit() const { return t < std::numeric_limits<double>::infinity(); }
};

/// Walks over the cells of a line.
struct walk {
    const surface& s;
    const line& l;
    double t;
    double over[3];  ///< 1 / l.d
    std::int64_t base[3];

    NF_HD walk(const surface& s_, const line& l_, double first) : s(s_), l(l_), t(first) {
        for (int axis = 0; axis < 3; ++axis)
            over[axis] = 1 / l.d[axis], base[axis] = base_of(l.at(axis, t), s.field.size[axis]);
    }
    /// Moves to t. Rounding never moves an axis backwards, so every walk ends.
    NF_HD void go_to(double to) {
        t = to;
        for (int axis = 0; axis < 3; ++axis) {
            const std::int64_t there = base_of(l.at(axis, t), s.field.size[axis]);
            if (l.d[axis] > 0 ? there > base[axis] : there < base[axis]) base[axis] = there;
        }
    }
    NF_HD void point(double* p) const {
        for (int axis = 0; axis < 3; ++axis) p[axis] = l.at(axis, t);
    }
    /// Distance in blocks from the walk's block to one that is not free; 0 if the surface has no such distances.
    NF_HD std::int64_t free_blocks() const {
        if (s.skip == nullptr) return 0;
        const std::int64_t *n = s.field.size, rows = blocks_of(n[1]), row = blocks_of(n[2]);
        return s.skip[((base[0] >> 1) * rows + (base[1] >> 1)) * row + (base[2] >> 1)];
    }
    /// The plane by which the line leaves its cell along an axis, or, if wide > 0, all blocks nearer than `wide`.
    NF_HD std::int64_t plane(int axis, std::int64_t wide) const {
        const bool up = l.d[axis] > 0;
        if (wide == 0) return up ? base[axis] + 1 : base[axis];
        return ((base[axis] >> 1) + (up ? wide : 1 - wide)) * 2;
    }
    /// Finds the axis and the time at which the line leaves its cell or blocks.
    NF_HD int exit(std::int64_t wide, double& when) const {
        int by = -1;
        when = std::numeric_limits<double>::infinity();
        for (int axis = 2; axis >= 0; --axis) {
            if (l.d[axis] == 0) continue;
            const double one = (static_cast<double>(plane(axis, wide)) - l.o[axis]) * over[axis];
            if (one < when) when = one, by = axis;
        }
        return by;
    }
    /// Leaves them along this axis; false if the grid ends there. Indices are constants, so that devices keep arrays in
    /// registers.
    NF_HD bool leave(int by, std::int64_t wide, double when) {
        std::int64_t to = -1, last = 0;
        for (int axis = 0; axis < 3; ++axis)
            if (axis == by) to = plane(axis, wide) - (l.d[axis] > 0 ? 0 : 1), last = s.field.size[axis] - 2;
        if (to < 0 || to > last) return false;
        const double later = when > t ? when : t;
        if (wide == 0) t = later;
        else go_to(later);
        for (int axis = 0; axis < 3; ++axis) base[axis] = axis == by ? to : base[axis];
        return true;
    }
    /// Leaves free blocks; false if the line ends before a block that is not free. It is a loop of its own, so that the
    /// rays of a warp look at cells together.
    NF_HD bool skip(double last, std::int32_t& steps) {
        while (t <= last) {
            const std::int64_t wide = free_blocks();
            if (wide == 0) return true;
            ++steps;
            double when = 0;
            const int by = exit(wide, when);
            if (!leave(by, wide, when)) return false;
        }
        return false;
    }
    /// Lower bound of the distance to the surface, in t; see sphere_trace.hpp.
    NF_HD double safe(const cell& c, double value, double speed) const {
        double spread = 0;
        for (int axis = 0; axis < 3; ++axis) {
            if (s.field.size[axis] == 1) continue;
            const double h2 = s.field.length[axis] * s.field.length[axis], a = c.share[axis];
            spread += h2 * (a * (1 - a) + 0.25);
        }
        const double sure = value * (1 - 1e-6);  // allows for values that are rounded to float32
        const double rest = sure * sure - spread;
        return value > 0 && rest > 0 ? std::sqrt(rest) / speed : 0;
    }
};

/// True if a line meets the surface in its cell before it leaves the cell; then sets the interval, from the walk's
/// point.
NF_HD inline bool meets(const walk& w, const cell& c, const passage& p, double leaves, bracket& in) {
    if (c.least() > 0) return false;
    const double end = (leaves < p.last ? leaves : p.last) - w.t;
    return c.value() <= 0 || (end > 0 && has_root(cubic_of(c, w.l.d), end, in));
}

/// Finds the point of a meeting in the interval from the walk's point.
NF_HD inline void find_point(meeting& m, const walk& w, const passage& p, const bracket& in) {
    double point[3];
    w.point(point);
    const cell& c = m.where = cell_at(w.s, w.base, point);
    m.t = w.t + (c.value() <= 0 ? 0 : root_in(cubic_of(c, w.l.d), in)), m.at_entry = m.t == p.first;
    for (int axis = 0; axis < 3; ++axis) m.where.share[axis] = w.l.at(axis, m.t) - static_cast<double>(c.base[axis]);
}

/// Finds the first point of a line's passage that is not free.
NF_HD inline meeting meet(const surface& s, const line& l, const passage& p) {
    meeting m;
    if (!(p.first <= p.last)) return m;
    double speed = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const double way = l.d[axis] * s.field.length[axis];
        speed += way * way;
    }
    speed = std::sqrt(speed);
    walk w(s, l, p.first);
    bracket in;
    bool found = false;
    double when = 0;
    while (w.skip(p.last, m.steps)) {
        ++m.steps;
        double point[3];
        w.point(point);
        const cell c = cell_at(s, w.base, point);
        const int by = w.exit(0, when);
        if (s.distance) {
            const double free = w.safe(c, c.value(), speed);
            if (when > w.t && w.t + free > when) {
                w.go_to(w.t + free);
                continue;
            }
        }
        found = meets(w, c, p, when, in);
        if (found) break;
        if (!w.leave(by, 0, when)) break;
    }
    if (found)
        find_point(m, w, p, in);  // behind the loop, so that a warp's rays bisect together and need no cell in it
    return m;
}

}  // namespace nearfield::pictures
