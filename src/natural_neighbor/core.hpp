// Shared by host and device: balls as rows, and values as integers.
//
// A ball adds its value to the cells of each of its rows by two writes, +v at the row's start and -v after its end.
// Prefix sums along the grid's rows then give every cell its sum. Sums are integers, so order does not matter.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/annotate.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/natural_neighbor.hpp"

namespace nearfield::natural {

struct problem {
    std::int64_t images = 1;
    std::int64_t size[3] = {1, 1, 1};
    bool wraps[3] = {false, false, false};
    double weight[3] = {1, 1, 1};  ///< squared lengths of a cell; integers if the spacing is a multiple of one length
    int count_bits = 0;            ///< a sum has fewer than 2^count_bits terms
    bool whole = false;            ///< true if values are integers
    distance_options sites;        ///< options for finding the nearest sites

    NF_HD constexpr std::int64_t image_cells() const { return size[0] * size[1] * size[2]; }
    NF_HD constexpr std::int64_t cells() const { return images * image_cells(); }
};

void run(const host& on, const problem& p, const any_input<host>& values, const any_input<host>& known,
         const any_output<host>& out);
void run(const device& on, const problem& p, const any_input<device>& values, const any_input<device>& known,
         const any_output<device>& out);

NF_HD inline bool is_finite(double x) { return x - x == 0; }

/// Exponent of the unit 2^exponent in which sums count, given the bits of the largest absolute value. All doubles are
/// multiples of 2^-1074.
NF_HD inline int exponent_of(const problem& p, std::uint64_t largest) {
    const int above = static_cast<int>(largest >> 52) - 1022;  // the value is below 2^above
    const int exponent = above + p.count_bits - 61 < -1074 ? -1074 : above + p.count_bits - 61;
    return exponent < 0 && p.whole ? 0 : exponent;
}
NF_HD inline std::int64_t counted(double value, int exponent) {
    return static_cast<std::int64_t>(std::rint(std::ldexp(value, -exponent)));
}
/// Returns a mean; `unit` is 2^exponent, so that the product is rounded as by std::ldexp.
NF_HD inline double mean_of(std::int64_t sum, std::int64_t count, double unit) {
    if (count == 0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(sum) / static_cast<double>(count) * unit;
}

NF_HD inline double squared(const problem& p, std::int64_t z, std::int64_t y, std::int64_t x) {
    const auto dz = static_cast<double>(z), dy = static_cast<double>(y), dx = static_cast<double>(x);
    return (p.weight[0] * (dz * dz) + p.weight[1] * (dy * dy)) + p.weight[2] * (dx * dx);
}

/// The ball of a cell, and its rows as steps from the cell: planes first[0] .. + count[0], in each lines first[1] .. +
/// count[1]. If the cell is a site the ball has one row.
struct ball {
    std::int64_t at[3], site;
    double r2;
    std::int64_t first[2], count[2];

    NF_HD constexpr std::int64_t rows() const { return count[0] * count[1]; }
};

/// The largest h >= 0 with squared(z, y, h) < r2, or -1 if there is none.
NF_HD inline std::int64_t half_of(const problem& p, double r2, std::int64_t z, std::int64_t y) {
    const double rest = r2 - squared(p, z, y, 0);
    if (!(rest > 0)) return -1;
    auto half = static_cast<std::int64_t>(std::sqrt(rest / p.weight[2]));
    while (half > 0 && !(squared(p, z, y, half) < r2)) --half;
    while (squared(p, z, y, half + 1) < r2) ++half;
    return half;
}

/// The ball of cell `index` of an image, whose nearest site is `site` (not negative).
NF_HD inline ball ball_of(const problem& p, std::int64_t index, std::int64_t site) {
    ball b{};
    std::int64_t away[3], cell = index, to = site;
    for (int axis = 2; axis >= 0; --axis) {
        b.at[axis] = cell % p.size[axis], cell /= p.size[axis];
        const std::int64_t there = to % p.size[axis],
                           step = b.at[axis] < there ? there - b.at[axis] : b.at[axis] - there;
        to /= p.size[axis];
        away[axis] = p.wraps[axis] && p.size[axis] - step < step ? p.size[axis] - step : step;
    }
    b.site = site, b.r2 = squared(p, away[0], away[1], away[2]);
    for (int axis = 0; axis < 2; ++axis) {
        // The estimate may be one too large; that row has no cells.
        const auto reach = static_cast<std::int64_t>(std::sqrt(b.r2 / p.weight[axis]));
        std::int64_t low = -reach, high = reach;
        if (!p.wraps[axis]) {
            if (low < -b.at[axis]) low = -b.at[axis];
            if (high > p.size[axis] - 1 - b.at[axis]) high = p.size[axis] - 1 - b.at[axis];
        }
        b.first[axis] = low, b.count[axis] = high - low + 1;
    }
    return b;
}

NF_HD constexpr std::int64_t wrapped(std::int64_t at, std::int64_t size) {
    if (at >= 0 && at < size) return at;
    const std::int64_t rest = at % size;
    return rest < 0 ? rest + size : rest;
}

/// Calls add(cell of the image, times) for the writes of a ball's row so many planes and lines from its cell. A write
/// adds the ball's value `times` times to all cells from there to the end of their line.
template <class Add>
NF_HD inline void write_line(const problem& p, const ball& b, std::int64_t z, std::int64_t y, const Add& add) {
    const std::int64_t n = p.size[2];
    const std::int64_t half = b.r2 > 0 ? half_of(p, b.r2, z, y) : 0;
    if (half < 0) return;
    const std::int64_t line = (wrapped(b.at[0] + z, p.size[0]) * p.size[1] + wrapped(b.at[1] + y, p.size[1])) * n;
    std::int64_t first = b.at[2] - half, last = b.at[2] + half + 1;  // last lies after the row
    if (!p.wraps[2]) {
        add(line + (first < 0 ? 0 : first), 1);
        if (last < n) add(line + last, -1);
        return;
    }
    const std::int64_t turns = (last - first) / n;
    if (turns > 0) add(line, turns);
    first = wrapped(first, n), last = first + (2 * half + 1) % n;
    if (first == last) return;
    add(line + first, 1);
    if (last < n) add(line + last, -1);
    if (last > n) add(line, 1), add(line + last - n, -1);
}
/// Does the same for row k.
template <class Add>
NF_HD inline void write_row(const problem& p, const ball& b, std::int64_t k, const Add& add) {
    const std::int64_t plane = k / b.count[1];
    write_line(p, b, b.first[0] + plane, b.first[1] + k - plane * b.count[1], add);
}

}  // namespace nearfield::natural
