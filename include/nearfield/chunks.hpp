// One pass of distance fields that are computed chunk by chunk, because the grid does not fit into memory.
#pragma once

#include <vector>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Squared distances to the nearest site along some of the axes only: all axes after a certain one. Contiguous arrays
/// of one shape. `site` and `label` may be left out; `label` requires `site`.
template <class Element, class Place = host>
struct partial_field {
    any_view<Element, Place> squared{};  ///< uint32, uint64 or float64; the type's maximum, or infinity: no site
    any_view<Element, Place> site{};     ///< int32 or int64: linear index of the site in the whole grid; -1: none
    any_view<Element, Place> label{};    ///< any element type: a value of the site, such as the image's; 0: none
};

struct partial_options {
    double spacing = 1;                ///< length of a cell along the axis; integral unless `squared` is float64
    border beyond = border::open;      ///< open or periodic
    std::vector<std::int64_t> grid{};  ///< shape of the whole grid; needed with sites
    bool half_cell = false;            ///< distances end at faces: squares are in quarters
};

/// Extends a partial field by one axis: to(q) is the minimum over the cells r of q's line along `axis` of
/// from(r) + (spacing (q - r))^2, with `half_cell` from(r) + (spacing (2 |q - r| - 1))^2 for rows r other than q. Ties
/// go to the site with the smallest last coordinate, then to that by the axis before, so that passes from the last axis
/// to the first make the field of distance_transform, bit for bit.
///
///   on    host: returns when done. device: returns before the work is done
///   from  cells whose lines along `axis` are whole; squares that are not integers are added as in distance_transform
///   to    the same arrays as `from`, or others of their types that do not overlap them
///
/// Time on the host O(cells). On a device each cell searches outward for up to 32 steps. If its site may lie farther
/// away, it then searches only those groups of 32 rows whose least value allows it.
/// Workspace on the host: at most 256 bytes for each thread and cell of a line, and 16 labels. On a device: 1/32 of the
/// squares if lines are longer than 33 cells, and the size of those arrays that are their own output.
///
/// Throws nearfield::error, before any work is started: shapes or types that differ, arrays that are not contiguous, a
/// closed border, a spacing that is not positive or, for integers, not integral, squares that reach 2^62 or the type's
/// maximum. A device call does not check the squares: a sum beyond the type's range counts as no site.
void pass_along(const host& on, const partial_field<const void>& from, int axis, const partial_field<void>& to,
                const partial_options& options = {});
void pass_along(const device& on, const partial_field<const void, device>& from, int axis,
                const partial_field<void, device>& to, const partial_options& options = {});

}  // namespace nearfield
