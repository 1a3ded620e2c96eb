// One centre in any grid: weights, doubles, periodic axes. Shared by host and device.
#pragma once

#include "thickness/contained.hpp"
#include "thickness/problem.hpp"

namespace nearfield::thickness {

/// A centre and the field of the image that holds it.
template <class N>
struct centre {
    const N* field;
    std::int32_t at[3];
    std::int64_t index;
    N r2;
};

template <class N>
NF_HD inline centre<N> centre_of(const N* field, const grid3& g, std::int64_t index) {
    const std::int64_t line = index / g.size[2], plane = line / g.size[1];
    return {field,
            {static_cast<std::int32_t>(plane), static_cast<std::int32_t>(line - plane * g.size[1]),
             static_cast<std::int32_t>(index - line * g.size[2])},
            index,
            field[index]};
}

/// Returns the cover of the neighbour at (z, y, x), or never() if it does not exist or does not precede the centre.
template <class N>
NF_HD inline N cover_at(const centre<N>& c, const grid3& g, const metric<N>& m, int z, int y, int x) {
    const int step[3] = {z, y, x};
    std::int64_t other = 0;
    for (int axis = 0; axis < 3; ++axis) {
        std::int32_t place = c.at[axis] + step[axis];
        if (place < 0 || place >= g.size[axis]) {
            if (!g.wraps[axis]) return never<N>();
            place += place < 0 ? g.size[axis] : -g.size[axis];
        }
        other = other * g.size[axis] + place;
    }
    const N larger2 = c.field[other];
    if (larger2 < c.r2 || (larger2 == c.r2 && other >= c.index)) return never<N>();
    return cover_of(larger2, c.r2, length2(m, z, y, x));
}

/// Returns whether the neighbours along the axes cover the centre's whole ball.
template <class N>
NF_HD inline bool is_contained(const centre<N>& c, const grid3& g, const metric<N>& m) {
    N corner[3];
    for (int axis = 0; axis < 3; ++axis) {
        const int z = axis == 0 ? 1 : 0, y = axis == 1 ? 1 : 0, x = axis == 2 ? 1 : 0;
        const N cover = most(cover_at(c, g, m, z, y, x), cover_at(c, g, m, -z, -y, -x));
        corner[axis] = cells_left_from(cover, m.weight[axis]);
    }
    return is_outside(m, corner, c.r2);
}

/// Returns whether all cells beside a centre along the axes have balls as large as its own. Its ball then is needed for
/// the centre's own cell alone: a step from the centre towards another cell of the ball leads to a centre that is
/// nearer to that cell and whose ball is as large, until a centre is not surrounded or is the cell itself.
template <class N>
NF_HD inline bool is_surrounded(const centre<N>& c, const grid3& g) {
    if (!(c.r2 > 0) || is_endless(c.r2)) return false;
    for (int axis = 0; axis < 3; ++axis)
        for (int way = -1; way <= 1; way += 2) {
            const std::int32_t place = c.at[axis] + way;
            std::int64_t apart = way;
            if (place < 0 || place >= g.size[axis]) {
                if (!g.wraps[axis]) continue;
                apart += place < 0 ? g.size[axis] : -g.size[axis];
            }
            if (c.field[c.index + apart * g.step(axis)] < c.r2) return false;
        }
    return true;
}

template <class N>
NF_HD inline std::int32_t half_of_row(const slice<N>& t, const turned<N, false>& w, const metric<N>& m, N r2, int axis,
                                      std::int32_t s, std::int32_t b) {
    if constexpr (std::is_floating_point_v<N>) return half_in_double(m, r2, axis, s, b);
    else return half_of(t, w, b);
}

/// Returns `place` wrapped into [0, size).
NF_HD constexpr std::int64_t wrapped(std::int64_t place, std::int64_t size) {
    if (place >= 0 && place < size) return place;
    const std::int64_t rest = place % size;
    return rest < 0 ? rest + size : rest;
}

/// Returns the index at which row b of slice s starts, as if its middle had coordinate 0; it runs along row_axis(axis).
template <class N>
NF_HD inline std::int64_t row_start(const centre<N>& c, const grid3& g, int axis, std::int32_t s, std::int32_t b) {
    const int middle = middle_axis(axis);
    return wrapped(c.at[axis] + std::int64_t{s}, g.size[axis]) * g.step(axis) +
           wrapped(c.at[middle] + std::int64_t{b}, g.size[middle]) * g.step(middle);
}

/// Cells first .. last of a row relative to the centre, clipped at open ends. Along a periodic axis a row longer than
/// the axis holds every cell once.
struct stretch {
    std::int64_t first = 0, count = 0;
};
NF_HD inline stretch stretch_of(std::int64_t first, std::int64_t last, std::int64_t at, std::int64_t size, bool wraps) {
    if (wraps) return {first, least(last - first + 1, size)};
    first = most(first, std::int64_t{0} - at), last = least(last, size - 1 - at);
    return {first, last - first + 1};
}

}  // namespace nearfield::thickness
