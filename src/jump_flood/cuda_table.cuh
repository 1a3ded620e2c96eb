// All sites of a grid in raster order, on a device: what cells without a site draw from.
#pragma once

#include "base/cuda.cuh"
#include "jump_flood/core.hpp"

namespace nearfield::methods {

/// What a kernel sees of it.
template <class Key>
struct table {
    const Key* site = nullptr;
    const std::int64_t* count = nullptr;  ///< null: cells draw nothing

    /// `none` where there is no site at all.
    __device__ Key draw(std::uint64_t seed, std::int64_t round, std::int64_t cell) const {
        return *count == 0 ? none<Key> : site[drawn(seed, round, cell, *count)];
    }
};

namespace table_kernels {

inline constexpr int threads = 256, cells_a_thread = 16;
inline constexpr std::int64_t cells_a_block = threads * cells_a_thread;

/// Calls body(cell) for the sites among the 16 cells in a row that the thread owns.
template <class Key, class Body>
__device__ void each_site(const Key* site, std::int64_t cells, const Body& body) {
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) * cells_a_thread;
    for (std::int64_t cell = first; cell < first + cells_a_thread && cell < cells; ++cell)
        if (site[cell] >= 0) body(cell);
}

/// Sum of `mine` over the threads before this one in the block; `all` is the sum over all of them.
__device__ inline std::int64_t sum_before(std::int64_t mine, std::int64_t& all) {
    __shared__ std::int64_t sums[threads];
    sums[threadIdx.x] = mine;
    __syncthreads();
    for (int reach = 1; reach < threads; reach *= 2) {
        const std::int64_t more = threadIdx.x >= static_cast<unsigned>(reach) ? sums[threadIdx.x - reach] : 0;
        __syncthreads();
        sums[threadIdx.x] += more;
        __syncthreads();
    }
    all = sums[threads - 1];
    const std::int64_t before = sums[threadIdx.x] - mine;
    __syncthreads();
    return before;
}

template <class Key>
__global__ void __launch_bounds__(threads) count_sites(const Key* site, std::int64_t cells, std::int64_t* counts) {
    std::int64_t mine = 0, all = 0;
    each_site(site, cells, [&](std::int64_t) { ++mine; });
    static_cast<void>(sum_before(mine, all));
    if (threadIdx.x == 0) counts[blockIdx.x] = all;
}

/// One block turns counts into where each block's sites begin; their sum follows the last.
template <class Key>
__global__ void __launch_bounds__(threads) sum_counts(std::int64_t* counts, std::int64_t blocks) {
    std::int64_t done = 0;
    for (std::int64_t start = 0; start < blocks; start += threads) {
        const std::int64_t mine = start + threadIdx.x;
        std::int64_t all = 0;
        const std::int64_t before = sum_before(mine < blocks ? counts[mine] : 0, all);
        if (mine < blocks) counts[mine] = done + before;
        done += all;
    }
    if (threadIdx.x == 0) counts[blocks] = done;
}

template <class Key>
__global__ void __launch_bounds__(threads)
    list_sites(const Key* site, std::int64_t cells, const std::int64_t* starts, Key* list) {
    std::int64_t mine = 0, all = 0;
    each_site(site, cells, [&](std::int64_t) { ++mine; });
    std::int64_t at = starts[blockIdx.x] + sum_before(mine, all);
    each_site(site, cells, [&](std::int64_t cell) { list[at++] = site[cell]; });
}

}  // namespace table_kernels

/// 4 or 8 bytes a cell while it lives; nothing where `site` is null.
template <class Key>
class site_table {
public:
    site_table(const device& on, const grid& g, const Key* site) : memory_(on) {
        if (site == nullptr) return;
        const std::int64_t cells = g.cells(),
                           blocks = (cells + table_kernels::cells_a_block - 1) / table_kernels::cells_a_block;
        const std::int64_t list = memory_.reserve<Key>(cells), counts = memory_.reserve<std::int64_t>(blocks + 1);
        memory_.allocate();
        Key* const sites = memory_.get<Key>(list);
        std::int64_t* const starts = memory_.get<std::int64_t>(counts);
        const dim3 threads(table_kernels::threads);
        cuda::launch(on, table_kernels::count_sites<Key>, blocks, threads, 0, site, cells, starts);
        cuda::launch(on, table_kernels::sum_counts<Key>, 1, threads, 0, starts, blocks);
        cuda::launch(on, table_kernels::list_sites<Key>, blocks, threads, 0, site, cells, starts, sites);
        shown_ = {sites, starts + blocks};
    }
    [[nodiscard]] const table<Key>& get() const { return shown_; }

private:
    cuda::workspace memory_;
    table<Key> shown_;
};

}  // namespace nearfield::methods
