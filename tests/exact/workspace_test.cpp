// The device's workspace is as large as the header says. Needs CUDA in the build, but no GPU.
#include <gtest/gtest.h>

#include <vector>

#include "nearfield/plan.hpp"

namespace nearfield::test {
namespace {

struct wanted {
    bool distance = false, index = false;
    std::int64_t last_stride = 1;
    dtype image_type = dtype::uint8;
    spacing cell{};
    nearfield::sign sign = sign::none;
};

/// Workspace in bytes a cell; the pointers are invalid and never dereferenced.
double bytes_a_cell(const std::vector<std::int64_t>& shape, const wanted& w) {
    const auto address = [](std::uintptr_t n) { return reinterpret_cast<void*>(n << 44); };
    const auto image = any_input<device>::contiguous(address(1), w.image_type, shape);
    fields<device> out;
    if (w.distance) {
        out.distance = any_output<device>::contiguous(address(2), dtype::float32, shape);
        for (std::int64_t& step : out.distance.stride) step *= w.last_stride;
    }
    if (w.index) out.index = any_output<device>::contiguous(address(3), dtype::int64, shape);
    const std::int64_t bytes = plan(device{nullptr}, image, out, {.spacing = w.cell, .sign = w.sign}).workspace_bytes;
    return static_cast<double>(bytes) / static_cast<double>(image.cells());
}

TEST(Workspace, BytesOfTheHeader) {
    const double slack = 0.1;  // tables of the line ends and of the slabs
    EXPECT_NEAR(bytes_a_cell({1000}, {.distance = true}), 4.5, 0.3) << "bits and positions";
    EXPECT_NEAR(bytes_a_cell({100'000'000}, {.distance = true}), 4.5, slack);
    EXPECT_NEAR(bytes_a_cell({1023, 1023, 1023}, {.distance = true}), 4.25, slack) << "rows of 1024 cells in the state";
    EXPECT_NEAR(bytes_a_cell({1000, 1000}, {.distance = true}), 0.25, slack) << "packed lines, no state";
    EXPECT_NEAR(bytes_a_cell({1000, 1000}, {.index = true}), 0.5, slack) << "winners at every 32nd row";
    EXPECT_NEAR(bytes_a_cell({4096, 4096}, {.index = true}), 0.5, slack) << "winners at every 32nd row";
    EXPECT_NEAR(bytes_a_cell({65536, 65536}, {.index = true}), 0.5, slack) << "the same in 64 bits";
    EXPECT_NEAR(bytes_a_cell({1600, 1600, 1600}, {.index = true}), 4.25, slack) << "words and sweeps";
    EXPECT_NEAR(bytes_a_cell({100, 100, 10000}, {.index = true}), 4.25, slack);
    EXPECT_NEAR(bytes_a_cell({3000, 400, 400}, {.index = true}), 4.25, slack) << "lines";
    EXPECT_NEAR(bytes_a_cell({1000, 40000}, {.index = true, .cell = spacing{2, 1}}), 4.75, slack) << "long rows";
    EXPECT_NEAR(bytes_a_cell({30, 40, 50, 60}, {.index = true}), 16.5, slack) << "packed sites of both passes";
    EXPECT_NEAR(bytes_a_cell({512, 512, 512}, {.distance = true}), 4.25, slack) << "packed lines and one state";
    EXPECT_NEAR(bytes_a_cell({512, 512, 512}, {.index = true}), 4.25, slack);
    EXPECT_NEAR(bytes_a_cell({4096, 4096}, {.distance = true}), 0.5, slack) << "winners at every 32nd row";
    EXPECT_NEAR(bytes_a_cell({4096, 4096}, {.distance = true, .sign = sign::inside_negative}), 4.5, slack)
        << "distances of one side";
    EXPECT_NEAR(bytes_a_cell({40000, 3000}, {.distance = true}), 0.5, slack) << "the same in 64 bits";
    EXPECT_NEAR(bytes_a_cell({2000, 300, 300}, {.distance = true}), 4.75, slack) << "lines along one axis";
    EXPECT_NEAR(bytes_a_cell({64, 2048, 2048}, {.distance = true}), 4.5, slack) << "64 planes of any size";
    EXPECT_NEAR(bytes_a_cell({512, 512, 512}, {.distance = true, .image_type = dtype::int32}), 4.25, slack)
        << "wide cells as they are";
    EXPECT_NEAR(bytes_a_cell({512, 512, 512}, {.distance = true, .last_stride = 2}), 8.25, slack);
    const spacing real{0.5, 0.3, 0.3141592}, counted{0.5, 0.3, 0.3};
    EXPECT_NEAR(bytes_a_cell({512, 512, 512}, {.distance = true, .cell = counted}), 4.25, slack) << "25, 9, 9";
    EXPECT_NEAR(bytes_a_cell({512, 512, 512}, {.distance = true, .cell = spacing{0.6, 0.3, 0.2}}), 4.25, slack);
    for (const spacing& each : {spacing{5, 0.65, 0.65}, spacing{0.7, 0.31, 0.5}})
        EXPECT_NEAR(bytes_a_cell({512, 512, 512}, {.distance = true, .cell = each}), 6.25, slack)
            << "multiples of one length, in 32 bits, then in double";
    EXPECT_NEAR(bytes_a_cell({512, 512, 512}, {.distance = true, .cell = real}), 4.25, slack) << "doubles";
    EXPECT_NEAR(bytes_a_cell({200, 200, 200}, {.distance = true, .index = true, .cell = real}), 4.25, slack);
    EXPECT_NEAR(bytes_a_cell({4096, 4096}, {.distance = true, .cell = {0.5, 0.3}}), 2.25, slack)
        << "winners at every 32nd row";
}

/// Images of similar size are solved together; the plan of a list needs neither data nor a GPU.
TEST(Workspace, ListsArePlanned) {
    std::vector<job<device>> jobs;
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{100, 200}, {101, 190}, {30, 20}}) {
        job<device> one;
        one.image = any_input<device>::contiguous(nullptr, dtype::uint8, shape);
        one.out.distance = any_output<device>::contiguous(nullptr, dtype::float32, shape);
        jobs.push_back(one);
    }
    const call_plan p = plan(device{nullptr}, std::span<const job<device>>(jobs));
    EXPECT_EQ(p.cells, 100 * 200 + 101 * 190 + 30 * 20);
    ASSERT_EQ(p.passes.size(), 2U) << p.text();
    EXPECT_EQ(p.passes[0].tiles + p.passes[1].tiles, 3) << p.text();
    EXPECT_GE(p.workspace_bytes, 2 * 100 * 200) << p.text();
}

TEST(Workspace, ChecksItsArguments) {
    EXPECT_THROW(static_cast<void>(bytes_a_cell({4, 5}, {})), error);
    EXPECT_EQ(plan(device{nullptr}, any_input<device>::contiguous(nullptr, dtype::uint8, std::vector<int>{0, 5}),
                   {.distance = any_output<device>::contiguous(nullptr, dtype::float32, std::vector<int>{0, 5})})
                  .workspace_bytes,
              0);
}

}  // namespace
}  // namespace nearfield::test
