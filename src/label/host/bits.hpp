// Images as bits: rows of words in which the host engine finds runs, cells side by side along the last axis that are
// linked.
#pragma once

#include <cstdint>

#include "base/scratch.hpp"
#include "label/core.hpp"

namespace nearfield::labelling {

inline constexpr std::int64_t word_bits = 64;

/// All rows of all images. Bit x of a row is cell x; behind each row, and in front of the first, lies a word of zeros,
/// so that every word has neighbours. Runs are numbered over all rows in raster order.
class bit_rows {
public:
    /// `Plain`: whatever stands side by side in the foreground is linked, so that starts need no words of their own.
    bit_rows(const problem& p, bool is_plain);

    [[nodiscard]] std::uint64_t* foreground(std::int64_t row) const { return memory_.get() + 1 + row * (words + 1); }
    /// First cells of runs. Null when plain.
    [[nodiscard]] std::uint64_t* starts(std::int64_t row) const {
        return plain ? nullptr : memory_.get() + plane_words() + 1 + row * (words + 1);
    }
    /// For each word: runs of the row that start before it.
    [[nodiscard]] std::uint32_t* before(std::int64_t row) const { return before_ + row * words; }
    /// Number of the row's first run; there is one more, for the end.
    [[nodiscard]] std::int64_t* first_run() const { return first_run_; }

    bool plain;
    std::int64_t cells;   ///< of a row
    std::int64_t words;   ///< of a row
    std::int64_t side;    ///< rows of a plane
    std::int64_t planes;  ///< of an image
    std::int64_t rows;    ///< of all images

private:
    [[nodiscard]] std::int64_t plane_words() const { return 1 + rows * (words + 1); }

    host_scratch<std::uint64_t> memory_;  ///< foreground, starts, first runs, runs before: one block costs fewest pages
    std::int64_t* first_run_;
    std::uint32_t* before_;
};

}  // namespace nearfield::labelling
