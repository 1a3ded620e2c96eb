// Fields and components of grids that do not fit into memory, from chunks that do: the steps of which drivers are made.
//
// Distances and nearest sites of any content: distance_transform with `batch_axes` for slabs of whole planes, then
// pass_along for pencils of whole lines along the first axis. Where sites are near, windows do: a chunk with the cells
// round it that window_halo counts, distance_transform with that limit as `max_distance`, and every_cell_has_site,
// which certifies that the chunk's fields are those of the whole grid without a limit.
//
// Components: label and chunk_faces_of for each window, a chunk with one more cell at the high end of each axis; merge
// for all of them; renumber for each.
//
// No step keeps state. The answers have the bits of one call on the whole grid. examples/chunks.cpp is such a driver.
#pragma once

#include <span>
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

/// Returns how many cells round a chunk, along each axis, hold every site within `limit` of it, and every site that is
/// equally near. A window does not extend beyond the ends of the grid, except across a periodic border.
[[nodiscard]] std::vector<std::int64_t> window_halo(double limit, const spacing& cell, int rank);

/// Returns whether no cell of a field of distance_transform is without a site. For the chunk's cells of a window that
/// has window_halo(limit) round them, computed with `max_distance = limit`, that is the certificate: their distances,
/// squares, sites and ties do not depend on other cells of the grid. Ends of the window within the grid are open or
/// closed alike, its other borders are the grid's; across a periodic border a window has copies of what lies beyond.
///
///   on     host: returns when done. device: waits
///   field  distances, squares, indices or coordinates, any strides; not labels
///
/// Time O(cells). Throws nearfield::error: other element types, no data.
[[nodiscard]] bool every_cell_has_site(const host& on, const any_input<host>& field);
[[nodiscard]] bool every_cell_has_site(const device& on, const any_input<device>& field);

/// Place of a chunk in the whole grid. All have one value for each axis.
struct chunk_place {
    std::vector<std::int64_t> start{};  ///< first cell
    std::vector<std::int64_t> size{};   ///< number of cells, at least 1
    std::vector<std::int64_t> grid{};   ///< shape of the whole grid
};

/// Labels at the faces of a chunk's window, and where its components begin: all that merge() has to know of a chunk.
///
/// Corner number c, 1 to 2^axes - 1, stands for the axes whose bits are set in c, bit 0 for the first axis. The low box
/// of a corner holds the chunk's first cell along these axes, and the high box the cell beyond the last one; along all
/// other axes both hold the whole chunk.
struct chunk_faces {
    std::vector<std::int64_t> size{};   ///< number of the chunk's cells along each axis
    std::vector<std::int64_t> more{};   ///< 1 for axes along which the window has a cell beyond the chunk, else 0
    std::vector<std::int64_t> first{};  ///< C-order linear index in the grid of each component's first cell
    std::vector<std::int64_t> low{};    ///< labels of the low boxes of all corners, one box after another
    std::vector<std::int64_t> high{};   ///< labels of the high boxes of the corners whose axes all have `more`
};

/// Finds the faces of a labelled window: a chunk with one more cell at the high end of each axis along which the grid
/// continues. At the end of a periodic axis that is the grid's first cell.
///
///   on      host: returns when done. device: waits
///   labels  what label() made of the window, without filters and with open borders: any label type, C order
///   count   number of its components
///
/// Time O(cells). Workspace on a device: 8 bytes a component and for each cell of the faces.
/// Throws nearfield::error, before any work is started: a shape that is neither the chunk's nor one cell longer, a
/// place outside the grid, types, labels that are not contiguous. Later: a component without a cell.
[[nodiscard]] chunk_faces chunk_faces_of(const host& on, const any_input<host>& labels, std::int64_t count,
                                         const chunk_place& place);
[[nodiscard]] chunk_faces chunk_faces_of(const device& on, const any_input<device>& labels, std::int64_t count,
                                         const chunk_place& place);

struct merged_chunks {
    /// For each chunk, place k holds the number of its component k + 1 in the whole grid: 1..count, in raster order of
    /// first cells, as label() numbers the grid.
    std::vector<std::vector<std::int64_t>> numbers{};
    std::int64_t count = 0;
};

/// Joins the components of all chunks of a grid.
///
///   faces   of all chunks, in C order of their positions
///   chunks  number of chunks along each axis
///
/// Runs on the host. Time O(components log(components) + cells of faces), memory 24 bytes a component. Throws
/// nearfield::error: chunks that are missing, or whose faces do not fit their neighbours'.
[[nodiscard]] merged_chunks merge(std::span<const chunk_faces> faces, std::span<const std::int64_t> chunks);

/// Returns the smallest member of the set of each of `count` items, where a[i] and b[i] are in one set. For drivers
/// that compare labels in another way. Throws nearfield::error: items outside [0, count), lists of different lengths.
[[nodiscard]] std::vector<std::int64_t> joined_sets(std::int64_t count, std::span<const std::int64_t> a,
                                                    std::span<const std::int64_t> b);

/// Replaces each label k by numbers[k - 1]; 0 and labels without a number become 0.
///
///   on       host: returns when done. device: returns before the work is done
///   labels   any label type, any strides; a window's, or those of its chunk alone
///   numbers  in host memory; page-locked memory has to stay until the work is done
///   out      a label type, of the shape of `labels`; `labels` itself or memory that does not overlap it
///
/// Throws nearfield::error, before any work is started: shapes, types, overlap, numbers that `out` cannot hold.
void renumber(const host& on, const any_input<host>& labels, std::span<const std::int64_t> numbers,
              const any_output<host>& out);
void renumber(const device& on, const any_input<device>& labels, std::span<const std::int64_t> numbers,
              const any_output<device>& out);

}  // namespace nearfield
