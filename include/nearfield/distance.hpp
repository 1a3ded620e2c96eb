// Exact Euclidean distance fields and, in the same pass, the nearest site of every cell.
#pragma once

#include <cstdint>
#include <type_traits>

#include "nearfield/error.hpp"
#include "nearfield/grid.hpp"

namespace nearfield {

/// Which cells of the image are sites. NaN is not zero.
enum class sites { zero, nonzero };

struct distance_options {
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    nearfield::sites sites = nearfield::sites::zero;  ///< SciPy's convention: distance to the nearest zero
};

/// The fields one call fills. Leave out what is not wanted; at least one must be given. All must have the image's shape
/// and may have any strides, but may overlap neither the image nor each other.
template <class Place>
struct fields {
    any_output<Place> distance{};     ///< float32 or float64, units of `spacing`; +inf where there is no site
    any_output<Place> squared{};      ///< see squared_distance_type; its maximum (float64: +inf) where there is no site
    any_output<Place> index{};        ///< int64: C-order linear index of the nearest site; -1 without a site
    any_output<Place> coordinates{};  ///< int32, shape (rank, ...image shape): its coordinates; -1 without a site
};

/// The type that holds every squared distance of a grid of this shape exactly: uint32 where the spacing is integral and
/// the largest possible value is below 2^32 - 1, uint64 where it is below 2^62, else float64. Wider types of the list are
/// accepted as well, float64 always.
/// Throws nearfield::error when rank is not 1..max_rank or the spacing is not valid.
[[nodiscard]] dtype squared_distance_type(const std::int64_t* shape, int rank, const spacing& cell = {});

/// Distance from every cell of an image to its nearest site, that site, or both.
///
/// Integral spacing: squared distances are integers and exact. Other spacing: every squared distance is
/// (((w_last * d_last^2) + w_(last-1) * d^2) + ...) in double, w = spacing^2, each operation rounded once and in that
/// order, and the smallest such value over all sites is found exactly. A distance is the root of the squared distance,
/// taken in double and rounded once to the output's type. Equal bits on host and device, whatever the number of threads.
///
/// Among equally near sites the one with the smallest coordinate along the last axis is taken, then along the axis before
/// it, and so on, which is SciPy's rule.
///
///   on      host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   image   1 to 8 axes of any sizes (an axis of length 0 is fine), any element type, any strides; not changed
///   out     where the answers go
///
/// Time O(cells log(longest side)) at worst, O(cells) for most images; spacings whose ratio exceeds a million or so may
/// cost O(cells * side).
///
/// Workspace on the host: 4 bytes a cell; 8 where distances can reach 2^15 cells or the spacing is not integral, and sites
/// or more than 2 axes are wanted; none where a contiguous output of that width can serve; plus one tile of lines a thread.
/// On the device: 4 or 8 bytes a cell for images of 2 axes or more, twice that from 3 axes on (once where a contiguous
/// output of that width can serve), 4 more where a line is longer than 1024 cells or the numbers are large, 1 more where the
/// image is not contiguous bytes, and the size of each output that is not contiguous; workspace_bytes tells the sum.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, overlap, spacing; no memory; no GPU.
///
/// Maurer, Qi, Raghavan, "A linear time algorithm for computing exact Euclidean distance transforms of binary images in
/// arbitrary dimensions", IEEE TPAMI 25(2), 2003, for the separation into line passes.
void distance_transform(const host& on, const any_input<host>& image, const fields<host>& out,
                        const distance_options& options = {});
void distance_transform(const device& on, const any_input<device>& image, const fields<device>& out,
                        const distance_options& options = {});

/// Device memory that this call would take besides image and outputs. Checks the arguments as distance_transform does, reads
/// no data, needs no GPU; throws unsupported in a build without CUDA.
[[nodiscard]] std::int64_t workspace_bytes(const device& on, const any_input<device>& image, const fields<device>& out,
                                           const distance_options& options = {});

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
