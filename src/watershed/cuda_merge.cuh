// Finds the lowest passes over which basins connect: Boruvka's algorithm with a virtual root. Basins with markers, or
// with minima that are deep enough, are joined to this root.
#pragma once

#include <cooperative_groups.h>

#include "watershed/cuda_grid.cuh"

namespace nearfield::watersheds {

/// Synchronizes all blocks of a cooperative launch; a launch of one block synchronizes its threads.
__device__ inline void meet() {
    if (gridDim.x > 1) cooperative_groups::this_grid().sync();
    else __syncthreads();
}

/// Returns the root of a basin's tree: a merged basin points to the basin that it merged into. If basins are `Merging`,
/// reads pass the first cache, where pointers may be old; the same pointer for all cells would make them wait.
template <bool Merging = true>
__device__ std::int32_t whole_of(const work& w, std::int32_t basin) {
    const std::conditional_t<Merging, const volatile std::int32_t, const std::int32_t>* const up = w.up;
    for (std::int32_t next; (next = up[basin]) != basin && next >= 0;) basin = next;
    return basin;
}

__device__ inline void offer(const work& w, std::int32_t basin, std::int32_t other, std::int32_t pass) {
    if (w.up[basin] != basin) return;  // It is joined to the root.
    const std::uint64_t own = packed(pass, static_cast<std::uint32_t>(other));
    if (own < w.best[basin]) atomicMin(reinterpret_cast<unsigned long long*>(w.best + basin), own);
}

/// Offers every edge to the merged basins at both of its ends.
__device__ inline void offer_edges(const work& w, std::uint32_t edges, std::int64_t first, std::int64_t stride) {
    for (std::int64_t e = first; e < edges; e += stride) {
        if (w.edge_a[e] == w.edge_b[e]) continue;
        const std::int32_t a = whole_of(w, w.edge_a[e]), b = whole_of(w, w.edge_b[e]);
        w.edge_a[e] = a, w.edge_b[e] = b;
        if (a == b) continue;
        offer(w, a, b, w.edge_pass[e]), offer(w, b, a, w.edge_pass[e]);
    }
}

/// Writes the merged basin of every cell. Until steps are counted, their array holds it.
__device__ inline void write_merged(const work& w, const std::int32_t* before, std::int64_t first,
                                    std::int64_t stride) {
    for (std::int64_t place = first; place < w.where.places; place += stride)
        w.steps[place] = before[place] == nowhere ? nowhere : -2 - whole_of(w, -2 - before[place]);
}

/// Does the same without a list of edges: it looks at all neighbours of all cells.
__device__ inline void offer_cells(const work& w, int round, std::int64_t first, std::int64_t stride) {
    write_merged(w, round == 0 ? w.basin : w.steps, first, stride);
    meet();
    for (std::int64_t place = first; place < w.where.places; place += stride) {
        const auto own = static_cast<std::int32_t>(place);
        const std::int32_t here = w.steps[own];
        if (here == nowhere || w.up[-2 - here] != -2 - here) continue;
        std::uint64_t least = no_key;
        w.where.each(own, [&](std::int32_t there, int) {
            const std::int32_t other = w.steps[there];
            if (other == nowhere || other == here || !alike(w, own, there)) return;
            const std::uint64_t way = packed(max(w.key[own], w.key[there]), static_cast<std::uint32_t>(-2 - other));
            least = least < way ? least : way;
        });
        if (least < w.best[-2 - here]) atomicMin(reinterpret_cast<unsigned long long*>(w.best - 2 - here), least);
    }
}

/// Returns whether a basin is joined to the virtual root before water leaves over any of its passes.
template <class Value>
__device__ bool has_root(const work& w, std::int32_t basin) {
    const std::uint64_t own = w.top[basin], pass = w.best[basin];
    if (own == no_key) return false;
    if (pass == no_key) return true;
    return w.heights ? w.least.reached<Value>(exact_key<Value>(w, key_in(own)), exact_key<Value>(w, key_in(pass)))
                     : key_in(own) <= key_in(pass);
}

/// Merges an unmerged basin into the one beyond its least pass; if two choose each other, the larger number merges.
/// Passes do not rise along such a chain, so the highest pass from a basin to the chain's end is its first one.
template <class Value>
__device__ bool join(const work& w, std::int32_t basin) {
    if (w.up[basin] != basin || (w.best[basin] == no_key && w.top[basin] == no_key)) return false;
    if (has_root<Value>(w, basin)) {
        w.up[basin] = nowhere;
        return true;
    }
    if (w.best[basin] == no_key) return false;
    const auto other = static_cast<std::int32_t>(w.best[basin]);
    const bool mutual = static_cast<std::int32_t>(w.best[other]) == basin && w.best[other] != no_key;
    if (mutual && basin < other && !has_root<Value>(w, other)) return false;
    w.pass[basin] = key_in(w.best[basin]), w.up[basin] = other;
    return true;
}

/// Forgets the lowest cells of basins, without which none is joined to a root.
static __global__ void __launch_bounds__(threads_of_block) clear_tops(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
         i < w.count[basins_found]; i += stride)
        w.top[i] = no_key;
}

/// Merges basins until no pass is left, and returns true, or in so many rounds.
template <class Value>
__device__ bool merge_in(const work& w, int rounds, std::int64_t first, std::int64_t stride) {
    const std::uint32_t basins = w.count[basins_found], edges = w.count[edges_found];
    const bool listed = edges <= w.most_edges;
    volatile std::uint32_t* const changed = w.count + changes;
    for (int round = 0; round < rounds; ++round) {
        if (listed) offer_edges(w, edges, first, stride);
        else offer_cells(w, round, first, stride);
        if (first == 0) changed[(round + 1) % 3] = 0;
        meet();
        bool some = false;
        for (std::int64_t i = first; i < basins; i += stride) some |= join<Value>(w, static_cast<std::int32_t>(i));
        if (some) changed[round % 3] = 1;
        meet();
        for (std::int64_t i = first; i < basins; i += stride) {
            const auto own = static_cast<std::int32_t>(i);
            const std::int32_t next = static_cast<volatile std::int32_t*>(w.up)[own];
            if (w.best[own] == no_key || next == own || next == nowhere) continue;
            const std::int32_t whole = whole_of(w, own);  // if it merged in this round, its best pass is still stored
            w.up[own] = whole;
            if (w.up[whole] == whole && w.top[own] < w.top[whole])
                atomicMin(reinterpret_cast<unsigned long long*>(w.top + whole), w.top[own]);
        }
        meet();
        for (std::int64_t i = first; i < basins; i += stride) w.best[i] = no_key;
        const bool more = changed[round % 3] != 0;
        meet();
        if (!more) return true;
    }
    return false;
}

/// Runs all rounds in one kernel. If the edges do not fit their list, rounds look at all cells instead: two of them,
/// after which the edges of merged basins are listed, and a second launch goes on; or all, in a call with heights, most
/// of whose edges are pruned.
template <class Value>
__global__ void __launch_bounds__(threads_of_block) merge(const __grid_constant__ work w) {
    constexpr int few_rounds = 2, all_rounds = std::numeric_limits<int>::max();
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block,
                       first = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (w.again && w.count[listed_again] == 0) return;
    const bool once = w.again || w.heights || w.count[edges_found] <= w.most_edges;
    if (merge_in<Value>(w, once ? all_rounds : few_rounds, first, stride)) return;
    write_merged(w, w.steps, first, stride);
    if (first == 0) w.count[edges_found] = 0, w.count[changes] = 0, w.count[listed_again] = 1;
}

/// Finds the least level at which water from a marker reaches a basin: the highest pass on the way to the tree's root.
/// If the call gives no markers, the way leads to the tree's lowest basin, which may be elsewhere in the tree.
__device__ inline void find_level(const work& w, std::int32_t own) {
    const std::int32_t whole = whole_of(w, own);
    w.number[own] = w.up[whole] == nowhere ? 0 : nowhere;
    std::int32_t level = key_in(w.top[whole]);
    if (w.heights && w.up[whole] == nowhere) {
        const auto place = static_cast<std::int32_t>(w.top[whole]);
        const std::int32_t to = -2 - w.basin[place];
        if (whole == own) {
            atomicOr(w.flags + place / 32, 1U << place % 32);
            atomicAdd(w.before + place / flag_block, 1U);
        }
        std::int32_t over = level;  // highest pass from this basin to the common ancestor, then with the other branch
        std::int32_t meets = own;
        for (;; over = max(over, w.pass[meets]), meets = w.up[meets]) {
            std::int32_t from = to, pass = level;
            for (; from != meets && from != whole; from = w.up[from]) pass = max(pass, w.pass[from]);
            if (from != meets) continue;
            over = max(over, pass);
            break;
        }
        level = over;
    } else {
        for (std::int32_t at = own; at != whole; at = w.up[at]) level = max(level, w.pass[at]);
    }
    w.level[own] = level;
}

static __global__ void __launch_bounds__(threads_of_block) find_levels(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
         i < w.count[basins_found]; i += stride)
        find_level(w, static_cast<std::int32_t>(i));
}

}  // namespace nearfield::watersheds
