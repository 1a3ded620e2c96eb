// Euclidean morphology: erosion, dilation, opening and closing by a ball of any radius, of masks and of label images.
#pragma once

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct morphology_options {
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    /// Content beyond the ends of each axis. Open: changes no cell. Closed: background for an erosion and an opening,
    /// foreground for a dilation and a closing. Periodic: the other end of the grid.
    borders border{};
    int batch_axes = 0;   ///< leading axes that number images, each by itself
    bool labels = false;  ///< the image's values are labels (integers), each a shape of its own; 0 is background
};

/// Erodes a shape by a ball: keeps the cells whose ball of `radius` lies within the shape, which are farther than
/// `radius` from every cell outside.
///
/// Distances are exact and compared as doubles with `radius`, as distance_options::max_distance is; a radius of 0
/// changes nothing. Cells that are not zero are foreground (NaN is not zero). All four calls take the same arguments:
///
///   on      host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   image   1 to 8 axes of any sizes, any element type (labels: any integers), any strides; not changed
///   radius  in units of `spacing`; at least 0, infinite is fine
///   out     shape of the image; bool or uint8 (1 inside the shape, else 0), or with `labels` the image's type; any
///           strides, may not overlap the image
///
/// With `labels` a cell keeps its label if it is farther than `radius` from every cell of another value.
///
/// Time and workspace: a distance_transform with `max_distance` whose distances are not written; one byte a cell more
/// with labels. Throws nearfield::error before any work is started, as distance_transform does.
///
/// van den Boomgaard, "Mathematical morphology: extensions towards computer vision", thesis, Amsterdam, 1992; Saito and
/// Toriwaki, Pattern Recognition 27(11), 1994.
void erosion(const host& on, const any_input<host>& image, double radius, const any_output<host>& out,
             const morphology_options& options = {});
void erosion(const device& on, const any_input<device>& image, double radius, const any_output<device>& out,
             const morphology_options& options = {});

/// Dilates a shape: adds the cells within `radius` of it. With labels, a background cell within `radius` of a label
/// takes the nearest label, by the tie rule of distance_transform; this is expand_labels.
void dilation(const host& on, const any_input<host>& image, double radius, const any_output<host>& out,
              const morphology_options& options = {});
void dilation(const device& on, const any_input<device>& image, double radius, const any_output<device>& out,
              const morphology_options& options = {});

/// Opens a shape: the union of the balls of `radius` that fit it, which is the dilation of its erosion. Each label is
/// opened by itself. Twice the time of an erosion, and one byte a cell of workspace more, with labels two.
void opening(const host& on, const any_input<host>& image, double radius, const any_output<host>& out,
             const morphology_options& options = {});
void opening(const device& on, const any_input<device>& image, double radius, const any_output<device>& out,
             const morphology_options& options = {});

/// Closes a shape: the cells that no ball of `radius` outside the shape reaches, which is the erosion of its dilation.
/// Labels are closed all together; new cells take their nearest label.
void closing(const host& on, const any_input<host>& image, double radius, const any_output<host>& out,
             const morphology_options& options = {});
void closing(const device& on, const any_input<device>& image, double radius, const any_output<device>& out,
             const morphology_options& options = {});

}  // namespace nearfield
