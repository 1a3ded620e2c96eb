// Pore networks: the pores of a porous material, the throats between them, and their sizes.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct pore_options {
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    /// Content beyond the ends of each axis: open, unknown further pores; closed, solid; periodic, the other end.
    borders border{};
    /// Number of coordinates that a step between neighbours may change, 1 to the number of axes.
    int connectivity = 1;
    /// Height of a peak of the distance, in units of `spacing`; negative: the shortest length of a cell.
    double h = -1;
    /// Adds for each pore with cells at the end of an open axis a pore without volume there, and a throat to it.
    bool boundaries = false;
};

/// A pore: a region. Coordinates are those of cells times the cell lengths; missing axes have 0.
struct pore {
    std::int64_t region = 0;           ///< its label; 0 for a pore on the boundary
    std::int64_t cells = 0;            ///< cells of the region
    std::int64_t side = -1;            ///< side of the sample, of boundary pores: 2 axis, and 1 more at the far end
    std::array<double, 3> centre{};    ///< centre of the largest ball; on the boundary half a cell beyond the last cell
    std::array<double, 3> centroid{};  ///< centroid of the region's cells; on the boundary the centre
    double inscribed_diameter = 0;     ///< diameter of the largest ball round a cell of the region; boundary: throat
    double volume = 0;                 ///< volume of the cells (2-D: area, 1-D: length)
    double equivalent_diameter = 0;    ///< diameter of a ball (2-D: disc) of that volume
};

/// A throat: the contact of two regions.
struct throat {
    std::int64_t a = 0, b = 0;       ///< numbers of the pores, the smaller first
    std::array<double, 3> centre{};  ///< centre of the largest ball that passes
    double inscribed_diameter = 0;   ///< diameter of that ball
    /// Root of the sum of squares, over the axes, of the area (2-D: length) of all shared faces across the axis. A
    /// plane through these faces has this area for any inclination.
    double area = 0;
    double equivalent_diameter = 0;  ///< diameter of a disc of that area
    double total_length = 0;         ///< from the centre of one pore to that of the throat and on to that of the other
    double direct_length = 0;        ///< between the centres of the pores
};

struct pore_network {
    int axes = 1;
    std::vector<pore> pores;      ///< in the order of their labels; then those of the boundary, by side and region
    std::vector<throat> throats;  ///< ordered by the numbers of their pores
};

/// Computes the pore network of given regions, from watershed() or any other partition.
///
/// The centre of a region is the cell with the largest distance, of several the first in raster order. Two regions are
/// joined if a cell p of one and a cell q of the other are neighbours. The largest ball that passes has as its squared
/// radius the largest min(D2(p), D2(q)), and its centre is the cell of such a pair with the smaller D2, the first in
/// raster order. Along periodic axes lengths are the shorter way round.
///
///   regions  1 to 3 axes, any integer type, any strides: labels from 1 up to the number of cells; 0 is solid
///   squared  of the same shape: squared distances to the solid, in squared units of `spacing`; uint32, uint64, float64
///   options  spacing, border, connectivity, boundaries; h is ignored
///
/// Time O(cells). Workspace: about 100 bytes a thread for each region and each pair that touches. Equal bits for any
/// number of threads. Throws nearfield::error before any work, except for labels out of range.
[[nodiscard]] pore_network network_of_regions(const host& on, const any_input<host>& regions,
                                              const any_input<host>& squared, const pore_options& options = {});

/// Computes the pore network of the cells of `mask` that are not zero (NaN is not zero). Its regions are those of the
/// inverted watershed of the distance to the solid, from its peaks of height h.
///
///   mask     1 to 3 axes, any element type, any strides; not changed
///   regions  shape of mask, int32: label of the pore of each cell, numbered by their peaks. Left out: not wanted
///
/// Time and workspace: those of distance_transform, watershed and network_of_regions, and 4 to 12 bytes a cell. Throws
/// nearfield::error before any work.
///
/// Gostick, "Versatile and efficient pore network extraction method using marker-based watershed segmentation",
/// Physical Review E 96, 2017, for peaks, regions and throats; heights and contacts are exact here.
[[nodiscard]] pore_network network_of_pores(const host& on, const any_input<host>& mask,
                                            const pore_options& options = {}, const any_output<host>& regions = {});

/// Makes the table that OpenPNM reads: pores and throats side by side, with its names, three coordinates each.
[[nodiscard]] std::string csv_of(const pore_network& network);

}  // namespace nearfield
