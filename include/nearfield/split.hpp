// Separation of touching objects: from a mask, or a gray image, to a label for each of them.
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

/// Otsu's threshold: of the edges between 1024 bins of equal width, from the least finite value to the largest one,
/// the one that separates two classes of values best. Integers less than 2^16 apart have a bin each, and of all
/// integers the largest one below the edge is returned. Cells with a larger value are foreground. If all values are
/// equal it is this value, so that none is larger.
///
///   image  any number of axes, element type and strides; some cells have a finite value, and others do not count
///
/// Time O(cells), of one thread. Workspace: the bins. Throws nearfield::error before any work is started, and if no
/// value is finite.
/// Otsu, "A threshold selection method from gray-level histograms", IEEE Trans. SMC 9(1), 1979.
double threshold_otsu(const host& on, const any_input<host>& image);

/// Makes a mask of the bright objects of a gray image, and returns the options with which split() separates them.
///
/// Otsu's threshold, of 1024 bins, and split() give first objects. Half of their cells lie in objects of at least some
/// size; let r be the radius of a ball of this size. The image is blurred by a Gaussian of r / 8 and loses its mean
/// within a window that reaches 3 r / 2 to all sides; cells above Otsu's threshold of the difference, with holes
/// filled, are the mask. Both filters end with the image. If `options` leaves out the `h` of a watershed, it becomes r
/// / 16, or split()'s own if that is larger. A `smallest` of 1 becomes a twentieth of the size that is measured again,
/// in the new mask.
///
///   on       runs the work, and returns when it is done
///   image    1 to 3 axes, one value a cell, any element type and strides; not changed. NaN counts as the least finite
///            value, infinities as the values next to them. In 1 axis no holes are filled
///   mask     bool, the image's shape, any strides; all 0 if all finite values are equal
///   options  of the split() that follows; its method and border serve that call alone
///   dark     the objects are darker than what is around them: values change their sign first, and NaN counts as the
///            largest one
///
/// Time O(cells r). Workspace: 21 bytes a cell, and that of split().
///
/// Throws nearfield::error before any work is started.
split_options gray_objects(const host& on, const any_input<host>& image, const any_output<host>& mask,
                           const split_options& options = {}, bool dark = false);

}  // namespace nearfield
