// What is asked of cells and all their neighbours, for some cells of a row at once. Compiled once per instruction set.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace nearfield::watersheds {

inline constexpr std::int64_t chunk = 128;  ///< cells that a loop over neighbours does at once, or not at all

using offsets_of_steps = std::span<const std::int32_t>;

/// Bits of a chunk's cells.
struct chunk_bits {
    std::uint64_t word[chunk / 64]{};
};

template <class Key>
struct row_loops {
    /// by[i]: the first of the offsets that leads from key + i to the least key; 0 where all have the largest one.
    void (*lowest)(const Key* key, offsets_of_steps offsets, std::int64_t count, std::int32_t* by);
    /// The same by key, then by steps.
    void (*lowest_by_steps)(const Key* key, const std::int32_t* steps, offsets_of_steps offsets, std::int64_t count,
                            std::int32_t* by);
    /// Cells of which no offset leads to a smaller key.
    chunk_bits (*none_lower)(const Key* key, offsets_of_steps offsets, std::int64_t count);
};

/// For 32 and 64 bits.
template <class Key>
const row_loops<Key>& loops();

/// Cells whose code differs from that at an offset, and neither is -1.
chunk_bits differing(const std::int32_t* code, std::int32_t offset, std::int64_t count);

/// use(i) for every bit that is set.
template <class Use>
void for_bits(const chunk_bits& bits, const Use& use) {
    for (std::int64_t w = 0; w < chunk / 64; ++w)
        for (std::uint64_t rest = bits.word[w]; rest != 0; rest &= rest - 1) use(64 * w + std::countr_zero(rest));
}

}  // namespace nearfield::watersheds
