// The room's functions, one for each place.
#pragma once

#include "link_propagation/core.hpp"

namespace nearfield::link_propagation {

/// Propagates labels. `p` is checked and has at least one cell.
propagation_report run(const host& on, const problem& p, const any_input<host>& image, const any_output<host>& out);
propagation_report run(const device& on, const problem& p, const any_input<device>& image,
                       const any_output<device>& out);

/// Throws that labels are unfinished after so many rounds, because of most_rounds if `limited`, else of the switches.
[[noreturn]] void fail_unfinished(std::int64_t rounds, bool limited);
/// Throws if a type cannot number so many components.
void check_number(dtype out, std::int64_t components);

}  // namespace nearfield::link_propagation
