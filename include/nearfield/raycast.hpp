// The first occupied cell on each of many rays.
#pragma once

#include <cstdint>

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Method to skip empty cells. The hits do not depend on it.
enum class ray_skips : std::uint8_t {
    none,    ///< steps from cell to cell
    cubes,   ///< skips the largest empty cube round the cell: its half side is the chessboard distance
    octants  ///< skips the largest empty cube that has the cell at its corner and lies ahead; on the host only
};

struct raycast_options {
    ray_skips skips = ray_skips::cubes;
};

/// The outputs for `count` rays; at least one is required.
template <class Place>
struct ray_hits {
    any_output<Place> cells{};  ///< int32, shape (count, axes): coordinates of the occupied cell, -1 without a hit
    /// int8, shape (count): 2 * axis + side for the face by which the ray enters that cell, side 0 for the face at the
    /// smaller coordinate; -1 without a hit, or if the ray starts in it.
    any_output<Place> faces{};
    /// float64, shape (count): t at that face, where the ray is origin + t * direction; 0 if it starts in the cell,
    /// +inf without a hit.
    any_output<Place> entry{};
    any_output<Place> steps{};  ///< int32, shape (count): cells examined
};

/// Walks along each ray from cell to cell and finds the first occupied cell that it enters.
///
/// Cell c has its centre at c and extends from c - 1/2, which belongs to it, to c + 1/2. The walk crosses one face at a
/// time, in the order of t; of faces at the same t, at edges and corners, that across the last axis first. Origins are
/// rounded to multiples of 2^-16, and directions so that their largest component is 2^26 in integers; after that
/// comparisons are exact, in integers. So errors do not add up, skipping changes no hit, and host and device agree bit
/// for bit.
///
///   on          host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   mask        2 or 3 axes of at most 2^19 cells; cells that are not zero are occupied. Any type, any strides
///   origins     float64, shape (count, axes): in cells, in the order of the mask's axes; of at most 2^19 in size
///   directions  float64, shape (count, axes): of any length but 0
///   out         receives the results
///
/// A ray whose origin is farther away, or that has NaN, infinity or no direction, hits nothing.
///
/// Time: O(cells) for the distances, 8 times with octants; each step of a ray crosses a cube. Workspace: 1 byte a cell,
/// 8 with octants (4 in images), and that of chessboard_distance.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, overlap; no memory; no GPU.
///
/// Amanatides, Woo, "A fast voxel traversal algorithm for ray tracing", Eurographics 1987; Sramek, Kaufman, "Fast
/// ray-tracing of rectilinear volume data using distance transforms", IEEE TVCG 6(3), 2000.
void raycast(const host& on, const any_input<host>& mask, const any_input<host>& origins,
             const any_input<host>& directions, const ray_hits<host>& out, const raycast_options& options = {});
void raycast(const device& on, const any_input<device>& mask, const any_input<device>& origins,
             const any_input<device>& directions, const ray_hits<device>& out, const raycast_options& options = {});

}  // namespace nearfield
