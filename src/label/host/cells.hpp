// The engine for what rows do not serve: more than three axes, steps of the caller's, rows of a few cells, 2^32 runs
// and more.
#pragma once

#include "label/core.hpp"

namespace nearfield::labelling {

void run_by_cells(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out);

}  // namespace nearfield::labelling
