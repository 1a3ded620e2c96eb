// Step distances on the host against the oracle's cheapest paths: metrics, shapes, fills, layouts, threads.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "exact/cases.hpp"
#include "exact/fills.hpp"
#include "exact/guarded.hpp"
#include "nearfield/chamfer.hpp"
#include "oracle/steps.hpp"

namespace nearfield::test {
namespace {

using weights_t = std::vector<std::int32_t>;

constexpr dtype element_types[] = {dtype::boolean, dtype::int8,    dtype::uint8,   dtype::int16,
                                   dtype::uint16,  dtype::int32,   dtype::uint32,  dtype::int64,
                                   dtype::uint64,  dtype::float16, dtype::float32, dtype::float64};

/// Variants of a call, by number: memory layouts, element types, wanted outputs, threads, and the rule for
/// sites.
struct clothes {
    layout image, out;
    dtype element, distance, index;
    bool wants_index, wants_coordinates, nonzero;
    int threads;
    tie_rule ties;
    explicit clothes(std::uint64_t k)
        : image(all_layouts[mix(k) % 6]),
          out(all_layouts[mix(k + 1) % 6]),
          element(element_types[mix(k + 2) % 12]),
          distance(mix(k + 3) % 2 ? dtype::int32 : dtype::uint32),
          index(mix(k + 4) % 2 ? dtype::int32 : dtype::int64),
          wants_index(mix(k + 5) % 2),
          wants_coordinates(mix(k + 6) % 2),
          nonzero(mix(k + 7) % 2),
          threads(std::array{1, 2, 7}[mix(k + 8) % 3]),
          ties(mix(k + 9) % 2 ? tie_rule::first_found : tie_rule::last_axis_first) {}
};

std::string differs(const char* what, std::int64_t cell, std::int64_t came, std::int64_t expected) {
    return std::string(what) + " of cell " + std::to_string(cell) + " is " + std::to_string(came) + ", expected " +
           std::to_string(expected);
}

std::int64_t number_in(const guarded& field, std::int64_t i) {
    switch (field.type()) {
        case dtype::int32: return field.get<std::int32_t>(i);
        case dtype::uint32: return field.get<std::uint32_t>(i);
        default: return field.get<std::int64_t>(i);
    }
}

/// Compares the outputs. Axis `a` of a coordinate field must be that of the index.
std::string compare(const guarded& distance, const guarded* index, const guarded* coordinates, const shape_t& shape,
                    const oracle::step_answer& expected) {
    const std::int64_t most = distance.type() == dtype::uint32 ? std::numeric_limits<std::uint32_t>::max()
                                                               : std::numeric_limits<std::int32_t>::max();
    for (std::int64_t i = 0; i < distance.cells(); ++i) {
        const std::int64_t d = expected.distance[static_cast<std::size_t>(i)];
        std::int64_t site = expected.index[static_cast<std::size_t>(i)];
        if (number_in(distance, i) != (d == oracle::no_path ? most : d))
            return differs("distance", i, number_in(distance, i), d);
        if (index && number_in(*index, i) != site) return differs("index", i, number_in(*index, i), site);
        for (std::size_t axis = shape.size(); coordinates && axis-- > 0;) {
            const std::int64_t came = number_in(*coordinates, static_cast<std::int64_t>(axis) * distance.cells() + i);
            const std::int64_t at = site < 0 ? -1 : site % shape[axis];
            if (came != at) return differs("coordinate", i, came, at);
            if (site >= 0) site /= shape[axis];
        }
    }
    return "";
}

struct expected_t {
    oracle::step_answer last_axis_first, first_found;
};

/// Runs one call; returns "" or what is wrong with its result.
std::string check(const shape_t& shape, const flags_t& sites, const weights_t& weights, std::uint64_t k,
                  const expected_t& all) {
    const clothes how(k);
    const oracle::step_answer& expected = how.ties == tie_rule::first_found ? all.first_found : all.last_axis_first;
    guarded image(how.element, shape, how.image, k), distance(how.distance, shape, how.out, k + 1);
    shape_t deep = shape;
    deep.insert(deep.begin(), static_cast<std::int64_t>(shape.size()));
    const bool deep_fits = shape.size() < max_rank;  // layouts are made for arrays of up to max_rank axes
    guarded index(how.index, shape, how.out, k + 2);
    guarded coordinates(dtype::int32, deep, deep_fits ? how.out : layout::contiguous, k + 3);
    write_image(image, sites, how.nonzero);
    distance.paint(), index.paint(), coordinates.paint();
    chamfer_fields<host> out;
    out.distance = distance.view_of<host>(static_cast<void*>(distance.bytes().data()));
    if (how.wants_index) out.index = index.view_of<host>(static_cast<void*>(index.bytes().data()));
    if (how.wants_coordinates)
        out.coordinates = coordinates.view_of<host>(static_cast<void*>(coordinates.bytes().data()));
    const guarded before = image;
    chamfer_transform(host{how.threads}, image.view_of<host>(static_cast<const void*>(image.bytes().data())), out,
                      {.weights = weights, .sites = how.nonzero ? sites::nonzero : sites::zero, .ties = how.ties});
    if (image.bytes() != before.bytes()) return "the image was changed";
    for (const guarded* each : {&distance, &index, &coordinates})
        if (const std::string broken = each->guards_broken(); !broken.empty()) return broken;
    return compare(distance, how.wants_index ? &index : nullptr, how.wants_coordinates ? &coordinates : nullptr, shape,
                   expected);
}

expected_t solve(const shape_t& shape, const flags_t& sites, const weights_t& weights) {
    const oracle::step_problem p{shape, sites, {weights.begin(), weights.end()}};
    return {oracle::cheapest_paths(p), oracle::found_first(p)};
}

void expect_equal(const shape_t& shape, const flags_t& sites, const weights_t& weights, std::uint64_t k) {
    const expected_t expected = solve(shape, sites, weights);
    ASSERT_EQ(expected.first_found.distance, expected.last_axis_first.distance);
    for (std::uint64_t i = 0; i < 4; ++i)
        ASSERT_EQ(check(shape, sites, weights, 4 * k + i, expected), "") << "case " << 4 * k + i;
}

/// Random prices from 0 to 5, not symmetric; for most of them two passes do not suffice.
weights_t random_weights(int rank, std::uint64_t seed) {
    weights_t w = step_weights(rank, {});
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<std::int32_t>(mix(seed * 7919 + i) % 6);
    return w;
}

std::vector<weights_t> metrics(int rank, std::uint64_t seed) {
    std::vector<weights_t> all = {step_weights(rank, {1}), random_weights(rank, seed)};
    weights_t only_diagonal = step_weights(rank, {1}), chessboard(all[0].size(), 1);
    for (std::size_t i = 0; i < only_diagonal.size(); ++i) only_diagonal[i] = only_diagonal[i] == 0 && i % 2 == 0;
    all.push_back(only_diagonal), all.push_back(chessboard), all.push_back(step_weights(rank, {}));
    if (rank >= 2) all.push_back(step_weights(rank, {3, 4})), all.push_back(step_weights(rank, {4, 3}));
    if (rank >= 3) all.push_back(step_weights(rank, {3, 4, 5}));
    return all;
}

TEST(Chamfer, EveryMetricWithEveryFill) {
    const shape_t shapes[] = {{1}, {37}, {1, 9}, {9, 1}, {2, 2}, {7, 11}, {12, 5}, {4, 1, 7}, {5, 6, 4}, {3, 2, 3, 4}};
    std::uint64_t k = 0;
    for (const shape_t& shape : shapes)
        for (fill kind : all_fills)
            for (const weights_t& weights : metrics(static_cast<int>(shape.size()), k)) {
                if (!chosen(++k)) continue;
                SCOPED_TRACE(name_of(kind) + " of rank " + std::to_string(shape.size()));
                expect_equal(shape, make_fill(kind, shape, k), weights, k * 31);
                if (testing::Test::HasFatalFailure()) return;
            }
}

TEST(Chamfer, EightAxes) {
    for (const shape_t& shape : {shape_t{1, 1, 1, 1, 1, 1, 1, 1}, shape_t{2, 1, 2, 1, 2, 1, 2, 3}})
        for (const weights_t& weights : {step_weights(8, {1}), step_weights(8, {3, 4, 5}), random_weights(8, 3)})
            expect_equal(shape, make_fill(fill::tenth, shape), weights, 5);
}

/// Sides around a row's tile, several tiles with fronts, planes with fronts, and too few tiles for fronts. If
/// NEARFIELD_TEST_SCALE asks for less, weights are such that few passes suffice.
TEST(Chamfer, RowsOfSeveralTilesAndFronts) {
    const shape_t shapes[] = {{1023}, {1024}, {1025}, {2, 2049}, {6, 8200}, {14, 22, 18}, {3, 12, 1030}, {9, 2500}};
    std::uint64_t k = 100;
    for (const shape_t& shape : shapes) {
        const int rank = static_cast<int>(shape.size());
        const std::vector<weights_t> few_passes = {rank == 1 ? step_weights(1, {3}) : step_weights(rank, {3, 4})};
        for (const weights_t& weights : test_scale() < 1 ? few_passes : metrics(rank, ++k)) {
            ++k;
            flags_t sites(static_cast<std::size_t>(cells_of(shape)), 0);
            for (std::uint64_t i = 0; i < 3; ++i) sites[mix(++k) % sites.size()] = 1;
            SCOPED_TRACE(k);
            expect_equal(shape, sites, weights, ++k);
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

/// In a narrow grid paths have to turn back and forth between the borders, which takes many passes.
TEST(Chamfer, PathsThatTurnAtTheBorder) {
    weights_t bishop(9, 0);
    bishop[0] = bishop[2] = bishop[6] = bishop[8] = 1;
    for (const shape_t& shape : {shape_t{2, 60}, shape_t{60, 2}, shape_t{3, 41}, shape_t{2, 2}})
        expect_equal(shape, make_fill(fill::first, shape), bishop, 9);
}

TEST(Chamfer, WeightsGivenByTheNumberOfChanges) {
    EXPECT_EQ(step_weights(2, {3, 4}), (weights_t{4, 3, 4, 3, 0, 3, 4, 3, 4}));
    EXPECT_EQ(step_weights(1, {7}), (weights_t{7, 0, 7}));
    EXPECT_EQ(step_weights(2, {}), weights_t(9, 0));
}

TEST(Chamfer, NoWeightsAreTheChessboard) {
    const shape_t shape{9, 13};
    const flags_t sites = make_fill(fill::tenth, shape);
    EXPECT_EQ(check(shape, sites, {}, 3, solve(shape, sites, step_weights(2, {1, 1}))), "");
}

}  // namespace
}  // namespace nearfield::test
