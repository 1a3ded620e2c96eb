// Nearest sites of lines of volumes, of up to 1024 rows, that words (search.cuh) leave unresolved: by lower convex
// hulls in shared memory. A block owns 32 neighbouring lines, a lane a line, a warp a band of 32 rows. Only the device
// knows the number of such groups of lines, so a fixed number of blocks shares the list.
//
// With h(r) = value(r) + r^2 the rows that win somewhere are the corners of the lower convex hull of the points
// (r, h), and the winner of row q is where a line of slope 2 q touches it. Each warp builds the hull of its own band in
// place, bands merge pairwise, and each warp walks along the hulls with its own 32 rows. Every lane does about the same
// work, whatever the sites.
#pragma once

#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/sites/search.cuh"

namespace nearfield::exact {
namespace {

/// height << row_bits | row: one access moves a point.
struct hull_point {
    std::uint32_t bits;

    __device__ std::int32_t height() const { return static_cast<std::int32_t>(bits >> row_bits); }
    __device__ std::int32_t row() const { return static_cast<std::int32_t>(bits & (short_rows - 1)); }
    /// Returns value(r) + (q - r)^2 of row q, by differences that may wrap temporarily.
    __device__ std::int32_t value(int q) const {
        const auto at = static_cast<std::uint32_t>(q);
        return static_cast<std::int32_t>((bits >> row_bits) - 2u * at * static_cast<std::uint32_t>(row()) + at * at);
    }
};

/// True when `b` lies above the line from `a` to `c`, so that it never wins. Points on the line stay, because ties
/// matter. Within a band rows differ by less than 32 and heights by less than 2^22: products fit 32 bits.
template <class Wide>
__device__ bool hidden(const hull_point& a, const hull_point& b, const hull_point& c) {
    const Wide left = static_cast<Wide>(b.height() - a.height()) * (c.row() - b.row());
    const Wide right = static_cast<Wide>(c.height() - b.height()) * (b.row() - a.row());
    return left > right;
}

/// The hull of the calling lane's line: the points of band b fill places [start(b), end(b)) of its 32.
class line_hull {
public:
    struct place {
        int band, at;
    };

    __device__ line_hull(hull_point* points, int rows)
        : points_(points + threadIdx.x),
          ranges_(reinterpret_cast<std::uint16_t*>(points + rows * cuda::warp) + threadIdx.x) {}
    static std::size_t bytes(std::int64_t rows) {
        return static_cast<std::size_t>(rows * cuda::warp * 4 + blocks_for(rows, band_rows) * cuda::warp * 2);
    }

    __device__ hull_point& point(place p) const { return points_[(p.band * band_rows + p.at) * cuda::warp]; }

    /// Fills a row's point; a value from packed_none on is no site.
    __device__ void put(int row, std::int32_t value) const {
        point({0, row}).bits =
            static_cast<std::uint32_t>(value + row * row) << row_bits | static_cast<std::uint32_t>(row);
    }
    /// Builds the hull of a band from its `rows` points.
    __device__ void build(int band, int rows) const {
        int count = 0;
        hull_point a{}, b{};
        for (int i = 0; i < rows; ++i) {
            const hull_point c = point({band, i});
            if (c.height() - c.row() * c.row() >= packed_none) continue;
            while (count >= 2 && hidden<std::int32_t>(a, b, c)) {
                --count;
                b = a;
                if (count >= 2) a = point({band, count - 2});
            }
            point({band, count++}) = c;
            a = b;
            b = c;
        }
        set(band, 0, count);
    }
    /// Joins the hulls of bands [from, seam) and [seam, to): removes points at the seam until the common tangent holds.
    __device__ void merge(int from, int seam, int to) const {
        place l, r;
        if (!last(from, seam, l) || !first(seam, to, r)) return;
        hull_point left = point(l), right = point(r);
        for (bool moved = true; moved;) {
            moved = false;
            for (place p = l; previous(p, from);) {
                const hull_point before = point(p);
                if (!hidden<std::int64_t>(before, left, right)) break;
                if (p.band != l.band) set(l.band, 0, 0);
                l = p, left = before, moved = true;
            }
            for (place p = r; next(p, to);) {
                const hull_point after = point(p);
                if (!hidden<std::int64_t>(left, right, after)) break;
                if (p.band != r.band) set(r.band, 0, 0);
                r = p, right = after, moved = true;
            }
        }
        set(l.band, start(l.band), l.at + 1);
        set(r.band, r.at, end(r.band));
    }
    /// Walks along the finished hull for rows [from, end): put(row, value, key). key_of(point) decides ties.
    template <class KeyOf, class Put>
    __device__ void walk(int bands, int from, int end, const KeyOf& key_of, const Put& put) const {
        place p;
        if (!first(0, bands, p)) {
            for (int q = from; q < end; ++q) put(q, no_site<std::int32_t>(), no_key<std::int32_t>);
            return;
        }
        p = nearest(p, bands, from);
        hull_point here = point(p), after = here;
        bool more = next(p, bands);
        if (more) after = point(p);
        int known_row = here.row();
        auto known_key = key_of(here);
        for (int q = from; q < end; ++q) {
            hull_point best = here;
            std::int32_t value = here.value(q);
            while (more) {
                const std::int32_t theirs = after.value(q);
                if (theirs > value) break;
                if (theirs < value || key_of(after) < key_of(best)) best = after;
                value = theirs, here = after;
                more = next(p, bands);
                if (more) after = point(p);
            }
            if (best.row() != known_row) known_row = best.row(), known_key = key_of(best);
            put(q, value, known_key);
        }
    }

private:
    __device__ int start(int band) const { return ranges_[band * cuda::warp] & 255; }
    __device__ int end(int band) const { return ranges_[band * cuda::warp] >> 8; }
    __device__ void set(int band, int start, int end) const {
        ranges_[band * cuda::warp] = static_cast<std::uint16_t>(start | end << 8);
    }
    /// Finds the first point in bands [from, to); returns false if there is none.
    __device__ bool first(int from, int to, place& p) const {
        for (; from < to; ++from)
            if (start(from) < end(from)) return p = {from, start(from)}, true;
        return false;
    }
    /// Finds the last point in bands [from, to).
    __device__ bool last(int from, int to, place& p) const {
        for (--to; to >= from; --to)
            if (start(to) < end(to)) return p = {to, end(to) - 1}, true;
        return false;
    }
    __device__ bool next(place& p, int to) const {
        if (p.at + 1 < end(p.band)) return ++p.at, true;
        return first(p.band + 1, to, p);
    }
    __device__ bool previous(place& p, int from) const {
        if (p.at > start(p.band)) return --p.at, true;
        return last(from, p.band, p);
    }
    /// Returns the first point that is nearest to row q, searched from the first band with points, p.band, on: along
    /// the hull, values fall, stay, then rise.
    __device__ place nearest(place p, int bands, int q) const {
        for (place after; first(p.band + 1, bands, after); p = after)
            if (point(after).value(q) >= point({p.band, end(p.band) - 1}).value(q)) break;
        int low = start(p.band), high = end(p.band) - 1;
        while (low < high) {
            const int middle = (low + high) / 2;
            const bool falls = point({p.band, middle + 1}).value(q) < point({p.band, middle}).value(q);
            (falls ? low : high) = falls ? middle + 1 : middle;
        }
        return {p.band, low};
    }

    hull_point* points_;
    std::uint16_t* ranges_;
};

/// Solves groups of lines that have an unresolved window, one after another per block.
/// Lanes beyond the last line repeat it; they write the same values to the same cells.
template <ending End, class Lines>
__global__ void __launch_bounds__(short_rows)
    search_unresolved_sites(const Lines lines, const windows cut, const unresolved_tiles unresolved,
                            std::uint32_t* next, const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ hull_point points[];
    const int count = *unresolved.count, rows = lines.rows(), bands = static_cast<int>(blockDim.y),
              band = static_cast<int>(threadIdx.y), from = band * band_rows, end = min(from + band_rows, rows);
    const line_hull hull(points, rows);
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const auto group = lines.place(cut, unresolved.list[nth]).group;
        const int lane = min(static_cast<int>(threadIdx.x), lines.width(group) - 1);
        const auto target = lines.template target<End>(next, to, group, lane);
        const typename Lines::reader line(lines, group, lane);
#pragma unroll 8
        for (int row = from; row < end; ++row) {
            const auto loaded = line.load(row);
            hull.put(row, line.is_site(loaded) ? min(square_of(line.site(loaded)), packed_none) : packed_none);
        }
        hull.build(band, end - from);
        __syncthreads();
        for (int step = 1; step < bands; step *= 2) {
            if (band % (2 * step) == 0 && band + step < bands)
                hull.merge(band, band + step, min(band + 2 * step, bands));
            __syncthreads();
        }
        hull.walk(
            bands, from, end, [&](hull_point p) { return target.key(line.site(line.load(p.row())), p.row()); },
            [&](int q, std::int32_t value, std::int64_t key) { target.put_key(q, value, key); });
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
