// Centroidal Voronoi diagrams on a grid, and stippling: points that are as dense as an image is dark.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct centroidal_options {
    int rounds = 100;  ///< largest number of rounds
    /// Over-relaxation, 1 to 2. 1 is Lloyd's method. Above 1, early rounds move sites beyond the centroids and lower
    /// the energy sooner: use 1.9 if regions have about 100 parts, 1.5 if they have about 10.
    double relax = 1;
    double tolerance = 0;  ///< stop after a round of Lloyd's that lowers the energy by less than this share of it
    int supersample = 1;   ///< number of places that a site can take along each axis of a cell; 1 to 8
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; whole numbers up to 1000
    borders border{};              ///< open or periodic
};

/// The outputs of centroidal_voronoi. Only `sites` is required.
template <class Place>
struct centroidal_fields {
    any_output<Place> sites;    ///< int32 (n, axes): final position of each site
    any_output<Place> weights;  ///< int64 (n): mass of each site's region, in units of density / supersample^-axes
    any_output<Place> energy;   ///< uint64 (rounds + 1, 2): before each round and after the last; high and low 64 bits
    any_output<Place> labels;   ///< int32, shape of the density: number of the site nearest to each cell
};

/// Moves sites to the centroids of their Voronoi regions, weighted by a density, round after round: Lloyd's method.
///
/// The call splits every cell of the density in `supersample` parts along each axis; each part has the density of its
/// cell. Sites are parts: coordinate u lies at (u + 0.5) / supersample - 0.5 cells. The region of a site consists of
/// the parts nearest to it, by the tie rule of distance_transform. Its target is the part nearest to the centroid of
/// its region, ties to the smaller coordinate. A site moves to its target, but waits if a site is there at the
/// beginning of the round, or if a site of smaller number has the same target. Sites of regions without mass stay.
///
/// The energy is the sum of density times squared distance to the nearest site, over all parts, in squared parts; an
/// exact integer. No round of Lloyd's raises it. With relax > 1 a target lies `relax` times as far away in the first
/// three quarters of the rounds, which can raise it. When no site moves, the rest of the energies repeats the last one.
///
///   on       host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   density  1 to 3 axes, bool, uint8 or uint16, any strides; fewer than 2^31 parts, at most 65535 along an axis times
///            its spacing; not changed
///   sites    int32 (n, axes), initial positions: different parts of the grid. A device call cannot wait to report bad
///            ones: it moves sites outside of the grid to its edge, and of equal ones the last has no cell
///   out      sites may be the memory of `sites`; the others overlap nothing
///
/// Equal bits on host and device, whatever the number of threads.
///
/// Time: one distance_transform of all parts per round; less on a device for two axes with open borders and a spacing
/// of 1, if a site has at least 8 parts on average. Workspace: that of distance_transform, 9 bytes a part, 2 bytes a
/// cell and 48 bytes a site.
///
/// Throws nearfield::error before any work is started: wrong types, shapes, options; equal sites or sites outside of
/// the grid (host); closed borders.
///
/// Du, Faber, Gunzburger, "Centroidal Voronoi tessellations: applications and algorithms", SIAM Review 41(4), 1999.
void centroidal_voronoi(const host& on, const any_input<host>& density, const any_input<host>& sites,
                        const centroidal_fields<host>& out, const centroidal_options& options = {});
void centroidal_voronoi(const device& on, const any_input<device>& density, const any_input<device>& sites,
                        const centroidal_fields<device>& out, const centroidal_options& options = {});

/// The result of capacity_voronoi.
struct capacity_regions {
    std::vector<std::int32_t> sites;    ///< rows of coordinates, in parts
    std::vector<std::int64_t> weights;  ///< mass of each region, in units of density / supersample^-axes
    std::vector<std::int64_t> powers;   ///< power of each site, in squared parts; the largest is 0
    /// Density times squared distance to the site of the region, summed over all parts: one entry before each round
    /// that moved a site, and one after the last; high and low 64 bits of each.
    std::vector<std::uint64_t> energy;
    std::vector<std::int32_t> labels;  ///< owner of each cell, in C order: number of the site whose region has the cell
    double bound = 0;        ///< no assignment that meets the capacities has a smaller energy, even with divided parts
    double error = 0;        ///< the largest |mass - capacity| / capacity
    bool converged = false;  ///< error is 1 % at most
};

/// Finds regions of given masses: the power diagram whose powers give each site its capacity. It is the optimal
/// transport of the density to the sites. With options.rounds > 0 the sites then move to the centroids of their
/// regions, as in centroidal_voronoi, and regions are adjusted anew; the energy usually falls, but not always.
///
/// Newton's method on the dual problem finds the powers, which are integers. If sites are aligned, whole rows of parts
/// change owner at once; a last step gives parts at the ends of regions to neighbours, the cheapest first, until masses
/// meet their capacities as nearly as single parts can. `bound` says how much this may have cost.
///
///   on          host or device, which computes the diagrams; the call waits on both
///   density     as for centroidal_voronoi
///   sites       int32 (n, axes) on the host: different parts
///   capacities  n positive numbers, of which only the ratios count; empty for equal masses
///   options     as for centroidal_voronoi; `tolerance` is ignored
///
/// The call does not fail if masses cannot be met, because regions have too few parts or mass lies too far apart;
/// `error` and `converged` report it. Host and device give the same result. Time: 10 to 30 power diagrams a round, 200
/// if the density is 0 around sites. Workspace: that of power_diagram, and 40 bytes a part on the host.
///
/// Throws nearfield::error as centroidal_voronoi does, and if there are more sites than parts with mass.
///
/// Aurenhammer, Hoffmann, Aronov, "Minkowski-type theorems and least-squares clustering", Algorithmica 20, 1998.
/// Kitagawa, Merigot, Thibert, "Convergence of a Newton algorithm for semi-discrete optimal transport", JEMS 21, 2019.
[[nodiscard]] capacity_regions capacity_voronoi(const host& on, const any_input<host>& density,
                                                const any_input<host>& sites, std::span<const double> capacities = {},
                                                const centroidal_options& options = {});
[[nodiscard]] capacity_regions capacity_voronoi(const device& on, const any_input<device>& density,
                                                const any_input<host>& sites, std::span<const double> capacities = {},
                                                const centroidal_options& options = {});

}  // namespace nearfield
