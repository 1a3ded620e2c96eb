// The entry of connected components on the host.
#pragma once

#include "label/core.hpp"

namespace nearfield::labelling {

/// Labels an image. `p` and `out` are checked, except for the result of make_tables. The image may have no cells.
void run(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out);

}  // namespace nearfield::labelling
