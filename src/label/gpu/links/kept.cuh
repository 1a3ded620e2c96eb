// Tiles solved from the links that no other links imply (gpu/links/rules.cuh).
#pragma once

#include "label/gpu/links/alike.cuh"
#include "label/gpu/links/store.cuh"
#include "label/gpu/tiles/border.cuh"
#include "label/gpu/tiles/unite.cuh"

namespace nearfield::labelling {

/// Directions in which links of a word leave its tile: up, to the front, and by its first and its last cell.
struct ways_out {
    bool up, front;
    word west, east;

    /// Returns the mask of a kind's links that leave the tile: all, or those at the ends.
    [[nodiscard]] __device__ word of(const link_kind& kind) const {
        const bool all = kind.from == link_row::here && kind.to == link_row::above   ? up
                         : kind.from == link_row::here && kind.to == link_row::front ? front
                                                                                     : up || front;
        return all ? ~word{0} : kind.by < 0 ? west : kind.by > 0 ? east : 0;
    }
};

/// A thread's word of a tile, and its last cell.
template <class Tiling>
struct kept_word {
    tile_bundle<Tiling> b;
    std::uint32_t at;
    int last;  ///< bit of the last cell
    bool held;
    __device__ kept_word(const narrow_lattice& g, const tile_place<Tiling>& tile, int thread)
        : b(thread),
          at(static_cast<std::uint32_t>(tile.number) * Tiling::threads + static_cast<std::uint32_t>(thread)),
          last(min(word_cells, g.size[2] - (tile.word + b.w) * word_cells) - 1),
          held(tile.holds(g, b.plane(0), b.line(0), b.w)) {}
    [[nodiscard]] __device__ ways_out out(const narrow_lattice& g, const tile_place<Tiling>& tile) const {
        const bool east = b.w == Tiling::words - 1 || tile.word + b.w == g.words - 1;
        return {b.y == 0, Tiling::deep == 1 || b.z == 0, b.w == 0 ? 1U : 0U, east ? 1U << last : 0U};
    }
};

/// Returns the thread of the row in which a link ends, given the thread of the word that stores it.
template <class Tiling>
__device__ int thread_of(link_row row, int thread) {
    constexpr int line = Tiling::words, plane = Tiling::words * Tiling::down;
    const bool up = row == link_row::above || row == link_row::front_above;
    const bool front = row == link_row::front || row == link_row::front_above;
    return thread - (up ? line : 0) - (front ? plane : 0);
}

/// A word's slanted links within the tile.
template <int Kinds>
struct slanted_words {
    word of[Kinds > 0 ? Kinds : 1] = {};
    bool any = false;

    /// Loads the links; the lane `line` before has the row above. Called by whole warps.
    __device__ void load(const link_store& links, std::uint32_t at, unsigned flags, const ways_out& ways, int line,
                         bool has_above) {
        if constexpr (Kinds == 0) return;
        any = (flags & (link_store::joined - 1)) != 0;
        if (!__any_sync(cuda::every_lane, any ? 1 : 0)) return;
#pragma unroll
        for (int i = 0; i < Kinds; ++i)
            if ((flags >> i & 1) != 0) of[i] = *links.of(i, at) & ~ways.of(kind_of(i));
        // A link to the cell after is implied by the row above that, if the links to the cells before exist there too.
        const word west = __shfl_up_sync(cuda::every_lane, of[0], static_cast<unsigned>(line)),
                   east = __shfl_up_sync(cuda::every_lane, of[Kinds > 1 ? 1 : 0], static_cast<unsigned>(line));
        if (has_above && static_cast<int>(threadIdx.x) % cuda::warp >= line)
            of[Kinds > 1 ? 1 : 0] &= ~(of[0] & east << 1 & west >> 1);
    }
};

/// Returns the node of cell `x` of a thread's word; x may be one before the word or behind it.
template <class Tiling>
__device__ std::uint32_t node_beside(const tile_workshop<Tiling>& s, int thread, int x) {
    return x < 0 ? s.node(thread - 1, word_cells - 1) : x >= word_cells ? s.node(thread + 1, 0) : s.node(thread, x);
}

/// Links each node of a thread to at most one earlier node, by plain stores; remaining links stay in the arguments.
template <class Tiling>
class node_hooks {
public:
    __device__ node_hooks(tile_workshop<Tiling>& s, int thread, word on, bool joined)
        : s_(s), thread_(thread), on_(on) {
        if (!joined) return;
        hang(s.before[thread], s.node(thread - 1, word_cells - 1));
        hooked_ = stretches_of(1, on);
    }
    /// Uses links to the cells `by` on in the word of thread `to`, which is before this one.
    __device__ void hang(word& links, int to, int by) {
        if ((links & ~hooked_) == 0) return;
        const word now = first_of_each(links & ~hooked_, on_);
        for (word left = now; left != 0; left &= left - 1) {
            const int x = __ffs(static_cast<int>(left)) - 1;
            hang(s_.node(thread_, x), node_beside(s_, to, x + by));
        }
        hooked_ |= stretches_of(now, on_), links &= ~now;
    }

private:
    __device__ void hang(std::uint32_t node, std::uint32_t below) const {
        s_.entry[node] = below << node_forest::half | (s_.entry[node] & node_forest::low_half);
    }
    tile_workshop<Tiling>& s_;
    int thread_;
    word on_;
    word hooked_ = 0;
};

/// Unites the nodes of a tile that has at most as many as a warp has lanes, by its first warp; the other warps list
/// their links and finish. With up to 128 nodes blocks of 5, 90 %, take longer (H200, 512^3, equal values, 2026-11-23:
/// 1.35 instead of 1.16 ms).
template <class Tiling, class Each>
__device__ void unite_few(tile_workshop<Tiling>& s, const narrow_lattice& g, const tile_place<Tiling>& at,
                          std::uint32_t nodes, const tile_store& out, std::uint32_t many, const Each& each) {
    const node_forest trees{s.entry};
    if (many != 0) {
        std::uint32_t to = atomicAdd(&s.count, many);
        each([&](std::uint32_t one, std::uint32_t other) {
            if (to < s.room) s.links[to++] = one << node_forest::half | other;
            else trees.unite(one, other);
        });
    }
    __syncthreads();
    if (threadIdx.x >= cuda::warp) return;
    for (std::uint32_t i = threadIdx.x; i < min(s.count, s.room); i += cuda::warp)
        trees.unite(s.links[i] >> node_forest::half, s.links[i] & node_forest::low_half);
    __syncwarp();
    const std::uint32_t begin = static_cast<std::uint32_t>(at.number) * Tiling::nodes;
    const auto base = static_cast<std::uint32_t>((at.row(g, 0, 0) * g.words + at.word) * word_cells);
    const std::uint32_t a = threadIdx.x;
    const bool root = a < nodes && trees.flatten(a) == a;
    const word roots = __ballot_sync(cuda::every_lane, root ? 1 : 0);
    if (root) {
        const auto number = static_cast<std::uint32_t>(__popc(roots & up_to(static_cast<int>(a)))) - 1;
        const std::uint32_t id = id_in_tile<Tiling>(g, base, s.entry[a] & node_forest::low_half);
        out.parts[begin + number] = part_of(id, begin + number);
        s.entry[a] = a << node_forest::half | number;
    }
    if (a == 0) out.counts[at.number] = static_cast<std::uint32_t>(__popc(roots));
    __syncwarp();
    if (a < nodes) out.node_part[begin + a] = static_cast<std::uint16_t>(s.entry[s.entry[a] >> node_forest::half]);
}

/// A word's links within the tile that are not united yet.
template <class Tiling>
struct links_left {
    static constexpr int kinds = kinds_of<Tiling>();
    int me;
    bool joined;  ///< the first cell is connected with the word before
    word up, front;
    slanted_words<kinds> slanted;

    /// Links the word's own nodes by plain stores, where that is possible.
    __device__ void hook(tile_workshop<Tiling>& s, word on) {
        node_hooks<Tiling> hooks(s, me, on, joined);
        joined = false;
        hooks.hang(up, me - Tiling::words, 0);
        if constexpr (Tiling::deep > 1) hooks.hang(front, me - Tiling::words * Tiling::down, 0);
        if (!slanted.any) return;
#pragma unroll
        for (int i = 0; i < kinds; ++i)
            if (kind_of(i).from == link_row::here)
                hooks.hang(slanted.of[i], thread_of<Tiling>(kind_of(i).to, me), kind_of(i).by);
    }
    [[nodiscard]] __device__ std::uint32_t count() const {
        int many = __popc(up) + __popc(front) + (joined ? 1 : 0);
        if (slanted.any)
#pragma unroll
            for (const word links : slanted.of) many += __popc(links);
        return static_cast<std::uint32_t>(many);
    }
    /// Calls take(node, node) for each link.
    template <class Take>
    __device__ void each(const tile_workshop<Tiling>& s, const Take& take) const {
        const auto take_from = [&](word left, const link_kind& kind) {
            const int from = thread_of<Tiling>(kind.from, me), to = thread_of<Tiling>(kind.to, me);
            for (; left != 0; left &= left - 1) {
                const int x = __ffs(static_cast<int>(left)) - 1;
                take(s.node(from, x), node_beside(s, to, x + kind.by));
            }
        };
        if (joined) take(s.node(me, 0), s.node(me - 1, word_cells - 1));
        take_from(up, {link_row::here, link_row::above, 0});
        if constexpr (Tiling::deep > 1) take_from(front, {link_row::here, link_row::front, 0});
        if (!slanted.any) return;
#pragma unroll
        for (int i = 0; i < kinds; ++i) take_from(slanted.of[i], kind_of(i));
    }
};

template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads)
    unite_kept_tiles(narrow_lattice g, link_store links, tile_store out, fresh_words fresh) {
    __shared__ tile_workshop<Tiling> s;
    cuda::wait_for_kernel_before();
    const int me = static_cast<int>(threadIdx.x);
    fresh.clear();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const kept_word<Tiling> mine(g, at, me);
    const tile_bundle<Tiling>& b = mine.b;
    kept_record record{};
    unsigned flags = 0;
    if (mine.held) record = links.records[mine.at], flags = links.flags[mine.at];
    const ways_out ways = mine.out(g, at);
    const bool first_plane = Tiling::deep == 1 || ways.front;
    const word starts = record.cells & ~record.on;
    s.cells[me] = s.all[me] = record.cells, s.first[me] = starts;
    if (me == 0) s.count = 0;
    std::uint32_t nodes = 0;
    const alike_word alike = find_alike(s, b, record, ways.up, first_plane, nodes);
    links_left<Tiling> left{
        me, (flags & link_store::joined) != 0 && b.w > 0, ways.up ? 0 : record.up, first_plane ? 0 : record.front, {}};
    out.cells[mine.at] = record.cells, out.starts[mine.at] = starts;
    if constexpr (Tiling::deep > 1) s.beside[0][me] = left.up;
    s.beside[Tiling::deep > 1 ? 1 : 0][me] = left.joined ? 1 : 0;
    if (alike.back == 0) plant(s, b);
    left.slanted.load(links, mine.at, flags, ways, Tiling::words, b.y > 0);
    __syncthreads();
    out.before[mine.at] = s.before[me];
    drop_alike(s, me, alike.back, left.up, left.front, left.joined);
    if (alike.back == 0) left.hook(s, record.on);
    __syncthreads();
    const auto each = [&](const auto& take) { left.each(s, take); };
    if (nodes <= cuda::warp) return unite_few(s, g, at, nodes, out, left.count(), each);
    for (std::uint32_t a = threadIdx.x; a < nodes; a += Tiling::threads) node_forest{s.entry}.flatten(a);
    __syncthreads();
    unite_listed_links(s, left.count(), each);
    put_parts(s, g, at, nodes, out);
}

/// Links that leave a tile, or wrap round the image, collected so that every thread unites the same number. A link is
/// named by the thread that stores its word, its kind and the bit.
struct border_list {
    static constexpr std::uint32_t room = 1024;
    static constexpr int up = link_kinds, front = link_kinds + 1, before = link_kinds + 2;  ///< kinds of straight links
    static constexpr int bit_bits = 5, kind_bits = 4;
    std::uint16_t items[room];
    std::uint32_t count;
};

template <class Tiling>
class kept_border {
public:
    __device__ kept_border(const narrow_lattice& g, const tile_place<Tiling>& at, const part_uniter<Tiling>& parts,
                           border_list& list)
        : g_(g), at_(at), parts_(parts), list_(list) {}

    __device__ void collect(const kept_word<Tiling>& mine, const link_store& links) const {
        constexpr int kinds = kinds_of<Tiling>();
        if (!mine.held) return;
        const ways_out ways = mine.out(g_, at_);
        const bool straight = ways.up || (Tiling::deep > 1 && ways.front);
        const unsigned flags = links.flags[mine.at];
        const kept_record record = straight ? links.records[mine.at] : kept_record{};
        word slanted[kinds > 0 ? kinds : 1] = {};  // all are loaded before one is used
#pragma unroll
        for (int i = 0; i < kinds; ++i) {
            const word out = ways.of(kind_of(i));
            if ((flags >> i & 1) != 0 && out != 0) slanted[i] = *links.of(i, mine.at) & out;
        }
        if ((flags & link_store::joined) != 0 && mine.b.w == 0) put(mine, border_list::before, 1);
        if (ways.up) put(mine, border_list::up, record.up);
        if (Tiling::deep > 1 && ways.front) put(mine, border_list::front, record.front);
        if ((flags & (link_store::joined - 1)) == 0) return;
#pragma unroll
        for (int i = 0; i < kinds; ++i) put(mine, i, slanted[i]);
    }
    __device__ void unite_listed() const {
        for (std::uint32_t i = threadIdx.x; i < min(list_.count, border_list::room); i += Tiling::threads)
            unite(list_.items[i]);
    }

private:
    struct cell {
        int z, y, w, x;  ///< plane, row, word, bit
    };
    [[nodiscard]] __device__ int last_bit(int w) const { return min(word_cells, g_.size[2] - w * word_cells) - 1; }
    __device__ void put(const kept_word<Tiling>& mine, int kind, word left) const {
        if (left == 0) return;
        std::uint32_t to = atomicAdd(&list_.count, static_cast<std::uint32_t>(__popc(left)));
        for (; left != 0; left &= left - 1, ++to) {
            const int item = (mine.b.thread << border_list::kind_bits | kind) << border_list::bit_bits |
                             (__ffs(static_cast<int>(left)) - 1);
            if (to < border_list::room) list_.items[to] = static_cast<std::uint16_t>(item);
            else unite(static_cast<std::uint32_t>(item));
        }
    }
    __device__ void unite(std::uint32_t item) const {
        const tile_bundle<Tiling> b(static_cast<int>(item >> (border_list::bit_bits + border_list::kind_bits)));
        const int number = static_cast<int>(item >> border_list::bit_bits & ((1U << border_list::kind_bits) - 1));
        const cell here{at_.z + b.plane(0), at_.y + b.line(0), at_.word + b.w,
                        static_cast<int>(item & ((1U << border_list::bit_bits) - 1))};
        const link_kind kind = number < link_kinds            ? kind_of(number)
                               : number == border_list::up    ? link_kind{link_row::here, link_row::above, 0}
                               : number == border_list::front ? link_kind{link_row::here, link_row::front, 0}
                                                              : link_kind{link_row::here, link_row::here, -1};
        const cell from = in_row(here, kind.from);
        cell to = in_row(here, kind.to);
        to.x += kind.by;
        if (to.x < 0) {
            to.w = (to.w > 0 ? to.w : g_.words) - 1, to.x = last_bit(to.w);
        } else if (to.x > last_bit(to.w)) {
            to.w = to.w + 1 < g_.words ? to.w + 1 : 0, to.x = 0;
        }
        parts_.unite_parts(part_at(from), part_at(to));
    }
    [[nodiscard]] __device__ cell in_row(const cell& c, link_row row) const {
        const bool up = row == link_row::above || row == link_row::front_above;
        const bool front = row == link_row::front || row == link_row::front_above;
        return {front ? neighbour(g_, 0, c.z, -1) : c.z, up ? neighbour(g_, 1, c.y, -1) : c.y, c.w, c.x};
    }
    [[nodiscard]] __device__ std::uint32_t part_at(const cell& c) const {
        using place = tile_place<Tiling>;
        const auto z = static_cast<unsigned>(c.z), y = static_cast<unsigned>(c.y), w = static_cast<unsigned>(c.w);
        const int plane = at_.image * place::across(g_, 0) + static_cast<int>(z / Tiling::planes);
        const int tile = (plane * place::across(g_, 1) + static_cast<int>(y / Tiling::rows)) * place::across(g_, 2) +
                         static_cast<int>(w / Tiling::words);
        const auto thread = static_cast<int>((z % Tiling::planes * Tiling::down + y % Tiling::rows) * Tiling::words +
                                             w % Tiling::words);
        return parts_.part_at(tile, thread, c.x);
    }

    const narrow_lattice& g_;
    const tile_place<Tiling>& at_;
    const part_uniter<Tiling>& parts_;
    border_list& list_;
};

template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads)
    unite_kept_borders(narrow_lattice g, link_store links, tile_store from) {
    static_assert(Tiling::threads <= 1 << (16 - border_list::bit_bits - border_list::kind_bits));
    __shared__ pair_memory memory;
    __shared__ border_list list;
    cuda::wait_for_kernel_before();
    const part_uniter<Tiling> parts{from, memory};
    parts.clear(Tiling::threads);
    if (threadIdx.x == 0) list.count = 0;
    __syncthreads();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const kept_border<Tiling> border(g, at, parts, list);
    border.collect({g, at, static_cast<int>(threadIdx.x)}, links);
    __syncthreads();
    border.unite_listed();
}

}  // namespace nearfield::labelling
