// Preparation of calls for the host's engines: fields of two classes become plain ones, and grids whose last axis is
// short get a long one last.
#pragma once

#include <vector>

#include "exact/plan.hpp"

namespace nearfield::exact {

/// Returns the calls that an engine solves one after the other: one or, for a signed field of zero and not zero, the
/// plain field of its positive side, which writes every cell, and then that of its negative side, which writes its own
/// cells only.
std::vector<plan> sides_of(const plan& p, int threads);

/// Replaces `classes::values` in `p` by zero and not zero if the image holds at most zero and one other value. Stops
/// reading the image at a third value.
void recognise_mask(const host& on, const any_input<host>& image, plan& p);

}  // namespace nearfield::exact
