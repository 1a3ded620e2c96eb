// plan(calls) on the host reports the memory that a process needs, and touches nothing.
#include <gtest/gtest.h>

#include <fstream>

#include "base/child.hpp"
#include "plan/calls.hpp"

namespace nearfield::test {
namespace {

constexpr std::int64_t side = 96, plan_cells = side * side * side;
constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

std::int64_t status_bytes(const char* name) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == name) {
            std::int64_t kibibytes = 0;
            status >> kibibytes;
            return 1024 * kibibytes;
        }
    return -1;
}

/// Memory that a call takes at its peak, in a process of its own; negative if the system does not say.
std::int64_t measured(const std::function<void()>& call) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    const int status = in_child([&] {
        std::ofstream("/proc/self/clear_refs") << 5;
        const std::int64_t before = status_bytes("VmRSS:");
        call();
        const std::int64_t took = status_bytes("VmHWM:") - before;
        return write(ends[1], &took, sizeof took) == sizeof took;
    });
    std::int64_t took = -1;
    close(ends[1]);
    if (status != 0 || read(ends[0], &took, sizeof took) != sizeof took) took = -1;
    close(ends[0]);
    return took;
}

TEST(Plan, IsWhatAProcessNeeds) {
    if (sanitized) GTEST_SKIP() << "sanitizers take memory themselves";
    const plan_images image(side);
    std::vector<double> memory[3];
    for (auto& each : memory) each.assign(plan_cells, 1);
    const auto calls = planned_calls<host>({side,
                                            image.mask.data(),
                                            image.height.data(),
                                            image.marker.data(),
                                            {memory[0].data(), memory[1].data(), memory[2].data()}});
    const auto planned = planned_calls<host>(made_up(side));
    const host on{2, {}};
    for (std::size_t k = 0; k < calls.size(); ++k) {
        const call_plan told = plan([&] { planned[k].run(on); });
        const std::int64_t took = measured([&] { calls[k].run(on); });
        ASSERT_GE(took, 0) << calls[k].name;
        // The tolerance covers threads, large pages, and memory that depends on values.
        EXPECT_LE(took, told.workspace_bytes + told.workspace_bytes / 16 + 10 * mebibyte) << calls[k].name << '\n'
                                                                                          << told.text();
        EXPECT_GE(took + 4 * mebibyte, told.workspace_bytes * 2 / 3) << calls[k].name << '\n' << told.text();
    }
}

TEST(Plan, TellsOfArraysAndSteps) {
    const host on{3, {}};
    for (const auto& each : planned_calls<host>(made_up(side))) {
        const call_plan told = plan([&] { each.run(on); });
        EXPECT_EQ(told.place, "host") << each.name;
        EXPECT_EQ(told.cells, plan_cells) << each.name;
        EXPECT_GE(told.input_bytes, plan_cells) << each.name;
        EXPECT_FALSE(told.passes.empty()) << each.name;
    }
    const call_plan told = plan([&] {
        local_thickness(on, plan_views<host>{made_up(side)}.in(),
                        {plan_views<host>{made_up(side)}.out(dtype::float32), {}});
    });
    EXPECT_EQ(told.output_bytes, 4 * plan_cells);
    EXPECT_EQ(told.threads, 3);
    EXPECT_NE(told.text().find("crescents"), std::string::npos) << told.text();
}

/// Which cells a skeleton has, a plan cannot know.
TEST(Plan, OfAGraph) {
    const plan_views<host> a{made_up(side)};
    const call_plan told = plan([&] { static_cast<void>(graph_of(cells_of_skeleton(a.in(), a.height()))); });
    EXPECT_EQ(told.place, "host");
    EXPECT_EQ(told.cells, plan_cells);
    EXPECT_GE(told.input_bytes, 2 * plan_cells);
    EXPECT_NE(told.text().find("bytes a cell of the skeleton"), std::string::npos) << told.text();
}

/// A plan needs no memory, even for a shape that fits no machine.
TEST(Plan, OfMoreThanThereIs) {
    const std::vector<std::int64_t> shape{20000, 20000, 20000};
    const plan_arrays at = made_up(side);
    const call_plan told = plan([&] {
        skeletonize(host{2, {}}, any_input<host>::contiguous(at.mask, dtype::uint8, shape),
                    any_output<host>::contiguous(at.out[0], dtype::uint8, shape));
    });
    EXPECT_GT(told.workspace_bytes, 12 * std::int64_t{8000} * 1000 * 1000 * 1000);
}

TEST(Plan, ThrowsWhatTheCallDoes) {
    const plan_views<host> a{made_up(side)};
    EXPECT_THROW(static_cast<void>(plan([&] { erosion(host{}, a.in(), -1, a.out(dtype::uint8)); })), error);
    EXPECT_THROW(static_cast<void>(plan([&] { skeletonize(host{}, a.in(), a.out(dtype::int32)); })), error);
    std::vector<std::uint8_t> cells{1, 1, 1}, made(3);
    erosion(host{}, any_input<host>::contiguous(cells.data(), dtype::uint8, std::vector<int>{3}), 1,
            any_output<host>::contiguous(made.data(), dtype::uint8, std::vector<int>{3}));
    EXPECT_EQ(made, cells) << "calls compute again";
}

}  // namespace
}  // namespace nearfield::test
