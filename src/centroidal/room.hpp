// What the room's files do for each other.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "centroidal/core.hpp"

namespace nearfield::centroidal {

/// Rounds from the sites that are given; checked already.
void run(const host& on, const problem& p, const any_input<host>& density, const any_input<host>& sites,
         const centroidal_fields<host>& out);
void run(const device& on, const problem& p, const any_input<device>& density, const any_input<device>& sites,
         const centroidal_fields<device>& out);

using sites_told = std::function<void(const std::vector<std::int32_t>&)>;

/// Rounds of one density whose sites, as parts, are on the host; a device's calls wait.
class engine {
public:
    engine() = default;
    virtual ~engine() = default;
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    /// The rounds of `p`; `sites` are moved, the others are filled. `told`, where it is a function, is called after
    /// each round with the sites.
    virtual void lloyd(const problem& p, std::vector<std::int32_t>& sites, std::vector<std::int64_t>& weights,
                       std::vector<uint128>& energy, const sites_told& told) = 0;
    virtual std::vector<moments> measure(const problem& p, const std::vector<std::int32_t>& sites) = 0;
    /// The power diagram: the part of each part's site.
    virtual void owners(const problem& p, const std::vector<std::int32_t>& sites,
                        const std::vector<std::int64_t>& powers, std::int32_t* owner) = 0;
};
/// `density` has `cells` cells, is contiguous, and lives as long as the engine.
std::unique_ptr<engine> engine_of(const host& on, const std::uint16_t* density, std::int64_t cells);
std::unique_ptr<engine> engine_of(const device& on, const std::uint16_t* density, std::int64_t cells);

/// Calls use(the image on the host); a device's is copied, which waits.
void with_image(const host& on, const any_input<host>& image, const std::function<void(const any_input<host>&)>& use);
void with_image(const device& on, const any_input<device>& image,
                const std::function<void(const any_input<host>&)>& use);

/// The checked options of a density of such a shape, for `sites` sites.
problem problem_of(const std::int64_t* shape, int rank, std::int64_t sites, const centroidal_options& options);

/// The checks of capacity_voronoi, but for capacities.
template <class Place>
problem checked_for_capacities(const any_input<Place>& density, const any_input<host>& sites,
                               const centroidal_options& options);
/// The caller's array of coordinates, as parts.
std::vector<std::int32_t> parts_of(const problem& p, const any_input<host>& sites);

/// `count` different parts of cells with density, as many per density everywhere: one of each stretch of equal mass
/// along a Hilbert curve through tiles of cells, drawn by `seed`. There are that many.
std::vector<std::int32_t> samples(const problem& p, const std::uint16_t* density, std::int64_t count,
                                  std::uint64_t seed);

}  // namespace nearfield::centroidal
