// Lines of up to 1024 rows in small integers, searched in shared memory: a block owns 32 neighbouring lines, a lane a
// line, a warp a band of 32 rows.
//
// Each warp builds the hulls of its own band in place, bands merge pairwise, and each warp walks along the hulls with
// its own 32 rows. Every lane does about the same work, whatever the sites. Where all values of a block are small,
// looking outward from each row is faster.
#pragma once

#include "exact/cuda_choice.hpp"
#include "exact/cuda_hull.cuh"

namespace nearfield::exact {
namespace {

constexpr int band_rows = 32;
constexpr int short_threads = short_rows / band_rows * cuda::warp;
// Outward search when no value of the block exceeds this.
constexpr std::int32_t dense_value = 150;

/// height << row_bits | row: a point in one word moves with one access.
struct packed_point {
    std::uint32_t bits;

    __device__ std::int32_t height() const { return static_cast<std::int32_t>(bits >> row_bits); }
    __device__ std::int32_t row() const { return static_cast<std::int32_t>(bits & (short_rows - 1)); }
};

/// The hull of the calling lane's line: band b has 32 words, of which points fill the first.
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

/// Looks at rows q - 1, q + 1, q - 2, ... of the lane's line until none can be nearer.
template <class KeyOf>
__device__ packed_point search_outward(const packed_point* line, int q, int rows, const KeyOf& key_of,
                                       std::int32_t& value) {
    const seen_from here(q);
    packed_point best = line[q * cuda::warp];
    value = here.value(best);
    const auto offer = [&](int row) {
        const packed_point p = line[row * cuda::warp];
        const std::int32_t theirs = here.value(p);
        if (theirs < value || (theirs == value && key_of(p) < key_of(best))) best = p, value = theirs;
    };
    for (int apart = 1;; ++apart) {
        if (value < apart * apart) return best;
        if (q - apart < 0 && q + apart >= rows) return best;
        if (q - apart >= 0) offer(q - apart);
        if (q + apart < rows) offer(q + apart);
    }
}

/// Load, then either look outward or build, merge and walk. One function, because the phases share the block's
/// barriers and the reader's registers.
template <class Line, class Put>
__device__ __forceinline__ void search_lines(packed_point* points, int rows, const Line& line, const Put& put) {
    const int bands = static_cast<int>(blockDim.y), band = static_cast<int>(threadIdx.y);
    const int from = band * band_rows, end = min(from + band_rows, rows);
    std::int32_t peak = 0;
#pragma unroll 8
    for (int r = from; r < end; ++r) {
        const std::int32_t value = min(line.value(line.load(r)), packed_none);
        peak = max(peak, value);
        points[r * cuda::warp + threadIdx.x] = {static_cast<std::uint32_t>(value + r * r) << row_bits |
                                                static_cast<std::uint32_t>(r)};
    }
    const auto key_of = [&](packed_point p) { return line.key(line.load(p.row()), p.row()); };
    if (!__syncthreads_or(peak > dense_value)) {
        for (int q = from; q < end; ++q) {
            std::int32_t value;
            const packed_point best = search_outward(points + threadIdx.x, q, rows, key_of, value);
            put(q, value, key_of(best));
        }
        return;
    }
    packed_hull hull(points, reinterpret_cast<std::uint16_t*>(points + rows * cuda::warp));
    // Within a band rows differ by less than 32 and heights by less than 2^22: products fit 32 bits.
    build_band<std::int32_t>(hull, band, end - from);
    __syncthreads();
    for (int step = 1; step < bands; step *= 2) {
        if (band % (2 * step) == 0 && band + step < bands)
            merge_bands(hull, band, band + step, min(band + 2 * step, bands));
        __syncthreads();
    }
    walk(hull, bands, 0, from, end, key_of, put);
}

}  // namespace
}  // namespace nearfield::exact
