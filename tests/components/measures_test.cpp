// Shapes of labels on the host: against the oracle, and against known values of discs, balls, boxes and rings.
#include <random>

#include "components/core.hpp"
#include "components/measures_checks.hpp"

namespace nearfield::test {
namespace {

/// Checks shapes with one, four or seven threads.
void check_shapes(const std::vector<shape_t>& shapes) {
    for_each_drawn(shapes,
                   [](const drawn& d) { check_measures(host_runner{1 + 3 * static_cast<int>(d.seed % 3)}, d); });
}

/// Shapes that reach one cell, words and pieces of the host that end within a run, axes of one cell, and no cells.
TEST(Measures, ShapesAreTheOracles) {
    check_shapes({{1, 1}, {5, 31}, {17, 64}, {1, 130}, {70, 3}, {20, 21}, {1, 4200}, {4, 0}});
}
TEST(Measures, ShapesOfVolumesAreTheOracles) {
    check_shapes({{1, 1, 1}, {3, 5, 7}, {2, 4, 65}, {9, 1, 40}, {10, 11, 13}, {1, 1, 4200}, {0, 3, 3}});
}

/// Labels whose few cells lie hundreds of lines apart: hulls fill only the lines at their ends.
TEST(Measures, HullsOfScatteredCells) {
    constexpr std::int64_t rows = 12;
    for (std::uint64_t seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        const shape_t shape = seed % 3 == 0 ? shape_t{170, 120} : seed % 3 == 1 ? shape_t{250, 7} : shape_t{120, 180};
        oracle::label_image image{shape, std::vector<std::int64_t>(static_cast<std::size_t>(cells_of(shape)))};
        std::mt19937_64 random(seed);
        for (std::int64_t row = 1; row <= rows; ++row)
            for (std::int64_t cell = 0; cell < 1 + row / 3; ++cell) image.label[random() % image.label.size()] = row;
        guarded labels(dtype::uint8, shape, layout::tight);
        write_integers(labels, image.label);
        const std::vector<double> lengths = seed % 2 == 0 ? std::vector<double>{1, 1} : std::vector<double>{0.3, 2};
        std::vector<component_shape> got;
        host_runner{2}({&labels}, [&](const auto& on, const auto& at) {
            got = shape_measures(on, at(labels), rows, spacing(lengths.data(), 2));
        });
        const auto expected = oracle::shapes_of(image, rows, lengths);
        for (std::size_t row = 0; row < rows && !testing::Test::HasFailure(); ++row)
            check_row(got[row], expected[row], lengths, static_cast<std::int64_t>(row));
    }
}

/// Gives label 1 to cells for which body(z, y, x) is true; coordinates are lengths from the middle.
template <class Body>
component_shape shape_of(const std::vector<std::int64_t>& shape, const std::vector<double>& lengths, const Body& body) {
    std::vector<std::uint8_t> labels(static_cast<std::size_t>(cells_of(shape)));
    const oracle::label_image places{shape, std::vector<std::int64_t>(labels.size())};
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::vector<std::int64_t> at = places.place_of(static_cast<std::int64_t>(i));
        double from_middle[3] = {};
        for (std::size_t k = 0; k < at.size(); ++k)
            from_middle[k + 3 - at.size()] =
                (static_cast<double>(at[k]) - static_cast<double>(shape[k] - 1) / 2) * lengths[k];
        labels[i] = body(from_middle[0], from_middle[1], from_middle[2]) ? 1 : 0;
    }
    const auto image = any_input<host>::contiguous(static_cast<const void*>(labels.data()), dtype::uint8, shape);
    return shape_measures(host{2, {}}, image, 1, spacing(lengths.data(), lengths.size()))[0];
}

constexpr double pi = 3.14159265358979;

void expect_within(double got, double expected, double share) {
    EXPECT_NEAR(got, expected, std::abs(expected) * share);
}

TEST(Shapes, ADisc) {
    const auto disc = [](double, double y, double x) { return y * y + x * x <= 100 * 100; };
    const component_shape s = shape_of({211, 211}, {1, 1}, disc);
    expect_within(s.perimeter_crofton, 200 * pi, 0.003), expect_within(s.perimeter, 200 * pi, 0.06);
    expect_within(s.equivalent_diameter_area, 200, 0.001), expect_within(s.axis_major_length, 200, 0.001);
    expect_within(s.axis_minor_length, 200, 0.001), expect_within(s.feret_diameter_max, 201, 0.005);
    EXPECT_EQ(s.euler_number, 1);
    EXPECT_GT(s.solidity, 0.99);
    EXPECT_LT(s.eccentricity, 0.05);
    // Cells are three times as long as wide.
    const component_shape wide = shape_of({81, 241}, {3, 1}, disc);
    expect_within(wide.perimeter_crofton, 200 * pi, 0.02), expect_within(wide.axis_minor_length, 200, 0.01);
    EXPECT_TRUE(std::isnan(wide.perimeter));
}

TEST(Shapes, AnEllipseAtAnAngle) {
    const double angle = 0.6;  // measured from axis 0
    const component_shape s = shape_of({301, 301}, {1, 1}, [&](double, double y, double x) {
        const double along = y * std::cos(angle) + x * std::sin(angle),
                     across = x * std::cos(angle) - y * std::sin(angle);
        return along * along / (120 * 120) + across * across / (40 * 40) <= 1;
    });
    EXPECT_NEAR(s.orientation, angle, 0.001);
    expect_within(s.axis_major_length, 240, 0.002), expect_within(s.axis_minor_length, 80, 0.002);
    expect_within(s.eccentricity, std::sqrt(1 - 1.0 / 9), 0.001), expect_within(s.feret_diameter_max, 240, 0.01);
}

TEST(Shapes, ABall) {
    const auto ball = [](double z, double y, double x) { return z * z + y * y + x * x <= 40 * 40; };
    const component_shape s = shape_of({91, 91, 91}, {1, 1, 1}, ball);
    expect_within(s.surface_area, 4 * pi * 1600, 0.01), expect_within(s.area, 4 * pi * 64000 / 3, 0.002);
    expect_within(s.axis_major_length, 80, 0.002), expect_within(s.axis_minor_length, 80, 0.002);
    expect_within(s.equivalent_diameter_area, 80, 0.001);
    EXPECT_EQ(s.euler_number, 1);
    EXPECT_EQ(s.euler_number_faces, 1);
    expect_within(shape_of({45, 91, 121}, {2, 1, 0.75}, ball).surface_area, 4 * pi * 1600, 0.01);
}

TEST(Shapes, ABox) {
    const component_shape s = shape_of({40, 50, 60}, {1, 1, 1}, [](double z, double y, double x) {
        return std::abs(z) < 10 && std::abs(y) < 15 && std::abs(x) < 20;
    });
    EXPECT_EQ(s.area, 24000);
    EXPECT_EQ(s.extent, 1);
    // Thirteen directions err by up to a tenth for faces along the axes.
    expect_within(s.surface_area, 2 * (20 * 30 + 20 * 40 + 30 * 40), 0.1);
    for (std::size_t i = 0; i < 3; ++i) {
        const double side[] = {30 * 30 + 40 * 40 - 2, 20 * 20 + 40 * 40 - 2, 20 * 20 + 30 * 30 - 2};
        EXPECT_DOUBLE_EQ(s.inertia_tensor[i][i], side[i] / 12);
        EXPECT_DOUBLE_EQ(s.inertia_tensor_eigvals[i], side[i] / 12);
    }
}

TEST(Shapes, ATorusAndHoles) {
    const component_shape torus = shape_of({21, 61, 61}, {1, 1, 1}, [](double z, double y, double x) {
        const double r = std::sqrt(y * y + x * x) - 20;
        return z * z + r * r <= 49;
    });
    EXPECT_EQ(torus.euler_number, 0);
    EXPECT_EQ(torus.euler_number_faces, 0);
    expect_within(torus.surface_area, 4 * pi * pi * 20 * 7, 0.03);
    const component_shape shell = shape_of({21, 21, 21}, {1, 1, 1}, [](double z, double y, double x) {
        const double r = z * z + y * y + x * x;
        return r <= 81 && r >= 16;
    });
    EXPECT_EQ(shell.euler_number, 2);
    const component_shape ring = shape_of(
        {40, 40}, {1, 1}, [](double, double y, double x) { return y * y + x * x <= 300 && y * y + x * x >= 50; });
    EXPECT_EQ(ring.euler_number, 0);
    const component_shape corner = shape_of({2, 2}, {1, 1}, [](double, double y, double x) { return y * x > 0; });
    EXPECT_EQ(corner.euler_number, 1);
    EXPECT_EQ(corner.euler_number_faces, 2);
}

TEST(Shapes, ALineHasNoWidth) {
    const component_shape s = shape_of({30, 30}, {1, 1}, [](double, double y, double x) { return y == x; });
    EXPECT_EQ(s.axis_minor_length, 0);
    EXPECT_EQ(s.eccentricity, 1);
    EXPECT_NEAR(s.orientation, pi / 4, 1e-14);
    EXPECT_EQ(s.solidity, 1);
}

/// Sums are exact, so shapes far from the origin have the same values as near it.
TEST(Shapes, PlaceDoesNotMatter) {
    const std::int64_t side = std::int64_t{1} << 31;
    std::vector<std::uint8_t> few(9 * 9, 0);
    for (std::size_t i = 0; i < few.size(); ++i) few[i] = i % 3 == 0 || i % 5 == 1 ? 1 : 0;
    const auto near = any_input<host>::contiguous(static_cast<const void*>(few.data()), dtype::uint8,
                                                  std::vector<std::int64_t>{9, 9});
    // All lines of a large image share memory; only their last cells are not 0.
    std::vector<std::uint8_t> line(static_cast<std::size_t>(side / 512), 0);
    const std::size_t end = line.size();
    for (std::size_t x = 0; x < 9; ++x) line[end - 9 + x] = few[x];
    auto wide = any_input<host>::contiguous(static_cast<const void*>(line.data()), dtype::uint8,
                                            std::vector<std::int64_t>{1, side / 512});
    auto narrow = near;
    narrow.shape[0] = 1;
    const component_shape a = shape_measures(host{2, {}}, narrow, 1)[0], b = shape_measures(host{2, {}}, wide, 1)[0];
    EXPECT_EQ(std::memcmp(&a, &b, sizeof(a)), 0);
}

/// Shares of the sphere against points spread evenly over it; for cubes against Legland, Kieu, Devaux, table 1.
TEST(Crofton, DirectionsShareTheSphere) {
    for (const std::array<double, 3> length : {std::array<double, 3>{1, 1, 1}, {2.5, 1, 0.7}, {1, 1, 20}}) {
        constexpr auto steps = components::forward_steps(3, 3);
        const auto weight = components::crofton_weights<3>(length.data());
        double share[13] = {}, apart[13] = {};
        std::array<double, 3> unit[13];
        for (std::size_t k = 0; k < 13; ++k) {
            for (std::size_t i = 0; i < 3; ++i) unit[k][i] = steps.all[k].by[i] * length[i];
            apart[k] = std::hypot(unit[k][0], unit[k][1], unit[k][2]);
            for (double& each : unit[k]) each /= apart[k];
        }
        constexpr int points = 200000;
        for (int i = 0; i < points; ++i) {
            const double z = (2 * i + 1.0) / points - 1, around = i * 2.399963229728653, r = std::sqrt(1 - z * z);
            std::size_t best = 0;
            double most = 0;
            for (std::size_t k = 0; k < 13; ++k) {
                const double near =
                    std::abs(unit[k][0] * z + unit[k][1] * r * std::cos(around) + unit[k][2] * r * std::sin(around));
                if (near > most) most = near, best = k;
            }
            share[best] += 1.0 / points;
        }
        for (std::size_t k = 0; k < 13; ++k)
            EXPECT_NEAR(weight[k] * apart[k] / (4 * length[0] * length[1] * length[2]), share[k], 2e-4) << k;
    }
    const double cube[] = {1, 1, 1};
    const auto weight = components::crofton_weights<3>(cube);
    EXPECT_NEAR(weight[0], 8 * 0.04577789120476, 1e-12);
    EXPECT_NEAR(weight[1], 8 * 0.03698062787608 / std::sqrt(2), 1e-12);
    EXPECT_NEAR(weight[4], 8 * 0.03519563978232 / std::sqrt(3), 1e-12);
}

}  // namespace
}  // namespace nearfield::test
