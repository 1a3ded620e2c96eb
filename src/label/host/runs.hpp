// The engine with runs as nodes: one to three axes, open or periodic, every criterion.
#pragma once

#include "label/core.hpp"

namespace nearfield::labelling {

/// Labels an image. Returns false, without a result, if it does not serve `p`.
bool run_by_runs(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out);

}  // namespace nearfield::labelling
