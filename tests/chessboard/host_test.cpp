// Chessboard and city-block distances on the host.
#include <gtest/gtest.h>

#include <algorithm>

#include "chessboard/cases.hpp"
#include "nearfield/chamfer.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

std::vector<std::int32_t> on_host(const step_case& c, int threads) {
    std::vector<std::int32_t> out(c.mask.size(), 7);
    const step_call<host> call = call_of<host>(c.diagonal);
    call(host{threads, {}}, any_input<host>::contiguous(c.mask.data(), dtype::uint8, c.shape),
         any_output<host>::contiguous(out.data(), dtype::int32, c.shape), c.options);
    return out;
}

TEST(Chessboard, RandomCases) {
    check_steps([](const step_case& c) { return on_host(c, 1 + static_cast<int>(c.mask.size() % 3)); }, true, 0, 1500);
}

TEST(Chessboard, Lengths) {
    check_lengths([](const step_case& c) { return on_host(c, 1 + static_cast<int>(c.mask.size() % 3)); });
}

TEST(Chessboard, Dense) {
    int calls = 0;
    check_dense([&](const step_case& c) { return on_host(c, 1 + calls++ % 3); });
}

/// Slabs so large that threads share one, more than 65533 cells along an axis, and axes that change places.
TEST(Chessboard, LargerGridsAreTheChamferTransforms) {
    for (const shape_t& shape :
         {shape_t{9, 260, 300}, {260, 300, 9}, {40, 40, 41}, {3, 70000}, {70000, 2}, {5, 40000}}) {
        for (const bool diagonal : {true, false}) {
            step_case c;
            c.shape = shape, c.diagonal = diagonal, c.mask = make_random(shape, 0.001, 5);
            c.options.sites = sites::nonzero;
            std::vector<std::int32_t> wanted(c.mask.size());
            const int rank = static_cast<int>(shape.size());
            const auto weights =
                diagonal ? (rank == 2 ? step_weights(2, {1, 1}) : step_weights(3, {1, 1, 1})) : step_weights(rank, {1});
            chamfer_fields<host> fields;
            fields.distance = any_output<host>::contiguous(wanted.data(), dtype::int32, shape);
            chamfer_transform(host{}, any_input<host>::contiguous(c.mask.data(), dtype::uint8, shape), fields,
                              {.weights = weights, .sites = sites::nonzero});
            EXPECT_EQ(on_host(c, 1), wanted);
            EXPECT_EQ(on_host(c, 3), wanted);
        }
    }
}

/// Lines too long for a cache with sites near each other, which are scanned.
TEST(Chessboard, LongDenseLines) {
    for (const border ends : {border::open, border::closed})
        for (const double density : {0.13, 0.5, 1.0}) {
            step_case c;
            c.shape = {70001}, c.mask = make_random(c.shape, density, 3);
            c.options.sites = sites::nonzero, c.options.border = ends;
            std::fill_n(c.mask.begin(), 20, std::uint8_t{0}), std::fill_n(c.mask.end() - 20, 20, std::uint8_t{0});
            std::vector<std::int64_t> places;
            if (ends == border::closed) places.push_back(-1);
            for (std::int64_t x = 0; x < 70001; ++x)
                if (c.mask[static_cast<std::size_t>(x)] != 0) places.push_back(x);
            if (ends == border::closed) places.push_back(70001);
            const std::vector<std::int32_t> found = on_host(c, 1);
            for (std::int64_t x = 0; x < 70001; ++x) {
                const auto next = std::lower_bound(places.begin(), places.end(), x);
                std::int64_t least = next == places.end() ? 70001 : *next - x;
                if (next != places.begin()) least = std::min(least, x - *(next - 1));
                ASSERT_EQ(found[static_cast<std::size_t>(x)], least) << x;
            }
        }
}

/// Slabs of several solved axes, whose neighbours are found one axis after the other; threads share those of the last.
TEST(Chessboard, ManyAxes) {
    for (const shape_t& shape : {shape_t{3, 4, 3, 2, 5}, {4, 2, 3, 3, 2, 4}, {2, 2, 3, 2, 2, 2, 3, 2}, {2, 12, 50, 60}})
        for (const int threads : {1, 3}) {
            step_case c;
            c.shape = shape, c.mask.resize(static_cast<std::size_t>(cells_of(shape)));
            c.options.sites = sites::nonzero;
            const std::vector<std::int64_t> places = {1, cells_of(shape) / 3, cells_of(shape) - 2};
            for (const std::int64_t site : places) c.mask[static_cast<std::size_t>(site)] = 1;
            const std::vector<std::int32_t> found = on_host(c, threads);
            for (std::int64_t cell = 0; cell < cells_of(shape); ++cell) {
                std::int64_t least = cells_of(shape);
                for (std::int64_t q : places) {
                    std::int64_t p = cell, most = 0;
                    for (std::size_t axis = shape.size(); axis-- > 0; p /= shape[axis], q /= shape[axis])
                        most = std::max(most, std::abs(p % shape[axis] - q % shape[axis]));
                    least = std::min(least, most);
                }
                ASSERT_EQ(found[static_cast<std::size_t>(cell)], least) << cell << testing::PrintToString(shape);
            }
        }
}

TEST(Chessboard, NarrowTypesSaturateAndLayoutsDoNotShow) {
    const shape_t shape{3, 400};
    std::vector<float> image(2 * 1200, 1);
    image[0] = -0.0F, image[2 * 799] = 0;
    std::vector<std::uint8_t> narrow(3600, 9);
    const view<const float, 2, host> from{image.data(), extent{3, 400}, {800, 2}};
    chessboard_distance(host{2, {}}, from, view<std::uint8_t, 2, host>{narrow.data(), extent{3, 400}, {1200, 3}});
    std::vector<std::int32_t> wide(1200);
    chessboard_distance(host{1, {}}, from, view<std::int32_t, 2, host>{wide.data(), extent{3, 400}});
    EXPECT_EQ(wide[0], 0);
    EXPECT_EQ(wide[799], 0);
    EXPECT_EQ(narrow[1], 9);
    for (std::size_t i = 0; i < wide.size(); ++i) ASSERT_EQ(narrow[3 * i], std::min(wide[i], 255));
    chessboard_distance(host{}, from, view<std::int32_t, 2, host>{wide.data(), extent{3, 400}}, {.max_distance = 2.5});
    EXPECT_EQ(wide[2], 2);
    EXPECT_EQ(wide[3], 0x7fffffff);
}

TEST(Chessboard, Refusals) {
    std::uint8_t mask[4] = {};
    std::int32_t out[4];
    const view<const std::uint8_t, 2, host> from{mask, extent{2, 2}};
    const auto call = [&](const step_options& o, any_output<host> to) {
        return [=] { cityblock_distance(host{}, from, to, o); };
    };
    const view<std::int32_t, 2, host> to{out, extent{2, 2}};
    expect_refused(call({.sites = sites::other_labels}, to), {"sites", "nonzero"});
    expect_refused(call({.max_distance = -1}, to), {"max_distance"});
    expect_refused(call({.batch_axes = 2}, to), {"batch_axes is 2"});
    expect_refused(call({.side = {2}}, to), {"side"});
    expect_refused(call({}, {}), {"out"});
    expect_refused(call({}, view<std::int32_t, 1, host>{out, extent{4}}), {"out"});
    expect_refused(call({}, view<std::uint8_t, 2, host>{mask, extent{2, 2}}), {"overlap"});
    expect_refused([&] { chessboard_distance(host{-1, {}}, from, to); }, {"threads"});
    EXPECT_THROW(chessboard_distance(host{1, [](double) { return false; }}, from, to), error);
}

}  // namespace
}  // namespace nearfield::test
