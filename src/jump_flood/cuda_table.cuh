// A table of all sites of a grid in raster order, on a device, from which cells without a site draw.
#pragma once

#include "base/cuda_scan.cuh"
#include "jump_flood/core.hpp"

namespace nearfield::methods {

/// The table as a kernel sees it.
template <class Key>
struct table {
    const Key* site = nullptr;
    const std::int64_t* count = nullptr;  ///< null: cells draw nothing

    /// The site that a cell draws in a round; `none` if there is no site at all.
    __device__ Key draw(std::uint64_t seed, std::int64_t round, std::int64_t cell) const {
        return *count == 0 ? none<Key> : site[drawn(seed, round, cell, *count)];
    }
};

namespace table_kernels {

inline constexpr int threads = 256, warps = threads / cuda::warp, cells_a_thread = 16;
inline constexpr std::int64_t cells_a_block = threads * cells_a_thread;

/// A block's cells, `threads` neighbours at a time, so that reads are coalesced and a thread's reads overlap.
template <class Key>
struct own_cells {
    Key site[cells_a_thread];

    __device__ own_cells(const Key* from, std::int64_t cells) {
#pragma unroll
        for (int k = 0; k < cells_a_thread; ++k) {
            const std::int64_t cell = blockIdx.x * cells_a_block + k * threads + threadIdx.x;
            site[k] = cell < cells ? from[cell] : none<Key>;
        }
    }
    /// Lanes whose k-th cell is a site.
    __device__ std::uint32_t lanes(int k) const { return __ballot_sync(cuda::every_lane, site[k] >= 0); }
};

template <class Key>
__global__ void __launch_bounds__(threads) count_sites(const Key* site, std::int64_t cells, std::int64_t* counts) {
    __shared__ int of_warp[warps];
    const own_cells<Key> mine(site, cells);
    int count = 0;
#pragma unroll
    for (int k = 0; k < cells_a_thread; ++k) count += __popc(mine.lanes(k));
    of_warp[threadIdx.x / cuda::warp] = count;
    __syncthreads();
    if (threadIdx.x > 0) return;
    count = 0;
    for (const int each : of_warp) count += each;
    counts[blockIdx.x] = count;
}

template <class Key>
__global__ void __launch_bounds__(threads)
    list_sites(const Key* site, std::int64_t cells, const std::int64_t* starts, Key* list) {
    __shared__ int before[cells_a_thread * warps];
    const own_cells<Key> mine(site, cells);
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp, lane = static_cast<int>(threadIdx.x) % cuda::warp;
#pragma unroll
    for (int k = 0; k < cells_a_thread; ++k) before[k * warps + warp] = __popc(mine.lanes(k));
    __syncthreads();
    // The first warp adds up the counts; a lane adds four neighbouring ones.
    constexpr int each = cells_a_thread * warps / cuda::warp;
    if (warp == 0) {
        int sum = 0;
        for (int k = 0; k < each; ++k) sum += before[lane * each + k];
        int start = cuda::sum_before_in_warp(sum);
        for (int k = 0; k < each; ++k) {
            const int here = before[lane * each + k];
            before[lane * each + k] = start;
            start += here;
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < cells_a_thread; ++k) {
        const std::uint32_t below = mine.lanes(k) & ((1u << lane) - 1);
        if (mine.site[k] >= 0) list[starts[blockIdx.x] + before[k * warps + warp] + __popc(below)] = mine.site[k];
    }
}

/// Draws a site for cells without one. A thread owns four neighbouring cells, so that its reads of the table overlap.
inline constexpr int draws_a_thread = 4;
template <class Key>
__global__ void __launch_bounds__(threads)
    draw_sites(Key* site, std::int64_t cells, table<Key> from, std::uint64_t seed, std::int64_t round) {
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * threads) * draws_a_thread + threadIdx.x;
    const auto count = static_cast<std::uint64_t>(*from.count);
    if (count == 0) return;
    const std::uint64_t inverse = ~std::uint64_t{0} / count;
#pragma unroll
    for (int k = 0; k < draws_a_thread; ++k) {
        const std::int64_t cell = first + k * threads;
        if (cell >= cells || site[cell] >= 0) continue;
        const std::uint64_t bits = draw_bits(seed, round, cell);
        // The estimated quotient is too small by at most two.
        std::uint64_t rest = bits - __umul64hi(bits, inverse) * count;
        rest -= rest >= count ? count : 0;
        rest -= rest >= count ? count : 0;
        site[cell] = from.site[rest];
    }
}

}  // namespace table_kernels

/// Owns the table: 4 or 8 bytes a cell; no memory if `site` is null.
template <class Key>
class site_table {
public:
    site_table(const device& on, const grid& g, const Key* site) : memory_(on) {
        if (site == nullptr) return;
        const std::int64_t cells = g.cells(), blocks = cuda::blocks_for(cells, table_kernels::cells_a_block);
        const std::int64_t list = memory_.reserve<Key>(cells), counts = memory_.reserve<std::int64_t>(blocks + 1);
        memory_.allocate();
        Key* const sites = memory_.get<Key>(list);
        std::int64_t* const starts = memory_.get<std::int64_t>(counts);
        const dim3 threads(table_kernels::threads);
        cuda::launch(on, table_kernels::count_sites<Key>, blocks, threads, 0, site, cells, starts);
        cuda::launch_sums(on, starts, blocks, starts + blocks);
        cuda::launch(on, table_kernels::list_sites<Key>, blocks, threads, 0, site, cells, starts, sites);
        shown_ = {sites, starts + blocks};
    }
    [[nodiscard]] const table<Key>& get() const { return shown_; }
    /// Lets cells without a site draw one.
    void draw(const device& on, Key* site, std::int64_t cells, std::uint64_t seed, std::int64_t round) const {
        constexpr std::int64_t of_block = table_kernels::threads * table_kernels::draws_a_thread;
        cuda::launch(on, table_kernels::draw_sites<Key>, cuda::blocks_for(cells, of_block),
                     dim3(table_kernels::threads), 0, site, cells, shown_, seed, round);
    }

private:
    cuda::workspace memory_;
    table<Key> shown_;
};

}  // namespace nearfield::methods
