// Access to the image in kernels: words of 32 sites from cells of any width, and copies of non-contiguous arrays.
#pragma once

#include <algorithm>

#include "base/lines.hpp"
#include "exact/gpu/ground/common.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact {
namespace {

constexpr int scan_cells = 1024;
constexpr int flat_threads = 256;

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

    /// Returns a word: bit i of lane l says that cell 32 * l + i of the stretch is a site. Called by whole warps.
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

/// Does the same for up to 1024 wider cells: in turn, each lane reads one cell of each word.
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

/// Copies any strides and element types to one byte a cell, 0 for zero; floats lose their sign bit. A thread per cell.
template <class Bits, bool Float>
__global__ void __launch_bounds__(flat_threads)
    copy_to_bytes(const Bits* image, const metric<std::int32_t> shape, const strides stride, std::int64_t cells,
                  std::uint8_t* bytes) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * flat_threads + threadIdx.x;
    if (cell >= cells) return;
    const Bits bits = image[offset_of(cell, shape.size, stride.of, shape.rank)];
    bytes[cell] = (Float ? static_cast<Bits>(bits << 1) : bits) != 0;
}

/// Copies a contiguous field to the caller's strides. A thread per cell.
template <class T>
__global__ void __launch_bounds__(flat_threads)
    copy_to_strides(const T* from, const metric<std::int32_t> shape, const strides stride, std::int64_t cells, T* to) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * flat_threads + threadIdx.x;
    if (cell < cells) to[offset_of(cell, shape.size, stride.of, shape.rank)] = from[cell];
}

}  // namespace

// Copies of the caller's arrays whose layout the engine does not accept: images of any strides and element type become
// one byte a cell, and fields are solved in workspace.

/// A field of the caller that is not contiguous: solved in workspace, copied at the end.
struct staged_copy {
    std::int64_t reserved = 0;
    std::int64_t element_bytes = 4;
    std::byte* to = nullptr;
    strides stride;
};

/// Sets the axes of the caller's image, and the unit of squared distances.
inline void set_axes(outputs& out, const plan& p) {
    out.image_rank = p.image_rank - p.batch_axes;
    out.cells = p.cells;
    out.unit2 = p.unit2;
    out.whole_unit2 = p.whole_unit2();
    std::fill(std::begin(out.problem_axis), std::end(out.problem_axis), -1);
    std::int64_t step = 1;
    for (int axis = p.rank - 1; axis >= 0; --axis) {
        const int source = p.source_axis[static_cast<std::size_t>(axis)] - p.batch_axes;
        if (source >= 0) out.problem_axis[source] = axis;
        out.step[axis] = step;
        step *= p.size[static_cast<std::size_t>(axis)];
    }
}

inline void copy_image_to_bytes(const device& on, const plan& p, const metric<std::int32_t>& shape,
                                const any_input<device>& image, std::uint8_t* bytes) {
    strides stride;
    std::copy_n(p.image_stride.begin(), p.rank, stride.of);
    const auto copy = [&]<class Bits, bool Float>() {
        cuda::launch(on, copy_to_bytes<Bits, Float>, blocks_for(p.cells, flat_threads), dim3(flat_threads), 0,
                     static_cast<const Bits*>(image.data), shape, stride, p.cells, bytes);
    };
    switch (size_of(image.type)) {
        case 1: copy.template operator()<std::uint8_t, false>(); break;
        case 2:
            image.type == dtype::float16 ? copy.template operator()<std::uint16_t, true>()
                                         : copy.template operator()<std::uint16_t, false>();
            break;
        case 4:
            image.type == dtype::float32 ? copy.template operator()<std::uint32_t, true>()
                                         : copy.template operator()<std::uint32_t, false>();
            break;
        default:
            image.type == dtype::float64 ? copy.template operator()<std::uint64_t, true>()
                                         : copy.template operator()<std::uint64_t, false>();
    }
}

}  // namespace nearfield::exact
