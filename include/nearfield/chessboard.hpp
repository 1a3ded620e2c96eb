// Distances in steps between cells: chessboard and city block.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct step_options {
    nearfield::sites sites = nearfield::sites::zero;  ///< `zero` or `nonzero`
    borders border{};                                 ///< what lies beyond the ends of each axis, in array order
    /// Cells whose distance is larger are treated as having no site.
    double max_distance = std::numeric_limits<double>::infinity();
    int batch_axes = 0;  ///< leading axes that number images, each solved by itself; the answer is that of a loop
    /// For each axis, selects the sites that count: 1 those at the cell's coordinate or a larger one, -1 those at it or
    /// a smaller one, 0 all. Without zeros these are the sites of one octant. On the host only.
    std::array<std::int8_t, max_rank> side{};
};

/// Distance from every cell to the nearest site: the largest difference of coordinates along an axis (chessboard), or
/// the sum of the differences (city block). Along a periodic axis a difference is the shorter way round; along a closed
/// one the first cell beyond either end is a site.
///
///   on     host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   image  1 to 8 axes of any sizes, any element type, any strides; not changed. NaN is not zero
///   out    shape of image, any strides, no overlap with it: int32 or uint32, or uint8 or uint16, in which distances
///          that do not fit become the type's maximum. A cell without a site gets the maximum
///
/// Distances are exact integers, the same on host and device for any number of threads. chamfer_transform with weights
/// {1} gives the same city-block distance, and with {1, 1, ...} the same chessboard distance; it names sites too.
///
/// Time O(cells) for up to three axes: on the host a pass over bits for each of up to 16 steps if all cells are near
/// sites, else two SIMD sweeps along every axis. On a device volumes of up to 64^3 cells and images of up to 512^2 take
/// one kernel, and grids of up to 2048 cells along each axis a kernel for each axis: images of up to 2^22 cells and
/// volumes of up to 2^21. In others, if two or three axes without a ring are searched, cells of volumes are compared
/// with the sites near them where sites are few: at most one in 3000 cells, not counted those amid others.
/// Others take a pass over bits for each 8 steps, images for each 15, if one pass suffices, or three (by city blocks
/// five) from 2^22 cells on (images: 2^19). Else the cells of an image are compared with its rows that have sites, if
/// these are at most 16, or its columns are solved in chunks if it has at most 5 * 2^20 cells. Else two sweeps over
/// strips of 32 rows solve the last two axes, and a pass the third one; where these are not tried, one pass along every
/// axis.
///
/// Workspace on the host: 2 bytes a cell while distances are below 65534, else 4; for passes over bits up to 17 words
/// of 64 bits for 64 cells and for the rest of each row, at most 8 bytes a cell; by chessboards of four axes and more
/// twice a slab across the first, or for each thread where these do not share one. On a device: a bit a cell and 8
/// bytes a row, except for rows of at most 1024 cells whose ends do not meet; 2 bytes a cell while distances are below
/// 65535, else 4, if two axes are searched, and twice that if more are; a seventh of those 2 or 4 bytes for periodic
/// axes and for those longer than 256 cells; for passes over bits one or three bits a cell more. Small grids take
/// nothing if one kernel solves them, else 1/4 byte a cell and 8 bytes a row, and 2 bytes a cell for three axes, 4 for
/// more.
/// Sweeps of images take half a byte a cell instead of the 2 bytes, those of volumes 2.5 bytes instead of 4. Lists of
/// few sites lie in the 2 or 4 bytes a cell, which grids of less than 2^18 cells exceed by up to 0.2 MB.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, overlap, options; distances that
/// could reach 2^31 - 1; no memory; no GPU.
///
/// Rosenfeld, Pfaltz, "Distance functions on digital pictures", Pattern Recognition 1(1), 1968.
void chessboard_distance(const host& on, const any_input<host>& image, const any_output<host>& out,
                         const step_options& options = {});
void chessboard_distance(const device& on, const any_input<device>& image, const any_output<device>& out,
                         const step_options& options = {});
void cityblock_distance(const host& on, const any_input<host>& image, const any_output<host>& out,
                        const step_options& options = {});
void cityblock_distance(const device& on, const any_input<device>& image, const any_output<device>& out,
                        const step_options& options = {});

}  // namespace nearfield
