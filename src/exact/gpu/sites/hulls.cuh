// Lower convex hulls of lines, for any storage.
//
// With h(r) = value(r) + r^2 the rows that win somewhere are the corners of the lower convex hull of the points
// (r, h), and the winner of row q is where a line of slope 2 q touches it. A line is cut into bands; a hull class keeps
// the points of band b in places [start(b), end(b)) and provides
//     point(place), put(place, point), candidate(band, i, point), start(band), end(band), set(band, start, end).
// In int32 all heights stay below 2^31: both terms are below 2^30.
#pragma once

#include "exact/gpu/ground/common.cuh"
#include "exact/gpu/ground/fits.hpp"

namespace nearfield::exact {
namespace {

struct place {
    int band, at;
};

/// True when `b` lies above the line from `a` to `c`, so that it never wins. Points on the line stay if ties
/// matter.
template <class Wide, class Point>
__device__ bool hidden(const Point& a, const Point& b, const Point& c) {
    const Wide left = static_cast<Wide>(b.height() - a.height()) * (c.row() - b.row());
    const Wide right = static_cast<Wide>(c.height() - b.height()) * (b.row() - a.row());
    return left > right;
}

/// Value of a point at one row q: value(r) + (q - r)^2, by differences that may wrap temporarily.
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

template <class Hull>
__device__ bool is_empty(const Hull& hull, int band) {
    return hull.start(band) >= hull.end(band);
}
/// Finds the first point in bands [from, to); returns false if there is none.
template <class Hull>
__device__ bool first_place(const Hull& hull, int from, int to, place& p) {
    for (; from < to; ++from)
        if (!is_empty(hull, from)) return p = {from, hull.start(from)}, true;
    return false;
}
/// Finds the last point in bands [from, to).
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

/// Builds the hull of the `rows` candidates of a band.
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

/// Joins the hulls of bands [from, seam) and [seam, to): removes points at the seam until the common tangent holds.
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

/// Returns the first point of the hull that is nearest to a row, searched from the first band with points, p.band, on:
/// along the hull, values fall, stay, then rise.
template <class Hull>
__device__ place nearest_point(const Hull& hull, place p, int bands, const seen_from& q) {
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

/// Walks along a finished hull for rows [from, end): put(row, value, key). key_of(point) decides ties.
template <class Hull, class KeyOf, class Put>
__device__ void walk(const Hull& hull, int bands, int from, int end, const KeyOf& key_of, const Put& put) {
    place p;
    if (!first_place(hull, 0, bands, p)) {
        for (int q = from; q < end; ++q) put(q, no_site<std::int32_t>(), no_key<std::int32_t>);
        return;
    }
    p = nearest_point(hull, p, bands, seen_from(from));
    auto here = hull.point(p), after = here;
    bool more = next_place(hull, p, bands);
    if (more) after = hull.point(p);
    int known_row = here.row();
    auto known_key = key_of(here);
    for (int row = from; row < end; ++row) {
        const seen_from q(row);
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

// Lines of up to 1024 rows in small integers, searched in shared memory: a block owns 32 neighbouring lines, a lane a
// line, a warp a band of 32 rows.
//
// Each warp builds the hulls of its own band in place, bands merge pairwise, and each warp walks along the hulls with
// its own 32 rows. Every lane does about the same work, whatever the sites.

constexpr int short_threads = short_rows / band_rows * cuda::warp;

/// height << row_bits | row: one access moves a point.
struct packed_point {
    std::uint32_t bits;

    __device__ std::int32_t height() const { return static_cast<std::int32_t>(bits >> row_bits); }
    __device__ std::int32_t row() const { return static_cast<std::int32_t>(bits & (short_rows - 1)); }
};

/// The hull of the calling lane's line: band b has 32 words, and points fill the first of them.
class packed_hull {
public:
    using point_type = packed_point;

    __device__ packed_hull(packed_point* points, std::uint16_t* ranges)
        : points_(points + threadIdx.x), ranges_(ranges + threadIdx.x) {}

    __device__ packed_point point(place p) const { return points_[(p.band * band_rows + p.at) * cuda::warp]; }
    __device__ void put(place p, packed_point c) { points_[(p.band * band_rows + p.at) * cuda::warp] = c; }
    __device__ bool candidate(int band, int i, packed_point& c) const {
        c = point({band, i});
        return c.height() - c.row() * c.row() < packed_none;
    }
    __device__ int start(int band) const { return ranges_[band * cuda::warp] & 255; }
    __device__ int end(int band) const { return ranges_[band * cuda::warp] >> 8; }
    __device__ void set(int band, int start, int end) {
        ranges_[band * cuda::warp] = static_cast<std::uint16_t>(start | end << 8);
    }

private:
    packed_point* points_;
    std::uint16_t* ranges_;
};

}  // namespace
}  // namespace nearfield::exact
