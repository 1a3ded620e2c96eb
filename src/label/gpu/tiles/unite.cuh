// Labels each tile independently.
//
// Every node first links to one earlier node that it touches, by a plain store. Threads then flatten these trees, which
// may be as high as the tile, and shorten each other's paths. Only further links of a node need atomics, on trees of
// depth one.
#pragma once

#include "label/gpu/tiles/bits.cuh"

namespace nearfield::labelling {

/// Shared memory of a block that labels its tile.
template <class Tiling>
struct tile_workshop {
    static constexpr std::uint32_t room = Tiling::nodes / (Tiling::deep > 1 ? 2 : 4);
    word cells[Tiling::row_words];
    word all[Tiling::threads];
    word beside[Tiling::deep > 1 ? 2 : 1]
               [Tiling::threads];  ///< columns in which a bundle touches the one above, and the one in front
    std::uint32_t entry[Tiling::nodes];
    std::uint32_t links[room];                         ///< pairs of nodes, in halves, that are not united yet
    word first[Tiling::valued ? Tiling::threads : 1];  ///< for values: where nodes start
    std::uint16_t before[Tiling::threads];
    std::uint32_t held[Tiling::threads / cuda::warp];
    std::uint32_t count;  ///< number of links, if any thread may list some

    [[nodiscard]] __device__ word starts(int thread) const {
        return Tiling::valued ? first[thread] : all[thread] & ~(all[thread] << 1);
    }
    [[nodiscard]] __device__ std::uint32_t node(int thread, int bit) const {
        return before[thread] + static_cast<std::uint32_t>(rank_of(starts(thread), bit));
    }
};

/// Returns the columns of `t` in which other touches imply this one, through bundles that touch both. Number the bundle
/// above 1, the one in front 2, those in front and above or below 3 and 4. Then 2 is implied by 1, the 2 of the one
/// above, and the 1 of the one in front; 3 and 4 by 1 and 2. So no two imply each other.
template <class Tiling>
__device__ word implied(const tile_workshop<Tiling>& s, const tile_bundle<Tiling>& b, const touch& t) {
    constexpr int line = Tiling::words, plane = Tiling::words * Tiling::down;
    const int me = b.thread;
    const word up = s.beside[0][me], front = s.beside[1][me];
    if (t.dy == 0) return b.y == 0 ? 0 : up & s.beside[1][me - line] & s.beside[0][me - plane];
    if (t.dy < 0) return (up & s.beside[1][me - line]) | (front & s.beside[0][me - plane]);
    return (front & s.beside[0][me - plane + line]) | (s.beside[0][me + line] & s.beside[1][me + line]);
}

/// Returns the touches of a thread's bundle with an earlier one, at most one for every two nodes.
template <class Tiling>
__device__ touches needed(const tile_workshop<Tiling>& s, const tile_bundle<Tiling>& b, const touch& t, touches c) {
    if constexpr (Tiling::deep > 1)
        if (t.dz < 0 && b.reaches(t)) c.same &= ~stretches_of(c.same & implied(s, b, t), c.on);
    c.same = first_of_each(c.same, c.on);
    return c;
}

/// Returns the first cell of a node in raster order, as a number within the tile; `node` are its columns.
template <class Tiling>
__device__ std::uint32_t first_cell(const tile_workshop<Tiling>& s, const tile_bundle<Tiling>& b, word node) {
    std::uint32_t first = 0;
#pragma unroll
    for (int r = Tiling::bundle::count - 1; r >= 0; --r) {
        const word cells = s.cells[b.at(r)] & node;
        if (cells != 0) first = static_cast<std::uint32_t>(b.at(r) * word_cells + __ffs(static_cast<int>(cells)) - 1);
    }
    return first;
}

template <class Tiling>
__device__ void plant(tile_workshop<Tiling>& s, const tile_bundle<Tiling>& b) {
    const word mine = s.all[b.thread];
    std::uint32_t node = s.before[b.thread];
    for (word left = s.starts(b.thread); left != 0; left &= left - 1, ++node)
        node_forest{s.entry}.plant(node, node, first_cell(s, b, mine & ~(mine + (left & -left))));
}

/// Links each of the thread's nodes to at most one earlier node; the touches that remain stay in `found`. `on` are the
/// cells that continue a node; `joined` says whether the first cell is connected with the word before.
template <class Tiling>
__device__ void hook(tile_workshop<Tiling>& s, const tile_bundle<Tiling>& b, touches* found, word on, bool joined) {
    const int me = b.thread;
    const auto hang = [&](std::uint32_t a, std::uint32_t below) {
        s.entry[a] = below << node_forest::half | (s.entry[a] & node_forest::low_half);
    };
    word hooked = 0;
    if (joined) {
        hang(s.before[me], s.node(me - 1, 31));
        hooked = stretches_of(1, on);
    }
#pragma unroll
    for (int i = 0; i < Tiling::touching::count; ++i) {
        const int other = b.other(Tiling::touching::get(i));
        const word now = first_of_each(found[i].same & ~hooked, on);
        for (word rest = now; rest != 0; rest &= rest - 1) {
            const int x = __ffs(static_cast<int>(rest)) - 1;
            hang(s.node(me, x), s.node(other, x));
        }
        hooked |= stretches_of(now, on);
        found[i].same &= ~now;
    }
}

/// Extracts up to `many` links from the touches: calls take(node here, node there) for each.
template <class Tiling, class Take>
__device__ void take_links(const tile_workshop<Tiling>& s, const tile_bundle<Tiling>& b, touches* found,
                           std::uint32_t many, const Take& take) {
    const int me = b.thread;
    const auto take_from = [&](word& rest, const auto& there) {
        for (; rest != 0 && many > 0; rest &= rest - 1, --many) {
            const int x = __ffs(static_cast<int>(rest)) - 1;
            take(s.node(me, x), there(x));
        }
    };
#pragma unroll
    for (int i = 0; i < Tiling::touching::count; ++i) {
        const touch t = Tiling::touching::get(i);
        const int other = b.other(t);
        take_from(found[i].same, [&](int x) { return s.node(other, x); });
        if (!t.slanted) continue;
        take_from(found[i].west, [&](int x) { return x > 0 ? s.node(other, x - 1) : s.node(other - 1, 31); });
        take_from(found[i].east, [&](int x) { return x < 31 ? s.node(other, x + 1) : s.node(other + 1, 0); });
    }
}

/// Unites linked nodes; this thread has `mine` links. Words have very different numbers of links, so a list gives every
/// thread the same number. Links that do not fit are handled in further rounds: each(take) calls take(node, node) for
/// all links of the thread, always in the same order. Synchronises.
template <class Tiling, class Each>
__device__ void unite_listed_links(tile_workshop<Tiling>& s, std::uint32_t mine, const Each& each) {
    const node_forest trees{s.entry};
    std::uint32_t all = 0;
    constexpr std::uint32_t room = tile_workshop<Tiling>::room;
    const std::uint32_t begin = cuda::sum_before(mine, s.held, all);
    for (std::uint32_t first = 0; first < all; first += room) {
        std::uint32_t at = begin;
        if (begin < first + room && begin + mine > first)
            each([&](std::uint32_t one, std::uint32_t other) {
                if (at - first < room) s.links[at - first] = one << node_forest::half | other;
                ++at;
            });
        __syncthreads();
        for (std::uint32_t i = threadIdx.x; i < min(all - first, room); i += Tiling::threads)
            trees.unite(s.links[i] >> node_forest::half, s.links[i] & node_forest::low_half);
        __syncthreads();
    }
}

/// Unites linked nodes. Words have very different numbers of links, so a list gives every thread the same number. Links
/// that do not fit are handled in further rounds. Synchronises.
template <class Tiling>
__device__ void unite_links(tile_workshop<Tiling>& s, const tile_bundle<Tiling>& b, touches* found) {
    const node_forest trees{s.entry};
    std::uint32_t mine = 0, all = 0;
#pragma unroll
    for (int i = 0; i < Tiling::touching::count; ++i)
        mine += static_cast<std::uint32_t>(__popc(found[i].same) + __popc(found[i].west) + __popc(found[i].east));
    constexpr std::uint32_t room = tile_workshop<Tiling>::room;
    std::uint32_t at = cuda::sum_before(mine, s.held, all);
    for (std::uint32_t first = 0; first < all; first += room) {
        if (at < first + room)
            take_links(s, b, found, first + room - at, [&](std::uint32_t one, std::uint32_t other) {
                s.links[at++ - first] = one << node_forest::half | other;
            });
        __syncthreads();
        for (std::uint32_t i = threadIdx.x; i < min(all - first, room); i += Tiling::threads)
            trees.unite(s.links[i] >> node_forest::half, s.links[i] & node_forest::low_half);
        __syncthreads();
    }
}

/// Returns the id of a cell from its number within the tile; `base` is the id of the tile's first cell.
template <class Tiling>
__device__ std::uint32_t id_in_tile(const narrow_lattice& g, std::uint32_t base, std::uint32_t cell) {
    const std::uint32_t x = cell % Tiling::columns, row = cell / Tiling::columns;
    const std::uint32_t lines = row / Tiling::rows * g.size[1] + row % Tiling::rows;
    return base + lines * static_cast<std::uint32_t>(g.words * word_cells) + x;
}

/// Numbers the tile's roots as its parts in the order of nodes, so that neighbouring threads have components with
/// neighbouring first cells, numbers and table rows. Writes the parts' trees and each node's part to device memory.
template <class Tiling>
__device__ void put_parts(tile_workshop<Tiling>& s, const narrow_lattice& g, const tile_place<Tiling>& at,
                          std::uint32_t nodes, const tile_store& out) {
    const node_forest trees{s.entry};
    const std::uint32_t lane = threadIdx.x % cuda::warp, turns = (nodes + Tiling::threads - 1) / Tiling::threads;
    const std::uint32_t mine = threadIdx.x / cuda::warp * turns * cuda::warp + lane;  // a warp has neighbouring nodes
    std::uint32_t roots = 0, count = 0;
    for (std::uint32_t turn = 0, a = mine; turn < turns && a < nodes; ++turn, a += cuda::warp) {
        const std::uint32_t root = trees.flatten(a), first = trees.read(a) & node_forest::low_half;
        roots += root == a ? 1 : 0;
        // Nodes of rows that share them are numbered by columns, so that a later node may have an earlier cell.
        if (Tiling::bundle::count > 1 && root != a && first < (trees.read(root) & node_forest::low_half))
            atomicMin(s.entry + root, root << node_forest::half | first);
    }
    std::uint32_t number = __shfl_sync(cuda::every_lane, cuda::sum_before(roots, s.held, count), 0);
    const std::uint32_t begin = static_cast<std::uint32_t>(at.number) * Tiling::nodes;
    const auto base = static_cast<std::uint32_t>((at.row(g, 0, 0) * g.words + at.word) * word_cells);
    for (std::uint32_t turn = 0, a = mine; turn < turns; ++turn, a += cuda::warp) {
        const std::uint32_t entry = a < nodes ? s.entry[a] : 0;
        const bool is_root = a < nodes && entry >> node_forest::half == a;
        const unsigned all = __ballot_sync(cuda::every_lane, is_root ? 1 : 0);
        if (is_root) {
            const std::uint32_t id = id_in_tile<Tiling>(g, base, entry & node_forest::low_half);
            const std::uint32_t place = number + static_cast<std::uint32_t>(__popc(all & ((1U << lane) - 1)));
            out.parts[begin + place] = part_of(id, begin + place);
            s.entry[a] = a << node_forest::half | place;
        }
        number += static_cast<std::uint32_t>(__popc(all));
    }
    if (threadIdx.x == 0) out.counts[at.number] = count;
    __syncthreads();
    for (std::uint32_t a = threadIdx.x; a < nodes; a += Tiling::threads)
        out.node_part[begin + a] = static_cast<std::uint16_t>(s.entry[s.entry[a] >> node_forest::half]);
}

/// The common steps for bits and values, once the connected cells are known.
template <class Tiling>
__device__ void unite_found(tile_workshop<Tiling>& s, const narrow_lattice& g, const tile_place<Tiling>& at,
                            const tile_bundle<Tiling>& b, const tile_store& out, touches* found, word on, bool joined) {
    const int me = b.thread;
    std::uint32_t nodes = 0;
    s.before[me] =
        static_cast<std::uint16_t>(cuda::sum_before(static_cast<std::uint32_t>(__popc(s.starts(me))), s.held, nodes));
    for (int i = me; i < Tiling::row_words; i += Tiling::threads)
        out.cells[std::int64_t{at.number} * Tiling::row_words + i] = s.cells[i];
    out.before[std::int64_t{at.number} * Tiling::threads + me] = s.before[me];
    if constexpr (Tiling::deep > 1) s.beside[0][me] = found[0].same, s.beside[1][me] = found[1].same;
    plant(s, b);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tiling::touching::count; ++i) found[i] = needed(s, b, Tiling::touching::get(i), found[i]);
    hook(s, b, found, on, joined);
    __syncthreads();
    for (std::uint32_t a = threadIdx.x; a < nodes; a += Tiling::threads) node_forest{s.entry}.flatten(a);
    __syncthreads();
    unite_links(s, b, found);
    put_parts(s, g, at, nodes, out);
}

template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads, Tiling::resident)
    unite_tiles(narrow_lattice g, bit_source from, tile_store out, fresh_words fresh) {
    alignas(16) __shared__ tile_workshop<Tiling> s;
    cuda::wait_for_kernel_before();
    const int me = static_cast<int>(threadIdx.x);
    fresh.clear();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const tile_bundle<Tiling> b(me);
    const tile_words<Tiling> words{s.cells, s.all};
    if (from.bytes != nullptr) pack_tile(g, at, from.bytes, s.cells);
    else copy_tile(g, at, from.words, s.cells);
    __syncthreads();
    s.all[me] = words.rows(b, (1U << Tiling::bundle::count) - 1, 0);
    __syncthreads();
    touches found[Tiling::touching::count];
#pragma unroll
    for (int i = 0; i < Tiling::touching::count; ++i) found[i] = words.find(b, Tiling::touching::get(i));
    const word mine = s.all[me];
    unite_found(s, g, at, b, out, found, mine & mine << 1, (mine & 1) != 0 && words.any(b, -1) >> 31 != 0);
}

}  // namespace nearfield::labelling
