// Selects the element types that hold the answers of a call.
#pragma once

#include "nearfield/distance.hpp"

namespace nearfield::exact {

/// Range of a call's squared distances, known before it runs.
struct range {
    double largest = 0;     ///< no squared distance exceeds it
    double least = 1;       ///< no distance above 0 is smaller
    bool whole = true;      ///< they are integers
    bool exact = true;      ///< they are computed as integers, however large
    bool quarters = false;  ///< they are integers divided by four
    bool negative = false;  ///< they may be negative
};

/// Returns the narrowest of uint32, uint64 and float64 that holds them exactly.
dtype squared_type(const range& r);

/// Throws unless fields of these types hold every answer.
void check_distance_type(dtype came, const range& r);
void check_squared_type(dtype came, const range& r);
void check_index_type(dtype came, double cells);

/// Throws unless an input and the fields have memory, and no field overlaps the input or another field.
template <class Place>
void check_memory(const char* name, const any_input<Place>& input, const fields<Place>& out);

}  // namespace nearfield::exact
