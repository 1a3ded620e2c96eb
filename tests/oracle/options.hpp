// Slow, independent answers for every option of the exact fields, and for power diagrams: each cell against each
// candidate. Shares no line with src/ and includes none of the library's headers: what it says is the documentation,
// read literally.
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
    std::vector<double> spacing;       ///< one per axis; those of batch axes mean nothing
    std::vector<std::uint64_t> value;  ///< C order; the elements' bits, widened with zeros
    std::vector<std::uint8_t> zero;    ///< 1 where the element is zero, of either sign
    rule sites = rule::zero;
    side sign = side::none;
    bool half_cell = false;
    std::vector<edge> border;  ///< one per axis; those of batch axes mean nothing
    double max_distance = std::numeric_limits<double>::infinity();
    int batch_axes = 0;
    std::vector<double>
        power;  ///< a weight per cell makes it a power diagram: `sites` nonzero, no sign, border not closed
    bool whole_power = false;        ///< the weights have an integer type
    std::vector<std::uint8_t> part;  ///< 0 for a cell that is no site and has no answer; empty: all take part

    [[nodiscard]] bool inside(std::size_t cell) const;
    /// Whether `site` is one of the cells whose distance from `cell` counts; both of the same image.
    [[nodiscard]] bool candidate(std::size_t cell, std::size_t site) const;
};

struct option_answer {
    /// Squared distances are integers: `units` of 1, or of a quarter with half_cell.
    bool whole = false;
    std::vector<std::int64_t> units;      ///< meaningless where `found` is 0
    std::vector<double> squared;          ///< or power; never negative for the sign; +inf where `found` is 0
    std::vector<std::uint8_t> found;      ///< 1 where a site or a closed border is within max_distance
    std::vector<std::uint8_t> negative;   ///< the sign of squared and distance
    std::vector<std::int64_t> source;     ///< the site as a cell of the whole array; -1 for none or the border
    std::vector<std::int64_t> index;      ///< the same within its image
    std::vector<std::uint8_t> ambiguous;  ///< other sums of terms have, after rounding, the same value
    std::vector<std::uint8_t> trusted;
};

/// What the grid, spacing, borders and half cells allow at most: no squared distance can exceed `largest`, and there is
/// an image in which one reaches `reached`. Neither looks at max_distance. Units of 1.
struct option_bound {
    long double largest = 0, reached = 0;
};
option_bound bound_of(const option_problem& p);

/// Every cell against every cell of its image.
option_answer solve(const option_problem& p);

/// Some cells of some lines, for grids of one image too large for that: entry k of the answer is that of cells[k], its
/// candidates are `sites`. `trusted` is left empty.
option_answer solve_some(const option_problem& p, const std::vector<std::int64_t>& cells,
                         const std::vector<std::int64_t>& sites);

/// The value between two cells of one image, as the contract rounds it.
double value_between(const option_problem& p, std::int64_t cell, std::int64_t site);

}  // namespace oracle
