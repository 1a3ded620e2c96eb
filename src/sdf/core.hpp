// Shared by host and device: outlines from coverage, and distances to them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/annotate.hpp"
#include "base/divide.hpp"
#include "base/lines.hpp"
#include "base/quotient.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::signed_field {

inline constexpr int full = 65535;    ///< coverage of a full cell
inline constexpr int unit = 1 << 12;  ///< units of position in a cell's side

/// A part of the outline, relative to its cell's centre.
struct segment {
    std::int16_t ay, ax, by, bx;
};
/// Kinds of cells, as their bytes in `mark`, and what `outline` holds for them: one segment; an edge of a stroke or of
/// a gap, whose other edge is the mirror image; a corner's place and the codes of the points where its two edges leave
/// the cell; the codes of the ends of two edges. `unclear` cells become another kind before distances are measured.
enum : std::uint8_t { no_edge = 0, one_edge = 1, stroke = 2, gap = 3, corner = 4, two_edges = 5, unclear = 6 };

/// A point of a cell's border as a number: its side, and its place there in units.
NF_HD constexpr std::int16_t border_code(int y, int x) {
    const int ay = y < 0 ? -y : y, ax = x < 0 ? -x : x, side = ay >= ax ? (y < 0 ? 0 : 1) : x < 0 ? 2 : 3;
    const int along = (ay >= ax ? x : y) + unit / 2;
    return static_cast<std::int16_t>(side * unit + (along < 0 ? 0 : along >= unit ? unit - 1 : along));
}
NF_HD constexpr void border_place(std::int16_t code, std::int16_t& y, std::int16_t& x) {
    const int side = code / unit, along = code % unit - unit / 2, end = side % 2 == 0 ? -unit / 2 : unit / 2;
    y = static_cast<std::int16_t>(side < 2 ? end : along), x = static_cast<std::int16_t>(side < 2 ? along : end);
}
/// Returns the second edge of a cell that has two, or the first one.
NF_HD inline segment edge_of(const segment& s, std::uint8_t kind, bool second) {
    segment made = s;
    if (kind < corner) {
        if (second)
            made = {static_cast<std::int16_t>(-s.ay), static_cast<std::int16_t>(-s.ax),
                    static_cast<std::int16_t>(-s.by), static_cast<std::int16_t>(-s.bx)};
        return made;
    }
    if (kind == two_edges) border_place(second ? s.by : s.ay, made.ay, made.ax);
    border_place(second ? s.bx : kind == corner ? s.by : s.ax, made.by, made.bx);
    return made;
}

/// A call: sizes of the image, the caller's arrays, and the memory of the call.
struct work {
    std::int64_t images = 1, rows = 1, columns = 1;
    bool wraps[2] = {false, false};
    int supersample = 1;
    bool coverage = true;
    double scale = 1, edge = 0;  ///< integer output is largest * (edge + scale * distance)

    const void* image = nullptr;
    void* out = nullptr;
    dtype image_type = dtype::uint8, out_type = dtype::float32;
    int batch = 0;  ///< number of leading axes that number images
    std::int64_t batch_size[max_rank] = {}, image_step[max_rank + 1] = {}, out_step[max_rank + 1] = {};

    std::uint8_t* mark = nullptr;  ///< coverage: kind of edge; masks: 0 at corners on the outline
    segment* outline = nullptr;    ///< for coverage only
    void* site = nullptr;          ///< for coverage only: int32, or int64 if `wide`; before, by cell a byte: is clear
    bool wide = false;             ///< cells are numbered in 64 bits
    divisor by_columns;            ///< unless `wide`
    float* distance = nullptr;     ///< for masks: of each cell, signed, or of each corner if `supersample` is even

    NF_HD bool corners() const { return supersample % 2 == 0; }
    NF_HD std::int64_t out_rows() const { return rows / supersample; }
    NF_HD std::int64_t out_columns() const { return columns / supersample; }
    NF_HD std::int64_t corner_rows() const { return rows + (wraps[0] ? 0 : 1); }
    NF_HD std::int64_t corner_columns() const { return columns + (wraps[1] ? 0 : 1); }
    NF_HD std::int64_t start_of(std::int64_t which, const std::int64_t* step) const {
        return batch == 0 ? 0 : offset_of(which, batch_size, step, batch);
    }
};

/// The cell at a place, which may be outside: wraps around, or clamps if `beyond`, else returns -1.
template <class Number>
NF_HD Number place(Number at, Number size, bool wraps, bool beyond) {
    if (at >= 0 && at < size) return at;
    if (!wraps) return !beyond ? -1 : at < 0 ? 0 : size - 1;
    at %= size;
    return at < 0 ? at + size : at;
}

NF_HD inline int coverage_of(double value) {
    return !(value > 0) ? 0 : value >= 1 ? full : static_cast<int>(value * full + 0.5);
}
/// Reads the coverage of one image of the call.
struct plane {
    const work& w;
    std::int64_t start;

    NF_HD plane(const work& w_, std::int64_t which) : w(w_), start(w_.start_of(which, w_.image_step)) {}
    NF_HD std::int64_t offset(std::int64_t y, std::int64_t x) const {
        return start + y * w.image_step[w.batch] + x * w.image_step[w.batch + 1];
    }
    NF_HD int at(std::int64_t y, std::int64_t x) const { return at_offset(offset(y, x)); }
    NF_HD int at_offset(std::int64_t i) const {
        switch (w.image_type) {
            case dtype::boolean: return static_cast<const std::uint8_t*>(w.image)[i] != 0 ? full : 0;
            case dtype::uint8: return static_cast<const std::uint8_t*>(w.image)[i] * 257;
            case dtype::uint16: return static_cast<const std::uint16_t*>(w.image)[i];
            case dtype::float32: return coverage_of(static_cast<const float*>(w.image)[i]);
            default: return coverage_of(static_cast<const double*>(w.image)[i]);
        }
    }
    /// True if a cell of a mask is set.
    NF_HD bool is_set(std::int64_t y, std::int64_t x) const {
        const std::int64_t i = offset(y, x);
        if (w.image_type == dtype::float32) return static_cast<const float*>(w.image)[i] != 0;
        if (w.image_type == dtype::float64) return static_cast<const double*>(w.image)[i] != 0;
        if (w.image_type == dtype::float16) return (static_cast<const std::uint16_t*>(w.image)[i] & 0x7fff) != 0;
        switch (size_of(w.image_type)) {
            case 1: return static_cast<const std::uint8_t*>(w.image)[i] != 0;
            case 2: return static_cast<const std::uint16_t*>(w.image)[i] != 0;
            case 4: return static_cast<const std::uint32_t*>(w.image)[i] != 0;
            default: return static_cast<const std::uint64_t*>(w.image)[i] != 0;
        }
    }
    NF_HD int around(std::int64_t y, std::int64_t x) const {
        return at(place(y, w.rows, w.wraps[0], true), place(x, w.columns, w.wraps[1], true));
    }
};

/// Squared distance, in squared units, from (y, x) to the segment from (ay, ax) to (by, bx).
NF_HD inline float squared_to(float y, float x, float ay, float ax, float by, float bx) {
    const float py = y - ay, px = x - ax, vy = by - ay, vx = bx - ax, length2 = vy * vy + vx * vx;
    const float along = py * vy + px * vx;
    if (along <= 0) return py * py + px * px;
    if (along >= length2) return (y - by) * (y - by) + (x - bx) * (x - bx);
    const float area = py * vx - px * vy;
    return area * area / length2;
}
NF_HD inline float squared_to(float y, float x, const segment& outline, std::uint8_t kind) {
    const segment a = edge_of(outline, kind, false);
    const float one = squared_to(y, x, a.ay, a.ax, a.by, a.bx);
    if (kind == one_edge) return one;
    const segment b = edge_of(outline, kind, true);
    const float two = squared_to(y, x, b.ay, b.ax, b.by, b.bx);
    return one < two ? one : two;
}

/// The step from cell `to` to cell `from`, or to its first corner if `corner` is 1; along a periodic axis the shorter
/// one.
template <class Number>
NF_HD Number step_between(Number from, Number to, Number size, bool wraps, int corner) {
    Number step = from - to;
    if (wraps && step > (size + corner) / 2) step -= size;
    if (wraps && -step > (size - corner) / 2) step += size;
    return step;
}

/// Searches the segment nearest to the centre of cell (y, x), or to its first corner, and keeps the best one. Number is
/// std::int32_t, or std::int64_t if `wide`.
template <class Number>
struct search {
    const work& w;
    Number rows, columns, y, x;  ///< the image's size; the place from which to search
    const std::uint8_t* mark;    ///< of the image, as all arrays
    const segment* outline;
    const Number* site;
    float best = std::numeric_limits<float>::infinity();
    float most = best;    ///< a squared distance that the best one does not exceed
    Number nearest = -1;  ///< cell of the best segment

    NF_HD search(const work& w_, std::int64_t first, std::int64_t y_, std::int64_t x_)
        : w(w_),
          rows(static_cast<Number>(w_.rows)),
          columns(static_cast<Number>(w_.columns)),
          y(static_cast<Number>(y_)),
          x(static_cast<Number>(x_)),
          mark(w_.mark + first),
          outline(w_.outline + first),
          site(static_cast<const Number*>(w_.site) + first) {}

    /// A lower bound of a coordinate's distance to a cell at 0, whose segments end at most 2 units outside of it.
    NF_HD static float beyond(float at) {
        const float away = (at < 0 ? -at : at) - (unit / 2 + 2);
        return away > 0 ? away : 0;
    }
    /// Takes the segment in cell (sy, sx) if it is nearer.
    NF_HD void offer(Number sy, Number sx, Number of) {
        const int corner = w.corners() ? 1 : 0;
        const auto half = static_cast<float>(corner * unit / 2),
                   fy = static_cast<float>(step_between(y, sy, rows, w.wraps[0], corner)) * unit - half,
                   fx = static_cast<float>(step_between(x, sx, columns, w.wraps[1], corner)) * unit - half;
        if (beyond(fy) * beyond(fy) + beyond(fx) * beyond(fx) > (best < most ? best : most)) return;
        const float d2 = squared_to(fy, fx, outline[of], mark[of]);
        if (d2 < best) best = d2, nearest = of;
    }
    NF_HD void offer(Number of) {
        const Number sy = row_of(of);
        offer(sy, of - sy * columns, of);
    }
    [[nodiscard]] NF_HD Number row_of(Number cell) const {
        if constexpr (sizeof(Number) > 4) return quotient(cell, columns);
        else return static_cast<Number>(w.by_columns.quotient(static_cast<std::uint32_t>(cell)));
    }
    [[nodiscard]] NF_HD Number cell(Number at_y, Number at_x) const {
        const Number cy = place(at_y, rows, w.wraps[0], false), cx = place(at_x, columns, w.wraps[1], false);
        return cy < 0 || cx < 0 ? -1 : cy * columns + cx;
    }

    /// Tries the segments that are nearest to the 13 cells around a centre, or to the 12 around a corner. The one that
    /// is nearest to the own cell bounds the distance, and so leaves few of the others; the first of equally near ones
    /// is kept, in order of the cells.
    NF_HD void around() {
        const int corner = w.corners() ? 1 : 0;
        const Number here = y * columns + x;
        const bool inner = y >= 2 && x >= 2 && y < rows - 2 && x < columns - 2;
        const Number middle = site[here];
        if (middle >= 0) offer(middle), most = best;
        best = std::numeric_limits<float>::infinity();
        Number seen[5] = {-1, -1, -1, -1, -1};  // the last site of each column
        for (int dy = -2; dy <= 2 - corner; ++dy)
            for (int dx = -2; dx <= 2; ++dx) {
                const int far = (dy < 0 ? -dy - corner : dy) + (dx < 0 ? -dx - corner : dx);
                if (far > 2 - corner) continue;
                const Number at = inner ? here + dy * columns + dx : cell(y + dy, x + dx);
                if (at < 0) continue;
                const Number own = site[at];
                if (own < 0 || own == seen[dx + 2] || (dx > -2 && own == seen[dx + 1])) continue;
                seen[dx + 2] = own;
                if (own != middle) offer(own);
                else if (most < best) best = most, nearest = own;
            }
    }
    /// Moves from the best segment to better ones in adjacent cells.
    NF_HD void descend() {
        for (int round = 0; round < most_rounds && nearest >= 0; ++round) {
            const Number from = nearest, sy = row_of(from), sx = from - sy * columns;
            const bool inner = sy > 0 && sx > 0 && sy < rows - 1 && sx < columns - 1;
            for (int k = 0; k < 9; ++k) {
                if (k == 4) continue;
                Number cy = sy + k / 3 - 1, cx = sx + k % 3 - 1;
                if (!inner) {
                    cy = place(cy, rows, w.wraps[0], false), cx = place(cx, columns, w.wraps[1], false);
                    if (cy < 0 || cx < 0) continue;
                }
                if (const Number of = cy * columns + cx; mark[of] != no_edge) offer(cy, cx, of);
            }
            if (nearest == from) return;
        }
    }
    static constexpr int most_rounds = 16;
};

/// Distance to the outline, in cells; infinite if there is none.
template <class Number>
NF_HD float to_outline(const work& w, std::int64_t first, std::int64_t y, std::int64_t x) {
    search<Number> s(w, first, y, x);
    s.around();
    s.descend();
    return std::sqrt(s.best) / unit;
}

/// True if the centre of cell (y, x), or its first corner, is inside.
NF_HD inline bool is_inside(const work& w, const plane& p, std::int64_t first, std::int64_t y, std::int64_t x) {
    if (w.corners()) {
        const std::int64_t up = place(y - 1, w.rows, w.wraps[0], true),
                           left = place(x - 1, w.columns, w.wraps[1], true);
        return p.at(y, x) + p.at(up, x) + p.at(y, left) + p.at(up, left) > 2 * full;
    }
    const std::uint8_t mark = w.mark[first + y * w.columns + x];
    return mark == stroke || (mark != gap && 2 * p.at(y, x) > full);
}

/// Writes 0 for a corner that has cells of the mask and other cells around it, else 1.
NF_HD inline void touch(const work& w, const plane& p, std::int64_t y, std::int64_t x, std::int64_t corner) {
    int inside = 0, cells = 0;
    for (int k = 0; k < 4; ++k) {
        const std::int64_t cy = place(y - k / 2, w.rows, w.wraps[0], false),
                           cx = place(x - k % 2, w.columns, w.wraps[1], false);
        if (cy < 0 || cx < 0) continue;
        inside += p.is_set(cy, cx) ? 1 : 0, ++cells;
    }
    w.mark[corner] = inside > 0 && inside < cells ? 0 : 1;
}

/// Writes a pixel of the output. Number is that of search.
template <class Number>
NF_HD void write(const work& w, const plane& p, std::int64_t which, std::int64_t out_start, std::int64_t row,
                 std::int64_t column) {
    const std::int64_t half = w.supersample / 2, y = row * w.supersample + half, x = column * w.supersample + half;
    const std::int64_t first = which * w.rows * w.columns;
    double cells = 0;
    if (w.coverage) {
        cells = to_outline<Number>(w, first, y, x);
        if (!is_inside(w, p, first, y, x)) cells = -cells;
    } else if (w.corners()) {
        cells = w.distance[(which * w.corner_rows() + y) * w.corner_columns() + x];
        if (!p.is_set(y, x)) cells = -cells;
    } else {
        cells = w.distance[first + y * w.columns + x];
    }
    const double distance = cells / w.supersample;
    const std::int64_t to = out_start + row * w.out_step[w.batch] + column * w.out_step[w.batch + 1];
    if (w.out_type == dtype::float32) {
        static_cast<float*>(w.out)[to] = static_cast<float>(distance);
        return;
    }
    const double largest = w.out_type == dtype::uint8 ? 255 : 65535;
    double code = std::floor(largest * (w.edge + w.scale * distance) + 0.5);
    code = code > largest ? largest : code > 0 ? code : 0;
    if (w.out_type == dtype::uint8) static_cast<std::uint8_t*>(w.out)[to] = static_cast<std::uint8_t>(code);
    else static_cast<std::uint16_t*>(w.out)[to] = static_cast<std::uint16_t>(code);
}

/// The loops of a call: over cells of the image, twice, over corners, and over pixels of the output.
void trace_outline(const host& on, const work& w);
void trace_outline(const device& on, const work& w);
void find_corners(const host& on, const work& w);
void find_corners(const device& on, const work& w);
void touch_corners(const host& on, const work& w);
void touch_corners(const device& on, const work& w);
void write_pixels(const host& on, const work& w);
void write_pixels(const device& on, const work& w);

}  // namespace nearfield::signed_field
