// The host backend of the exact engine.
#pragma once

#include "exact/plan.hpp"

namespace nearfield::exact {

/// Solves a checked problem that has cells.
void run(const host& on, const plan& p, const any_input<host>& image, const fields<host>& out, sites rule);

}  // namespace nearfield::exact
