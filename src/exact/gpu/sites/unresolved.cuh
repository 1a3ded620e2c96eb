// Nearest sites of lines of volumes that words (search.cuh) leave unresolved.
//
// Lines of up to 1024 rows are solved by lower convex hulls in shared memory: a block owns 32 neighbouring lines, a
// lane a line, a warp a band of 32 rows. Only the device knows the number of such groups of lines, so a fixed number of
// blocks shares the list.
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

// From this number of unresolved groups of lines on, a sweep solves them: it takes 0.36 ms for one group of
// 512 rows and 1.8 ms for 8192, whereas hulls take 0.29 ms for 1000 (H200, 2026-11-23).
constexpr int least_swept = 1536;

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

/// Returns a number in the order of the tie rule, without the row.
__device__ inline std::int32_t tie_of(offset site) { return site.dx * (1 << 16) + site.dy; }

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
    /// Walks along the finished hull for rows [from, end): put(row, value, site, its row), of which row -1 is no site.
    template <class SiteOf, class Put>
    __device__ void walk(int bands, int from, int end, const SiteOf& site_of, const Put& put) const {
        place p;
        if (!first(0, bands, p)) {
            for (int q = from; q < end; ++q) put(q, no_site<std::int32_t>(), offset{}, -1);
            return;
        }
        p = nearest(p, bands, from);
        hull_point here = point(p), after = here;
        bool more = next(p, bands);
        if (more) after = point(p);
        int known_row = here.row();
        offset known = site_of(here);
        for (int q = from; q < end; ++q) {
            hull_point best = here;
            std::int32_t value = here.value(q);
            while (more) {
                const std::int32_t theirs = after.value(q);
                if (theirs > value) break;
                if (theirs < value || tie_of(site_of(after)) < tie_of(site_of(best))) best = after;
                value = theirs, here = after;
                more = next(p, bands);
                if (more) after = point(p);
            }
            if (best.row() != known_row) known_row = best.row(), known = site_of(best);
            put(q, value, known, known_row);
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

/// Solves groups of lines that have an unresolved window, one after another per block, unless a sweep solves them.
/// Lanes beyond the last line repeat it; they write the same values to the same cells.
template <ending End, class Lines>
__global__ void __launch_bounds__(short_rows)
    search_unresolved_sites(const Lines lines, const windows cut, const unresolved_tiles unresolved, const bool sweeps,
                            std::uint32_t* next, const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ hull_point points[];
    const int count = *unresolved.count, rows = lines.rows(), bands = static_cast<int>(blockDim.y),
              band = static_cast<int>(threadIdx.y), from = band * band_rows, end = min(from + band_rows, rows);
    if (sweeps && count >= least_swept) return;
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
            bands, from, end, [&](hull_point p) { return line.site(line.load(p.row())); },
            [&](int q, std::int32_t value, offset site, int row) {
                if (row < 0) target.put_none(q);
                else target.put(q, value, site, row - q);
            });
        __syncthreads();
    }
}

// ---- sweeps ---------------------------------------------------------------------------------------------------------
//
// If many lines are left unresolved, a warp takes 32 lines and a lane owns a line. For fewer lines hulls are faster,
// with a warp for each 32 rows.
//
// The later one of two rows wins from some cell on, ties included (core.hpp). So the sweep adds a line's rows one after
// another: a row removes the last winner if it wins where that winner's cells begin, and its cells begin where it first
// beats the remaining one. Two bits per row store which rows win, and where the cells of another one begin; a second
// pass reads them cell by cell.

constexpr int sweep_warps = 4;
constexpr int sweep_threads = sweep_warps * cuda::warp;
constexpr int sweep_blocks = 9;  ///< blocks on a multiprocessor, with 56 registers
constexpr int rows_ahead = 4;    ///< rows loaded while as many are processed
constexpr int cells_together = 8;
static_assert(band_rows % cells_together == 0 && short_rows <= most_swept_rows);

/// Marks of rows of the calling lane's line, as bits in shared memory, 32 to a word.
struct row_marks {
    std::uint32_t* words;

    __device__ std::uint32_t& band(int nth) const { return words[nth * cuda::warp]; }
    // Atomic operations without a result do not wait.
    __device__ void set(int row) const { atomicOr(&band(row / band_rows), 1u << (row % band_rows)); }
    __device__ void clear(int row) const { atomicAnd(&band(row / band_rows), ~(1u << (row % band_rows))); }
    /// Returns the last mark before `row`; there must be one.
    __device__ int before(int row) const {
        int nth = row / band_rows;
        std::uint32_t rest = band(nth) & ((1u << (row % band_rows)) - 1);
        while (rest == 0) rest = band(--nth);
        return nth * band_rows + 31 - __clz(static_cast<int>(rest));
    }
};

/// The winners of a line: bit `row` of `rows` for each, and bit `cell` of `starts` where the cells of a winner begin.
struct line_winners {
    row_marks rows, starts;

    __device__ line_winners(std::uint32_t* memory, int bands)
        : rows{memory + threadIdx.y * 2 * bands * cuda::warp + threadIdx.x}, starts{rows.words + bands * cuda::warp} {
        for (int nth = 0; nth < 2 * bands; ++nth) rows.band(nth) = 0;
    }
    static std::size_t bytes(std::int64_t rows) {
        return static_cast<std::size_t>(2 * sweep_warps * cuda::warp * blocks_for(rows, band_rows)) *
               sizeof(std::uint32_t);
    }
};

/// Returns the greatest integer not above up / apart, for 0 <= up < 2^30 and 0 < apart < 2^12, if it is below 2048;
/// else some number from there on. The quotient of products below 2^23 is off by less than 2 / apart, so it needs to be
/// corrected by 1 at most.
__device__ inline int whole_part(int up, int apart) {
    float one_by;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(one_by) : "f"(static_cast<float>(apart)));
    const int part = static_cast<int>((static_cast<float>(up) + 0.5f) * one_by), rest = up - part * apart;
    return part + (rest >= apart ? 1 : 0) - (rest < 0 ? 1 : 0);
}

/// Finds the winners of all lanes' lines; returns false in a lane whose line has no site. It is over 40 lines because
/// the winners that a row removes stay in registers.
template <class Reader>
__device__ bool find_winners(const Reader& line, const line_winners& winners, int rows) {
    using loaded = typename Reader::loaded;
    // The last winner: row, first cell, height, and key for ties; then the one before.
    int last = -1, start = 0, height = 0, key = 0, before = -1, start_before = 0;
    loaded at_last{}, at_before{}, coming[rows_ahead];
#pragma unroll
    for (int i = 0; i < rows_ahead; ++i) coming[i] = line.load(min(i, rows - 1));
#pragma unroll 1
    for (int from = 0; from < rows; from += rows_ahead) {
        loaded now[rows_ahead];
#pragma unroll
        for (int i = 0; i < rows_ahead; ++i) now[i] = coming[i];
        if (from + rows_ahead < rows) {
#pragma unroll
            for (int i = 0; i < rows_ahead; ++i) coming[i] = line.load(min(from + rows_ahead + i, rows - 1));
        }
#pragma unroll
        for (int i = 0; i < rows_ahead; ++i) {
            const int row = from + i;
            const bool counts = row < rows && line.is_site(now[i]);
            if (!__any_sync(cuda::every_lane, counts)) continue;
            const offset site = line.site(now[i]);
            const int mine = square_of(site) + row * row, my_key = tie_of(site);
            int apart, up;
            while (true) {
                // The row wins in cells q with up < q * apart.
                apart = 2 * (row - last), up = mine - height - (my_key < key ? 1 : 0);
                const bool ousts = counts && last >= 0 && up < start * apart;
                if (!__any_sync(cuda::every_lane, ousts)) break;
                if (ousts) {
                    winners.rows.clear(last), winners.starts.clear(start);
                    last = before, start = start_before, at_last = at_before;
                    const offset theirs = line.site(at_last);
                    height = square_of(theirs) + last * last, key = tie_of(theirs);
                    before = -1;
                    if (last >= 0 && start > 0) {
                        before = winners.rows.before(last), start_before = winners.starts.before(start);
                        at_before = line.load(before);
                    }
                }
                __syncwarp();
            }
            const int begins = last < 0 ? 0 : whole_part(up, apart) + 1;
            if (counts && begins < rows) {
                before = last, start_before = start, at_before = at_last;
                last = row, start = begins, at_last = now[i], height = mine, key = my_key;
                winners.rows.set(row), winners.starts.set(begins);
            }
            __syncwarp();
        }
    }
    return last >= 0;
}

/// Solves groups of lines that have an unresolved window, one after another per warp, if at least `least` are listed.
/// Lanes beyond the last line repeat it; they write the same values to the same cells.
template <ending End, class Lines>
__global__ void __launch_bounds__(sweep_threads, sweep_blocks)
    sweep_unresolved_sites(const Lines lines, const windows cut, const unresolved_tiles unresolved, const int least,
                           std::uint32_t* next, const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t bits[];
    const int count = *unresolved.count, rows = lines.rows(), bands = (rows + band_rows - 1) / band_rows;
    if (count < least) return;
    for (int nth = static_cast<int>(blockIdx.x * sweep_warps + threadIdx.y); nth < count;
         nth += static_cast<int>(gridDim.x) * sweep_warps) {
        const auto group = lines.place(cut, unresolved.list[nth]).group;
        const int lane = min(static_cast<int>(threadIdx.x), lines.width(group) - 1);
        const typename Lines::reader line(lines, group, lane);
        const line_winners winners(bits, bands);
        const bool sited = find_winners(line, winners, rows);
        const auto target = lines.template target<End>(next, to, group, lane);
        int band = 0, row = 0;
        std::uint32_t left = winners.rows.band(0);
#pragma unroll 1
        for (int from = 0; from < rows; from += cells_together) {
            const std::uint32_t begins = winners.starts.band(from / band_rows) >> (from % band_rows);
            int winner[cells_together];
            typename Lines::reader::loaded loaded[cells_together];
#pragma unroll
            for (int i = 0; i < cells_together; ++i) {
                if (begins & (1u << i)) {
                    while (left == 0) left = winners.rows.band(++band);
                    row = band * band_rows + __ffs(static_cast<int>(left)) - 1;
                    left &= left - 1;
                }
                __syncwarp();
                winner[i] = row;
                loaded[i] = line.load(row);
            }
            target.template put_winners<cells_together>(from, min(rows - from, cells_together), sited, winner,
                                                        [&](int i) { return line.site(loaded[i]); });
        }
    }
}

}  // namespace
}  // namespace nearfield::exact
