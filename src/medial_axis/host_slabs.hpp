// The medial axis of a mask, found while the host's engine of planes finds the sites, without a field of them.
#pragma once

#include <atomic>

#include "exact/room.hpp"
#include "medial_axis/problem.hpp"

namespace nearfield::medial_axes {

/// True if the axis of such a call can be found this way: a mask in unit spacing with open ends, without pruning, of
/// which no sites are wanted.
bool suits_slabs(const problem& p, const medial_axis_fields<host>& out);

/// Fills `out`. Returns false if the engine does not serve the call, or if a site is too far for 16 bits; then the axis
/// is not complete.
bool mark_slabs(const host& on, const problem& p, const any_input<host>& image, const medial_axis_fields<host>& out);

/// Largest squared distance in a grid in which no site is too far.
inline constexpr double longest2_of_slabs = double{exact::most_way} * exact::most_way;

/// Calls that mark_slabs() served; tests read it.
inline std::atomic<std::int64_t> slabs_taken{0};

}  // namespace nearfield::medial_axes
