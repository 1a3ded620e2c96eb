// Packs rows of bytes at any address into bits: 32 cells to a thread, from loads of 16 bytes.
#pragma once

#include "label/gpu/call.hpp"
#include "label/gpu/tiles/bits.cuh"

namespace nearfield::labelling {

/// Rows of cells that are contiguous along the last axis; all rows lie between `begin` and `end`.
struct byte_rows {
    const std::uint8_t* data;
    strides at;
    const std::uint8_t *begin, *end;

    /// Returns sixteen bits for the 16 bytes from `first`, which is a multiple of 16. Bytes outside of the array are
    /// not read.
    [[nodiscard]] __device__ std::uint32_t nonzero(const std::uint8_t* first) const {
        if (first >= begin && first + 16 <= end) return nonzero_bytes(__ldg(reinterpret_cast<const uint4*>(first)));
        std::uint32_t bits = 0;
        for (int i = 0; i < 16; ++i)
            if (first + i >= begin && first + i < end && first[i] != 0) bits |= 1U << i;
        return bits;
    }
};

/// A thread owns a word; neighbouring threads read neighbouring bytes, and both read the 16 at their seam.
__global__ void __launch_bounds__(256) pack_rows(narrow_lattice g, byte_rows from, word* foreground) {
    cuda::wait_for_kernel_before();
    const std::int64_t w = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (w >= g.all_words()) return;
    const place<narrow_id> at(g, static_cast<int>(w), 0);
    const std::uint8_t* cells = from.data + from.at.image(at.image) + from.at.cell(at.z, at.y, at.x);
    const int count = min(word_cells, g.size[2] - at.x);
    const int before = static_cast<int>(reinterpret_cast<std::uintptr_t>(cells) % 16);
    std::uint64_t bits = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i)
        if (16 * i < before + count) bits |= std::uint64_t{from.nonzero(cells - before + 16 * i)} << 16 * i;
    foreground[w] = static_cast<word>(bits >> before) & up_to(count - 1);
}

/// True if pack_rows supports the image: bytes, contiguous along the last axis.
inline bool has_byte_rows(const device_call<narrow_id>& call) {
    return size_of(call.image.type) == 1 && !call.p.colour &&
           (call.grid.size[2] == 1 || call.strides_of(call.image).along[2] == 1);
}

inline byte_rows byte_rows_of(const device_call<narrow_id>& call) {
    const auto* data = static_cast<const std::uint8_t*>(call.image.data);
    byte_rows from{data, call.strides_of(call.image), data, data + 1};
    for (int axis = 0; axis < call.p.batch_axes + call.p.rank; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const std::int64_t far = (call.image.shape[a] - 1) * call.image.stride[a];
        (far < 0 ? from.begin : from.end) += far;
    }
    return from;
}

}  // namespace nearfield::labelling
