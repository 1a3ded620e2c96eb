// The room's entry on the host.
#pragma once

#include "label/core.hpp"

namespace nearfield::labelling {

/// `p` and `out` are checked, except for what make_tables will return. The image may have no cells.
void run(const host& on, const problem& p, const any_input<host>& image, const label_fields<host>& out);

}  // namespace nearfield::labelling
