// The discrete Voronoi diagram: the nearest site of each cell, and the value of that site.
#pragma once

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Finds the nearest seed of every cell; cells that are not zero are seeds. This is distance_transform
/// with sites::nonzero (whatever options.sites says), whose contract holds. `out.label` gets the seeds'
/// values.
template <class Place>
void voronoi(const Place& on, const std::type_identity_t<any_input<Place>>& seeds, const fields<Place>& out,
             const distance_options& options = {}) {
    distance_options with_seeds = options;
    with_seeds.sites = sites::nonzero;
    distance_transform(on, seeds, out, with_seeds);
}

/// Finds the nearest seed of every cell, as one field: int64 of the shape of `seeds` gets its C-order linear index;
/// int32 of shape (rank, ...) its coordinates. -1 if there is no seed at all.
template <class Place>
void voronoi(const Place& on, const std::type_identity_t<any_input<Place>>& seeds,
             const std::type_identity_t<any_output<Place>>& out, const distance_options& options = {}) {
    fields<Place> wanted;
    (out.type == dtype::int32 ? wanted.coordinates : wanted.index) = out;
    voronoi(on, seeds, wanted, options);
}

/// Gives every cell the value of its nearest seed, 0 if none is within options.max_distance: labels grow without
/// overlap, as in scikit-image's function of this name. `out` has the element type of `seeds`.
template <class Place>
void expand_labels(const Place& on, const std::type_identity_t<any_input<Place>>& seeds,
                   const std::type_identity_t<any_output<Place>>& out, const distance_options& options = {}) {
    fields<Place> wanted;
    wanted.label = out;
    voronoi(on, seeds, wanted, options);
}

/// Computes the power diagram (Laguerre diagram): for every cell the site s with the smallest power
///     |cell - s|^2 - weight(s),
/// so that a site of weight r^2 behaves like a ball of radius r. A larger weight wins cells from its neighbours; a site
/// may own no cell at all. Ties as in distance_transform.
///
///   seeds    cells that are not zero are sites
///   weights  shape of `seeds`, read at sites only: integers of 1 to 8 bytes, float32 or float64;
///            in squared units of `spacing`, may be negative. The host rejects integers beyond
///            2^53 in size; a device, which cannot wait to report them, gives their sites no cell.
///            An infinite weight wins every cell; NaN counts as minus infinity: that site owns no
///            cell
///   options  spacing, border (open or periodic), batch_axes. All others must keep their defaults
///
/// The result is exact: integers throughout if weights and spacing are integral and all powers stay below 2^62 (as
/// float64, powers beyond 2^53 are rounded), else the double (((-weight + w_last * d_last^2) + ...) with each operation
/// rounded once. Order of work and errors as distance_transform. Workspace: 16 bytes a cell on the host, 32 to 40 on a
/// device. Time grows with the weights: a cell examines every row that its heaviest site could reach.
///
/// Aurenhammer, "Power diagrams: properties, algorithms and applications", SIAM J. Computing 16(1), 1987.
void power_diagram(const host& on, const any_input<host>& seeds, const any_input<host>& weights,
                   const fields<host>& out, const distance_options& options = {});
void power_diagram(const device& on, const any_input<device>& seeds, const any_input<device>& weights,
                   const fields<device>& out, const distance_options& options = {});

}  // namespace nearfield
