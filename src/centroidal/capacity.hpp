// Regions of given masses: data shared by the steps of capacity_voronoi.
#pragma once

#include <vector>

#include "base/scratch.hpp"
#include "centroidal/room.hpp"

namespace nearfield::centroidal {

/// Sites with powers and the regions that they own; all on the host.
struct power_regions {
    const problem& p;
    const std::uint16_t* mass_of;     ///< one per part
    std::vector<place> places;        ///< one per site
    std::vector<std::int64_t> power;  ///< one per site
    std::vector<double> capacity;     ///< one per site; they sum to the mass of all parts
    std::vector<std::int64_t> mass;   ///< one per region
    std::vector<std::int64_t> parts;  ///< one per region
    std::vector<std::int32_t> label;  ///< per part: number of its site

    /// Returns the squared distance of a part from a site.
    [[nodiscard]] std::int64_t squared(const place& at, std::int32_t site) const {
        const place& from = places[static_cast<std::size_t>(site)];
        std::int64_t sum = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const std::int64_t d = step(p, axis, from.at[axis], at.at[axis]);
            sum += p.weight[axis] * d * d;
        }
        return sum;
    }
    /// Returns the excess of a region's mass over its capacity, as a share of the capacity.
    [[nodiscard]] double excess(std::size_t site) const {
        return (static_cast<double>(mass[site]) - capacity[site]) / capacity[site];
    }
    [[nodiscard]] double error() const;      ///< the largest of all regions
    [[nodiscard]] double misplaced() const;  ///< mass above capacity, summed over regions
};

/// A border of two regions: the other region, the number of shared faces, and the density summed on both sides.
struct shared_border {
    std::int32_t other = 0;
    std::int64_t faces = 0;
    std::int64_t density = 0;
};
/// The borders of each site with sites of larger number, sorted by number.
struct shared_borders {
    std::vector<std::int64_t> begin;  ///< per site: its first border; with one more element at the end
    std::vector<shared_border> all;
};
[[nodiscard]] shared_borders borders_of(const power_regions& r);

/// Newton's step: by how much each power should rise for regions to reach their capacities, if the density were blended
/// with `blend` times its mean. Borders count as if the density on them were higher by `floor` times the
/// mean, which keeps the graph of regions connected and steps short where the density is zero.
[[nodiscard]] std::vector<double> newton_step(const power_regions& r, double blend, double floor,
                                              const std::vector<double>& missing);

/// Moves single parts to neighbouring regions until masses meet the capacities as nearly as whole parts can.
void balance(power_regions& r);

}  // namespace nearfield::centroidal
