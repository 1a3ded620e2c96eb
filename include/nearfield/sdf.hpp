// Signed distance fields of shapes in images: glyphs, icons, masks.
#pragma once

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct sdf_options {
    /// For integer outputs: number of pixels of the output that their whole range spans. Positive, finite.
    double radius = 8;
    /// For integer outputs: share of the range above the value of the outline. In [0, 1].
    double cutoff = 0.25;
    /// Number of cells of the image along each axis that make a pixel of the output; 1 to 256.
    int supersample = 1;
    /// True: values are coverage, the share of a cell that the shape covers. False: they are a mask, whose shape
    /// consists of whole cells.
    bool antialias = true;
    borders border{};    ///< open: nothing lies beyond; periodic: the other end. One value or one per axis
    int batch_axes = 0;  ///< leading axes that number images, each by itself
};

/// Computes the signed distance from the centre of every pixel to the outline of the shape, positive inside.
///
/// A mask (`antialias` false): the shape is the union of the cells that are not zero, each a square of side 1 (of a
/// pixel 1/supersample). Distances are exact, rounded once to float32; +inf or -inf where there is no outline.
///
/// Coverage: an outline runs through partly covered cells, and along covered cells that have an empty neighbour. In
/// each such cell it is the straight line across the gradient (Sobel's, of 3x3 cells) that cuts off the covered share
/// of the square, kept as a segment with ends on a grid of 2^-12 cells. If that line does not predict the shares of the
/// cells around, the outline is the corner of those two lines of other cells, at most 3 away, that predicts them best,
/// if it is better. A cell with a zero gradient that differs from both neighbours along an axis is a stroke, or a gap,
/// with two edges. A pixel's distance is the least one to the segments nearest to the 13 cells around it (12 for an
/// even `supersample`, where its centre is a corner); from the best one the search moves to better ones in adjacent
/// cells, in at most 16 steps. It is approximate: near straight lines and circles the error is 0.01 cells RMS, with the
/// corners of polygons 0.02, of stars with tips of 44 degrees 0.05. Supersampling divides the error: below 0.005 pixels
/// with corners at 8. Pixels whose centre is covered by more than half are inside.
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
