// What is made of labels once they are there: tables, lists, new numbers, fewer components, contacts, shapes.
#pragma once

#include <cstdint>
#include <vector>

#include "nearfield/label.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// How many components label() would find, after its filters; of a batch the sum. On a device it waits.
[[nodiscard]] std::int64_t count_components(const host& on, const any_input<host>& image,
                                            const label_options& options = {});
[[nodiscard]] std::int64_t count_components(const device& on, const any_input<device>& image,
                                            const label_options& options = {});

/// The tables of label() from labels made before, or elsewhere: row i measures the cells of value i + 1, whether they
/// hang together or not. A value without cells gets size 0, box 0, NaN where a mean of nothing is asked for, lowest and
/// highest 0.
///
///   labels  any integer type, 1 to 3 axes, any strides; values below 1 or beyond the number of rows are not measured
///   tables  as in label(); `border` takes every axis for an open one
///
/// Exact and deterministic: integers in 64 bits, sums of floating-point intensities in fixed point wide enough that
/// their order does not matter (see docs/semantics.md). Ordered on the stream, does not wait.
void component_statistics(const host& on, const any_input<host>& labels, const component_tables<host>& tables);
void component_statistics(const device& on, const any_input<device>& labels, const component_tables<device>& tables);

/// The cells of each component as one list (compressed sparse rows): those of label i + 1 stand at entries[offsets[i]]
/// up to entries[offsets[i + 1]], in raster order.
enum class list_of : std::uint8_t {
    cells,  ///< entries (m): C-order linear indices
    runs,   ///< entries (m, 2): index of the first cell of a run along the last axis, and its number of cells
};

/// Offsets of the lists: int64 (n + 1), for labels 1 to n; the last one is the number of entries in all.
void label_list_offsets(const host& on, const any_input<host>& labels, const any_output<host>& offsets,
                        list_of what = list_of::cells);
void label_list_offsets(const device& on, const any_input<device>& labels, const any_output<device>& offsets,
                        list_of what = list_of::cells);

/// The entries themselves: int64, or int32 where that suffices. `offsets` as label_list_offsets made them from these
/// labels.
void label_lists(const host& on, const any_input<host>& labels, const any_input<host>& offsets,
                 const any_output<host>& entries, list_of what = list_of::cells);
void label_lists(const device& on, const any_input<device>& labels, const any_input<device>& offsets,
                 const any_output<device>& entries, list_of what = list_of::cells);

/// Renumbers values: each value other than 0 gets the number of its first cell in raster order among those of other
/// values, 1..N. Any integer type in, any label type of label() out; `count` (int64, one value) gets N when wanted.
/// With more values than `out` can number: error (the call waits where that could be).
void relabel(const host& on, const any_input<host>& labels, const any_output<host>& out,
             const any_output<host>& count = {});
void relabel(const device& on, const any_input<device>& labels, const any_output<device>& out,
             const any_output<device>& count = {});

/// `image` without its components of fewer than `smallest` cells: their cells become the background value. `out` has
/// the image's type and shape and may be the image itself. Options as for label(); its other filters hold too.
void remove_small(const host& on, const any_input<host>& image, const any_output<host>& out, std::int64_t smallest,
                  const label_options& options = {});
void remove_small(const device& on, const any_input<device>& image, const any_output<device>& out,
                  std::int64_t smallest, const label_options& options = {});

/// Two values that touch, a < b, neither of them 0.
struct contact {
    std::int64_t a = 0, b = 0;
    std::int64_t pairs = 0;  ///< pairs of neighbouring cells, by the connectivity asked for
    double area = 0;         ///< area (2-D: length) of the faces that they share, in squared units of `spacing`
    friend bool operator==(const contact&, const contact&) = default;
};

/// Which values of a label image touch, sorted by a, then b. Labels of any integer type that fit int64, 1 to 3 axes.
/// Returns a host value: on a device it waits.
[[nodiscard]] std::vector<contact> contacts(const host& on, const any_input<host>& labels, int connectivity = 1,
                                            const spacing& cell = {});
[[nodiscard]] std::vector<contact> contacts(const device& on, const any_input<device>& labels, int connectivity = 1,
                                            const spacing& cell = {});

/// How the cells of one value are shaped. Lengths are in units of `spacing`, areas in its square (of volumes its cube).
/// NaN stands where a measure is not defined: for the number of axes, or of no cells.
struct component_shape {
    std::int64_t cells = 0;
    /// Parts less holes; in volumes parts and cavities less tunnels. Cells hang together by corners (8, 26 neighbours).
    std::int64_t euler_number = 0;
    std::int64_t euler_number_faces = 0;    ///< the same where cells hang together by faces (4, 6 neighbours)
    double area = 0;                        ///< cells times a cell's; of volumes the volume
    double perimeter = 0;                   ///< 2-D, one spacing for both axes: of border cells, by their neighbours
    double perimeter_crofton = 0;           ///< 2-D: from crossings along 4 directions
    double surface_area = 0;                ///< 3-D: from crossings along 13 directions
    double area_convex = 0;                 ///< 2-D: cells whose centres lie in the convex hull, times a cell's area
    double solidity = 0;                    ///< 2-D: area / area_convex
    double feret_diameter_max = 0;          ///< 2-D: the longest diameter of those cells
    double extent = 0;                      ///< cells / cells of the box
    double equivalent_diameter_area = 0;    ///< of a disc (ball) as large
    double inertia_tensor[3][3] = {};       ///< by axes of the array: T(i, i) the variances of the others, T(i, j) -cov
    double inertia_tensor_eigvals[3] = {};  ///< descending
    double orientation = 0;                 ///< 2-D: angle from axis 0 to the longest axis, in (-pi/2, pi/2]
    double axis_major_length = 0;           ///< of the ellipse (ellipsoid) with the same inertia
    double axis_minor_length = 0;
    double eccentricity = 0;  ///< 2-D: of that ellipse
};

/// Measures the shapes of labels 1 to `rows`: row i is label i + 1, its cells hanging together or not. Names and values
/// are those of scikit-image's regionprops where it has them; docs/measures.md says what is summed.
///
///   labels  any integer type, 2 or 3 axes, any strides; values below 1 or beyond `rows` are not measured
///   cell    spacing: one, or one per axis
///
/// Integers are summed exactly, so that host and device give equal bits. Returns a host value: on a device it waits.
/// Time O(cells), and for 2-D hulls O(lines of all boxes). Memory 600 to 900 bytes a row, 16 a run of an image.
[[nodiscard]] std::vector<component_shape> shape_measures(const host& on, const any_input<host>& labels,
                                                          std::int64_t rows, const spacing& cell = {});
[[nodiscard]] std::vector<component_shape> shape_measures(const device& on, const any_input<device>& labels,
                                                          std::int64_t rows, const spacing& cell = {});

}  // namespace nearfield
