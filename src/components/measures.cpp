// shape_measures(): checks, has the sums made, and turns them into measures. The last step runs on the host for both
// places, so that roots and angles have the same bits.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/call.hpp"
#include "base/parallel.hpp"
#include "base/share.hpp"
#include "base/unwritten.hpp"
#include "components/arguments.hpp"
#include "components/crofton.hpp"
#include "components/hull.hpp"
#include "components/measures.hpp"
#include "label/statistics_rows.hpp"

namespace nearfield {
namespace components {
namespace {

constexpr double pi = 3.141592653589793, root2 = 1.4142135623730951;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

component_shape undefined() {
    component_shape s;
    s.perimeter = s.perimeter_crofton = s.surface_area = s.area_convex = s.solidity = s.feret_diameter_max = nan;
    s.extent = s.equivalent_diameter_area = s.orientation = s.eccentricity = nan;
    s.axis_major_length = s.axis_minor_length = nan;
    for (int i = 0; i < 3; ++i) {
        std::fill_n(s.inertia_tensor[i], 3, nan);
        s.inertia_tensor_eigvals[i] = nan;
    }
    return s;
}

/// Mean of the product of two coordinates less the product of their means, rounded once.
double covariance(std::uint64_t cells, uint128 product_of_both, std::uint64_t one, std::uint64_t other) {
    const wide both = product(widened(product_of_both), cells), apart = widened(static_cast<uint128>(one) * other);
    wide d = difference(both, apart);
    const bool negative = (d.limb[3] >> 63) != 0;  // both are below 2^255
    if (negative) d = difference(apart, both);
    const double rounded = statistics::rounded_quotient(d, cells, 2, 0);
    return negative ? -rounded : rounded;
}

/// Eigenvalues of a symmetric matrix, descending, none below 0, by Jacobi's rotations.
template <int Axes>
void find_eigenvalues(double (&a)[3][3], double (&found)[3]) {
    constexpr int most_sweeps = 50;
    const auto off_diagonal = [&] { return a[0][1] != 0 || (Axes == 3 && (a[0][2] != 0 || a[1][2] != 0)); };
    for (int sweep = 0; sweep < most_sweeps && off_diagonal(); ++sweep)
        for (int p = 0; p < Axes; ++p)
            for (int q = p + 1; q < Axes; ++q) {
                if (a[p][q] == 0) continue;
                const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
                const double c = 1 / std::sqrt(t * t + 1), s = t * c;
                a[p][p] -= t * a[p][q], a[q][q] += t * a[p][q], a[p][q] = a[q][p] = 0;
                for (int r = 0; r < Axes; ++r) {
                    if (r == p || r == q) continue;
                    const double rp = a[r][p], rq = a[r][q];
                    a[r][p] = a[p][r] = c * rp - s * rq, a[r][q] = a[q][r] = s * rp + c * rq;
                }
            }
    for (int i = 0; i < Axes; ++i) found[i] = std::max(0.0, a[i][i]);
    std::sort(found, found + Axes, std::greater<>());
}

template <int Axes>
void put_inertia(const measure_sums<Axes>& sums, const double* length, component_shape& to) {
    double of[3][3], work[3][3];
    for (int i = 0; i < Axes; ++i)
        for (int j = i; j < Axes; ++j)
            of[i][j] = of[j][i] =
                length[i] * length[j] *
                covariance(sums.cells, sums.product[product_at<Axes>(i, j)], sums.coordinate[i], sums.coordinate[j]);
    for (int i = 0; i < Axes; ++i)
        for (int j = 0; j < Axes; ++j)
            work[i][j] = to.inertia_tensor[i][j] = i != j ? 0 - of[i][j]
                                                   : Axes == 2
                                                       ? of[1 - i][1 - i]
                                                       : of[(i + 1) % 3][(i + 1) % 3] + of[(i + 2) % 3][(i + 2) % 3];
    find_eigenvalues<Axes>(work, to.inertia_tensor_eigvals);
    const double* const e = to.inertia_tensor_eigvals;
    if (Axes == 3) {
        to.axis_major_length = std::sqrt(10 * std::max(0.0, e[0] + e[1] - e[2]));
        to.axis_minor_length = std::sqrt(10 * std::max(0.0, e[1] + e[2] - e[0]));
        return;
    }
    to.axis_major_length = 4 * std::sqrt(e[0]), to.axis_minor_length = 4 * std::sqrt(e[1]);
    to.eccentricity = e[0] == 0 ? 0 : std::sqrt(1 - e[1] / e[0]);
    const double a = to.inertia_tensor[0][0], b = to.inertia_tensor[0][1], c = to.inertia_tensor[1][1];
    to.orientation = a == c ? (b < 0 ? pi / 4 : -pi / 4) : 0.5 * std::atan2(-2 * b, c - a);
}

template <int Axes>
void put_euler(const measure_sums<Axes>& sums, component_shape& to) {
    const auto other = [&](int k) { return static_cast<std::int64_t>(sums.other[k]); };
    if constexpr (Axes == 3) {
        to.euler_number = sums.closed + other(back_z);
        to.euler_number_faces = sums.open + other(back_x) + other(back_y) + other(back_z);
    } else {
        to.euler_number = sums.closed - other(back_y);
        to.euler_number_faces = sums.open + other(back_x) + other(back_y);
    }
}

/// Turns sums into measures. Holds the memory of one thread.
template <int Axes>
class finishing {
public:
    finishing(const outlines& lines, const double* length, const std::array<double, 13>& crofton, std::int64_t side)
        : lines_(lines), length_(length), crofton_(crofton), side_(side), hull_(length[0], length[1]) {
        for (int axis = 0; axis < Axes; ++axis) cell_ *= length[axis];
    }
    component_shape operator()(const measure_sums<Axes>& sums, std::int64_t row) {
        component_shape s = undefined();
        s.cells = static_cast<std::int64_t>(sums.cells);
        s.area = static_cast<double>(s.cells) * cell_;
        if (s.cells == 0) return s;
        const std::int64_t* const box = lines_.box.get() + row * 2 * Axes;
        double of_box = 1;
        for (int axis = 0; axis < Axes; ++axis) of_box *= static_cast<double>(box[Axes + axis] - box[axis]);
        s.extent = static_cast<double>(s.cells) / of_box;
        s.equivalent_diameter_area = Axes == 3 ? std::cbrt(6 * s.area / pi) : std::sqrt(4 * s.area / pi);
        put_euler(sums, s), put_inertia(sums, length_, s);
        double crossings = 0;
        for (int k = 0; k < directions<Axes>; ++k)
            crossings += crofton_[static_cast<std::size_t>(k)] * static_cast<double>(sums.other[k]);
        if constexpr (Axes == 3) s.surface_area = crossings;
        else s.perimeter_crofton = crossings, put_outline(sums, row, s);
        return s;
    }

private:
    void put_outline(const measure_sums<2>& sums, std::int64_t row, component_shape& to) {
        const auto kind = [&](border_kind which) { return static_cast<double>(sums.border[which]); };
        if (length_[0] == length_[1])
            to.perimeter = length_[0] * (kind(straight) + root2 * kind(diagonal) + (1 + root2) / 2 * kind(bent));
        const std::int64_t* const offset = lines_.offset.get() + row;
        hull_.take({lines_.run.get() + 2 * offset[0], static_cast<std::size_t>(2 * (offset[1] - offset[0]))}, side_);
        to.area_convex = static_cast<double>(hull_.cells()) * cell_;
        to.solidity = to.area / to.area_convex;
        to.feret_diameter_max = std::sqrt(hull_.diameter2());
    }

    const outlines& lines_;
    const double* length_;
    const std::array<double, 13>& crofton_;
    std::int64_t side_;
    double cell_ = 1;
    convex_hull hull_;
};

/// Chooses the threads that finish rows.
host finisher(const host& on) { return part_of(on, 0.8, 0.2); }
host finisher(const device&) { return {}; }

template <int Axes, class Place>
std::vector<component_shape> measured(const Place& on, const any_input<Place>& labels, std::int64_t rows,
                                      const double* length) {
    require_memory_for_all(rows * static_cast<std::int64_t>(sizeof(component_shape)), "the list of shapes");
    const auto sums = measure_sums_of<Axes>(part_of(on, 0, 0.5), labels, rows);
    const outlines lines = outlines_of(part_of(on, 0.5, 0.3), labels, rows);
    const std::array<double, 13> crofton = crofton_weights<Axes>(length);
    std::vector<component_shape> all(static_cast<std::size_t>(rows));
    const host by = finisher(on);
    workers team(by, rows);
    constexpr std::int64_t rows_at_once = 64;
    team.for_each(rows, rows_at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
        finishing<Axes> finish(lines, length, crofton, labels.shape[static_cast<std::size_t>(Axes - 1)]);
        for (std::int64_t row = first; row < last; ++row)
            all[static_cast<std::size_t>(row)] = finish(sums.get()[row], row);
    });
    return all;
}

template <class Place>
std::vector<component_shape> measures_of(const Place& on, const any_input<Place>& labels, std::int64_t rows,
                                         const spacing& cell) {
    check_place(on);
    if (labels.rank != 2 && labels.rank != 3)
        fail(fmt::format("labels has {} ax{}s; shapes are measured of 2 or 3", labels.rank,
                         labels.rank == 1 ? "i" : "e"));
    check_labels(labels);
    if (rows < 0) fail(fmt::format("rows is {}; give the largest label to measure", rows));
    const auto length = checked_spacing(cell, labels.shape.data(), labels.rank);
    check_memory<Place>({{"labels", labels}}, 1);
    if (!statistics::sums_fit(labels.shape.data(), labels.rank))
        throw error(error_code::unsupported,
                    fmt::format("sums of coordinates in labels of shape {} could pass 64 bits; measure parts of it",
                                shape_text(labels.shape.data(), labels.rank)));
    if (rows == 0) return {};
    if (labels.rank == 3) return measured<3>(on, labels, rows, length.data());
    return measured<2>(on, labels, rows, length.data());
}

}  // namespace
}  // namespace components

std::vector<component_shape> shape_measures(const host& on, const any_input<host>& labels, std::int64_t rows,
                                            const spacing& cell) {
    return in_call([&] { return components::measures_of(on, labels, rows, cell); });
}
std::vector<component_shape> shape_measures(const device& on, const any_input<device>& labels, std::int64_t rows,
                                            const spacing& cell) {
    return in_call([&] { return components::measures_of(on, labels, rows, cell); });
}

}  // namespace nearfield
