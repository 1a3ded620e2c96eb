// One checked call, and what becomes of its numbers at the end.
#pragma once

#include <cmath>
#include <vector>

#include "nearfield/thickness.hpp"
#include "thickness/core.hpp"

namespace nearfield::thickness {

/// What squared radii are: counted in units of unit2 in 32 or 64 bits, or plain doubles.
enum class number : std::uint8_t { int32, int64, real };

struct problem {
    grid3 grid;
    number numbers = number::int32;
    bool plain = false;  ///< int32, all weights 1, no axis wraps: the fast way
    double weight[3] = {1, 1, 1};
    double flat2 = 0;             ///< squared distances to closed borders of axes that have one cell, at most
    double unit2 = 1;             ///< squared units of `spacing` in one
    bool radii_given = false;     ///< the image holds squared radii
    distance_options distances;   ///< D2 is asked for with these, in `field`
    dtype field = dtype::uint32;  ///< of D2
    bool has_sizes = false;
    std::vector<double> sizes, least_radius2;  ///< ascending; the latter in units: what a ball of the size needs
};

/// `p` is checked and has cells.
void run(const host& on, const problem& p, const any_input<host>& image, const thickness_fields<host>& out);
void run(const device& on, const problem& p, const any_input<device>& image, const thickness_fields<device>& out);

/// The largest of the sizes whose squared radius does not exceed r2: its place among them, or -1.
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

/// What cells that no ball can be measured for hold: no site anywhere.
template <class N>
NF_HD constexpr bool is_endless(N r2) {
    if constexpr (std::is_floating_point_v<N>) return r2 > 1.7976931348623157e308;
    else return r2 < 0;  // the maximum of an unsigned type
}

/// A radius rounded down to those of the sizes, 0 below all of them. Cells without any site keep theirs.
template <class N>
NF_HD N rounded_down(N r2, const N* least_radius2, int count) {
    if (r2 <= 0 || is_endless(r2)) return r2;
    const int size = size_of_ball(least_radius2, count, r2);
    return size < 0 ? N{0} : least_radius2[size];
}

/// A squared radius that the caller gives.
template <class N, class T>
NF_HD constexpr N given(T value) {
    if constexpr (std::is_floating_point_v<N>) return 0;  // not counted: refused
    else {
        constexpr std::int64_t largest = sizeof(N) == 4 ? std::int64_t{1} << 28 : std::int64_t{1} << 57;
        if (value <= 0) return 0;
        return static_cast<std::uint64_t>(value) < static_cast<std::uint64_t>(largest) ? static_cast<N>(value)
                                                                                       : static_cast<N>(largest);
    }
}

/// The last step: from T2 in units to a caller's element.
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
