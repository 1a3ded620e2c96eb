// Regions of given masses: what the steps of capacity_voronoi share.
#pragma once

#include <vector>

#include "base/scratch.hpp"
#include "centroidal/room.hpp"

namespace nearfield::centroidal {

/// Sites with powers, and the regions that come of them; all on the host.
struct power_regions {
    const problem& p;
    const std::uint16_t* mass_of;     ///< of parts
    std::vector<place> places;        ///< of sites
    std::vector<std::int64_t> power;  ///< of sites
    std::vector<double> capacity;     ///< of sites; they sum to the mass of all parts
    std::vector<std::int64_t> mass;   ///< of regions
    std::vector<std::int64_t> parts;  ///< of regions
    std::vector<std::int32_t> label;  ///< of parts: number of the site

    /// Squared distance of a part from a site.
    [[nodiscard]] std::int64_t squared(const place& at, std::int32_t site) const {
        const place& from = places[static_cast<std::size_t>(site)];
        std::int64_t sum = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const std::int64_t d = step(p, axis, from.at[axis], at.at[axis]);
            sum += p.weight[axis] * d * d;
        }
        return sum;
    }
    /// Mass above the capacity, as a share of it.
    [[nodiscard]] double excess(std::size_t site) const {
        return (static_cast<double>(mass[site]) - capacity[site]) / capacity[site];
    }
    [[nodiscard]] double error() const;      ///< the largest
    [[nodiscard]] double misplaced() const;  ///< mass in regions that have too much
};

/// Two regions that share faces: how many, and the density summed on both sides of them.
struct shared_border {
    std::int32_t other = 0;
    std::int64_t faces = 0;
    std::int64_t density = 0;
};
/// Of each site those with sites of a larger number, in their order.
struct shared_borders {
    std::vector<std::int64_t> begin;  ///< of each site, and the end
    std::vector<shared_border> all;
};
[[nodiscard]] shared_borders borders_of(const power_regions& r);

/// The step of Newton's method: by how much each power should rise for regions to have their capacities, if the density
/// were blended with `blend` times its mean. Borders count as if they lay in ground of `floor` times the mean
/// more: where they lie in none, all hangs together, and steps are not too long.
[[nodiscard]] std::vector<double> newton_step(const power_regions& r, double blend, double floor,
                                              const std::vector<double>& missing);

/// Gives single parts to neighbouring regions until masses meet their capacities as nearly as parts can.
void balance(power_regions& r);

}  // namespace nearfield::centroidal
