// Connected components: numbered, measured and filtered in one call.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <type_traits>

#include "nearfield/error.hpp"
#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// A number of any element type, kept exactly, so that it can be compared with 64-bit integers.
class scalar {
public:
    constexpr scalar() = default;
    template <class T>
        requires std::is_arithmetic_v<T>
    constexpr scalar(T value) {
        if constexpr (std::is_floating_point_v<T>) kind_ = kind::real, real_ = static_cast<double>(value);
        else if (value < T{})
            kind_ = kind::negative, bits_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        else bits_ = static_cast<std::uint64_t>(value);
    }
    [[nodiscard]] constexpr bool is_real() const { return kind_ == kind::real; }
    [[nodiscard]] constexpr bool is_negative() const { return kind_ == kind::negative || (is_real() && real_ < 0); }
    [[nodiscard]] constexpr double real() const {
        if (is_real()) return real_;
        return kind_ == kind::negative ? static_cast<double>(static_cast<std::int64_t>(bits_))
                                       : static_cast<double>(bits_);
    }
    /// The integer modulo 2^64; meaningless when is_real().
    [[nodiscard]] constexpr std::uint64_t bits() const { return bits_; }

private:
    enum class kind : std::uint8_t { natural, negative, real };
    kind kind_ = kind::natural;
    std::uint64_t bits_ = 0;
    double real_ = 0;
};

/// Rule by which neighbouring cells are connected; background cells are never connected and get label 0.
enum class criterion : std::uint8_t {
    nonzero,  ///< all cells that are not zero are connected. NaN is not zero
    equal,    ///< cells of equal value. NaN equals nothing, so that each such cell is a component
    /// Cells whose values differ by at most `tolerance`: |a - b| exactly for integers, as a double rounded once for
    /// floating point. Equal infinities are connected, NaN to nothing. Only neighbours are compared, so values may
    /// drift across a component.
    within,
    /// The image is a graph: the bits of a cell name the neighbours that it is linked with (link_bit). A link holds
    /// both ways: it is enough if one of the two cells names the other. No cell is background; a cell without links is
    /// a component of its own. Integers of at least 8 bits, 32 with more than the 6 neighbours of a volume; 1 to 3
    /// axes, no channels.
    links,
};

/// Returns the bit of criterion::links that names the neighbour `step` away, which is -1, 0 or 1 along each of 1 to 3
/// axes; no bit if all are 0. Bits 0 and 1 name the cells after and before it along the last axis (x), 2 and 3 along
/// the axis before (y), 4 and 5 along the first of three (z). Higher bits name diagonal neighbours: xy; in volumes then
/// xz and yz forwards along z, both of them backwards, and the corners. This is the voxel connectivity graph of cc3d
/// and edt, whose x is the contiguous axis.
[[nodiscard]] constexpr std::uint32_t link_bit(const int* step, int axes) {
    int changed[3] = {}, changes = 0, back = 0;
    for (int axis = 0; axis < axes; ++axis) {  // x, y, z
        const int by = step[axes - 1 - axis];
        if (by == 0) continue;
        back |= (by < 0 ? 1 : 0) << axis;
        changed[changes++] = axis;
    }
    const int first = changed[0], faces = 2 * axes;
    if (changes == 0) return 0;
    if (changes == 1) return 1U << (2 * first + (back >> first));
    if (changes == 3) return 1U << (18 + back);
    if (changed[1] == 1) return 1U << (faces + back);
    return 1U << (faces + 4 + 2 * first + (back >> first & 1) + (back & 4));
}
[[nodiscard]] constexpr std::uint32_t link_bit(std::initializer_list<int> step) {
    return link_bit(step.begin(), static_cast<int>(step.size()));
}

/// Distance between two colours, channel by channel: the largest difference, the sum, or the root of the sum of squares
/// (compared as squares, in double).
enum class colour_norm : std::uint8_t { maximum, sum, euclidean };

struct label_options {
    /// Number of coordinates that a step to a neighbour may change, 1 to the number of axes, as in SciPy; or
    /// the number of neighbours: 2 in 1-D, 4 or 8 in 2-D, 6, 18 or 26 in 3-D.
    int connectivity = 1;
    nearfield::criterion criterion = nearfield::criterion::nonzero;
    scalar tolerance = 0;  ///< for criterion::within; not negative, not NaN
    scalar background =
        0;  ///< for `equal` and `within`: this value (a colour: in every channel) is background; may be NaN
    bool has_background =
        true;  ///< false: every cell belongs to a component (`nonzero` always has zero as background, `links` none)
    bool channels = false;  ///< the last axis holds 1 to 4 channels of a colour, of uint8, uint16, float32 or float64
    colour_norm norm = colour_norm::maximum;
    borders border{};    ///< open or periodic, one per axis of the image that is neither batch nor channel
    int batch_axes = 0;  ///< leading axes that number images, each labelled by itself
    /// Explicit steps instead of `connectivity`: 3^axes values, zero or not, in C order over (-1, 0, 1) along each
    /// axis, the same for a step and its opposite; the middle is ignored. Any number of axes. Host only, open borders
    /// only.
    std::span<const std::uint8_t> steps{};

    // Filters. Cells of dropped components become background before the components are numbered.
    std::int64_t smallest = 1;                                        ///< cells; components with fewer are dropped
    std::int64_t largest = std::numeric_limits<std::int64_t>::max();  ///< cells; components with more are dropped
    /// Keep the k components with the most cells among those that the other filters keep; ties go to the first in
    /// raster order.
    std::int64_t keep_largest = std::numeric_limits<std::int64_t>::max();
    bool clear_border = false;  ///< drop components with a cell at the end of an axis that is not periodic
};

/// Tables with a row for each component: row i is label i + 1 (of a batch: the rows of all images one after another).
/// Leave out what is not wanted. A table needs a row for each component to be measured: rows beyond the number of
/// components are not written, components beyond the number of rows are omitted. `axes` are those that are neither
/// batch nor channels.
template <class Place>
struct component_tables {
    any_output<Place> size{};      ///< int64 (n): cells
    any_output<Place> box{};       ///< int64 (n, 2, axes): first cell along each axis, and one past the last
    any_output<Place> centroid{};  ///< float64 (n, axes): double(sum of coordinates, exact) / double(size)
    any_output<Place> border{};  ///< bool or uint8 (n): 1 where a cell lies at the end of an axis that is not periodic
    any_output<Place>
        faces{};  ///< int64 (n): faces of its cells (2-D: edges) towards other cells or an end of the grid

    any_input<Place> intensity{};  ///< read, not filled: values to measure, of the labels' shape, any type but float16
    any_output<Place> lowest{};    ///< type of `intensity` (n). NaN if the component has one
    any_output<Place> highest{};   ///< type of `intensity` (n)
    any_output<Place> sum{};       ///< float64 (n), or int64 for integers of up to 32 bits
    any_output<Place> mean{};      ///< float64 (n)
    any_output<Place> variance{};  ///< float64 (n): of the population, mean((x - mean)^2)

    [[nodiscard]] constexpr bool any() const {
        return size.wanted() || box.wanted() || centroid.wanted() || border.wanted() || faces.wanted() ||
               lowest.wanted() || highest.wanted() || sum.wanted() || mean.wanted() || variance.wanted();
    }
};

/// The outputs of one call; at least one is required.
template <class Place>
struct label_fields {
    /// uint16, int32, uint32, int64 or uint64, of the image's shape without channels, any strides: 1..N in raster order
    /// of each component's first cell within its image; 0 is background. May not overlap the image.
    any_output<Place> label{};
    any_output<Place> count{};  ///< int64 (images): N of each image of the batch, one value without a batch
    component_tables<Place> tables{};
    /// Called for the tables once the number of rows is known, instead of `tables`. A device call waits for the number.
    std::function<component_tables<Place>(std::int64_t rows)> make_tables{};
};

/// Returns the largest number of components that such an image can have: tight for open borders, criterion::nonzero and
/// even sides. A label type that holds it never overflows. Throws nearfield::error on invalid options.
[[nodiscard]] std::int64_t most_components(const std::int64_t* shape, int rank, const label_options& options = {});

/// Returns int32 if that holds most_components, else int64.
[[nodiscard]] dtype label_type(const std::int64_t* shape, int rank, const label_options& options = {});

/// Labels the connected components of an image.
///
/// Labels are consecutive and in raster order: equal bits on host and device, whatever the number of threads, and equal
/// to SciPy's where SciPy has the operation.
///
///   on       host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph. But it
///            waits for the count with `make_tables` and if the label's type could be too narrow for most_components;
///            it also waits for tables of a batch that are made from labels (below)
///   image    1 to 3 axes besides batch and channels (host: up to 8), any sizes, bool, integers of 1 to 8 bytes,
///            float32 or float64, any strides; not changed
///   out      receives the results
///   options  neighbours, criterion, filters
///
/// Time O(cells). Workspace on a device, bytes a cell: masks with open borders 2.8 (8 neighbours), 1.6 (26) or 5.3 (4,
/// 6, 18), all else 11.0 to 12.5; 1-D images, images of few rows and more than 2^31 cells 2.3 to 8.3. Sizes, boxes,
/// centroids and borders take 0.13 more and 32 to 80 bytes a row. The same holds in masks with open borders for faces
/// (96) and values of one or two bytes (128). Filters take 8 or 9 bytes for each possible component (most_components).
/// Other tables are made from labels: 4 more a cell unless those are 32 bits in C order.
///
/// On the host: 0.19 bytes a cell (masks) or, for equal values and criteria, 0.32 in 1-D, 0.44 in 2-D and 0.57 in 3-D;
/// 32 or 72 a row, and 4 for each run of connected cells along the last axis; each thread 1.3 for each cell of a row, 4
/// more if labels are not of 4 bytes or not contiguous, and five copies of its values if these are not contiguous. Rows
/// of fewer than 16 cells, if another axis has 64, take 4 a cell more, and first a copy of the image, then 0.3 a cell
/// and 8 a component. Other steps, more than three axes and other short rows: 1.4 a cell and 16 a node (linked cells of
/// 64 in a row); for masks with all neighbours 4.4 a cell more. Criteria take a copy of an image that is not
/// contiguous, filters 9 a component, tables 8 a cell of an image, tables of values 16 to 56 a component.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, overlap, options; no memory; no GPU.
/// After the components are counted and before a label is written: more components than the label's type can number.
///
/// Rosenfeld, Pfaltz, "Sequential operations in digital picture processing", JACM 13(4), 1966; runs as nodes: He, Chao,
/// Suzuki, "A run-based two-scan labeling algorithm", IEEE TIP 17(5), 2008; on GPUs: Playne, Hawick, "A new algorithm
/// for parallel connected-component labelling on GPUs", IEEE TPDS 29(6), 2018.
void label(const host& on, const any_input<host>& image, const label_fields<host>& out,
           const label_options& options = {});
void label(const device& on, const any_input<device>& image, const label_fields<device>& out,
           const label_options& options = {});

/// label() for the labels alone.
template <class Place>
void label(const Place& on, const std::type_identity_t<any_input<Place>>& image,
           const std::type_identity_t<any_output<Place>>& out, const label_options& options = {}) {
    label_fields<Place> wanted;
    wanted.label = out;
    label(on, image, wanted, options);
}

}  // namespace nearfield
