// Homotopic skeletons: a shape thinned to curves or points with the same components, tunnels and cavities.
#pragma once

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Cells that a skeleton keeps although the shape's topology does not need them. With `nothing` a solid body is reduced
/// to one cell.
enum class kept_cells : std::uint8_t {
    /// Ends of curves: cells with exactly one neighbour in the shape when the round begins and when they are tested.
    ends,
    /// Cells of curves: those whose neighbours in the shape have two or more components when they are tested.
    isthmuses,
    nothing
};

struct skeleton_options {
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    /// Content beyond the ends of each axis. For distances as in distance_transform: open nothing, closed background,
    /// periodic the other end. For topology background beyond open and closed ends.
    borders border{};
    int batch_axes = 0;  ///< leading axes that number images, each by itself
    kept_cells keep = kept_cells::ends;
    /// False: neighbours within the shape share a face, an edge or a corner, those outside a face: 8 and 4 in images,
    /// 26 and 6 in volumes. True: the other way round, 4 and 8, 6 and 26.
    bool faces = false;
};

/// Thins a shape in the order of the distance of its cells to the nearest cell outside.
///
/// A cell is simple if its removal does not change the number of components, tunnels or cavities of the shape. Cells
/// are sorted into layers by distance: a layer is a sixteenth of a cell thick, measured along the shortest side of a
/// cell; from 16 of these sides on two sixteenths, from 32 on four, and so on. For each layer, in ascending order, the
/// call removes simple cells of this layer and of those before it that are not kept, in one round for each sixteenth;
/// after the last layer, in rounds until one removes nothing. Layers without cells have rounds, too. If no cell lies
/// outside, all cells are the last layer. A round has turns: one turn tests the cells whose coordinates have given
/// parities, (even, even, even) first, the last axis changing fastest. Along a periodic axis of odd length the last
/// cell has a turn of its own, after the odd ones. No two cells of a turn touch, so the result does not depend on an
/// order among them: equal bits on host and device, whatever the number of threads. The only simple cells left are
/// those kept.
///
///   on       host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   image    1 to 3 axes besides those of batches, any sizes, any element type, any strides; not changed. The shape is
///            what is not zero (NaN is not zero)
///   out      shape of the image; bool or uint8 (1 in the skeleton, else 0), any strides; may not overlap the others
///   anchors  shape of the image, bool or uint8: cells that stay besides those of options.keep. Left out: none
///
/// Distances are those of distance_transform and exact. Along a periodic axis everything is as in the middle of a
/// tiling; an axis of length 1 counts as open.
///
/// Time O(cells) and a few looks at each cell of the shape. Workspace: 4 or 8 bytes a cell for its squared distance. On
/// the host 3 bits a cell and at most 7 bytes a row more, 4 bytes a cell of the shape (8 in calls beyond 2^32
/// cells), and as much a cell removed in one round; 16 a cell of the shape more where layers are many and cells few. On
/// a device 4.5 bytes a cell more (8.5 in calls beyond 2^32 cells); in short rows a word of 16 bytes for 31 cells or
/// fewer, so 20 to 36 bytes in rows of one cell; and 4 bytes for each turn of each layer
/// that the extent allows. Throws nearfield::error before any work is started, as distance_transform does.
///
/// Pudney, "Distance-ordered homotopic thinning", CVIU 72(3), 1998; subfields: Bertrand and Aktouf, "A
/// three-dimensional thinning algorithm using subfields", Vision Geometry III, SPIE 2356, 1994; Palagyi and Kuba, "A
/// parallel 3D 12-subiteration thinning algorithm", GMIP 61(4), 1999; simple cells: Bertrand and Malandain, "A new
/// characterization of three-dimensional simple points", Pattern Recognition Letters 15(2), 1994.
void skeletonize(const host& on, const any_input<host>& image, const any_output<host>& out,
                 const skeleton_options& options = {}, const any_input<host>& anchors = {});
void skeletonize(const device& on, const any_input<device>& image, const any_output<device>& out,
                 const skeleton_options& options = {}, const any_input<device>& anchors = {});

}  // namespace nearfield
