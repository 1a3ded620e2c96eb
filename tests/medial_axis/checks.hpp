// Images for the medial axis, and checks of every backend against the oracle. A `Runner` brings arrays to a place,
// makes a call there, and brings them back; see components/checks.hpp.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "components/checks.hpp"
#include "exact/cases.hpp"
#include "exact/guarded.hpp"
#include "nearfield/medial_axis.hpp"
#include "oracle/medial_axis.hpp"

namespace nearfield::test {

/// One call, entirely drawn from a seed.
struct axis_case {
    std::uint64_t seed = 0;
    shape_t shape;            ///< shape of one image
    std::int64_t images = 0;  ///< 0 if there is no batch axis
    bool labels = false, nonzero = false;
    std::vector<double> spacing;
    double unit = 1;
    std::vector<border> ends;
    pruning prune = pruning::constant;
    double gamma = 1;
    std::vector<std::int64_t> value;  ///< values of all images; 0 is outside
    bool tight = false;               ///< true if all arrays are contiguous

    [[nodiscard]] std::uint64_t draw(std::uint64_t which) const { return mix(seed * 977 + which); }
    [[nodiscard]] std::int64_t cells() const { return cells_of(shape); }
    [[nodiscard]] shape_t full_shape() const;
    [[nodiscard]] guarded array(dtype type, std::uint64_t which) const;
    [[nodiscard]] medial_axis_options options() const;
    [[nodiscard]] reconstruct_options rebuilding() const;
    [[nodiscard]] oracle::axis_problem problem(std::int64_t image) const;
    [[nodiscard]] guarded image() const;
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool counted() const { return spacing.size() == 1 || spacing[0] != 1.3090169943749475; }
};

/// Draws a case with 1 to 3 axes and sides up to `longest`.
axis_case draw_case(std::uint64_t seed, int axes, std::int64_t longest);

std::int64_t read_whole(const guarded& from, std::int64_t i);
void write_whole(guarded& to, std::int64_t i, std::int64_t value);

/// Turns a case into a mask in unit spacing with open borders, for which a device has a special pass.
void make_plain(axis_case& c);
/// A plain mask of this shape with large objects.
axis_case large_case(const shape_t& shape, std::uint64_t seed);
/// A plain case with three to six random sites and with constant pruning.
axis_case case_of_few_sites(const shape_t& shape, std::uint64_t seed);
/// A plain case with sites in two opposite corners only and with constant pruning.
axis_case case_of_corners(const shape_t& shape);

/// Balls are kept by the formula; dropped ones must lie in a neighbour's ball. False if a cell has no site.
bool check_containment(const axis_case& c, std::int64_t image, const guarded& balls);

/// Calls check(case) for small cases of every number of axes; for fewer if NEARFIELD_TEST_SCALE says so.
template <class Check>
void for_each_case(std::uint64_t first, std::uint64_t count, const Check& check) {
    const auto wanted = static_cast<std::uint64_t>(std::ceil(static_cast<double>(count) * std::min(1.0, test_scale())));
    for (std::uint64_t seed = first; seed < first + wanted && !testing::Test::HasFailure(); ++seed) {
        const int axes = 1 + static_cast<int>(seed % 3);
        check(draw_case(seed, axes, axes == 1 ? 30 : axes == 2 ? 12 : 6));
    }
}

/// Checks axis_method::integer: the axis, the second sites, and the other fields.
template <class Runner>
void check_axis(const Runner& run, const axis_case& c) {
    SCOPED_TRACE(c.text());
    guarded image = c.image(), axis = c.array(c.draw(1) % 2 == 0 ? dtype::boolean : dtype::uint8, 2),
            second = c.array(c.draw(3) % 2 == 0 ? dtype::int32 : dtype::int64, 4),
            index = c.array(c.draw(5) % 2 == 0 ? dtype::int32 : dtype::int64, 6), squared = c.array(dtype::float64, 7);
    const bool with_second = c.draw(8) % 2 == 0, with_index = c.draw(9) % 2 == 0, with_squared = c.draw(10) % 3 == 0;
    const std::vector<guarded*> arrays{&image, &axis, &second, &index, &squared};
    run(arrays, [&](const auto& on, const auto& at) {
        medial_axis_fields<std::remove_cvref_t<decltype(on)>> out;
        out.axis = at(axis);
        if (with_second) out.second = at(second);
        if (with_index) out.index = at(index);
        if (with_squared) out.squared = at(squared);
        medial_axis(on, at(image), out, c.options());
    });
    expect_guarded(arrays);
    for (std::int64_t k = 0; k < std::max<std::int64_t>(1, c.images) && !testing::Test::HasFailure(); ++k) {
        const oracle::axis_answer expected = oracle::medial_axis(c.problem(k));
        for (std::int64_t cell = 0; cell < c.cells() && !testing::Test::HasFailure(); ++cell) {
            const std::int64_t i = k * c.cells() + cell;
            const auto e = static_cast<std::size_t>(cell);
            EXPECT_EQ(read_whole(axis, i), expected.axis[e]) << "cell " << cell << " of image " << k;
            if (with_second) {
                EXPECT_EQ(read_whole(second, i), expected.second[e]) << "cell " << cell << ", second";
            }
            if (with_squared && std::isfinite(expected.squared[e])) {
                const double length2 = c.unit * c.unit;
                EXPECT_NEAR(squared.get<double>(i), expected.squared[e] * length2, 1e-12 * expected.squared[e]);
            }
        }
    }
}

/// Checks that the shape is rebuilt from the centres that `axis` marks, which carry their cells' values.
template <class Runner>
void check_rebuilt(const Runner& run, const axis_case& c, const guarded& axis, guarded& squared) {
    const dtype label = c.labels ? c.image().type() : dtype::uint8;
    guarded centres = c.array(label, 7), rebuilt = c.array(label, 5);
    for (std::int64_t i = 0; i < axis.cells(); ++i)
        write_whole(centres, i, read_whole(axis, i) != 0 ? c.value[static_cast<std::size_t>(i)] : 0);
    const std::vector<guarded*> arrays{&centres, &squared, &rebuilt};
    run(arrays, [&](const auto& on, const auto& at) {
        reconstruct(on, at(centres), at(squared), at(rebuilt), c.rebuilding());
    });
    expect_guarded(arrays);
    for (std::int64_t i = 0; i < axis.cells() && !testing::Test::HasFailure(); ++i)
        EXPECT_EQ(read_whole(rebuilt, i), c.value[static_cast<std::size_t>(i)]) << "cell " << i;
}

/// Checks axis_method::balls and ::reduced: a dropped ball lies in a neighbour's, and the shape is rebuilt.
template <class Runner>
void check_balls(const Runner& run, const axis_case& c) {
    SCOPED_TRACE(c.text());
    if (!c.counted()) return;
    medial_axis_options options = c.options();
    options.prune = pruning::constant, options.gamma = 1;
    const dtype radius = c.unit != 1 ? dtype::float64 : c.draw(3) % 2 == 0 ? dtype::uint32 : dtype::uint64;
    guarded image = c.image(), balls = c.array(dtype::boolean, 2), reduced = c.array(dtype::uint8, 3),
            squared = c.array(radius, 4);
    const std::vector<guarded*> arrays{&image, &balls, &reduced, &squared};
    run(arrays, [&](const auto& on, const auto& at) {
        medial_axis_fields<std::remove_cvref_t<decltype(on)>> out;
        out.axis = at(balls), out.squared = at(squared);
        options.method = axis_method::balls;
        medial_axis(on, at(image), out, options);
        out = {}, out.axis = at(reduced);
        options.method = axis_method::reduced;
        medial_axis(on, at(image), out, options);
    });
    expect_guarded(arrays);
    for (std::int64_t i = 0; i < image.cells(); ++i)
        EXPECT_LE(read_whole(reduced, i), read_whole(balls, i)) << "cell " << i;
    bool all_reached = true;
    for (std::int64_t k = 0; k < std::max<std::int64_t>(1, c.images) && !testing::Test::HasFailure(); ++k)
        all_reached = check_containment(c, k, balls) && all_reached;
    if (!all_reached || testing::Test::HasFailure()) return;
    check_rebuilt(run, c, balls, squared);
    check_rebuilt(run, c, reduced, squared);
}

/// Compares two backends: one axis by each method.
template <class Runner, class Other>
void check_equal(const Runner& run, const Other& other, const axis_case& c) {
    SCOPED_TRACE(c.text());
    for (const axis_method method : {axis_method::integer, axis_method::balls, axis_method::reduced}) {
        medial_axis_options options = c.options();
        options.method = method;
        if (method != axis_method::integer) options.prune = pruning::constant, options.gamma = 1;
        guarded image = c.image(), here = c.array(dtype::uint8, 2), there = c.array(dtype::uint8, 2);
        const auto call = [&](guarded& axis) {
            return [&](const auto& on, const auto& at) {
                medial_axis_fields<std::remove_cvref_t<decltype(on)>> out;
                out.axis = at(axis);
                medial_axis(on, at(image), out, options);
            };
        };
        run({&image, &here}, call(here));
        other({&image, &there}, call(there));
        EXPECT_TRUE(here.bytes() == there.bytes()) << "method " << static_cast<int>(method);
    }
}

}  // namespace nearfield::test
