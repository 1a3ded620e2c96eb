// Graphs of skeletons through the C++ calls; the oracle and random cases are in tests/package/test_skeleton.py.
#include <gtest/gtest.h>

#include "nearfield/skeleton_graph.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

// A row of six cells, with a column that leaves at the third one.
constexpr std::uint8_t comb[4][6] = {{0, 0, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0}, {0, 0, 1, 0, 0, 0}, {1, 1, 1, 1, 1, 1}};
const view<const std::uint8_t, 2, host> skeleton{&comb[0][0], extent{4, 6}};

TEST(SkeletonGraph, MeasuresBranches) {
    const double radius[24] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 4, 2, 1, 1};
    const skeleton_graph graph =
        graph_of(cells_of_skeleton(skeleton, view<const double, 2, host>{radius, extent{4, 6}}, {2, 1}));
    ASSERT_EQ(graph.branches.size(), 3U);
    ASSERT_EQ(graph.nodes.size(), 4U);
    EXPECT_EQ(graph.nodes[1].kind, node_kind::junction);
    const skeleton_branch& tail = graph.branches[2];
    EXPECT_EQ(tail.kind, branch_kind::tip_junction);
    EXPECT_EQ(tail.steps[0], 2);
    EXPECT_EQ(tail.length, 2);
    EXPECT_EQ(tail.largest, 2);
    EXPECT_EQ(pruned(graph, branch_rule::length, 2.5).branches.size(), 1U);
    EXPECT_EQ(pruned(graph, branch_rule::length, 1).branches.size(), 3U);
    EXPECT_EQ(csv_of(graph).substr(0, 12), "skeleton-id,");
}

TEST(SkeletonGraph, GoesOnBeyondPeriodicEnds) {
    const borders ends{border::open, border::periodic};
    const skeleton_graph graph = graph_of(cells_of_skeleton(skeleton, {}, {}, ends));
    ASSERT_EQ(graph.branches.size(), 2U);
    EXPECT_EQ(graph.branches[1].straight, 4);  // from the junction's left to its right, across the end
    EXPECT_TRUE(graph_of(cells_of_skeleton(view<const std::uint8_t, 1, host>{nullptr, extent{0}})).nodes.empty());
}

TEST(SkeletonGraph, RefusesWhatItCannotMeasure) {
    const skeleton_graph graph = graph_of(cells_of_skeleton(skeleton));
    expect_refused([&] { static_cast<void>(pruned(graph, branch_rule::ratio, 1)); }, {"values"});
    expect_refused([&] { static_cast<void>(pruned(graph, branch_rule::length, -1)); }, {"bound is -1"});
    skeleton_cells wrong = graph.cells;
    std::swap(wrong.at[0], wrong.at[1]);
    expect_refused([&] { static_cast<void>(graph_of(wrong)); }, {"ascending"});
    const view<const std::uint8_t, 4, host> four{&comb[0][0], extent{1, 1, 4, 6}};
    expect_refused([&] { static_cast<void>(cells_of_skeleton(four)); }, {"4 axes"});
}

}  // namespace
}  // namespace nearfield::test
