// Chessboard and city-block distances on the host.
#include <gtest/gtest.h>

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
