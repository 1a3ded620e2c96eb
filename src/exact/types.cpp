#include "exact/types.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/check.hpp"

namespace nearfield::exact {
namespace {

// The maximum of an unsigned type stands for "no site".
constexpr double uint16_limit = 65535.0;
constexpr double uint32_limit = 4294967295.0;
constexpr double uint64_limit = 4611686018427387904.0;  // 2^62, the limit of the engine's integers
constexpr double float16_largest = 65504.0;
constexpr double float16_lost = 0x1p-25, float32_lost = 0x1p-150;  // these and smaller ones round to 0
constexpr double float16_whole = 2048.0;                           // 2^11: integers up to it are exact
constexpr double float32_whole = 16777216.0;                       // 2^24
constexpr double float64_whole = 9007199254740992.0;               // 2^53

/// Sums in double are exact below 2^53; above, this raises a bound by more than its rounding error.
double rounded_up(double bound) { return bound * (1.0 + 1e-15); }

bool holds(dtype type, const range& r) {
    const bool whole = r.whole && !r.quarters && !r.negative;
    // Quarters take two more bits.
    const double units = r.quarters ? 4 * r.largest : r.largest;
    switch (type) {
        case dtype::uint16: return whole && r.largest < uint16_limit;
        case dtype::uint32: return whole && r.largest < uint32_limit;
        case dtype::uint64:
            return whole && rounded_up(r.largest) < uint64_limit && (r.exact || r.largest < float64_whole);
        case dtype::float16: return (r.whole || r.quarters) && units <= float16_whole;
        case dtype::float32: return (r.whole || r.quarters) && units <= float32_whole;
        default: return true;
    }
}

}  // namespace

dtype squared_type(const range& r) {
    for (dtype type : {dtype::uint32, dtype::uint64})
        if (holds(type, r)) return type;
    return dtype::float64;
}

void check_distance_type(dtype came, const range& r) {
    check_type("out.distance", came, {dtype::boolean, dtype::float16, dtype::float32, dtype::float64});
    if (came == dtype::boolean && r.negative)
        fail("out.distance has element type bool, which holds no sign; give float32, or leave sign out");
    if (came == dtype::boolean || came == dtype::float64) return;
    // inf would mean "no site", and 0 "a site".
    const bool half = came == dtype::float16;
    const double end = half ? float16_largest : double{std::numeric_limits<float>::max()};
    const char* wider = half ? "float32" : "float64";
    if (std::sqrt(r.largest) > end)
        fail(fmt::format(
            "out.distance has element type {}, which ends at {:g}; distances of this grid go up to {:g}: give "
            "an array of {}, or a smaller max_distance",
            name_of(came), end, std::sqrt(r.largest), wider));
    if (r.least <= (half ? float16_lost : float32_lost))
        fail(fmt::format(
            "out.distance has element type {}, in which a distance of {:g}, to the next cell, becomes 0; give "
            "an array of {}, or spacing in a smaller unit",
            name_of(came), r.least, r.least <= float32_lost ? "float64" : wider));
}

void check_squared_type(dtype came, const range& r) {
    check_type("out.squared", came,
               {dtype::uint16, dtype::uint32, dtype::uint64, dtype::float16, dtype::float32, dtype::float64});
    if (holds(came, r)) return;
    const char* what = r.negative   ? "signed squared distances"
                       : r.quarters ? "squared distances to faces (half_cell), which are quarters,"
                       : !r.whole   ? "squared distances for a spacing that is not integral"
                                    : "every squared distance of this grid";
    fail(fmt::format("out.squared has element type {}, which cannot hold {} (up to {:g}) exactly; give an array of {}",
                     name_of(came), what, r.largest, name_of(squared_type(r))));
}

void check_index_type(dtype came, double cells) {
    check_type("out.index", came, {dtype::int64, dtype::int32});
    if (came == dtype::int32 && cells > 2147483648.0)
        fail(fmt::format(
            "out.index has element type int32, which ends at 2147483647; images of {:.0f} cells need an array "
            "of int64",
            cells));
}

template <class Place>
void check_memory(const char* name, const any_input<Place>& input, const fields<Place>& out) {
    const named_view<Place> all[] = {{name, input},
                                     {"out.distance", out.distance},
                                     {"out.squared", out.squared},
                                     {"out.index", out.index},
                                     {"out.coordinates", out.coordinates},
                                     {"out.label", out.label},
                                     {"out.trusted", out.trusted}};
    check_data<Place>(all);
    check_apart<Place>(all);
}

template void check_memory(const char*, const any_input<host>&, const fields<host>&);
template void check_memory(const char*, const any_input<device>&, const fields<device>&);

}  // namespace nearfield::exact
