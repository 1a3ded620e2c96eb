// The medial axis on a GPU: runs the host's checks, plain and recorded as a graph.
#include "device_test.hpp"
#include "components/device_runner.hpp"
#include "medial_axis/checks.hpp"

namespace nearfield::test {
namespace {

class MedialAxisDevice : public device_test {};

/// Runs a check, recorded as a graph for some seeds.
template <class Check>
void check_with(const axis_case& c, const Check& check) {
    if (c.seed % 5 == 0) check(graph_runner());
    else check(device_runner());
}

TEST_F(MedialAxisDevice, IsTheDefinition) {
    for_each_case(0, 2000, [](const axis_case& c) { check_with(c, [&](const auto& run) { check_axis(run, c); }); });
}

TEST_F(MedialAxisDevice, MasksAreTheDefinition) {
    for_each_case(50000, 2000, [](axis_case c) {
        make_plain(c);
        check_with(c, [&](const auto& run) { check_axis(run, c); });
    });
}

TEST_F(MedialAxisDevice, BallsCoverTheShape) {
    for_each_case(10000, 600, [](const axis_case& c) { check_with(c, [&](const auto& run) { check_balls(run, c); }); });
}

/// Several walks along each axis, and odd ends.
TEST_F(MedialAxisDevice, IsTheHosts) {
    for (const shape_t& shape :
         {shape_t{1000}, shape_t{70, 95}, shape_t{33, 400}, shape_t{35, 37, 61}, shape_t{20, 3, 130}})
        for (std::uint64_t seed = 0; seed < 4 && !testing::Test::HasFailure(); ++seed)
            check_equal(host_runner{2}, device_runner(), large_case(shape, seed));
    for (const shape_t& shape : {shape_t{2, 20000}, shape_t{20000, 3}})  // squared distances above 2^28
        check_equal(host_runner{2}, device_runner(), case_of_corners(shape));
}

/// Rows that start at multiples of 16 bytes and whose marks do so at 4: lanes read and write four cells at once.
TEST_F(MedialAxisDevice, FourCellsAtOnce) {
    for (const shape_t& shape : {shape_t{40, 4}, shape_t{37, 200}, shape_t{17, 484}, shape_t{20, 240}})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            const axis_case c = large_case(shape, seed);
            guarded image = c.image(), here(dtype::uint8, shape, layout::tight),
                    there(dtype::uint8, shape, layout::tight);
            const auto mark = [&](const auto& run, guarded& axis) {
                run({&image, &axis}, [&](const auto& on, const auto& at) {
                    medial_axis_fields<std::remove_cvref_t<decltype(on)>> out;
                    out.axis = at(axis);
                    medial_axis(on, at(image), out, c.options());
                });
            };
            mark(host_runner{2}, here), mark(device_runner(), there);
            EXPECT_TRUE(here.bytes() == there.bytes()) << c.text();
        }
}

/// Cells near their sites, for which a warp has words, beside others: bytes of words end at 63 cells.
TEST_F(MedialAxisDevice, NearAndFar) {
    for (const shape_t& shape : {shape_t{150, 200}, shape_t{70, 251}, shape_t{40, 60, 90}, shape_t{9, 17, 300}})
        for (std::uint64_t seed = 0; seed < 3 && !testing::Test::HasFailure(); ++seed)
            check_equal(host_runner{2}, device_runner(), case_of_few_sites(shape, seed));
}

}  // namespace
}  // namespace nearfield::test
