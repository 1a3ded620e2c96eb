// Label propagation on the host: against flood fill for every switch that finishes, and its rounds against the text.
#include <gtest/gtest.h>

#include "link_propagation/call.hpp"

namespace nearfield::test {
namespace {

TEST(LinkPropagationHost, EveryFigureOnEveryShape) { walk_figures(propagate_on_host, 3); }
TEST(LinkPropagationHost, EveryCriterionTypeAndLayout) { walk_criteria(propagate_on_host, 1); }
TEST(LinkPropagationHost, RoundsAreThoseOfTheText) { walk_rounds(propagate_on_host, 13); }
TEST(LinkPropagationHost, NeverUnfinishedInSilence) { walk_unfinished(propagate_on_host); }

TEST(LinkPropagationHost, EverySwitchThatFinishesOnWindingFigures) {
    for (const figure kind : {figure::spiral, figure::comb, figure::comb_down, figure::u_shapes, figure::giant,
                              figure::percolation4, figure::grains4})
        for (const shape_t& shape : {shape_t{61, 67}, shape_t{7, 19, 35}})
            for (const propagation_options& how : finishing_switches()) {
                label_call c = drawn(shape, make_figure(kind, shape), 1);
                c.how.threads = 1 + how.gather_length % 2;
                ASSERT_EQ(check_propagation(propagate_on_host, c, how), "") << name_of(kind) << ' ' << name_of(how);
            }
}

TEST(LinkPropagationHost, LinksAreDoubledAsOftenAsTheirLengthAsks) {
    const shape_t shape{40, 300};
    const std::pair<int, std::int64_t> steps[] = {{1, 0},  {2, 1},   {3, 2},   {32, 5},  {33, 6},
                                                  {64, 6}, {255, 8}, {256, 8}, {299, 9}, {65535, 9}};
    for (const auto& [length, expected] : steps) {
        label_call c = drawn(shape, make_figure(figure::giant, shape), 1);
        EXPECT_EQ(propagate_on_host(c, {.gather_length = length}).link_steps, expected) << length;
        EXPECT_EQ(propagate_on_host(c, {.links = false, .gather_length = length}).link_steps, 0);
    }
}

/// The curve winds most: reading masters moves a label a few turns in a round, writing to them doubles its distance.
TEST(LinkPropagationHost, HilbertCurve) {
    const std::int64_t side = test_scale() < 1 ? 64 : 256;
    const label_call c = drawn({side, side}, hilbert_curve(side), 1);
    propagation_report pulled, hooked;
    EXPECT_EQ(check_propagation(propagate_on_host, c, {}, &pulled), "");
    EXPECT_EQ(check_propagation(propagate_on_host, c, {.hooked = true}, &hooked), "");
    EXPECT_EQ(pulled.rounds, side == 64 ? 436 : 6656);
    EXPECT_LE(hooked.rounds, side == 64 ? 6 : 22);
}

TEST(LinkPropagationHost, LongerLinksTakeFewerRoundsOnASpiral) {
    label_call c = drawn({255, 255}, make_figure(figure::spiral, {255, 255}), 1);
    std::int64_t before = propagate_on_host(c, {.links = false}).rounds;
    for (const int length : {8, 32, 64, 255}) {
        const std::int64_t rounds = propagate_on_host(c, {.gather_length = length}).rounds;
        EXPECT_LT(rounds, before) << length;
        before = rounds;
    }
}

/// Tests which switches finish which image: every image of 3 x 4 cells, with both connectivities.
TEST(LinkPropagationHost, EverySmallImage) {
    for (const int connectivity : {1, 2})
        for (unsigned bits = 0; bits < 4096; ++bits) {
            flags_t image(12);
            for (unsigned i = 0; i < 12; ++i) image[i] = bits >> i & 1;
            const label_call c = drawn({3, 4}, image, connectivity);
            for (const bool masters : {false, true})
                for (const bool hooked : {false, true}) {
                    propagation_options how{.masters = masters, .hooked = hooked};
                    ASSERT_EQ(check_propagation(propagate_on_host, c, how), "") << bits;
                    how.links = false;
                    ASSERT_EQ(check_propagation(propagate_on_host, c, how), "") << bits;
                    how.links = true, how.neighbours = false;  // gives correct labels or an error
                    if (!refusal(propagate_on_host, c, how).empty()) continue;
                    ASSERT_EQ(check_propagation(propagate_on_host, c, how), "") << bits;
                }
        }
}

}  // namespace
}  // namespace nearfield::test
