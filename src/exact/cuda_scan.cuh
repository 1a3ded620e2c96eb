// The first pass: along the contiguous axis, the nearest site to the left and right of every cell, by bits.
//
// A warp takes 1024 cells of a line: 32 words of 32 sites, a word a lane. The last site before and the first one after
// each word come from scans over the warp; for lines of more than 1024 cells, from tables of the last and first site
// of every stretch, made by a first reading of the image.
#pragma once

#include "base/lines.hpp"
#include "exact/cuda_common.cuh"

namespace nearfield::exact {
namespace {

constexpr int scan_cells = 1024;
constexpr int flat_threads = 256;
constexpr int scan_warps = 8;
constexpr int scan_threads = scan_warps * cuda::warp;
constexpr std::int32_t nowhere = -1;

/// How the image's bytes are read: one a cell, lines one after another.
struct site_bytes {
    const std::uint8_t* data = nullptr;
    bool zero_is_site = true;
    std::int64_t length = 1;  ///< of a line
    std::int64_t lines = 1;
    std::int64_t stretches = 1;  ///< of 1024 cells, in a line
    int cell_bytes = 1;          ///< more only for what packs lines
    bool floating = false;       ///< of such cells the sign does not count

    void read(const void* cells, dtype type) {
        data = static_cast<const std::uint8_t*>(cells);
        cell_bytes = static_cast<int>(size_of(type)), floating = type >= dtype::float16;
    }

    /// Bit i of lane l: cell 32 * l + i of the stretch is a site. All lanes of the warp take part.
    __device__ std::uint32_t word(std::int64_t line, std::int64_t stretch) const {
        const int lane = threadIdx.x;
        const std::int64_t start = stretch * scan_cells;
        const std::uint8_t* from = data + line * length + start;
        const auto cells = static_cast<int>(min(length - start, static_cast<std::int64_t>(scan_cells)));
        std::uint32_t mine = 0;
#pragma unroll 16
        for (int w = 0; w < cuda::warp; ++w) {
            const int at = w * cuda::warp + lane;
            const bool site = at < cells && (from[at] == 0) == zero_is_site;
            const std::uint32_t bits = __ballot_sync(cuda::every_lane, site);
            if (lane == w) mine = bits;
        }
        return mine;
    }
};

/// Bit i of lane l of up to 1024 wider cells: a lane a cell of each word in turn.
template <class Bits>
__device__ std::uint32_t word_by_cells(const site_bytes& image, std::int64_t first, int cells) {
    const Bits keep = static_cast<Bits>(image.floating ? static_cast<Bits>(~Bits{0}) >> 1 : ~Bits{0});
    const Bits* const from = reinterpret_cast<const Bits*>(image.data) + first;
    const int lane = threadIdx.x;
    std::uint32_t mine = 0;
#pragma unroll 8
    for (int w = 0; w < (cells + cuda::warp - 1) / cuda::warp; ++w) {
        const int at = w * cuda::warp + lane;
        const bool site = at < cells && ((__ldcs(from + at) & keep) == 0) == image.zero_is_site;
        const std::uint32_t bits = __ballot_sync(cuda::every_lane, site);
        if (lane == w) mine = bits;
    }
    return mine;
}
/// The same, a lane 8 neighbouring cells in each of 4 turns, 16 bytes a load, where they begin and end at such.
template <class Bits>
__device__ std::uint32_t word_by_eights(const site_bytes& image, std::int64_t first, int cells) {
    constexpr int each = 16 / sizeof(Bits), loads = 8 / each;
    const Bits keep = static_cast<Bits>(image.floating ? static_cast<Bits>(~Bits{0}) >> 1 : ~Bits{0});
    const auto* const from = reinterpret_cast<const uint4*>(reinterpret_cast<const Bits*>(image.data) + first);
    const int lane = threadIdx.x;
    std::uint32_t bytes = 0;
#pragma unroll 2
    for (int turn = 0; turn < 4; ++turn) {
        const int at = turn * 8 * cuda::warp + 8 * lane;
        if (at >= cells) continue;
        uint4 read[loads];
#pragma unroll
        for (int i = 0; i < loads; ++i) read[i] = __ldcs(from + at / each + i);
        Bits cell[8];
        memcpy(cell, read, sizeof(cell));
        std::uint32_t sites = image.zero_is_site ? 0xff : 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) sites ^= ((cell[i] & keep) != 0 ? 1u : 0u) << i;
        bytes |= sites << 8 * turn;
    }
    std::uint32_t mine = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
        mine |= (__shfl_sync(cuda::every_lane, bytes, lane % 8 * 4 + i) >> lane / 8 * 8 & 0xff) << 8 * i;
    return mine;
}

template <class Bits>
__device__ std::uint32_t word_of(const site_bytes& image, std::int64_t first, int cells) {
    const bool eights = image.length % 8 == 0 && reinterpret_cast<std::uintptr_t>(image.data) % 16 == 0;
    return eights ? word_by_eights<Bits>(image, first, cells) : word_by_cells<Bits>(image, first, cells);
}
__device__ inline std::uint32_t word_of_wide(const site_bytes& image, std::int64_t first, int cells) {
    if (image.cell_bytes == 2) return word_of<std::uint16_t>(image, first, cells);
    if (image.cell_bytes == 4) return word_of<std::uint32_t>(image, first, cells);
    return word_of<unsigned long long>(image, first, cells);
}

/// Largest site up to this lane, or smallest from this lane on, among per-lane positions.
__device__ inline std::int32_t last_up_to(std::int32_t position) {
    for (int o = 1; o < cuda::warp; o *= 2) {
        const std::int32_t other = __shfl_up_sync(cuda::every_lane, position, o);
        if (threadIdx.x >= static_cast<unsigned>(o)) position = max(position, other);
    }
    return position;
}
__device__ inline std::uint32_t first_from(std::uint32_t position) {
    for (int o = 1; o < cuda::warp; o *= 2) {
        const std::uint32_t other = __shfl_down_sync(cuda::every_lane, position, o);
        if (threadIdx.x + o < static_cast<unsigned>(cuda::warp)) position = min(position, other);
    }
    return position;
}

// "Nowhere" is -1 on the left, where the larger position wins, and as unsigned the largest number on the right, where
// the smaller one wins.
__device__ inline std::int32_t last_in(std::uint32_t word, std::int32_t start) {
    return word ? start + 31 - __clz(static_cast<int>(word)) : nowhere;
}
__device__ inline std::uint32_t first_in(std::uint32_t word, std::int32_t start) {
    return static_cast<std::uint32_t>(word ? start + __ffs(static_cast<int>(word)) - 1 : nowhere);
}

/// A warp a stretch: its last and its first site.
__global__ void __launch_bounds__(scan_threads)
    find_ends(const site_bytes image, std::int32_t* last, std::uint32_t* first) {
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * scan_warps + threadIdx.y;
    if (nth >= image.lines * image.stretches) return;
    const std::int64_t line = nth / image.stretches, stretch = nth - line * image.stretches;
    const std::uint32_t word = image.word(line, stretch);
    const auto start = static_cast<std::int32_t>(stretch * scan_cells + threadIdx.x * cuda::warp);
    const std::int32_t l = __shfl_sync(cuda::every_lane, last_up_to(last_in(word, start)), cuda::warp - 1);
    const std::uint32_t f = __shfl_sync(cuda::every_lane, first_from(first_in(word, start)), 0);
    if (threadIdx.x == 0) last[nth] = l, first[nth] = f;
}

/// A warp a line: from the ends of each stretch to the nearest site before it and after it, in place.
__global__ void __launch_bounds__(scan_threads)
    carry_ends(std::int64_t lines, std::int64_t stretches, std::int32_t* last, std::uint32_t* first) {
    const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * scan_warps + threadIdx.y;
    if (line >= lines) return;
    std::int32_t* l = last + line * stretches;
    std::uint32_t* f = first + line * stretches;
    std::int32_t before = nowhere;
    for (std::int64_t at = 0; at < stretches; at += cuda::warp) {
        const std::int64_t i = at + threadIdx.x;
        const std::int32_t upto = max(before, last_up_to(i < stretches ? l[i] : nowhere));
        const std::int32_t left = __shfl_up_sync(cuda::every_lane, upto, 1);
        if (i < stretches) l[i] = threadIdx.x == 0 ? before : left;
        before = __shfl_sync(cuda::every_lane, upto, cuda::warp - 1);
    }
    std::uint32_t after = static_cast<std::uint32_t>(nowhere);
    for (std::int64_t at = (stretches - 1) / cuda::warp * cuda::warp; at >= 0; at -= cuda::warp) {
        const std::int64_t i = at + threadIdx.x;
        const std::uint32_t from = min(after, first_from(i < stretches ? f[i] : static_cast<std::uint32_t>(nowhere)));
        const std::uint32_t right = __shfl_down_sync(cuda::every_lane, from, 1);
        if (i < stretches) f[i] = threadIdx.x == cuda::warp - 1 ? after : right;
        after = __shfl_sync(cuda::every_lane, from, 0);
    }
}

/// A warp a stretch, a lane a cell of each word in turn, so that cells are written 32 at a time. One function, because
/// each step hands its registers to the next by shuffles.
template <class V, class K, bool Keyed, bool Last>
__global__ void __launch_bounds__(scan_threads)
    scan_lines(const site_bytes image, const metric<V> m, const std::int32_t* before, const std::uint32_t* after,
               const sink<V, K, Keyed, Last> to) {
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * scan_warps + threadIdx.y;
    if (nth >= image.lines * image.stretches) return;
    const std::int64_t line = nth / image.stretches, stretch = nth - line * image.stretches;
    const std::uint32_t word = image.word(line, stretch);
    const int lane = threadIdx.x, axis = m.rank - 1;
    const auto stretch_start = static_cast<std::int32_t>(stretch * scan_cells);
    const std::int32_t start = stretch_start + lane * cuda::warp;
    std::int32_t left = __shfl_up_sync(cuda::every_lane, last_up_to(last_in(word, start)), 1);
    std::uint32_t right = __shfl_down_sync(cuda::every_lane, first_from(first_in(word, start)), 1);
    if (lane == 0) left = nowhere;
    if (lane == cuda::warp - 1) right = static_cast<std::uint32_t>(nowhere);
    if (before != nullptr) left = max(left, before[nth]), right = min(right, after[nth]);

    const std::int64_t here = line * image.length + stretch_start;
    const int cells = static_cast<int>(min(image.length - stretch_start, static_cast<std::int64_t>(scan_cells)));
    for (int w = 0; w * cuda::warp < cells; ++w) {
        const std::uint32_t bits = __shfl_sync(cuda::every_lane, word, w);
        const std::int32_t word_left = __shfl_sync(cuda::every_lane, left, w);
        const auto word_right = static_cast<std::int32_t>(__shfl_sync(cuda::every_lane, right, w));
        const int at = w * cuda::warp + lane;
        if (at >= cells) continue;
        const std::int32_t x = stretch_start + at;
        const std::uint32_t upto = bits << (31 - lane), from = bits >> lane;
        const std::int32_t l = upto ? x - __clz(static_cast<int>(upto)) : word_left;
        const std::int32_t r = from ? x + __ffs(static_cast<int>(from)) - 1 : word_right;
        const bool to_left = r == nowhere || (l != nowhere && x - l <= r - x);
        const std::int32_t site = to_left ? l : r;
        if (site == nowhere) {
            to.put(m, here + at, no_site<V>(), no_key<K>);
        } else {
            const std::int32_t apart = to_left ? x - site : site - x;
            to.put(m, here + at, along(m.weight[axis], static_cast<steps<V>>(apart)),
                   m.keys.template field<K>(axis, site));
        }
    }
}

/// A thread a cell: any strides and element types to one byte a cell, 0 for zero. Floats lose their sign bit first.
template <class Bits, bool Float>
__global__ void __launch_bounds__(flat_threads)
    copy_to_bytes(const Bits* image, const metric<std::int32_t> shape, const strides stride, std::int64_t cells,
                  std::uint8_t* bytes) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * flat_threads + threadIdx.x;
    if (cell >= cells) return;
    const Bits bits = image[offset_of(cell, shape.size, stride.of, shape.rank)];
    bytes[cell] = (Float ? static_cast<Bits>(bits << 1) : bits) != 0;
}

/// A thread a cell: a contiguous field to the caller's strides.
template <class T>
__global__ void __launch_bounds__(flat_threads)
    copy_to_strides(const T* from, const metric<std::int32_t> shape, const strides stride, std::int64_t cells, T* to) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * flat_threads + threadIdx.x;
    if (cell < cells) to[offset_of(cell, shape.size, stride.of, shape.rank)] = from[cell];
}

}  // namespace
}  // namespace nearfield::exact
