// The discrete Voronoi diagram: which site is nearest to each cell.
#pragma once

#include "nearfield/distance.hpp"

namespace nearfield {

/// Nearest site of every cell, where the sites are the cells of `seeds` that are not zero.
///
///   out   int64 of the shape of `seeds`: C-order linear index of the site; or int32 of shape (rank, ...): its coordinates.
///         -1 where there is no site at all
///
/// distance_transform with sites::nonzero, and everything said there holds: ties, strides, cost, errors, order of work.
/// For distances to the same sites in the same pass call distance_transform itself.
template <class Place>
void voronoi(const Place& on, const std::type_identity_t<any_input<Place>>& seeds,
             const std::type_identity_t<any_output<Place>>& out, const spacing& cell = {}) {
    fields<Place> wanted;
    (out.type == dtype::int32 ? wanted.coordinates : wanted.index) = out;
    distance_transform(on, seeds, wanted, {.spacing = cell, .sites = sites::nonzero});
}

}  // namespace nearfield
