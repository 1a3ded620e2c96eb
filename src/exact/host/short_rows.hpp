// Rows of several short axes: shapes such as (8,)*7 + (3,) have no axis that fills a tile's columns. The last few axes
// make one row together, and every cell of such a row is offered to all cells of its lines, axis after axis.
//
// A shift by k cells along an axis is one loop over the row, with a table of what it costs each cell: infinite where
// the shift leaves the line. Cells of another class offer themselves. Declines power diagrams and axes of more than
// `most_cells` cells. Bytes: a table of twice an axis's cells for each cell of the row, once a call.
#pragma once

#include <cstdint>
#include <vector>

#include "base/scratch.hpp"
#include "exact/host/terms.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// First of the axes that make a row together: the last axis where that is long enough by itself.
int row_axis_of(const plan& p);

/// One shift along an axis: best = min(best, value[cells on] + cost), where a cell of another class offers `own`.
template <class L>
struct row_shift {
    std::int64_t cells = 0;
    host_scratch<L> cost;
};

/// What such a shift needs of a row; sites only beside values.
template <class L>
struct row_offers {
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
    /// Of the axes from `first_axis` on; `scale` is that of values beside their sites.
    short_rows(const plan& p, int first_axis, double scale);
    static std::int64_t bytes(const plan& p, int first_axis);

    /// A thread's row.
    struct scratch {
        explicit scratch(std::int64_t length);
        host_scratch<lane> value_, best_;
        host_scratch<std::int64_t> site_, best_site_;
        host_scratch<std::uint8_t> differs, bits;
    };
    /// Sites of all cells where `classes` has one byte a cell and `runs` is false: they are not 0. Else the sites of a
    /// cell are the cells of other classes, and cells of class 0 if there is a background.
    void solve(const void* classes, int bytes, bool runs, scratch& s, T* to, std::int64_t tile_pitch) const;
    /// Site of each cell of a row, along its axes.
    [[nodiscard]] const std::int64_t* own_sites() const { return own_site_.data(); }

private:
    void start(const void* classes, int bytes, bool runs, scratch& s) const;

    std::int64_t length_ = 1, margin_ = 0;
    bool background_;
    std::vector<std::vector<row_shift<lane>>> axes_;  ///< the last axis first
    std::vector<host_scratch<lane>> border_;          ///< of closed axes; without sites
    std::vector<std::int64_t> own_site_;
    host_scratch<lane> own_;
};

}  // namespace nearfield::exact
