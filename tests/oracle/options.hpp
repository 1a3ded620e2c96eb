// Slow, independent results for every option of the exact fields, and for power diagrams: each cell against each
// candidate. Shares no line with src/ and includes none of the library's headers: it follows the documentation
// literally.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace oracle {

enum class rule : std::uint8_t { zero, nonzero, other_labels };
enum class side : std::uint8_t { none, inside_negative, outside_negative };
enum class edge : std::uint8_t { open, closed, periodic };

struct option_problem {
    std::vector<std::int64_t> shape;   ///< batch axes first
    std::vector<double> spacing;       ///< one per axis; ignored for batch axes
    std::vector<std::uint64_t> value;  ///< C order; the elements' bits, zero-extended
    std::vector<std::uint8_t> zero;    ///< 1 if the element is zero, of either sign
    rule sites = rule::zero;
    side sign = side::none;
    bool half_cell = false;
    std::vector<edge> border;  ///< one per axis; ignored for batch axes
    double max_distance = std::numeric_limits<double>::infinity();
    int batch_axes = 0;
    std::vector<double>
        power;  ///< weights of a power diagram, one per cell: requires `sites` nonzero, no sign, border not closed
    bool whole_power = false;        ///< true if the weights have an integer type
    std::vector<std::uint8_t> part;  ///< 0 for a cell that is no site and has no result; empty: all cells take part

    [[nodiscard]] bool inside(std::size_t cell) const;
    /// True if `site` is a cell whose distance from `cell` counts; both belong to the same image.
    [[nodiscard]] bool candidate(std::size_t cell, std::size_t site) const;
};

struct option_answer {
    /// True if squared distances are integers, in `units` of 1, or of a quarter with half_cell.
    bool whole = false;
    std::vector<std::int64_t> units;      ///< undefined if `found` is 0
    std::vector<double> squared;          ///< or power; without sign; +inf if `found` is 0
    std::vector<std::uint8_t> found;      ///< 1 if a site or a closed border is within max_distance
    std::vector<std::uint8_t> negative;   ///< the sign of squared and distance
    std::vector<std::int64_t> source;     ///< the site as a cell of the whole array; -1 for none or the border
    std::vector<std::int64_t> index;      ///< the site as a cell of its image
    std::vector<std::uint8_t> ambiguous;  ///< 1 if rounding gives another sum of terms the same value
    std::vector<std::uint8_t> trusted;
};

/// Bounds from the grid, spacing, borders and half cells: no squared distance exceeds `largest`, and some image has one
/// of `reached`. Both ignore max_distance and have units of 1.
struct option_bound {
    long double largest = 0, reached = 0;
};
option_bound bound_of(const option_problem& p);

/// Solves a problem: every cell against every cell of its image.
option_answer solve(const option_problem& p);

/// Solves some cells, for grids of one image too large for solve(): entry k of the result is that of cells[k], and
/// `sites` are its candidates. `trusted` stays empty.
option_answer solve_some(const option_problem& p, const std::vector<std::int64_t>& cells,
                         const std::vector<std::int64_t>& sites);

/// The value between two cells of one image, rounded as the contract says.
double value_between(const option_problem& p, std::int64_t cell, std::int64_t site);

}  // namespace oracle
