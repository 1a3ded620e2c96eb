// Images as bits: rows of words in which the host engine finds runs, which are linked cells that follow each other
// along the last axis.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/scratch.hpp"
#include "label/core.hpp"

namespace nearfield::labelling {

inline constexpr std::int64_t word_bits = 64;

/// Cells of a row that are linked with those in the same column of an earlier row; none if there is no such row.
struct column_links {
    const std::uint64_t *links = nullptr, *here = nullptr, *there = nullptr;
    [[nodiscard]] std::uint64_t operator[](std::int64_t w) const {
        return links == nullptr ? 0 : links[w] & here[w] & there[w];
    }
};

/// The rows of all images. Bit x of a row is cell x. A word of zeros lies behind each row, and in front of the first,
/// so that every word has neighbours. Runs are numbered over all rows in raster order.
class bit_rows {
public:
    /// Plain: adjacent foreground cells are always linked, so that starts need no words of their own.
    bit_rows(const problem& p, bool is_plain);

    [[nodiscard]] std::uint64_t* foreground(std::int64_t row) const { return memory_.get() + 1 + row * (words + 1); }
    /// First cells of runs. Null when plain.
    [[nodiscard]] std::uint64_t* starts(std::int64_t row) const {
        return plain ? nullptr : memory_.get() + plane_words() + 1 + row * (words + 1);
    }
    /// Cells that would be linked with the one in the same column of the row before (N) or the plane before (U) if both
    /// were foreground; valid in rows that have one. Null when plain.
    [[nodiscard]] std::uint64_t* to_n(std::int64_t row) const { return plain ? nullptr : to_n_ + row * words; }
    [[nodiscard]] std::uint64_t* to_u(std::int64_t row) const { return plain ? nullptr : to_u_ + row * words; }
    [[nodiscard]] column_links links_to_n(std::int64_t row) const {
        if (row % side == 0) return {};
        return {to_n(row), foreground(row), foreground(row - 1)};
    }
    [[nodiscard]] column_links links_to_u(std::int64_t row) const {
        if (row / side % planes == 0) return {};
        return {to_u(row), foreground(row), foreground(row - side)};
    }
    /// Returns, for each word, the number of runs of the row that start before it.
    [[nodiscard]] std::uint32_t* before(std::int64_t row) const { return before_ + row * words; }
    /// Returns the number of each row's first run, with one more entry for the end.
    [[nodiscard]] std::int64_t* first_run() const { return first_run_; }
    /// Returns the largest number of runs of any of these rows: few cells of a long row begin one.
    [[nodiscard]] std::size_t most_runs(std::int64_t first_row, std::int64_t last_row) const {
        std::int64_t most = 0;
        for (std::int64_t row = first_row; row < last_row; ++row)
            most = std::max(most, first_run_[row + 1] - first_run_[row]);
        return static_cast<std::size_t>(most);
    }

    bool plain;
    std::int64_t cells;   ///< cells of a row
    std::int64_t words;   ///< words of a row
    std::int64_t side;    ///< rows of a plane
    std::int64_t planes;  ///< planes of an image
    std::int64_t rows;    ///< rows of all images

private:
    [[nodiscard]] std::int64_t plane_words() const { return 1 + rows * (words + 1); }

    /// Foreground, starts, links to N and U, first runs, runs before: one allocation touches the fewest pages.
    host_scratch<std::uint64_t> memory_;
    std::uint64_t *to_n_, *to_u_;
    std::int64_t* first_run_;
    std::uint32_t* before_;
};

}  // namespace nearfield::labelling
