// Random shapes, fills, spacings and layouts equal the oracle. NEARFIELD_TEST_SCALE multiplies the number of cases.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <sstream>

#include "exact/call.hpp"

namespace nearfield::test {
namespace {

int scaled(int count) { return std::max(1, static_cast<int>(count * test_scale())); }

/// Shapes of at most `cells` cells in 1 to 8 axes, often thin.
rc::Gen<shape_t> shapes(std::int64_t cells) {
    return rc::gen::exec([cells] {
        shape_t shape;
        std::int64_t left = cells;
        const int rank = *rc::gen::inRange(1, max_rank + 1);
        for (int axis = 0; axis < rank; ++axis) {
            const auto longest = std::max<std::int64_t>(1, axis + 1 == rank ? left : std::min<std::int64_t>(left, 70));
            shape.push_back(*rc::gen::weightedOneOf<std::int64_t>(
                {{8, rc::gen::inRange<std::int64_t>(1, longest + 1)}, {2, rc::gen::just<std::int64_t>(1)}}));
            left /= shape.back();
        }
        // The last axis takes the remaining cells; any axis may become the long one.
        std::swap(shape.back(), shape[*rc::gen::inRange<std::size_t>(0, shape.size())]);
        return shape;
    });
}

rc::Gen<spacing_case> any_spacing() {
    return rc::gen::exec([] {
        spacing_case cell{{}, "random"};
        const int kind = *rc::gen::inRange(0, 5);
        const int count = kind == 0 ? 0 : *rc::gen::inRange(1, 4);
        for (int i = 0; i < count; ++i) {
            const double whole = *rc::gen::inRange(1, 12);
            const double scale = kind == 1 ? 1 : kind == 2 ? 0.125 : kind == 3 ? 1.0 / 7 : 1e5;
            cell.values.push_back(kind == 4 && i == 0 ? whole : whole * scale);
        }
        return cell;
    });
}

void random_case(std::int64_t cells, const engine& run) {
    const shape_t shape = *shapes(cells);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const bool noise = *rc::gen::arbitrary<bool>();
    const double density = std::pow(10.0, -*rc::gen::inRange(0, 400) / 100.0);
    const flags_t sites =
        noise ? make_random(shape, density, seed)
              : make_fill(*rc::gen::elementOf(std::vector<fill>(std::begin(all_fills), std::end(all_fills))), shape,
                          seed);
    const spacing_case cell = *any_spacing();
    const outputs wanted = outputs::number(*rc::gen::inRange<std::uint64_t>(1, output_combinations));
    const dress how = dress::number(*rc::gen::inRange<std::uint64_t>(0, 100000));
    const solved s = solve(shape, sites, cell);
    const std::string bad = check(run, s, wanted, how);
    if (!bad.empty()) RC_FAIL(bad);
}

void random_cases(int count, std::int64_t cells) {
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    params.maxSuccess = scaled(count);
    const auto result = rc::detail::checkTestable(
        [&] { random_case(cells, host_engine(*rc::gen::element(1, 2, 3, 7))); }, rc::detail::TestMetadata{}, params);
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    EXPECT_TRUE(result.is<rc::detail::SuccessResult>()) << text.str();
}

TEST(RandomCases, Tiny) { random_cases(2000, 60); }
TEST(RandomCases, Small) { random_cases(1500, 2000); }
TEST(RandomCases, Medium) { random_cases(150, 40000); }

}  // namespace
}  // namespace nearfield::test
