// Links of bytes that lie one behind the other: 32 of them become planes, a word for each bit, which are compared 32 at a time.
// Straight links of all words come first; of slanted ones those that they leave open (cuda_link_rules.cuh).
#pragma once

#include "label/cuda_link_rules.cuh"

namespace nearfield::labelling {

/// A word for each bit of 32 bytes.
struct byte_planes {
    static constexpr int count = 8;
    word of[count];
};

/// Four words whose bytes are exchanged with their places: byte i of word k becomes byte k of word i.
__device__ inline void exchange_bytes(word* w) {
    const word a = __byte_perm(w[0], w[1], 0x5140), b = __byte_perm(w[2], w[3], 0x5140),
               c = __byte_perm(w[0], w[1], 0x7362), d = __byte_perm(w[2], w[3], 0x7362);
    w[0] = __byte_perm(a, b, 0x5410), w[1] = __byte_perm(a, b, 0x7632);
    w[2] = __byte_perm(c, d, 0x5410), w[3] = __byte_perm(c, d, 0x7632);
}

/// Squares of 8 by 8 bits are turned over first: pairs of bits, of pairs and of fours change places (Warren, "Hacker's Delight",
/// 7-3); then the bytes, so that each plane has one of every square.
__device__ inline byte_planes take_apart(const uint4& first, const uint4& second) {
    const word bytes[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
    byte_planes planes;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        word half[2] = {bytes[2 * k], bytes[2 * k + 1]};
#pragma unroll
        for (word& h : half) {
            word t = (h ^ h >> 7) & 0x00aa00aaU;
            h ^= t ^ t << 7;
            t = (h ^ h >> 14) & 0x0000ccccU;
            h ^= t ^ t << 14;
        }
        const word t = (half[0] ^ half[1] << 4) & 0xf0f0f0f0U;
        planes.of[k] = half[0] ^ t, planes.of[4 + k] = half[1] ^ t >> 4;
    }
    exchange_bytes(planes.of), exchange_bytes(planes.of + 4);
    return planes;
}

/// Words of the bytes that are not alike, bit after bit from the lowest on.
struct unequal_words {
    word any = 0;
    __device__ void step(word a, word b, word, word) { any |= a ^ b; }
    __device__ void finish(word) {}
    [[nodiscard]] __device__ word differ() const { return any; }
    static constexpr bool transitive = true;
    [[nodiscard]] __device__ static bool alike(std::uint32_t a, std::uint32_t b, std::uint32_t) { return a == b; }
};
/// |a - b| > t: a - b + t lies beyond 0 to 2 t. `t` and `twice` are the same bit of t and of 2 t, in all places.
struct distant_words {
    word borrow = 0, carry = 0, above = 0;
    __device__ void step(word a, word b, word t, word twice) {
        const word d = a ^ b ^ borrow;
        borrow = (~a & (b | borrow)) | (b & borrow);
        const word e = d ^ t ^ carry;
        carry = (d & t) | (carry & (d ^ t));
        above = (e & ~twice) | (above & ~(e ^ twice));
    }
    /// Of two bits more, for the carries; `twice` is the first one of 2 t.
    __device__ void finish(word twice) { step(0, 0, 0, twice), step(0, 0, 0, 0); }
    [[nodiscard]] __device__ word differ() const { return above; }
    static constexpr bool transitive = false;
    [[nodiscard]] __device__ static bool alike(std::uint32_t a, std::uint32_t b, std::uint32_t t) {
        return a - b + t <= 2 * t;
    }
};

/// Bytes in C order that can be read 16 at a time, as natural numbers by `flip`.
struct byte_source {
    const std::uint8_t* data;
    bool has_background;
    std::uint8_t background, flip;
    std::uint32_t tolerance;

    [[nodiscard]] __device__ std::uint32_t byte(std::int64_t at) const { return data[at] ^ flip; }
    [[nodiscard]] __device__ word foreground(const byte_planes& p) const {
        word differs = 0;
#pragma unroll
        for (int i = 0; i < byte_planes::count; ++i) differs |= p.of[i] ^ (word{0} - (background >> i & 1U));
        return has_background ? differs : ~word{0};
    }
    [[nodiscard]] __device__ bool foreground(std::uint32_t byte) const { return !has_background || byte != background; }
};

/// What lies beside a word: the bytes before and after it, its own first and last, a byte each; and whether those before and after
/// are foreground, and hang together with it.
struct byte_sides {
    std::uint32_t bytes, marks;
    static constexpr std::uint32_t west_set = 1, east_set = 2, next = 4;
    [[nodiscard]] __device__ std::uint32_t west() const { return bytes & 255; }
    [[nodiscard]] __device__ std::uint32_t east() const { return bytes >> 8 & 255; }
    [[nodiscard]] __device__ std::uint32_t first() const { return bytes >> 16 & 255; }
    [[nodiscard]] __device__ std::uint32_t last() const { return bytes >> 24; }
};

/// A row's word as a thread has it.
struct byte_row {
    byte_planes planes{};
    word set = 0, on = 0, same = 0;
    byte_sides sides{};

    template <class Relation>
    [[nodiscard]] __device__ row_links links(int last) const {
        const word next = on >> 1 | (sides.marks >> 2 & 1U) << last;
        return {set,
                set << 1 | (sides.marks & byte_sides::west_set),
                set >> 1 | (sides.marks >> 1 & 1U) << last,
                on,
                next,
                Relation::transitive ? on : same,
                Relation::transitive ? next : same >> 1};
    }
};

/// Cells of `a` that are like those of `b` `By` cells on, whether or not they are foreground.
template <class Relation, int By>
__device__ word alike_cells(const byte_source& from, const byte_planes& a, const byte_sides& of_a, const byte_planes& b,
                            const byte_sides& of_b, int last) {
    Relation r;
#pragma unroll
    for (int p = 0; p < byte_planes::count; ++p) {
        const word t = word{0} - (from.tolerance >> p & 1U), twice = word{0} - (2 * from.tolerance >> p & 1U);
        r.step(a.of[p], By < 0 ? b.of[p] << 1 : By > 0 ? b.of[p] >> 1 : b.of[p], t, twice);
    }
    r.finish(word{0} - (2 * from.tolerance >> byte_planes::count & 1U));
    const word alike = ~r.differ();
    if (By < 0) return (alike & ~1U) | (Relation::alike(of_a.first(), of_b.west(), from.tolerance) ? 1U : 0U);
    if (By > 0)
        return (alike & ~(1U << last)) | (Relation::alike(of_a.last(), of_b.east(), from.tolerance) ? 1U << last : 0U);
    return alike;
}

/// How blocks are laid over an image: strips of words, a row to a thread, that go from plane to plane.
struct byte_strips {
    static constexpr int own = 256, threads = own + cuda::warp, planes = 16;
    int words;  ///< of a strip, as a logarithm, at most 5; a block has as many threads for the row above
    int across, down, deep;

    static byte_strips make(const narrow_lattice& g) {
        byte_strips s{0, 0, 0, 0};
        while (s.words < 4 && 1 << s.words < g.words) ++s.words;
        const auto in = [](int n, int of) { return (n + of - 1) / of; };
        s.across = in(g.words, 1 << s.words), s.down = in(g.size[1], own >> s.words), s.deep = in(g.size[0], planes);
        return s;
    }
    [[nodiscard]] std::int64_t blocks(const narrow_lattice& g) const {
        return std::int64_t{g.images} * across * down * deep;
    }
};

/// On a multiprocessor: with four 56 registers do not hold a thread's words (H200, 512^3, equal values, g = 8, 2026-11-22: 0.758
/// instead of 0.734 ms for a call).
constexpr int link_blocks = 3;

/// Rows of a plane: of this one and of the one in front.
struct byte_stage {
    uint4 low[byte_strips::threads], high[byte_strips::threads];
    word set[byte_strips::threads], on[byte_strips::threads], front[byte_strips::threads];
    word same[byte_strips::threads], same_front[byte_strips::threads];
    byte_sides sides[byte_strips::threads];

    __device__ void put(int at, const byte_row& r) {
        low[at] = {r.planes.of[0], r.planes.of[1], r.planes.of[2], r.planes.of[3]};
        high[at] = {r.planes.of[4], r.planes.of[5], r.planes.of[6], r.planes.of[7]};
        set[at] = r.set, on[at] = r.on, same[at] = r.same, sides[at] = r.sides;
    }
    [[nodiscard]] __device__ byte_planes planes(int at) const {
        const uint4 a = low[at], b = high[at];
        return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
    }
    [[nodiscard]] __device__ byte_row row(int at) const { return {planes(at), set[at], on[at], same[at], sides[at]}; }
};

/// A word's bytes as they come.
struct loaded_bytes {
    uint4 low{}, high{};
    std::uint32_t west = 0, east = 0;
    bool there = false;
};

/// How a thread reads its word of every plane.
struct byte_reader {
    const narrow_lattice& g;
    const byte_source& from;
    int image, y, first, last, west, east;  ///< y, first: negative where there is no such row or word

    [[nodiscard]] __device__ loaded_bytes load(int z) const {
        loaded_bytes b;
        if (z < 0 || y < 0 || first < 0) return b;
        const std::int64_t row = ((std::int64_t{image} * g.size[0] + z) * g.size[1] + y) * g.size[2];
        const auto* const at = reinterpret_cast<const uint4*>(from.data + row + first);
        b.there = true, b.low = __ldg(at);
        if (last >= word_cells / 2) b.high = __ldg(at + 1);
        if (west >= 0) b.west = from.byte(row + west);
        if (east >= 0) b.east = from.byte(row + east);
        return b;
    }
    template <class Relation>
    [[nodiscard]] __device__ byte_row look(const loaded_bytes& b) const {
        byte_row r;
        r.planes = take_apart(b.low, b.high);
        if (from.flip != 0) r.planes.of[7] = ~r.planes.of[7];
        if (!b.there) return r;
        r.set = from.foreground(r.planes) & up_to(last);
        const std::uint32_t low = (b.low.x & 255) ^ from.flip,
                            high = ((last < word_cells / 2 ? b.low.w : b.high.w) >> 24) ^ from.flip;
        r.sides.bytes = b.west | b.east << 8 | low << 16 | high << 24;
        const bool west_set = west >= 0 && from.foreground(b.west), east_set = east >= 0 && from.foreground(b.east);
        const bool next = east_set && (r.set >> last & 1) != 0 && Relation::alike(high, b.east, from.tolerance);
        r.sides.marks = (west_set ? byte_sides::west_set : 0) | (east_set ? byte_sides::east_set : 0) |
                        (next ? byte_sides::next : 0);
        const word both = r.set & (r.set << 1 | (west_set ? 1U : 0U));
        r.on = alike_cells<Relation, -1>(from, r.planes, r.sides, r.planes, r.sides, last) & both;
        if constexpr (!Relation::transitive)
            r.same = alike_cells<unequal_words, -1>(from, r.planes, r.sides, r.planes, r.sides, last) & both;
        return r;
    }
    /// Links straight from row to row, and those of equal values among them. By whole warps: where all values are equal, as they
    /// are within areas, nothing else is asked.
    template <class Relation>
    [[nodiscard]] __device__ word straight(const byte_row& a, const byte_row& b, word& same) const {
        const word both = a.set & b.set;
        same = alike_cells<unequal_words, 0>(from, a.planes, a.sides, b.planes, b.sides, last) & both;
        if (Relation::transitive || !__any_sync(cuda::every_lane, both != same ? 1 : 0)) return same;
        return alike_cells<Relation, 0>(from, a.planes, a.sides, b.planes, b.sides, last) & both;
    }
    template <class Relation>
    [[nodiscard]] __device__ word sides(const byte_sides& a, const byte_sides& b) const {
        const std::uint32_t both = a.marks & b.marks;
        return ((both & byte_sides::west_set) != 0 && Relation::alike(a.west(), b.west(), from.tolerance) ? 1U : 0U) |
               ((both & byte_sides::east_set) != 0 && Relation::alike(a.east(), b.east(), from.tolerance) ? 1U << last
                                                                                                          : 0U);
    }
};

/// Writes what is kept of links. A thread owns a word of every plane; what the row above is it has from its neighbour. The last warp
/// looks at the rows above the first.
template <bool Deep, class Relation>
__global__ void __launch_bounds__(byte_strips::threads, link_blocks)
    find_byte_links(narrow_lattice g, byte_source from, byte_strips strips, int kinds, tile_order order,
                    link_store out) {
    __shared__ byte_stage stages[Deep ? 2 : 1];
    cuda::wait_for_kernel_before();
    const int t = static_cast<int>(threadIdx.x), wide = 1 << strips.words;
    const bool own = t < byte_strips::own;
    int block = static_cast<int>(blockIdx.x);
    const int across = block % strips.across, down = (block /= strips.across) % strips.down;
    const int deep = (block /= strips.down) % strips.deep, image = block / strips.deep;
    const int column = own ? t & (wide - 1) : t - byte_strips::own, top = down * (byte_strips::own >> strips.words);
    const int w = (across << strips.words) + column, y = own ? top + (t >> strips.words) : neighbour(g, 1, top, -1);
    const int above_at = t < wide ? byte_strips::own + t : own ? t - wide : t;
    const bool held = column < wide && w < g.words && y >= 0 && y < g.size[1];
    byte_reader read{g, from, image, held ? y : -1, w * word_cells, 31, -1, -1};
    if (held) {
        read.last = min(word_cells, g.size[2] - read.first) - 1;
        read.west = neighbour(g, 2, read.first, -1), read.east = neighbour(g, 2, read.first + read.last, 1);
    }
    const int begin = deep * byte_strips::planes, end = Deep ? min(begin + byte_strips::planes, g.size[0]) : 1;
    row_links front_above;
    word front_up = 0, same_front_up = 0;
    slanted_facts known;
    int turn = 0;
    if (Deep) stages[1].put(t, {});
    loaded_bytes next = read.load(Deep ? neighbour(g, 0, begin, -1) : 0);
    for (int z = Deep ? begin - 1 : 0; z < end; ++z, turn ^= 1) {
        const byte_row mine = read.look<Relation>(next);
        byte_stage &here = stages[Deep ? turn : 0], &before = stages[Deep ? turn ^ 1 : 0];
        here.put(t, mine);
        link_facts f;
        byte_sides front_sides{};
        if constexpr (Deep) {
            if (z + 1 < end) next = read.load(z + 1);
            const byte_row front = before.row(t);
            f.front = front.links<Relation>(read.last), front_sides = front.sides;
            f.to_front = read.straight<Relation>(mine, front, f.same_front);
            here.front[t] = f.to_front;
            if (!Relation::transitive) here.same_front[t] = f.same_front;
        }
        __syncthreads();
        const byte_row above = here.row(above_at);
        f.last = read.last, f.here = mine.links<Relation>(f.last), f.above = above.links<Relation>(f.last);
        f.up = read.straight<Relation>(mine, above, f.same_up);
        if constexpr (Deep) {
            f.front_above = front_above, f.front_up = front_up, f.same_front_up = same_front_up;
            f.above_to_front = here.front[above_at];
            f.same_above_front = Relation::transitive ? f.above_to_front : here.same_front[above_at];
        }
        if (!Deep || z >= begin) {
            f.sides_up = read.sides<Relation>(mine.sides, above.sides);
            if (Deep) f.sides_front = read.sides<Relation>(mine.sides, front_sides);
            const std::uint32_t at = held && own ? order.at(image, z, y, w) : 0;
            unsigned flags = 0;
            const word_place place{tile_order::in_tile(y, order.rows) == 0, tile_order::in_tile(z, order.planes) == 0,
                                   tile_order::in_tile(w, order.words) == 0, y == 0};
            const kept_record record = kept_links(f, place, flags);
            if (held && own) out.records[at] = record;
            find_slanted<Deep>(f, kinds, known, [&](auto number, word candidates) {
                if (!own) candidates = 0;
                if (!__any_sync(cuda::every_lane, candidates != 0)) return word{0};
                constexpr link_kind kind = kind_of(decltype(number)::value);
                __syncwarp();  // so that rows are read again from where they are staged, and take no registers until here
                const auto row_of = [&](link_row r) {
                    return r == link_row::here    ? here.row(t)
                           : r == link_row::above ? here.row(above_at)
                                                  : before.row(r == link_row::front ? t : above_at);
                };
                const byte_row a = row_of(kind.from), b = row_of(kind.to);
                const word links =
                    candidates & alike_cells<Relation, kind.by>(from, a.planes, a.sides, b.planes, b.sides, f.last);
                if (links != 0) flags |= 1U << decltype(number)::value, *out.of(decltype(number)::value, at) = links;
                return links;
            });
            if (held && own) out.flags[at] = static_cast<std::uint16_t>(flags);
        }
        front_above = f.above, front_up = f.up, same_front_up = f.same_up;
        known.front_west = known.west, known.front_east = known.east;
        if (Deep) __syncthreads();  // the next plane comes where the one in front is
    }
}

}  // namespace nearfield::labelling
