// What the host's engines are given: fields of two classes as plain ones, and grids whose last axis is short with a
// long one last.
#pragma once

#include <vector>

#include "exact/plan.hpp"

namespace nearfield::exact {

/// The calls that an engine solves one after the other: one, or, for a signed field of zero and not zero, the plain
/// field of its positive side, which writes every cell, then that of its negative side, which writes its own cells
/// alone.
std::vector<plan> sides_of(const plan& p, int threads);

/// Replaces `classes::values` in `p` by zero and not zero if the image holds no more than zero and one other value.
/// Reads the image up to a third value.
void recognise_mask(const host& on, const any_input<host>& image, plan& p);

}  // namespace nearfield::exact
