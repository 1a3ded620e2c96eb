// Rows: the last axis. Each cell gets its steps to the nearest site, or to the nearest cell of another class, as a
// cost.
//
// Steps up to 254 come from bytes by doubling: after rounds of 1, 2, 4, ..., 128 steps to both sides, every byte is the
// minimum of 511 neighbours plus their distance; most rows need fewer rounds. Rows with longer gaps fill these from a
// list of marked cells. Declines nothing. Bytes: eight per cell of a row and thread, with sites twelve.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/scratch.hpp"
#include "exact/host/terms.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::exact {

/// Number of elements that may be read and written behind a row's end.
inline constexpr std::int64_t row_slack = 256;

/// A thread's buffers for rows of one length.
class row_scratch {
public:
    row_scratch() = default;
    explicit row_scratch(std::int64_t length, bool sited = false);
    /// Returns the bytes that the constructor allocates.
    static std::int64_t bytes(std::int64_t length, bool sited) {
        return 3 * (length + 2 * row_slack) + 4 * (length + 2 * row_slack) + (sited ? 4 * (length + row_slack) : 0);
    }

    std::uint8_t *marks = nullptr, *steps = nullptr, *other = nullptr;  ///< row_slack bytes before each may be read
    std::int32_t* far_steps = nullptr;                                  ///< the one before may be written
    std::int32_t* site = nullptr;  ///< for cells with steps: the coordinate of the nearest site
    std::vector<std::int64_t> marked;
    std::unique_ptr<row_scratch> piece;  ///< for long rows

private:
    host_scratch<std::uint8_t> bytes_;
    host_scratch<std::int32_t> far_, site_;
};

enum class row_kind : std::uint8_t { near, far, none };  ///< steps are bytes, in far_steps, or there are none

/// Writes marks: 0 for a site, 1 for a cell beside another class, else 255. `closed`: cells beyond the ends are sites.
void mark_sites(const std::uint8_t* site, std::int64_t count, bool closed, row_scratch& r);
/// Does the same for classes of 1 to 8 bytes; a periodic row continues round its ends.
void mark_runs(const void* classes, int bytes, std::int64_t count, border ends, row_scratch& r);
/// Computes the steps to the nearest mark, plus the value of that mark.
row_kind steps_of_row(std::int64_t count, bool periodic, row_scratch& r);
/// Sets the steps of cells of class 0, which are sites, to 0.
row_kind clear_background(const void* classes, int bytes, std::int64_t count, row_kind kind, row_scratch& r);

/// bits[i] = whether cell i of two rows differs in class.
void differing(const void* a, const void* b, int bytes, std::int64_t count, std::int64_t lead, std::uint8_t* flags,
               std::uint8_t* bits);
/// bits[i] = whether cell i has class 0.
void zeros(const void* classes, int bytes, std::int64_t count, std::int64_t lead, std::uint8_t* flags,
           std::uint8_t* bits);

}  // namespace nearfield::exact
