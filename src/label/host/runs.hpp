// The engine with runs as nodes: one to three axes, open or periodic, every criterion.
#pragma once

#include "label/core.hpp"

namespace nearfield::labelling {

/// False where it does not serve `p`; the answer is then yet to be found.
bool run_by_runs(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out);

}  // namespace nearfield::labelling
