// The medial axis and the shapes from balls on the host.
#include "medial_axis/checks.hpp"
#include "medial_axis/host_slabs.hpp"
#include "medial_axis/host_walks.hpp"

namespace nearfield::test {
namespace {

host_runner runner_of(const axis_case& c) { return {1 + static_cast<int>(c.seed % 3)}; }

TEST(MedialAxis, IsTheDefinition) {
    for_each_case(0, 6000, [](const axis_case& c) { check_axis(runner_of(c), c); });
}

TEST(MedialAxis, BallsCoverTheShape) {
    for_each_case(10000, 3000, [](const axis_case& c) { check_balls(runner_of(c), c); });
}

TEST(MedialAxis, MasksAreTheDefinition) {
    for_each_case(50000, 3000, [](axis_case c) {
        make_plain(c);
        check_axis(runner_of(c), c);
    });
}

/// Checks that a mask's axis equals that of the general pass, which also yields second sites.
void check_general(const axis_case& c) {
    SCOPED_TRACE(c.text());
    guarded image = c.image(), fast = c.array(dtype::uint8, 2), slow = c.array(dtype::uint8, 2),
            second = c.array(dtype::int32, 3);
    runner_of(c)({}, [&](const host& on, const auto& at) {
        medial_axis_fields<host> out;
        out.axis = at(fast);
        medial_axis(on, at(image), out, c.options());
        out.axis = at(slow), out.second = at(second);
        medial_axis(on, at(image), out, c.options());
    });
    EXPECT_TRUE(fast.bytes() == slow.bytes());
}

/// Cases have several bands and walks, and squared distances above 2^28, which only constant pruning takes in 32 bits.
TEST(MedialAxis, MasksAreTheGeneralPass) {
    for (const shape_t& shape : {shape_t{3000}, shape_t{70, 95}, shape_t{35, 37, 21}, shape_t{2, 18, 130},
                                 shape_t{3, 3, 2049}, shape_t{2, 12000}, shape_t{12000, 3}, shape_t{200000}})
        for (std::uint64_t seed = 0; seed < 12; ++seed) check_general(large_case(shape, seed));
    for (const shape_t& shape : {shape_t{2, 20000}, shape_t{20000, 3}, shape_t{32000}})
        check_general(case_of_corners(shape));
}

/// The same for labels, lengths, and all ends.
TEST(MedialAxis, WalksAreTheGeneralPass) {
    for (const shape_t& shape :
         {shape_t{5000}, shape_t{70, 95}, shape_t{35, 37, 21}, shape_t{2, 18, 130}, shape_t{3, 3, 2049}})
        for (std::uint64_t seed = 0; seed < 24; ++seed) {
            axis_case c = large_case(shape, seed);
            c.labels = seed % 3 != 0;
            for (std::size_t i = 0; c.labels && i < c.value.size(); ++i)
                c.value[i] *= 1 + static_cast<std::int64_t>((i / 7 + c.draw(40 + i / 50)) % 3);
            for (std::size_t axis = 0; axis < shape.size(); ++axis) {
                c.ends[axis] = static_cast<border>(c.draw(20 + axis) % 3);
                if (seed % 2 == 0) c.spacing[axis] = static_cast<double>(1 + c.draw(30 + axis) % 3);
            }
            check_general(c);
        }
}

/// Walks in 16 bits, which end at sites 4095 cells away along an axis, beside others, of masks and of labels.
TEST(MedialAxis, NearAndFarSites) {
    medial_axes::small_walks& taken = medial_axes::small_walks_taken;
    for (const bool labels : {false, true}) {
        taken.done = 0, taken.too_far = 0;
        for (const shape_t& shape : {shape_t{500, 300}, shape_t{64, 3000}, shape_t{90, 70, 66}, shape_t{2, 12000},
                                     shape_t{12000, 3}, shape_t{8, 3, 4110}, shape_t{8200}})
            for (std::uint64_t seed = 0; seed < 6; ++seed) {
                axis_case c = seed == 0       ? case_of_corners(shape)
                              : seed % 2 == 0 ? case_of_few_sites(shape, seed)
                                              : large_case(shape, seed);
                c.prune = pruning::constant, c.gamma = 1, c.labels = labels;
                const std::int64_t width = shape.back();
                for (std::int64_t i = 0; labels && i < c.cells(); ++i)
                    c.value[static_cast<std::size_t>(i)] *= 1 + (i % width / 9000 + i / width / 90) % 3;
                check_general(c);
            }
        EXPECT_GT(taken.done, 0);
        EXPECT_GT(taken.too_far, 0);
    }
}

TEST(MedialAxis, SlabsAreTheDefinition) {
    medial_axes::slabs_taken = 0;
    const auto cases = static_cast<std::uint64_t>(std::ceil(300 * std::min(1.0, test_scale())));
    for (std::uint64_t seed = 70000; seed < 70000 + cases && !testing::Test::HasFailure(); ++seed) {
        const auto drawn = [&](std::uint64_t which, std::uint64_t most) {
            return 1 + static_cast<std::int64_t>(mix(seed * 31 + which) % most);
        };
        const std::int64_t width = 31 + drawn(0, 35);
        const shape_t shape = seed % 2 == 0 ? shape_t{drawn(1, 20), width} : shape_t{drawn(2, 9), drawn(3, 4), width};
        axis_case c = large_case(shape, seed);
        c.prune = pruning::constant, c.gamma = 1;
        check_axis(runner_of(c), c);
    }
    EXPECT_GT(medial_axes::slabs_taken, cases < 30 ? -1 : 0);
}

/// Calls without a field of sites: slabs and groups of several planes, batches, other fields, and sites too far away.
TEST(MedialAxis, SlabsAreTheGeneralPass) {
    medial_axes::slabs_taken = 0;
    std::int64_t calls = 0;
    const auto check = [&](axis_case c, bool served) {
        SCOPED_TRACE(c.text());
        c.prune = pruning::constant, c.gamma = 1;
        guarded image = c.image(), axis = c.array(dtype::uint8, 2), squared = c.array(dtype::uint32, 3);
        check_general(c);
        runner_of(c)({}, [&](const host& on, const auto& at) {
            medial_axis_fields<host> out;
            out.axis = at(axis), out.squared = at(squared);
            medial_axis(on, at(image), out, c.options());
        });
        guarded plain = c.array(dtype::uint8, 2), wanted = c.array(dtype::uint32, 3), index = c.array(dtype::int32, 4);
        runner_of(c)({}, [&](const host& on, const auto& at) {
            medial_axis_fields<host> out;
            out.axis = at(plain), out.squared = at(wanted), out.index = at(index);
            medial_axis(on, at(image), out, c.options());
        });
        EXPECT_TRUE(axis.bytes() == plain.bytes() && squared.bytes() == wanted.bytes());
        calls += served ? 2 : 0;
        EXPECT_EQ(medial_axes::slabs_taken, calls);
    };
    for (const shape_t& shape : {shape_t{70, 95}, shape_t{300, 33}, shape_t{100, 37, 41}, shape_t{140, 5, 40},
                                 shape_t{90, 1, 64}, shape_t{97, 40, 32}, shape_t{40, 3000}})
        for (std::uint64_t seed = 0; seed <= share(0, 6); ++seed) {
            axis_case c = seed % 3 == 0 ? case_of_few_sites(shape, seed) : large_case(shape, seed);
            check(c, true);
            c.images = 3;
            const std::vector<std::int64_t> one = c.value;
            for (int k = 1; k < 3; ++k) c.value.insert(c.value.end(), one.rbegin(), one.rend());
            check(c, true);
        }
    check(case_of_corners({40, 16000}), true);
    check(case_of_corners({40, 20000}), false);
    check(case_of_corners({70, 20}), false);
}

TEST(MedialAxis, ThreadsDoNotShow) {
    for (const shape_t& shape : {shape_t{100000}, shape_t{300, 401}, shape_t{70, 41, 63}})
        for (std::uint64_t seed = 0; seed < 4; ++seed)
            check_equal(host_runner{1}, host_runner{7}, large_case(shape, seed));
}

}  // namespace
}  // namespace nearfield::test
