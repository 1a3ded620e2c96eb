// Links of contiguous bytes: 32 bytes become planes (gpu/links/planes.cuh). Straight links of all words come first,
// then those slanted links that they leave undecided (gpu/links/rules.cuh).
#pragma once

#include "label/gpu/links/planes.cuh"
#include "label/gpu/links/rules.cuh"

namespace nearfield::labelling {

/// The neighbours of a word along its row: the bytes before and after it, its own first and last, and bits that say
/// whether the bytes before and after are foreground, and are connected with the word.
struct byte_sides {
    std::uint32_t bytes, marks;
    static constexpr std::uint32_t west_set = 1, east_set = 2, next = 4;
    [[nodiscard]] __device__ std::uint32_t west() const { return bytes & 255; }
    [[nodiscard]] __device__ std::uint32_t east() const { return bytes >> 8 & 255; }
    [[nodiscard]] __device__ std::uint32_t first() const { return bytes >> 16 & 255; }
    [[nodiscard]] __device__ std::uint32_t last() const { return bytes >> 24; }
};

/// A thread's word of a row.
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

/// Returns the cells of `a` that equal those of `b` `By` cells on, by the relation, foreground or not.
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

/// Partition of an image into blocks: strips of words, a row to a thread, that advance from plane to plane.
struct byte_strips {
    static constexpr int own = 256, threads = own + cuda::warp, planes = 16;
    int words;  ///< words of a strip, as a logarithm, at most 5; a block has as many threads for the row above
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

/// Blocks on a multiprocessor. With three of them, 72 registers do not hold a thread's words (H200, 512^3, equal values
/// and within 5, blocks of 8, 2026-11-23: 0.589 and 0.622 instead of 0.585 and 0.611 ms for a call, blocks of 4 0.968
/// instead of 0.955).
constexpr int link_blocks = 2;

/// Rows of a plane: of the current one and of the one in front.
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

/// A word's bytes as loaded.
struct loaded_bytes {
    uint4 low{}, high{};
    std::uint32_t west = 0, east = 0;
    bool there = false;
};

/// The bytes of the plane before as loaded, and the warps whose bytes differ from it now.
struct bytes_before {
    uint4 low[byte_strips::threads], high[byte_strips::threads];
    int fresh[byte_strips::threads / cuda::warp];

    [[nodiscard]] __device__ bool differs(int at, const loaded_bytes& b, const byte_sides& beside) const {
        const uint4 l = low[at], h = high[at];
        return ((l.x ^ b.low.x) | (l.y ^ b.low.y) | (l.z ^ b.low.z) | (l.w ^ b.low.w) | (h.x ^ b.high.x) |
                (h.y ^ b.high.y) | (h.z ^ b.high.z) | (h.w ^ b.high.w) | (beside.west() ^ b.west) |
                (beside.east() ^ b.east)) != 0;
    }
    __device__ void put(int at, const loaded_bytes& b, bool is_fresh) {
        if (is_fresh) low[at] = b.low, high[at] = b.high;
        if (at % cuda::warp == 0) fresh[at / cuda::warp] = is_fresh ? 1 : 0;
    }
};

/// Reads a thread's word of every plane.
struct byte_reader {
    const narrow_lattice& g;
    const byte_source& from;
    int image, y, first, last, west, east;  ///< y, first: negative if that row or word does not exist

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
    /// Links straight from row to row, and those of equal values among them. The warp votes: if all values are equal,
    /// as within areas, it compares nothing else.
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
               ((both & byte_sides::east_set) != 0 && Relation::alike(a.east(), b.east(), from.tolerance) ? 1U << 31
                                                                                                          : 0U);
    }
};

/// Position of a thread's word in every plane, and the thread that has the row above it.
struct byte_place {
    int t, above_at, image, w, y, begin, end;
    bool own, held;  ///< own: false for the last warp, which reads the rows above the first

    __device__ byte_place(const narrow_lattice& g, const byte_strips& strips, bool volume)
        : t(static_cast<int>(threadIdx.x)), own(t < byte_strips::own) {
        int block = static_cast<int>(blockIdx.x);
        const int across = block % strips.across, down = (block /= strips.across) % strips.down;
        const int deep = (block /= strips.down) % strips.deep, wide = 1 << strips.words;
        image = block / strips.deep;
        const int column = own ? t & (wide - 1) : t - byte_strips::own, top = down * (byte_strips::own >> strips.words);
        w = (across << strips.words) + column, y = own ? top + (t >> strips.words) : neighbour(g, 1, top, -1);
        above_at = t < wide ? byte_strips::own + t : own ? t - wide : t;
        held = column < wide && w < g.words && y >= 0 && y < g.size[1];
        begin = deep * byte_strips::planes, end = volume ? min(begin + byte_strips::planes, g.size[0]) : 1;
    }
    [[nodiscard]] __device__ byte_reader reader(const narrow_lattice& g, const byte_source& from) const {
        byte_reader read{g, from, image, held ? y : -1, w * word_cells, 31, -1, -1};
        if (!held) return read;
        read.last = min(word_cells, g.size[2] - read.first) - 1;
        read.west = neighbour(g, 2, read.first, -1), read.east = neighbour(g, 2, read.first + read.last, 1);
        return read;
    }
};

/// Walk of a thread from plane to plane: look(), then keep() once all threads of the block have looked.
template <bool Deep, class Relation>
class byte_walk {
public:
    struct stage {
        byte_stage planes[Deep ? 2 : 1];
        std::conditional_t<Deep, bytes_before, int> before;
    };
    __device__ byte_walk(const narrow_lattice& g, const byte_source& from, const byte_place& at, stage& s)
        : at_(at), read_(at.reader(g, from)), from_(from), s_(s) {
        if (Deep) s_.planes[1].put(at.t, {});
        next_ = read_.load(Deep ? neighbour(g, 0, at.begin, -1) : 0);
    }
    __device__ void look(int z, const tile_order& order) {
        if (z > at_.begin - 1) turn_ ^= 1;
        place_ = {tile_order::in_tile(at_.y, order.rows) == 0, tile_order::in_tile(z, order.planes) == 0,
                  tile_order::in_tile(at_.w, order.words) == 0, at_.y == 0};
        by_front_ = Deep && !place_.first_plane && z > at_.begin;
        f_ = {}, f_.last = read_.last;
        if constexpr (!Deep) {
            mine_ = read_.look<Relation>(next_);
            here().put(at_.t, mine_);
        } else {
            // A warp whose bytes equal those of the plane before reuses all results of that plane.
            const int t = at_.t;
            const bool fresh =
                !by_front_ || __any_sync(cuda::every_lane, s_.before.differs(t, next_, front().sides[t]) ? 1 : 0);
            mine_ = fresh ? read_.look<Relation>(next_) : front().row(t);
            s_.before.put(t, next_, fresh);
            if (z + 1 < at_.end) next_ = read_.load(z + 1);
            here().put(t, mine_);
            const byte_row in_front = fresh ? front().row(t) : mine_;
            f_.front = in_front.links<Relation>(f_.last), front_sides_ = in_front.sides;
            f_.to_front = f_.same_front = mine_.set;
            if (fresh) f_.to_front = read_.straight<Relation>(mine_, in_front, f_.same_front);
            here().front[t] = f_.to_front;
            if (!Relation::transitive) here().same_front[t] = f_.same_front;
        }
    }
    __device__ void keep(int z, int kinds, const tile_order& order, const link_store& out) {
        const bool as_front = is_as_front();
        find_straight(as_front);
        if (!Deep || z >= at_.begin) {
            const bool write = at_.held && at_.own;
            const std::uint32_t to = write ? order.at(at_.image, z, at_.y, at_.w) : 0;
            unsigned flags = 0;
            const kept_record record = kept_links(f_, place_, flags);
            if (write) out.records[to] = record;
            if (!as_front)
                find_slanted<Deep>(f_, kinds, by_front_, known_, [&](auto number, word candidates) {
                    constexpr int kind = decltype(number)::value;
                    const word links = ask<kind_of(kind)>(candidates);
                    if (links != 0) flags |= 1U << kind, *out.of(kind, to) = links;
                    return links;
                });
            if (write) out.flags[to] = static_cast<std::uint16_t>(flags);
        }
        front_above_ = f_.above, front_up_ = f_.up, same_front_up_ = f_.same_up;
        known_.front_west = known_.west, known_.front_east = known_.east;
    }

private:
    [[nodiscard]] __device__ byte_stage& here() const { return s_.planes[Deep ? turn_ : 0]; }
    [[nodiscard]] __device__ byte_stage& front() const { return s_.planes[Deep ? turn_ ^ 1 : 0]; }

    /// True if the warp's rows and those above them equal those of the plane in front. Then all cells are connected as
    /// there, and through that plane.
    [[nodiscard]] __device__ bool is_as_front() const {
        if constexpr (!Deep) return false;
        else {
            const int* const fresh = s_.before.fresh;
            return by_front_ &&
                   !__any_sync(cuda::every_lane, fresh[at_.t / cuda::warp] | fresh[at_.above_at / cuda::warp]);
        }
    }
    __device__ void find_straight(bool as_front) {
        f_.here = mine_.links<Relation>(f_.last), f_.front_above = front_above_;
        f_.front_up = front_up_, f_.same_front_up = same_front_up_;
        const byte_sides above_sides = here().sides[at_.above_at];
        f_.sides_up = read_.sides<Relation>(mine_.sides, above_sides);
        if (Deep) f_.sides_front = read_.sides<Relation>(mine_.sides, front_sides_);
        if (as_front) {
            f_.above = front_above_, f_.up = front_up_, f_.same_up = same_front_up_;
            f_.above_to_front = f_.same_above_front = f_.above.set;
            return;
        }
        const byte_row above = here().row(at_.above_at);
        f_.above = above.links<Relation>(f_.last);
        f_.up = read_.straight<Relation>(mine_, above, f_.same_up);
        if constexpr (Deep) {
            f_.above_to_front = here().front[at_.above_at];
            f_.same_above_front = Relation::transitive ? f_.above_to_front : here().same_front[at_.above_at];
        }
    }
    /// Returns those candidates that are connected.
    template <link_kind Kind>
    [[nodiscard]] __device__ word ask(word candidates) const {
        if (!at_.own) candidates = 0;
        if (!__any_sync(cuda::every_lane, candidates != 0 ? 1 : 0)) return 0;
        __syncwarp();  // forces rereading of staged rows, which would otherwise occupy registers
        const auto row_of = [&](link_row r) {
            return r == link_row::here    ? here().row(at_.t)
                   : r == link_row::above ? here().row(at_.above_at)
                                          : front().row(r == link_row::front ? at_.t : at_.above_at);
        };
        const byte_row a = row_of(Kind.from), b = row_of(Kind.to);
        return candidates & alike_cells<Relation, Kind.by>(from_, a.planes, a.sides, b.planes, b.sides, f_.last);
    }

    const byte_place& at_;
    byte_reader read_;
    const byte_source& from_;
    stage& s_;
    int turn_ = 0;
    loaded_bytes next_;
    word_place place_{};
    bool by_front_ = false;
    byte_row mine_;
    byte_sides front_sides_{};
    link_facts f_;
    row_links front_above_;
    word front_up_ = 0, same_front_up_ = 0;
    slanted_facts known_;
};

/// Writes the links that are kept. A thread owns a word of every plane and gets the row above from its neighbour.
template <bool Deep, class Relation>
__global__ void __launch_bounds__(byte_strips::threads, link_blocks)
    find_byte_links(narrow_lattice g, byte_source from, byte_strips strips, int kinds, tile_order order,
                    link_store out) {
    __shared__ typename byte_walk<Deep, Relation>::stage stage;
    cuda::wait_for_kernel_before();
    const byte_place at(g, strips, Deep);
    byte_walk<Deep, Relation> walk(g, from, at, stage);
    for (int z = Deep ? at.begin - 1 : 0; z < at.end; ++z) {
        walk.look(z, order);
        __syncthreads();
        walk.keep(z, kinds, order, out);
        if (Deep) __syncthreads();  // the next plane overwrites the one in front
    }
}

}  // namespace nearfield::labelling
