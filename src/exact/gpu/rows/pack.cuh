// Packing of lines into words (words.cuh): the kernels and their launches.
#pragma once

#include <algorithm>

#include "exact/gpu/ground/items.cuh"
#include "exact/gpu/rows/words.cuh"

namespace nearfield::exact {
namespace {

/// Returns a word whose bit i, in lane l, says that cell 32 * l + i of up to 1024 is a site. Lane l passes cells 16 * l
/// to 16 * l + 15, and those 512 further on.
__device__ inline std::uint32_t word_of_sixteens(uint4 low, uint4 high, int cells, bool zero_is_site) {
    const int lane = threadIdx.x, sixteens = cells / 16;
    const bool has_low = lane < sixteens, has_high = lane + cuda::warp < sixteens;
    const std::uint32_t flip = zero_is_site ? 0xffff : 0;
    std::uint32_t mine = has_low ? nonzero_bytes(low) ^ flip : 0;
    if (has_high) mine |= (nonzero_bytes(high) ^ flip) << 16;
    const std::uint32_t even = __shfl_sync(cuda::every_lane, mine, 2 * lane % cuda::warp);
    const std::uint32_t odd = __shfl_sync(cuda::every_lane, mine, 2 * lane % cuda::warp + 1);
    return __byte_perm(even, odd, lane < cuda::warp / 2 ? 0x5410 : 0x7632);
}

/// Does the same with two loads per lane. The cells begin and end at multiples of 16 bytes.
__device__ inline std::uint32_t word_by_sixteen(const uint4* from, int cells, bool zero_is_site) {
    const int lane = threadIdx.x, sixteens = cells / 16;
    uint4 low{}, high{};
    if (lane < sixteens) low = __ldcs(from + lane);
    if (lane + cuda::warp < sixteens) high = __ldcs(from + cuda::warp + lane);
    return word_of_sixteens(low, high, cells, zero_is_site);
}

/// Returns sixteen cells as bits; bytes outside the image are not read.
__device__ inline std::uint32_t sixteen_cells(const site_bytes& image, const std::uint8_t* from) {
    const std::uint8_t* const end = image.data + image.lines * image.length;
    const std::uint32_t flip = image.zero_is_site ? 0xffff : 0;
    if (from >= image.data && from + 16 <= end)
        return nonzero_bytes(__ldcs(reinterpret_cast<const uint4*>(from))) ^ flip;
    std::uint32_t bits = 0;
    for (int i = 0; i < 16; ++i)
        if (from + i >= image.data && from + i < end && from[i] != 0) bits |= 1u << i;
    return bits ^ flip;
}

/// Returns the lane's 32 of up to 1024 cells from `from` on, at any alignment: it reads the cells before the first one
/// in the same 16 bytes too.
__device__ inline std::uint32_t word_anywhere(const site_bytes& image, const std::uint8_t* from, int cells) {
    const int lane = threadIdx.x, skipped = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) % 16);
    const auto sixteen = [&](int nth) {
        return 16 * nth < skipped + cells ? sixteen_cells(image, from - skipped + 16 * nth) : 0;
    };
    const std::uint32_t low = sixteen(2 * lane), high = sixteen(2 * lane + 1),
                        behind = lane == cuda::warp - 1 ? sixteen(2 * cuda::warp) : 0, bits = low | high << 16,
                        next = __shfl_down_sync(cuda::every_lane, bits, 1);
    const std::uint32_t word = __funnelshift_r(bits, lane == cuda::warp - 1 ? behind : next, skipped);
    const int left = cells - lane * cuda::warp;
    return left >= cuda::warp ? word : left <= 0 ? 0 : word & ((1u << left) - 1);
}

/// Returns the lane's word, with the nearest sites on either side among the words of the lanes `filled`.
__device__ inline line_word word_among(std::uint32_t word, std::uint32_t filled) {
    const int lane = threadIdx.x;
    const std::uint32_t lower = filled & ((1u << lane) - 1), upper = filled & ~((2u << lane) - 1);
    const int left = 31 - __clz(static_cast<int>(lower)), right = __ffs(static_cast<int>(upper)) - 1;
    const std::uint32_t their_last = __shfl_sync(cuda::every_lane, __clz(static_cast<int>(word)), left),
                        their_first = __shfl_sync(cuda::every_lane, __ffs(static_cast<int>(word)) - 1, right);
    const std::uint32_t before = lower ? static_cast<std::uint32_t>((lane - left - 1) * cuda::warp) + their_last + 1
                                       : nowhere_beside,
                        after = upper ? static_cast<std::uint32_t>((right - lane - 1) * cuda::warp) + their_first + 1
                                      : nowhere_beside;
    return {word, before | after << 16};
}

/// Returns the ends of a stretch whose words the lanes hold, the same in all lanes.
__device__ inline stretch_ends ends_of(std::uint32_t word, std::uint32_t filled) {
    if (filled == 0) return {no_ends};
    const int left = __ffs(static_cast<int>(filled)) - 1, behind = __clz(static_cast<int>(filled));
    const std::uint32_t first = __shfl_sync(cuda::every_lane, __ffs(static_cast<int>(word)) - 1, left),
                        last = __shfl_sync(cuda::every_lane, __clz(static_cast<int>(word)), 31 - behind);
    return {static_cast<std::uint32_t>(left * cuda::warp) + first |
            (static_cast<std::uint32_t>(behind * cuda::warp) + last) << 16};
}

/// Adds the 32 x 32 cells of a plane that each warp of a block has, one row of cells per lane, to the list of sites. If
/// they are so many that sites cannot be few, the list is given up; `open`: it was not, says its first thread.
/// A block adds once to the count: a GPU takes 7 ns for each of many sums or stores at one place.
__device__ inline void list_sites(const packed_sites& to, bool open, std::uint32_t sites, std::int64_t plane, int row,
                                  int x) {
    __shared__ int total, start;
    const int mine = __popc(sites), all = __reduce_add_sync(cuda::every_lane, mine), lane = threadIdx.x;
    const bool first = lane == 0 && threadIdx.y == 0;
    if (first) total = 0;
    if (__syncthreads_or(all > patch_sites)) {
        if (open) *to.many = 1;
        return;
    }
    int place = lane == 0 && all > 0 ? atomicAdd(&total, all) : 0;
    __syncthreads();
    if (total == 0) return;
    if (first) {
        start = total <= block_sites && to.is_open() ? atomicAdd(to.count, total) : to.most;
        if (start + total > to.most) *to.many = 1;
    }
    __syncthreads();
    int before = mine;
    for (int o = 1; o < cuda::warp; o *= 2) {
        const int other = __shfl_up_sync(cuda::every_lane, before, o);
        if (lane >= o) before += other;
    }
    place = start + __shfl_sync(cuda::every_lane, place, 0) + before - mine;
    const auto image = static_cast<int>(to.planes == 0 ? plane : quotient(plane, to.planes)),
               z = static_cast<int>(plane) - image * to.planes;
    for (; sites != 0 && place < to.most; sites &= sites - 1, ++place) {
        const int at = x + __ffs(static_cast<int>(sites)) - 1;
        if (to.planes == 0) to.sites[place] = {0, {at, 0, row + lane}, image};
        else to.sites[place] = {0, {at, row + lane, z}, image};
    }
}

/// Counters that pack_lines clears for later kernels.
struct tile_counts {
    std::int32_t* unresolved = nullptr;  ///< 2 * max_rank numbers
    std::uint32_t* marks = nullptr;      ///< mark_count numbers
    std::int64_t mark_count = 0;

    /// Clears the counters; called by all threads of a grid.
    __device__ void clear(int thread, int threads) const {
        if (blockIdx.x == 0 && thread < 2 * max_rank) unresolved[thread] = 0;
        for (std::int64_t i = std::int64_t{blockIdx.x} * threads + thread; i < mark_count;
             i += std::int64_t{gridDim.x} * threads)
            marks[i] = 0;
    }
};

/// Reading of a line's cells: bytes by 16, bytes at any alignment, or wider cells.
enum class cells_by : std::uint8_t { sixteens, bytes, wide };

/// Returns the lane's 32 of up to 1024 neighbouring cells from cell `first` of the image on.
template <cells_by Read>
__device__ std::uint32_t word_of_cells(const site_bytes& image, std::int64_t first, int cells) {
    if constexpr (Read == cells_by::wide) return word_of_wide(image, first, cells);
    else if constexpr (Read == cells_by::bytes) return word_anywhere(image, image.data + first, cells);
    else return word_by_sixteen(reinterpret_cast<const uint4*>(image.data + first), cells, image.zero_is_site);
}

/// Returns the lane's word of the corners on the line between a row and the one before it (packed_lines::half): a bit
/// for each cell with another class among its neighbours in both rows. The row has up to 1024 cells from cell `first`
/// of the image on, which is its cell number `start`; their word is `here`.
template <cells_by Read>
__device__ std::uint32_t word_of_corners(const site_bytes& image, std::uint32_t here, std::int64_t first,
                                         std::int64_t start, int cells) {
    const int lane = threadIdx.x, mine = cells - lane * cuda::warp;
    const auto cell = [&](std::int64_t at) {
        const auto* const data = reinterpret_cast<const std::byte*>(image.data);
        return is_zero(load_bits(data, image.cell_bytes, at), image.cell_bytes, image.floating) ? 0u : 1u;
    };
    // Returns the neighbours on both sides, those at the ends of a row twice.
    const auto beside = [&](std::uint32_t& word, std::int64_t at) -> uint2 {
        std::uint32_t before = __shfl_up_sync(cuda::every_lane, word >> 31, 1),
                      behind = __shfl_down_sync(cuda::every_lane, word & 1, 1);
        if (lane == 0) before = start > 0 ? cell(at - 1) : word & 1;
        if (0 < mine && mine <= cuda::warp) {
            behind = start + cells < image.length ? cell(at + cells) : word >> (mine - 1) & 1;
            if (mine < cuda::warp) word |= behind << mine;
        }
        return {word << 1 | before, word >> 1 | behind << 31};
    };
    std::uint32_t above = word_of_cells<Read>(image, first - image.length, cells);
    const uint2 a = beside(here, first), b = beside(above, first - image.length);
    const std::uint32_t mixed = (here ^ above) | (a.x ^ b.x) | (a.y ^ b.y) | (here ^ a.x) | (here ^ a.y);
    return mine >= cuda::warp ? mixed : mine <= 0 ? 0 : mixed & ((1u << mine) - 1);
}

/// Packs lines of more than 512 cells, or their corners. A warp owns a line, or a stretch of one; a block owns 32 of
/// one image and transposes them in shared memory, so that rows are neighbours in memory. Also clears `counts`. It is
/// one function, because a line's words pass from the warp that reads them to those that write its columns.
template <cells_by Read, bool Corners>
__global__ void __launch_bounds__(pack_threads)
    pack_lines(const site_bytes image, const packed_lines to, const packed_sites lists, const tile_counts counts) {
    cuda::wait_for_kernel_before();
    __shared__ line_word turned[pack_lines_a_block * (cuda::warp + 1)];
    __shared__ std::uint32_t ends[pack_lines_a_block];
    const int lane = threadIdx.x, nth = threadIdx.y;
    counts.clear(nth * cuda::warp + lane, pack_threads);
    const bool open = nth == 0 && lane == 0 && lists.is_open();
    const bool several = to.stretches > 1;
    const std::int64_t blocks = to.groups(), above = quotient(blockIdx.x, blocks),
                       outer = several ? quotient(above, to.stretches) : above;
    const std::int64_t first_row = (blockIdx.x - above * blocks) * pack_lines_a_block,
                       stretch = above - outer * to.stretches;
    if (lane == 0) ends[nth] = no_ends;
    if (first_row + nth < to.rows) {
        const std::int64_t line = outer * to.rows + first_row + nth, start = stretch * scan_cells;
        const auto cells = static_cast<int>(min(image.length - start, static_cast<std::int64_t>(scan_cells)));
        std::uint32_t word = word_of_cells<Read>(image, line * image.length + start, cells);
        if constexpr (Corners)
            word = first_row + nth == 0 ? 0
                                        : word_of_corners<Read>(image, word, line * image.length + start, start, cells);
        const std::uint32_t filled = __ballot_sync(cuda::every_lane, word != 0);
        turned[nth * (cuda::warp + 1) + lane] = word_among(word, filled);
        if (several) {
            const std::uint32_t mine = ends_of(word, filled).bits;
            if (lane == 0) ends[nth] = mine;
        }
    }
    __syncthreads();
    // From here on a warp has 32 rows of one column of words.
    const std::int64_t row = first_row + lane, column = stretch * cuda::warp + nth;
    const bool within = column < to.columns && row < to.rows;
    const line_word mine = within ? turned[lane * (cuda::warp + 1) + nth] : word_without_sites();
    if (within) to.words[(outer * to.columns + column) * to.rows + row] = mine;
    if (several && nth == 0 && within) to.ends[above * to.rows + row] = ends[lane];
    if (lists.sites != nullptr)
        list_sites(lists, open, mine.sites, outer, static_cast<int>(first_row), static_cast<int>(column) * cuda::warp);
}

/// Neighbouring lines as bits in shared memory, without gaps between them.
struct line_bits {
    static constexpr int words = pack_threads + 1;  ///< one more than the cells of a block take
    std::uint32_t* memory;
    int length;

    /// Returns the place of a word. Lines of a power of two then begin in different banks.
    static __host__ __device__ int place(int word) { return word + word / cuda::warp; }
    /// Returns the word of column `column` of a line; bits beyond its end are 0.
    [[nodiscard]] __device__ std::uint32_t word(int line, int column) const {
        const int at = line * length + column * cuda::warp, cells = length - column * cuda::warp;
        const std::uint32_t bits = __funnelshift_r(memory[place(at / cuda::warp)], memory[place(at / cuda::warp + 1)],
                                                   static_cast<unsigned>(at % cuda::warp));
        return cells < cuda::warp ? bits & ((1u << cells) - 1) : bits;
    }
    /// Returns a word with the nearest sites on either side.
    [[nodiscard]] __device__ line_word word_among(int line, int column) const {
        const std::uint32_t mine = word(line, column);
        std::uint32_t before = nowhere_beside, after = nowhere_beside;
        for (int c = column - 1; c >= 0 && before == nowhere_beside; --c)
            if (const std::uint32_t other = word(line, c); other != 0)
                before = static_cast<std::uint32_t>((column - c - 1) * cuda::warp + __clz(static_cast<int>(other)) + 1);
        for (int c = column + 1; c * cuda::warp < length && after == nowhere_beside; ++c)
            if (const std::uint32_t other = word(line, c); other != 0)
                after = static_cast<std::uint32_t>((c - column - 1) * cuda::warp + __ffs(static_cast<int>(other)));
        return {mine, before | after << 16};
    }
};

/// Packs lines of at most 512 cells. A block owns `block_lines` neighbouring ones of an image, 32 or a multiple: each
/// warp reads 1024 of their cells as bits, then each thread makes a word of a line. Also clears `counts`.
template <cells_by Read>
__global__ void __launch_bounds__(pack_threads, 2)
    pack_short_lines(const site_bytes image, int block_lines, const packed_lines to, const packed_sites lists,
                     const tile_counts counts) {
    cuda::wait_for_kernel_before();
    __shared__ std::uint32_t memory[line_bits::words + line_bits::words / cuda::warp + 1];
    const int lane = threadIdx.x, nth = threadIdx.y, columns = static_cast<int>(to.columns);
    counts.clear(nth * cuda::warp + lane, pack_threads);
    const bool open = nth == 0 && lane == 0 && lists.is_open();
    const std::int64_t blocks = (to.rows + block_lines - 1) / block_lines, outer = quotient(blockIdx.x, blocks),
                       first_row = (blockIdx.x - outer * blocks) * block_lines;
    const int lines = static_cast<int>(min(to.rows - first_row, static_cast<std::int64_t>(block_lines)));
    const line_bits bits{memory, static_cast<int>(image.length)};
    const int cells = min(lines * bits.length - nth * scan_cells, scan_cells);
    if (cells > 0)
        memory[line_bits::place(nth * cuda::warp + lane)] =
            word_of_cells<Read>(image, (outer * to.rows + first_row) * image.length + nth * scan_cells, cells);
    __syncthreads();
    const int groups = (lines + cuda::warp - 1) / cuda::warp;
    for (int first = 0; first < groups * columns; first += pack_lines_a_block) {
        const int group = (first + nth) / columns, column = first + nth - group * columns,
                  line = group * cuda::warp + lane;
        const std::int64_t row = first_row + line;
        const bool within = line < lines;
        const line_word mine = within ? bits.word_among(line, column) : word_without_sites();
        if (within) to.words[(outer * columns + column) * to.rows + row] = mine;
        if (lists.sites != nullptr)
            list_sites(lists, open, mine.sites, outer, static_cast<int>(row) - lane, column * cuda::warp);
    }
}

// Lines that were packed in stretches (words.cuh): sites are carried from stretch to stretch.

constexpr int carry_warps = 8;

/// Carries sites into a stretch from those before and after it, to those of its words that have no site between. A
/// thread owns a stretch of a line, a warp 32 lines. In a dense image one word at either end changes.
__global__ void __launch_bounds__(carry_warps* cuda::warp) carry_stretches(const packed_lines lines) {
    cuda::wait_for_kernel_before();
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * carry_warps + threadIdx.y, groups = lines.groups(),
                       above = quotient(nth, groups), outer = quotient(above, lines.stretches);
    if (outer >= lines.images) return;
    const auto stretch = static_cast<int>(above - outer * lines.stretches);
    const std::int64_t group = nth - above * groups, row = group * pack_lines_a_block + threadIdx.x;
    if (row >= lines.rows) return;
    const std::uint32_t* const ends = lines.ends + outer * lines.stretches * lines.rows + row;
    const stretch_ends own{ends[stretch * lines.rows]};
    std::uint32_t before = nowhere_beside, after = nowhere_beside;
    for (int s = stretch - 1; s >= 0 && before == nowhere_beside; --s) {
        const std::uint32_t last = stretch_ends{ends[s * lines.rows]}.last();
        if (last != nowhere_beside) before = (stretch - s - 1) * scan_cells + last + 1;
    }
    for (int s = stretch + 1; s < lines.stretches && after == nowhere_beside; ++s) {
        const std::uint32_t first = stretch_ends{ends[s * lines.rows]}.first();
        if (first != nowhere_beside) after = (s - stretch - 1) * scan_cells + first + 1;
    }
    const std::int64_t first_column = static_cast<std::int64_t>(stretch) * cuda::warp;
    const int columns = min(cuda::warp, static_cast<int>(lines.columns - first_column));
    auto* const beside = reinterpret_cast<std::uint16_t*>(
        &lines.words[(outer * lines.columns + first_column) * lines.rows + row].beside);
    const std::int64_t step = lines.rows * static_cast<std::int64_t>(sizeof(line_word) / sizeof(std::uint16_t));
    if (before != nowhere_beside) {
        const int end = own.first() == nowhere_beside ? columns : static_cast<int>(own.first()) / cuda::warp + 1;
        for (int c = 0; c < end; ++c) beside[c * step] = static_cast<std::uint16_t>(before + c * cuda::warp);
    }
    if (after != nowhere_beside) {
        const int from = own.last() == nowhere_beside ? 0 : 31 - static_cast<int>(own.last()) / cuda::warp;
        for (int c = from; c < columns; ++c)
            beside[c * step + 1] = static_cast<std::uint16_t>(after + (31 - c) * cuda::warp);
    }
}

}  // namespace

// Launches of the packing of lines (words.cuh).

inline constexpr std::int64_t multiprocessors = 132;  // multiprocessors of the largest GPUs

/// Returns the lines that a block packs of lines of at most 512 cells: as many as its warps read, and fewer where
/// multiprocessors would have no block.
inline int short_lines_a_block(const packed_lines& lines) {
    const std::int64_t most = std::min<std::int64_t>(pack_threads, pack_threads * cuda::warp / lines.length),
                       all = lines.images * lines.rows / (2 * multiprocessors);
    return static_cast<int>(std::max<std::int64_t>(std::min(most, all) / cuda::warp, 1)) * cuda::warp;
}

/// Launches the packing by one way of reading.
template <cells_by Read>
void pack_by(const device& on, const site_bytes& image, const packed_lines& lines, const packed_sites& few,
             const tile_counts& counts) {
    constexpr std::int64_t short_line = 512;
    const dim3 threads(cuda::warp, pack_lines_a_block);
    if (lines.length <= short_line) {
        const int each = short_lines_a_block(lines);
        return cuda::launch_overlapped(on, pack_short_lines<Read>, lines.images * blocks_for(lines.rows, each), threads,
                                       0, image, each, lines, few, counts);
    }
    cuda::launch_overlapped(on, lines.half == 0 ? pack_lines<Read, false> : pack_lines<Read, true>,
                            lines.images * lines.stretches * lines.groups(), threads, 0, image, lines, few, counts);
}

/// Launches the packing. `few` may be without a list.
inline void pack(const device& on, const site_bytes& image, const packed_lines& lines, const packed_sites& few,
                 const tile_counts& counts) {
    const bool aligned = image.length % 16 == 0 && reinterpret_cast<std::uintptr_t>(image.data) % 16 == 0;
    const auto go = image.cell_bytes > 1 ? pack_by<cells_by::wide>
                    : aligned            ? pack_by<cells_by::sixteens>
                                         : pack_by<cells_by::bytes>;
    go(on, image, lines, few, counts);
    if (lines.stretches > 1)
        cuda::launch_overlapped(on, carry_stretches,
                                blocks_for(lines.images * lines.stretches * lines.groups(), carry_warps),
                                dim3(cuda::warp, carry_warps), 0, lines);
}

}  // namespace nearfield::exact
