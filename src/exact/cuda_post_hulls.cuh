// Winners at every 32nd row of an image, its posts: a block takes one post at a time, whose line has a value for each column
// of the image, how far its nearest site is along the column. The hull of that line stands in shared memory: a thread builds
// the hull of a band of columns, neighbouring hulls are joined by halving, and each thread walks along its own band.
#pragma once

#include "exact/cuda_far.cuh"

namespace nearfield::exact {
namespace {

constexpr int post_rows = 32;
constexpr int most_bands = 1024;  // of a line
/// Columns of a band: whole words of 32.
NF_HD constexpr int band_columns(std::int64_t length) { return length <= most_bands * cuda::warp ? 32 : 64; }
static_assert(most_packed <= most_bands * 64);

/// Posts of all images. One after the last row closes each image.
template <class V>
struct post_lines {
    std::int32_t* nearest = nullptr;   ///< row of the nearest site in a column, or -1: for each post, for each column
    std::uint16_t* winners = nullptr;  ///< row that wins, the same way
    std::int64_t images = 1;
    std::int64_t length = 1;
    int posts = 1;

    __device__ std::int32_t* nearest_of(std::int64_t image, int post) const {
        return nearest + (image * posts + post) * length;
    }
    __device__ std::uint16_t* winners_of(std::int64_t image, int post) const {
        return winners + (image * posts + post) * length;
    }
};

/// How the line of a post lies in shared memory. What belongs to column i of a band is beside what belongs to column i of
/// the next one, so that threads reach neighbouring words; rows of such have a pitch at which consecutive columns are in
/// different banks, too.
struct post_memory {
    int length, columns, bands, pitch;

    NF_HD explicit post_memory(std::int64_t line)
        : length(static_cast<int>(line)),
          columns(band_columns(line)),
          bands((length + columns - 1) / columns),
          pitch(bands + ((2 - bands) & 3)) {}
    NF_HD int places() const { return columns * pitch; }
    /// Sites' rows, which columns have one, ranges, lists: in this order.
    NF_HD int bytes() const { return places() * 3 + bands * (columns / 8 + 4) + 4; }
    NF_HD int threads() const { return (bands + cuda::warp - 1) / cuda::warp * cuda::warp; }
};

/// The hull of a post's line.
template <class V>
class post_hull {
public:
    static constexpr bool keeps_ties = false;
    using point_type = far_point<V>;

    __device__ post_hull(std::byte* memory, const post_memory& shape, int post_row)
        : shape_(shape),
          post_row_(post_row),
          filled_(reinterpret_cast<std::uint32_t*>(memory)),
          ranges_(reinterpret_cast<list_range*>(filled_ + shape.bands * (shape.columns / cuda::warp))),
          rows_(reinterpret_cast<std::uint16_t*>(ranges_ + shape.bands)),
          listed_(reinterpret_cast<std::uint8_t*>(rows_ + shape.places())) {}

    /// All threads of the block, from where the line is in device memory.
    __device__ void load(const std::int32_t* nearest) {
        for (int x = static_cast<int>(threadIdx.x); x < shape_.bands * shape_.columns;
             x += static_cast<int>(blockDim.x)) {
            const std::int32_t row = x < shape_.length ? nearest[x] : -1;
            const std::uint32_t filled = __ballot_sync(cuda::every_lane, row >= 0);
            if (x % cuda::warp == 0) filled_[x / cuda::warp] = filled;
            rows_[at(x)] = static_cast<std::uint16_t>(row);
        }
    }
    /// Row of a column's nearest site.
    __device__ std::int32_t row(int x) const { return rows_[at(x)]; }

    __device__ point_type point_at(int x) const {
        const V apart = row(x) - post_row_;
        return {x, apart * apart + static_cast<V>(x) * x};
    }
    __device__ point_type point(place p) const {
        return point_at(p.band * shape_.columns + listed_[p.at * shape_.pitch + p.band]);
    }
    __device__ void put(place p, point_type c) {
        listed_[p.at * shape_.pitch + p.band] = static_cast<std::uint8_t>(c.at - p.band * shape_.columns);
    }
    __device__ bool candidate(int band, int i, point_type& c) const {
        const int x = band * shape_.columns + i;
        if ((filled_[x / cuda::warp] >> x % cuda::warp & 1) == 0) return false;
        return c = point_at(x), true;
    }
    __device__ int start(int band) const { return ranges_[band].start; }
    __device__ int end(int band) const { return ranges_[band].end; }
    __device__ void set(int band, int start, int end) {
        ranges_[band] = {static_cast<std::uint16_t>(start), static_cast<std::uint16_t>(end)};
    }

private:
    __device__ int at(int x) const { return x % shape_.columns * shape_.pitch + x / shape_.columns; }

    const post_memory& shape_;
    int post_row_;
    std::uint32_t* filled_;
    list_range* ranges_;
    std::uint16_t* rows_;
    std::uint8_t* listed_;
};

/// A block one post after another of the images that have hard tiles.
template <class V>
__global__ void __launch_bounds__(most_bands) find_winners(const hard_tiles hard, const post_lines<V> lines) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t line_memory[];
    const post_memory shape(lines.length);
    const int band = static_cast<int>(threadIdx.x), from = band * shape.columns,
              end = min(from + shape.columns, shape.length);
    const std::int64_t count = static_cast<std::int64_t>(*hard.owner_count) * lines.posts;
    for (std::int64_t nth = blockIdx.x; nth < count; nth += gridDim.x) {
        const std::int64_t image = quotient(nth, lines.posts);
        const int post = static_cast<int>(nth - image * lines.posts);
        post_hull<V> hull(reinterpret_cast<std::byte*>(line_memory), shape, post * post_rows);
        hull.load(lines.nearest_of(hard.owners[image], post));
        __syncthreads();
        if (band < shape.bands) build_band<false, std::int64_t>(hull, band, end - from);
        __syncthreads();
        for (int step = 1; step < shape.bands; step *= 2) {
            if (band % (2 * step) == 0 && band + step < shape.bands)
                join_slabs(hull, band, band + step, min(band + 2 * step, shape.bands));
            __syncthreads();
        }
        std::uint16_t* const winners = lines.winners_of(hard.owners[image], post);
        if (band < shape.bands)
            walk<false>(
                hull, shape.bands, band, from, end, 1, [](const auto& p) { return p.row(); },
                [&](int x, V, std::int32_t site_x) { winners[x] = static_cast<std::uint16_t>(hull.row(site_x)); });
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
