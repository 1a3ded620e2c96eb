#include "exact/gpu/ground/line_pass.hpp"

#include <algorithm>
#include <cstring>

#include "base/cuda_each.cuh"

namespace nearfield::exact {
namespace {

constexpr int warps = 8;
constexpr int threads = warps * cuda::warp;
constexpr std::int32_t nowhere = -1;

/// The test of an element for a mark.
template <class Bits>
struct test {
    const Bits* data;
    Bits keep;  ///< mask that removes the sign of floats
    mark what;

    __device__ bool zero(Bits element) const { return (element & keep) == 0; }
    /// True if an element is marked; `before` is the element before it on the line, if there is one.
    __device__ bool marked(Bits element, Bits before, bool has_before) const {
        switch (what) {
            case mark::zero: return zero(element);
            case mark::nonzero: return !zero(element);
            case mark::changes: return has_before && element != before;
            default: return has_before && zero(element) != zero(before);
        }
    }
};

/// A warp owns 32 words of a line; in turn each lane reads a cell of every word, so that loads are coalesced.
template <class Bits>
__global__ void __launch_bounds__(threads) mark_rows(const test<Bits> of, const marked to, std::int64_t stretches) {
    const std::int64_t block = blockIdx.x;
    const std::int64_t nth = block * warps + threadIdx.y;
    if (nth >= to.columns * stretches) return;
    const std::int64_t line = nth / stretches, word = (nth - line * stretches) * cuda::warp;
    const std::int64_t start = line * to.rows;
    const int lane = threadIdx.x, words = static_cast<int>(min(to.words - word, static_cast<std::int64_t>(cuda::warp)));
    std::uint32_t mine = 0, zeros = 0;
#pragma unroll 4
    for (int w = 0; w < words; ++w) {
        const std::int64_t at = (word + w) * mark_bits + lane;
        const bool within = at < to.rows;
        const std::int64_t before = at > 0 ? at - 1 : to.periodic ? to.rows - 1 : -1;
        const Bits mine_at = of.data[start + min(at, to.rows - 1)],
                   before_it = of.data[start + min(max(before, std::int64_t{0}), to.rows - 1)];
        const std::uint32_t bits =
            __ballot_sync(cuda::every_lane, within && of.marked(mine_at, before_it, before >= 0));
        if (lane == w) mine = bits;
        if (to.zeros == nullptr) continue;
        const std::uint32_t zero_bits = __ballot_sync(cuda::every_lane, within && of.zero(mine_at));
        if (lane == w) zeros = zero_bits;
    }
    if (lane >= words) return;
    to.bits[line * to.words + word + lane] = mine;
    if (to.zeros != nullptr) to.zeros[line * to.words + word + lane] = zeros;
}

__device__ std::int32_t last_of(std::uint32_t word, std::int64_t w) {
    return word ? static_cast<std::int32_t>(w * mark_bits) + 31 - __clz(static_cast<int>(word)) : nowhere;
}
__device__ std::uint32_t first_of(std::uint32_t word, std::int64_t w) {
    return word ? static_cast<std::uint32_t>(w * mark_bits) + __ffs(static_cast<int>(word)) - 1 : no_mark;
}

/// Returns the last mark in words [from, end), `nowhere` if there is none. `at(w)` is word w.
template <class At>
__device__ std::int64_t last_mark(std::int64_t from, std::int64_t end, const At& at) {
    for (std::int64_t w = end - 1; w >= from; --w)
        if (at(w) != 0) return last_of(at(w), w);
    return nowhere;
}
template <class At>
__device__ std::int64_t first_mark(std::int64_t from, std::int64_t end, const At& at) {
    for (std::int64_t w = from; w < end; ++w)
        if (at(w) != 0) return first_of(at(w), w);
    return nowhere;
}
__device__ std::uint32_t back_to(std::int64_t position, std::int64_t w) {
    return position == INT64_MIN ? no_mark : static_cast<std::uint32_t>(w * mark_bits - position);
}
__device__ std::uint32_t on_to(std::int64_t position, std::int64_t w) {
    return position == INT64_MAX ? no_mark : static_cast<std::uint32_t>(position - w * mark_bits);
}

/// Returns the last mark before stretch s of a line; `at(i)` is the last mark of stretch i.
template <class At>
__device__ std::int64_t before_stretch(const marked& to, std::int64_t s, const At& at) {
    for (std::int64_t i = s - 1; i >= 0; --i)
        if (at(i) != nowhere) return at(i);
    for (std::int64_t i = to.stretches() - 1; to.periodic && i >= s; --i)
        if (at(i) != nowhere) return at(i) - to.rows;
    return INT64_MIN;
}
template <class At>
__device__ std::int64_t after_stretch(const marked& to, std::int64_t s, const At& at) {
    for (std::int64_t i = s + 1; i < to.stretches(); ++i)
        if (at(i) != nowhere) return at(i);
    for (std::int64_t i = 0; to.periodic && i <= s; ++i)
        if (at(i) != nowhere) return at(i) + to.rows;
    return INT64_MAX;
}

/// A stretch of a line. Neighbouring numbers are those of neighbouring columns or, along the last axis, of neighbouring
/// stretches.
struct line_stretch {
    std::int64_t line, number, from, end;  ///< words [from, end)
    std::int64_t first, notes, step;       ///< the line's first word, its first note, and the step to the next of both

    __device__ line_stretch(const marked& to, std::int64_t nth) {
        const bool rows = to.inner == 1;
        const std::int64_t inner = rows ? to.stretches() : to.columns, above = quotient(nth, inner),
                           rest = nth - above * inner;
        line = rows ? above : rest, number = rows ? rest : above;
        from = number * to.stretch, end = min(from + to.stretch, to.words);
        first = rows ? line * to.words : line, notes = rows ? line * inner : line, step = rows ? 1 : to.columns;
    }
};

/// Finds the last and first mark of each stretch, if lines have several.
struct note_stretches {
    marked to;

    __device__ void operator()(std::int64_t nth) const {
        const line_stretch s(to, nth);
        if (to.is_solved() || !to.wants(s.line)) return;
        std::int32_t last = nowhere;
        std::uint32_t first = no_mark;
#pragma unroll 8
        for (std::int64_t w = s.from; w < s.end; ++w) {
            const std::uint32_t word = to.bits[s.first + w * s.step];
            last = max(last, last_of(word, w)), first = min(first, first_of(word, w));
        }
        to.lasts[nth] = last, to.lasts[to.columns * to.stretches() + nth] = static_cast<std::int32_t>(first);
    }
};

/// Finds the last mark before each word of a stretch, and the first one after it: goes along it in both directions.
/// Marks of other stretches come from the notes.
struct carry_along {
    marked to;

    __device__ void operator()(std::int64_t nth) const {
        const line_stretch s(to, nth);
        if (to.is_solved() || !to.wants(s.line)) return;
        const bool several = to.stretches() > 1;
        const auto at = [&](std::int64_t w) { return to.bits[s.first + w * s.step]; };
        const std::int32_t *const lasts = to.lasts + s.notes, *const firsts = lasts + to.columns * to.stretches();
        std::int64_t before = before_stretch(to, s.number, [&](std::int64_t i) -> std::int64_t {
            return several ? lasts[i * s.step] : last_mark(0, to.words, at);
        });
        std::int64_t after = after_stretch(to, s.number, [&](std::int64_t i) -> std::int64_t {
            return several ? firsts[i * s.step] : first_mark(0, to.words, at);
        });
#pragma unroll 8
        for (std::int64_t w = s.from; w < s.end; ++w) {
            const std::uint32_t word = at(w);
            to.to_before[s.first + w * s.step] = back_to(before, w);
            if (word != 0) before = last_of(word, w);
        }
#pragma unroll 8
        for (std::int64_t w = s.end - 1; w >= s.from; --w) {
            const std::uint32_t word = at(w);
            to.to_after[s.first + w * s.step] = on_to(after, w);
            if (word != 0) after = first_of(word, w);
        }
    }
};

/// Neighbouring elements of a row, read in one load.
template <class Bits, int Count>
struct alignas(sizeof(Bits) * Count) neighbours {
    Bits of[Count];
};

/// Marks 32 rows of `Count` neighbouring columns.
template <class Bits, int Count>
struct mark_columns {
    test<Bits> of;
    pass g;
    marked to;

    __device__ void operator()(std::int64_t nth) const {
        using group = neighbours<Bits, Count>;
        const std::int64_t across = to.columns / Count, word = quotient(nth, across),
                           column = (nth - word * across) * Count;
        if (to.is_solved() || !to.wants(column)) return;
        const std::int64_t first = g.first_cell(column), row = word * mark_bits;
        const int rows = static_cast<int>(min(to.rows - row, static_cast<std::int64_t>(mark_bits)));
        const auto at = [&](std::int64_t r) { return *reinterpret_cast<const group*>(of.data + first + r * to.inner); };
        std::uint32_t bits[Count]{};
        const bool has_before = row > 0 || to.periodic;
        group before = at(row > 0 ? row - 1 : to.periodic ? to.rows - 1 : 0);
#pragma unroll 8
        for (int r = 0; r < rows; ++r) {
            const group mine = at(row + r);
#pragma unroll
            for (int k = 0; k < Count; ++k)
                bits[k] |= static_cast<std::uint32_t>(of.marked(mine.of[k], before.of[k], r > 0 || has_before)) << r;
            before = mine;
        }
#pragma unroll
        for (int k = 0; k < Count; ++k) to.bits[word * to.columns + column + k] = bits[k];
    }
};

/// Fills bits, and zeros where wanted.
template <class Bits>
void mark_with(const device& on, const test<Bits>& of, const marked& to) {
    if (to.inner == 1) {
        const std::int64_t stretches = (to.words + cuda::warp - 1) / cuda::warp;
        return cuda::launch(on, mark_rows<Bits>, (to.columns * stretches + warps - 1) / warps, dim3(cuda::warp, warps),
                            0, of, to, stretches);
    }
    pass g;
    g.rows = to.rows, g.inner = to.inner, g.columns = to.columns;
    constexpr int together = sizeof(Bits) < 8 ? 4 : 2;
    const bool aligned = reinterpret_cast<std::uintptr_t>(of.data) % 16 == 0 && to.inner % together == 0;
    if (aligned) cuda::for_each(on, to.words * to.columns / together, mark_columns<Bits, together>{of, g, to});
    else cuda::for_each(on, to.words * to.columns, mark_columns<Bits, 1>{of, g, to});
}

/// Several threads share a line of the padded images.
struct gather_cells {
    items from;
    grid_shape grid;
    line_shares shares;
    elements type;
    bool only_zeros;
    std::byte* to;

    __device__ void operator()(std::int64_t thread) const {
        const auto mine = shares.of(thread);
        const std::int64_t first = mine.line * shares.length;
        std::int64_t image = 0, x = mine.first;
        const std::int64_t at = grid.split(first, image);
        const place_in place(from, grid, image);
        const target& array = place.of.image;
        const std::int64_t offset = place.offset(array, at), step = place.step(array), last = place.length() - 1;
        for (int i = 0; i < line_shares::cells_each && x < shares.length; ++i, x += shares.together) {
            const std::uint64_t bits = load_bits(array.data, type.bytes, offset + min(x, last) * step);
            if (only_zeros) store_bits(to, 1, first + x, !is_zero(bits, type.bytes, type.floating));
            else store_bits(to, type.bytes, first + x, bits);
        }
    }
};

constexpr int sent_at_once = 3584;
struct parcel {
    std::uint32_t words[sent_at_once / 4];
};

__global__ void __launch_bounds__(threads) unpack(const parcel from, int words, std::uint32_t* to) {
    for (int i = threadIdx.x; i < words; i += threads) to[i] = from.words[i];
}

}  // namespace

void mark_lines(const device& on, const elements& image, mark what, const marked& to) {
    const auto go = [&]<class Bits>(Bits) {
        const Bits keep = static_cast<Bits>(image.floating ? static_cast<Bits>(~Bits{0}) >> 1 : ~Bits{0});
        mark_with<Bits>(on, {reinterpret_cast<const Bits*>(image.data), keep, what}, to);
    };
    switch (image.bytes) {
        case 1: go(std::uint8_t{}); break;
        case 2: go(std::uint16_t{}); break;
        case 4: go(std::uint32_t{}); break;
        default: go(std::uint64_t{});
    }
    if (to.stretches() > 1) cuda::for_each(on, to.columns * to.stretches(), note_stretches{to});
    cuda::for_each(on, to.columns * to.stretches(), carry_along{to});
}

void gather_images(const device& on, const items& from, const grid_shape& grid, std::int64_t cells,
                   const elements& type, bool only_zeros, std::byte* to) {
    const line_shares shares(grid.size[grid.rank - 1], cells);
    cuda::for_each(on, shares.threads(), gather_cells{from, grid, shares, type, only_zeros, to});
}

void send_bytes(const device& on, const void* from, std::int64_t bytes, std::byte* to) {
    for (std::int64_t at = 0; at < bytes; at += sent_at_once) {
        const std::int64_t count = std::min<std::int64_t>(bytes - at, sent_at_once);
        parcel packed{};
        std::memcpy(packed.words, static_cast<const std::byte*>(from) + at, static_cast<std::size_t>(count));
        cuda::launch(on, unpack, 1, dim3(threads), 0, packed, static_cast<int>((count + 3) / 4),
                     reinterpret_cast<std::uint32_t*>(to + at));
    }
}

}  // namespace nearfield::exact
