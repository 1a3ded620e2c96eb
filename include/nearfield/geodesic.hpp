// Geodesic distances: the cheapest path inside a mask from every cell to a seed, in integer prices.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// A step from a cell to another one, and its price.
struct priced_step {
    std::array<std::int8_t, max_rank> by{};  ///< change of each coordinate, in array order, without batch axes
    std::int32_t price = 0;                  ///< positive
    friend bool operator==(const priced_step&, const priced_step&) = default;
};

/// Makes the steps to the neighbours of a cell: a step that changes k coordinates by 1 costs `by_changes[k - 1]`; no
/// step changes more coordinates than the list has prices. {1} is city block, {1, 1} chessboard in 2-D, {3, 4} and {3,
/// 4, 5} Borgefors' chamfer weights. Throws nearfield::error unless rank is 1 to max_rank and prices are positive.
[[nodiscard]] std::vector<priced_step> chamfer_steps(int rank, std::span<const std::int32_t> by_changes);

/// The 16 steps of Borgefors' 5-7-11 weights in 2-D, with the knight's moves.
[[nodiscard]] std::vector<priced_step> knight_steps(std::int32_t axial = 5, std::int32_t diagonal = 7,
                                                    std::int32_t knight = 11);

/// Makes steps along all directions of at most `reach` cells along each axis, 1 to 7, at their Euclidean length: the
/// price is length * per_unit, rounded to an integer, at least 1. reach 1 is the quasi-Euclidean metric.
[[nodiscard]] std::vector<priced_step> euclidean_steps(int rank, int reach, const spacing& cell, double per_unit);

/// Defines the cost of a step in a cost image c.
enum class cost_rule : std::uint8_t {
    entered,  ///< price * c(the cell that the step enters, seen from the seed)
    both,     ///< price * (c(one end) + c(other end)): twice the trapezoidal rule, the same in both directions
};

struct geodesic_options {
    std::span<const priced_step> steps{};  ///< steps and, for each, its opposite at the same price. Empty: city block
    borders border{};                      ///< open or periodic, one per axis
    int batch_axes = 0;                    ///< leading axes that number images, each of which is solved by itself
    /// True: a step may pass between cells outside the mask if the straight line between the centres of its ends only
    /// touches them. False: every cell that the line touches must be in the mask.
    bool cut_corners = true;
    cost_rule rule = cost_rule::entered;
    double max_cost = std::numeric_limits<double>::infinity();  ///< cells that cost more have no path; in prices
    double unit = 1;  ///< floating-point outputs hold cost * unit, rounded once
};

/// The outputs of one call; at least one is required. All have the mask's shape, any strides, and overlap nothing.
template <class Place>
struct geodesic_fields {
    /// int32, uint32, int64, uint64, float32 or float64. Without a path: the type's maximum, infinite in floats. A cost
    /// that an integer type cannot hold counts as no path.
    any_output<Place> cost{};
    /// int64, or int32 if that suffices: C-order linear index of the seed within its image; -1 without a path.
    any_output<Place> index{};
    /// int32, shape (axes that are not batch axes, ...mask shape): the seed's coordinates; -1 without a path.
    any_output<Place> coordinates{};
    /// Type of the seeds: the seed's value; 0 without a path.
    any_output<Place> label{};
};

/// Computes the price of the cheapest path inside a mask from a seed to every cell, and that seed.
///
/// Prices are exact integers. Of several seeds at the same price the one with the smallest coordinates wins, the last
/// axis first. Both are minima over all paths, so they do not depend on the number of threads or the order of work. A
/// cell outside the mask has no path; a seed there is ignored. At every other cell the local equation holds: the price
/// is 0 at a seed, else the least sum, over all steps, of a neighbour's price and that of the step.
///
///   on     host: returns when done; device: the work is ordered on its stream, and can be captured in a graph
///   mask   1 to 8 axes, bool or uint8: paths lead through cells that are not zero; any strides, not changed
///   seeds  shape of the mask, bool or any integer type: cells that are not zero are seeds; the value is the label
///   cost   shape of the mask, integers of up to 32 bits: c of `options.rule`. Cells that are not positive are outside
///          the mask. Left out: a step costs its price
///
/// Time O(cells * steps) if prices lie within a factor of 64; a few times more if costs range wider. Paths that cost
/// 2^31 or more take a second, wider run. Workspace, bytes a cell: 5, with seeds 9, with costs 4 more; the wider run 9
/// or 17. On a device 8 (4 for integer prices without seeds and costs whose paths stay below 2^31), with costs 4 more,
/// and 8 more if a cost and the number of a seed may not fit 63 bits; 1/4 more for images if steps along axes have one
/// price and only costs are wanted; images are rounded up to tiles of 4096 cells.
/// From 2^20 to 2^27 cells it takes 72 more for mazes and winding corridors, if that is at most 1/8 of its memory.
///
/// Throws nearfield::error before any work is started: wrong shapes, types, overlap, steps, or a closed border. Throws
/// before any output is written if a price times a cost reaches 2^31; on a device, where the call does not wait for the
/// values, such a step does not exist.
///
/// Dial, "Algorithm 360: shortest-path forest with topological ordering", CACM 12(11), 1969; Dinitz, "Economical
/// algorithms for finding shortest paths in a network", 1978; Borgefors, "Distance transformations in digital images",
/// CVGIP 34(3), 1986; Lantuejoul, Beucher, "On the use of the geodesic metric in image analysis", J. Microscopy 121(1),
/// 1981.
void geodesic(const host& on, const any_input<host>& mask, const any_input<host>& seeds,
              const geodesic_fields<host>& out, const geodesic_options& options = {}, const any_input<host>& cost = {});
void geodesic(const device& on, const any_input<device>& mask, const any_input<device>& seeds,
              const geodesic_fields<device>& out, const geodesic_options& options = {},
              const any_input<device>& cost = {});

}  // namespace nearfield
