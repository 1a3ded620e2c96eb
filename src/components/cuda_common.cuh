// Shared by the room's kernels: words, labels of 32 bits, rows of a block, warps that add up before they write.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cuda_by_warp.cuh"
#include "base/cuda_scan.cuh"
#include "components/core.hpp"

namespace nearfield::components {

inline constexpr std::uint32_t no_row = 0xffffffffu;
inline constexpr int threads_of_block = 256;

using cuda::blocks_for;
using cuda::quotient;
using cuda::word;

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

/// The row of a 32-bit label; no_row if it has none.
__device__ inline std::uint32_t row_of_label(std::uint32_t label, std::uint32_t rows) {
    return label - 1 < rows ? label - 1 : no_row;
}

/// Labels as the kernels read them: 32 bits a cell; only the values 1 to `rows` have a row.
struct labels32 {
    array3 at;
    std::uint32_t rows = 0, most = 0;  ///< `most`: largest label that is not negative
    bool copied = false;

    /// Uses labels of 32 bits in place, unless they must be `dense` and are not. Copies all others in C order, 4 bytes
    /// a cell.
    labels32(const any_input<device>& labels, std::int64_t rows_wanted, bool dense = false) : at(array3_of(labels)) {
        copied = size_of(labels.type) != 4 || (dense && !at.is_dense());
        // Negative labels have the highest bit set, so they must lie above `most`.
        most = labels.type == dtype::int32 ? 0x7fffffff : 0xffffffff;
        rows = static_cast<std::uint32_t>(std::min({rows_wanted, std::int64_t{most}, std::int64_t{no_row} - 1}));
    }
    void copy(const device& on, const any_input<device>& labels, std::uint32_t* to);
    NF_HD const std::uint32_t* data() const { return static_cast<const std::uint32_t*>(at.data); }
};

/// Adds a number of several words, lowest word first, atomically; the carry follows from the word's earlier value.
template <int Words>
__device__ void add_wide(word* to, const std::uint64_t (&by)[Words]) {
    std::uint64_t carry = 0;
#pragma unroll
    for (int i = 0; i < Words; ++i) {
        const std::uint64_t more = by[i] + carry;
        const bool wrapped = more < carry;  // then this word stays as it is
        carry = wrapped ? 1 : 0;
        if (more == 0) continue;
        const std::uint64_t before = atomicAdd(to + i, static_cast<word>(more));
        if (before + more < more) carry = 1;
    }
}
/// A minimum only falls and a maximum only rises, so a stale read may cost an atomic but never skips a change.
__device__ inline void lower(word* to, std::uint64_t by) {
    if (by < *static_cast<volatile word*>(to)) atomicMin(to, static_cast<word>(by));
}
__device__ inline void raise(word* to, std::uint64_t by) {
    if (by > *static_cast<volatile word*>(to)) atomicMax(to, static_cast<word>(by));
}

/// Calls put(row, sums) with the sums of a block's threads, which a warp adds up first where its lanes share a row.
template <class Sums, class Put>
__device__ void put_by_warp(std::uint32_t row, const Sums& mine, const Put& put) {
    cuda::put_by_warp(row, no_row, mine, put);
}

/// Maps rows to the sums that a block holds: an open hash table in shared memory; a row's place numbers its sums.
struct block_rows {
    static constexpr int places = threads_of_block;
    std::uint32_t row[places];

    __device__ void clear() { row[threadIdx.x] = no_row; }
    /// The row's place; -1 if the places that it may take are full.
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
