// Values of at most 32 bits as natural numbers, and the links between cells 32 at a time: a word for each bit of the numbers
// (a plane), and arithmetic on whole planes.
#pragma once

#include "label/cuda_cells.cuh"
#include "label/cuda_tile_unite.cuh"

namespace nearfield::labelling {

/// Links of a word with the cells of another word there: of the same column, the one before, the one after.
struct three_links {
    word same, west, east;
};

/// Links that others do not say already, with the cells here and there that go on from those before them. Slanted ones go by way
/// of a cell beside either end.
__device__ inline touches without_implied(const three_links& l, word here, word there, bool slanted) {
    touches c{l.same, 0, 0, here & there};
    if (!slanted) return c;
    c.west = l.west & ~((here & l.same << 1) | (l.same & there) | (l.west << 1 & here & there << 1));
    c.east = l.east & ~((l.same & there >> 1) | (here >> 1 & l.same >> 1) | (l.east << 1 & here & there >> 1));
    return c;
}

/// Planes of a tile's keys.
template <class Tiling, int Planes>
struct key_planes {
    /// One more than there are threads, so that lanes that write planes of one word find different banks.
    word of[Planes][Tiling::threads + 1];
    word number[Tiling::threads];  ///< cells that are no NaN
    word on[Tiling::threads];      ///< cells that go on from the one before, within the word
};

/// Where values are read as numbers (keys) that are equal, and as far apart, as the values are. Of floating point only equality
/// is asked for.
template <class Bits>
struct key_source {
    using value = Bits;
    static constexpr int planes = 8 * sizeof(Bits);
    template <class Tiling>
    using links = key_planes<Tiling, planes>;

    const Bits* data;
    strides at;
    bool within, real;  ///< by `tolerance` instead of equal; floating point
    bool has_background, nan_background;
    bool plain;  ///< bytes in C order that can be read 16 at a time, and are their own keys
    Bits background, flip;
    std::uint32_t tolerance;

    [[nodiscard]] __device__ const Bits* image(std::int64_t number) const { return data + at.image(number); }
    [[nodiscard]] __device__ Bits load(const Bits* of_image, int z, int y, int x) const {
        return key(of_image[at.cell(z, y, x)]);
    }
    [[nodiscard]] NF_HD Bits key(Bits bits) const {
        if (real) return static_cast<Bits>(bits << 1) == 0 ? Bits{0} : bits;  // of both zeros
        return static_cast<Bits>(bits ^ flip);
    }
    [[nodiscard]] __device__ bool is_nan(Bits key) const {
        return sizeof(Bits) == 4 && real && (key & 0x7fffffffU) > 0x7f800000U;
    }
    [[nodiscard]] __device__ bool foreground(Bits key) const {
        if (!has_background) return true;
        return nan_background ? !is_nan(key) : key != background;
    }
    [[nodiscard]] __device__ bool linked(Bits a, Bits b) const {
        if (within) return (a < b ? b - a : a - b) <= tolerance;
        return a == b && !is_nan(a);
    }
};

template <class Bits, class T>
key_source<Bits> keys_of(const T* data, const strides& at, const rule<T>& decide) {
    key_source<Bits> s{reinterpret_cast<const Bits*>(data), at};
    s.within = decide.kind == criterion::within, s.real = std::is_floating_point_v<T>;
    s.has_background = decide.has_background, s.nan_background = decide.nan_background;
    if constexpr (std::is_signed_v<T> && !std::is_floating_point_v<T>)
        s.flip = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
    s.background = s.key(std::bit_cast<Bits>(decide.background));
    constexpr auto most = static_cast<std::uint32_t>(std::numeric_limits<Bits>::max());
    if constexpr (!std::is_floating_point_v<T>)
        s.tolerance = decide.tolerance < most ? static_cast<std::uint32_t>(decide.tolerance) : most;
    return s;
}

/// Words of the keys that are not alike, bit after bit from the lowest on.
struct unequal_words {
    word any = 0;
    __device__ void step(word a, word b, word, word) { any |= a ^ b; }
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
    [[nodiscard]] __device__ word differ() const { return above; }
};

/// Calls each(a plane's number, the bits of t and 2 t there); beyond the planes twice, for the carries, with a number of -1.
template <class Relation, class Source, class Each>
__device__ void over_planes(const Source& from, const Each& each) {
    constexpr bool distant = std::is_same_v<Relation, distant_words>;
    const std::uint64_t t = from.tolerance;
    const auto spread = [](std::uint64_t bits, int p) { return (bits >> p & 1) != 0 ? ~word{0} : word{0}; };
#pragma unroll 8
    for (int p = 0; p < Source::planes; ++p) each(p, distant ? spread(t, p) : 0, distant ? spread(2 * t, p) : 0);
    if constexpr (distant) {
        each(-1, word{0}, spread(2 * t, Source::planes));
        each(-1, word{0}, word{0});
    }
}

/// Which cells of a word hang together with the one before them, whatever is foreground.
template <class Relation, class Tiling, class Source>
__device__ word along_row(const key_planes<Tiling, Source::planes>& planes, const Source& from,
                          const tile_bundle<Tiling>& b) {
    Relation r;
    over_planes<Relation>(from, [&](int p, word t, word twice) {
        if (p < 0) return r.step(0, 0, t, twice);
        const word here = planes.of[p][b.thread], west = b.w > 0 ? planes.of[p][b.thread - 1] : 0;
        r.step(here, __funnelshift_l(west, here, 1), t, twice);
    });
    return ~r.differ();
}

template <class Relation, class Tiling, class Source>
__device__ three_links across_rows(const key_planes<Tiling, Source::planes>& planes, const Source& from,
                                   const tile_bundle<Tiling>& b, int other, bool slanted) {
    Relation same, west, east;
    over_planes<Relation>(from, [&](int p, word t, word twice) {
        three_words there{0, 0, 0};
        word here = 0;
        if (p >= 0) {
            here = planes.of[p][b.thread], there.here = planes.of[p][other];
            if (slanted && b.w > 0) there.west = planes.of[p][other - 1];
            if (slanted && b.w < Tiling::words - 1) there.east = planes.of[p][other + 1];
        }
        same.step(here, there.here, t, twice);
        if (!slanted) return;
        west.step(here, there.before(), t, twice);
        east.step(here, there.after(), t, twice);
    });
    return {~same.differ(), slanted ? ~west.differ() : 0, slanted ? ~east.differ() : 0};
}

/// Takes a tile's keys apart. A warp owns a word at a time, a lane a cell.
template <class Tiling, class Source>
__device__ void take_apart(tile_workshop<Tiling>& s, key_planes<Tiling, Source::planes>& planes,
                           const narrow_lattice& g, const tile_place<Tiling>& at, const Source& from) {
    const auto* const image = from.image(at.image);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
#pragma unroll 4
    for (int t = static_cast<int>(threadIdx.x) / cuda::warp; t < Tiling::threads; t += Tiling::threads / cuda::warp) {
        const tile_bundle<Tiling> b(t);
        const int plane = b.plane(0), line = b.line(0), x = (at.word + b.w) * word_cells + lane;
        const bool inside = at.holds(g, plane, line, b.w) && x < g.size[2];
        const auto key = inside ? from.load(image, at.z + plane, at.y + line, x) : typename Source::value{0};
        const word here = __ballot_sync(cuda::every_lane, inside && from.foreground(key));
        const word number = __ballot_sync(cuda::every_lane, !from.is_nan(key));
        word mine = 0;
#pragma unroll
        for (int p = 0; p < Source::planes; ++p) {
            const word bits = __ballot_sync(cuda::every_lane, static_cast<int>(key >> p & 1));
            if (lane == p) mine = bits;
        }
        if (lane < Source::planes) planes.of[lane][t] = mine;
        if (lane == 0) s.cells[b.at(0)] = s.all[t] = here, planes.number[t] = number;
    }
}

/// The same for plain bytes: a thread takes a word, 16 bytes at a time.
template <class Tiling>
__device__ void take_bytes_apart(tile_workshop<Tiling>& s, key_planes<Tiling, 8>& planes, const narrow_lattice& g,
                                 const tile_place<Tiling>& at, const key_source<std::uint8_t>& from) {
    const tile_bundle<Tiling> b(static_cast<int>(threadIdx.x));
    const int plane = b.plane(0), line = b.line(0), x = (at.word + b.w) * word_cells;
    uint4 loaded[2]{};
    word inside = 0, differs = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (!at.holds(g, plane, line, b.w) || x + 16 * half >= g.size[2]) continue;
        loaded[half] = __ldg(reinterpret_cast<const uint4*>(
            from.data + std::int64_t{at.row(g, plane, line)} * g.size[2] + x + 16 * half));
        inside |= 0xffffU << 16 * half;
    }
    const std::uint32_t four[] = {loaded[0].x, loaded[0].y, loaded[0].z, loaded[0].w,
                                  loaded[1].x, loaded[1].y, loaded[1].z, loaded[1].w};
#pragma unroll
    for (int p = 0; p < 8; ++p) {
        word bits = 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) bits |= ((four[i] >> p & 0x01010101U) * 0x01020408U >> 24) << 4 * i;
        planes.of[p][b.thread] = bits;
        differs |= bits ^ ((from.background >> p & 1) != 0 ? ~word{0} : word{0});
    }
    s.cells[b.at(0)] = s.all[b.thread] = inside & (from.has_background ? differs : ~word{0});
    planes.number[b.thread] = ~word{0};
}

/// What a thread's word hangs together with in its tile. Threads meet.
template <class Relation, class Tiling, class Source>
__device__ void find_by_planes(tile_workshop<Tiling>& s, key_planes<Tiling, Source::planes>& planes, const Source& from,
                               const tile_bundle<Tiling>& b, touches* found, bool& joined) {
    const int me = b.thread;
    const word here = s.all[me], number = planes.number[me], west_word = b.w > 0 ? s.all[me - 1] : 0;
    const word on = along_row<Relation>(planes, from, b) & here & number & __funnelshift_l(west_word, here, 1);
    joined = (on & 1) != 0;
    planes.on[me] = on & ~1U, s.first[me] = here & ~(on & ~1U);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tiling::touching::count; ++i) {
        const touch t = Tiling::touching::get(i);
        found[i] = {0, 0, 0, 0};
        if (!b.reaches(t)) continue;
        const int other = b.other(t);
        const three_words there{t.slanted && b.w > 0 ? s.all[other - 1] : 0, s.all[other],
                                t.slanted && b.w < Tiling::words - 1 ? s.all[other + 1] : 0};
        if (((here & number) == 0) || there.near() == 0) continue;
        three_links l = across_rows<Relation>(planes, from, b, other, t.slanted);
        l.same &= here & number & there.here;
        l.west &= here & number & there.before(), l.east &= here & number & there.after();
        found[i] = without_implied(l, planes.on[me], planes.on[other], t.slanted);
    }
}

/// Takes the tile apart, then compares. Threads meet.
template <class Tiling, class Bits>
__device__ void find_links(tile_workshop<Tiling>& s, key_planes<Tiling, key_source<Bits>::planes>& planes,
                           const narrow_lattice& g, const tile_place<Tiling>& at, const key_source<Bits>& from,
                           const tile_bundle<Tiling>& b, touches* found, bool& joined) {
    bool taken = false;
    if constexpr (sizeof(Bits) == 1)
        if (from.plain) take_bytes_apart(s, planes, g, at, from), taken = true;
    if (!taken) take_apart(s, planes, g, at, from);
    __syncthreads();
    if (from.within) find_by_planes<distant_words>(s, planes, from, b, found, joined);
    else find_by_planes<unequal_words>(s, planes, from, b, found, joined);
}

}  // namespace nearfield::labelling
