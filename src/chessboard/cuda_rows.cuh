// The last axis on a device, solved from bits. A warp marks the sites of 1024 cells in its lanes' words. Then it finds
// for each cell the nearest mark before it and behind it. Between the two, longer rows keep their marks in memory.
#pragma once

#include "base/cuda.cuh"
#include "chessboard/core.hpp"

namespace nearfield::chessboard {
namespace {

constexpr int threads_of_block = 256, warps_of_block = threads_of_block / cuda::warp;
constexpr int mark_bits = 32;
constexpr int stretch = mark_bits * cuda::warp;  ///< cells of a row whose marks a warp holds
constexpr int words_at_once = 8;                 ///< loads of a lane in flight

__device__ std::int64_t own_item() { return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x; }
__device__ int own_lane() { return static_cast<int>(threadIdx.x) % cuda::warp; }

/// offset_of() with divisions of 32 bits where these suffice.
__device__ std::int64_t offset_in(const problem& p, const std::int64_t* step, std::int64_t cell) {
    std::int64_t offset = 0;
    for (int axis = p.rank - 1; axis > 0; --axis) {
        const std::int64_t rest = cuda::quotient(cell, p.size[axis]);
        offset += (cell - rest * p.size[axis]) * step[axis];
        cell = rest;
    }
    return offset + cell * step[0];
}

/// The marks of a row: a bit for each cell, then a word for each stretch that tells which of its words have a bit.
struct marked_row {
    std::int64_t row, count, stretches;  ///< words and stretches of a row
    std::uint32_t *words, *full;

    NF_HD static std::int64_t size(std::int64_t n) {
        return cuda::blocks_for(n, mark_bits) + cuda::blocks_for(n, stretch);
    }
    __device__ marked_row(const problem& p, std::uint32_t* all, std::int64_t stretch_of_all) {
        const std::int64_t n = p.size[p.rank - 1];
        count = cuda::blocks_for(n, mark_bits), stretches = cuda::blocks_for(n, stretch);
        row = cuda::quotient(stretch_of_all, stretches);
        words = all + row * (count + stretches), full = words + count;
    }
};

/// A row of one stretch without a turn needs no marks in memory: the warp that reads it solves it.
NF_HD inline bool has_short_rows(const problem& p) {
    return p.size[p.rank - 1] <= stretch && p.ends[p.rank - 1] != border::periodic;
}

/// Distances between passes are uint16 or int32.
template <class T>
constexpr dtype type_of = sizeof(T) == 2 ? dtype::uint16 : dtype::int32;

/// The problem whose output a pass along `axis` writes: the distances between passes are contiguous.
template <class T>
problem output_of(const problem& p, int axis, T* between) {
    problem one = p;
    if (axis == p.batch) return one;
    one.out = between, one.out_type = type_of<T>;
    for (int k = 0; k < p.rank; ++k) one.out_step[k] = p.product(k + 1, p.rank);
    return one;
}

/// Sets how words of marks may be read.
inline void set_reads(problem& p) {
    if (size_of(p.image_type) != 1 || p.image_step[p.rank - 1] != 1) return;
    auto places = reinterpret_cast<std::uintptr_t>(p.image);
    p.image_end = static_cast<const std::uint8_t*>(p.image) + 1;
    for (int axis = 0; axis < p.rank; ++axis) {
        const std::int64_t step = p.image_step[axis];
        if (axis < p.rank - 1) places |= static_cast<std::uintptr_t>(step);
        if (step > 0) p.image_end += (p.size[axis] - 1) * step;
    }
    p.read_at_once = places % sizeof(uint4) == 0 ? sizeof(uint4) : places % sizeof(std::uint32_t) == 0 ? 4 : 1;
}
/// Returns a bit for each byte of a word that is not zero.
__device__ std::uint32_t nonzero_of(std::uint32_t word) {
    const std::uint32_t high = (((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word) & 0x80808080;
    return (high >> 7) * 0x10204080 >> 28;  // moves the bytes' bits to the highest four
}
/// Returns a bit for each of up to 32 adjacent bytes that is not zero; for images with `read_at_once`. It reads whole
/// words that contain one of the bytes, but none that ends beyond the image.
__device__ std::uint32_t nonzero_bytes(const problem& p, const std::uint8_t* from, std::int64_t cells) {
    if (cells <= 0) return 0;
    const int shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) % sizeof(std::uint32_t)),
              bytes = cells < mark_bits ? static_cast<int>(cells) : mark_bits, count = (shift + bytes + 3) / 4;
    const auto* const words = reinterpret_cast<const std::uint32_t*>(from - shift);
    std::uint64_t all = 0;
    if (reinterpret_cast<const std::uint8_t*>(words + count) > p.image_end) {
#pragma unroll
        for (int k = 0; k < mark_bits; ++k)
            if (k < bytes && from[k] != 0) all |= std::uint64_t{1} << (k + shift);
    } else if (p.read_at_once == sizeof(uint4) && bytes == mark_bits) {
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            const uint4 read = reinterpret_cast<const uint4*>(from)[k];
            all |= std::uint64_t{nonzero_of(read.x) | nonzero_of(read.y) << 4 | nonzero_of(read.z) << 8 |
                                 nonzero_of(read.w) << 12}
                   << 16 * k;
        }
    } else {
#pragma unroll
        for (int k = 0; k < 9; ++k)
            if (k < count) all |= std::uint64_t{nonzero_of(words[k])} << 4 * k;
    }
    return static_cast<std::uint32_t>(all >> shift) & (~0U >> (mark_bits - bytes));
}

/// Returns the sites of up to 32 cells, given which are not zero.
__device__ std::uint32_t sites_of(const problem& p, std::uint32_t nonzero, std::int64_t cells) {
    if (!p.nonzero) nonzero = ~nonzero;
    if (cells >= mark_bits) return nonzero;
    return cells > 0 ? nonzero & ((1U << cells) - 1) : 0;
}
/// Returns the lane's word of the marks of `cells` cells of a row. The warp reads 32 adjacent cells at a time, or each
/// lane those of its word.
__device__ std::uint32_t read_marks(const problem& p, std::int64_t row, std::int64_t first, int cells) {
    const int lane = own_lane(), own_cells = cells - lane * mark_bits;
    const std::int64_t step = p.image_step[p.rank - 1];
    std::uint32_t mine = 0;
    const std::int64_t start = offset_in(p, p.image_step, row * p.size[p.rank - 1]);
    if (p.read_at_once > 0)
        mine =
            nonzero_bytes(p, static_cast<const std::uint8_t*>(p.image) + start + first + lane * mark_bits, own_cells);
    else
        with_bits(p.image_type, [&]<class Bits>(Bits, Bits counts) {
            const Bits* from = static_cast<const Bits*>(p.image) + start + (first + lane) * step;
            for (int w = 0; w * mark_bits < cells; w += words_at_once) {
                Bits read[words_at_once];
#pragma unroll
                for (int i = 0; i < words_at_once; ++i, from += mark_bits * step)
                    read[i] = (w + i) * mark_bits + lane < cells ? *from : Bits{};
#pragma unroll
                for (int i = 0; i < words_at_once; ++i) {
                    const unsigned nonzero = __ballot_sync(cuda::every_lane, (read[i] & counts) != 0 ? 1 : 0);
                    if (lane == w + i) mine = nonzero;
                }
            }
        });
    return sites_of(p, mine, own_cells);
}

/// A warp owns a stretch.
__global__ void __launch_bounds__(threads_of_block)
    mark_sites(const __grid_constant__ problem p, std::uint32_t* marks) {
    cuda::wait_for_kernel_before();
    const std::int64_t item = own_item() / cuda::warp, n = p.size[p.rank - 1];
    const marked_row of(p, marks, item);
    if (of.row * n >= p.cells || p.is_solved()) return;
    const std::int64_t own = item - of.row * of.stretches, first = own * stretch, w = own * cuda::warp + own_lane();
    const std::uint32_t mine =
        read_marks(p, of.row, first, n - first < stretch ? static_cast<int>(n - first) : stretch);
    if (w < of.count) of.words[w] = mine;
    const unsigned full = __ballot_sync(cuda::every_lane, mine != 0 ? 1 : 0);
    if (own_lane() == 0) of.full[own] = full;
}

/// Returns the steps to the nearest mark in other stretches: from the first cell of stretch `own` to one before it (By
/// -1), or from its last cell to one behind it (By 1). The warp looks at 32 stretches at a time.
template <int By>
__device__ std::uint32_t steps_to_other(const problem& p, const marked_row& of, std::int64_t own) {
    const std::int64_t n = p.size[p.rank - 1], from = By < 0 ? own * stretch : (own + 1) * stretch - 1;
    const border ends = p.ends[p.rank - 1];
    const std::int64_t there = ends == border::periodic ? of.stretches : By < 0 ? own : of.stretches - 1 - own;
    const auto wrapped = [&](std::int64_t at) {
        return at < 0 ? at + of.stretches : at < of.stretches ? at : at - of.stretches;
    };
    const auto last_one = [](unsigned bits) {
        return By < 0 ? 31 - __clz(static_cast<int>(bits)) : __ffs(static_cast<int>(bits)) - 1;
    };
    for (std::int64_t k = 1; k <= there; k += cuda::warp) {
        const unsigned word = k + own_lane() <= there ? of.full[wrapped(own + By * (k + own_lane()))] : 0;
        const unsigned found = __ballot_sync(cuda::every_lane, word != 0 ? 1 : 0);
        if (found == 0) continue;
        const int nearest = __ffs(static_cast<int>(found)) - 1;
        const std::int64_t at = own + By * (k + nearest), turn = at < 0 ? -n : at >= of.stretches ? n : 0;
        const std::int64_t w = wrapped(at) * cuda::warp + last_one(__shfl_sync(cuda::every_lane, word, nearest));
        return static_cast<std::uint32_t>(By * (w * mark_bits + last_one(of.words[w]) + turn - from));
    }
    if (ends != border::closed) return 0x7fffffff;
    return static_cast<std::uint32_t>(By < 0 ? from + 1 : n - from);
}

/// The stretch of a row that a warp owns.
struct warp_place {
    std::int64_t row, own;

    __device__ explicit warp_place(const problem& p) {
        const std::int64_t stretches = cuda::blocks_for(p.size[p.rank - 1], stretch), item = own_item() / cuda::warp;
        row = cuda::quotient(item, stretches), own = item - row * stretches;
    }
};

/// Steps from a word's first cell back to a mark before the word, and from its last one on to one behind it. Steps to
/// places before the end of the stretch's last word are negative and wrap, as do the sums with them.
struct word_steps {
    std::uint32_t before, behind;

    /// Lane i has word i of a stretch.
    __device__ word_steps(const problem& p, const marked_row& of, std::int64_t own, int mine) {
        const int lane = own_lane();
        const unsigned full = __ballot_sync(cuda::every_lane, mine != 0 ? 1 : 0);
        const unsigned lower = full & ((1U << lane) - 1), upper = full & ~((2U << lane) - 1);
        const int last = (31 - __clz(static_cast<int>(lower))) & 31, next = (__ffs(static_cast<int>(upper)) - 1) & 31;
        before = __shfl_sync(cuda::every_lane, __clz(mine) + 1, last) + mark_bits * (lane - 1 - last);
        behind = __shfl_sync(cuda::every_lane, __ffs(mine), next) + mark_bits * (next - lane - 1);
        const std::uint32_t far_before = steps_to_other<-1>(p, of, own), far_behind = steps_to_other<1>(p, of, own);
        if (lower == 0) before = far_before + mark_bits * lane;
        if (upper == 0) behind = far_behind + mark_bits * (31 - lane);
    }
};

/// Writes the distances of a stretch, 32 adjacent cells at a time.
template <class Out>
__device__ void write_stretch(const problem& p, const marked_row& of, const warp_place& at, int cells, int mine,
                              std::uint32_t most) {
    const int lane = own_lane();
    const word_steps steps(p, of, at.own, mine);
    const std::int64_t step = p.out_step[p.rank - 1];
    Out* to = static_cast<Out*>(p.out) + offset_in(p, p.out_step, at.row * p.size[p.rank - 1]) +
              (at.own * stretch + lane) * step;
#pragma unroll 2
    for (int w = 0; w * mark_bits < cells; ++w, to += mark_bits * step) {
        const auto bits = static_cast<std::uint32_t>(__shfl_sync(cuda::every_lane, mine, w));
        const std::uint32_t left = bits << (31 - lane), right = bits >> lane;
        const std::uint32_t back = __shfl_sync(cuda::every_lane, steps.before, w) + lane,
                            on = __shfl_sync(cuda::every_lane, steps.behind, w) + 31 - lane;
        const std::uint32_t a = left != 0 ? __clz(static_cast<int>(left)) : back,
                            b = right != 0 ? __ffs(static_cast<int>(right)) - 1 : on;
        if (w * mark_bits + lane >= cells) continue;
        *to = static_cast<Out>(written(a < b ? a : b, p.limit, most));
    }
}

/// Writes distances along rows. A warp owns a stretch.
__global__ void __launch_bounds__(threads_of_block, 5)
    go_along_rows(const __grid_constant__ problem p, std::uint32_t* marks) {
    cuda::wait_for_kernel_before();
    const std::int64_t n = p.size[p.rank - 1];
    const warp_place at(p);
    if (at.row * n >= p.cells || p.is_solved()) return;
    const std::int64_t first = at.own * stretch;
    const int cells = n - first < stretch ? static_cast<int>(n - first) : stretch;
    const marked_row of(p, marks, at.row * cuda::blocks_for(n, stretch) + at.own);
    const std::uint32_t marked = has_short_rows(p)                ? read_marks(p, of.row, 0, cells)
                                 : own_lane() * mark_bits < cells ? of.words[at.own * cuda::warp + own_lane()]
                                                                  : 0;
    with_output(p.out_type, [&]<class Out>(Out, std::uint32_t most) {
        write_stretch<Out>(p, of, at, cells, static_cast<int>(marked), most);
    });
}

}  // namespace
}  // namespace nearfield::chessboard
