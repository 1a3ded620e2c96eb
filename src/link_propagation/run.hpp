// The room's entries, one for each place.
#pragma once

#include "link_propagation/core.hpp"

namespace nearfield::link_propagation {

/// `p` is checked and has cells.
propagation_report run(const host& on, const problem& p, const any_input<host>& image, const any_output<host>& out);
propagation_report run(const device& on, const problem& p, const any_input<device>& image,
                       const any_output<device>& out);

/// Throws that the labels are unfinished after so many rounds: `limited` by most_rounds, or else by the switches.
[[noreturn]] void fail_unfinished(std::int64_t rounds, bool limited);
/// Throws where a type cannot number so many components.
void check_number(dtype out, std::int64_t components);

}  // namespace nearfield::link_propagation
