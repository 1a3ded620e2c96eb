// Long lines in int32 numbers: hulls of slabs of 256 rows are built in shared memory as for short lines, written out,
// and merged in device memory; then every 32 rows of a line are walked by a thread of their own.
//
// Only groups of 32 columns that search_near marked hard take part.
#pragma once

#include "exact/cuda_long.cuh"
#include "exact/cuda_short.cuh"

namespace nearfield::exact {
namespace {

constexpr int slab_rows = 256;
using slab_row = std::uint8_t;  ///< a row of a slab
static_assert(slab_rows - 1 <= std::numeric_limits<slab_row>::max());
constexpr int slab_bands = slab_rows / band_rows;
constexpr int slab_threads = slab_bands * cuda::warp;

/// A row and its height; every sum stays below 2^31 in the numbers int32.
struct wide_point {
    std::int32_t at, high;

    __device__ std::int32_t row() const { return at; }
    __device__ std::int32_t height() const { return high; }
};

/// Shared memory of one slab: values of its rows, and for each band a list of the rows that are on the hull.
struct slab_memory {
    std::int32_t value[slab_rows][cuda::warp];
    slab_row on_hull[slab_rows][cuda::warp];
    std::uint16_t range[slab_bands][cuda::warp];
};

/// The hull of the calling lane's line in a slab.
class slab_hull {
public:
    using point_type = wide_point;

    __device__ slab_hull(slab_memory& memory, std::int32_t first_row, std::int32_t weight)
        : memory_(memory), first_row_(first_row), weight_(weight) {}

    __device__ wide_point at_row(int r) const {
        const std::int32_t row = first_row_ + r;
        return {row, memory_.value[r][threadIdx.x] + weight_ * row * row};
    }
    __device__ wide_point point(place p) const {
        return at_row(memory_.on_hull[p.band * band_rows + p.at][threadIdx.x]);
    }
    __device__ void put(place p, wide_point c) {
        memory_.on_hull[p.band * band_rows + p.at][threadIdx.x] = static_cast<slab_row>(c.at - first_row_);
    }
    __device__ bool candidate(int band, int i, wide_point& c) const {
        const int r = band * band_rows + i;
        c = at_row(r);
        return memory_.value[r][threadIdx.x] < no_site<std::int32_t>();
    }
    __device__ int start(int band) const { return memory_.range[band][threadIdx.x] & 255; }
    __device__ int end(int band) const { return memory_.range[band][threadIdx.x] >> 8; }
    __device__ void set(int band, int start, int end) {
        memory_.range[band][threadIdx.x] = static_cast<std::uint16_t>(start | end << 8);
    }

private:
    slab_memory& memory_;
    std::int32_t first_row_, weight_;
};

/// Hulls of all slabs in device memory. Points of a slab are listed in the first of its cells.
struct slab_lists {
    std::int32_t* rows;   ///< a cell each
    std::int32_t* start;  ///< a slab and column each
    std::int32_t* end;
    int slabs;
};

/// The hull of one column, its bands being slabs.
template <class Line>
class column_hull {
public:
    using point_type = wide_point;

    __device__ column_hull(const Line& line, const slab_lists& lists, const pass& g, std::int64_t column,
                           std::int32_t weight)
        : line_(line),
          rows_(lists.rows + g.first_cell(column)),
          start_(lists.start + column),
          end_(lists.end + column),
          inner_(g.inner),
          columns_(g.columns),
          weight_(weight) {}

    __device__ wide_point point(place p) const {
        const std::int32_t row = rows_[static_cast<std::int64_t>(p.band * slab_rows + p.at) * inner_];
        return {row, line_.value(line_.load(row)) + weight_ * row * row};
    }
    __device__ int start(int slab) const { return start_[slab * columns_]; }
    __device__ int end(int slab) const { return end_[slab * columns_]; }
    __device__ void set(int slab, int start, int end) { start_[slab * columns_] = start, end_[slab * columns_] = end; }

private:
    const Line& line_;
    const std::int32_t* rows_;
    std::int32_t* start_;
    std::int32_t* end_;
    std::int64_t inner_, columns_;
    std::int32_t weight_;
};

/// A block a slab of 32 columns, a warp a band of it. Here and below, `hard` null: all groups are.
template <bool Keyed, int Done>
__device__ void build_slab_of(std::uint32_t block, const pass g, const metric<std::int32_t> m,
                              const std::int32_t* cells, const std::uint8_t* hard, const slab_lists lists) {
    extern __shared__ std::byte shared[];
    auto& memory = *reinterpret_cast<slab_memory*>(shared);
    const auto groups = static_cast<std::uint32_t>((g.columns + cuda::warp - 1) / cuda::warp);
    const std::uint32_t group = block % groups;
    if (hard != nullptr && !hard[group]) return;
    const int slab = static_cast<int>(block / groups), band = static_cast<int>(threadIdx.y),
              lane = static_cast<int>(threadIdx.x);
    const std::int64_t mine = static_cast<std::int64_t>(group) * cuda::warp + lane;
    const std::int64_t column = mine < g.columns ? mine : g.columns - 1;
    const line_reader<std::int32_t, std::int32_t, Keyed, Done> line(m, g, cells, column);
    const int first_row = slab * slab_rows, rows = min(slab_rows, static_cast<int>(g.rows) - first_row);
    const int from = band * band_rows, end = min(from + band_rows, rows);
#pragma unroll 8
    for (int r = from; r < end; ++r) memory.value[r][lane] = line.value(line.load(first_row + r));

    slab_hull hull(memory, first_row, m.weight[g.axis]);
    build_band<Keyed, std::int64_t>(hull, band, max(end - from, 0));
    __syncthreads();
    for (int step = 1; step < slab_bands; step *= 2) {
        if (band % (2 * step) == 0) merge_bands<Keyed>(hull, band, band + step, min(band + 2 * step, slab_bands));
        __syncthreads();
    }
    if (mine >= g.columns) return;
    int before = 0;
    for (int b = 0; b < band; ++b) before += hull.end(b) - hull.start(b);
    std::int32_t* const list = lists.rows + g.first_cell(column) + (first_row + before) * g.inner;
    const int count = hull.end(band) - hull.start(band);
    for (int i = 0; i < count; ++i) list[i * g.inner] = hull.point({band, hull.start(band) + i}).row();
    if (band == slab_bands - 1) {
        lists.start[slab * g.columns + column] = 0;
        lists.end[slab * g.columns + column] = before + count;
    }
}
template <bool Keyed, int Done>
__global__ void __launch_bounds__(slab_threads)
    build_slabs(const pass g, const metric<std::int32_t> m, const std::int32_t* cells, const std::uint8_t* hard,
                const slab_lists lists) {
    build_slab_of<Keyed, Done>(blockIdx.x, g, m, cells, hard, lists);
}

/// A thread a column and a pair of neighbours among the runs of `step` slabs that are merged already.
template <bool Keyed, int Done>
__device__ void merge_slabs_of(std::uint32_t block, const pass g, const metric<std::int32_t> m,
                               const std::int32_t* cells, const std::uint8_t* hard, const slab_lists lists, int step) {
    const auto groups = static_cast<std::uint32_t>((g.columns + cuda::warp - 1) / cuda::warp);
    const std::uint32_t group = block % groups;
    const std::int64_t column = static_cast<std::int64_t>(group) * cuda::warp + threadIdx.x;
    const int from = static_cast<int>((block / groups * long_warps + threadIdx.y) * 2 * step);
    if ((hard != nullptr && !hard[group]) || column >= g.columns || from + step >= lists.slabs) return;
    using reader = line_reader<std::int32_t, std::int32_t, Keyed, Done>;
    const reader line(m, g, cells, column);
    column_hull<reader> hull(line, lists, g, column, m.weight[g.axis]);
    merge_bands<Keyed>(hull, from, from + step, min(from + 2 * step, lists.slabs));
}
template <bool Keyed, int Done>
__global__ void __launch_bounds__(long_threads)
    merge_slabs(const pass g, const metric<std::int32_t> m, const std::int32_t* cells, const std::uint8_t* hard,
                const slab_lists lists, int step) {
    merge_slabs_of<Keyed, Done>(blockIdx.x, g, m, cells, hard, lists, step);
}

/// A warp 32 rows of 32 columns.
template <bool Keyed, int Done, bool Last>
__device__ void walk_slabs_of(std::uint32_t block, const pass g, const metric<std::int32_t> m,
                              const std::int32_t* cells, const std::uint8_t* hard, const slab_lists lists,
                              const sink<std::int32_t, std::int32_t, Keyed, Last> to) {
    const auto groups = static_cast<std::uint32_t>((g.columns + cuda::warp - 1) / cuda::warp);
    const std::uint32_t group = block % groups;
    const std::int64_t column = static_cast<std::int64_t>(group) * cuda::warp + threadIdx.x;
    const int from = static_cast<int>((block / groups * long_warps + threadIdx.y) * band_rows);
    if ((hard != nullptr && !hard[group]) || column >= g.columns || from >= g.rows) return;
    using reader = line_reader<std::int32_t, std::int32_t, Keyed, Done>;
    const reader line(m, g, cells, column);
    const column_hull<reader> hull(line, lists, g, column, m.weight[g.axis]);
    const std::int64_t first_cell = g.first_cell(column);
    walk<Keyed>(
        hull, lists.slabs, from / slab_rows, from, min(from + band_rows, static_cast<int>(g.rows)), m.weight[g.axis],
        [&](const wide_point& p) { return line.key(line.load(p.row()), p.row()); },
        [&](int q, std::int32_t value, std::int32_t key) { to.put(m, first_cell + q * g.inner, value, key); });
}
template <bool Keyed, int Done, bool Last>
__global__ void __launch_bounds__(long_threads)
    walk_slabs(const pass g, const metric<std::int32_t> m, const std::int32_t* cells, const std::uint8_t* hard,
               const slab_lists lists, const sink<std::int32_t, std::int32_t, Keyed, Last> to) {
    walk_slabs_of<Keyed, Done, Last>(blockIdx.x, g, m, cells, hard, lists, to);
}

}  // namespace
}  // namespace nearfield::exact
