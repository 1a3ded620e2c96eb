// What is asked of cells and all their neighbours, for some cells of a row at once. Compiled once per instruction set.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace nearfield::watersheds {

inline constexpr std::int64_t chunk = 128;  ///< cells that a loop over neighbours does at once, or not at all

using offsets_of_steps = std::span<const std::int32_t>;

/// Bits of a chunk's cells.
struct chunk_bits {
    std::uint64_t word[chunk / 64]{};
};

/// Keys and codes are read up to a chunk behind the last cell. `by` has room for a whole chunk.
template <class Key>
struct row_loops {
    /// by[i]: the offset that leads from key + i to the least key below it, or 0; offsets below 0 lead to equal ones,
    /// too.
    void (*descent)(const Key* key, offsets_of_steps offsets, std::int64_t count, std::int32_t* by);
    /// by[i]: the number, from 1, of the first of the offsets that leads to the least key; 0 where all have the largest
    /// one. Returns the cells of which no offset leads to a smaller key.
    chunk_bits (*lowest)(const Key* key, offsets_of_steps offsets, std::int64_t count, std::int32_t* by);
    /// The same by key, then by steps; returns nothing.
    void (*lowest_by_steps)(const Key* key, const std::int32_t* steps, offsets_of_steps offsets, std::int64_t count,
                            std::int32_t* by);
};

/// For 32 and 64 bits.
template <class Key>
const row_loops<Key>& loops();

/// An offset, and those of cells between a cell and what it leads to.
struct far_step {
    std::int32_t offset;
    std::vector<std::int32_t> between;
};

/// found[k]: cells whose code differs from that at the offset of step k, and neither is -1; but those of which a cell
/// between the two is not above both. Where a step has none between, keys are not looked at.
void find_differing(const std::int32_t* key, const std::int32_t* code, std::span<const far_step> all,
                    std::int64_t count, chunk_bits* found);

/// use(i) for every bit that is set.
template <class Use>
void for_bits(const chunk_bits& bits, const Use& use) {
    for (std::int64_t w = 0; w < chunk / 64; ++w)
        for (std::uint64_t rest = bits.word[w]; rest != 0; rest &= rest - 1) use(64 * w + std::countr_zero(rest));
}

}  // namespace nearfield::watersheds
