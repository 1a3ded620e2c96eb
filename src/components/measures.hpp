// Exact sums behind shape_measures(), as mathematics that host and device share. A cell compares itself only with the
// neighbours before it in raster order: 4 in an image, 13 in a volume.
#pragma once

#include <cstdint>

#include "base/scratch.hpp"
#include "base/wide.hpp"
#include "components/core.hpp"

namespace nearfield::components {

/// Number of neighbours before a cell. Number k lies forward_steps(Axes, Axes).all[k] back; those of images come first.
template <int Axes>
inline constexpr int directions = Axes == 3 ? 13 : 4;
/// Numbers of the neighbours along the last axis, the axis before it, and the first of three axes.
inline constexpr int back_x = 0, back_y = 2, back_z = 8;

/// Index of the product of coordinates i <= j: 00, 01, 02, 11, 12, 22.
template <int Axes>
NF_HD constexpr int product_at(int i, int j) {
    return i * Axes - i * (i - 1) / 2 + j - i;
}
template <int Axes>
inline constexpr int products = Axes * (Axes + 1) / 2;

/// Patterns of neighbours that count for Euler numbers. The first `closed` patterns serve cells that touch by corners,
/// the others serve cells that touch by faces.
template <int Axes>
struct euler_patterns;

/// Change of the Euler number when a cell joins the cells before it. As a closed square it adds 1, its new corners, and
/// minus its new edges; terms that cancel are left out, and the caller subtracts back_y once. As an open square it
/// takes an edge or a corner for each pattern of missing cells; the caller adds back_x and back_y once.
template <>
struct euler_patterns<2> {
    static constexpr int count = 3, closed = 2;
    NF_HD static constexpr int sign(int k) { return k < closed ? 1 : -1; }
    template <class Bits>
    NF_HD static constexpr void find(const Bits* other, Bits* found) {
        found[0] = other[2] & other[1], found[1] = other[2] & other[0] & other[3];
        found[2] = other[0] | other[2] | other[3];
    }
};

/// Change of the Euler number for cubes. The caller adds back_z once for closed cubes, and all three for open ones.
template <>
struct euler_patterns<3> {
    static constexpr int count = 12, closed = 8;
    NF_HD static constexpr int sign(int k) { return k < 4 || k == 11 ? 1 : -1; }
    template <class Bits>
    NF_HD static constexpr void find(const Bits* o, Bits* found) {
        found[4] = o[8] & o[7], found[5] = o[8] & o[0] & o[9];
        found[6] = o[8] & o[5], found[7] = o[8] & o[2] & o[11];
        found[0] = found[6] & o[7] & o[4], found[1] = found[6] & found[5] & o[6];
        found[2] = found[7] & o[7] & o[10] & o[1], found[3] = found[7] & found[5] & o[12] & o[3];
        found[8] = o[0] | o[2] | o[3], found[9] = o[0] | o[8] | o[9], found[10] = o[2] | o[8] | o[11];
        found[11] = found[8] | found[9] | found[10] | o[12];
    }
};

/// A label's border cell counts for the perimeter of an image as a step, as a diagonal step, or as the mean of both.
/// Benkrid, Crookes, "Design and FPGA implementation of a perimeter estimator", Queen's University of Belfast, 2000, as
/// scikit-image counts it with 4 neighbours.
enum border_kind : std::int8_t { no_border = -1, straight, diagonal, bent, border_kinds };

/// Kind of a border cell. same(y, x) tells whether the cell y lines and x cells away has this cell's label.
template <class Same>
NF_HD constexpr border_kind border_kind_of(const Same& same) {
    const auto border = [&](int y, int x) {
        return same(y, x) && !(same(y - 1, x) && same(y + 1, x) && same(y, x - 1) && same(y, x + 1)) ? 1 : 0;
    };
    if (border(0, 0) == 0) return no_border;
    const int faces = border(-1, 0) + border(1, 0) + border(0, -1) + border(0, 1);
    const int corners = border(-1, -1) + border(-1, 1) + border(1, -1) + border(1, 1);
    if ((faces == 2 || faces == 3) && corners <= 2) return straight;
    if ((faces == 0 && corners == 2) || (faces == 1 && corners == 3)) return diagonal;
    return faces == 1 && (corners == 1 || corners == 2) ? bent : no_border;
}

/// Sums of a label.
template <int Axes>
struct measure_sums {
    std::uint64_t cells = 0;
    std::uint64_t coordinate[Axes] = {};
    uint128 product[products<Axes>] = {};        ///< sums of products of two coordinates
    std::uint64_t other[directions<Axes>] = {};  ///< cells whose neighbour has another label or is outside
    std::int64_t closed = 0, open = 0;           ///< sums of the patterns' signs
    std::uint64_t border[border_kinds] = {};     ///< cells of images by kind

    void add(const measure_sums& more) {
        cells += more.cells, closed += more.closed, open += more.open;
        for (int i = 0; i < Axes; ++i) coordinate[i] += more.coordinate[i];
        for (int i = 0; i < products<Axes>; ++i) product[i] += more.product[i];
        for (int i = 0; i < directions<Axes>; ++i) other[i] += more.other[i];
        for (int i = 0; i < border_kinds; ++i) border[i] += more.border[i];
    }
    /// Adds `run` cells along the last axis, the first one at `at`.
    void add_places(const std::int64_t* at, std::int64_t run) {
        const auto n = static_cast<std::uint64_t>(run);
        const auto x = static_cast<std::uint64_t>(at[Axes - 1]);
        const uint128 below = static_cast<uint128>(n) * (n - 1);
        const auto along = static_cast<std::uint64_t>(n * x + below / 2);
        cells += n;
        for (int i = 0; i < Axes - 1; ++i) {
            const auto y = static_cast<std::uint64_t>(at[i]);
            coordinate[i] += n * y;
            for (int j = i; j < Axes - 1; ++j)
                product[product_at<Axes>(i, j)] += static_cast<uint128>(n * y) * static_cast<std::uint64_t>(at[j]);
            product[product_at<Axes>(i, Axes - 1)] += static_cast<uint128>(along) * y;
        }
        coordinate[Axes - 1] += along;
        product[products<Axes> - 1] += static_cast<uint128>(n) * x * x + below * x + below * (2 * n - 1) / 6;
    }
};

/// Computes the sums of labels 1 to `rows`. The device's calls wait.
template <int Axes>
host_scratch<measure_sums<Axes>> measure_sums_of(const host& on, const any_input<host>& labels, std::int64_t rows);
template <int Axes>
host_scratch<measure_sums<Axes>> measure_sums_of(const device& on, const any_input<device>& labels, std::int64_t rows);

/// Outlines of labels: the boxes of component_tables and, for images, the runs of each label one after another.
struct outlines {
    host_scratch<std::int64_t> box;     ///< (rows, 2, axes)
    host_scratch<std::int64_t> offset;  ///< (rows + 1), in runs
    host_scratch<std::int64_t> run;     ///< (runs, 2): first cell, cells
};
outlines outlines_of(const host& on, const any_input<host>& labels, std::int64_t rows);
outlines outlines_of(const device& on, const any_input<device>& labels, std::int64_t rows);

}  // namespace nearfield::components
