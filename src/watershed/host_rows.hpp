// Loops that compare cells of a row with all their neighbours, vectorized. They are compiled once per instruction set.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace nearfield::watersheds {

inline constexpr std::int64_t chunk = 128;  ///< number of cells that a loop over neighbours handles at once

using offsets_of_steps = std::span<const std::int32_t>;

/// One bit for each cell of a chunk.
struct chunk_bits {
    std::uint64_t word[chunk / 64]{};
};

/// Loops over a row. They read keys and codes up to a chunk behind the last cell; `by` has room for a whole chunk.
template <class Key>
struct row_loops {
    /// by[i]: the offset from key + i to the least key below it, or 0 if none is. Among equal keys the first in
    /// raster order wins.
    void (*descent)(const Key* key, offsets_of_steps offsets, std::int64_t count, std::int32_t* by);
    /// by[i]: the number, from 1, of the first offset that leads to the least key; 0 if all keys there are the
    /// largest one. Returns the cells none of whose offsets leads to a smaller key.
    chunk_bits (*lowest)(const Key* key, offsets_of_steps offsets, std::int64_t count, std::int32_t* by);
    /// Compares by key, then by steps, and returns nothing.
    void (*lowest_by_steps)(const Key* key, const std::int32_t* steps, offsets_of_steps offsets, std::int64_t count,
                            std::int32_t* by);
};

/// Returns the loops for keys of 32 or 64 bits.
template <class Key>
const row_loops<Key>& loops();

/// A neighbour's offset, and the offsets of the cells between a cell and this neighbour.
struct far_step {
    std::int32_t offset;
    std::vector<std::int32_t> between;
};

/// found[k]: cells whose code differs from the code at the offset of step k, if neither is -1. It leaves out cells for
/// which a cell in between has a key no higher than both. Steps without cells in between do not use the keys.
void find_differing(const std::int32_t* key, const std::int32_t* code, std::span<const far_step> all,
                    std::int64_t count, chunk_bits* found);

/// Calls use(i) for every bit that is set.
template <class Use>
void for_bits(const chunk_bits& bits, const Use& use) {
    for (std::int64_t w = 0; w < chunk / 64; ++w)
        for (std::uint64_t rest = bits.word[w]; rest != 0; rest &= rest - 1) use(64 * w + std::countr_zero(rest));
}

}  // namespace nearfield::watersheds
