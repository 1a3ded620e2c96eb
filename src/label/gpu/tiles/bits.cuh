// Binary images: the bits of a tile's cells, and the places where its bundles touch.
#pragma once

#include "label/gpu/tiles/tile.cuh"

namespace nearfield::labelling {

/// Source of the bits: contiguous bytes, or words that another kernel made.
struct bit_source {
    const std::uint8_t* bytes;
    const word* words;
};

/// Returns four bits: which bytes are not zero.
__device__ inline std::uint32_t nonzero_bytes(std::uint32_t four) {
    const std::uint32_t high = (((four & 0x7f7f7f7fU) + 0x7f7f7f7fU) | four) & 0x80808080U;
    return (high >> 7) * 0x10204080U >> 28;
}
__device__ inline std::uint32_t nonzero_bytes(const uint4& v) {
    return nonzero_bytes(v.x) | nonzero_bytes(v.y) << 4 | nonzero_bytes(v.z) << 8 | nonzero_bytes(v.w) << 12;
}

/// Packs the tile's bytes into bits: 16 at a time, neighbouring lanes neighbouring bytes, all loads before a use.
template <class Tiling>
__device__ void pack_tile(const narrow_lattice& g, const tile_place<Tiling>& at, const std::uint8_t* bytes,
                          word* cells) {
    constexpr int per_row = Tiling::words * 2, each = Tiling::row_words * 2 / Tiling::threads;
    uint4 loaded[each];
#pragma unroll
    for (int i = 0; i < each; ++i) {
        const int chunk = static_cast<int>(threadIdx.x) + i * Tiling::threads, row = chunk / per_row;
        const int plane = row / Tiling::rows, line = row % Tiling::rows,
                  x = at.word * word_cells + chunk % per_row * 16;
        loaded[i] = {0, 0, 0, 0};
        if (at.holds(g, plane, line, 0) && x < g.size[2])
            loaded[i] =
                __ldcs(reinterpret_cast<const uint4*>(bytes + std::int64_t{at.row(g, plane, line)} * g.size[2] + x));
    }
#pragma unroll
    for (int i = 0; i < each; ++i)
        reinterpret_cast<std::uint16_t*>(cells)[static_cast<int>(threadIdx.x) + i * Tiling::threads] =
            static_cast<std::uint16_t>(nonzero_bytes(loaded[i]));
}

template <class Tiling>
__device__ void copy_tile(const narrow_lattice& g, const tile_place<Tiling>& at, const word* words, word* cells) {
    for (int i = static_cast<int>(threadIdx.x); i < Tiling::row_words; i += Tiling::threads) {
        const int row = i / Tiling::words, w = i % Tiling::words;
        const int plane = row / Tiling::rows, line = row % Tiling::rows;
        cells[i] = at.holds(g, plane, line, w) ? words[at.row(g, plane, line) * g.words + at.word + w] : 0;
    }
}

/// The words of one tile in shared memory.
template <class Tiling>
struct tile_words {
    const word* cells;
    const word* all;  ///< for each thread, the OR of its rows

    /// Returns the OR of some rows of a bundle, `dw` words along them.
    [[nodiscard]] __device__ word rows(const tile_bundle<Tiling>& b, unsigned which, int dw) const {
        if (b.w + dw < 0 || b.w + dw >= Tiling::words) return 0;
        word any = 0;
#pragma unroll
        for (int r = 0; r < Tiling::bundle::count; ++r)
            if ((which >> r & 1) != 0) any |= cells[b.at(r) + dw];
        return any;
    }
    [[nodiscard]] __device__ three_words three(const tile_bundle<Tiling>& b, unsigned which) const {
        return {rows(b, which, -1), rows(b, which, 0), rows(b, which, 1)};
    }
    [[nodiscard]] __device__ word any(const tile_bundle<Tiling>& b, int dw) const {
        return b.w + dw < 0 || b.w + dw >= Tiling::words ? 0 : all[b.thread + dw];
    }
    [[nodiscard]] __device__ touches find(const tile_bundle<Tiling>& b, const touch& t) const {
        if (!b.reaches(t)) return {0, 0, 0, 0};
        const tile_bundle<Tiling> there(b.other(t));
        return find_touches(three(b, t.here), {any(b, -1), any(b, 0), any(b, 1)}, three(there, t.there), any(there, 0),
                            t.slanted);
    }
};

}  // namespace nearfield::labelling
