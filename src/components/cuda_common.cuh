// What the kernels of the room share: words, labels brought into one form, warps that add up before they write.
#pragma once

#include <cstdint>

#include "base/cuda_by_warp.cuh"
#include "components/core.hpp"

namespace nearfield::components {

using word = unsigned long long;  // what CUDA's 64-bit atomics take
inline constexpr std::uint32_t no_row = 0xffffffffu;
inline constexpr int threads_of_block = 256;

using cuda::blocks_for;
using cuda::quotient;

/// Element offset of the cell with this C-order number.
__device__ inline std::int64_t offset_in(const array3& a, std::int64_t cell) {
    const std::int64_t line = quotient(cell, a.side[2]), plane = quotient(line, a.side[1]);
    return plane * a.step[0] + (line - plane * a.side[1]) * a.step[1] + (cell - line * a.side[2]) * a.step[2];
}

/// An integer of any type, sign-extended to 64 bits.
__device__ inline std::int64_t read_integer(const void* data, dtype type, std::int64_t at) {
    switch (type) {
        case dtype::int8: return static_cast<const std::int8_t*>(data)[at];
        case dtype::int16: return static_cast<const std::int16_t*>(data)[at];
        case dtype::uint16: return static_cast<const std::uint16_t*>(data)[at];
        case dtype::int32: return static_cast<const std::int32_t*>(data)[at];
        case dtype::uint32: return static_cast<const std::uint32_t*>(data)[at];
        case dtype::int64:
        case dtype::uint64: return static_cast<const std::int64_t*>(data)[at];
        default: return static_cast<const std::uint8_t*>(data)[at];
    }
}

/// The row of a label of 32 bits; no_row where it has none.
__device__ inline std::uint32_t row_of_label(std::uint32_t label, std::uint32_t rows) {
    return label - 1 < rows ? label - 1 : no_row;
}

/// Labels as the kernels want them: 32 bits a cell, in which nothing but 1 to `rows` has a row.
struct labels32 {
    array3 at;
    std::uint32_t rows = 0;
    bool copied = false;

    /// Labels of 32 bits are taken as they are, unless they have to be `dense`, others copied, a word a cell, in C
    /// order.
    labels32(const any_input<device>& labels, std::int64_t rows_wanted, bool dense = false) : at(array3_of(labels)) {
        copied = size_of(labels.type) != 4 || (dense && !at.is_dense());
        // Negative labels have the highest bit.
        const std::int64_t most = labels.type == dtype::int32 ? 0x7fffffff : 0xfffffffe;
        rows = static_cast<std::uint32_t>(rows_wanted < most ? rows_wanted : most);
    }
    void copy(const device& on, const any_input<device>& labels, std::uint32_t* to);
    NF_HD const std::uint32_t* data() const { return static_cast<const std::uint32_t*>(at.data); }
};

/// Adds a number of several words, the lowest first; the carry follows from what was there.
template <int Words>
__device__ void add_wide(word* to, const std::uint64_t (&by)[Words]) {
    std::uint64_t carry = 0;
#pragma unroll
    for (int i = 0; i < Words; ++i) {
        const std::uint64_t more = by[i] + carry;
        const bool wrapped = more < carry;  // then nothing is left to add to this word
        carry = wrapped ? 1 : 0;
        if (more == 0) continue;
        const std::uint64_t before = atomicAdd(to + i, static_cast<word>(more));
        if (before + more < more) carry = 1;
    }
}
/// The lowest and highest so far only move one way: what is read may be old, but never spares a change that is due.
__device__ inline void lower(word* to, std::uint64_t by) {
    if (by < *static_cast<volatile word*>(to)) atomicMin(to, static_cast<word>(by));
}
__device__ inline void raise(word* to, std::uint64_t by) {
    if (by > *static_cast<volatile word*>(to)) atomicMax(to, static_cast<word>(by));
}

/// Rows of a block's threads at the end of their work.
template <class Sums, class Put>
__device__ void put_by_warp(std::uint32_t row, const Sums& mine, const Put& put) {
    cuda::put_by_warp(row, no_row, mine, put);
}

/// Which rows the sums of a block stand for: an open hash table in shared memory, whose places number the sums.
struct block_rows {
    static constexpr int places = threads_of_block;
    std::uint32_t row[places];

    __device__ void clear() { row[threadIdx.x] = no_row; }
    /// The row's place; -1 when there is none left near where it should be.
    __device__ int place_of(std::uint32_t which) {
        constexpr int tries = 8;
        unsigned at = which * 2654435761u >> 24;
        for (int i = 0; i < tries; ++i, at = (at + 1) % places) {
            const std::uint32_t before = atomicCAS(row + at, no_row, which);
            if (before == no_row || before == which) return static_cast<int>(at);
        }
        return -1;
    }
};
static_assert(block_rows::places == 256, "the hash has 8 bits");

}  // namespace nearfield::components
