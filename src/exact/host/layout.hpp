// Partition of a call into passes and tiles, and the number types of its cells.
#pragma once

#include <cstdint>
#include <vector>

#include "exact/plan.hpp"

namespace nearfield::exact {

/// Number types of cells. `narrow` is 16 bits, and 32 for the tiles in which a result does not fit; `int32_real` is 32
/// bits, and float64 for such tiles; `packed` has value and site in one float64; `wide` has the site beside the value,
/// `packed_wide` only in tiles in which a result does not pack. A power diagram is wide until its weights are known.
enum class host_numbers : std::uint8_t { narrow, int32, int32_real, real, packed, packed_wide, wide_whole, wide_real };
host_numbers numbers_of(const plan& p);
/// True if values up to `largest` and sites fit a packed_site.
bool packs(const plan& p, double largest);
/// Returns the number of rows on either side that may affect a cell.
std::int64_t window_of(const plan& p, int axis);

/// Returns the columns before a row's first cell with which tiles' rows of distances start at cache lines; 0 if rows
/// are short, start at different places of a line, or have sites. Storing to two lines at a time took a quarter of
/// 3072x4096 in real spacing.
std::int64_t lead_of(const plan& p, const arrays<host>& a);

/// A pass along axes [first, last] of a problem, in tiles of neighbouring cells of the last axis. Short axes share a
/// pass.
struct line_pass {
    int first = 0, last = 0;
    std::int64_t before = 1, rows = 1,
                 after = 1;  ///< cells of the axes before it, its own, and of those after it but the last
};

/// The passes and tiles of a call.
struct pass_layout {
    /// `first_columns`: see lead_of().
    pass_layout(const plan& p, std::int64_t columns, std::int64_t element_bytes, std::int64_t first_columns = 0);
    int row_axis = 0;                    ///< the row consists of this axis and those after it
    bool aside = false;                  ///< rows are solved side by side: those of several axes, or of power diagrams
    std::int64_t lead = 0;               ///< columns of the first tile that are no cells
    std::int64_t length = 1, tiles = 1;  ///< cells of a row, and tiles
    std::vector<line_pass> passes;
    std::int64_t together = 1;  ///< planes of the first pass whose rows are solved before their lines
    /// Rows that are not aside leave nearest sites, or steps, from which the first pass computes its values.
    bool sites_of_rows = false, steps_of_rows = false;
    std::int64_t bytes_of_rows = 0;                       ///< bytes of a cell that rows leave
    std::int64_t columns_of_rows = 0, tiles_of_rows = 0;  ///< pieces of what a row leaves: cache lines at least

    [[nodiscard]] const line_pass& pass_of(int axis) const {
        std::size_t k = 0;
        while (axis < passes[k].first) ++k;
        return passes[k];
    }
    [[nodiscard]] std::int64_t plane_elements() const { return passes.front().rows * tiles * columns_; }
    /// Returns the cells of a plane that rows leave.
    [[nodiscard]] std::int64_t plane_of_rows() const { return passes.front().rows * tiles_of_rows * columns_of_rows; }
    /// Returns the elements that hold what rows leave of this many cells.
    [[nodiscard]] std::int64_t elements_of_rows(std::int64_t cells) const {
        return (cells * bytes_of_rows + element_bytes_ - 1) / element_bytes_;
    }
    [[nodiscard]] std::int64_t field_elements(int k) const;
    [[nodiscard]] std::int64_t workspace_bytes(const plan& p, int threads, bool sited) const;

private:
    std::int64_t columns_, element_bytes_;
};

}  // namespace nearfield::exact
