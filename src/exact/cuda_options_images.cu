// The parts of option_tiles that are for images alone: bits before the tiles, posts behind them.
#include <algorithm>
#include <limits>

#include "base/lines.hpp"
#include "exact/cuda_options_far.hpp"
#include "exact/cuda_options_tiles.hpp"

namespace nearfield::exact {
namespace {

// Cells from which on bits come first: in vain they take 5 us, of 4096^2 with signs 5 % (H200, 2026-11-23).
constexpr std::int64_t least_near = std::int64_t{1} << 25;

}  // namespace

/// Distances of images of unit spacing with open borders, for which there are shorter ways (cuda_options_near.cuh,
/// ..._thin.cuh, ..._far.hpp).
bool option_tiles::is_simple() const {
    const auto open = [&](int i) { return axes_[i].weight == 1 && !axes_[i].periodic && !axes_[i].closed; };
    const bool alone = put_fields_ && call_.out.distance.wanted() && call_.list[0].trusted.data == nullptr;
    return p_.rank - p_.first_axis == 2 && alone && !p_.half_cell && open(p_.first_axis) && open(p_.rank - 1);
}

bool option_tiles::may_be_near() const {
    return is_simple() && p_.by != classes::none && !(p_.background && p_.is_signed()) && p_.cells >= least_near;
}

near_tiles option_tiles::tiles_by_bits() const {
    const std::int64_t rows = size(p_.first_axis);
    return {nullptr, p_.cells / size(p_.rank - 1) / rows, blocks_for(words_of_line_, near_tiles::words),
            blocks_for(rows, near_tiles::rows)};
}

/// Of classes alone: what has sites only, closed borders for one, is searched by the engine.
bool option_tiles::posts_could_follow() const {
    return is_simple() && p_.by != classes::none && !(p_.background && p_.is_signed()) && factor_ == 1 &&
           p_.closed_beside == std::numeric_limits<double>::infinity() && p_.largest < far_largest &&
           std::max(size(p_.first_axis), size(p_.rank - 1)) < most_far;
}

/// In `memory`, whose first bytes are the flag.
far_call option_tiles::far_images(std::byte* memory) const {
    const auto at = [&](std::int64_t offset) { return reinterpret_cast<std::uint32_t*>(memory + offset); };
    const item& to = call_.list[0];
    far_call c;
    c.images = p_.cells / size(p_.first_axis) / size(p_.rank - 1);
    c.rows = size(p_.first_axis), c.length = size(p_.rank - 1);
    c.distance = reinterpret_cast<float*>(to.distance.data);
    c.unit2 = p_.unit2;
    c.limit = static_cast<std::int32_t>(std::min<std::int64_t>(limit_, far_largest - 1));
    if (memory == nullptr) return c;
    c.classes = at(bits_);
    if (p_.by == classes::values) c.along = at(changes_[p_.first_axis]);
    if (p_.background) c.sites = at(zeros_);
    if (p_.is_signed()) {
        c.zeros = at(zeros_);
        c.zeros_are_minus = (p_.inside_is_nonzero ? p_.outside_sign : p_.inside_sign) < 0;
    }
    c.open = reinterpret_cast<const std::int32_t*>(memory + far_);
    c.place(memory + far_ + 256);
    return c;
}

}  // namespace nearfield::exact
