// Stippling on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "centroidal/cases.hpp"
#include "nearfield/stipple.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

stipples stippled(const centroidal_case& c, stipple_options options, int threads = 1) {
    const std::vector<std::byte> image = c.packed();
    options.invert = true;
    return stipple(host{threads, {}}, any_input<host>::contiguous(image.data(), c.type, c.shape), options);
}

/// There are as many different points as asked for, which share the ink; any number of threads gives the same ones.
TEST(Stipple, PointsShareTheInk) {
    for (const shape_t& shape : {shape_t{300}, shape_t{70, 90}, shape_t{18, 20, 22}}) {
        const centroidal_case c = large_centroidal_case(shape, 1, 2);
        const double ink = std::accumulate(c.density.begin(), c.density.end(), 0.0);
        for (const stipple_method method : {stipple_method::lloyd, stipple_method::lbg}) {
            stipple_options options;
            options.points = 61, options.method = method, options.seed = 9;
            const stipples made = stippled(c, options);
            ASSERT_EQ(made.count(), 61);
            const auto axes = static_cast<std::ptrdiff_t>(shape.size());
            std::set<std::vector<std::int32_t>> different;
            for (auto at = made.parts.begin(); at != made.parts.end(); at += axes) different.insert({at, at + axes});
            EXPECT_EQ(different.size(), 61U);
            const double sum = std::accumulate(made.weights.begin(), made.weights.end(), 0.0);
            EXPECT_EQ(sum, ink * std::pow(made.supersample, axes));
            double far = 0;
            for (const std::int64_t each : made.weights)
                far = std::max(far, std::abs(static_cast<double>(each) / sum * 61 - 1));
            EXPECT_LT(far, 1.0);
            EXPECT_EQ(made.parts, stippled(c, options, 3).parts);
            options.seed = 10;
            EXPECT_EQ(made.parts == stippled(c, options).parts, method == stipple_method::lbg);
        }
    }
}

/// Few points and many: from one point to a point in every part.
TEST(Stipple, AnyNumberOfPoints) {
    const centroidal_case c = large_centroidal_case({12, 15}, 1, 4);
    const std::int64_t inked = std::count_if(c.density.begin(), c.density.end(), [](auto w) { return w > 0; });
    for (const stipple_method method : {stipple_method::lloyd, stipple_method::lbg})
        for (const std::int64_t points :
             {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{21}, inked / 2, inked}) {
            stipple_options options;
            options.points = points, options.method = method, options.supersample = 1, options.rounds = 12;
            EXPECT_EQ(stippled(c, options).count(), points) << points;
        }
    stipple_options options;
    options.points = inked + 1, options.supersample = 1;
    expect_refused([&] { static_cast<void>(stippled(c, options)); }, {"points is", "fewer"});
    options.supersample = 2;
    EXPECT_EQ(stippled(c, options).count(), inked + 1);
}

/// In an even gray all regions split at once; Linde-Buzo-Gray must not lose all points again.
TEST(Stipple, EvenGray) {
    centroidal_case c;
    c.shape = {64, 64};
    c.density.assign(64 * 64, 100);
    for (std::int64_t points = 1; points < 40; ++points) {
        stipple_options options;
        options.points = points, options.method = stipple_method::lbg;
        EXPECT_EQ(stippled(c, options).count(), points);
    }
}

TEST(Stipple, SizesAreThoseOfTheInk) {
    const centroidal_case c = large_centroidal_case({100, 120}, 1, 6);
    const double ink = std::accumulate(c.density.begin(), c.density.end(), 0.0) / 255;
    for (const stipple_method method : {stipple_method::lloyd, stipple_method::lbg}) {
        stipple_options options;
        options.size = 4, options.method = method;
        const stipples made = stippled(c, options);
        const double cells = 3.14159265358979 / 4 * 16;
        EXPECT_NEAR(static_cast<double>(made.count()), ink / cells,
                    method == stipple_method::lloyd ? 1 : 0.2 * ink / cells);
        double area = 0;
        for (std::int64_t i = 0; i < made.count(); ++i)
            area += 3.14159265358979 / 4 * made.diameter(i) * made.diameter(i);
        EXPECT_NEAR(area, ink, 1e-9 * ink);
    }
}

TEST(Stipple, WatchersAndRefusals) {
    const centroidal_case c = large_centroidal_case({60, 60}, 1, 6);
    stipple_options options;
    options.points = 40, options.rounds = 7;
    int rounds = 0;
    options.watch = [&](const stipple_state& state) { rounds += static_cast<int>(state.count() / 40); };
    const stipples watched = stippled(c, options);
    EXPECT_EQ(rounds, 7);
    options.watch = {};
    EXPECT_EQ(stippled(c, options).parts, watched.parts);
    const std::vector<std::byte> image = c.packed();
    const auto in = any_input<host>::contiguous(image.data(), c.type, c.shape);
    EXPECT_THROW(static_cast<void>(stipple(host{1, [](double) { return false; }}, in, options)), error);
    const auto call = [&](auto change) {
        return [=] {
            stipple_options changed = options;
            change(changed);
            static_cast<void>(stippled(c, changed));
        };
    };
    expect_refused(call([](auto& o) { o.size = 3; }), {"points is 40 and size is 3"});
    expect_refused(call([](auto& o) { o.points = 0; }), {"points is 0 and size is 0"});
    expect_refused(call([](auto& o) { o.points = -4; }), {"points is -4"});
    expect_refused(call([](auto& o) { o.points = 0, o.size = -1; }), {"size is -1"});
    expect_refused(call([](auto& o) { o.rounds = -2; }), {"rounds is -2"});
    expect_refused(call([](auto& o) { o.supersample = 9; }), {"supersample is 9"});
    expect_refused(call([](auto& o) { o.border = border::closed; }), {"border"});
    centroidal_case white = c;
    white.density.assign(white.density.size(), 0);
    expect_refused([&] { static_cast<void>(stippled(white, options)); }, {"no ink"});
}

}  // namespace
}  // namespace nearfield::test
