// Lines of up to 1024 rows in small integers, searched in shared memory: a block owns 32 neighbouring lines, a lane a line, a
// warp a band of 32 rows.
//
// With h(r) = value(r) + weight * r^2 the rows that win somewhere are the corners of the lower convex hull of the points
// (r, h), and the winner of row q is where a line of slope 2 * weight * q touches it. Each warp builds the hulls of its own
// band in place, bands merge pairwise by popping points at the seam until the common tangent holds, and each warp then walks
// along the hulls with its own 32 rows. Every lane does about the same work, whatever the sites. Where all values of a block
// are small, looking outward from each row is faster.
#pragma once

#include "exact/cuda_common.cuh"

namespace nearfield::exact {
namespace {

using packed = std::uint32_t;  // h << row_bits | row: one word a point, so that a point moves with one access
constexpr int row_bits = 10;
constexpr int band_rows = 32;
constexpr int short_rows = 1 << row_bits;
constexpr std::int32_t packed_none = 3 << 20;        // value of a row without a site, above all real ones
constexpr std::int32_t short_largest = packed_none;  // squared distances must stay below
constexpr std::int32_t short_reach2 = 1 << 20;       // and weight * (rows - 1)^2 below this: both together have 22 bits
// Outward search when no value of the block exceeds this many weights.
constexpr std::int32_t dense_value = 150;

__device__ inline std::int32_t height(packed p) { return static_cast<std::int32_t>(p >> row_bits); }
__device__ inline std::int32_t row_of(packed p) { return static_cast<std::int32_t>(p & (short_rows - 1)); }

/// True when `b` lies above the line from `a` to `c`, so that it wins nowhere. Points on the line stay when ties matter.
template <bool KeepTies, class Wide>
__device__ bool hidden(packed a, packed b, packed c) {
    const Wide left = static_cast<Wide>(height(b) - height(a)) * (row_of(c) - row_of(b));
    const Wide right = static_cast<Wide>(height(c) - height(b)) * (row_of(b) - row_of(a));
    return KeepTies ? left > right : left >= right;
}

/// The hull of one line: points of band b at entries [start, end) of its 32, bands in order.
class line_hull {
public:
    struct place {
        int band, at;
    };

    __device__ line_hull(packed* points, std::uint16_t* ranges) : points_(points + threadIdx.x), ranges_(ranges + threadIdx.x) {}

    __device__ packed& point(place p) const { return points_[(p.band * band_rows + p.at) * cuda::warp]; }
    __device__ int start(int band) const { return ranges_[band * cuda::warp] & 255; }
    __device__ int end(int band) const { return ranges_[band * cuda::warp] >> 8; }
    __device__ void set(int band, int start, int end) { ranges_[band * cuda::warp] = static_cast<std::uint16_t>(start | end << 8); }
    __device__ bool empty(int band) const { return start(band) >= end(band); }

    /// First point in bands [from, to); false when there is none.
    __device__ bool first(int from, int to, place& p) const {
        for (; from < to; ++from)
            if (!empty(from)) return p = {from, start(from)}, true;
        return false;
    }
    /// Last point in bands [from, to).
    __device__ bool last(int from, int to, place& p) const {
        for (--to; to >= from; --to)
            if (!empty(to)) return p = {to, end(to) - 1}, true;
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

private:
    packed* points_;
    std::uint16_t* ranges_;
};

/// Hull of the calling thread's band, in place of its points.
template <bool KeepTies>
__device__ void build_band(line_hull& hull, int band, int rows, std::int32_t weight) {
    int count = 0;
    packed a = 0, b = 0;
    for (int i = 0; i < rows; ++i) {
        const packed c = hull.point({band, i});
        if (height(c) - weight * row_of(c) * row_of(c) >= packed_none) continue;
        while (count >= 2 && hidden<KeepTies, std::int32_t>(a, b, c)) {
            --count;
            b = a;
            if (count >= 2) a = hull.point({band, count - 2});
        }
        hull.point({band, count++}) = c;
        a = b;
        b = c;
    }
    hull.set(band, 0, count);
}

/// Joins the hulls of bands [from, seam) and [seam, to).
template <bool KeepTies>
__device__ void merge_bands(line_hull& hull, int from, int seam, int to) {
    line_hull::place l, r;
    if (!hull.last(from, seam, l) || !hull.first(seam, to, r)) return;
    packed left = hull.point(l), right = hull.point(r);
    for (bool moved = true; moved;) {
        moved = false;
        for (line_hull::place p = l; hull.previous(p, from);) {
            const packed before = hull.point(p);
            if (!hidden<KeepTies, std::int64_t>(before, left, right)) break;
            if (p.band != l.band) hull.set(l.band, 0, 0);
            l = p, left = before, moved = true;
        }
        for (line_hull::place p = r; hull.next(p, to);) {
            const packed after = hull.point(p);
            if (!hidden<KeepTies, std::int64_t>(left, right, after)) break;
            if (p.band != r.band) hull.set(r.band, 0, 0);
            r = p, right = after, moved = true;
        }
    }
    hull.set(l.band, hull.start(l.band), l.at + 1);
    hull.set(r.band, r.at, hull.end(r.band));
}

/// value(r) + weight * (q - r)^2 - weight * q^2
__device__ inline std::int32_t lowered(packed p, int slope) { return height(p) - slope * row_of(p); }

/// First point of the hull that is nearest to row q.
__device__ inline line_hull::place nearest_point(const line_hull& hull, line_hull::place p, int bands, int slope) {
    for (line_hull::place after; hull.first(p.band + 1, bands, after); p = after) {
        const packed here = hull.point({p.band, hull.end(p.band) - 1});
        if (lowered(hull.point(after), slope) >= lowered(here, slope)) break;
    }
    int low = hull.start(p.band), high = hull.end(p.band) - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        const bool falls = lowered(hull.point({p.band, middle + 1}), slope) < lowered(hull.point({p.band, middle}), slope);
        (falls ? low : high) = falls ? middle + 1 : middle;
    }
    return {p.band, low};
}

template <bool Keyed, int Done, bool Last>
struct short_search {
    using reader = line_reader<std::int32_t, std::int32_t, Keyed, Done>;
    using output = sink<std::int32_t, std::int32_t, Keyed, Last>;

    const pass& g;
    const metric<std::int32_t>& m;
    const reader& line;
    const output& to;
    std::int64_t first_cell;
    std::int32_t weight;

    __device__ std::int32_t key_of(packed p) const {
        if constexpr (Keyed) return line.key(line.load(row_of(p)), row_of(p));
        else return 0;
    }
    __device__ void put(int q, std::int32_t value, std::int32_t key) const {
        to.put(m, first_cell + q * g.inner, value, key);
    }

    /// Looks at rows q - 1, q + 1, q - 2, ... until none can be nearer.
    __device__ void outward(const packed* points, int q) const {
        const packed* mine = points + threadIdx.x;
        const std::int32_t raise = weight * q * q, slope = 2 * weight * q;
        packed best = mine[q * cuda::warp];
        std::int32_t value = lowered(best, slope) + raise;
        const auto offer = [&](int row) {
            const packed p = mine[row * cuda::warp];
            const std::int32_t theirs = lowered(p, slope) + raise;
            if (theirs < value || (Keyed && theirs == value && key_of(p) < key_of(best))) best = p, value = theirs;
        };
        for (int apart = 1;; ++apart) {
            const std::int32_t extra = along(weight, apart);
            if (Keyed ? value < extra : value <= extra) break;
            if (q - apart < 0 && q + apart >= g.rows) break;
            if (q - apart >= 0) offer(q - apart);
            if (q + apart < g.rows) offer(q + apart);
        }
        put(q, value, key_of(best));
    }

    /// Rows [from, to_row) along the finished hull.
    __device__ void walk(const line_hull& hull, int bands, int from, int to_row) const {
        line_hull::place p;
        if (!hull.first(0, bands, p)) {
            for (int q = from; q < to_row; ++q) put(q, no_site<std::int32_t>(), no_key<std::int32_t>);
            return;
        }
        p = nearest_point(hull, p, bands, 2 * weight * from);
        packed here = hull.point(p), after = 0;
        bool more = hull.next(p, bands);
        if (more) after = hull.point(p);
        packed known = here;
        std::int32_t known_key = key_of(here);
        for (int q = from; q < to_row; ++q) {
            const int slope = 2 * weight * q;
            packed best = here;
            std::int32_t value = lowered(here, slope);
            while (more) {
                const std::int32_t theirs = lowered(after, slope);
                if (Keyed ? theirs > value : theirs >= value) break;
                if (theirs < value || key_of(after) < key_of(best)) best = after;
                value = theirs, here = after;
                more = hull.next(p, bands);
                if (more) after = hull.point(p);
            }
            if (best != known) known = best, known_key = key_of(best);
            put(q, value + weight * q * q, known_key);
        }
    }
};

template <bool Keyed, int Done, bool Last>
__global__ void __launch_bounds__(cuda::warp * short_rows / band_rows)
    search_in_shared(const pass g, const metric<std::int32_t> m, const std::int32_t* cells,
                     const sink<std::int32_t, std::int32_t, Keyed, Last> to) {
    extern __shared__ packed points[];
    const int rows = static_cast<int>(g.rows), bands = static_cast<int>(blockDim.y), band = static_cast<int>(threadIdx.y);
    const std::int64_t mine = static_cast<std::int64_t>(blockIdx.x) * cuda::warp + threadIdx.x;
    // Lanes beyond the last column repeat it; they write the same values to the same cells.
    const std::int64_t column = mine < g.columns ? mine : g.columns - 1;
    const line_reader<std::int32_t, std::int32_t, Keyed, Done> line(m, g, cells, column);
    const std::int32_t weight = m.weight[g.axis];
    const int from = band * band_rows, end = min(from + band_rows, rows);

    std::int32_t peak = 0;
#pragma unroll 8
    for (int r = from; r < end; ++r) {
        const std::int32_t value = min(line.value(line.load(r)), packed_none);
        peak = max(peak, value);
        points[r * cuda::warp + threadIdx.x] = static_cast<packed>(value + weight * r * r) << row_bits | static_cast<packed>(r);
    }
    const short_search<Keyed, Done, Last> search{g, m, line, to, g.first_cell(column), weight};
    if (!__syncthreads_or(peak > dense_value * weight)) {
        for (int q = from; q < end; ++q) search.outward(points, q);
        return;
    }
    line_hull hull(points, reinterpret_cast<std::uint16_t*>(points + rows * cuda::warp));
    build_band<Keyed>(hull, band, end - from, weight);
    __syncthreads();
    for (int step = 1; step < bands; step *= 2) {
        if (band % (2 * step) == 0 && band + step < bands) merge_bands<Keyed>(hull, band, band + step, min(band + 2 * step, bands));
        __syncthreads();
    }
    search.walk(hull, bands, from, end);
}

}  // namespace
}  // namespace nearfield::exact
