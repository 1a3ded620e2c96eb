// Centroidal Voronoi diagrams on a grid, and stippling: points that are as dense as an image is dark.
#pragma once

#include <cstdint>
#include <vector>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct centroidal_options {
    int rounds = 100;  ///< at most
    /// 1: Lloyd's method. Up to 2: early rounds go beyond the centroids, and come to lower energies sooner: 1.9 where
    /// regions have a hundred parts, 1.5 where they have ten.
    double relax = 1;
    double tolerance = 0;  ///< stop after a round of Lloyd's that lowers the energy by less than this share of it
    int supersample = 1;   ///< sites have so many places along each axis of a cell; 1 to 8
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; whole numbers up to 1000
    borders border{};              ///< open or periodic
};

/// What centroidal_voronoi fills. Only `sites` must be given.
template <class Place>
struct centroidal_fields {
    any_output<Place> sites;    ///< int32 (n, axes): where the sites are at last
    any_output<Place> weights;  ///< int64 (n): mass of each site's region, in units of density / supersample^-axes
    any_output<Place> energy;   ///< uint64 (rounds + 1, 2): before each round and after the last; high and low 64 bits
    any_output<Place> labels;   ///< int32, shape of the density: number of the site nearest to each cell
};

/// Moves sites to the centroids of their Voronoi regions, weighted by a density, round after round: Lloyd's method.
///
/// Every cell of the density is split in `supersample` parts along each axis; each part carries the density of its
/// cell. Sites are parts: coordinate u lies at (u + 0.5) / supersample - 0.5 cells. The region of a site are the parts
/// nearest to it, by the tie rule of distance_transform. Its target is the part nearest to the centroid of its region,
/// ties to the smaller coordinate. A site moves to its target unless any site is there at the beginning of the round,
/// or a site of smaller number has the same target: it then waits. Sites of regions without mass stay.
///
/// The energy is the sum of density times squared distance to the nearest site, over all parts, in squared parts; an
/// exact integer. No round of Lloyd's raises it. With relax > 1 a target lies `relax` times as far away in the first
/// three quarters of the rounds, which can raise it. When no site moves, the rest of the energies repeats the last one.
///
///   on       host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   density  1 to 3 axes, bool, uint8 or uint16, any strides; fewer than 2^31 parts, at most 65535 along an axis times
///            its spacing; not changed
///   sites    int32 (n, axes), where sites begin: different parts of the grid. On a device, which cannot wait to tell,
///            sites outside of it are moved to its edge, and of equal ones the last is at no cell
///   out      sites may be the memory of `sites`; the others overlap nothing
///
/// Equal bits on host and device, whatever the number of threads.
///
/// Time a distance_transform of all parts a round. Workspace: that of distance_transform; 9 bytes a part, 2 bytes a
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

}  // namespace nearfield
