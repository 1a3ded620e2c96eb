// Rows of images and volumes in one pass: a bit at a site, or at a cell whose label differs from the cell before, by
// ballots or eight cells a lane; a scan of the words carries the last and the next set bit; then each lane has eight
// cells. Reads the image once, of labels also the rows before, and writes 2 bytes a cell of at most 32767 a row.
#pragma once

#include <algorithm>

#include "exact/gpu/rows/begins.cuh"
#include "exact/gpu/rows/pack.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int narrow_warps = 8;
constexpr int narrow_threads = narrow_warps * cuda::warp;
constexpr int nothing = 1 << 20;  // position of a missing site: longer than any row

/// Finds the last set bit before each word of a row, and the first one behind it. Called by one warp.
__device__ inline void carry_words(const std::uint32_t* bits, int* before, int* behind, int words) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    int last = -nothing;
    for (int first = 0; first < words; first += cuda::warp) {
        const int w = first + lane;
        const std::uint32_t b = w < words ? bits[w] : 0;
        int mine = b != 0 ? w * mark_bits + 31 - __clz(static_cast<int>(b)) : -nothing;
        for (int o = 1; o < cuda::warp; o *= 2) {
            const int other = __shfl_up_sync(cuda::every_lane, mine, o);
            if (lane >= o) mine = max(mine, other);
        }
        const int up = __shfl_up_sync(cuda::every_lane, mine, 1);
        if (w < words) before[w] = max(last, lane > 0 ? up : -nothing);
        last = max(last, __shfl_sync(cuda::every_lane, mine, cuda::warp - 1));
    }
    int next = nothing;
    for (int first = (words - 1) / cuda::warp * cuda::warp; first >= 0; first -= cuda::warp) {
        const int w = first + lane;
        const std::uint32_t b = w < words ? bits[w] : 0;
        int mine = b != 0 ? w * mark_bits + __ffs(static_cast<int>(b)) - 1 : nothing;
        for (int o = 1; o < cuda::warp; o *= 2) {
            const int other = __shfl_down_sync(cuda::every_lane, mine, o);
            if (lane + o < cuda::warp) mine = min(mine, other);
        }
        const int down = __shfl_down_sync(cuda::every_lane, mine, 1);
        if (w < words) behind[w] = min(next, lane < cuda::warp - 1 ? down : nothing);
        next = min(next, __shfl_sync(cuda::every_lane, mine, 0));
    }
    __syncwarp();
}

/// A row's words in shared memory.
struct row_words {
    std::uint32_t *bits, *zeros;
    int *before, *behind;
    int words;

    static __host__ __device__ int bytes(int words, bool zeros) { return words * (zeros ? 16 : 12); }
    __device__ row_words(std::uint32_t* memory, int words_)
        : bits(memory),
          zeros(memory + 3 * words_),
          before(reinterpret_cast<int*>(memory + words_)),
          behind(before + words_),
          words(words_) {}
};

template <class Bits>
__device__ void fill_sites(const row_words& to, const row_image<Bits>& of, std::int64_t lines, std::int64_t start,
                           int length) {
    const auto lane = static_cast<int>(threadIdx.x);
    if constexpr (sizeof(Bits) == 1) {
        site_bytes image;
        image.data = of.data, image.length = length, image.lines = lines, image.zero_is_site = !of.nonzero_is_site;
        const bool aligned = length % 16 == 0 && reinterpret_cast<std::uintptr_t>(of.data) % 16 == 0;
        for (int x = 0; x < length; x += scan_cells) {
            const int cells = min(length - x, scan_cells);
            const std::uint32_t mine = aligned ? word_of_cells<cells_by::sixteens>(image, start + x, cells)
                                               : word_of_cells<cells_by::bytes>(image, start + x, cells);
            if (lane * mark_bits < cells) to.bits[x / mark_bits + lane] = mine;
        }
    } else {
#pragma unroll 4
        for (int w = 0; w < to.words; ++w) {
            const int x = w * mark_bits + lane;
            const Bits cell = of.data[start + min(x, length - 1)] & of.keep;
            const std::uint32_t b = __ballot_sync(cuda::every_lane, x < length && (cell != 0) == of.nonzero_is_site);
            if (lane == 0) to.bits[w] = b;
        }
    }
}

template <class Bits>
__device__ void fill_changes(const row_words& to, const row_image<Bits>& of, std::int64_t start, int length,
                             bool periodic) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    Bits carried = of.at(start + (periodic ? length - 1 : 0));  // the cell before the word's first one
#pragma unroll 4
    for (int w = 0; w < to.words; ++w) {
        const int x = w * mark_bits + lane;
        const Bits mine = of.at(start + min(x, length - 1));
        Bits left = __shfl_up_sync(cuda::every_lane, mine, 1);
        if (lane == 0) left = carried;
        carried = __shfl_sync(cuda::every_lane, mine, cuda::warp - 1);
        const std::uint32_t b = __ballot_sync(cuda::every_lane, x < length && mine != left),
                            zero = __ballot_sync(cuda::every_lane, x < length && of.background && mine == 0);
        if (lane == 0) to.bits[w] = b, to.zeros[w] = zero;
    }
}

/// Does the same eight cells of a lane at a time, and notes where runs begin along other axes.
template <class Bits>
__device__ void fill_changes_by_eights(const row_words& to, const row_image<Bits>& of, std::int64_t line, int length,
                                       bool periodic) {
    const std::int64_t start = line * length;
    constexpr int axes = noted_axes;
    std::int64_t before[axes];
#pragma unroll
    for (int i = 0; i < axes; ++i) before[i] = of.begins[i].bits != nullptr ? of.begins[i].before(line) * length : 0;
    const auto put = [](std::uint32_t* words, int x, std::uint32_t bits) {
        reinterpret_cast<std::uint8_t*>(words)[x / narrow_cells] = static_cast<std::uint8_t>(bits);
    };
    for (int x = static_cast<int>(threadIdx.x) * narrow_cells; x < to.words * mark_bits;
         x += cuda::warp * narrow_cells) {
        std::uint32_t changes = 0, zeros = 0, begins[axes]{};
        if (x < length) {
            const eight_cells<Bits> mine = of.eight_at(start + x);
#pragma unroll
            for (int i = 0; i < axes; ++i)
                if (of.begins[i].bits != nullptr) begins[i] = of.differing(mine, of.eight_at(before[i] + x));
            const Bits left = of.data[start + (x > 0 ? x - 1 : periodic ? length - 1 : 0)];
            changes = of.differing(mine, mine.shifted(left));
            if (of.background) zeros = ~mine.nonzero(of.keep);
        }
        put(to.bits, x, changes), put(to.zeros, x, zeros);
#pragma unroll
        for (int i = 0; i < axes; ++i)
            if (of.begins[i].bits != nullptr) put(of.begins[i].bits + line * to.words, x, begins[i]);
    }
}

/// Nearest sites of a row, for cells in any order.
struct row_sites_at {
    const row_words& row;
    int length, first, last;  ///< the row's first and last bits
    bool changes, periodic;

    /// Returns the site of cell x; the smaller coordinate of two equally near ones. INT16_MIN if there is none.
    __device__ std::int16_t operator()(int x) const {
        const int w = x / mark_bits, i = x % mark_bits;
        const std::uint32_t b = row.bits[w], lower = b << (31 - i), upper = changes ? b >> i >> 1 : b >> i;
        if (changes && (row.zeros[w] >> i & 1) != 0) return static_cast<std::int16_t>(x);
        int l = lower != 0 ? x - __clz(static_cast<int>(lower)) : row.before[w];
        int r = upper != 0 ? x + __ffs(static_cast<int>(upper)) - (changes ? 0 : 1) : row.behind[w];
        if (periodic && l < 0) l = last - length;
        if (periodic && r >= length) r = first + length;
        if (changes) --l;
        const int to_left = x - l, to_right = r - x;
        if (min(to_left, to_right) > 2 * INT16_MAX) return INT16_MIN;
        const int low = periodic ? wrapped(l, length) : l, high = periodic ? wrapped(r, length) : r;
        return static_cast<std::int16_t>(to_left < to_right ? low : to_right < to_left ? high : min(low, high));
    }
};

/// Returns eight cells from cell x on: the nearer of the site before and the site behind, by their sum. At changes of
/// labels the sites are the cells on the other side; cells of the background are their own sites. In joined rows of
/// `length` cells sites lie beyond the ends, too, and the smaller coordinate of two that tie may be the one behind.
template <bool Labels, bool Joined>
__device__ uint4 step_over_sites(const row_words& row, int x, int length, bool empty) {
    const std::uint32_t b = row.bits[x / mark_bits];
    const int i = x % mark_bits;
    const std::uint32_t lower = b << (31 - i), upper = Labels ? b >> (i + 7) >> 1 : b >> (i + 7), mine = b >> i;
    int left = lower != 0 ? x - __clz(static_cast<int>(lower)) : row.before[x / mark_bits],
        right = upper != 0 ? x + 6 + (Labels ? 1 : 0) + __ffs(static_cast<int>(upper)) : row.behind[x / mark_bits];
    int before[narrow_cells];
    std::uint32_t site[narrow_cells];
#pragma unroll
    for (int k = 0; k < narrow_cells; ++k) {
        left = (mine >> k & 1) != 0 ? x + k : left;
        before[k] = Labels ? left - 1 : left;
    }
#pragma unroll
    for (int k = narrow_cells - 1; k >= 0; --k) {
        if (!Labels) right = (mine >> k & 1) != 0 ? x + k : right;
        const int low = Joined && before[k] < 0 ? before[k] + length : before[k],
                  high = Joined && right >= length ? right - length : right,
                  nearer = before[k] + right - (Joined && high < low ? 1 : 0);
        site[k] = static_cast<std::uint32_t>(nearer >= 2 * (x + k) ? low : high);
        if (Labels) right = (mine >> k & 1) != 0 ? x + k : right;
    }
    if constexpr (Labels) {
        const std::uint32_t zeros = row.zeros[x / mark_bits] >> i;
#pragma unroll
        for (int k = 0; k < narrow_cells; ++k)
            site[k] = (zeros >> k & 1) != 0 ? static_cast<std::uint32_t>(x + k) : empty ? 0x8000u : site[k];
    }
    uint4 u = {__byte_perm(site[0], site[1], 0x5410), __byte_perm(site[2], site[3], 0x5410),
               __byte_perm(site[4], site[5], 0x5410), __byte_perm(site[6], site[7], 0x5410)};
    if (!Labels && empty) u = {0x80008000u, 0x80008000u, 0x80008000u, 0x80008000u};
    return u;
}

/// Returns the first and the last set bit of a row.
__device__ inline int2 ends_of(const row_words& row) {
    const int last = row.words - 1;
    const auto low = static_cast<int>(row.bits[0]), high = static_cast<int>(row.bits[last]);
    return {low != 0 ? __ffs(low) - 1 : row.behind[0],
            high != 0 ? last * mark_bits + mark_bits - 1 - __clz(high) : row.before[last]};
}

/// Lets the words at both ends of a row have the other end's bits beside them. Called by one warp.
__device__ inline void join_ends(const row_words& row, int length) {
    const int2 ends = ends_of(row);
    __syncwarp();
    for (int w = static_cast<int>(threadIdx.x); w < row.words; w += cuda::warp) {
        if (row.before[w] < 0) row.before[w] = ends.y - length;
        if (row.behind[w] >= length) row.behind[w] = ends.x + length;
    }
    __syncwarp();
}

/// Writes a row, eight cells of each lane at a time. Rows that do not begin at multiples of 16 bytes are written by
/// way of `turned`, a cell of each lane after another.
template <bool Labels, bool Joined>
__device__ void write_row(const row_words& row, int length, std::int16_t* to, uint4* turned) {
    const bool empty = row.before[row.words - 1] < 0 && row.bits[row.words - 1] == 0;
    if constexpr (Joined) join_ends(row, length);
    const auto lane = static_cast<int>(threadIdx.x);
    const auto* const cells = reinterpret_cast<const std::int16_t*>(turned);
    for (int first = 0; first < length; first += cuda::warp * narrow_cells) {
        const int x = first + lane * narrow_cells;
        const uint4 mine = x < length ? step_over_sites<Labels, Joined>(row, x, length, empty) : uint4{};
        if (length % narrow_cells == 0) {
            if (x < length) *reinterpret_cast<uint4*>(to + x) = mine;
            continue;
        }
        turned[lane] = mine;
        __syncwarp();
#pragma unroll
        for (int i = lane; i < cuda::warp * narrow_cells; i += cuda::warp)
            if (first + i < length) to[first + i] = cells[i];
        __syncwarp();
    }
}

/// A warp owns a row.
template <class Bits, bool Labels>
__global__ void __launch_bounds__(narrow_threads)
    write_narrow_rows(const row_image<Bits> of, std::int64_t lines, int length, bool periodic, std::int16_t* to) {
    extern __shared__ uint4 turned_rows[];  // 32 a warp, and behind them each warp's row_words
    auto* const row_memory = reinterpret_cast<std::uint32_t*>(turned_rows + blockDim.y * cuda::warp);
    const int warp = static_cast<int>(threadIdx.y), words = (length + mark_bits - 1) / mark_bits;
    const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + warp, start = line * length;
    if (of.unsolved != nullptr && blockIdx.x == 0 && warp == 0 && threadIdx.x < max_rank) of.unsolved[threadIdx.x] = 0;
    if (line >= lines || are_few(of.many)) return;
    const row_words row(row_memory + warp * (row_words::bytes(words, Labels) / 4), words);
    if (Labels && of.by_eights) fill_changes_by_eights(row, of, line, length, periodic);
    else if constexpr (Labels) fill_changes(row, of, start, length, periodic);
    else fill_sites(row, of, lines, start, length);
    __syncwarp();
    carry_words(row.bits, row.before, row.behind, words);
    uint4* const turned = turned_rows + warp * cuda::warp;
    if (periodic) write_row<Labels, true>(row, length, to + start, turned);
    else write_row<Labels, false>(row, length, to + start, turned);
}

constexpr int short_row = 128;     // cells from which on a warp has one row
constexpr int short_cells = 1024;  // most cells of a warp's short rows
constexpr int short_words = 64;    // most words of these rows, each of which begins with a word of its own
constexpr int flat_words = short_cells / mark_bits + 1;

/// Neighbouring rows of less than 128 cells that a warp owns.
template <bool Labels>
struct short_rows {
    static constexpr int bytes = static_cast<int>(2 * flat_words + short_words * (Labels ? 4 : 3)) * 4;
    std::uint32_t *flat, *flat_zeros, *rows;
    int length, count, words;

    __device__ short_rows(std::uint32_t* memory, int length_, int count_)
        : flat(memory),
          flat_zeros(memory + flat_words),
          rows(memory + 2 * flat_words),
          length(length_),
          count(count_),
          words((length_ + mark_bits - 1) / mark_bits) {}
    [[nodiscard]] __device__ row_words row(int line) const {
        return {rows + line * (row_words::bytes(words, Labels) / 4), words};
    }

    /// Makes the bits of all cells, one row behind the other.
    template <class Bits>
    __device__ void fill(const row_image<Bits>& of, std::int64_t start) const {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp, cells = count * length;
        Bits carried = 0;
#pragma unroll 4
        for (int w = 0; w * mark_bits < cells; ++w) {
            const int i = w * mark_bits + lane;
            const Bits value = Labels ? of.at(start + min(i, cells - 1))
                                      : static_cast<Bits>(of.data[start + min(i, cells - 1)] & of.keep);
            bool set = (value != 0) == of.nonzero_is_site;
            if constexpr (Labels) {
                Bits left = __shfl_up_sync(cuda::every_lane, value, 1);
                if (lane == 0) left = carried;
                carried = __shfl_sync(cuda::every_lane, value, cuda::warp - 1);
                set = value != left;
                const std::uint32_t zero = __ballot_sync(cuda::every_lane, of.background && value == 0);
                if (lane == 0) flat_zeros[w] = zero;
            }
            const std::uint32_t bits = __ballot_sync(cuda::every_lane, set);
            if (lane == 0) flat[w] = bits;
        }
        __syncwarp();
    }
    /// Makes the words of each row.
    template <class Bits>
    __device__ void split(const row_image<Bits>& of, std::int64_t start, bool periodic) const {
        for (int k = static_cast<int>(threadIdx.x) % cuda::warp; k < count * words; k += cuda::warp) {
            const int line = k / words, w = k - line * words, at = line * length + w * mark_bits,
                      cells = length - w * mark_bits;
            const std::uint32_t all = cells < mark_bits ? (1u << cells) - 1 : ~0u;
            const auto cut = [&](const std::uint32_t* from) {
                const std::uint32_t* const word = from + at / mark_bits;
                return __funnelshift_r(word[0], word[1], static_cast<unsigned>(at % mark_bits)) & all;
            };
            const row_words to = row(line);
            std::uint32_t bits = cut(flat);
            if constexpr (Labels) {
                const std::int64_t first = start + line * length;
                if (w == 0) bits = (bits & ~1u) | (periodic && of.at(first) != of.at(first + length - 1) ? 1 : 0);
                to.zeros[w] = cut(flat_zeros);
            }
            to.bits[w] = bits;
        }
        __syncwarp();
        for (int k = static_cast<int>(threadIdx.x) % cuda::warp; k < count * words; k += cuda::warp) {
            const int line = k / words, w = k - line * words;
            const row_words to = row(line);
            int before = -nothing, behind = nothing;
            for (int i = 0; i < words; ++i) {
                const auto bits = static_cast<int>(to.bits[i]);
                if (i < w && bits != 0) before = i * mark_bits + mark_bits - 1 - __clz(bits);
                if (i > w && bits != 0) behind = min(behind, i * mark_bits + __ffs(bits) - 1);
            }
            to.before[w] = before, to.behind[w] = behind;
        }
        __syncwarp();
    }
};

/// A warp owns several rows of less than 128 cells.
template <class Bits, bool Labels>
__global__ void __launch_bounds__(narrow_threads)
    write_short_rows(const row_image<Bits> of, std::int64_t lines, int length, int lines_a_warp, bool periodic,
                     std::int16_t* to) {
    __shared__ std::uint32_t memory[narrow_warps * short_rows<Labels>::bytes / 4];
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * narrow_warps + warp) * lines_a_warp,
                       start = first * length;
    if (of.unsolved != nullptr && blockIdx.x == 0 && threadIdx.x < max_rank) of.unsolved[threadIdx.x] = 0;
    if (first >= lines || are_few(of.many)) return;
    const short_rows<Labels> rows(memory + warp * (short_rows<Labels>::bytes / 4), length,
                                  static_cast<int>(min(lines - first, static_cast<std::int64_t>(lines_a_warp))));
    rows.fill(of, start);
    rows.split(of, start, periodic);
    const float inverse = 1.0f / static_cast<float>(length);
    for (int i = static_cast<int>(threadIdx.x) % cuda::warp; i < rows.count * length; i += cuda::warp) {
        // Exact: the quotient is half a cell from whole numbers, and the error below 10^-4 rows.
        const int line = static_cast<int>((static_cast<float>(i) + 0.5f) * inverse);
        const row_words row = rows.row(line);
        const int2 ends = periodic ? ends_of(row) : int2{};
        to[start + i] = row_sites_at{row, length, ends.x, ends.y, Labels, periodic}(i - line * length);
    }
}

/// Writes the rows, and notes where runs begin along other axes.
template <class Bits>
void write_narrow(const device& on, row_image<Bits> of, const begin_notes& begins, bool labels, std::int64_t lines,
                  int length, bool periodic, std::int16_t* to) {
    of.by_eights = labels && length >= short_row && length % narrow_cells == 0 &&
                   reinterpret_cast<std::uintptr_t>(of.data) % 16 == 0;
    const std::size_t noted = of.by_eights ? std::min<std::size_t>(begins.all().size(), noted_axes) : 0;
    std::copy_n(begins.all().begin(), noted, of.begins);
    for (const begin_axis& axis : begins.all().subspan(noted))
        cuda::for_each(on, lines * blocks_for(length, mark_bits) * cuda::warp, note_begins<Bits>{of, axis, length});
    if (length < short_row) {
        const int each = std::min(short_cells / length, short_words / ((length + mark_bits - 1) / mark_bits));
        cuda::launch(on, labels ? write_short_rows<Bits, true> : write_short_rows<Bits, false>,
                     blocks_for(lines, std::int64_t{each} * narrow_warps), dim3(narrow_threads), 0, of, lines, length,
                     each, periodic, to);
        return;
    }
    const int words = (length + mark_bits - 1) / mark_bits;
    // A row of 32767 cells takes up to 16 KB.
    const std::size_t of_warp = row_words::bytes(words, labels) + cuda::warp * sizeof(uint4),
                      warps = std::min<std::size_t>(narrow_warps, cuda::limits().shared_bytes / of_warp);
    cuda::launch(on, labels ? write_narrow_rows<Bits, true> : write_narrow_rows<Bits, false>,
                 blocks_for(lines, static_cast<std::int64_t>(warps)), dim3(cuda::warp, static_cast<unsigned>(warps)),
                 warps * of_warp, of, lines, length, periodic, to);
}

}  // namespace
}  // namespace nearfield::exact::gpu
