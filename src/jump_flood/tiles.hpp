// Rounds of jump flooding on a device in 32 bits, which serve most grids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/cuda.cuh"
#include "methods/core.hpp"

namespace nearfield::methods {

namespace tiles {

/// The arrays of a cell's first and second site.
template <class Key>
struct both {
    Key* first = nullptr;
    Key* second = nullptr;
};

/// Tiles that a round with one number a cell leaves unresolved, in no order. The caller sets `count` to 0 before.
struct open_tiles {
    std::uint32_t* count = nullptr;
    std::int64_t* tile = nullptr;           ///< block << 7 | thread
    const std::uint32_t* before = nullptr;  ///< `count` of the round before
    std::uint32_t few = 0;                  ///< if `before` is larger, this round does not try one number
    std::uint32_t many = 0;                 ///< counting may stop above this: the next round's `few`
    std::int64_t parts = 0;                 ///< settling_parts()
};

/// Bounds on the places of sites, known before a round.
struct travelled {
    std::int64_t unit;   ///< divides every offset between a cell and a site that it has received
    std::int64_t heard;  ///< largest distance of a site along an axis after the round, in cells
};

/// Stretches of walks that a round by offsets leaves unresolved, in no order, each by the number of its first cell. The
/// caller sets `count` to 0 before.
struct open_stretches {
    std::uint32_t* count = nullptr;
    std::uint32_t* first = nullptr;
};

/// Number of a call's rounds, from the first one on, that hold sites as offsets.
std::int64_t rounds_by_offsets(const grid& g, const std::vector<std::int64_t>& steps);
/// Largest number of stretches that such a round may leave unresolved. `after_classes`: number of rounds by offsets
/// since those by classes, at most 2.
std::int64_t most_open_stretches(const grid& g, std::int64_t step, std::int64_t after_classes);
/// Runs such a round. `nothing`: a row of cells without a site. True if stretches may be left unresolved.
bool run_by_offsets(const device& on, const grid& g, std::int64_t step, bool first, std::int64_t after_classes,
                    const std::int32_t* from, std::int32_t* to, const std::int32_t* nothing,
                    const open_stretches& left);

/// Versions of these functions for two sites a cell; the first round reads first sites only.
std::int64_t most_open_pair_stretches(const grid& g, std::int64_t step);
bool run_pairs_by_offsets(const device& on, const grid& g, std::int64_t step, bool first,
                          const both<const std::int32_t>& from, const both<std::int32_t>& to,
                          const open_stretches& left);

/// Largest volume, in cells, whose rounds are limited by kernel launches.
inline constexpr std::int64_t small_volume = 160 * 160 * 160;

/// Number of a call's rounds, from the first one on, that one kernel runs by classes, before rounds by offsets.
std::int64_t rounds_by_classes(const grid& g, const std::vector<std::int64_t>& steps);
/// Memory that run_by_classes sets for later rounds, which saves two launches: zero counts, a row without sites.
struct to_prepare {
    std::uint32_t* counts = nullptr;
    std::int32_t count = 0;
    std::int32_t* nothing = nullptr;
};
/// Runs the rounds by classes: reads cells with their own site or none, writes words for the next round by offsets.
void run_by_classes(const device& on, const grid& g, std::int64_t first_step, const std::int32_t* from,
                    std::int32_t* to, const to_prepare& also);

}  // namespace tiles

namespace several {

/// Number of a call's rounds, for one site a cell, that two kernels run from the first one on: all of the first series,
/// or 0.
std::int64_t rounds_at_once(const grid& g, const std::vector<std::int64_t>& steps);
/// Runs these rounds. `now` holds each cell's own site or none, and receives the result.
void run(const device& on, const grid& g, std::int64_t rounds, std::int32_t* now, std::int32_t* spare);

}  // namespace several

/// The sites of a cell: one, two, or one that after the first round may be any site of the grid.
enum class sites_held : std::uint8_t { one, two, drawn };

/// Runs all rounds of a call on a grid that is solved in 32 bits with 32-bit keys. If sites may be far from cells it
/// holds 8 bytes for each tile (at most 4 bytes a cell, mostly a thirtieth), in volumes also 4 bytes for each stretch
/// (mostly a sixteenth of a byte a cell) and one row of sites.
class tiled_rounds {
public:
    /// `fresh`: cells hold only their own sites.
    tiled_rounds(const device& on, const grid& g, const std::vector<std::int64_t>& steps, sites_held held, bool fresh);
    /// Runs the next round, or several, from one array of sites to the other; returns how many it ran.
    std::int64_t run(std::int64_t step, const std::int32_t* from, std::int32_t* to);
    /// True if the first round takes cells as having no second site, whatever the second array holds.
    [[nodiscard]] bool asks_first_sites_alone() const { return by_offsets_ > 0; }
    /// Runs the next round with two sites a cell.
    void run(std::int64_t step, const tiles::both<const std::int32_t>& from, const tiles::both<std::int32_t>& to);

private:
    /// Number of rounds by offsets between those by classes and this one; 2 if there are two or more, or no
    /// classes.
    [[nodiscard]] std::int64_t after_classes(std::int64_t round) const {
        return by_classes_ > 0 ? std::min<std::int64_t>(round - by_classes_, 2) : 2;
    }

    const device& on_;
    const grid& g_;
    cuda::workspace memory_;
    tiles::open_tiles left_;
    tiles::open_stretches stretches_;
    std::int32_t* nothing_ = nullptr;
    std::int64_t by_offsets_ = 0, by_classes_ = 0, round_ = 0, counts_ = 0;
    /// Updates the bounds for a round of this step and returns them.
    tiles::travelled travel(std::int64_t step) {
        so_far_.unit = std::min(so_far_.unit, step), so_far_.heard = std::min(so_far_.heard + step, anywhere);
        const tiles::travelled now = so_far_;
        if (held_ == sites_held::drawn) so_far_ = {1, anywhere};
        return now;
    }
    static constexpr std::int64_t anywhere = std::int64_t{1} << 31;
    const sites_held held_;
    tiles::travelled so_far_;
};

}  // namespace nearfield::methods
