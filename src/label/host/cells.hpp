// The engine for calls that runs.hpp does not serve: more than three axes, the caller's own steps, very short rows, or
// 2^32 runs and more.
#pragma once

#include "label/core.hpp"

namespace nearfield::labelling {

void run_by_cells(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out);

}  // namespace nearfield::labelling
