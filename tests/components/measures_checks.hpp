// Checks of the shapes that every backend computes, against the oracle.
#pragma once

#include <cstring>

#include "components/checks.hpp"
#include "components/crofton.hpp"
#include "oracle/measures.hpp"

namespace nearfield::test {

inline void expect_close(double got, double expected, const char* what, std::int64_t row, double scale = 0) {
    const double about = std::max(std::abs(expected), scale);
    EXPECT_LE(std::abs(got - expected), about * 1e-13) << what << " of row " << row << ": " << got << ", " << expected;
}

/// Checks that the eigenvalues are the roots of the cubic x^3 - t x^2 + s x - d, and the values that follow from them.
inline void check_inertia(const component_shape& got, const oracle::shape_row& e, const std::vector<double>& lengths,
                          std::int64_t row) {
    const std::size_t axes = lengths.size();
    double of[3][3] = {}, whole = 0;
    for (std::size_t i = 0; i < axes; ++i)
        for (std::size_t j = 0; j < axes; ++j)
            of[i][j] = static_cast<double>(e.covariance[i + 3 - axes][j + 3 - axes]) * lengths[i] * lengths[j];
    for (std::size_t i = 0; i < axes; ++i) whole += of[i][i];
    for (std::size_t i = 0; i < axes; ++i)
        for (std::size_t j = 0; j < axes; ++j)
            expect_close(got.inertia_tensor[i][j], i == j ? whole - of[i][i] : -of[i][j], "inertia", row, whole);
    const auto& v = got.inertia_tensor_eigvals;
    const auto& t = got.inertia_tensor;
    double trace = 0, sum = 0, squares = 0, of_eigvals = 0;
    for (std::size_t i = 0; i < axes; ++i) {
        trace += t[i][i], sum += v[i], of_eigvals += v[i] * v[i];
        EXPECT_GE(v[i == 0 ? 0 : i - 1], v[i]) << "row " << row;
        for (std::size_t j = 0; j < axes; ++j) squares += t[i][j] * t[i][j];
    }
    expect_close(sum, trace, "sum of eigenvalues", row), expect_close(of_eigvals, squares, "their squares", row);
    if (axes == 3) {
        const double of_tensor = t[0][0] * (t[1][1] * t[2][2] - t[1][2] * t[2][1]) -
                                 t[0][1] * (t[1][0] * t[2][2] - t[1][2] * t[2][0]) +
                                 t[0][2] * (t[1][0] * t[2][1] - t[1][1] * t[2][0]);
        expect_close(v[0] * v[1] * v[2], of_tensor, "determinant", row, trace * trace * trace);
        expect_close(got.axis_major_length, std::sqrt(10 * (v[0] + v[1] - v[2])), "major axis", row);
        return;
    }
    expect_close(got.axis_major_length, 4 * std::sqrt(v[0]), "major axis", row);
    expect_close(got.axis_minor_length, 4 * std::sqrt(v[1]), "minor axis", row);
    if (v[0] > 0) expect_close(got.eccentricity, std::sqrt(1 - v[1] / v[0]), "eccentricity", row);
    // The variance across the longest axis must be the smallest of all directions.
    const double along_y = std::cos(got.orientation), along_x = std::sin(got.orientation);
    const double across =
        along_x * along_x * of[0][0] + along_y * along_y * of[1][1] - 2 * along_x * along_y * of[0][1];
    expect_close(across, v[1], "variance across", row, whole);
}

inline void check_row(const component_shape& got, const oracle::shape_row& e, const std::vector<double>& lengths,
                      std::int64_t row) {
    const bool flat = lengths.size() == 2;
    double cell = 1, crossed = 0;
    for (const double each : lengths) cell *= each;
    EXPECT_EQ(got.cells, e.cells) << "row " << row;
    EXPECT_EQ(got.euler_number, e.euler_number) << "row " << row;
    EXPECT_EQ(got.euler_number_faces, e.euler_number_faces) << "row " << row;
    expect_close(got.area, static_cast<double>(e.cells) * cell, "area", row);
    EXPECT_EQ(std::isnan(got.surface_area), flat || e.cells == 0) << "row " << row;
    for (const double each : {got.perimeter_crofton, got.area_convex, got.solidity, got.feret_diameter_max})
        EXPECT_EQ(std::isnan(each), !flat || e.cells == 0) << "row " << row;
    EXPECT_EQ(std::isnan(got.extent), e.cells == 0) << "row " << row;
    if (e.cells == 0) return;
    expect_close(got.extent, e.extent, "extent", row);
    const auto weights =
        flat ? components::crofton_weights<2>(lengths.data()) : components::crofton_weights<3>(lengths.data());
    for (std::size_t k = 0; k < e.crossings.size(); ++k) crossed += weights[k] * static_cast<double>(e.crossings[k]);
    expect_close(flat ? got.perimeter_crofton : got.surface_area, crossed, "crossings", row);
    check_inertia(got, e, lengths, row);
    if (!flat) return;
    if (lengths[0] == lengths[1]) expect_close(got.perimeter, e.perimeter, "perimeter", row);
    else EXPECT_TRUE(std::isnan(got.perimeter));
    expect_close(got.area_convex, static_cast<double>(e.convex_cells) * cell, "convex area", row);
    expect_close(got.solidity, static_cast<double>(e.cells) / static_cast<double>(e.convex_cells), "solidity", row);
    expect_close(got.feret_diameter_max, e.feret_diameter, "diameter", row);
}

/// Compares with the oracle, and bit for bit with one thread of the host.
template <class Runner>
void check_measures(const Runner& run, const drawn& d) {
    SCOPED_TRACE(d.text());
    const oracle::label_image image = make_labels(d.kind, d.shape, d.type, d.seed);
    const std::int64_t rows = d.kind == pattern::each ? cells_of(d.shape) / 2 + 1 : 60;
    guarded labels = d.array(d.type, d.shape, 1);
    write_integers(labels, image.label);
    const std::size_t axes = d.shape.size();
    const std::vector<double> lengths =
        d.seed % 2 == 0 ? std::vector<double>(axes, 0.75) : std::vector<double>{2.5, 0.5, 3};
    const std::vector<double> used(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(axes));
    const spacing cell(used.data(), used.size());
    std::vector<component_shape> got, again;
    run({&labels}, [&](const auto& on, const auto& at) { got = shape_measures(on, at(labels), rows, cell); });
    host_runner{1}({&labels},
                   [&](const auto& on, const auto& at) { again = shape_measures(on, at(labels), rows, cell); });
    expect_guarded({&labels});
    const auto expected = oracle::shapes_of(image, rows, used);
    ASSERT_EQ(got.size(), expected.size());
    EXPECT_EQ(std::memcmp(got.data(), again.data(), got.size() * sizeof(got[0])), 0);
    for (std::int64_t row = 0; row < rows && !testing::Test::HasFailure(); ++row)
        check_row(got[static_cast<std::size_t>(row)], expected[static_cast<std::size_t>(row)], used, row);
}

}  // namespace nearfield::test
