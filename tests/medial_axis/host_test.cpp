// The medial axis and the shapes from balls on the host.
#include "medial_axis/checks.hpp"

namespace nearfield::test {
namespace {

host_runner runner_of(const axis_case& c) { return {1 + static_cast<int>(c.seed % 3)}; }

TEST(MedialAxis, IsTheDefinition) {
    for_each_case(0, 6000, [](const axis_case& c) { check_axis(runner_of(c), c); });
}

TEST(MedialAxis, BallsCoverTheShape) {
    for_each_case(10000, 3000, [](const axis_case& c) { check_balls(runner_of(c), c); });
}

TEST(MedialAxis, ThreadsDoNotShow) {
    for (const shape_t& shape : {shape_t{100000}, shape_t{300, 401}, shape_t{70, 41, 63}})
        for (std::uint64_t seed = 0; seed < 4; ++seed)
            check_equal(host_runner{1}, host_runner{7}, large_case(shape, seed));
}

}  // namespace
}  // namespace nearfield::test
