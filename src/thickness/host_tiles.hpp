// Parameters of the host's fast path, which is compiled for each instruction set.
#pragma once

#include <algorithm>

#include "thickness/host.hpp"
#include "thickness/walk.hpp"

namespace nearfield::thickness {

struct plain_call {
    const grid3& g;
    const metric<std::int32_t>& m;
    const std::int32_t* field = nullptr;
    std::int32_t* painted = nullptr;
    bool shared = false;                ///< several threads paint
    std::int32_t planes = 1, rows = 1;  ///< size of a tile
};

/// Raises cells of rows: a few of them later, whose cache lines are on the way until then.
class raiser {
public:
    explicit raiser(const plain_call& call) : c_(call) {}

    /// Raises cells first .. last of a row.
    void row(std::int32_t* line, std::int64_t step, std::int32_t first, std::int32_t last, std::int32_t r2) {
        constexpr std::int32_t few = 8;
        for (std::int32_t a = first; a <= last; ++a) {
            std::int32_t* const cell = line + a * step;
            if (last - first >= few) {
                raise(*cell, r2, c_.shared);
                continue;
            }
            __builtin_prefetch(cell, 1);
            later_[count_] = {cell, r2};
            if (++count_ == at_once) finish();
        }
    }
    /// row() along an axis that may be periodic; `edge` cells follow the centre before its end.
    void row_over_ends(std::int32_t* line, int axis, std::int64_t step, std::int32_t first, std::int32_t last,
                       std::int32_t edge, std::int32_t r2) {
        row(line, step, first, std::min(last, edge), r2);
        if (!c_.g.wraps[axis]) return;
        const std::int32_t size = c_.g.size[axis];
        for (; edge < last; edge += size)
            line -= size * step, row(line, step, std::max(first, edge + 1), std::min(last, edge + size), r2);
    }
    void finish() {
        for (int k = 0; k < count_; ++k) raise(*later_[k].cell, later_[k].r2, c_.shared);
        count_ = 0;
    }

private:
    static constexpr int at_once = 128;
    struct put {
        std::int32_t* cell;
        std::int32_t r2;
    };
    const plain_call& c_;
    put later_[at_once];
    int count_ = 0;
};

/// Balls of at least this squared radius whose centre has no earlier neighbour are painted whole, before crescents.
inline constexpr std::int32_t lone_r2 = 36;

/// Turns squared radii into diameters; returns false if one is 2^24 or more, so that the root of a float could have
/// other bits than that of a double, or negative: a cell without any site.
bool make_diameters(const std::int32_t* r2, float* made, std::int64_t count);

/// Paints all such balls.
void paint_lone(workers& team, const plain_call& call);
/// Paints the crescents of the others.
void paint_crescents(workers& team, const plain_call& call);

}  // namespace nearfield::thickness
