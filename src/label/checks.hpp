// Checks of what label() is given, for both backends.
#pragma once

#include "label/core.hpp"

namespace nearfield::labelling {

/// Throws where a table has a wrong type or shape, or memory that it shares with another view of the call. Called by
/// the entry for fields.tables, and by each backend for what fields.make_tables returned for `rows` rows.
template <class Place>
void check_tables(const problem& p, const any_input<Place>& image, const label_fields<Place>& fields,
                  const component_tables<Place>& tables);

/// Throws where out.label's type cannot number `components` components.
void check_number(dtype label, std::int64_t components);

}  // namespace nearfield::labelling
