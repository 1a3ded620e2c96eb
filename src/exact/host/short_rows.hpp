// Rows of several short axes: shapes such as (8,)*7 + (3,) have no axis that fills a tile's columns. The last few axes
// form one row, and every cell of it relaxes all cells of its lines, axis after axis.
//
// A shift by k cells along an axis is one loop over the row, with a table of its cost for each cell: infinite if the
// shift leaves the line. Cells of another class are sites themselves. Declines power diagrams and axes of more than
// `most_cells` cells. Bytes: a table of twice an axis's cells for each cell of the row, once per call.
#pragma once

#include <cstdint>
#include <vector>

#include "base/scratch.hpp"
#include "exact/host/terms.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// Returns the first of the axes that form a row: the last axis if that is long enough alone.
int row_axis_of(const plan& p);

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
        host_scratch<std::uint8_t> differs, bits;
    };
    /// Solves a row. If `runs` is false, `classes` has one byte a cell and cells that are not 0 are sites for all. Else
    /// the sites of a cell are the cells of other classes, and cells of class 0 if there is a background.
    void solve(const void* classes, int bytes, bool runs, scratch& s, T* to, std::int64_t tile_pitch) const;
    /// Returns the site of each cell of a row, along its axes.
    [[nodiscard]] const std::int64_t* own_sites() const { return own_site_.data(); }

private:
    void start(const void* classes, int bytes, bool runs, scratch& s) const;

    std::int64_t length_ = 1, margin_ = 0;
    bool background_;
    std::vector<std::vector<row_shift<lane>>> axes_;  ///< the last axis first
    std::vector<host_scratch<lane>> border_;          ///< for closed axes; without sites
    std::vector<std::int64_t> own_site_;
    host_scratch<lane> own_;
};

}  // namespace nearfield::exact
