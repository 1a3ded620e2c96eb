// Signed distance fields of shapes in images: glyphs, icons, masks.
#pragma once

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct sdf_options {
    /// Of integers: how many pixels of the output their whole range spans. Positive, finite.
    double radius = 8;
    /// Of integers: the share of the range that lies above the value of the outline. In [0, 1].
    double cutoff = 0.25;
    /// Cells of the image along each axis that make a pixel of the output; 1 to 256.
    int supersample = 1;
    /// Values are coverage, the share of a cell that the shape covers. False: they are a mask, whose shape is made of
    /// whole cells.
    bool antialias = true;
    borders border{};    ///< open: nothing lies beyond; periodic: the other end. One value or one per axis
    int batch_axes = 0;  ///< leading axes that number images, each by itself
};

/// Signed distance from the centre of every pixel to the outline of the shape, positive inside.
///
/// A mask (`antialias` false): the shape is the union of the cells that are not zero, each a square of side 1 (of a
/// pixel 1/supersample). Distances are exact, rounded once to float32; +inf or -inf where there is no outline.
///
/// Coverage: an outline runs through the cells that are partly covered, and along those that are covered and have an
/// empty neighbour. In each it is taken as the straight line across the gradient (Sobel's, of 3x3 cells) that cuts off
/// the covered share of the square, and kept as a segment with ends on a grid of 2^-12 cells. A cell with a gradient of
/// zero that differs from both neighbours along an axis is a stroke, or a gap, with two edges. A pixel's distance is
/// the least one to the segments that are nearest to the 13 cells around it (12 for an even `supersample`, where its
/// centre is a corner), and from the best of them to better ones in cells beside it, in at most 16 steps. It is
/// approximate: near straight lines and circles the error is 0.01 cells RMS, with the corners of polygons 0.05; sharp
/// tips are blunted. Supersampling divides that: 0.01 pixels with corners at 8.
/// Inside are pixels whose centre is covered by more than half.
///
///   on      host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   image   2 axes besides those of batches, any strides; not changed. Coverage: bool, uint8 or uint16 (the largest
///           value is full), float32 or float64 (1 is full; values are clamped, NaN is 0). Masks: any type
///   out     float32: distances in pixels. uint8 or uint16: floor(max (1 - cutoff + d / radius) + 1/2), clamped to
///           [0, max], where max is 255 or 65535 and d the distance. Sizes are those of the image over `supersample`,
///           which must divide them; any strides; may not overlap the image
///
/// Equal bits on host and device, whatever the number of threads. Time O(cells). Workspace: that of distance_transform;
/// coverage 13 bytes a cell of the image, 17 from 2^31 cells on; masks up to 5.
///
/// Throws nearfield::error before any work is started: as distance_transform; options out of range, closed borders.
///
/// Gustavson and Strand, "Anti-aliased Euclidean distance transform", Pattern Recognition Letters 32(2), 2011, for
/// edges from coverage; Green, "Improved alpha-tested magnification", SIGGRAPH 2007 courses, for the use.
void sdf(const host& on, const any_input<host>& image, const any_output<host>& out, const sdf_options& options = {});
void sdf(const device& on, const any_input<device>& image, const any_output<device>& out,
         const sdf_options& options = {});

}  // namespace nearfield
