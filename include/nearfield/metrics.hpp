// Comparison of two segmentations: distances between the surfaces of their labels, and overlaps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Definition of the surface of a mask. Everything beyond the ends of an image is outside of every mask.
enum class surface : std::uint8_t {
    /// The cells of the mask with a face neighbour (2-D: edge neighbour) outside of it; each counts 1.
    cells,
    /// The corners of the grid that have both cells inside and cells outside of the mask among their 2x2x2 cells (2-D:
    /// 2x2). Each counts with the area (2-D: length) of the polygons that separate these cells, see docs/metrics.md.
    elements
};

struct surface_options {
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    nearfield::surface surface = nearfield::surface::cells;
    std::vector<double> percentiles{95};  ///< percentiles in percent, 0 to 100; at most 16
    std::vector<double> tolerances{1};    ///< tolerances in units of `spacing`, at least 0; at most 16
    int batch_axes = 0;                   ///< leading axes that number images, each measured by itself
};

/// Measures of one label of one image. [0] is a's mask, and distances from a's surface to b's; [1] the converse.
///
/// If b has no cells, distances from a to b are infinite, the others NaN; measures of both sides together are infinite;
/// overlaps and Dice are 0, NaN for the empty side. If neither has cells, all but counts and areas is NaN.
struct surface_distances {
    std::int64_t image = 0;  ///< number of the image of the batch, in C order
    std::int64_t label = 0;
    std::int64_t cells[2] = {0, 0};       ///< cells of the mask
    double area[2] = {0, 0};              ///< area of its surface; for surface::cells the number of surface cells
    double farthest[2] = {0, 0};          ///< largest distance from a point of this surface to the other surface
    double average[2] = {0, 0};           ///< mean distance, weighted by area
    double hausdorff = 0;                 ///< the larger one of `farthest`
    double symmetric_average = 0;         ///< mean over the points of both surfaces, weighted by area
    double dice = 0;                      ///< 2 |A and B| / (|A| + |B|), of the cells
    std::vector<double> percentile;       ///< for each requested percentile: the larger one of the two sides'
    std::vector<double> surface_dice;     ///< for each tolerance: share of both surfaces that is within it of the other
    std::vector<double> overlap[2] = {};  ///< for each tolerance: share of this surface
};

/// Compares two label images, label by label. Returns a row for each image of the batch and each label, in that order.
///
///   on      host: returns when done. device: waits, because the result is a host value
///   a, b    same shape, 1 to 3 axes besides those of batches; bool or any integer type each, any strides; not changed
///   labels  values to compare, each once; empty: the values other than 0 that occur in either, which must lie
///           between 1 and 65535
///
/// Distances from a point of one surface to the nearest point of the other are those of distance_transform: exact, and
/// so are `farthest` and `hausdorff`, the roots of exact squares. Sums are of doubles and exact up to their last
/// rounding: equal bits on host and device, for any number of threads, and for a batch those of a loop.
///
/// Percentile p of n cells is NumPy's "linear": interpolated between the distances of ranks floor and ceil of p (n - 1)
/// / 100. For elements it is NumPy's "inverted_cdf" with weights: the least distance within which p percent of the area
/// lie. For this purpose areas are rounded to 62 - log2(corners of the image) bits.
///
/// Time O(cells of the image + of the boxes round each label's two masks). Workspace: 2 bytes a cell, 8 for more than
/// 255 labels, 0 for up to 16 images of dense bytes; 9 a point of surfaces; 2 a cell of the boxes, on a device 1/4 and
/// up to 16 a row; 4 to 9 more and distance_transform's for boxes with far points, 2^26 (2^28) cells of them at a time.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, labels, options; no memory; no GPU.
///
/// Nikolov et al., "Clinically applicable segmentation of head and neck anatomy for radiotherapy", J. Med. Internet
/// Res. 23(7), 2021, for elements and surface Dice.
[[nodiscard]] std::vector<surface_distances> compare_surfaces(const host& on, const any_input<host>& a,
                                                              const any_input<host>& b,
                                                              std::span<const std::int64_t> labels = {},
                                                              const surface_options& options = {});
[[nodiscard]] std::vector<surface_distances> compare_surfaces(const device& on, const any_input<device>& a,
                                                              const any_input<device>& b,
                                                              std::span<const std::int64_t> labels = {},
                                                              const surface_options& options = {});

}  // namespace nearfield
