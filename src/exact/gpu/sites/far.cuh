// Hulls for the lines that the search for nearest sites in words (search.cuh) leaves unresolved: short lines in
// shared memory, long ones by slabs. Only the device knows their number, so a fixed number of blocks shares the
// lists.
#pragma once

#include "exact/gpu/sites/hulls.cuh"
#include "exact/gpu/sites/search.cuh"
#include "exact/gpu/tiles/windows.cuh"

namespace nearfield::exact {
namespace {

constexpr int slab_rows = 256;
using slab_row = std::uint8_t;  ///< number of a row in a slab
static_assert(slab_rows - 1 <= std::numeric_limits<slab_row>::max());
constexpr int slab_bands = slab_rows / band_rows;
constexpr int slab_threads = slab_bands * cuda::warp;

/// Shared memory of one slab: values of its rows, and for each band a list of the rows on the hull.
struct slab_memory {
    std::int32_t value[slab_rows][cuda::warp];
    slab_row on_hull[slab_rows][cuda::warp];
    std::uint16_t range[slab_bands][cuda::warp];
};

constexpr int slab_blocks = 4;  // blocks of build_far on a multiprocessor
constexpr int merge_warps = 16;
constexpr int merge_threads = merge_warps * cuda::warp;
constexpr int walk_warps = 8;
constexpr int walk_threads = walk_warps * cuda::warp;

/// A row and its height, in a type that holds every sum.
template <class V>
struct far_point {
    std::int32_t at;
    V high;

    __device__ std::int32_t row() const { return at; }
    __device__ V height() const { return high; }
};
template <class Lines>
using point_of = far_point<typename Lines::number>;

/// Places [start, end) of a list.
struct list_range {
    std::uint16_t start, end;
};

/// Hulls of all slabs in device memory: the points of a slab are listed in the first of its cells, as rows of the slab.
struct far_lists {
    slab_row* rows;      ///< one per cell
    list_range* ranges;  ///< one per slab and line; those of 32 lines follow each other slab by slab
    int slabs;

    __device__ list_range* range(std::int64_t group, int slab) const {
        return ranges + (group * slabs + slab) * cuda::warp + threadIdx.x;
    }
};

/// The hull of the calling lane's line in a slab; `value` of the memory holds what the lines' reader loads.
template <class Lines>
class far_slab {
public:
    using point_type = point_of<Lines>;

    __device__ far_slab(slab_memory& memory, std::int32_t first_row) : memory_(memory), first_row_(first_row) {}

    __device__ point_type at_row(int r) const {
        const std::int32_t row = first_row_ + r;
        return {row, Lines::value(memory_.value[r][threadIdx.x]) + Lines::square(row)};
    }
    __device__ point_type point(place p) const {
        return at_row(memory_.on_hull[p.band * band_rows + p.at][threadIdx.x]);
    }
    __device__ void put(place p, point_type c) {
        memory_.on_hull[p.band * band_rows + p.at][threadIdx.x] = static_cast<slab_row>(c.at - first_row_);
    }
    __device__ bool candidate(int band, int i, point_type& c) const {
        const int r = band * band_rows + i;
        c = at_row(r);
        return Lines::reader::is_site(memory_.value[r][threadIdx.x]);
    }
    __device__ int start(int band) const { return memory_.range[band][threadIdx.x] & 255; }
    __device__ int end(int band) const { return memory_.range[band][threadIdx.x] >> 8; }
    __device__ void set(int band, int start, int end) {
        memory_.range[band][threadIdx.x] = static_cast<std::uint16_t>(start | end << 8);
    }
    /// Returns the row in the slab of a point.
    __device__ slab_row listed(place p) const { return memory_.on_hull[p.band * band_rows + p.at][threadIdx.x]; }

private:
    slab_memory& memory_;
    std::int32_t first_row_;
};

/// The hull of the calling lane's line, whose bands are slabs.
template <class Lines>
class far_hull {
public:
    using point_type = point_of<Lines>;

    __device__ far_hull(const Lines& lines, const far_lists& lists, const typename Lines::group& group, int lane)
        : line_(lines, group, lane),
          rows_(lists.rows + lines.first_cell(group, lane)),
          ranges_(lists.range(group.number, 0)),
          inner_(lines.inner()) {}

    __device__ point_type point(place p) const {
        const std::int32_t first = p.band * slab_rows, row = first + rows_[(first + p.at) * inner_];
        return {row, Lines::value(line_.load(row)) + Lines::square(row)};
    }
    __device__ int start(int slab) const { return ranges_[slab * cuda::warp].start; }
    __device__ int end(int slab) const { return ranges_[slab * cuda::warp].end; }
    __device__ void set(int slab, int start, int end) {
        ranges_[slab * cuda::warp] = {static_cast<std::uint16_t>(start), static_cast<std::uint16_t>(end)};
    }

private:
    typename Lines::reader line_;
    const slab_row* rows_;
    list_range* ranges_;
    std::int64_t inner_;
};

/// Returns the point of a left run of slabs [from, p.band], at p or before it, which the tangent from `right` touches;
/// slabs entirely behind it become empty. It bisects, because a slab may lose hundreds of points, each a round trip to
/// memory.
template <class Hull>
__device__ place tangent_before(Hull& hull, place p, int from, const typename Hull::point_type& right) {
    for (place before; last_place(hull, from, p.band, before); p = before) {
        if (!hidden<std::int64_t>(hull.point(before), hull.point({p.band, hull.start(p.band)}), right)) break;
        hull.set(p.band, 0, 0);
    }
    int low = hull.start(p.band), high = p.at;
    for (int at = high; low < high; at = (low + high + 1) / 2) {
        const bool stays = !hidden<std::int64_t>(hull.point({p.band, at - 1}), hull.point({p.band, at}), right);
        (stays ? low : high) = stays ? at : at - 1;
    }
    return {p.band, low};
}
/// Does the same for a right run [p.band, to), from p on, and `left`.
template <class Hull>
__device__ place tangent_after(Hull& hull, place p, int to, const typename Hull::point_type& left) {
    for (place after; first_place(hull, p.band + 1, to, after); p = after) {
        if (!hidden<std::int64_t>(left, hull.point({p.band, hull.end(p.band) - 1}), hull.point(after))) break;
        hull.set(p.band, 0, 0);
    }
    int low = p.at, high = hull.end(p.band) - 1;
    for (int at = low; low < high; at = (low + high) / 2) {
        const bool stays = !hidden<std::int64_t>(left, hull.point({p.band, at}), hull.point({p.band, at + 1}));
        (stays ? high : low) = stays ? at : at + 1;
    }
    return {p.band, low};
}

/// Joins the hulls of slabs, or of bands of one slab, [from, seam) and [seam, to).
template <class Hull>
__device__ void join_slabs(Hull& hull, int from, int seam, int to) {
    place l, r;
    if (!last_place(hull, from, seam, l) || !first_place(hull, seam, to, r)) return;
    for (bool moved = true; moved;) {
        const place left = tangent_before(hull, l, from, hull.point(r));
        const place right = tangent_after(hull, r, to, hull.point(left));
        moved = right.band != r.band || right.at != r.at;
        l = left, r = right;
    }
    hull.set(l.band, hull.start(l.band), l.at + 1);
    hull.set(r.band, r.at, hull.end(r.band));
}

/// Builds one slab of 32 lines. A block owns the slab, a warp a band of it.
template <class Lines>
__device__ void build_slab(slab_memory& memory, const Lines& lines, const far_lists& lists,
                           const typename Lines::group& group, int slab) {
    const int band = static_cast<int>(threadIdx.y), lane = static_cast<int>(threadIdx.x);
    // Lanes beyond the last line repeat it; they write the same rows to the same list.
    const int mine = min(lane, lines.width(group) - 1);
    const typename Lines::reader line(lines, group, mine);
    const int first_row = slab * slab_rows, rows = min(slab_rows, lines.rows() - first_row);
    const int from = band * band_rows, end = min(from + band_rows, rows);
#pragma unroll 8
    for (int r = from; r < end; ++r) memory.value[r][lane] = line.load(first_row + r);

    far_slab<Lines> hull(memory, first_row);
    build_band<std::int64_t>(hull, band, max(end - from, 0));
    __syncthreads();
    for (int step = 1; step < slab_bands; step *= 2) {
        if (band % (2 * step) == 0) join_slabs(hull, band, band + step, min(band + 2 * step, slab_bands));
        __syncthreads();
    }
    int before = 0;
    for (int b = 0; b < band; ++b) before += hull.end(b) - hull.start(b);
    const std::int64_t inner = lines.inner();
    slab_row* const list = lists.rows + lines.first_cell(group, mine) + (first_row + before) * inner;
    const int count = hull.end(band) - hull.start(band);
    for (int i = 0; i < count; ++i) list[i * inner] = hull.listed({band, hull.start(band) + i});
    if (band == slab_bands - 1) *lists.range(group.number, slab) = {0, static_cast<std::uint16_t>(before + count)};
}

/// Builds slabs. A block takes one slab of `groups` after another.
template <class Lines, class Groups>
__global__ void __launch_bounds__(slab_threads)
    build_far(const Lines lines, const unresolved_tiles unresolved, const far_lists lists) {
    cuda::wait_for_kernel_before();
    const Groups groups(unresolved, lines);
    extern __shared__ std::byte shared[];
    auto& memory = *reinterpret_cast<slab_memory*>(shared);
    const std::int64_t count = groups.count() * lists.slabs;
    for (std::int64_t nth = blockIdx.x; nth < count; nth += gridDim.x) {
        const std::int64_t above = quotient(nth, lists.slabs);
        build_slab(memory, lines, lists, lines.group_of(groups[above]), static_cast<int>(nth - above * lists.slabs));
        __syncthreads();
    }
}

/// Merges neighbouring runs of slabs. A block takes one group after another, a thread owns a line and a pair of runs.
template <class Lines, class Groups>
__global__ void __launch_bounds__(merge_threads)
    merge_far(const Lines lines, const unresolved_tiles unresolved, const far_lists lists) {
    cuda::wait_for_kernel_before();
    const Groups groups(unresolved, lines);
    const std::int64_t count = groups.count();
    for (std::int64_t nth = blockIdx.x; nth < count; nth += gridDim.x) {
        const auto group = lines.group_of(groups[nth]);
        far_hull<Lines> hull(lines, lists, group, min(static_cast<int>(threadIdx.x), lines.width(group) - 1));
        for (int step = 1; step < lists.slabs; step *= 2) {
            for (int from = static_cast<int>(threadIdx.y) * 2 * step; from + step < lists.slabs;
                 from += merge_warps * 2 * step)
                join_slabs(hull, from, from + step, min(from + 2 * step, lists.slabs));
            __syncthreads();
        }
    }
}

// From this number of unresolved groups of lines on, a sweep (sweep.cuh) solves them: it takes 0.36 ms for one group of
// 512 rows and 1.8 ms for 8192, whereas hulls take 0.29 ms for 1000 (H200, 2026-11-23).
constexpr int least_swept = 1536;

/// Adapter of a line for search_lines.
template <class Lines, class Target>
class hull_line {
public:
    __device__ hull_line(const typename Lines::reader& line, const Target& target) : line_(line), target_(target) {}
    __device__ std::int32_t load(std::int64_t row) const { return line_.load(row); }
    __device__ std::int32_t value(std::int32_t loaded) const {
        return Lines::reader::is_site(loaded) ? static_cast<std::int32_t>(Lines::value(loaded))
                                              : no_site<std::int32_t>();
    }
    __device__ std::int64_t key(std::int32_t loaded, std::int64_t row) const {
        return target_.key(Lines::reader::site(loaded), static_cast<std::int32_t>(row));
    }

private:
    const typename Lines::reader& line_;
    const Target& target_;
};

/// Solves groups of lines that have an unresolved window, one after another per block, unless a sweep solves them.
/// Lanes beyond the last line repeat it; they write the same values to the same cells.
template <ending End, class Lines>
__global__ void __launch_bounds__(short_threads)
    search_unresolved_sites(const Lines lines, const windows cut, const metric<std::int32_t> m,
                            const unresolved_tiles unresolved, const bool sweeps, std::uint32_t* next,
                            const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ packed_point points[];
    const int count = *unresolved.count;
    if (sweeps && count >= least_swept) return;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const auto group = lines.place(cut, unresolved.list[nth]).group;
        // Another window of the group may have assigned it to a block already.
        bool taken = false;
        if (cut.count > 1)
            for (int i = static_cast<int>(threadIdx.y * cuda::warp + threadIdx.x); i < nth;
                 i += blockDim.y * cuda::warp)
                taken |= lines.place(cut, unresolved.list[i]).group.number == group.number;
        if (__syncthreads_or(taken)) continue;
        const int lane = min(static_cast<int>(threadIdx.x), lines.width(group) - 1);
        const auto target = lines.template target<End>(m, next, to, group, lane);
        const typename Lines::reader line(lines, group, lane);
        search_lines(points, lines.rows(), hull_line<Lines, decltype(target)>(line, target),
                     [&](int q, std::int32_t value, std::int64_t key) { target.put_key(q, value, key); });
        __syncthreads();
    }
}

/// The groups of long lines with unresolved windows.
struct unresolved_site_groups {
    const std::int32_t* number;
    const std::int32_t* list;

    template <class Lines>
    __device__ unresolved_site_groups(const unresolved_tiles& unresolved, const Lines&)
        : number(unresolved.owner_count), list(unresolved.owners) {}
    __device__ std::int64_t count() const { return *number; }
    __device__ std::int64_t operator[](std::int64_t nth) const { return list[nth]; }
};

/// Writes sites: a warp takes 32 rows of unresolved windows after another; a block's rows are consecutive.
template <ending End, class Lines>
__global__ void __launch_bounds__(walk_threads)
    walk_far_sites(const Lines lines, const windows cut, const metric<std::int32_t> m,
                   const unresolved_tiles unresolved, const far_lists lists, std::uint32_t* next, const site_sink to) {
    cuda::wait_for_kernel_before();
    constexpr int rows_of_block = walk_warps * band_rows;
    const int parts = (cut.rows + rows_of_block - 1) / rows_of_block;
    const std::int64_t count = static_cast<std::int64_t>(*unresolved.count) * parts;
    for (std::int64_t nth = blockIdx.x; nth < count; nth += gridDim.x) {
        const std::int64_t above = quotient(nth, parts);
        const auto at = lines.place(cut, unresolved.list[above]);
        const int top = at.window * cut.rows, end = min(top + cut.rows, lines.rows());
        const int from =
            top + static_cast<int>(nth - above * parts) * rows_of_block + static_cast<int>(threadIdx.y) * band_rows;
        if (from >= end) continue;
        const int lane = min(static_cast<int>(threadIdx.x), lines.width(at.group) - 1);
        const far_hull<Lines> hull(lines, lists, at.group, lane);
        const typename Lines::reader line(lines, at.group, lane);
        const auto target = lines.template target<End>(m, next, to, at.group, lane);
        walk(
            hull, lists.slabs, from / slab_rows, from, min(from + band_rows, end),
            [&](const auto& p) { return target.key(Lines::reader::site(line.load(p.row())), p.row()); },
            [&](int q, auto value, std::int64_t key) { target.put_key(q, value, key); });
    }
}

}  // namespace
}  // namespace nearfield::exact
