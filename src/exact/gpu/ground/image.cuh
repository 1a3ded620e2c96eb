// Access to the image in kernels: words of 32 sites from cells of any width.
#pragma once

#include <algorithm>

#include "base/lines.hpp"
#include "exact/gpu/ground/common.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact {
namespace {

constexpr int scan_cells = 1024;

/// The image as bytes: one per cell, line after line.
struct site_bytes {
    const std::uint8_t* data = nullptr;
    bool zero_is_site = true;
    std::int64_t length = 1;  ///< cells of a line
    std::int64_t lines = 1;
    std::int64_t stretches = 1;  ///< stretches of 1024 cells in a line
    int cell_bytes = 1;          ///< 1 except in kernels that pack lines
    bool floating = false;       ///< floating point: the sign of such cells is ignored

    void read(const void* cells, dtype type) {
        data = static_cast<const std::uint8_t*>(cells);
        cell_bytes = static_cast<int>(size_of(type)), floating = type >= dtype::float16;
    }
};

/// Returns a word of up to 1024 cells: bit i of lane l says that cell 32 * l + i is a site. Called by whole warps; in
/// turn, each lane reads one cell of each word.
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
/// Does the same with loads of 16 bytes: a lane reads 8 neighbouring cells in each of 4 turns; cells are aligned.
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

}  // namespace
}  // namespace nearfield::exact
