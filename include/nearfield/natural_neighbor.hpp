// Natural neighbour interpolation on a grid, in Sibson's discrete form.
#pragma once

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct natural_neighbor_options {
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    borders border{};              ///< open, or periodic: the answer in the middle of a tiling
    int batch_axes = 0;            ///< leading axes that number images, each interpolated by itself
};

/// Interpolates smooth values everywhere from values at some cells. A cell whose value is known keeps it.
///
/// f(p) is the nearest known cell of p by the tie rule of distance_transform, and D2(p) the squared distance to it. p
/// gives the value of f(p) to itself and to every cell of its ball { q : |p - q|^2 < D2(p) }. The answer at q is the
/// mean of the values that q is given: the share of each known cell is the part of its Voronoi cell that q would take
/// if q were known. Beyond the hull of the known cells it extrapolates.
///
///   on      host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   values  1 to 3 axes besides those of batches, any element type but float16, any strides; not changed
///   known   shape of values, bool or uint8: cells whose values are known. Left out: all. Values that are NaN or
///           infinite are never known
///   out     shape of values, float32 or float64; may overlap neither. NaN in images where nothing is known
///
/// Sums are exact: values are rounded to multiples of a power of two, q, and added as integers. Let m be the largest
/// absolute value that is known in the image, and c the number of cells, on periodic axes those of the tiling, that a
/// sum can have: q <= 4 m c / 2^61, so a mean is off by at most 2^-34 m for 2^26 cells. Integers for which m c < 2^59
/// are not rounded at all. Equal bits on host and device, whatever the number of threads.
///
/// Time O(cells R^(axes - 1)) for balls of radius R. Workspace: that of distance_transform; 1 byte a cell, and 4 for
/// its site, 8 from 2^31 cells of an image on; for sums 16 bytes a cell on a device, and on the host, for each thread,
/// 16 bytes and some padding for each cell of 16 planes, or of 4 R if that is more (of an image: of so many rows).
///
/// Throws nearfield::error before any work is started: as distance_transform; closed borders; more than 3 axes.
///
/// Park, Linsen, Kreylos, Owens, Hamann, "Discrete Sibson interpolation", IEEE TVCG 12(2), 2006.
void natural_neighbor(const host& on, const any_input<host>& values, const any_input<host>& known,
                      const any_output<host>& out, const natural_neighbor_options& options = {});
void natural_neighbor(const device& on, const any_input<device>& values, const any_input<device>& known,
                      const any_output<device>& out, const natural_neighbor_options& options = {});

}  // namespace nearfield
