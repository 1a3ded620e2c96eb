// Rounds of jump flooding on a device, for the grids that most calls are about.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/cuda.cuh"
#include "methods/core.hpp"

namespace nearfield::methods {

namespace tiles {

/// A cell's two sites lie in two arrays.
template <class Key>
struct both {
    Key* first = nullptr;
    Key* second = nullptr;
};

/// Tiles that a round by one number a cell left open, in no order; `count` is 0 before.
struct open_tiles {
    std::uint32_t* count = nullptr;
    std::int64_t* tile = nullptr;           ///< block << 7 | thread
    const std::uint32_t* before = nullptr;  ///< `count` of the round before
    std::uint32_t few = 0;                  ///< where it left more, this round does not try one number
    std::uint32_t many = 0;                 ///< more than the next round calls few
    std::int64_t parts = 0;                 ///< settling_parts()
};

/// What is known before a round of where sites may be.
struct travelled {
    std::int64_t unit;   ///< divides the offsets of cells from the sites that they have heard of
    std::int64_t heard;  ///< the most cells that a site may lie away along an axis after the round
};

/// Stretches of walks that a round by offsets left open, in no order, by the number of their first cell; `count` is 0
/// before.
struct open_stretches {
    std::uint32_t* count = nullptr;
    std::uint32_t* first = nullptr;
};

/// How many rounds of a call go by offsets, from the first one on.
std::int64_t rounds_by_offsets(const grid& g, const std::vector<std::int64_t>& steps);
/// The most stretches that one of them may leave open. `after_classes`: so many others were there since those by
/// classes, or more than one.
std::int64_t most_open_stretches(const grid& g, std::int64_t step, std::int64_t after_classes);
/// One of them. `nothing`: a row of cells without a site. True where stretches may have been left open.
bool run_by_offsets(const device& on, const grid& g, std::int64_t step, bool first, std::int64_t after_classes,
                    const std::int32_t* from, std::int32_t* to, const std::int32_t* nothing,
                    const open_stretches& left);

/// The same with two sites a cell; the first round looks at first sites alone.
std::int64_t most_open_pair_stretches(const grid& g, std::int64_t step);
bool run_pairs_by_offsets(const device& on, const grid& g, std::int64_t step, bool first,
                          const both<const std::int32_t>& from, const both<std::int32_t>& to,
                          const open_stretches& left);

/// Cells of volumes whose rounds wait for their kernels' launches.
inline constexpr std::int64_t small_volume = 160 * 160 * 160;

/// How many rounds of a call go in one kernel by classes, from the first one on, before others go by offsets.
std::int64_t rounds_by_classes(const grid& g, const std::vector<std::int64_t>& steps);
/// What they prepare for later rounds, which saves two launches: counts of 0, and a row of cells without a site.
struct to_prepare {
    std::uint32_t* counts = nullptr;
    std::int32_t count = 0;
    std::int32_t* nothing = nullptr;
};
/// They: cells hold themselves or nothing, then words that the next round by offsets reads.
void run_by_classes(const device& on, const grid& g, std::int64_t first_step, const std::int32_t* from,
                    std::int32_t* to, const to_prepare& also);

}  // namespace tiles

namespace several {

/// How many rounds of a call of one site a cell go in two kernels, from the first one on: all of the first series, or
/// none.
std::int64_t rounds_at_once(const grid& g, const std::vector<std::int64_t>& steps);
/// They. `now` holds cells that are sites and none, then the answer.
void run(const device& on, const grid& g, std::int64_t rounds, std::int32_t* now, std::int32_t* spare);

}  // namespace several

/// What cells hold: one site, two, or one that after the first round may be any of all.
enum class sites_held : std::uint8_t { one, two, drawn };

/// All rounds of a call, on a grid that is solved in 32 bits with keys of 32 bits. Where sites may be far from cells it
/// takes, while it lives, 8 bytes for each tile, which are 4 bytes a cell at most and a thirtieth mostly, and in
/// volumes 4 for each stretch of a tile's walk, a sixteenth of a byte a cell mostly; and a row of sites in volumes.
class tiled_rounds {
public:
    /// `fresh`: cells hold no site but their own yet.
    tiled_rounds(const device& on, const grid& g, const std::vector<std::int64_t>& steps, sites_held held, bool fresh);
    /// The next one, or several, from one array of sites to the other: how many.
    std::int64_t run(std::int64_t step, const std::int32_t* from, std::int32_t* to);
    /// Whether the first round takes cells for ones without a second site, whatever their array holds.
    [[nodiscard]] bool asks_first_sites_alone() const { return by_offsets_ > 0; }
    /// The next one with two sites a cell.
    void run(std::int64_t step, const tiles::both<const std::int32_t>& from, const tiles::both<std::int32_t>& to);

private:
    /// How many rounds by offsets there are between those by classes and this one; 2 where there are more, or no
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
    /// Notes a round of this step.
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
