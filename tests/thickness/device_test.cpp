// Local thickness on a device: the host's cases, the host's bits, and calls in a captured graph.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "nearfield/system.hpp"
#include "thickness/call.hpp"

namespace nearfield::test {
namespace {

device_memory uploaded(const guarded& from, const stream& on) {
    device_memory to(from.bytes().size());
    if (to.bytes() > 0)
        expect_cuda(cudaMemcpyAsync(to.data(), from.bytes().data(), to.bytes(), cudaMemcpyHostToDevice, on.get()),
                    "upload");
    return to;
}
void download(const device_memory& from, guarded& to, const stream& on) {
    if (from.bytes() > 0)
        expect_cuda(cudaMemcpyAsync(to.bytes().data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost, on.get()),
                    "download");
    on.wait();
}

void on_device(thickness_call& c, bool captured) {
    const stream on;
    const device_memory image = uploaded(c.image, on);
    const device_memory thickness = c.thickness ? uploaded(*c.thickness, on) : device_memory(1);
    const device_memory squared = c.squared ? uploaded(*c.squared, on) : device_memory(1);
    const auto out = c.fields_in<device>(thickness.data(), squared.data());
    const device_memory inlets(std::max<std::size_t>(c.inlets.size(), 1));
    expect_cuda(cudaMemcpyAsync(inlets.data(), c.inlets.data(), c.inlets.size(), cudaMemcpyHostToDevice, on.get()),
                "upload");
    const auto start = [&] { c.run(device{on.get()}, image.data(), inlets.data(), out); };
    if (captured) {
        const recorded graph(start, on);
        graph.replay(), graph.replay();
    } else {
        start();
    }
    on.wait();
    download(image, c.image, on);
    if (c.thickness) download(thickness, *c.thickness, on);
    if (c.squared) download(squared, *c.squared, on);
}
void thickness_on_device(thickness_call& c) { on_device(c, false); }
void thickness_in_graph(thickness_call& c) { on_device(c, true); }

class ThicknessDevice : public device_test {};

TEST_F(ThicknessDevice, RandomCases) { walk_thickness(thickness_on_device, 4000, 1); }
TEST_F(ThicknessDevice, RandomCasesInAGraph) { walk_thickness(thickness_in_graph, 4000, 16); }

void expect_bits_of_host(const shape_t& shape, const std::vector<std::int64_t>& value) {
    thickness_call c = plain_call(shape, value);
    c.threads = 0;
    for (std::size_t i = 0; i < value.size(); ++i)
        *c.image.element(static_cast<std::int64_t>(i)) = static_cast<std::byte>(value[i]);
    EXPECT_EQ(differ(thickness_on_host, thickness_on_device, c), "");
    c.cells.spacing[0] = 2, c.cells.counts[0] = 2;
    EXPECT_EQ(differ(thickness_on_host, thickness_on_device, c), "");
}

/// Many tiles, shapes that cross them, radii on both sides of the table of contained balls, and balls whose centre has
/// no earlier neighbour.
TEST_F(ThicknessDevice, SmallVolumesAndImages) {
    expect_bits_of_host({20, 35, 70}, soft_shapes({20, 35, 70}, 3, 0.7, 1));
    expect_bits_of_host({130, 140}, soft_shapes({130, 140}, 6, 0.7, 2));
    expect_bits_of_host({34, 40, 40}, rough_plate(34, 40, 30));
    std::vector<std::int64_t> corner(160 * 170, 1);
    corner[0] = 0;
    expect_bits_of_host({160, 170}, corner);
}

/// A ball with more slices than a block can list: all of them stay with the block if the queue is full.
TEST_F(ThicknessDevice, MoreSlicesThanABlockHolds) {
    std::vector<std::int64_t> corner(3200 * 40, 1);
    corner[0] = 0;
    expect_bits_of_host({40, 3200}, corner);
    std::vector<std::int64_t> long_corner(2 * 2 * 4000, 1);
    long_corner[0] = 0;
    expect_bits_of_host({4000, 2, 2}, long_corner);
}

TEST_F(ThicknessDevice, LargerVolumes) {
    expect_bits_of_host({128, 160, 192}, soft_shapes({128, 160, 192}, 9, 0.6, 5));
    expect_bits_of_host({1500, 1600}, soft_shapes({1500, 1600}, 9, 0.7, 6));
    expect_bits_of_host({48, 200, 200}, rough_plate(48, 200, 44));
    const shape_t shape{150, 150, 150};
    std::vector<std::int64_t> corner(static_cast<std::size_t>(cells_of(shape)), 1);
    corner[0] = 0;
    expect_bits_of_host(shape, corner);
}

TEST_F(ThicknessDevice, TwentyRunsAreOne) {
    thickness_call c = plain_call({64, 70, 80}, soft_shapes({64, 70, 80}, 4, 0.7, 9));
    for (std::size_t i = 0; i < c.value.size(); ++i)
        *c.image.element(static_cast<std::int64_t>(i)) = static_cast<std::byte>(c.value[i]);
    for (int run = 0; run < 20; ++run) ASSERT_EQ(differ(thickness_on_device, thickness_on_device, c), "");
}

}  // namespace
}  // namespace nearfield::test
