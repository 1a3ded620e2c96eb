// The search for the nearest of a side's points in the rows near a point, on both places.
#pragma once

#include <limits>

#include "metrics/core.hpp"

namespace nearfield::metrics {

/// Coordinates in a job's box. On a device the last one counts bits of a row.
struct spot {
    std::int32_t z, y, x;
};

/// The least square so far of the steps from a point to one of the other side. Squares are sums in the engine's order,
/// exact in a double if the engine counts them.
struct nearest {
    std::int32_t planes, rows;
    double by_z, by_y, by_x, unit2, least = 0;

    NF_HD explicit nearest(const job& j)
        : planes(static_cast<std::int32_t>(j.size[0])),
          rows(static_cast<std::int32_t>(j.size[1])),
          by_z(j.square[0]),
          by_y(j.square[1]),
          by_x(j.square[2]),
          unit2(j.unit2) {}

    /// The least square of points beyond so many planes and rows. Axes of length 1 have none.
    [[nodiscard]] NF_HD double beyond(int steps) const {
        constexpr double none = std::numeric_limits<double>::infinity();
        const double far = static_cast<double>(steps + 1) * (steps + 1), in_z = planes > 1 ? by_z * far : none,
                     in_y = rows > 1 ? by_y * far : none;
        return in_z < in_y ? in_z : in_y;
    }
    [[nodiscard]] NF_HD double square(int z, int y, std::int32_t x) const {
        return by_x * (static_cast<double>(x) * x) + by_y * (static_cast<double>(y) * y) +
               by_z * (static_cast<double>(z) * z);
    }
    NF_HD void offer(int z, int y, std::int32_t x) {
        if (const double found = square(z, y, x); found < least) least = found;
    }
    [[nodiscard]] NF_HD bool has_row(const spot& at, int z, int y) const {
        return at.z + z >= 0 && at.z + z < planes && at.y + y >= 0 && at.y + y < rows;
    }
    /// Calls look(z, y) for the rows within so many that may have a nearer point. Returns whether no point beyond them
    /// is nearer.
    template <class Look>
    constexpr bool in_rows(const spot& at, int steps, const Look& look) {
        const double most = beyond(steps);
        least = most;
        for (int z = 0; z <= steps && by_z * (static_cast<double>(z) * z) < least; ++z)
            for (int y = 0; y <= steps && square(z, y, 0) < least; ++y)
                for (int turn = 0; turn < 4; ++turn) {
                    const int there_z = turn < 2 ? z : -z, there_y = turn % 2 == 0 ? y : -y;
                    const bool again = (z == 0 && turn >= 2) || (y == 0 && turn % 2 != 0);
                    if (!again && has_row(at, there_z, there_y)) look(there_z, there_y);
                }
        return least < most || !(most < std::numeric_limits<double>::infinity());
    }
    [[nodiscard]] NF_HD std::uint64_t key(bool doubles) const {
        return doubles ? key_of(unit2 * least) : static_cast<std::uint64_t>(unit2 * least);
    }
    /// Returns whether the least square is the engine's: sums of whole numbers must be exact, others are rounded in the
    /// same order.
    [[nodiscard]] NF_HD bool exact() const {
        constexpr double most = 4503599627370496.0;  // 2^52
        const auto whole = [](double by) { return std::floor(by) == by; };
        return !(whole(by_z) && whole(by_y) && whole(by_x)) || (least < most && unit2 * least < most);
    }
};

}  // namespace nearfield::metrics
