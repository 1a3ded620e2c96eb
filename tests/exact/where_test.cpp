// Calls that exclude some cells, on the host: every option equals the oracle; the contents of excluded cells;
// errors.
#include <gtest/gtest.h>

#include "exact/options_property.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

TEST(Where, RandomCasesOfAllOptions) {
    run_random_options(host_options_engine(),
                       {.cases = scaled_cases(3000), .most_cells = 300, .salt = 7, .partly = true});
}

TEST(Where, LargerGrids) {
    run_random_options(host_options_engine(),
                       {.cases = scaled_cases(200), .most_cells = 2500, .salt = 8, .partly = true});
}

constexpr std::uint8_t image[2][3] = {{0, 1, 1}, {1, 1, 0}}, where[2][3] = {{0, 1, 1}, {1, 1, 1}};
const std::vector<int> shape{2, 3};
const auto seen = any_input<host>::contiguous(image, dtype::uint8, shape);

TEST(Where, CellsThatTakeNoPartKeepWhatTheyHeld) {
    float distance[6] = {7, 7, 7, 7, 7, 7};
    std::int32_t coordinates[12];
    std::fill(std::begin(coordinates), std::end(coordinates), 7);
    fields<host> out;
    out.distance = any_output<host>::contiguous(distance, dtype::float32, shape);
    out.coordinates = any_output<host>::contiguous(coordinates, dtype::int32, std::vector<int>{2, 2, 3});
    const auto part = any_input<host>::contiguous(where, dtype::boolean, shape);
    distance_transform_where(host{}, seen, part, out, {}, {.coordinates = true});
    EXPECT_EQ(std::vector<float>(distance, distance + 6), (std::vector<float>{7, std::sqrt(2.0F), 1, 2, 1, 0}));
    EXPECT_EQ(std::vector<std::int32_t>(coordinates, coordinates + 12),
              (std::vector<std::int32_t>{-1, 1, 1, 1, 1, 1, -1, 2, 2, 2, 2, 2}));
}

TEST(Where, ErrorsNameTheArgument) {
    float distance[6] = {};
    fields<host> out;
    out.distance = any_output<host>::contiguous(distance, dtype::float32, shape);
    const auto call = [&](const void* data, dtype type, const std::vector<int>& sizes) {
        return [&, data, type, sizes] {
            distance_transform_where(host{}, seen, any_input<host>::contiguous(data, type, sizes), out);
        };
    };
    expect_refused(call(where, dtype::int32, shape), {"where"});
    expect_refused(call(where, dtype::uint8, {3, 2}), {"where"});
    expect_refused(call(where, dtype::uint8, {}), {"where"});
    expect_refused(call(nullptr, dtype::uint8, shape), {"where"});
    expect_refused(call(distance, dtype::uint8, shape), {"where"});
}

TEST(Where, ProgressGoesUpAndStops) {
    const std::vector<std::uint8_t> labels(200 * 200, 3), all(200 * 200, 1);
    std::vector<float> distance(200 * 200);
    const std::vector<int> large{200, 200};
    fields<host> out;
    out.distance = any_output<host>::contiguous(distance.data(), dtype::float32, large);
    double last = 0;
    bool up = true;
    const auto call = [&](const std::function<bool(double)>& told) {
        distance_transform_where(host{1, told}, any_input<host>::contiguous(labels.data(), dtype::uint8, large),
                                 any_input<host>::contiguous(all.data(), dtype::uint8, large), out,
                                 {.sign = sign::inside_negative});
    };
    call([&](double share) { return up = up && share >= last, last = share, true; });
    EXPECT_TRUE(up);
    EXPECT_EQ(last, 1);
    EXPECT_THROW(call([](double) { return false; }), error);
}

}  // namespace
}  // namespace nearfield::test
