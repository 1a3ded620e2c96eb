// Filling of missing parts of an image: cells from the nearest known one, slices between drawn ones.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct fill_options {
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    borders border{};              ///< as for distance_transform; cells nearest to a closed end stay as they are
    double max_distance = std::numeric_limits<double>::infinity();  ///< cells farther from every value stay, too
    int batch_axes = 0;  ///< leading axes that number images, each filled by itself
};

/// Copies an image and gives each missing cell the value of the nearest cell that is not missing; of equally near ones
/// that with the smallest coordinates, the last axis first. An image without known cells is copied unchanged.
///
///   on       host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   image    1 to 8 axes, any element type, any strides; not changed
///   missing  bool or uint8: cells that are not zero are missing. Shape of the image, or that without its last axis,
///            which then holds the channels of a cell; spacing, border and batch_axes refer to the axes of `missing`
///   out      shape and type of the image; may overlap neither
///
/// Time and workspace: those of distance_transform for the nearest site, and 4 bytes a cell for it, 8 from 2^31 cells
/// of an image on. Throws nearfield::error before any work is started.
void fill_nearest(const host& on, const any_input<host>& image, const any_input<host>& missing,
                  const any_output<host>& out, const fill_options& options = {});
void fill_nearest(const device& on, const any_input<device>& image, const any_input<device>& missing,
                  const any_output<device>& out, const fill_options& options = {});

/// A place between slices: numerator / denominator, counted in slices from the first one.
struct slice_position {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;
};

struct slice_options {
    /// Length of a cell along each axis of `labels`, in array order, or one for all; along `axis` it does not matter.
    nearfield::spacing spacing{};
    /// Numbers of the drawn slices, ascending; the caller's memory. Other slices are not read. Empty: all are drawn.
    std::span<const std::int64_t> drawn{};
    /// Shapes move from slice to slice: the call first aligns the centroids of each label's shapes.
    bool align = false;
};

/// Interpolates label images between drawn slices, by the distances to their outlines (Raya and Udupa).
///
/// In a slice the signed distance of a label is that of a cell to the nearest cell with the label, or minus that to the
/// nearest one without. A position between the neighbouring drawn slices a and b, at the share t of the way, gets in
/// every cell the label with the smallest (1 - t) A + t B, where A and B are its distances in the slices; ties go to
/// the smaller label. 0 is a label like all others. Only labels that both slices hold count; without any the answer is
/// 0. The position of a drawn slice gets that slice; positions beyond the outermost ones get 0.
///
/// With `align`, d is the vector between the centroids of a label's cells in a and b, s is t d, both rounded to cells
/// (halves up), and A is read at p - s, B at p - s + d, at the nearest cell of the slice. 0 is then no label: a cell
/// gets it unless the smallest value is below 0.
///
/// The result is exact if the spacings within slices have a common measure, u: roots are compared as integers, which
/// requires q^2 D2 < 2^60 for the denominator q of every t and the greatest squared distance D2 in units of u. With
/// other spacings values are doubles. Equal bits on host and device, whatever the number of threads.
///
///   on         host: returns when done. device: waits for copies of the drawn slices, to learn which labels they hold
///   labels     2 to 4 axes, bool or any integer type, any strides; not changed
///   axis       the axis across the slices
///   positions  any order, from 0 to the number of the last slice
///   out        type of labels, their shape with positions.size() cells along `axis`; may not overlap labels
///
/// Time: a signed distance transform of two slices for each label that both hold, and for each 16 positions between
/// them. Workspace: that of these, 18 bytes for each cell of a slice, and 16 more for each of up to 16 positions.
///
/// Throws nearfield::error before any work is started, but for uint64 labels of 2^63 or more when it meets them.
///
/// Raya, Udupa, "Shape-based interpolation of multidimensional objects", IEEE TMI 9(1), 1990.
void interpolate_slices(const host& on, const any_input<host>& labels, int axis,
                        std::span<const slice_position> positions, const any_output<host>& out,
                        const slice_options& options = {});
void interpolate_slices(const device& on, const any_input<device>& labels, int axis,
                        std::span<const slice_position> positions, const any_output<device>& out,
                        const slice_options& options = {});

}  // namespace nearfield
