// Results computed from labels. Calls check types, shapes and overlap first, and throw nearfield::error for bad ones.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "nearfield/label.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Counts the components that label() would find, after its filters; of a batch the sum. A device call waits.
[[nodiscard]] std::int64_t count_components(const host& on, const any_input<host>& image,
                                            const label_options& options = {});
[[nodiscard]] std::int64_t count_components(const device& on, const any_input<device>& image,
                                            const label_options& options = {});

/// Fills the tables of label() from labels that exist already. Row i measures the cells of value i + 1, whether
/// they are connected or not. A value without cells gets size 0, box 0, NaN for every mean, and lowest and highest
/// 0.
///
///   labels  any integer type, 1 to 3 axes, any strides; values below 1 or beyond the number of rows are not measured
///   tables  as in label(); `border` treats every axis as open
///
/// Results are exact and deterministic: integers in 64 bits, other intensities in fixed point (docs/semantics.md).
/// Ordered on the stream, does not wait. Time O(cells); device workspace 4 bytes a cell unless labels have 4 bytes.
void component_statistics(const host& on, const any_input<host>& labels, const component_tables<host>& tables);
void component_statistics(const device& on, const any_input<device>& labels, const component_tables<device>& tables);
/// Does the same for labels of int32 or uint32 whose largest value is not known: `make_tables` gets it, for a row each,
/// and may make fewer. Waits for it. Labels up to 131,072 are measured in the pass that finds it, others in another.
void component_statistics(const device& on, const any_input<device>& labels,
                          const std::function<component_tables<device>(std::int64_t largest)>& make_tables);

/// Lists of the cells of each component (compressed sparse rows): label i + 1 has entries[offsets[i]] up to, but not
/// including, entries[offsets[i + 1]], in raster order.
enum class list_of : std::uint8_t {
    cells,  ///< entries (m): C-order linear indices
    runs,   ///< entries (m, 2): index of the first cell of a run along the last axis, and its number of cells
};

/// Writes the offsets of the lists: int64 (n + 1), for labels 1 to n; the last one is the total number of entries.
void label_list_offsets(const host& on, const any_input<host>& labels, const any_output<host>& offsets,
                        list_of what = list_of::cells);
void label_list_offsets(const device& on, const any_input<device>& labels, const any_output<device>& offsets,
                        list_of what = list_of::cells);

/// Writes the entries of the lists: int64, or int32 if that suffices. `offsets` comes from label_list_offsets for these
/// labels. Device workspace: 24 bytes an entry, 40 in 2^32 cells, and 4 a cell unless labels are 32 bits in C order.
void label_lists(const host& on, const any_input<host>& labels, const any_input<host>& offsets,
                 const any_output<host>& entries, list_of what = list_of::cells);
void label_lists(const device& on, const any_input<device>& labels, const any_input<device>& offsets,
                 const any_output<device>& entries, list_of what = list_of::cells);

/// Renumbers values 1..N: each value other than 0 gets its rank in the raster order of first cells. Any integer type
/// in, a type of label() out; `count` (int64, one value) gets N when wanted. Throws if `out` cannot number all values;
/// the call waits if the types allow that. Time O(cells); device workspace 20 to 30 bytes a cell for wide types.
void relabel(const host& on, const any_input<host>& labels, const any_output<host>& out,
             const any_output<host>& count = {});
void relabel(const device& on, const any_input<device>& labels, const any_output<device>& out,
             const any_output<device>& count = {});

/// Copies `image` without its components of fewer than `smallest` cells, which become the background value. `out` has
/// the image's type and shape and may be the image itself. Options are those of label(), whose other filters hold too.
void remove_small(const host& on, const any_input<host>& image, const any_output<host>& out, std::int64_t smallest,
                  const label_options& options = {});
void remove_small(const device& on, const any_input<device>& image, const any_output<device>& out,
                  std::int64_t smallest, const label_options& options = {});

/// Two values a < b that touch, neither of them 0.
struct contact {
    std::int64_t a = 0, b = 0;
    std::int64_t pairs = 0;  ///< pairs of neighbouring cells under the given connectivity
    double area = 0;         ///< area (2-D: length) of the faces that they share, in squared units of `spacing`
    friend bool operator==(const contact&, const contact&) = default;
};

/// Finds the values of a label image that touch, sorted by a, then b. Labels have any integer type that fits int64 and
/// 1 to 3 axes; a device rejects 8-byte labels of 2^32 cells. Returns a host value: a device call waits. Time O(cells).
[[nodiscard]] std::vector<contact> contacts(const host& on, const any_input<host>& labels, int connectivity = 1,
                                            const spacing& cell = {});
[[nodiscard]] std::vector<contact> contacts(const device& on, const any_input<device>& labels, int connectivity = 1,
                                            const spacing& cell = {});

/// Shape of the cells of one value. Lengths are in units of `spacing`, areas in its square (of volumes its cube). A
/// measure is NaN if it is not defined for the number of axes, or for no cells.
struct component_shape {
    std::int64_t cells = 0;
    /// Parts minus holes; in volumes parts plus cavities minus tunnels. Cells connect by corners (8, 26 neighbours).
    std::int64_t euler_number = 0;
    std::int64_t euler_number_faces = 0;    ///< the same with cells connected by faces (4, 6 neighbours)
    double area = 0;                        ///< cells times the area of a cell; in volumes the volume
    double perimeter = 0;                   ///< 2-D, one spacing: border cells, weighted by their neighbours
    double perimeter_crofton = 0;           ///< 2-D: from crossings along 4 directions
    double surface_area = 0;                ///< 3-D: from crossings along 13 directions
    double area_convex = 0;                 ///< 2-D: cells whose centres lie in the convex hull, times a cell's area
    double solidity = 0;                    ///< 2-D: area / area_convex
    double feret_diameter_max = 0;          ///< 2-D: the longest diameter of the cells of area_convex
    double extent = 0;                      ///< cells / cells of the box
    double equivalent_diameter_area = 0;    ///< diameter of the disc (ball) of the same area (volume)
    double inertia_tensor[3][3] = {};       ///< by axes of the array: T(i, i) the variances of the others, T(i, j) -cov
    double inertia_tensor_eigvals[3] = {};  ///< descending
    double orientation = 0;                 ///< 2-D: angle from axis 0 to the longest axis, in (-pi/2, pi/2]
    double axis_major_length = 0;           ///< major axis of the ellipse (ellipsoid) with the same inertia
    double axis_minor_length = 0;
    double eccentricity = 0;  ///< 2-D: eccentricity of that ellipse
};

/// Measures the shapes of labels 1 to `rows`: row i is label i + 1, whether its cells are connected or not. Names and
/// values are those of scikit-image's regionprops if it has them; docs/measures.md defines the sums.
///
///   labels  any integer type, 2 or 3 axes, any strides; values below 1 or beyond `rows` are not measured
///   cell    spacing: one, or one per axis
///
/// Integers are summed exactly, so that host and device give equal bits. Returns a host value: a device call waits.
/// Time O(cells), and for 2-D hulls O(lines of all boxes). Memory: 600 to 900 bytes a row, 16 bytes a run of an image.
[[nodiscard]] std::vector<component_shape> shape_measures(const host& on, const any_input<host>& labels,
                                                          std::int64_t rows, const spacing& cell = {});
[[nodiscard]] std::vector<component_shape> shape_measures(const device& on, const any_input<device>& labels,
                                                          std::int64_t rows, const spacing& cell = {});

}  // namespace nearfield
