// Tiles of which the links are known that others do not say already (cuda_link_rules.cuh).
#pragma once

#include "label/cuda_link_store.cuh"
#include "label/cuda_tile_border.cuh"
#include "label/cuda_tile_unite.cuh"

namespace nearfield::labelling {

/// Whether links of a word lead out of its tile: up, to the front, and by its first and its last cell.
struct ways_out {
    bool up, front;
    word west, east;

    /// Of links between rows: all, or those of the ends.
    [[nodiscard]] __device__ word of(const link_kind& kind) const {
        const bool all = kind.from == link_row::here && kind.to == link_row::above   ? up
                         : kind.from == link_row::here && kind.to == link_row::front ? front
                                                                                     : up || front;
        return all ? ~word{0} : kind.by < 0 ? west : kind.by > 0 ? east : 0;
    }
};

/// A thread's word of a tile, and where it ends.
template <class Tiling>
struct kept_word {
    tile_bundle<Tiling> b;
    std::uint32_t at;
    int last;  ///< bit of the last cell
    bool held;
    __device__ kept_word(const narrow_lattice& g, const tile_place<Tiling>& tile)
        : b(static_cast<int>(threadIdx.x)),
          at(static_cast<std::uint32_t>(tile.number) * Tiling::threads + threadIdx.x),
          last(min(word_cells, g.size[2] - (tile.word + b.w) * word_cells) - 1),
          held(tile.holds(g, b.plane(0), b.line(0), b.w)) {}
    [[nodiscard]] __device__ ways_out out(const narrow_lattice& g, const tile_place<Tiling>& tile) const {
        const bool east = b.w == Tiling::words - 1 || tile.word + b.w == g.words - 1;
        return {b.y == 0, Tiling::deep == 1 || b.z == 0, b.w == 0 ? 1U : 0U, east ? 1U << last : 0U};
    }
};

/// The thread of the row that a link ends in, from the one whose word has it.
template <class Tiling>
__device__ int thread_of(link_row row, int thread) {
    constexpr int line = Tiling::words, plane = Tiling::words * Tiling::down;
    const bool up = row == link_row::above || row == link_row::front_above;
    const bool front = row == link_row::front || row == link_row::front_above;
    return thread - (up ? line : 0) - (front ? plane : 0);
}

template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads)
    unite_kept_tiles(narrow_lattice g, link_store links, tile_store out, fresh_words fresh) {
    constexpr int kinds = kinds_of<Tiling>();
    __shared__ tile_workshop<Tiling> s;
    cuda::wait_for_kernel_before();
    const int me = static_cast<int>(threadIdx.x);
    fresh.clear();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const kept_word<Tiling> mine(g, at);
    const tile_bundle<Tiling>& b = mine.b;
    kept_record record{};
    unsigned flags = 0;
    if (mine.held) record = links.records[mine.at], flags = links.flags[mine.at];
    const ways_out ways = mine.out(g, at);
    const word starts = record.cells & ~record.on;
    s.cells[me] = s.all[me] = record.cells, s.first[me] = starts;
    std::uint32_t nodes = 0;
    s.before[me] = static_cast<std::uint16_t>(sum_before(static_cast<std::uint32_t>(__popc(starts)), s.held, nodes));
    out.cells[mine.at] = record.cells, out.starts[mine.at] = starts, out.before[mine.at] = s.before[me];
    plant(s, b);
    __syncthreads();
    touches found[Tiling::touching::count];
#pragma unroll
    for (touches& t : found) t = {0, 0, 0, 0};
    if (!ways.up) found[0].same = record.up;
    if (Tiling::deep > 1 && !ways.front) found[Tiling::deep > 1 ? 1 : 0].same = record.front;
    const auto slanted = [&](int i) {
        return (flags >> i & 1) != 0 ? *links.of(i, mine.at) & ~ways.of(kind_of(i)) : 0;
    };
    constexpr int there = 4;  // straight to the row in front of that above, to which nodes hook as well
    if constexpr (kinds > there) found[2].same = slanted(there);
    hook(s, b, found, record.on, (flags & link_store::joined) != 0 && b.w > 0);
    __syncthreads();
    for (std::uint32_t a = threadIdx.x; a < nodes; a += Tiling::threads) node_forest{s.entry}.flatten(a);
    __syncthreads();
    std::uint32_t many = 0;
#pragma unroll
    for (const touches& t : found) many += static_cast<std::uint32_t>(__popc(t.same));
    flags &= link_store::joined - 1;
    if constexpr (kinds > there) flags &= ~(1U << there);
    if (flags != 0)
#pragma unroll
        for (int i = 0; i < kinds; ++i) many += static_cast<std::uint32_t>(__popc(slanted(i)));
    unite_listed_links(s, many, [&](const auto& take) {
        const auto take_from = [&](word left, const link_kind& kind) {
            const int from = thread_of<Tiling>(kind.from, me), to = thread_of<Tiling>(kind.to, me);
            for (; left != 0; left &= left - 1) {
                const int x = __ffs(static_cast<int>(left)) - 1, end = x + kind.by;
                take(s.node(from, x), end < 0 ? s.node(to - 1, 31) : end > 31 ? s.node(to + 1, 0) : s.node(to, end));
            }
        };
        take_from(found[0].same, {link_row::here, link_row::above, 0});
        if constexpr (Tiling::deep > 1) take_from(found[1].same, {link_row::here, link_row::front, 0});
        if constexpr (kinds > there) take_from(found[2].same, kind_of(there));
        if (flags == 0) return;
#pragma unroll
        for (int i = 0; i < kinds; ++i) take_from(slanted(i), kind_of(i));
    });
    put_parts(s, g, at, nodes, out);
}

/// Links that lead out of a tile, or round the image, collected so that every thread unites as many. A link is named by a thread
/// whose word has it, its kind and the bit.
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
        if (!mine.held) return;
        const unsigned flags = links.flags[mine.at];
        const ways_out ways = mine.out(g_, at_);
        if ((flags & link_store::joined) != 0 && mine.b.w == 0) put(mine, border_list::before, 1);
        if (ways.up || (Tiling::deep > 1 && ways.front)) {
            const kept_record record = links.records[mine.at];
            if (ways.up) put(mine, border_list::up, record.up);
            if (Tiling::deep > 1 && ways.front) put(mine, border_list::front, record.front);
        }
        for (unsigned left = flags & (link_store::joined - 1); left != 0; left &= left - 1) {
            const int i = __ffs(static_cast<int>(left)) - 1;
            const word out = ways.of(kind_of(i));
            if (out != 0) put(mine, i, *links.of(i, mine.at) & out);
        }
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
        parts_.unite({node(from), node(to)});
    }
    [[nodiscard]] __device__ cell in_row(const cell& c, link_row row) const {
        const bool up = row == link_row::above || row == link_row::front_above;
        const bool front = row == link_row::front || row == link_row::front_above;
        return {front ? neighbour(g_, 0, c.z, -1) : c.z, up ? neighbour(g_, 1, c.y, -1) : c.y, c.w, c.x};
    }
    [[nodiscard]] __device__ std::uint32_t node(const cell& c) const {
        using place = tile_place<Tiling>;
        const auto z = static_cast<unsigned>(c.z), y = static_cast<unsigned>(c.y), w = static_cast<unsigned>(c.w);
        const int plane = at_.image * place::across(g_, 0) + static_cast<int>(z / Tiling::planes);
        const int tile = (plane * place::across(g_, 1) + static_cast<int>(y / Tiling::rows)) * place::across(g_, 2) +
                         static_cast<int>(w / Tiling::words);
        const auto thread = static_cast<int>((z % Tiling::planes * Tiling::down + y % Tiling::rows) * Tiling::words +
                                             w % Tiling::words);
        return parts_.node(tile, thread, parts_.from.starts[std::int64_t{tile} * Tiling::threads + thread], c.x);
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
    border.collect({g, at}, links);
    __syncthreads();
    border.unite_listed();
}

}  // namespace nearfield::labelling
