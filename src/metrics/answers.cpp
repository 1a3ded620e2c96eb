// Measures of two surfaces from the sums of their points.
#include <algorithm>
#include <cmath>
#include <limits>

#include "metrics/core.hpp"

namespace nearfield::metrics {
namespace {

double value_of(const parts& sum, double per_unit) {
    uint128 whole = 0;
    for (int i = 2; i >= 0; --i) whole = (whole << 32) + sum.part[i];
    return nearest_double(widened(whole), false, -std::ilogb(per_unit));
}
parts sum_of(const parts& a, const parts& b) {
    parts both = a;
    both.add(b);
    return both;
}

/// Computes percentile k of one side's distances.
double percentile_of(const problem& p, const job& j, int side, const side_sums& sums, int k) {
    const bool doubles = p.squared == dtype::float64;
    if (p.elements) return distance_of(sums.at_rank[k], doubles);
    const double below = distance_of(sums.at_rank[2 * k], doubles),
                 above = distance_of(sums.at_rank[2 * k + 1], doubles);
    const double at = static_cast<double>(j.points[side] - 1) * (p.percentile[k] / 100), share = at - std::floor(at);
    const double by = above - below;
    return share < 0.5 ? below + by * share : above - by * (1 - share);
}

}  // namespace

void set_empty(const problem& p, surface_distances& row) {
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const bool neither = row.cells[0] == 0 && row.cells[1] == 0;
    row.hausdorff = row.symmetric_average = neither ? nan : inf;
    row.percentile.assign(static_cast<std::size_t>(p.percentiles), row.hausdorff);
    row.surface_dice.assign(static_cast<std::size_t>(p.tolerances), neither ? nan : 0);
    row.dice = neither ? nan : 0;
    for (int side = 0; side < 2; ++side) {
        row.farthest[side] = row.average[side] = row.cells[side] == 0 ? nan : inf;
        row.overlap[side].assign(static_cast<std::size_t>(p.tolerances), row.cells[side] == 0 ? nan : 0);
    }
}

void set_measured(const problem& p, const job& j, const tally& of, const side_sums* side, surface_distances& row) {
    const bool doubles = p.squared == dtype::float64;
    const double both = value_of(sum_of(side[0].area, side[1].area), p.per_area);
    for (int s = 0; s < 2; ++s) {
        row.area[s] = value_of(side[s].area, p.per_area);
        row.farthest[s] = distance_of(side[s].largest, doubles);
        row.average[s] = value_of(side[s].moment, p.per_moment) / row.area[s];
    }
    row.hausdorff = std::max(row.farthest[0], row.farthest[1]);
    row.symmetric_average = value_of(sum_of(side[0].moment, side[1].moment), p.per_moment) / both;
    row.dice = 2 * static_cast<double>(of.common) / static_cast<double>(of.cells[0] + of.cells[1]);
    for (int k = 0; k < p.percentiles; ++k)
        row.percentile.push_back(std::max(percentile_of(p, j, 0, side[0], k), percentile_of(p, j, 1, side[1], k)));
    for (int t = 0; t < p.tolerances; ++t) {
        for (int s = 0; s < 2; ++s) row.overlap[s].push_back(value_of(side[s].within[t], p.per_area) / row.area[s]);
        row.surface_dice.push_back(value_of(sum_of(side[0].within[t], side[1].within[t]), p.per_area) / both);
    }
}

}  // namespace nearfield::metrics
