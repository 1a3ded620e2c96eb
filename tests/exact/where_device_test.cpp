// Calls that exclude some cells, on a device: every option equals the oracle, plain and in a graph.
#include <gtest/gtest.h>

#include "exact/options_device_engine.hpp"
#include "exact/options_fields.hpp"
#include "exact/options_property.hpp"

namespace nearfield::test {
namespace {

TEST(WhereDevice, RandomCasesOfAllOptions) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    run_random_options(device_options_engine(),
                       {.cases = scaled_cases(600), .most_cells = 300, .salt = 9, .partly = true});
}

TEST(WhereDevice, BothSidesInAGraph) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    option_call call;
    call.options.sign = sign::inside_negative;
    call.items.emplace_back(shape_t{9, 14}, dtype::uint8, random_labels<std::uint32_t>({9, 14}, 3, 0.4, 5),
                            call.options, wanted_fields{.distance = dtype::float32, .index = dtype::int64}, 6);
    call.items[0].leave_out(layout::contiguous, 7);
    call.items[0].solve();
    EXPECT_EQ(check(graph_options_engine(), call), "");
}

}  // namespace
}  // namespace nearfield::test
