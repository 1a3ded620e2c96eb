// Lines of a block of threads in shared memory on a device, solved in chunks of four or eight cells, in a time that
// hardly depends on how far sites are. A thread solves a chunk: its own cells first, then those before it and behind.
//
// In the chessboard metric the search of cuda.cu finds how many cells of one side a chunk needs: whole chunks by minima
// of 1, 2, 4 ... of them, the largest number first, then single cells. In the city-block metric the best of a side is
// the same for all cells of a chunk; it is passed on by 1, 2, 4 ... chunks.
#pragma once

#include "chessboard/cuda_words.cuh"

namespace nearfield::chessboard {
namespace {

/// Number of bits of x: 2^bits_of(x) exceeds x.
NF_HD inline int bits_of(std::uint32_t x) {
    int bits = 0;
    for (; x != 0; x >>= 1) ++bits;
    return bits;
}

/// The lines of a block. Thread `t` owns chunks of line t % columns, which divides the number of threads.
template <bool Diagonal, int Cells>
struct chunked_lines {
    std::uint16_t *cells, *table;  ///< distances, and levels of a value for each chunk
    int shift, chunks;             ///< log2 of the number of lines, and chunks of a line

    /// Levels for distances of up to `most`: minima of 2^level chunks; in the city-block metric the best before each
    /// chunk and behind it, twice.
    NF_HD static int levels_for(int chunks, std::uint32_t most) {
        if (!Diagonal) return 4;
        const int all = bits_of(static_cast<std::uint32_t>(chunks - 1)), near = bits_of(most / Cells);
        return all < near ? all : near;
    }
    NF_HD static std::size_t bytes(int chunks, std::uint32_t most, int columns) {
        const int levels = levels_for(chunks, most);
        return static_cast<std::size_t>((Cells + 1 + (levels > 0 ? levels : 1)) * chunks * columns) *
               sizeof(std::uint16_t);
    }
    __device__ chunked_lines(void* memory, int shift_, int chunks_)
        : cells(static_cast<std::uint16_t*>(memory)),
          table(cells + (Cells + 1) * (chunks_ << shift_)),
          shift(shift_),
          chunks(chunks_) {
        const int column = static_cast<int>(threadIdx.x) & ((1 << shift) - 1);
        cells += column, table += column;
    }
    /// A row more after each chunk puts adjacent chunks into different banks.
    __device__ std::uint16_t& cell(int row) const { return cells[(row + row / Cells) << shift]; }
    __device__ std::uint16_t& entry(int level, int c) const { return table[(level * chunks + c) << shift]; }
    template <class Body>
    __device__ void for_chunks(int first, int last, const Body& body) const {
        for (int c = first + (static_cast<int>(threadIdx.x) >> shift); c < last;
             c += static_cast<int>(blockDim.x) >> shift)
            body(c);
    }

    /// Takes the cells from read(row). Returns a bound of the distances in the thread's chunks.
    template <class Read>
    __device__ std::uint32_t stage(const Read& read) const {
        std::uint32_t most = 0;
        for_chunks(0, chunks, [&](int c) {
            std::uint32_t g[Cells], least = small_none, on = 2 * small_none, back = on;
#pragma unroll
            for (int i = 0; i < Cells; ++i) g[i] = read(c * Cells + i);
#pragma unroll
            for (int i = 0; i < Cells; ++i) {
                cell(c * Cells + i) = static_cast<std::uint16_t>(g[i]);
                least = min(least, g[i]), on = min(on, g[i] + Cells - i), back = min(back, g[i] + i + 1);
            }
            entry(0, c) = static_cast<std::uint16_t>(Diagonal ? least : on);
            if (!Diagonal) entry(2, c) = static_cast<std::uint16_t>(back);
            most = max(most, least + Cells - 1);
        });
        return most;
    }

    /// Completes the levels for distances of up to `most`. Returns how many there are, or in the city-block metric the
    /// level of the best before a chunk: the one two levels on has the best behind it. All threads call it.
    [[nodiscard]] __device__ int complete(std::uint32_t most) const {
        __syncthreads();
        if (Diagonal) {
            const int levels = levels_for(chunks, most);
            for (int level = 0; level + 1 < levels; ++level) {
                for_chunks(0, chunks + 1 - (2 << level),
                           [&](int c) { entry(level + 1, c) = min(entry(level, c), entry(level, c + (1 << level))); });
                __syncthreads();
            }
            return levels;
        }
        int now = 0;
        for (int by = 1; by < chunks && by * Cells <= static_cast<int>(most); by *= 2, now ^= 1) {
            const auto more = static_cast<std::uint32_t>(by * Cells);
            for_chunks(0, chunks, [&](int c) {
                std::uint32_t on = entry(now, c), back = entry(now + 2, c);
                if (c >= by) on = min(on, entry(now, c - by) + more);
                if (c + by < chunks) back = min(back, entry(now + 2, c + by) + more);
                entry(now ^ 1, c) = static_cast<std::uint16_t>(on);
                entry((now ^ 1) + 2, c) = static_cast<std::uint16_t>(back);
            });
            __syncthreads();
        }
        return now;
    }

    /// Finds the distances of chunk c, of up to `most`, from what complete() returned.
    __device__ void solve(std::uint32_t (&best)[Cells], int c, int levels, std::uint32_t most) const {
        std::uint32_t g[Cells];
#pragma unroll
        for (int i = 0; i < Cells; ++i) best[i] = g[i] = cell(c * Cells + i);
#pragma unroll
        for (int i = 0; i < Cells; ++i)
#pragma unroll
            for (int j = 0; j < Cells; ++j) {
                const std::uint32_t d = i < j ? j - i : i - j;
                if (i != j) best[i] = min(best[i], Diagonal ? max(g[j], d) : g[j] + d);
            }
        if (Diagonal) {
            lower<-1>(best, c, levels, most);
            lower<1>(best, c, levels, most);
            return;
        }
        const std::uint32_t before = c > 0 ? entry(levels, c - 1) : small_none,
                            behind = c + 1 < chunks ? entry(levels + 2, c + 1) : small_none;
#pragma unroll
        for (int i = 0; i < Cells; ++i) best[i] = min(best[i], min(before + i, behind + Cells - 1 - i));
    }

private:
    static constexpr int farthest = Cells - 1, near = 3;
    static_assert(Cells > near);

    /// The first cell behind the chunk on a side.
    template <int By>
    static __device__ int beside(int c) {
        return c * Cells + (By < 0 ? -1 : Cells);
    }
    /// Lowers the best of the cell that is i cells away from the chunk's end on a side.
    template <int By>
    static __device__ void put(std::uint32_t (&best)[Cells], int i, std::uint32_t cost) {
        std::uint32_t& one = best[By < 0 ? i : farthest - i];
        one = min(one, cost);
    }

    /// Lowers the best of a chunk by the cells before it (By -1) or behind it (By 1), in the chessboard metric. Most
    /// cells of dense grids need few.
    template <int By>
    __device__ void lower(std::uint32_t (&best)[Cells], int c, int levels, std::uint32_t most) const {
        std::uint32_t& edge = best[By < 0 ? 0 : farthest];
        if (c == (By < 0 ? 0 : chunks - 1)) return;
        if (edge <= Cells) {
#pragma unroll
            for (int k = 0; k < near; ++k) {
                const std::uint32_t one = cell(beside<By>(c) + By * k);
#pragma unroll
                for (int i = 0; i < Cells; ++i) put<By>(best, i, max(one, static_cast<std::uint32_t>(k + 1 + i)));
            }
            if (edge <= near + 1) return;
        }
        lower_far<By>(best, c, levels, static_cast<int>(min(most + 1, edge)) - 1);
    }
    /// As lower(), by at most `reach` cells.
    template <int By>
    __device__ void lower_far(std::uint32_t (&best)[Cells], int c, int levels, int reach) const {
        reach = min(reach, (By < 0 ? c : chunks - 1 - c) * Cells);
        int taken = 0;
        std::uint32_t least = small_none;
        for (int level = levels - 1; level >= 0; --level) {
            const int more = Cells << level, at = taken / Cells;
            if (taken + more > reach) continue;
            const std::uint32_t all =
                min(least, std::uint32_t{entry(level, By < 0 ? c - at - (1 << level) : c + 1 + at)});
            if (all > static_cast<std::uint32_t>(taken + more + farthest)) taken += more, least = all;
        }
        const auto next = [&](int k) {
            const int row = beside<By>(c) + By * k;
            return static_cast<unsigned>(row) < static_cast<unsigned>(chunks * Cells) ? std::uint32_t{cell(row)}
                                                                                      : small_none;
        };
        while (taken < reach && least > static_cast<std::uint32_t>(taken + farthest)) least = min(least, next(taken++));
        auto cost = static_cast<std::uint32_t>(taken + farthest);
        const bool suffices = least <= cost;
        put<By>(best, farthest, suffices ? cost : least);
#pragma unroll
        for (int i = farthest - 1; i >= 0; --i) {
            if (suffices && least < cost) --cost;
            else if (suffices) least = min(least, next(taken++));
            put<By>(best, i, suffices ? cost : least);
        }
    }
};

}  // namespace
}  // namespace nearfield::chessboard
