// Exact Euclidean distance fields and, in the same pass, the nearest site of every cell.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "nearfield/error.hpp"
#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Selects the cells that are sites. NaN is not zero. With `other_labels` (integer images) the sites of a cell are the
/// cells of any other value; cells of value zero are background and sites for all, as in edt.
enum class sites : std::uint8_t { zero, nonzero, other_labels };

/// Signed fields are the distance outside minus the distance inside. Cells that are not sites by the rule `sites` are
/// inside. `outside_negative` reverses the sign.
enum class sign : std::uint8_t { none, inside_negative, outside_negative };

struct distance_options {
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    nearfield::sites sites = nearfield::sites::zero;  ///< SciPy's convention: distance to the nearest zero
    nearfield::sign sign = nearfield::sign::none;     ///< also give sites a distance: to the nearest other cell
    /// Distances end at the nearest point of the site's cell instead of at its centre: half a cell less along each axis
    /// on which the two cells differ.
    bool half_cell = false;
    borders border{};  ///< what lies beyond the ends of each axis, in array order
    /// Bound in units of `spacing`; cells whose distance (as a double) is larger are treated as having no site.
    double max_distance = std::numeric_limits<double>::infinity();
    int batch_axes = 0;  ///< leading axes that number images, each solved by itself; the answer is that of a loop
};

/// The outputs of one call. Leave out what is not wanted; at least one is required. All must have the image's shape and
/// may have any strides, but may overlap neither the image nor each other.
///
/// A cell has no site when there is none, when all are farther than `max_distance`, or (index, coordinates, label) when
/// a closed border is nearer than every site of the grid.
template <class Place>
struct fields {
    /// float16, float32 or float64, units of `spacing`; +inf without a site, -inf where the sign is negative. Or bool:
    /// whether the cell has a site within `max_distance`; not with a sign.
    any_output<Place> distance{};
    /// uint16, uint32, uint64, float16, float32 or float64, if the type holds every answer of the call exactly (float64
    /// always does); see squared_distance_type. Its maximum without a site (floating point: as `distance`). Signed like
    /// `distance`.
    any_output<Place> squared{};
    /// int64, or int32 if that suffices: C-order linear index of the nearest site within its image; -1 without a
    /// site.
    any_output<Place> index{};
    /// int32, shape (axes that are not batch axes, ...image shape): coordinates of the nearest site; -1 without one.
    any_output<Place> coordinates{};
    /// The image's element type: the image's value at the nearest site; 0 without a site.
    any_output<Place> label{};
    /// bool or uint8: 1 if the distance does not depend on what lies beyond the open borders, else 0.
    any_output<Place> trusted{};
};

/// The arguments of one call in a list of calls.
template <class Place>
struct job {
    any_input<Place> image{};
    fields<Place> out{};
};

/// Returns the narrowest of uint32, uint64 and float64 that holds every squared distance of such a call exactly. It is
/// unsigned if the spacing is integral and neither `sign` nor `half_cell` is asked for: uint32 if the largest possible
/// value is below 2^32 - 1, uint64 if the squared distance of no two cells of the grid reaches 2^62. Throws
/// nearfield::error when rank is not 1..max_rank or an option is not valid.
[[nodiscard]] dtype squared_distance_type(const std::int64_t* shape, int rank, const distance_options& options = {});

/// Computes the distance from every cell of an image to its nearest site, that site, or both.
///
/// Integral spacing: squared distances are integers and exact (a spacing beyond 94906265 has its square rounded to
/// double first). The same spacing along all axes (but those of batches), as long as no two cells are 2^52 apart: every
/// squared distance is w * n in double, w = spacing^2, where n, an integer, is the sum of the squares of the numbers of
/// cells (w / 4 * n with `half_cell`), and the smallest n wins. Other spacing: it is
/// (((w_last * d_last^2) + w_(last-1) * d^2) + ...) in double, each operation rounded once and in that order, and the
/// smallest such value over all sites is found exactly. With `half_cell` a term is w / 4 * max(2 |d| - 1, 0)^2. A
/// distance is the root of the squared distance, taken in double and rounded once to the output's type. Equal bits on
/// host and device, whatever the number of threads.
///
/// Along a periodic axis d is the shorter way round, as in the middle of a tiling. Along a closed axis the first cell
/// beyond either end is a site, in a signed field for the cells of both sides. Sites of the grid are preferred to
/// equally near borders.
///
/// Among equally near sites the one with the smallest coordinate along the last axis is taken, then along the axis
/// before it, and so on, which is SciPy's rule.
///
///   on      host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   image   1 to 8 axes of any sizes (an axis of length 0 is fine), any element type, any strides; not changed
///   out     receives the results
///
/// Time O(cells log(longest side)) at worst, O(cells) for most images; spacings whose ratio exceeds about a million may
/// cost O(cells * side). The number of labels does not matter. A small `max_distance` saves time.
///
/// Workspace on the host: 4 bytes a cell; 8 if distances can reach 2^15 cells or the spacing is not integral, and sites
/// or more than 2 axes are wanted; none if a contiguous output of that width can serve (unless the last axis is shorter
/// than 32 cells and another is long); plus one tile of lines per thread. Calls of 2 or 3 axes in unit or small
/// integral spacing, without labels, signs and periodic borders, take 0.25 to 4 bytes a cell and some planes per
/// thread, in all at most 8 bytes a cell and 64 MiB.
/// On the device, bytes a cell: distances alone or linear indices alone of contiguous arrays in unit spacing take 0.25
/// to 0.5 in images of sides up to 65536, 4.25 to 4.5 in volumes whose corners are below 1773 cells apart and whose
/// sides but the last are at most 1024 (740 and 477 where a block has 99 and 64 KB of shared memory); linear indices
/// also in volumes of at least 131072 lines of up to 2048 cells along each axis but the last. Distances take up to 4.75
/// in other volumes of sides from 17 to 65536. Labels take the same as indices, and 4 or 8 more unless a field of 4
/// bytes lends its memory; so do coordinates and several fields of images whose corners are 32768 or more cells apart,
/// and of volumes served so whose packed sites need more than 31 bits; so do signed distances of images, and 4 more, or
/// 8 if they are float64. On GPUs of compute capability 9.0 or later, contiguous images of up to 512x512 and volumes up
/// to 64x64x64 cells of a byte take none. All other calls, including coordinates and several fields, take 2.3 in images
/// and 6.3 in volumes if sides are at most 32767 and, in volumes, packed sites have 31 bits or fields are contiguous
/// and of the usual types; then 4.3 suffice in volumes if such a field has at least 2 bytes a cell and begins at a
/// multiple of 16 bytes, except for distances alone in spacings for which 32 bits are tried before double. Images of
/// longer rows take 4.8 if fields are so. 4.5 are taken in 1-D, 8.5 for distances alone along more axes if all squares
/// in units are below 2^30 and in 1-D from 2^31 cells on; 16.5 in all other cases.
/// Labels and signs take 0.5 more, and 0.13 for each axis but the last if distances alone are wanted; power diagrams
/// take 16 to 26 more, fields that are not contiguous 4 or 8, a copy of an image that is not contiguous its own bytes.
/// nearfield::plan reports the sum for every call.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, overlap, options; no memory; no GPU.
///
/// Maurer, Qi, Raghavan, "A linear time algorithm for computing exact Euclidean distance transforms of binary images in
/// arbitrary dimensions", IEEE TPAMI 25(2), 2003, for the separation into line passes.
void distance_transform(const host& on, const any_input<host>& image, const fields<host>& out,
                        const distance_options& options = {});
void distance_transform(const device& on, const any_input<device>& image, const fields<device>& out,
                        const distance_options& options = {});

/// Runs distance_transform for many images of different shapes (and one number of axes, element type and set of fields)
/// in one call. The answer is that of a loop; the work is spread over all images together. On a device images of
/// similar size share their launches, in a workspace of about three times their cells. The memory of different jobs may
/// not overlap, which is not checked.
void distance_transform(const host& on, std::span<const job<host>> jobs, const distance_options& options = {});
void distance_transform(const device& on, std::span<const job<device>> jobs, const distance_options& options = {});

/// distance_transform for one field each.
template <class Place>
void distance(const Place& on, const std::type_identity_t<any_input<Place>>& image,
              const std::type_identity_t<any_output<Place>>& out, const distance_options& options = {}) {
    fields<Place> wanted;
    wanted.distance = out;
    distance_transform(on, image, wanted, options);
}
template <class Place>
void squared_distance(const Place& on, const std::type_identity_t<any_input<Place>>& image,
                      const std::type_identity_t<any_output<Place>>& out, const distance_options& options = {}) {
    fields<Place> wanted;
    wanted.squared = out;
    distance_transform(on, image, wanted, options);
}

}  // namespace nearfield
