// Checks of the arguments of label(), for both backends.
#pragma once

#include "label/core.hpp"

namespace nearfield::labelling {

/// Throws if a table has a wrong type or shape, or shares memory with another view of the call. The entry calls it for
/// fields.tables, and each backend for the tables that fields.make_tables returned for `rows` rows.
template <class Place>
void check_tables(const problem& p, const any_input<Place>& image, const label_fields<Place>& fields,
                  const component_tables<Place>& tables);

/// Throws if out.label's type cannot number `components` components.
void check_number(dtype label, std::int64_t components);

}  // namespace nearfield::labelling
