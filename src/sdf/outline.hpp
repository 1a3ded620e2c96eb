// Shared by host and device: outlines from coverage. A cell's outline is the line across the gradient that cuts off the
// cell's share. The cell is clear if this line also predicts the shares around it. Others are near corners, where two
// lines of clear cells predict them better.
#pragma once

#include "sdf/core.hpp"

namespace nearfield::signed_field {

/// A straight outline, relative to a cell's centre. The unit vector (ny, nx) points inside; the inside begins `offset`
/// away from the centre in its direction.
struct line {
    double ny, nx, offset;

    /// Returns how far inside a point is.
    [[nodiscard]] NF_HD double depth(double y, double x) const { return ny * y + nx * x - offset; }
    /// Returns the same line relative to the cell (y, x).
    [[nodiscard]] NF_HD line from(int y, int x) const { return {ny, nx, -depth(y, x)}; }
    [[nodiscard]] NF_HD line turned() const { return {-ny, -nx, -offset}; }
    /// Sets the offset with which a share of the cell is inside.
    NF_HD void cut_off(double share) {
        const double ay = ny < 0 ? -ny : ny, ax = nx < 0 ? -nx : nx, low = ay < ax ? ay : ax, high = ay < ax ? ax : ay;
        const double less = share < 0.5 ? share : 1 - share;
        const double depth = 2 * high * less <= low ? std::sqrt(2 * low * high * less) : high * less + low / 2;
        offset = (low + high) / 2 - depth;
        if (share >= 0.5) offset = -offset;
    }
};

/// Shares of cells that are inside a line.
struct shares {
    line l;
    double low, half, per_triangle, per_trapezoid;

    shares() = default;
    NF_HD explicit shares(const line& of) : l(of) {
        const double ay = l.ny < 0 ? -l.ny : l.ny, ax = l.nx < 0 ? -l.nx : l.nx, high = ay < ax ? ax : ay;
        low = ay < ax ? ay : ax, half = (low + high) / 2;
        per_triangle = 1 / (2 * low * high), per_trapezoid = 1 / high;
    }
    /// Returns the share of cell (y, x). It is computed for the smaller part, which is a triangle or a trapezoid.
    [[nodiscard]] NF_HD double share(int y, int x) const {
        const double inside = l.depth(y, x), left = half - (inside < 0 ? -inside : inside);
        const double less = left <= 0 ? 0 : left < low ? left * left * per_triangle : (left - low / 2) * per_trapezoid;
        return inside < 0 ? less : 1 - less;
    }
};

/// The coverage of 3 x 3 cells.
struct block {
    int of[3][3];

    NF_HD block(const work& w, const plane& p, std::int64_t y, std::int64_t x) {
        const bool inner = y > 0 && x > 0 && y < w.rows - 1 && x < w.columns - 1;
        const std::int64_t here = p.offset(y, x);
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                of[dy + 1][dx + 1] =
                    inner ? p.at_offset(here + dy * w.image_step[w.batch] + dx * w.image_step[w.batch + 1])
                          : p.around(y + dy, x + dx);
    }
    /// Finds the line of the middle cell; returns false if the gradient (Sobel's) is 0.
    NF_HD bool find(line& made) const {
        const int gy = (of[2][0] + 2 * of[2][1] + of[2][2]) - (of[0][0] + 2 * of[0][1] + of[0][2]),
                  gx = (of[0][2] + 2 * of[1][2] + of[2][2]) - (of[0][0] + 2 * of[1][0] + of[2][0]);
        if (gy == 0 && gx == 0) return false;
        const double y2 = gy, x2 = gx, length = std::sqrt(y2 * y2 + x2 * x2);
        made.ny = y2 / length, made.nx = x2 / length;
        made.cut_off(static_cast<double>(of[1][1]) / full);
        return true;
    }
    /// Returns the sum of squared differences to the shares that a model predicts, or some value above `most`.
    template <class Model>
    NF_HD double residual(const Model& model, double most) const {
        double sum = 0;
        for (int k = 0; k < 9 && sum <= most; ++k) {
            const double off = model.share(k / 3 - 1, k % 3 - 1) - of[k / 3][k % 3] * (1.0 / full);
            sum += off * off;
        }
        return sum;
    }
};

NF_HD inline std::int16_t in_units(double length) { return static_cast<std::int16_t>(std::floor(length * unit + 0.5)); }
/// Narrows the range of t in which (py + t my, px + t mx) is in the cell around 0; it is empty if last < first.
NF_HD inline void clip(double py, double px, double my, double mx, double& first, double& last) {
    const auto cut = [&](double p, double m) {
        if (m > -1e-9 && m < 1e-9) {
            if (p < -0.5 - 1e-9 || p > 0.5 + 1e-9) last = first - 1;
            return;
        }
        const double one = (-0.5 - p) / m, two = (0.5 - p) / m, low = one < two ? one : two,
                     high = one < two ? two : one;
        if (low > first) first = low;
        if (high < last) last = high;
    };
    cut(py, my), cut(px, mx);
}
/// Returns the part of a line inside the cell.
NF_HD inline segment clipped(const line& l) {
    const double py = l.ny * l.offset, px = l.nx * l.offset, my = l.nx, mx = -l.ny;
    double first = -2, last = 2;
    clip(py, px, my, mx, first, last);
    if (first > last) first = last = (first + last) / 2;
    return {in_units(py + first * my), in_units(px + first * mx), in_units(py + last * my), in_units(px + last * mx)};
}

constexpr double clear_residual = 0.006;  ///< of 9 cells; 0.004 and 0.009 find corners about as well

/// Finds the outline within a cell, and the kind of the cell, which stays unclear near corners.
NF_HD inline void trace(const work& w, const plane& p, std::int64_t y, std::int64_t x, std::int64_t cell) {
    auto& is_clear = static_cast<std::uint8_t*>(w.site)[cell];
    w.mark[cell] = no_edge, is_clear = 0;
    const int own = p.at(y, x);
    if (own == 0) return;
    const bool inner = y > 0 && x > 0 && y < w.rows - 1 && x < w.columns - 1;
    const std::int64_t here = p.offset(y, x), row = w.image_step[w.batch], column = w.image_step[w.batch + 1];
    const int left = inner ? p.at_offset(here - column) : p.around(y, x - 1),
              right = inner ? p.at_offset(here + column) : p.around(y, x + 1),
              up = inner ? p.at_offset(here - row) : p.around(y - 1, x),
              down = inner ? p.at_offset(here + row) : p.around(y + 1, x);
    if (own == full && left != 0 && right != 0 && up != 0 && down != 0) return;
    const block b(w, p, y, x);
    line l{};
    if (b.find(l)) {
        is_clear = b.residual(shares(l), clear_residual) <= clear_residual ? 1 : 0;
        w.outline[cell] = clipped(l);
        w.mark[cell] = is_clear != 0 ? one_edge : unclear;
        return;
    }
    const double share = static_cast<double>(own) / full;
    const int across = 2 * own - left - right, along = 2 * own - up - down;
    const int more_across = across < 0 ? -across : across, more_along = along < 0 ? -along : along;
    const bool by_columns = more_across >= more_along, is_stroke = (by_columns ? across : along) >= 0;
    const std::int16_t half = in_units((is_stroke ? share : 1 - share) / 2), end = unit / 2;
    w.outline[cell] = by_columns ? segment{static_cast<std::int16_t>(-end), half, end, half}
                                 : segment{half, static_cast<std::int16_t>(-end), half, end};
    w.mark[cell] = is_stroke ? stroke : gap;
}

/// A convex polygon, which begins as the cell around 0.
struct polygon {
    double y[10] = {-0.5, -0.5, 0.5, 0.5}, x[10] = {-0.5, 0.5, 0.5, -0.5};
    int count = 4;

    /// Keeps the part inside a line.
    NF_HD void cut(const line& l) {
        const polygon from = *this;
        count = 0;
        for (int i = 0; i < from.count; ++i) {
            const int j = i + 1 < from.count ? i + 1 : 0;
            const double one = l.depth(from.y[i], from.x[i]), two = l.depth(from.y[j], from.x[j]);
            if (one >= 0) y[count] = from.y[i], x[count++] = from.x[i];
            if ((one >= 0) == (two >= 0)) continue;
            const double t = one / (one - two);
            y[count] = from.y[i] + t * (from.y[j] - from.y[i]), x[count++] = from.x[i] + t * (from.x[j] - from.x[i]);
        }
    }
    [[nodiscard]] NF_HD double area() const {
        double twice = 0;
        for (int i = 0; i < count; ++i) {
            const int j = i + 1 < count ? i + 1 : 0;
            twice += y[j] * x[i] - y[i] * x[j];
        }
        return (twice < 0 ? -twice : twice) / 2;
    }
};

/// Two lines that meet at (y, x). A convex corner's inside is inside both, another one's is inside one of them.
struct wedge {
    shares one, two;
    bool convex;
    double y, x;

    [[nodiscard]] NF_HD double share(int dy, int dx) const {
        const double all = convex ? 1 : 0, first = one.share(dy, dx), second = two.share(dy, dx);
        if (first == 1 - all || second == all) return first;
        if (second == 1 - all || first == all) return second;
        const line a = one.l.from(dy, dx), b = two.l.from(dy, dx);
        polygon cell;
        cell.cut(convex ? a : a.turned()), cell.cut(convex ? b : b.turned());
        return convex ? cell.area() : 1 - cell.area();
    }
    /// Finds the part of an edge within the cell: of the ray along `along` that bounds the wedge. Returns false if
    /// there is none.
    NF_HD bool part(const line& along, const line& other, int (&from)[2], int (&to)[2]) const {
        double my = along.nx, mx = -along.ny, first = 0, last = 9;
        if ((my * other.ny + mx * other.nx > 0) != convex) my = -my, mx = -mx;
        clip(y, x, my, mx, first, last);
        if (first >= last) return false;
        from[0] = in_units(y + first * my), from[1] = in_units(x + first * mx);
        to[0] = in_units(y + last * my), to[1] = in_units(x + last * mx);
        return true;
    }
    /// Writes the outline of the cell and its kind.
    NF_HD void write(segment& outline, std::uint8_t& kind) const {
        int from[2][2]{}, to[2][2]{};
        const bool a = part(one.l, two.l, from[0], to[0]), b = part(two.l, one.l, from[1], to[1]);
        const auto code = [](const int(&at)[2]) { return border_code(at[0], at[1]); };
        if (a && b && y >= -0.5 && y <= 0.5 && x >= -0.5 && x <= 0.5) {
            kind = corner, outline = {in_units(y), in_units(x), code(to[0]), code(to[1])};
        } else if (a && b) {
            kind = two_edges, outline = {code(from[0]), code(to[0]), code(from[1]), code(to[1])};
        } else if (a || b) {
            const int k = a ? 0 : 1;
            kind = one_edge;
            outline = {static_cast<std::int16_t>(from[k][0]), static_cast<std::int16_t>(from[k][1]),
                       static_cast<std::int16_t>(to[k][0]), static_cast<std::int16_t>(to[k][1])};
        } else {
            kind = no_edge;
        }
    }
};

/// A clear cell's line, relative to the cell that looks for corners, and where the clear cell is.
struct clear_line {
    shares of;
    int y, x;
};
/// Finds the wedge of two lines that has both clear cells on its outline; returns false if there is none near the cell.
NF_HD inline bool meet(const clear_line& first, const clear_line& second, wedge& made) {
    constexpr double least_sine = 0.25, most_away = 1.6;  // of the angle; the corner's place
    const line &a = first.of.l, &b = second.of.l;
    const double sine = a.ny * b.nx - a.nx * b.ny;
    if (sine > -least_sine && sine < least_sine) return false;
    made.y = (a.offset * b.nx - b.offset * a.nx) / sine, made.x = (a.ny * b.offset - b.ny * a.offset) / sine;
    if (made.y < -most_away || made.y > most_away || made.x < -most_away || made.x > most_away) return false;
    made.one = first.of, made.two = second.of, made.convex = b.depth(first.y, first.x) > 0;
    return made.convex == (a.depth(second.y, second.x) > 0);
}

/// Gives an unclear cell the corner of two clear cells' lines that predicts the cells around it best, if it is better
/// than the line across the gradient. `first` is the first cell of the image.
NF_HD inline void find_corner(const work& w, const plane& p, std::int64_t first, std::int64_t y, std::int64_t x) {
    constexpr int most_lines = 8, farthest = 3;
    constexpr double most_off = 0.12;
    const std::int64_t cell = first + y * w.columns + x;
    if (w.mark[cell] != unclear) return;
    w.mark[cell] = one_edge;
    clear_line found[most_lines];
    int count = 0;
    const bool inner = y >= farthest && x >= farthest && y < w.rows - farthest && x < w.columns - farthest;
    const auto* const is_clear = static_cast<const std::uint8_t*>(w.site) + first;
    for (int ring = 1; ring <= farthest; ++ring)
        for (int dy = -ring; dy <= ring; ++dy)
            for (int dx = -ring; dx <= ring && count < most_lines; dx += dy == -ring || dy == ring ? 1 : 2 * ring) {
                const std::int64_t cy = inner ? y + dy : place(y + dy, w.rows, w.wraps[0], false),
                                   cx = inner ? x + dx : place(x + dx, w.columns, w.wraps[1], false);
                if (cy < 0 || cx < 0 || is_clear[cy * w.columns + cx] == 0) continue;
                line l{};
                static_cast<void>(block(w, p, cy, cx).find(l));
                found[count++] = {shares(l.from(-dy, -dx)), dy, dx};
            }
    if (count < 2) return;
    const block b(w, p, y, x);
    line own{};
    static_cast<void>(b.find(own));
    double least = b.residual(shares(own), 9) / 2;
    wedge best{}, next{};
    bool better = false;
    for (int i = 1; i < count; ++i)
        for (int j = 0; j < i; ++j) {
            if (!meet(found[i], found[j], next)) continue;
            const double off = next.share(0, 0) - b.of[1][1] * (1.0 / full);
            if (off < -most_off || off > most_off) continue;
            if (const double sum = b.residual(next, least); sum < least) least = sum, best = next, better = true;
        }
    if (better) best.write(w.outline[cell], w.mark[cell]);
}

}  // namespace nearfield::signed_field
