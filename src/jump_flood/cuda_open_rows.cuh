// Distributes the stretches that rounds by offsets leave unresolved (open_stretches) over the threads of a kernel.
#pragma once

#include "jump_flood/cuda_offsets.cuh"

namespace nearfield::methods::tiles {

/// Calls settle(place, planes) for each row of the tiles in listed stretches. If there are enough threads, each plane
/// of a row has its own, because a few threads would take long.
template <class Tile, class Settle>
__device__ void settle_open_rows(const plan& p, const open_stretches& left, const Settle& settle) {
    using row = tile<true, Tile::cells, 1, Tile::reach, Tile::lies>;
    const std::int64_t all = gridDim.x * threads, rows = static_cast<std::int64_t>(*left.count) * Tile::rows;
    const std::int32_t length = rows * stretch <= all ? 1 : stretch, parts = stretch / length * Tile::rows;
    for (std::int64_t k = blockIdx.x * threads + threadIdx.x; k < rows * (stretch / length); k += all) {
        const std::uint32_t first = left.first[k / parts], nx = static_cast<std::uint32_t>(p.nx),
                            across = static_cast<std::uint32_t>(p.across), in_rows = first / nx;
        const auto part = static_cast<std::int32_t>(k % parts);
        place<Tile> at;
        at.x = static_cast<std::int32_t>(first - in_rows * nx);
        at.along = static_cast<std::int32_t>(in_rows / across) + part / Tile::rows * p.step;
        at.across = static_cast<std::int32_t>(in_rows % across) + part % Tile::rows * p.step;
        if (!at.inside(p)) continue;
        at.look_along_the_row(p);
        settle(place<row>(at), length);
    }
}

/// True if there is a warp for each plane of the stretches. Then a warp resolves the open cells of its plane one after
/// the other, with a thread for each neighbour; a single thread mostly waits. H200, 2026-11-23, 0.01 % of sites: 128^3
/// takes 71 instead of 79 microseconds for all rounds, step 2 of 256^3 2.4 instead of 2.6 times the read and write of
/// all sites. Up to four planes a warp gain nothing more (0.003 %: step 1 takes 3.2 instead of 2.8).
__device__ inline bool are_few(const open_stretches& left) {
    return *left.count * stretch <= gridDim.x * (threads / cuda::warp);
}

struct cell_at {
    std::int32_t x, y, z;

    __device__ bool is_there(const plan& p) const {
        const auto below = [](std::int32_t a, std::int32_t b) {
            return static_cast<std::uint32_t>(a) < static_cast<std::uint32_t>(b);
        };
        return below(x, p.nx) && below(y, p.across) && below(z, p.along);
    }
    __device__ std::int64_t number(const plan& p) const { return z * p.along_stride + std::int64_t{y} * p.nx + x; }
};

/// The nearest of the sites that a cell receives from its 27 neighbours; all lanes of a warp call it.
__device__ inline Key nearest_heard(const plan& p, const separate_offsets& rule, const Key* from, const cell_at& cell,
                                    std::int32_t lane) {
    constexpr std::int32_t asked = 27;
    constexpr auto no_key = static_cast<std::uint32_t>(none<Key>);  // the largest unsigned number
    const cell_at other{cell.x + (lane % 3 - 1) * p.step, cell.y + (lane / 3 % 3 - 1) * p.step,
                        cell.z + (lane / 9 - 1) * p.step};
    Key site = none<Key>;
    if (lane < asked && other.is_there(p))
        site = rule.site_in(static_cast<std::uint32_t>(from[other.number(p)]), other.z, other.y, other.x);
    const std::int32_t dx = rule.m.keys.coordinate(site, 2) - cell.x, dy = rule.m.keys.coordinate(site, 1) - cell.y,
                       dz = rule.m.keys.coordinate(site, 0) - cell.z;
    const std::uint32_t distance2 = site < 0 ? ~0u : static_cast<std::uint32_t>(dx * dx + dy * dy + dz * dz),
                        nearest2 = __reduce_min_sync(cuda::every_lane, distance2),
                        key = distance2 == nearest2 ? static_cast<std::uint32_t>(site) : no_key;
    return static_cast<Key>(__reduce_min_sync(cuda::every_lane, key));
}

/// Resolves cells that hold one site as words of offsets. Two stretches may share a cell; both find the same site.
template <class Tile>
__device__ void settle_open_cells(const plan& p, const separate_offsets& rule, const Key* from, Key* to,
                                  const open_stretches& left) {
    const std::uint32_t warp = (blockIdx.x * threads + threadIdx.x) / cuda::warp;
    if (warp >= *left.count * stretch) return;
    const auto lane = static_cast<std::int32_t>(threadIdx.x % cuda::warp);
    const std::uint32_t first = left.first[warp / stretch], nx = static_cast<std::uint32_t>(p.nx),
                        across = static_cast<std::uint32_t>(p.across), in_rows = first / nx;
    const cell_at mine{static_cast<std::int32_t>(first - in_rows * nx + Tile::away(lane % Tile::cells, p.step)),
                       static_cast<std::int32_t>(in_rows % across) + lane / Tile::cells * p.step,
                       static_cast<std::int32_t>(in_rows / across + warp % stretch * p.step)};
    bool open = lane < Tile::cells * Tile::rows && mine.is_there(p);
    if (open) {
        const Key result = to[mine.number(p)];
        open = rule.last ? result < 0 : static_cast<std::uint32_t>(result) >= rule.o.sure;
    }
    for (std::uint32_t lanes = __ballot_sync(cuda::every_lane, open); lanes != 0; lanes &= lanes - 1) {
        const int owner = __ffs(static_cast<int>(lanes)) - 1;
        const cell_at cell{__shfl_sync(cuda::every_lane, mine.x, owner), __shfl_sync(cuda::every_lane, mine.y, owner),
                           mine.z};
        const Key site = nearest_heard(p, rule, from, cell, lane);
        if (lane == owner) to[cell.number(p)] = rule.word_of(site, cell.z, cell.y, cell.x);
    }
}

}  // namespace nearfield::methods::tiles
