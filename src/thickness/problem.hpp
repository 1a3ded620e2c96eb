// One checked call, and the conversion of its squared radii to outputs.
#pragma once

#include <cmath>
#include <vector>

#include "nearfield/thickness.hpp"
#include "nearfield/watershed.hpp"
#include "thickness/core.hpp"

namespace nearfield::thickness {

/// Number type of squared radii: integers of 32 or 64 bits in units of unit2, or doubles in units of the spacing.
enum class number : std::uint8_t { int32, int64, real };

struct problem {
    grid3 grid;
    number numbers = number::int32;
    bool plain = false;  ///< int32, all weights 1, no periodic axis: devices take the fast path
    double weight[3] = {1, 1, 1};
    double flat2 = 0;             ///< largest squared distance to closed borders of axes of one cell
    double unit2 = 1;             ///< squared radii are multiples of it, in squared units of `spacing`
    bool radii_given = false;     ///< the image holds squared radii
    distance_options distances;   ///< options of the distance transform, which writes `field`
    dtype field = dtype::uint32;  ///< element type of the squared distances
    bool has_sizes = false;
    std::vector<double> sizes, least_radius2;  ///< ascending; smallest squared radius of each size, in units
    watershed_options moves;                   ///< of centres from the inlets

    /// True if radii are rounded down to sizes or to the width of ways: many centres side by side may have equal ones.
    [[nodiscard]] bool repeats(bool ways) const { return has_sizes || ways; }
    [[nodiscard]] bool wraps() const { return grid.wraps[0] || grid.wraps[1] || grid.wraps[2]; }
    /// Number of sizes; -1: radii are not rounded down.
    [[nodiscard]] int size_count() const { return has_sizes ? static_cast<int>(least_radius2.size()) : -1; }
};

/// Runs a checked call with at least one cell; without inlets, every cell is a centre.
void run(const host& on, const problem& p, const any_input<host>& image, const any_input<host>& inlets,
         const thickness_fields<host>& out);
void run(const device& on, const problem& p, const any_input<device>& image, const any_input<device>& inlets,
         const thickness_fields<device>& out);

/// Returns the index of the largest size whose squared radius does not exceed r2, or -1.
template <class N>
NF_HD int size_of_ball(const N* least_radius2, int count, N r2) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (least_radius2[middle] <= r2) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

/// Returns whether a squared radius marks a cell without any site, where no ball has a finite size.
template <class N>
NF_HD constexpr bool is_endless(N r2) {
    if constexpr (std::is_floating_point_v<N>) return r2 > 1.7976931348623157e308;
    else return r2 < 0;  // the maximum of an unsigned type
}

/// Rounds a radius down to one of the sizes, or to 0 if all are larger or if it is negative: no way from the inlets.
/// Cells without any site keep their value; if `count` is -1, positive radii do, too.
template <class N>
NF_HD N rounded_down(N r2, const N* least_radius2, int count) {
    if (is_endless(r2)) return r2;
    if (r2 <= 0) return 0;
    if (count < 0) return r2;
    const int size = size_of_ball(least_radius2, count, r2);
    return size < 0 ? N{0} : least_radius2[size];
}

/// Converts a squared radius that the caller gives.
template <class N, class T>
NF_HD constexpr N given(T value) {
    if constexpr (std::is_floating_point_v<N>) return 0;  // callers refuse this case
    else {
        constexpr std::int64_t largest = sizeof(N) == 4 ? std::int64_t{1} << 28 : std::int64_t{1} << 57;
        if (value <= 0) return 0;
        return static_cast<std::uint64_t>(value) < static_cast<std::uint64_t>(largest) ? static_cast<N>(value)
                                                                                       : static_cast<N>(largest);
    }
}

/// The last step: converts T2 in units to a caller's element.
template <class N>
struct writer {
    double unit2 = 1;
    const N* least_radius2 = nullptr;  ///< null without sizes
    const double* sizes = nullptr;
    int count = 0;

    NF_HD double thickness(N r2, bool endless) const {
        if (endless) return std::numeric_limits<double>::infinity();
        if (r2 <= 0) return 0;
        if (sizes != nullptr) return sizes[size_of_ball(least_radius2, count, r2)];
        return 2 * std::sqrt(unit2 * static_cast<double>(r2));
    }
    template <class T>
    NF_HD T squared(N r2, bool endless) const {
        if constexpr (std::is_floating_point_v<T>)
            return endless ? std::numeric_limits<T>::infinity() : static_cast<T>(unit2 * static_cast<double>(r2));
        else
            return endless ? std::numeric_limits<T>::max()
                           : static_cast<T>(static_cast<std::uint64_t>(unit2) * static_cast<std::uint64_t>(r2));
    }
};

}  // namespace nearfield::thickness
