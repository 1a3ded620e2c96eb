// Distances counted in steps from cell to neighbouring cell: chessboard, city block and weighted (chamfer) metrics.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "nearfield/distance.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Makes the list of prices of the steps from a cell to the 3^rank cells round it. A step that changes k coordinates
/// costs `by_changes[k - 1]`; no step changes more coordinates than the list has values. The result is in C order over
/// (-1, 0, 1) along every axis; its middle is 0.
///
///   {1}                   city block: steps along the axes
///   {1, 1, ...}           chessboard: one value per axis
///   {3, 4}, {3, 4, 5}     within 6 % (2-D) and 12 % (3-D) of three times the Euclidean distance
///
/// Throws nearfield::error when rank is not 1..max_rank or there are more values than axes.
[[nodiscard]] std::vector<std::int32_t> step_weights(int rank, std::initializer_list<std::int32_t> by_changes);

/// Selects one of several equally near sites.
enum class tie_rule : std::uint8_t {
    last_axis_first,  ///< smallest coordinate along the last axis, then the axis before it, as distance_transform
    /// The site that a forward pass over the cells, then a backward one, finds first. A cell looks at the steps to
    /// visited cells, from the farthest back to the nearest. This is the rule of SciPy's distance_transform_cdt.
    first_found,
};

struct chamfer_options {
    /// Price of the step to each of the 3^rank cells round a cell, in C order: entry (o + 1) is for offset o along an
    /// axis. A price is positive; 0 means that there is no such step. The middle is ignored. Steps need not be
    /// symmetric: a path leads from the cell to the site. Empty: 1 everywhere, the chessboard metric. The caller owns
    /// the memory, which is read during the call.
    std::span<const std::int32_t> weights{};
    nearfield::sites sites = nearfield::sites::zero;  ///< `zero` or `nonzero`
    tie_rule ties = tie_rule::last_axis_first;
};

/// The outputs of one call; at least one is required. All have the image's shape, any strides, and overlap nothing.
template <class Place>
struct chamfer_fields {
    /// int32 or uint32: price of the cheapest path; the type's maximum if no path leads to a site.
    any_output<Place> distance{};
    /// int64, or int32 if that suffices: C-order linear index of the nearest site; -1 without one.
    any_output<Place> index{};
    /// int32, shape (rank, ...image shape): coordinates of the nearest site; -1 without one.
    any_output<Place> coordinates{};
};

/// Finds for every cell the cheapest path of steps to a site inside the grid: its price, that site, or both.
///
/// Exact for any weights; ties are broken as `options.ties` says. The answer does not depend on the number of threads.
///
///   on       returns when the work is done; on.progress is called and can stop the work
///   image    1 to 8 axes of any sizes, any element type, any strides; not changed. NaN is not zero
///   out      receives the results
///   options  weights, which cells are sites, ties
///
/// Time O(cells * steps): two raster passes if every step can be shortened by one axis without becoming dearer, as in
/// all of the metrics above; otherwise the call repeats passes until nothing changes. Workspace: none for distances
/// alone in a contiguous output, otherwise 4 bytes a cell, 8 with sites. With several threads the call takes 8 bytes
/// more for each row, or for each 1024 cells of a long row.
///
/// Throws nearfield::error before any work is started: wrong rank, shapes, types, overlap, weights; distances that
/// could exceed 2^31 - 1 less the largest weight; nearest sites among 2^32 cells or more; no memory.
///
/// Rosenfeld, Pfaltz, "Distance functions on digital pictures", Pattern Recognition 1(1), 1968; Borgefors, "Distance
/// transformations in digital images", CVGIP 34(3), 1986.
void chamfer_transform(const host& on, const any_input<host>& image, const chamfer_fields<host>& out,
                       const chamfer_options& options = {});

}  // namespace nearfield
