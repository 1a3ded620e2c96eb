// Lower convex hulls of lines, however they are stored.
//
// With h(r) = value(r) + r^2 the rows that win somewhere are the corners of the lower convex hull of the
// points (r, h), and the winner of row q is where a line of slope 2 q touches it. A line is cut into bands;
// a hull class keeps the points of band b in places [start(b), end(b)) and provides
//     point(place), put(place, point), candidate(band, i, point), start(band), end(band), set(band, start, end).
// In the numbers int32 all heights stay below 2^31: both terms are below 2^30.
#pragma once

#include <type_traits>
#include <utility>

#include "exact/cuda_common.cuh"

namespace nearfield::exact {
namespace {

struct place {
    int band, at;
};

/// True when `b` lies above the line from `a` to `c`, so that it wins nowhere. Points on the line stay when ties
/// matter.
template <class Wide, class Point>
__device__ bool hidden(const Point& a, const Point& b, const Point& c) {
    const Wide left = static_cast<Wide>(b.height() - a.height()) * (c.row() - b.row());
    const Wide right = static_cast<Wide>(c.height() - b.height()) * (b.row() - a.row());
    return left > right;
}

/// What a point is worth at one row q: value(r) + (q - r)^2, by differences that may wrap on the way.
struct seen_from {
    std::uint32_t slope, raise;

    __device__ explicit seen_from(int q)
        : slope(2u * static_cast<std::uint32_t>(q)),
          raise(static_cast<std::uint32_t>(q) * static_cast<std::uint32_t>(q)) {}
    template <class Point>
    __device__ std::int32_t value(const Point& p) const {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(p.height()) -
                                         slope * static_cast<std::uint32_t>(p.row()) + raise);
    }
};

/// The same for heights of 64 bits.
struct seen_from_wide {
    std::int64_t slope, raise;

    __device__ explicit seen_from_wide(int q) : slope(std::int64_t{2} * q), raise(static_cast<std::int64_t>(q) * q) {}
    template <class Point>
    __device__ std::int64_t value(const Point& p) const {
        return p.height() - slope * p.row() + raise;
    }
};
template <class Hull>
using view_of =
    std::conditional_t<std::is_same_v<decltype(std::declval<typename Hull::point_type>().height()), std::int64_t>,
                       seen_from_wide, seen_from>;

template <class Hull>
__device__ bool is_empty(const Hull& hull, int band) {
    return hull.start(band) >= hull.end(band);
}
/// First point in bands [from, to); false when there is none.
template <class Hull>
__device__ bool first_place(const Hull& hull, int from, int to, place& p) {
    for (; from < to; ++from)
        if (!is_empty(hull, from)) return p = {from, hull.start(from)}, true;
    return false;
}
/// Last point in bands [from, to).
template <class Hull>
__device__ bool last_place(const Hull& hull, int from, int to, place& p) {
    for (--to; to >= from; --to)
        if (!is_empty(hull, to)) return p = {to, hull.end(to) - 1}, true;
    return false;
}
template <class Hull>
__device__ bool next_place(const Hull& hull, place& p, int to) {
    if (p.at + 1 < hull.end(p.band)) return ++p.at, true;
    return first_place(hull, p.band + 1, to, p);
}
template <class Hull>
__device__ bool previous_place(const Hull& hull, place& p, int from) {
    if (p.at > hull.start(p.band)) return --p.at, true;
    return last_place(hull, from, p.band, p);
}

/// Hull of the `rows` candidates of a band.
template <class Wide, class Hull>
__device__ void build_band(Hull& hull, int band, int rows) {
    using point = typename Hull::point_type;
    int count = 0;
    point a{}, b{}, c{};
    for (int i = 0; i < rows; ++i) {
        if (!hull.candidate(band, i, c)) continue;
        while (count >= 2 && hidden<Wide>(a, b, c)) {
            --count;
            b = a;
            if (count >= 2) a = hull.point({band, count - 2});
        }
        hull.put({band, count++}, c);
        a = b;
        b = c;
    }
    hull.set(band, 0, count);
}

/// Joins the hulls of bands [from, seam) and [seam, to): points at the seam go until the common tangent holds.
template <class Hull>
__device__ void merge_bands(Hull& hull, int from, int seam, int to) {
    place l, r;
    if (!last_place(hull, from, seam, l) || !first_place(hull, seam, to, r)) return;
    auto left = hull.point(l), right = hull.point(r);
    for (bool moved = true; moved;) {
        moved = false;
        for (place p = l; previous_place(hull, p, from);) {
            const auto before = hull.point(p);
            if (!hidden<std::int64_t>(before, left, right)) break;
            if (p.band != l.band) hull.set(l.band, 0, 0);
            l = p, left = before, moved = true;
        }
        for (place p = r; next_place(hull, p, to);) {
            const auto after = hull.point(p);
            if (!hidden<std::int64_t>(left, right, after)) break;
            if (p.band != r.band) hull.set(r.band, 0, 0);
            r = p, right = after, moved = true;
        }
    }
    hull.set(l.band, hull.start(l.band), l.at + 1);
    hull.set(r.band, r.at, hull.end(r.band));
}

/// First point of the hull that is nearest to a row, searched from band p.band on: values fall, stay, then rise along
/// it.
template <class Hull>
__device__ place nearest_point(const Hull& hull, place p, int bands, const view_of<Hull>& q) {
    for (place before; last_place(hull, 0, p.band, before); p = before)
        if (q.value(hull.point(before)) > q.value(hull.point({p.band, hull.start(p.band)}))) break;
    for (place after; first_place(hull, p.band + 1, bands, after); p = after)
        if (q.value(hull.point(after)) >= q.value(hull.point({p.band, hull.end(p.band) - 1}))) break;
    int low = hull.start(p.band), high = hull.end(p.band) - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        const bool falls = q.value(hull.point({p.band, middle + 1})) < q.value(hull.point({p.band, middle}));
        (falls ? low : high) = falls ? middle + 1 : middle;
    }
    return {p.band, low};
}

/// Rows [from, end) along a finished hull: put(row, value, key). `near_band` is where the search for the first one
/// starts; key_of(point) decides ties.
template <class Hull, class KeyOf, class Put>
__device__ void walk(const Hull& hull, int bands, int near_band, int from, int end, const KeyOf& key_of,
                     const Put& put) {
    place p;
    if (!first_place(hull, near_band, bands, p) && !last_place(hull, 0, near_band, p)) {
        for (int q = from; q < end; ++q) put(q, no_site<std::int32_t>(), no_key<std::int32_t>);
        return;
    }
    p = nearest_point(hull, p, bands, view_of<Hull>(from));
    auto here = hull.point(p), after = here;
    bool more = next_place(hull, p, bands);
    if (more) after = hull.point(p);
    int known_row = here.row();
    auto known_key = key_of(here);
    for (int row = from; row < end; ++row) {
        const view_of<Hull> q(row);
        auto best = here;
        auto value = q.value(here);
        while (more) {
            const auto theirs = q.value(after);
            if (theirs > value) break;
            if (theirs < value || key_of(after) < key_of(best)) best = after;
            value = theirs, here = after;
            more = next_place(hull, p, bands);
            if (more) after = hull.point(p);
        }
        if (best.row() != known_row) known_row = best.row(), known_key = key_of(best);
        put(row, value, known_key);
    }
}

}  // namespace
}  // namespace nearfield::exact
