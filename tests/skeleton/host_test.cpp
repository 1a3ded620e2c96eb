// Skeletons on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "exact/cases.hpp"
#include "refused.hpp"
#include "skeleton/cases.hpp"

namespace nearfield::test {
namespace {

/// An array whose elements lie `apart` from each other, given for the last axis first.
template <class Element>
any_view<Element, host> spread(Element* data, dtype type, const shape_t& shape, std::int64_t apart) {
    auto view = any_view<Element, host>::contiguous(data, type, shape);
    for (int axis = 0; axis < view.rank; ++axis) view.stride[static_cast<std::size_t>(axis)] *= apart;
    return view;
}

flags_t on_host(const skeleton_case& c, int threads, std::int64_t apart) {
    const auto step = static_cast<std::size_t>(apart);
    const auto far = [&](const flags_t& from) {
        flags_t to(from.size() * step + 1, 0x5a);
        for (std::size_t i = 0; i < from.size(); ++i) to[i * step] = from[i];
        return to;
    };
    const flags_t image = far(c.mask), anchors = far(c.anchors);
    flags_t out(c.mask.size() * step + 1, 0x5a), answer;
    skeletonize(
        host{threads, {}}, spread<const void>(image.data(), dtype::uint8, c.shape, apart),
        spread<void>(out.data(), c.bits, c.shape, apart), c.options(),
        c.anchors.empty() ? any_input<host>{} : spread<const void>(anchors.data(), dtype::boolean, c.shape, apart));
    for (std::size_t i = 0; i < out.size(); ++i)
        if (i % step == 0 && i / step < c.mask.size()) answer.push_back(out[i]);
        else if (out[i] != 0x5a) ADD_FAILURE() << "written outside of the answer";
    return answer;
}

TEST(Skeleton, IsItsDefinition) {
    check_skeletons(
        [](const skeleton_case& c) { return on_host(c, 1 + static_cast<int>(c.mask.size() % 3), 1 + c.shape[0] % 2); },
        0, 4000);
}

/// Uses 64-bit numbers, as calls of more than 2^32 cells do.
TEST(Skeleton, WideIndicesAreTheSame) {
    const wide_indices wide;
    check_skeletons([](const skeleton_case& c) { return on_host(c, 1 + static_cast<int>(c.mask.size() % 3), 1); }, 4000,
                    4300);
}

/// Betti numbers: components, background components (cavities) and the Euler number, so tunnels too.
TEST(Skeleton, KeepsTheTopology) {
    for (std::uint64_t seed = 10000; seed < share(10000, 16000); ++seed) {
        const skeleton_case c = drawn_case(seed);
        const flags_t skeleton = on_host(c, 1, 1);
        for (std::size_t i = 0; i < skeleton.size(); ++i) ASSERT_LE(skeleton[i], c.mask[i]) << c.text();
        ASSERT_EQ(topology_of(c, skeleton), topology_of(c, c.mask)) << "seed " << seed << ": " << c.text();
        ASSERT_EQ(left_over(c, skeleton), 0) << "seed " << seed << ": " << c.text();
        for (std::size_t i = 0; i < c.anchors.size(); ++i) ASSERT_GE(skeleton[i], c.anchors[i] & c.mask[i]) << c.text();
        // With isthmuses a second call may keep fewer cells than the first one.
        skeleton_case again = c;
        again.mask = skeleton;
        if (c.keep != kept_cells::isthmuses) {
            ASSERT_EQ(on_host(again, 1, 1), skeleton) << c.text();
        }
    }
}

TEST(Skeleton, DoesNotDependOnThreads) {
    std::uint64_t number = 0;
    for (const shape_t& shape : {shape_t{300, 400}, shape_t{60, 70, 80}})
        for (const kept_cells keep : {kept_cells::ends, kept_cells::isthmuses, kept_cells::nothing})
            for (const bool faces : {false, true}) {
                if (!chosen(++number)) continue;
                skeleton_case c = large_case(shape, 40);
                c.keep = keep, c.faces = faces, c.ends = {border::periodic};
                const flags_t one = on_host(c, 1, 1);
                EXPECT_EQ(on_host(c, 4, 1), one) << c.text();
                EXPECT_EQ(left_over(c, one), 0);
                EXPECT_EQ(topology_of(c, one), topology_of(c, c.mask));
                c.spacing = {2}, c.batch_axes = 0;
                EXPECT_EQ(on_host(c, 3, 1), one) << "one spacing for all axes";
            }
}

/// Squared distances as doubles and large integers are sorted, small ones are counted: both give the same order.
TEST(Skeleton, AnyNumbersGiveTheSameOrder) {
    skeleton_case c = large_case({20, 30, 40}, 25);
    c.spacing = {1, 2, 3};
    const flags_t counted = on_host(c, 2, 1);
    for (const double scale : {0.125, 1000.0, 60000.0, 1e9}) {
        c.spacing = {scale, 2 * scale, 3 * scale};
        EXPECT_EQ(on_host(c, 2, 1), counted) << scale;
    }
}

/// Distances of more than 16 cells, whose layers are thicker than a sixteenth and have several rounds.
TEST(Skeleton, ThickLayersAreTheDefinition) {
    for (std::uint64_t seed = 0; seed < share(0, 60); ++seed) {
        skeleton_case c;
        c.shape = {4, 10, 12}, c.spacing = {1, 12, 30}, c.keep = static_cast<kept_cells>(seed % 3);
        c.ends = {border::open};
        c.faces = seed % 2 == 0;
        for (std::uint64_t i = 0; i < 480; ++i) c.mask.push_back(mix(seed * 480 + i) % 50 != 0 ? 1 : 0);
        ASSERT_EQ(on_host(c, 1, 1), expected(c)) << "seed " << seed;
    }
}

TEST(Skeleton, OfABarIsItsMiddleLine) {
    skeleton_case c;
    c.shape = {9, 40}, c.mask.assign(9 * 40, 0);
    for (std::int64_t y = 2; y < 7; ++y)
        for (std::int64_t x = 3; x < 37; ++x) c.mask[static_cast<std::size_t>(y * 40 + x)] = 1;
    const flags_t skeleton = on_host(c, 1, 1);
    for (std::int64_t i = 0; i < 9 * 40; ++i)
        EXPECT_EQ(skeleton[static_cast<std::size_t>(i)], i / 40 == 4 && i % 40 >= 5 && i % 40 < 35 ? 1 : 0) << i;
    c.keep = kept_cells::nothing;
    EXPECT_EQ(std::count(c.mask.begin(), c.mask.end(), 1), 5 * 34);
    const flags_t kernel = on_host(c, 1, 1);
    EXPECT_EQ(std::count(kernel.begin(), kernel.end(), 1), 1);
}

TEST(Skeleton, BatchesAreLoops) {
    skeleton_case c = large_case({5, 40, 50}, 18);
    c.batch_axes = 1;
    const flags_t all = on_host(c, 3, 1);
    for (std::int64_t image = 0; image < 5; ++image) {
        skeleton_case one = c;
        one.shape = {40, 50}, one.batch_axes = 0;
        one.mask.assign(c.mask.begin() + image * 2000, c.mask.begin() + (image + 1) * 2000);
        EXPECT_EQ(on_host(one, 1, 1), flags_t(all.begin() + image * 2000, all.begin() + (image + 1) * 2000));
    }
}

TEST(Skeleton, EmptyImages) {
    skeleton_case c;
    c.shape = {3, 0, 2};
    EXPECT_EQ(on_host(c, 1, 1), flags_t{});
}

TEST(SkeletonArguments, AreRefusedBeforeAnyWork) {
    flags_t image(12, 1), out(12, 7), anchors(12, 0);
    std::vector<float> real(12, 1);
    const shape_t shape{3, 4};
    const auto in = any_input<host>::contiguous(image.data(), dtype::uint8, shape);
    const auto to = any_output<host>::contiguous(out.data(), dtype::boolean, shape);
    const auto held = any_input<host>::contiguous(anchors.data(), dtype::boolean, shape);
    const auto refused = [&](const any_input<host>& image_, const any_output<host>& out_,
                             const skeleton_options& options, const any_input<host>& anchors_,
                             std::initializer_list<const char*> words) {
        expect_refused([&] { skeletonize(host{}, image_, out_, options, anchors_); }, words);
    };
    refused(in, {}, {}, {}, {"out"});
    refused(in, any_output<host>::contiguous(out.data(), dtype::boolean, shape_t{4, 3}), {}, {}, {"out", "4x3"});
    refused(in, any_output<host>::contiguous(real.data(), dtype::float32, shape), {}, {}, {"out", "float32", "bool"});
    refused(in, any_output<host>::contiguous(image.data(), dtype::uint8, shape), {}, {}, {"out", "image"});
    refused(in, to, {}, any_input<host>::contiguous(real.data(), dtype::float32, shape), {"anchors", "float32"});
    refused(in, to, {}, any_input<host>::contiguous(anchors.data(), dtype::uint8, shape_t{12}), {"anchors", "12"});
    refused(in, to, {}, any_input<host>::contiguous(out.data(), dtype::uint8, shape), {"anchors", "out"});
    refused(in, to, {.spacing = 0.0}, held, {"spacing"});
    refused(in, to, {.batch_axes = 2}, held, {"batch_axes"});
    refused(in, to, {.keep = static_cast<kept_cells>(9)}, held, {"keep", "9"});
    const shape_t four{1, 2, 2, 3};
    refused(any_input<host>::contiguous(image.data(), dtype::uint8, four),
            any_output<host>::contiguous(out.data(), dtype::uint8, four), {}, {}, {"4 axes", "batch_axes"});
    // Any element type, and an image that serves as its own anchors.
    skeletonize(host{}, any_input<host>::contiguous(real.data(), dtype::float32, shape), to, {}, held);
    skeletonize(host{}, in, to, {}, in);
    EXPECT_EQ(out, image);
}

TEST(Skeleton, StopsWhereItsCallerSaysSo) {
    const skeleton_case c = large_case({60, 70, 80}, 30);
    flags_t out(c.mask.size());
    double last = 0;
    host on{1, [&](double done) {
                EXPECT_GE(done, last);
                last = done;
                return true;
            }};
    const auto in = any_input<host>::contiguous(c.mask.data(), dtype::uint8, c.shape);
    const auto to = any_output<host>::contiguous(out.data(), dtype::uint8, c.shape);
    skeletonize(on, in, to);
    EXPECT_GT(last, 0.9);
    on.threads = 2, on.progress = [](double done) { return done < 0.5; };
    EXPECT_THROW(skeletonize(on, in, to), error);
}

}  // namespace
}  // namespace nearfield::test
