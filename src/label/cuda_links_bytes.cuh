// The same of bytes that lie one behind the other: 32 of them become planes, a word for each bit, which are compared 32 at a time.
#pragma once

#include "label/cuda_links.cuh"

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
    __device__ void finish(word, word) {}
    [[nodiscard]] __device__ word differ() const { return any; }
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
    __device__ void finish(word twice, word) { step(0, 0, 0, twice), step(0, 0, 0, 0); }
    [[nodiscard]] __device__ word differ() const { return above; }
};

/// Bytes in C order that can be read 16 at a time, as natural numbers by `flip`.
struct byte_source {
    const std::uint8_t* data;
    bool has_background;
    std::uint8_t background, flip;
    std::uint32_t tolerance;

    [[nodiscard]] __device__ std::uint32_t byte(std::int64_t at) const { return data[at] ^ flip; }
    /// 32 bytes, or 16 and 16 of no account.
    [[nodiscard]] __device__ byte_planes planes(std::int64_t at, bool half) const {
        const auto* const from = reinterpret_cast<const uint4*>(data + at);
        byte_planes p = take_apart(__ldg(from), half ? uint4{0, 0, 0, 0} : __ldg(from + 1));
        if (flip != 0) p.of[7] = ~p.of[7];
        return p;
    }
    [[nodiscard]] __device__ word foreground(const byte_planes& p) const {
        word differs = 0;
#pragma unroll
        for (int i = 0; i < byte_planes::count; ++i) differs |= p.of[i] ^ (word{0} - (background >> i & 1U));
        return has_background ? differs : ~word{0};
    }
    [[nodiscard]] __device__ bool foreground(std::uint32_t byte) const { return !has_background || byte != background; }
};

/// 32 cells of a row and those beside them.
struct byte_row {
    byte_planes planes;
    word set;                  ///< foreground cells
    std::uint32_t west, east;  ///< the bytes beside
    bool west_set, east_set;   ///< they exist and are foreground
};

/// Which cells of `mine` hang together with those of `there`, by what is foreground and by the values.
template <class Relation>
__device__ three_links compare_bytes(const byte_source& from, const byte_planes& mine, const byte_row& there, int last,
                                     bool slanted) {
    Relation same, west, east;
#pragma unroll
    for (int p = 0; p < byte_planes::count; ++p) {
        const word t = word{0} - (from.tolerance >> p & 1U), twice = word{0} - (2 * from.tolerance >> p & 1U);
        const word a = mine.of[p], b = there.planes.of[p];
        same.step(a, b, t, twice);
        if (!slanted) continue;
        west.step(a, b << 1 | (there.west >> p & 1U), t, twice);
        east.step(a, b >> 1 | (there.east >> p & 1U) << last, t, twice);
    }
    const word twice = word{0} - (2 * from.tolerance >> byte_planes::count & 1U);
    same.finish(twice, 0), west.finish(twice, 0), east.finish(twice, 0);
    const word west_set = there.set << 1 | (there.west_set ? 1U : 0U),
               east_set = there.set >> 1 | (there.east_set ? 1U : 0U) << last;
    return {~same.differ() & there.set, slanted ? ~west.differ() & west_set : 0,
            slanted ? ~east.differ() & east_set : 0};
}

/// How a thread reads the rows of its column of words.
struct byte_reader {
    const lattice<std::uint32_t>& g;
    const byte_source& from;
    int image, first, last, west, east;

    __device__ byte_reader(const lattice<std::uint32_t>& g_, const byte_source& from_, int image_, int w)
        : g(g_), from(from_), image(image_), first(w * word_cells), last(min(word_cells, g.size[2] - first) - 1) {
        west = neighbour(g, 2, first, -1), east = neighbour(g, 2, first + last, 1);
    }
    /// Row (z, y); there is none where one is negative.
    [[nodiscard]] __device__ byte_row look(int z, int y) const {
        byte_row r{};
        if (z < 0 || y < 0) return r;
        const std::int64_t row = ((std::int64_t{image} * g.size[0] + z) * g.size[1] + y) * g.size[2];
        r.planes = from.planes(row + first, last < word_cells / 2);
        if (west >= 0) r.west = from.byte(row + west), r.west_set = from.foreground(r.west);
        if (east >= 0) r.east = from.byte(row + east), r.east_set = from.foreground(r.east);
        r.set = from.foreground(r.planes) & up_to(last);
        return r;
    }
};

/// The same as find_links(). A thread owns words below each other; a warp's records go out together.
template <bool Deep, class Relation>
__global__ void __launch_bounds__(link_threads)
    find_byte_links(lattice<std::uint32_t> g, byte_source from, touch_list touching, int size, word* records) {
    constexpr int most = 14, warps = link_threads / cuda::warp;
    __shared__ word staged[warps][cuda::warp * most];
    cuda::wait_for_kernel_before();
    const auto strip = static_cast<int>(std::int64_t{blockIdx.x} * link_threads + threadIdx.x);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    word* const stage = staged[threadIdx.x / cuda::warp];
    const int down = (g.size[1] + link_rows - 1) / link_rows, column = strip / g.words, plane = column / down;
    const int w = strip - column * g.words, image = plane / g.size[0], z = plane - image * g.size[0];
    const bool held = image < g.images;
    const int begin = (column - plane * down) * link_rows, end = held ? min(begin + link_rows, g.size[1]) : begin;
    const int in_front = Deep && held ? neighbour(g, 0, z, -1) : -1;
    const int lead = Deep && touching.count > 2 ? 1 : 0;  // the row below in front is looked at as well
    const byte_reader read(g, from, image, w);
    byte_row above = read.look(held ? z : -1, neighbour(g, 1, begin, -1)), front_above{}, front{}, front_below{};
    if (Deep && lead != 0)
        front = read.look(in_front, neighbour(g, 1, begin, -1)), front_below = read.look(in_front, begin);
    for (int y = begin; y < begin + link_rows; ++y) {
        const byte_row mine = read.look(y < end ? z : -1, y);
        if constexpr (Deep) {
            const byte_row newest = read.look(y < end ? in_front : -1, y < end ? neighbour(g, 1, y, lead) : -1);
            if (lead != 0) front_above = front, front = front_below, front_below = newest;
            else front = newest;
        }
        word* record = stage + lane * size;
        const auto put = [&](const byte_row& there, bool slanted) {
            const three_links l = compare_bytes<Relation>(from, mine.planes, there, read.last, slanted);
            *record++ = l.same & mine.set;
            if (slanted) *record++ = l.west & mine.set, *record++ = l.east & mine.set;
        };
        *record++ = mine.set;
        *record++ = compare_bytes<Relation>(from, mine.planes, mine, read.last, true).west & mine.set;
        put(above, touching.get(0).slanted);
        if constexpr (Deep) {
            put(front, touching.get(1).slanted);
            if (lead != 0) put(front_above, touching.get(2).slanted), put(front_below, touching.get(3).slanted);
        }
        const int mine_at = y < end ? (plane * g.size[1] + y) * g.words + w : -1;
        __syncwarp();
        for (int i = lane; i < cuda::warp * size; i += cuda::warp) {
            const int of = i / size, at = __shfl_sync(cuda::every_lane, mine_at, of);
            if (at >= 0) records[std::int64_t{at} * size + (i - of * size)] = stage[i];
        }
        __syncwarp();
        above = mine;
    }
}

}  // namespace nearfield::labelling
