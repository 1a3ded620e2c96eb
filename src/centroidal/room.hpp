// Functions that this room's files call from each other.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/scratch.hpp"
#include "centroidal/core.hpp"
#include "nearfield/stipple.hpp"

namespace nearfield::centroidal {

/// Runs the rounds from the given sites; arguments are already checked.
void run(const host& on, const problem& p, const any_input<host>& density, const any_input<host>& sites,
         const centroidal_fields<host>& out);
void run(const device& on, const problem& p, const any_input<device>& density, const any_input<device>& sites,
         const centroidal_fields<device>& out);

using sites_told = std::function<void(const std::vector<std::int32_t>&)>;

/// Lloyd's rounds at whole cells, which may be none, then rounds in parts, after samples drawn by `seed`.
struct lloyd_rounds {
    problem coarse, fine;
    std::uint64_t seed = 0;
};

/// Runs rounds for one density, with sites as parts on the host. A device's calls wait.
class engine {
public:
    engine() = default;
    virtual ~engine() = default;
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    /// Runs the rounds of `p`: moves `sites` and fills the other arrays, unless they are null. If `told` holds a
    /// function, it is called with the sites after each round.
    virtual void lloyd(const problem& p, std::vector<std::int32_t>& sites, std::vector<std::int64_t>* weights,
                       std::vector<uint128>* energy, const sites_told& told) = 0;
    virtual std::vector<moments> measure(const problem& p, const std::vector<std::int32_t>& sites) = 0;
    /// Computes the power diagram: for each part, the part where its site lies.
    virtual void owners(const problem& p, const std::vector<std::int32_t>& sites,
                        const std::vector<std::int64_t>& powers, std::int32_t* owner) = 0;
    /// As samples(), of this density.
    virtual std::vector<std::int32_t> samples(const problem& p, std::int64_t count, std::uint64_t seed) = 0;
    /// Draws samples by this density, runs all rounds by another one, and fills the parts, masses by this density, and
    /// energies of the last rounds. Returns false, with the same state, if the caller has to go step by step.
    virtual bool make(const lloyd_rounds&, engine&, stipples&) { return false; }
    /// Returns the density on the host.
    virtual const std::uint16_t* density() = 0;
};
/// Makes an engine. `density` has `cells` cells, is contiguous, and must outlive the engine.
std::unique_ptr<engine> engine_of(const host& on, const std::uint16_t* density, std::int64_t cells);
std::unique_ptr<engine> engine_of(const device& on, const std::uint16_t* density, std::int64_t cells);

/// The ink of an image, and the density by which sites move, where the work is done.
struct inks {
    host_scratch<std::uint16_t> ink, density;  ///< empty if the work is done on a device
    std::unique_ptr<engine> by_ink, by_density;
    std::uint64_t all = 0;
    std::int64_t inked = 0;  ///< number of cells that have ink
};
/// Reads the ink of an image. `table` has the density for each amount of ink, up to that of a black cell. With `invert`
/// white cells have the most ink.
inks inks_of(const host& on, const any_input<host>& image, std::span<const std::uint16_t> table, bool invert);
inks inks_of(const device& on, const any_input<device>& image, std::span<const std::uint16_t> table, bool invert);

/// Calls use(the image on the host); an image on a device is copied, which waits.
void with_image(const host& on, const any_input<host>& image, const std::function<void(const any_input<host>&)>& use);
void with_image(const device& on, const any_input<device>& image,
                const std::function<void(const any_input<host>&)>& use);

/// Returns the problem of checked options for a density of this shape and `sites` sites.
problem problem_of(const std::int64_t* shape, int rank, std::int64_t sites, const centroidal_options& options);

/// Makes the checks of capacity_voronoi, except for capacities.
template <class Place>
problem checked_for_capacities(const any_input<Place>& density, const any_input<host>& sites,
                               const centroidal_options& options);
/// Converts the caller's array of coordinates to parts.
std::vector<std::int32_t> parts_of(const problem& p, const any_input<host>& sites);

/// Draws `count` different parts of cells with density, in proportion to the density: one from each stretch of equal
/// mass along a Hilbert curve through tiles of cells, by `seed`. At least `count` such parts must exist.
std::vector<std::int32_t> samples(const problem& p, const std::uint16_t* density, std::int64_t count,
                                  std::uint64_t seed);

}  // namespace nearfield::centroidal
