// The room's entry on a device.
#pragma once

#include "label/core.hpp"

namespace nearfield::labelling {

/// `p` and `out` are checked, except for what make_tables will return: check_tables() looks at that. The image may have
/// no cells; every count is then 0.
void run(const device& on, const problem& p, const any_input<device>& image, const label_fields<device>& out);

}  // namespace nearfield::labelling
