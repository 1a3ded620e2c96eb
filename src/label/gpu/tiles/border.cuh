// Unites touching parts of neighbouring tiles in device memory.
#pragma once

#include "label/gpu/tiles/bits.cuh"

namespace nearfield::labelling {

/// Work items of a block for its tile: one thread for each bundle and touch that leads out of the tile, and for each
/// bundle of the first column.
template <class Tiling>
struct border_items {
    static constexpr int words = Tiling::words, down = Tiling::down, deep = Tiling::deep;
    /// Number of bundles for which touch `t` leads to another tile above or in front: those of the first planes, then
    /// those of the first row of the remaining planes.
    NF_HD static constexpr int of(const touch& t) {
        const int front = t.dz != 0 ? words * down : 0;
        return front + (t.dy != 0 ? words * (t.dz != 0 ? deep - 1 : deep) : 0);
    }
    NF_HD static constexpr int all_touches() {
        int sum = 0;
        for (int i = 0; i < Tiling::touching::count; ++i) sum += of(Tiling::touching::get(i));
        return sum;
    }
    NF_HD static constexpr int bundle_of(const touch& t, int item) {
        const int front = t.dz != 0 ? words * down : 0;
        if (item < front) return item;
        const int z = (item - front) / words + (t.dz != 0 ? 1 : 0), y = t.dy < 0 ? 0 : down - 1;
        return (z * down + y) * words + (item - front) % words;
    }
    /// True if the item lies in the first planes.
    NF_HD static constexpr bool is_front(const touch& t, int item) { return t.dz != 0 && item < words * down; }

    /// A thread's touch and item of it; after all touches, -1 and a row of the tile, which may not exist.
    struct chosen {
        int touch, item;
    };
    [[nodiscard]] __device__ static chosen choose(int thread) {
        for (int i = 0; i < Tiling::touching::count; ++i) {
            const int many = of(Tiling::touching::get(i));
            if (thread < many) return {i, thread};
            thread -= many;
        }
        return {-1, thread};
    }
    static constexpr int count = all_touches() + down * deep;
    static constexpr int threads = (count + cuda::warp - 1) / cuda::warp * cuda::warp;
};

/// Cache of pairs of parts that a block has united, because many links join the same two. A lost entry only costs a
/// repetition; the write is atomic to satisfy racecheck.
struct pair_memory {
    static constexpr int size = 128;
    unsigned long long seen[size];
    [[nodiscard]] __device__ bool remembers(std::uint32_t a, std::uint32_t b) {
        const unsigned long long both = static_cast<unsigned long long>(a) << 32 | b;
        unsigned long long* const held = seen + ((a * 0x9e3779b1U + b * 0x85ebca6bU) >> 25);
        if (*static_cast<volatile unsigned long long*>(held) == both) return true;
        atomicExch(held, both);
        return false;
    }
};

/// Links between nodes of different tiles, collected so that every thread unites the same number. A node's number here
/// is its bundle's number among all tiles, above its rank in the bundle.
struct link_list {
    static constexpr std::uint32_t room = 768;
    static constexpr int rank_bits = 5;
    uint2 links[room];
    std::uint32_t count;
};

/// Unites the parts of linked nodes.
template <class Tiling>
struct part_uniter {
    const tile_store& from;
    pair_memory& memory;

    __device__ void clear(int threads) const {
        for (int i = static_cast<int>(threadIdx.x); i < pair_memory::size; i += threads) memory.seen[i] = 0;
    }
    [[nodiscard]] __device__ std::uint32_t node(int tile, int thread, word starts, int bit) const {
        return static_cast<std::uint32_t>(tile * Tiling::threads + thread) << link_list::rank_bits |
               static_cast<std::uint32_t>(rank_of(starts, bit));
    }
    __device__ void unite(uint2 link) const { unite_parts(part_of_node(link.x), part_of_node(link.y)); }
    /// Returns the part of a cell, in a tile that stores where nodes start.
    [[nodiscard]] __device__ std::uint32_t part_at(int tile, int thread, int bit) const {
        const std::int64_t bundle = std::int64_t{tile} * Tiling::threads + thread;
        const std::uint32_t begin = static_cast<std::uint32_t>(tile) * Tiling::nodes, before = from.before[bundle];
        return begin + from.node_part[begin + before + static_cast<std::uint32_t>(rank_of(from.starts[bundle], bit))];
    }
    __device__ void unite_parts(std::uint32_t a, std::uint32_t b) const {
        if (!memory.remembers(a, b)) part_forest{from.parts}.unite(a, b);
    }

private:
    [[nodiscard]] __device__ std::uint32_t part_of_node(std::uint32_t node) const {
        const std::uint32_t bundle = node >> link_list::rank_bits, begin = bundle / Tiling::threads * Tiling::nodes;
        return begin + from.node_part[begin + from.before[bundle] + node % (1U << link_list::rank_bits)];
    }
};

/// Unites parts of linked nodes, most of them by way of a block's list.
template <class Tiling>
struct part_joiner : part_uniter<Tiling> {
    link_list& list;

    __device__ void clear() const {
        if (threadIdx.x == 0) list.count = 0;
        part_uniter<Tiling>::clear(border_items<Tiling>::threads);
    }
    __device__ void pair(uint2 link) const {
        const std::uint32_t at = atomicAdd(&list.count, 1U);
        if (at < link_list::room) list.links[at] = link;
        else this->unite(link);
    }
    __device__ void unite_listed() const {
        for (std::uint32_t i = threadIdx.x; i < min(list.count, link_list::room); i += border_items<Tiling>::threads)
            this->unite(list.links[i]);
    }
};

/// A bundle of words in any tile, read from device memory.
template <class Tiling>
struct stored_bundle {
    const narrow_lattice& g;
    const tile_store& from;
    int tile, thread;

    /// Returns the bundle (dz, dy) bundles and dw words away, which may lie in another tile; `there`: it exists.
    [[nodiscard]] __device__ stored_bundle beside(const tile_place<Tiling>& at, int dz, int dy, int dw,
                                                  bool& there) const {
        const tile_bundle<Tiling> b(thread);
        int w = b.w + dw, y = b.y + dy, z = b.z + dz, number = tile;
        there = at.word + w >= 0 && at.word + w < g.words && at.y + y * Tiling::bundle::rows >= 0 &&
                at.y + y * Tiling::bundle::rows < g.size[1] && at.z + z * Tiling::bundle::planes >= 0;
        const int across = tile_place<Tiling>::across(g, 2), down = tile_place<Tiling>::across(g, 1);
        if (w < 0) w += Tiling::words, number -= 1;
        else if (w >= Tiling::words) w -= Tiling::words, number += 1;
        if (y < 0) y += Tiling::down, number -= across;
        else if (y >= Tiling::down) y -= Tiling::down, number += across;
        if (z < 0) z += Tiling::deep, number -= across * down;
        return {g, from, number, (z * Tiling::down + y) * Tiling::words + w};
    }
    [[nodiscard]] __device__ word rows(unsigned which) const {
        const tile_bundle<Tiling> b(thread);
        word any = 0;
#pragma unroll
        for (int r = 0; r < Tiling::bundle::count; ++r)
            if ((which >> r & 1) != 0) any |= from.cells[std::int64_t{tile} * Tiling::row_words + b.at(r)];
        return any;
    }
};

/// A bundle and its neighbours along the row.
template <class Tiling>
struct stored_row {
    stored_bundle<Tiling> west, here, east;
    bool has_west, has_here, has_east;
    static constexpr unsigned every = (1U << Tiling::bundle::count) - 1;

    __device__ stored_row(const stored_bundle<Tiling>& from, const tile_place<Tiling>& at, int dz, int dy, bool sides)
        : west(from.beside(at, dz, dy, -1, has_west)),
          here(from.beside(at, dz, dy, 0, has_here)),
          east(from.beside(at, dz, dy, 1, has_east)) {
        has_west = has_west && sides, has_east = has_east && sides;
    }
    [[nodiscard]] __device__ three_words words(unsigned which) const {
        return {has_west ? west.rows(which) : 0, here.rows(which), has_east ? east.rows(which) : 0};
    }
};

template <class Tiling>
class border_walk {
public:
    __device__ border_walk(const narrow_lattice& g, const tile_place<Tiling>& at, const tile_store& from, int thread,
                           const part_joiner<Tiling>& parts)
        : g_(g), at_(at), from_(from), b_(thread), parts_(parts) {}

    /// Unites along a touch that leads to a tile above or in front.
    __device__ void join(const touch& t) {
        if (!at_.holds(g_, b_.plane(0), b_.line(0), b_.w)) return;
        const stored_bundle<Tiling> me{g_, from_, at_.number, b_.thread};
        const stored_row<Tiling> other(me, at_, t.dz, t.dy, t.slanted);
        if (!other.has_here) return;
        const stored_row<Tiling> mine(me, at_, 0, 0, t.slanted);
        join_rows(t, mine, mine.words(stored_row<Tiling>::every), other);
    }
    /// Unites a bundle of the first column with the tile to the west.
    __device__ void join_west() {
        if (at_.word == 0 || !at_.holds(g_, b_.plane(0), b_.line(0), 0)) return;
        const stored_bundle<Tiling> me{g_, from_, at_.number, b_.thread};
        const stored_row<Tiling> mine(me, at_, 0, 0, true);
        const three_words all = mine.words(stored_row<Tiling>::every);
        const bool here = (all.here & 1) != 0, west = all.west >> 31 != 0;
        if (here && west) pair(mine.here, all.here, 0, mine.west, all.west, 31);
        if (!here && !west) return;
#pragma unroll
        for (int i = 0; i < Tiling::touching::count; ++i) {
            const touch t = Tiling::touching::get(i);
            if (t.slanted && b_.reaches(t)) join_corners(t, mine, all, stored_row<Tiling>(me, at_, t.dz, t.dy, true));
        }
    }

private:
    [[nodiscard]] __device__ std::uint32_t node(const stored_bundle<Tiling>& of, word all, int bit) const {
        return parts_.node(of.tile, of.thread, all & ~(all << 1), bit);
    }
    __device__ void pair(const stored_bundle<Tiling>& one, word all_one, int bit, const stored_bundle<Tiling>& other,
                         word all_other, int other_bit) const {
        parts_.pair({node(one, all_one, bit), node(other, all_other, other_bit)});
    }
    /// Unites everything that touches in tiles above each other.
    __device__ void join_rows(const touch& t, const stored_row<Tiling>& mine, const three_words& all,
                              const stored_row<Tiling>& other) {
        const three_words all_b = other.words(stored_row<Tiling>::every);
        const touches c = find_touches(mine.words(t.here), all, other.words(t.there), all_b.here, t.slanted);
        for (word left = first_of_each(c.same, c.on); left != 0; left &= left - 1) {
            const int x = __ffs(static_cast<int>(left)) - 1;
            pair(mine.here, all.here, x, other.here, all_b.here, x);
        }
        for (word left = c.west; left != 0; left &= left - 1) {
            const int x = __ffs(static_cast<int>(left)) - 1;
            pair(mine.here, all.here, x, x > 0 ? other.here : other.west, x > 0 ? all_b.here : all_b.west,
                 (x + 31) % 32);
        }
        for (word left = c.east; left != 0; left &= left - 1) {
            const int x = __ffs(static_cast<int>(left)) - 1;
            pair(mine.here, all.here, x, x < 31 ? other.here : other.east, x < 31 ? all_b.here : all_b.east,
                 (x + 1) % 32);
        }
    }
    /// Unites tiles side by side at their corners: cells on both sides of the corner only, because pairs that touch
    /// along a column or a row are united elsewhere.
    __device__ void join_corners(const touch& t, const stored_row<Tiling>& mine, const three_words& all,
                                 const stored_row<Tiling>& other) {
        const three_words a = mine.words(t.here), b = other.words(t.there);
        const bool a0 = (a.here & 1) != 0, a31 = a.west >> 31 != 0, b0 = (b.here & 1) != 0, b31 = b.west >> 31 != 0;
        if ((a0 && b0) || (a31 && b31)) return;
        const three_words all_b = other.words(stored_row<Tiling>::every);
        if (a0 && b31) pair(mine.here, all.here, 0, other.west, all_b.west, 31);
        if (a31 && b0) pair(mine.west, all.west, 31, other.here, all_b.here, 0);
    }

    const narrow_lattice& g_;
    const tile_place<Tiling>& at_;
    const tile_store& from_;
    tile_bundle<Tiling> b_;
    const part_joiner<Tiling>& parts_;
};

template <class Tiling>
__global__ void __launch_bounds__(border_items<Tiling>::threads, Tiling::deep > 1 ? 4 : 1)
    unite_borders(narrow_lattice g, tile_store from) {
    using items = border_items<Tiling>;
    __shared__ pair_memory memory;
    __shared__ link_list list;
    cuda::wait_for_kernel_before();
    const part_joiner<Tiling> parts{{from, memory}, list};
    parts.clear();
    __syncthreads();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const typename items::chosen mine = items::choose(static_cast<int>(threadIdx.x));
    const touch t = Tiling::touching::get(max(mine.touch, 0));
    const bool west = mine.touch < 0;
    border_walk<Tiling> walk(g, at, from, west ? mine.item * Tiling::words : items::bundle_of(t, mine.item), parts);
    if (!west) walk.join(t);
    else if (mine.item < Tiling::down * Tiling::deep) walk.join_west();
    __syncthreads();
    parts.unite_listed();
}

}  // namespace nearfield::labelling
