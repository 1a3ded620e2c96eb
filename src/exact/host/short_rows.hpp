// Rows of several short axes: shapes such as (8,)*7 + (3,) have no axis that fills a tile's columns. The last few axes
// form one row, and every cell of it relaxes all cells of its lines, axis after axis.
//
// A shift by k cells along an axis is one loop over a few rows, with a table of its cost for each cell: infinite if the
// shift leaves the line. Cells of another class are sites themselves. Declines power diagrams and axes of more than
// `most_cells` cells. Bytes: a table of twice an axis's cells for each cell of
// these rows, once per call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/scratch.hpp"
#include "exact/host/terms.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// Returns the first of the axes that form a row: the last axis if that is long enough alone.
int row_axis_of(const plan& p);

/// Number of rows of `length` cells that are solved together, so that loops are not too short.
inline std::int64_t rows_together(std::int64_t length) {
    return std::max<std::int64_t>(1, 256 / std::max<std::int64_t>(1, length));
}

/// One shift along an axis: best = min(best, value[cells on] + cost); `own` is the value of a cell of another class.
template <class L>
struct row_shift {
    std::int64_t cells = 0;
    host_scratch<L> cost;
};

/// Inputs of such a shift for a row; sites only beside values.
template <class L>
struct row_candidates {
    std::int64_t count = 0;
    const L *value = nullptr, *own = nullptr, *cost = nullptr;
    const std::int64_t *site = nullptr, *own_site = nullptr;
    const std::uint8_t* differs = nullptr;
    L* best = nullptr;
    std::int64_t* best_site = nullptr;
};

template <class T>
class short_rows {
    using lane = lane_of_number<T>;

public:
    /// Prepares the axes from `first_axis` on; `scale` is that of values beside their sites.
    short_rows(const plan& p, int first_axis, double scale);
    static std::int64_t bytes(const plan& p, int first_axis);

    /// A thread's scratch row.
    struct scratch {
        explicit scratch(std::int64_t length);
        host_scratch<lane> value_, best_;
        host_scratch<std::int64_t> site_, best_site_;
        host_scratch<std::uint8_t> classes, differs, bits;
        std::int64_t first = 0;  ///< number of the first of its rows
    };
    /// Solves `rows` rows, at most rows_together(), whose classes lie in the scratch one row after the other. If `runs`
    /// is false, a class is a byte and cells that are not 0 are sites for all. Else the sites of a cell are the cells
    /// of other classes, and cells of class 0 if there is a background.
    void solve(std::int64_t rows, int bytes, bool runs, scratch& s) const;
    /// Writes one of these rows to tiles that are `tile_pitch` elements apart.
    void put(std::int64_t row, const scratch& s, T* to, std::int64_t tile_pitch) const;
    /// Returns the site of each cell of a row, along its axes.
    [[nodiscard]] const std::int64_t* own_sites() const { return own_site_.data(); }

private:
    void start(std::int64_t cells, int bytes, bool runs, scratch& s) const;

    std::int64_t length_ = 1, cells_ = 1, margin_ = 0;  ///< of a row, and of rows that are solved together
    bool background_;
    std::vector<std::vector<row_shift<lane>>> axes_;  ///< the last axis first
    std::vector<host_scratch<lane>> border_;          ///< for closed axes; without sites
    std::vector<std::int64_t> own_site_;
    host_scratch<lane> own_;
};

}  // namespace nearfield::exact
