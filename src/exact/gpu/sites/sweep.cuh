// Sweep for short lines that the word search (search.cuh) leaves unresolved, if there are many: a warp takes 32 lines,
// a lane owns a line. For fewer lines hulls are faster, with a warp for each 32 rows.
//
// The later one of two rows wins from some cell on, ties included (core.hpp). So the sweep adds a line's rows one after
// another: a row removes the last winner if it wins where that winner's cells begin, and its cells begin where it first
// beats the remaining one. Two bits per row store which rows win, and where the cells of another one begin; a second
// pass reads them cell by cell.
#pragma once

#include "exact/gpu/sites/hulls.cuh"

namespace nearfield::exact {
namespace {

constexpr int sweep_warps = 4;
constexpr int sweep_threads = sweep_warps * cuda::warp;
constexpr int sweep_blocks = 9;  ///< blocks on a multiprocessor, with 56 registers
constexpr int rows_ahead = 4;    ///< rows loaded while as many are processed
constexpr int cells_together = 8;
static_assert(band_rows % cells_together == 0 && short_rows <= most_swept_rows);

/// Marks of rows of the calling lane's line, as bits in shared memory, 32 to a word.
struct row_marks {
    std::uint32_t* words;

    __device__ std::uint32_t& band(int nth) const { return words[nth * cuda::warp]; }
    // Atomic operations without a result do not wait.
    __device__ void set(int row) const { atomicOr(&band(row / band_rows), 1u << (row % band_rows)); }
    __device__ void clear(int row) const { atomicAnd(&band(row / band_rows), ~(1u << (row % band_rows))); }
    /// Returns the last mark before `row`; there must be one.
    __device__ int before(int row) const {
        int nth = row / band_rows;
        std::uint32_t rest = band(nth) & ((1u << (row % band_rows)) - 1);
        while (rest == 0) rest = band(--nth);
        return nth * band_rows + 31 - __clz(static_cast<int>(rest));
    }
};

/// The winners of a line: bit `row` of `rows` for each, and bit `cell` of `starts` where the cells of a winner begin.
struct line_winners {
    row_marks rows, starts;

    __device__ line_winners(std::uint32_t* memory, int bands)
        : rows{memory + threadIdx.y * 2 * bands * cuda::warp + threadIdx.x}, starts{rows.words + bands * cuda::warp} {
        for (int nth = 0; nth < 2 * bands; ++nth) rows.band(nth) = 0;
    }
    static std::size_t bytes(std::int64_t rows) {
        return static_cast<std::size_t>(2 * sweep_warps * cuda::warp * blocks_for(rows, band_rows)) *
               sizeof(std::uint32_t);
    }
};

/// Returns a number in the order of the tie rule, without the row.
__device__ inline std::int32_t tie_of(offset site) { return site.dx * (1 << 16) + site.dy; }

/// Returns the greatest integer not above up / apart, for 0 <= up < 2^30 and 0 < apart < 2^12, if it is below 2048;
/// else some number from there on. The quotient of products below 2^23 is off by less than 2 / apart, so it needs to be
/// corrected by 1 at most.
__device__ inline int whole_part(int up, int apart) {
    float one_by;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(one_by) : "f"(static_cast<float>(apart)));
    const int part = static_cast<int>((static_cast<float>(up) + 0.5f) * one_by), rest = up - part * apart;
    return part + (rest >= apart ? 1 : 0) - (rest < 0 ? 1 : 0);
}

/// Finds the winners of all lanes' lines; returns false in a lane whose line has no site. It is over 40 lines because
/// the winners that a row removes stay in registers.
template <class Reader>
__device__ bool find_winners(const Reader& line, const line_winners& winners, int rows) {
    using loaded = typename Reader::loaded;
    // The last winner: row, first cell, height, and key for ties; then the one before.
    int last = -1, start = 0, height = 0, key = 0, before = -1, start_before = 0;
    loaded at_last{}, at_before{}, coming[rows_ahead];
#pragma unroll
    for (int i = 0; i < rows_ahead; ++i) coming[i] = line.load(min(i, rows - 1));
#pragma unroll 1
    for (int from = 0; from < rows; from += rows_ahead) {
        loaded now[rows_ahead];
#pragma unroll
        for (int i = 0; i < rows_ahead; ++i) now[i] = coming[i];
        if (from + rows_ahead < rows) {
#pragma unroll
            for (int i = 0; i < rows_ahead; ++i) coming[i] = line.load(min(from + rows_ahead + i, rows - 1));
        }
#pragma unroll
        for (int i = 0; i < rows_ahead; ++i) {
            const int row = from + i;
            const bool counts = row < rows && line.is_site(now[i]);
            if (!__any_sync(cuda::every_lane, counts)) continue;
            const offset site = line.site(now[i]);
            const int mine = square_of(site) + row * row, my_key = tie_of(site);
            int apart, up;
            while (true) {
                // The row wins in cells q with up < q * apart.
                apart = 2 * (row - last), up = mine - height - (my_key < key ? 1 : 0);
                const bool ousts = counts && last >= 0 && up < start * apart;
                if (!__any_sync(cuda::every_lane, ousts)) break;
                if (ousts) {
                    winners.rows.clear(last), winners.starts.clear(start);
                    last = before, start = start_before, at_last = at_before;
                    const offset theirs = line.site(at_last);
                    height = square_of(theirs) + last * last, key = tie_of(theirs);
                    before = -1;
                    if (last >= 0 && start > 0) {
                        before = winners.rows.before(last), start_before = winners.starts.before(start);
                        at_before = line.load(before);
                    }
                }
                __syncwarp();
            }
            const int begins = last < 0 ? 0 : whole_part(up, apart) + 1;
            if (counts && begins < rows) {
                before = last, start_before = start, at_before = at_last;
                last = row, start = begins, at_last = now[i], height = mine, key = my_key;
                winners.rows.set(row), winners.starts.set(begins);
            }
            __syncwarp();
        }
    }
    return last >= 0;
}

/// Solves groups of lines that have an unresolved window, one after another per warp, if at least `least` are listed.
/// Lanes beyond the last line repeat it; they write the same values to the same cells.
template <ending End, class Lines>
__global__ void __launch_bounds__(sweep_threads, sweep_blocks)
    sweep_unresolved_sites(const Lines lines, const windows cut, const unresolved_tiles unresolved, const int least,
                           std::uint32_t* next, const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t bits[];
    const int count = *unresolved.count, rows = lines.rows(), bands = (rows + band_rows - 1) / band_rows;
    if (count < least) return;
    for (int nth = static_cast<int>(blockIdx.x * sweep_warps + threadIdx.y); nth < count;
         nth += static_cast<int>(gridDim.x) * sweep_warps) {
        const auto group = lines.place(cut, unresolved.list[nth]).group;
        const int lane = min(static_cast<int>(threadIdx.x), lines.width(group) - 1);
        const typename Lines::reader line(lines, group, lane);
        const line_winners winners(bits, bands);
        const bool sited = find_winners(line, winners, rows);
        const auto target = lines.template target<End>(next, to, group, lane);
        int band = 0, row = 0;
        std::uint32_t left = winners.rows.band(0);
#pragma unroll 1
        for (int from = 0; from < rows; from += cells_together) {
            const std::uint32_t begins = winners.starts.band(from / band_rows) >> (from % band_rows);
            int winner[cells_together];
            typename Lines::reader::loaded loaded[cells_together];
#pragma unroll
            for (int i = 0; i < cells_together; ++i) {
                if (begins & (1u << i)) {
                    while (left == 0) left = winners.rows.band(++band);
                    row = band * band_rows + __ffs(static_cast<int>(left)) - 1;
                    left &= left - 1;
                }
                __syncwarp();
                winner[i] = row;
                loaded[i] = line.load(row);
            }
            target.template put_winners<cells_together>(from, min(rows - from, cells_together), sited, winner,
                                                        [&](int i) { return line.site(loaded[i]); });
        }
    }
}

}  // namespace
}  // namespace nearfield::exact
