// What the exact room does for others.
#pragma once

#include "nearfield/distance.hpp"

namespace nearfield::exact {

/// Throws unless a field of this type holds every distance of such a call: none of them inf, none above 0 rounded to
/// it.
void check_distance_type(const std::int64_t* shape, int rank, const distance_options& options, dtype type);

}  // namespace nearfield::exact
