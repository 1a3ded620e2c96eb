// Checks that component_statistics can fill the given tables.
#pragma once

#include "components/core.hpp"

namespace nearfield::components {

template <class Place>
void check_tables(const any_input<Place>& labels, const component_tables<Place>& tables);

}  // namespace nearfield::components
