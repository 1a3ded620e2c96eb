// The entry of connected components on a device.
#pragma once

#include "label/core.hpp"

namespace nearfield::labelling {

/// Labels an image. `p` and `out` are checked, except for the result of make_tables, which check_tables() checks. The
/// image may have no cells; every count is then 0.
void run(const device& on, const problem& p, const any_input<device>& image, const label_fields<device>& out);

}  // namespace nearfield::labelling
