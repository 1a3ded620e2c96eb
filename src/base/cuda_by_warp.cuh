// Adds sums of many threads to few places.
#pragma once

#include "base/cuda.cuh"

namespace nearfield::cuda {

/// Calls put(place, sums) so that every lane's sums reach its place; `none` means no place. If at least four lanes of a
/// warp share a place, they add their sums first, which avoids contention on the places of large objects.
/// `mine.reduce()` must sum over the warp. All lanes must call it.
template <class Place, class Sums, class Put>
__device__ void put_by_warp(Place place, Place none, const Sums& mine, const Put& put) {
    constexpr int rounds = 4, enough = 4;
    unsigned left = __ballot_sync(every_lane, place != none ? 1 : 0);
    const unsigned lane = threadIdx.x % warp;
    for (int round = 0; round < rounds && left != 0; ++round) {
        const int leader = __ffs(static_cast<int>(left)) - 1;
        const Place common = __shfl_sync(every_lane, place, leader);
        const unsigned same = __ballot_sync(every_lane, place == common ? 1 : 0);
        if (__popc(same) < enough) break;
        Sums all = place == common ? mine : Sums();
        all.reduce();
        if (static_cast<int>(lane) == leader) put(common, all);
        left &= ~same;
    }
    if ((left >> lane & 1) != 0) put(place, mine);
}

}  // namespace nearfield::cuda
