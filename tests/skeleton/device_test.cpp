// Skeletons on a GPU: against the definition and the host's bits, also recorded as a graph.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "scale.hpp"
#include "skeleton/cases.hpp"

namespace nearfield::test {
namespace {

class SkeletonDevice : public device_test {};

flags_t on_host(const skeleton_case& c) {
    flags_t out(c.mask.size());
    skeletonize(
        host{}, any_input<host>::contiguous(c.mask.data(), dtype::uint8, c.shape),
        any_output<host>::contiguous(out.data(), c.bits, c.shape), c.options(),
        c.anchors.empty() ? any_input<host>{} : any_input<host>::contiguous(c.anchors.data(), dtype::boolean, c.shape));
    return out;
}

/// An array whose cells lie `apart` from each other, given for the last axis first.
template <class Element>
any_view<Element, device> spread(Element* data, dtype type, const shape_t& shape, std::int64_t apart) {
    auto view = any_view<Element, device>::contiguous(data, type, shape);
    for (int axis = 0; axis < view.rank; ++axis) view.stride[static_cast<std::size_t>(axis)] *= apart;
    return view;
}

flags_t on_device(const skeleton_case& c, bool graph, std::int64_t apart = 1) {
    static const stream on;
    const auto step = static_cast<std::size_t>(apart);
    const auto far = [&](const flags_t& from) {
        flags_t to(from.size() * step + 1, 0x5a);
        for (std::size_t i = 0; i < from.size(); ++i) to[i * step] = from[i];
        return to;
    };
    const flags_t image = far(c.mask), anchors = far(c.anchors);
    flags_t out(image.size(), 0x5a), answer;
    const device_memory in(image.size()), held(anchors.size()), to(out.size());
    const auto start = [&] {
        skeletonize(
            device{on.get()}, spread<const void>(in.data(), dtype::uint8, c.shape, apart),
            spread<void>(to.data(), c.bits, c.shape, apart), c.options(),
            c.anchors.empty() ? any_input<device>{} : spread<const void>(held.data(), dtype::boolean, c.shape, apart));
    };
    const auto copy = [&](void* where, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
        expect_cuda(cudaMemcpyAsync(where, from, bytes, kind, on.get()), "a copy");
    };
    const auto upload = [&] {
        copy(in.data(), image.data(), image.size(), cudaMemcpyHostToDevice);
        copy(held.data(), anchors.data(), anchors.size(), cudaMemcpyHostToDevice);
        copy(to.data(), out.data(), out.size(), cudaMemcpyHostToDevice);
    };
    if (graph) {
        const recorded work(start, on);
        upload();
        work.replay(), work.replay();
        on.wait();
    } else {
        upload();
        start();
    }
    copy(out.data(), to.data(), out.size(), cudaMemcpyDeviceToHost);
    on.wait();
    for (std::size_t i = 0; i < out.size(); ++i)
        if (i % step == 0 && i / step < c.mask.size()) answer.push_back(out[i]);
        else if (out[i] != 0x5a) ADD_FAILURE() << "written outside of the answer";
    return answer;
}

void expect_bits_of_host(const skeleton_case& c) {
    const flags_t here = on_host(c), there = on_device(c, false);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < here.size(); ++i) differ += here[i] != there[i] ? 1 : 0;
    EXPECT_EQ(differ, 0U) << c.text();
}

/// Compares with the host's bits for all options; with a few of them under a tool that takes a hundred times as long.
void expect_bits_of_host_with_options(skeleton_case c) {
    const int step = test_scale() < 0.1 ? 17 : 1;
    int k = 0;
    for (const kept_cells keep : {kept_cells::ends, kept_cells::isthmuses, kept_cells::nothing})
        for (const bool faces : {false, true})
            for (const border end : {border::open, border::closed, border::periodic}) {
                c.keep = keep, c.faces = faces, c.ends = {end};
                if (k++ % step == 0) expect_bits_of_host(c);
            }
}

TEST_F(SkeletonDevice, IsItsDefinition) {
    check_skeletons([](const skeleton_case& c) { return on_device(c, false, 1 + c.shape[0] % 2); }, 0, 500);
}

TEST_F(SkeletonDevice, RecordedAsAGraph) {
    check_skeletons([](const skeleton_case& c) { return on_device(c, true); }, 2000, 2080);
}

TEST_F(SkeletonDevice, WideIndicesAreTheSame) {
    const wide_indices wide;
    check_skeletons([](const skeleton_case& c) { return on_device(c, false); }, 4000, 4100);
}

/// Hash tables that are full, and waiting cells that lie in the lists of all blocks.
TEST_F(SkeletonDevice, FewHeldCellsAreTheSame) {
    const few_held_cells few;
    check_skeletons([](const skeleton_case& c) { return on_device(c, false); }, 5000, 5200);
    expect_bits_of_host_with_options(large_case({27, 34, 45}, 20));
}

TEST_F(SkeletonDevice, KeepsTheTopology) {
    for (std::uint64_t seed = 10000; seed < share(10000, 10400); ++seed) {
        const skeleton_case c = drawn_case(seed);
        const flags_t skeleton = on_device(c, false);
        ASSERT_EQ(topology_of(c, skeleton), topology_of(c, c.mask)) << "seed " << seed << ": " << c.text();
        ASSERT_EQ(left_over(c, skeleton), 0) << "seed " << seed << ": " << c.text();
    }
}

/// Rows that end before, at and after a word, cells on both sides of words, and several images.
TEST_F(SkeletonDevice, RowsOfAnyLength) {
    for (const std::int64_t nx : {1, 2, 31, 32, 33, 63, 64, 65}) {
        if (test_scale() < 0.1 && nx != 33) continue;
        for (const shape_t& shape : {shape_t{7, nx}, shape_t{3, 5, nx}, shape_t{1, 6, nx}, shape_t{nx, 3, 2}}) {
            skeleton_case c = large_case(shape, 9);
            c.ends = {border::periodic};
            expect_bits_of_host(c);
            c.ends = {}, c.keep = kept_cells::nothing, c.batch_axes = shape.size() == 3 ? 1 : 0;
            expect_bits_of_host(c);
        }
    }
}

TEST_F(SkeletonDevice, BlobsAreTheHosts) {
    expect_bits_of_host_with_options(large_case({27, 34, 45}, 20));
    expect_bits_of_host_with_options(large_case({70, 101}, 30));
}

/// Squared distances of every type, and layers beyond those of even thickness.
TEST_F(SkeletonDevice, DistancesOfAnyType) {
    skeleton_case c = large_case({20, 30, 40}, 25);
    for (const double scale : {1.0, 0.3, 60000.0, 1e9}) {
        c.spacing = {scale, 2 * scale, 3 * scale};
        expect_bits_of_host(c);
    }
    c.spacing = {1, 3000, 1};
    expect_bits_of_host(c);
    skeleton_case corner;
    corner.shape = {3, 5000}, corner.mask.assign(15000, 1), corner.mask[0] = 0;
    expect_bits_of_host(corner);
    corner.spacing = {1e-7, 1};
    expect_bits_of_host(corner);
}

/// Empty, full and fully anchored masks, and shapes of few layers with many cells.
TEST_F(SkeletonDevice, UnusualMasks) {
    skeleton_case c;
    c.shape = {12, 20, 40};
    for (const std::uint8_t value : {std::uint8_t{0}, std::uint8_t{1}}) {
        c.mask.assign(12 * 20 * 40, value);
        expect_bits_of_host_with_options(c);
    }
    c.anchors = c.mask;
    expect_bits_of_host(c);
    c.anchors.clear();
    for (std::size_t i = 0; i < c.mask.size(); ++i) c.mask[i] = i % 2 == 0 ? 1 : 0;
    expect_bits_of_host_with_options(c);
    c.shape = {0, 3};
    c.mask.clear();
    EXPECT_EQ(on_device(c, false), flags_t{});
}

/// Many blocks, with steps that all of them share and steps that one of them takes.
TEST_F(SkeletonDevice, LargerShapesAreTheHosts) {
    expect_bits_of_host(large_case({150, 160, 170}, 50));
    expect_bits_of_host(large_case({1100, 1300}, 90));
    expect_bits_of_host_with_options(large_case({64, 90, 100}, 40));
    skeleton_case c;
    c.shape = {90, 90, 90};
    for (std::int64_t i = 0; i < 90 * 90 * 90; ++i) {
        const std::int64_t x = i % 90 - 45, y = i / 90 % 90 - 45, z = i / 8100 - 45;
        c.mask.push_back(x * x + y * y + z * z < 44 * 44 ? 1 : 0);
    }
    expect_bits_of_host_with_options(c);
    c.mask.assign(c.mask.size(), 1);
    expect_bits_of_host(c);
}

TEST_F(SkeletonDevice, TwentyRunsAreOne) {
    const skeleton_case c = test_scale() < 0.1 ? large_case({20, 30, 40}, 25) : large_case({80, 90, 100}, 30);
    const flags_t first = on_device(c, false);
    for (std::uint64_t run = 0; run < share(0, 20); ++run) ASSERT_EQ(on_device(c, run % 2 == 0), first);
}

}  // namespace
}  // namespace nearfield::test
