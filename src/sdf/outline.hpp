// Shared by host and device: outlines from coverage. A cell's outline is the line across the gradient that cuts off the
// cell's share. The cell is clear if this line also predicts the shares around it. Others are near corners, where two
// lines of clear cells predict them better.
#pragma once

#include "sdf/core.hpp"

namespace nearfield::signed_field {

/// A straight outline, relative to a cell's centre. The unit vector (ny, nx) points inside; the inside begins `offset`
/// away from the centre in its direction.
struct line {
    float ny, nx, offset;

    /// Returns how far inside a point is.
    [[nodiscard]] NF_HD float depth(float y, float x) const { return ny * y + nx * x - offset; }
    /// Returns how far inside the centre of cell (y, x) is.
    [[nodiscard]] NF_HD float depth_of(int y, int x) const {
        return depth(static_cast<float>(y), static_cast<float>(x));
    }
    /// Returns the same line relative to the cell (y, x).
    [[nodiscard]] NF_HD line from(int y, int x) const { return {ny, nx, -depth_of(y, x)}; }
    [[nodiscard]] NF_HD line turned() const { return {-ny, -nx, -offset}; }
    /// Sets the offset with which a share of the cell is inside.
    NF_HD void cut_off(float share) {
        const float ay = ny < 0 ? -ny : ny, ax = nx < 0 ? -nx : nx, low = ay < ax ? ay : ax, high = ay < ax ? ax : ay;
        const float less = share < 0.5F ? share : 1 - share;
        const float depth = 2 * high * less <= low ? std::sqrt(2 * low * high * less) : high * less + low / 2;
        offset = (low + high) / 2 - depth;
        if (share >= 0.5F) offset = -offset;
    }
};

/// Shares of cells that are inside a line.
struct shares {
    line l;
    float low, half, per_triangle, per_trapezoid;

    shares() = default;
    NF_HD explicit shares(const line& of) : l(of) {
        const float ay = l.ny < 0 ? -l.ny : l.ny, ax = l.nx < 0 ? -l.nx : l.nx, high = ay < ax ? ax : ay;
        low = ay < ax ? ay : ax, half = (low + high) / 2;
        per_triangle = 1 / (2 * low * high), per_trapezoid = 1 / high;
    }
    /// Returns the share of cell (y, x). It is computed for the smaller part, which is a triangle or a trapezoid.
    [[nodiscard]] NF_HD float share(int y, int x) const {
        const float inside = l.depth_of(y, x), left = half - (inside < 0 ? -inside : inside);
        const float less = left <= 0 ? 0 : left < low ? left * left * per_triangle : (left - low / 2) * per_trapezoid;
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
        const auto y2 = static_cast<float>(gy), x2 = static_cast<float>(gx), length = std::sqrt(y2 * y2 + x2 * x2);
        made.ny = y2 / length, made.nx = x2 / length;
        made.cut_off(share(4));
        return true;
    }
    [[nodiscard]] NF_HD float share(int k) const { return static_cast<float>(of[k / 3][k % 3]) / full; }
    /// Returns the sum of squared differences to the shares that a model predicts, or some value above `most`.
    template <class Model>
    NF_HD float residual(const Model& model, float most) const {
        float sum = 0;
        for (int k = 0; k < 9 && sum <= most; ++k) {
            const float off = model.share(k / 3 - 1, k % 3 - 1) - share(k);
            sum += off * off;
        }
        return sum;
    }
};

NF_HD inline std::int16_t in_units(float length) { return static_cast<std::int16_t>(std::floor(length * unit + 0.5F)); }
/// Narrows the range of t in which (py + t my, px + t mx) is in the cell around 0; it is empty if last < first.
NF_HD inline void clip(float py, float px, float my, float mx, float& first, float& last) {
    const auto cut = [&](float p, float m) {
        if (m > -1e-6F && m < 1e-6F) {
            if (p < -0.5F - 1e-6F || p > 0.5F + 1e-6F) last = first - 1;
            return;
        }
        const float one = (-0.5F - p) / m, two = (0.5F - p) / m, low = one < two ? one : two,
                    high = one < two ? two : one;
        if (low > first) first = low;
        if (high < last) last = high;
    };
    cut(py, my), cut(px, mx);
}
/// Returns the part of a line inside the cell.
NF_HD inline segment clipped(const line& l) {
    const float py = l.ny * l.offset, px = l.nx * l.offset, my = l.nx, mx = -l.ny;
    float first = -2, last = 2;
    clip(py, px, my, mx, first, last);
    if (first > last) first = last = (first + last) / 2;
    return {in_units(py + first * my), in_units(px + first * mx), in_units(py + last * my), in_units(px + last * mx)};
}

constexpr float clear_residual = 0.006F;  ///< of 9 cells; 0.004 and 0.009 find corners about as well

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
    const float share = static_cast<float>(own) / full;
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
    float y[10] = {-0.5F, -0.5F, 0.5F, 0.5F}, x[10] = {-0.5F, 0.5F, 0.5F, -0.5F};
    int count = 4;

    /// Keeps the part inside a line.
    NF_HD void cut(const line& l) {
        const polygon from = *this;
        count = 0;
        for (int i = 0; i < from.count; ++i) {
            const int j = i + 1 < from.count ? i + 1 : 0;
            const float one = l.depth(from.y[i], from.x[i]), two = l.depth(from.y[j], from.x[j]);
            if (one >= 0) y[count] = from.y[i], x[count++] = from.x[i];
            if ((one >= 0) == (two >= 0)) continue;
            const float t = one / (one - two);
            y[count] = from.y[i] + t * (from.y[j] - from.y[i]), x[count++] = from.x[i] + t * (from.x[j] - from.x[i]);
        }
    }
    [[nodiscard]] NF_HD float area() const {
        float twice = 0;
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
    float y, x;

    [[nodiscard]] NF_HD float share(int dy, int dx) const {
        const float all = convex ? 1 : 0, first = one.share(dy, dx), second = two.share(dy, dx);
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
        float my = along.nx, mx = -along.ny, first = 0, last = 9;
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
        if (a && b && y >= -0.5F && y <= 0.5F && x >= -0.5F && x <= 0.5F) {
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
    constexpr float least_sine = 0.25F, most_away = 1.6F;  // of the angle; the corner's place
    const line &a = first.of.l, &b = second.of.l;
    const float sine = a.ny * b.nx - a.nx * b.ny;
    if (sine > -least_sine && sine < least_sine) return false;
    made.y = (a.offset * b.nx - b.offset * a.nx) / sine, made.x = (a.ny * b.offset - b.ny * a.offset) / sine;
    if (made.y < -most_away || made.y > most_away || made.x < -most_away || made.x > most_away) return false;
    made.one = first.of, made.two = second.of, made.convex = b.depth_of(first.y, first.x) > 0;
    return made.convex == (a.depth_of(second.y, second.x) > 0);
}

/// Gives an unclear cell the corner of two clear cells' lines that predicts the cells around it best, if it is better
/// than the line across the gradient. `first` is the first cell of the image.
NF_HD inline void find_corner(const work& w, const plane& p, std::int64_t first, std::int64_t y, std::int64_t x) {
    constexpr int most_lines = 8, farthest = 3;
    constexpr float most_off = 0.12F;
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
    float least = b.residual(shares(own), 9) / 2;
    wedge best{}, next{};
    bool better = false;
    for (int i = 1; i < count; ++i)
        for (int j = 0; j < i; ++j) {
            if (!meet(found[i], found[j], next)) continue;
            const float off = next.share(0, 0) - b.share(4);
            if (off < -most_off || off > most_off) continue;
            if (const float sum = b.residual(next, least); sum < least) least = sum, best = next, better = true;
        }
    if (better) best.write(w.outline[cell], w.mark[cell]);
}

}  // namespace nearfield::signed_field
