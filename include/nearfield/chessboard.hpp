// Distances in steps between cells, axis by axis: chessboard and city block.
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
    /// Along each axis, which sites count: 1 those at the cell's coordinate or a larger one, -1 at it or a smaller one,
    /// 0 all. With no zeros the sites of one octant. On the host only.
    std::array<std::int8_t, max_rank> side{};
};

/// Distance from every cell to the nearest site: the largest difference of coordinates along an axis (chessboard), or
/// the sum of the differences (city block). Along a periodic axis a difference is the shorter way round; along a closed
/// one the first cell beyond either end is a site.
///
///   on     host: returns when done. device: ordered on the stream, does not wait, may be captured in a graph
///   image  1 to 8 axes of any sizes, any element type, any strides; not changed. NaN is not zero
///   out    shape of image, any strides, apart from it: int32 or uint32; or uint8 or uint16, in which distances that do
///          not fit are the type's maximum. The maximum without a site
///
/// Integers and exact; the same on host and device, whatever the number of threads. The city-block distance is
/// chamfer_transform's with weights {1}, the chessboard distance that with {1, 1, ...}; it names sites too.
///
/// Time O(cells) for up to three axes: on the host two sweeps along every axis, in SIMD; on a device a pass along every
/// axis. Workspace: 2 bytes a cell while distances are below 65534, else 4; on a device for the chessboard metric 4, or
/// 8, more, and those twice with a periodic axis.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, overlap, options; distances that
/// could reach 2^31 - 1; no memory; no GPU.
///
/// Rosenfeld, Pfaltz, "Distance functions on digital pictures", Pattern Recognition 1(1), 1968; Meijster, Roerdink,
/// Hesselink, "A general algorithm for computing distance transforms in linear time", ISMM 2000, for the pass along a
/// line on a device.
void chessboard_distance(const host& on, const any_input<host>& image, const any_output<host>& out,
                         const step_options& options = {});
void chessboard_distance(const device& on, const any_input<device>& image, const any_output<device>& out,
                         const step_options& options = {});
void cityblock_distance(const host& on, const any_input<host>& image, const any_output<host>& out,
                        const step_options& options = {});
void cityblock_distance(const device& on, const any_input<device>& image, const any_output<device>& out,
                        const step_options& options = {});

}  // namespace nearfield
