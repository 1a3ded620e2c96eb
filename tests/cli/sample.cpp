#include "cli/sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>

#include "cli/generator.hpp"

namespace nearfield::cli {
namespace {

std::span<const std::uint8_t> cells_of(const io::array& made) {
    return {reinterpret_cast<const std::uint8_t*>(made.data.get()), static_cast<std::size_t>(made.cells())};
}

std::uint64_t fingerprint(const io::array& made) {
    std::uint64_t hash = 14695981039346656037U;
    for (std::uint8_t cell : cells_of(made)) hash = (hash ^ cell) * 1099511628211U;
    return hash;
}

double share(const io::array& made) {
    const auto cells = cells_of(made);
    return static_cast<double>(std::count(cells.begin(), cells.end(), 255)) / static_cast<double>(cells.size());
}

sample_options options_for(sample_kind kind, std::vector<std::int64_t> shape, std::uint64_t seed = 3) {
    return {std::move(shape), seed, kind == sample_kind::random ? 0.25 : 0, 0, false};
}

TEST(Sample, EveryKindButLabelsHasTwoValuesInTwoAndThreeDimensions) {
    for (const sample_info& each : sample_kinds())
        if (each.kind != sample_kind::labels)
            for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{61, 83}, {31, 40, 37}}) {
                const io::array made = make_sample(each.kind, options_for(each.kind, shape));
                EXPECT_EQ(made.shape, shape) << each.name;
                EXPECT_EQ(made.type, dtype::uint8);
                for (std::uint8_t cell : cells_of(made)) ASSERT_TRUE(cell == 0 || cell == 255) << each.name;
                EXPECT_GT(share(made), 0) << each.name;
                EXPECT_LT(share(made), 1) << each.name;
            }
}

// Recorded values: if a machine or compiler changes them, the promise of equal samples is broken.
TEST(Sample, ASeedGivesTheSameBitsEverywhere) {
    const auto of = [](sample_kind kind, std::vector<std::int64_t> shape) {
        return fingerprint(make_sample(kind, options_for(kind, std::move(shape))));
    };
    EXPECT_EQ(of(sample_kind::blobs, {60, 70}), 7315463584991421647U);
    EXPECT_EQ(of(sample_kind::cells, {60, 70}), 8375914939967301215U);
    EXPECT_EQ(of(sample_kind::maze, {60, 70}), 2646463990477320487U);
    EXPECT_EQ(of(sample_kind::vessels, {60, 70}), 3686460801955552769U);
    EXPECT_EQ(of(sample_kind::random, {60, 70}), 14918325351167885462U);
    EXPECT_EQ(of(sample_kind::one, {60, 70}), 16342252282444935984U);
    EXPECT_EQ(of(sample_kind::blobs, {20, 30, 40}), 16175051369726952669U);
    EXPECT_EQ(of(sample_kind::vessels, {20, 30, 40}), 196114571539936092U);
}

std::vector<std::uint16_t> labels_of(std::vector<std::int64_t> shape, std::int64_t scale, double density = 0,
                                     std::uint64_t seed = 3) {
    const io::array made = make_sample(sample_kind::labels, {std::move(shape), seed, density, scale, false});
    EXPECT_EQ(made.type, dtype::uint16);
    const auto* cells = reinterpret_cast<const std::uint16_t*>(made.data.get());
    return {cells, cells + made.cells()};
}

TEST(Sample, LabelsAreRegionsWithGaps) {
    const std::vector<std::uint16_t> labels = labels_of({200, 300}, 20);
    std::map<std::uint16_t, int> sizes;
    for (std::uint16_t each : labels) ++sizes[each];
    // There are about 150 blocks of 20 by 20 cells, including those at the edge.
    EXPECT_GT(sizes.size(), 100U);
    EXPECT_LT(sizes.size(), 220U);
    EXPECT_NEAR(sizes[0] / 60000.0, 0.2, 0.1);
    for (const auto& [label, cells] : sizes) EXPECT_TRUE(label == 0 || cells < 1500) << label;
    // Most neighbouring cells belong to one region, and all regions touch others.
    int same = 0;
    for (std::size_t i = 1; i < labels.size(); ++i) same += labels[i] == labels[i - 1];
    EXPECT_GT(same, 60000 * 9 / 10);
    EXPECT_LT(same, 60000 * 99 / 100);
    for (std::uint16_t each : labels_of({60, 70}, 9, 1.0)) EXPECT_NE(each, 0);
    EXPECT_EQ(labels_of({1}, 0).size(), 1U);
    EXPECT_EQ(labels_of({0, 5}, 0).size(), 0U);
    EXPECT_NE(labels_of({60, 70}, 0, 0, 1), labels_of({60, 70}, 0, 0, 2));
    EXPECT_THROW(static_cast<void>(make_sample(sample_kind::labels, {{5, 5}, 1, 0, 0, true})), error);
    EXPECT_THROW(static_cast<void>(make_sample(sample_kind::labels, {{5, 5, 5, 5}, 1, 0, 0, false})), error);
}

TEST(Sample, SeedsDiffer) {
    for (sample_kind kind :
         {sample_kind::blobs, sample_kind::cells, sample_kind::maze, sample_kind::vessels, sample_kind::random})
        EXPECT_NE(fingerprint(make_sample(kind, options_for(kind, {60, 70}, 1))),
                  fingerprint(make_sample(kind, options_for(kind, {60, 70}, 2))));
}

TEST(Sample, DensityIsMet) {
    for (double density : {0.001, 0.1, 0.5, 0.9, 1.0}) {
        EXPECT_NEAR(share(make_sample(sample_kind::random, {{500, 600}, 5, density, 0, false})), density, 0.01);
        EXPECT_NEAR(share(make_sample(sample_kind::blobs, {{300, 300}, 5, density, 0, false})), density, 0.01);
    }
}

TEST(Sample, OneIsOneAndInvertTurnsRound) {
    const io::array one = make_sample(sample_kind::one, {{7, 8, 9, 10}, 4, 0, 0, false});
    const io::array inverted = make_sample(sample_kind::one, {{7, 8, 9, 10}, 4, 0, 0, true});
    EXPECT_EQ(std::count(cells_of(one).begin(), cells_of(one).end(), 255), 1);
    EXPECT_EQ(std::count(cells_of(inverted).begin(), cells_of(inverted).end(), 0), 1);
}

TEST(Sample, CircleIsSymmetricAndOfItsDiameter) {
    const io::array made = make_sample(sample_kind::circle, {{41, 50}, 1, 0, 20, false});
    const auto cells = cells_of(made);
    for (std::size_t r = 0; r < 41; ++r)
        for (std::size_t c = 0; c < 50; ++c) ASSERT_EQ(cells[r * 50 + c], cells[(40 - r) * 50 + 49 - c]);
    EXPECT_EQ(std::count(cells.begin() + 20 * 50, cells.begin() + 21 * 50, 255), 20);
}

/// Number of cells that face steps reach from the first open one.
std::size_t reached(std::span<const std::uint8_t> cells, std::int64_t rows, std::int64_t columns) {
    std::vector<bool> seen(cells.size(), false);
    std::queue<std::int64_t> open;
    open.push(std::find(cells.begin(), cells.end(), 255) - cells.begin());
    seen[static_cast<std::size_t>(open.front())] = true;
    std::size_t count = 0;
    for (; !open.empty(); open.pop(), ++count) {
        const std::int64_t at = open.front(), row = at / columns, column = at % columns;
        const auto visit = [&](std::int64_t r, std::int64_t c) {
            if (r < 0 || c < 0 || r >= rows || c >= columns) return;
            const auto i = static_cast<std::size_t>(r * columns + c);
            if (cells[i] == 255 && !seen[i]) seen[i] = true, open.push(static_cast<std::int64_t>(i));
        };
        visit(row - 1, column), visit(row + 1, column), visit(row, column - 1), visit(row, column + 1);
    }
    return count;
}

TEST(Sample, EveryCorridorOfAMazeCanBeReached) {
    const io::array made = make_sample(sample_kind::maze, {{90, 120}, 9, 0, 3, false});
    EXPECT_EQ(reached(cells_of(made), 90, 120),
              static_cast<std::size_t>(std::count(cells_of(made).begin(), cells_of(made).end(), 255)));
}

TEST(Sample, ThinAndEmptyShapes) {
    for (sample_kind kind : {sample_kind::blobs, sample_kind::cells, sample_kind::random, sample_kind::one,
                             sample_kind::circle, sample_kind::checkerboard}) {
        for (std::int64_t n : {1, 2, 3, 31})
            for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{n}, {1, n}, {n, 1}, {n, 1, 2}})
                EXPECT_EQ(make_sample(kind, options_for(kind, shape)).shape, shape);
        EXPECT_EQ(make_sample(kind, options_for(kind, {0, 5})).cells(), 0);
    }
    EXPECT_GT(share(make_sample(sample_kind::vessels, options_for(sample_kind::vessels, {1, 50}))), 0);
}

TEST(Sample, WrongRequestsAreRefused) {
    const auto refused = [](sample_kind kind, const sample_options& options) {
        try {
            static_cast<void>(make_sample(kind, options));
        } catch (const error& problem) {
            return problem.code() == error_code::invalid_argument;
        }
        return false;
    };
    EXPECT_TRUE(refused(sample_kind::maze, {{50}, 1, 0, 0, false}));
    EXPECT_TRUE(refused(sample_kind::maze, {{50, 2}, 1, 0, 0, false}));
    EXPECT_TRUE(refused(sample_kind::vessels, {{5, 5, 5, 5}, 1, 0, 0, false}));
    EXPECT_TRUE(refused(sample_kind::random, {{5, -5}, 1, 0, 0, false}));
    EXPECT_TRUE(refused(sample_kind::random, {{}, 1, 0, 0, false}));
    EXPECT_TRUE(refused(sample_kind::random, {{5, 5}, 1, 1.5, 0, false}));
    EXPECT_TRUE(refused(sample_kind::random, {{5, 5}, 1, std::nan(""), 0, false}));
    EXPECT_TRUE(refused(sample_kind::circle, {{5, 5}, 1, 0, -1, false}));
    EXPECT_TRUE(refused(sample_kind::random, {{std::int64_t{1} << 40, std::int64_t{1} << 40}, 1, 0, 0, false}));
    EXPECT_THROW(static_cast<void>(sample_kind_of("blob")), error);
}

TEST(Generator, IntegerRootIsTheFloor) {
    for (std::int64_t x : {0LL, 1LL, 2LL, 3LL, 4LL, 15LL, 16LL, 17LL, (1LL << 60) - 1, 1LL << 60, (1LL << 62) - 1}) {
        const std::int64_t root = integer_root(x);
        EXPECT_LE(root * root, x);
        EXPECT_TRUE(root == (1LL << 31) - 1 || (root + 1) * (root + 1) > x);
    }
}

}  // namespace
}  // namespace nearfield::cli
