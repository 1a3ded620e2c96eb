#include "exact/gpu/ground/marks.hpp"

#include <algorithm>
#include <cstring>

#include "base/cuda.cuh"

namespace nearfield::exact {
namespace {

constexpr int warps = 8;
constexpr int threads = warps * cuda::warp;
constexpr std::int32_t nowhere = -1;

std::int64_t blocks_of(std::int64_t items) { return (items + threads - 1) / threads; }

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

__device__ std::int32_t largest_up_to(std::int32_t x) {
    for (int o = 1; o < cuda::warp; o *= 2) {
        const std::int32_t other = __shfl_up_sync(cuda::every_lane, x, o);
        if (threadIdx.x >= static_cast<unsigned>(o)) x = max(x, other);
    }
    return x;
}
__device__ std::uint32_t smallest_from(std::uint32_t x) {
    for (int o = 1; o < cuda::warp; o *= 2) {
        const std::uint32_t other = __shfl_down_sync(cuda::every_lane, x, o);
        if (threadIdx.x + o < static_cast<unsigned>(cuda::warp)) x = min(x, other);
    }
    return x;
}

__device__ std::int32_t last_of(std::uint32_t word, std::int64_t w) {
    return word ? static_cast<std::int32_t>(w * mark_bits) + 31 - __clz(static_cast<int>(word)) : nowhere;
}
__device__ std::uint32_t first_of(std::uint32_t word, std::int64_t w) {
    return word ? static_cast<std::uint32_t>(w * mark_bits) + __ffs(static_cast<int>(word)) - 1 : no_mark;
}

/// Returns the last mark before the first word: on a periodic line that of its end. `at(w)` is word w.
template <class At>
__device__ std::int64_t before_line(const marked& to, const At& at) {
    for (std::int64_t w = to.words - 1; to.periodic && w >= 0; --w)
        if (at(w) != 0) return last_of(at(w), w) - to.rows;
    return INT64_MIN;
}
template <class At>
__device__ std::int64_t after_line(const marked& to, const At& at) {
    for (std::int64_t w = 0; to.periodic && w < to.words; ++w)
        if (at(w) != 0) return first_of(at(w), w) + to.rows;
    return INT64_MAX;
}
__device__ std::uint32_t back_to(std::int64_t position, std::int64_t w) {
    return position == INT64_MIN ? no_mark : static_cast<std::uint32_t>(w * mark_bits - position);
}
__device__ std::uint32_t on_to(std::int64_t position, std::int64_t w) {
    return position == INT64_MAX ? no_mark : static_cast<std::uint32_t>(position - w * mark_bits);
}

/// Returns the last mark before stretch s of a line that has several; `at(i)` is the last mark of stretch i.
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

/// Finds the last and first mark of each stretch, if lines have several. A thread owns a stretch; neighbouring threads
/// have neighbouring columns or, along the last axis, neighbouring stretches.
__global__ void __launch_bounds__(threads) note_stretches(const marked to) {
    const bool rows = to.inner == 1;
    const std::int64_t stretches = to.stretches(), count = to.columns * stretches;
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.y * cuda::warp + threadIdx.x;
    if (nth >= count) return;
    const std::int64_t inner = rows ? stretches : to.columns, above = quotient(nth, inner), rest = nth - above * inner;
    const std::int64_t from = (rows ? rest : above) * stretch_words, step = rows ? 1 : to.columns;
    const std::uint32_t* const bits = to.bits + (rows ? above * to.words : rest);
    std::int32_t last = nowhere;
    std::uint32_t first = no_mark;
#pragma unroll 8
    for (std::int64_t w = from; w < min(from + stretch_words, to.words); ++w) {
        const std::uint32_t word = bits[w * step];
        last = max(last, last_of(word, w)), first = min(first, first_of(word, w));
    }
    to.lasts[nth] = last, to.lasts[count + nth] = static_cast<std::int32_t>(first);
}

/// A warp owns a stretch of a line of the last axis, 32 words at a time.
__global__ void __launch_bounds__(threads) carry_rows(const marked to) {
    const std::int64_t stretches = to.stretches(), nth = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.y;
    if (nth >= to.columns * stretches) return;
    const std::int64_t line = quotient(nth, stretches), stretch = nth - line * stretches;
    const std::int64_t from = stretch * stretch_words, end = min(from + stretch_words, to.words);
    const std::uint32_t* const bits = to.bits + line * to.words;
    const std::int32_t* const lasts = to.lasts + line * stretches;
    const auto at = [&](std::int64_t w) { return bits[w]; };
    std::int64_t carried =
        stretches == 1 ? before_line(to, at) : before_stretch(to, stretch, [&](std::int64_t i) { return lasts[i]; });
    for (std::int64_t first = from; first < end; first += cuda::warp) {
        const std::int64_t w = first + threadIdx.x;
        const std::int32_t upto = largest_up_to(w < end ? last_of(bits[w], w) : nowhere);
        const std::int32_t left = __shfl_up_sync(cuda::every_lane, upto, 1);
        if (w < end)
            to.to_before[line * to.words + w] = back_to(threadIdx.x > 0 && left != nowhere ? left : carried, w);
        const std::int32_t last = __shfl_sync(cuda::every_lane, upto, cuda::warp - 1);
        if (last != nowhere) carried = last;
    }
    carried = stretches == 1
                  ? after_line(to, at)
                  : after_stretch(to, stretch, [&](std::int64_t i) { return lasts[to.columns * stretches + i]; });
    for (std::int64_t first = from + (end - from - 1) / cuda::warp * cuda::warp; first >= from; first -= cuda::warp) {
        const std::int64_t w = first + threadIdx.x;
        const std::uint32_t behind = smallest_from(w < end ? first_of(bits[w], w) : no_mark);
        const std::uint32_t right = __shfl_down_sync(cuda::every_lane, behind, 1);
        if (w < end)
            to.to_after[line * to.words + w] =
                on_to(threadIdx.x < cuda::warp - 1 && right != no_mark ? right : carried, w);
        const std::uint32_t nearest = __shfl_sync(cuda::every_lane, behind, 0);
        if (nearest != no_mark) carried = nearest;
    }
}

/// Neighbouring elements of a row, read in one load.
template <class Bits, int Count>
struct alignas(sizeof(Bits) * Count) neighbours {
    Bits of[Count];
};

/// A thread owns 32 rows of `Count` neighbouring columns. Neighbouring threads have neighbouring columns.
template <class Bits, int Count>
__global__ void __launch_bounds__(threads) mark_columns(const test<Bits> of, const pass g, const marked to) {
    using group = neighbours<Bits, Count>;
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x, across = to.columns / Count;
    if (nth >= to.words * across) return;
    const std::int64_t word = quotient(nth, across), column = (nth - word * across) * Count;
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

/// A block owns a stretch of 32 columns, a warp a share of its words. Marks beyond a share come from the shares of the
/// other warps, then from the other stretches.
__global__ void __launch_bounds__(threads) carry_columns(const marked to) {
    __shared__ std::int64_t lasts[warps][cuda::warp], firsts[warps][cuda::warp];
    const std::int64_t stretches = to.stretches(), block = quotient(blockIdx.x, stretches);
    const std::int64_t stretch = blockIdx.x - block * stretches, start = stretch * stretch_words;
    const std::int64_t words = min(to.words - start, stretch_words);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const std::int64_t column = block * cuda::warp + lane;
    const bool within = column < to.columns, one_stretch = stretches == 1;
    const std::int64_t from = start + words * warp / warps, end = start + words * (warp + 1) / warps;
    const auto noted = [&](std::int64_t i) { return to.lasts[i * to.columns + column]; };
    const std::uint32_t* const __restrict__ bits = to.bits + column;
    std::int64_t last = INT64_MIN, first = INT64_MAX;
#pragma unroll 8
    for (std::int64_t w = from; w < end; ++w) {
        const std::uint32_t word = within ? bits[w * to.columns] : 0;
        if (word == 0) continue;
        last = last_of(word, w);
        if (first == INT64_MAX) first = first_of(word, w);
    }
    lasts[warp][lane] = last, firsts[warp][lane] = first;
    __syncthreads();
    if (!within) return;
    std::uint32_t* const __restrict__ to_before = to.to_before + column;
    std::uint32_t* const __restrict__ to_after = to.to_after + column;
    // In a periodic column the marks of its end come before its first word, and vice versa.
    std::int64_t carried = INT64_MIN;
    for (int i = 1; i <= (to.periodic && one_stretch ? warps : warp) && carried == INT64_MIN; ++i) {
        const int other = (warp + warps - i) % warps;
        if (lasts[other][lane] != INT64_MIN) carried = lasts[other][lane] - (other < warp ? 0 : to.rows);
    }
    if (!one_stretch && carried == INT64_MIN) carried = before_stretch(to, stretch, noted);
#pragma unroll 8
    for (std::int64_t w = from; w < end; ++w) {
        to_before[w * to.columns] = back_to(carried, w);
        const std::uint32_t word = bits[w * to.columns];
        if (word != 0) carried = last_of(word, w);
    }
    carried = INT64_MAX;
    for (int i = 1; i <= (to.periodic && one_stretch ? warps : warps - 1 - warp) && carried == INT64_MAX; ++i) {
        const int other = (warp + i) % warps;
        if (firsts[other][lane] != INT64_MAX) carried = firsts[other][lane] + (other > warp ? 0 : to.rows);
    }
    if (!one_stretch && carried == INT64_MAX)
        carried = after_stretch(to, stretch, [&](std::int64_t i) { return noted(stretches + i); });
#pragma unroll 8
    for (std::int64_t w = end - 1; w >= from; --w) {
        to_after[w * to.columns] = on_to(carried, w);
        const std::uint32_t word = bits[w * to.columns];
        if (word != 0) carried = first_of(word, w);
    }
}

template <class Bits>
void mark_with(const device& on, const test<Bits>& of, const marked& to) {
    const dim3 block(cuda::warp, warps);
    const auto note = [&] {
        if (to.stretches() > 1) cuda::launch(on, note_stretches, blocks_of(to.columns * to.stretches()), block, 0, to);
    };
    if (to.inner == 1) {
        const std::int64_t stretches = (to.words + cuda::warp - 1) / cuda::warp;
        cuda::launch(on, mark_rows<Bits>, (to.columns * stretches + warps - 1) / warps, block, 0, of, to, stretches);
        if (to.to_before == nullptr) return;
        const std::int64_t blocks = (to.columns * to.stretches() + warps - 1) / warps;
        note();
        cuda::launch(on, carry_rows, blocks, block, 0, to);
        return;
    }
    pass g;
    g.rows = to.rows, g.inner = to.inner, g.columns = to.columns;
    constexpr int together = sizeof(Bits) < 8 ? 4 : 2;
    const bool aligned = reinterpret_cast<std::uintptr_t>(of.data) % 16 == 0 && to.inner % together == 0;
    if (aligned)
        cuda::launch(on, mark_columns<Bits, together>, blocks_of(to.words * to.columns / together), dim3(threads), 0,
                     of, g, to);
    else cuda::launch(on, mark_columns<Bits, 1>, blocks_of(to.words * to.columns), dim3(threads), 0, of, g, to);
    note();
    cuda::launch(on, carry_columns, (to.columns + cuda::warp - 1) / cuda::warp * to.stretches(), dim3(threads), 0, to);
}

/// Several threads share a line of the padded images.
__global__ void __launch_bounds__(threads)
    gather_cells(const __grid_constant__ items from, const __grid_constant__ grid_shape grid,
                 const __grid_constant__ line_shares shares, const elements type, bool only_zeros, std::byte* to) {
    const auto mine = shares.of(static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x);
    if (mine.line >= shares.lines) return;
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
        case 1: return go(std::uint8_t{});
        case 2: return go(std::uint16_t{});
        case 4: return go(std::uint32_t{});
        default: return go(std::uint64_t{});
    }
}

void gather_images(const device& on, const items& from, const grid_shape& grid, std::int64_t cells,
                   const elements& type, bool only_zeros, std::byte* to) {
    const line_shares shares(grid.size[grid.rank - 1], cells);
    cuda::launch(on, gather_cells, blocks_of(shares.threads()), dim3(threads), 0, from, grid, shares, type, only_zeros,
                 to);
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
