// Separation of touching objects: from a mask to a label for each of them.
#pragma once

#include <cstdint>
#include <optional>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Definition of an object. The last three start from parts: the components (all neighbours) of the cells farther than
/// `h` from the background.
enum class split_method : std::uint8_t {
    watershed,  ///< the basin of a peak of the squared distance to the background, of height `h` in roots
    lecture,    ///< the cells of the mask nearest to the barycentre of a part, rounded to a cell
    voronoi,    ///< the cells of the mask nearest to a part
    geodesic,   ///< the cells that steps within the mask reach from a part first
};

struct split_options {
    split_method method = split_method::watershed;
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    borders border{};              ///< open or periodic, one per axis
    /// A length. Left out: three quarters of the shortest side of a cell; for the last three methods half of the
    /// largest distance.
    std::optional<double> h{};
    std::int64_t smallest = 1;  ///< objects of fewer cells are dropped
};

/// Separates touching objects. Labels are 1 to the number of objects, in the raster order of their first cells.
///
///   on     host: returns when done. device: ordered on the stream; it waits for the number of parts of `lecture` and
///          `voronoi`, and for the largest distance if their `h`, or that of `geodesic`, is left out
///   mask   1 to 3 axes, any element type and strides; objects are cells that are not zero; not changed
///   out    int32, shape of the mask; 0 is background, and cells that no part reaches
///   count  if wanted, int64 of one value: the number of objects
///
/// Time and workspace: distance_transform, watershed and label, and 9 to 13 bytes a cell.
///
/// Throws nearfield::error before any work is started.
void split(const host& on, const any_input<host>& mask, const any_output<host>& out, const split_options& options = {},
           const any_output<host>& count = {});
void split(const device& on, const any_input<device>& mask, const any_output<device>& out,
           const split_options& options = {}, const any_output<device>& count = {});

}  // namespace nearfield
