// The loops over sets of cells, one bit a cell. Compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace nearfield::chessboard {

inline constexpr std::int64_t word_bits = 64;

/// Loops over `words` words of 64 cells. Arrays do not overlap.
struct bit_loops {
    /// Packs 64 * words bytes: a bit is set if its byte is not zero.
    void (*pack)(const std::uint8_t* bytes, std::int64_t words, std::uint64_t* to);
    void (*unite)(const std::uint64_t* from, std::int64_t words, std::uint64_t* to);  ///< to |= from
    /// to = from, with the bits before those of `from` if `before`, and those behind them if `behind`; reads a word
    /// before `from` and one behind it.
    void (*unite_beside)(const std::uint64_t* from, bool before, bool behind, std::int64_t words, std::uint64_t* to);
    std::int64_t (*count)(const std::uint64_t* from, std::int64_t words);  ///< number of bits that are set
    /// Counts, for each of 64 * words cells, the sets without it, of `sets` sets; reads up to 8 bytes beyond each.
    void (*count_without)(const std::uint64_t* const* set, int sets, std::int64_t words, std::uint8_t* to);
    /// Writes written() of core.hpp.
    void (*write)(const std::uint8_t* from, std::int64_t cells, std::uint32_t limit, std::uint32_t none,
                  std::uint32_t* to);
};

const bit_loops& loops_over_bits();

}  // namespace nearfield::chessboard
