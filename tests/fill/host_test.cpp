// Fills on the host.
#include <gtest/gtest.h>

#include "fill/cases.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

any_input<host> missing_of(const fill_case& c) {
    return any_input<host>::contiguous(c.missing.data(), dtype::uint8, c.cells);
}

std::vector<std::int64_t> filled(const fill_case& c, int threads) {
    const std::vector<std::byte> image = packed(c.value, c.type);
    std::vector<std::byte> out(image.size());
    fill_nearest(host{threads, {}}, any_input<host>::contiguous(image.data(), c.type, c.shape()), missing_of(c),
                 any_output<host>::contiguous(out.data(), c.type, c.shape()), c.options());
    out.pop_back();
    return unpacked(out, c.type);
}

std::vector<std::int64_t> interpolated(const slice_case& c, int threads) {
    const std::vector<std::byte> labels = packed(c.label, c.type);
    const shape_t to = c.answer_shape();
    std::vector<std::byte> out(static_cast<std::size_t>(cells_of(to) * size_of(c.type)), std::byte{7});
    interpolate_slices(host{threads, {}}, any_input<host>::contiguous(labels.data(), c.type, c.shape), c.axis,
                       c.positions, any_output<host>::contiguous(out.data(), c.type, to), c.options());
    return unpacked(out, c.type);
}

TEST(FillNearest, RandomCases) {
    check_fill([](const fill_case& c) { return filled(c, 1 + static_cast<int>(c.value.size() % 3)); }, 0, 2000);
}
TEST(InterpolateSlices, RandomCases) {
    check_slices([](const slice_case& c) { return interpolated(c, 1 + static_cast<int>(c.label.size() % 3)); }, 0,
                 2000);
}
TEST(InterpolateSlices, RealSpacing) {
    check_slices([](const slice_case& c) { return interpolated(c, 2); }, 3000, 3400, true);
}

TEST(FillNearest, AnyStrides) {
    std::int32_t image[] = {7, -1, 0, -1, 0, -1, 3, -1}, out[8] = {};
    const std::uint8_t missing[] = {0, 1, 1, 0};
    const extent shape{4};
    fill_nearest(host{}, view<const std::int32_t, 1, host>{image, shape, {2}},
                 view<const std::uint8_t, 1, host>{missing, shape}, view<std::int32_t, 1, host>{out + 6, shape, {-2}});
    EXPECT_EQ(std::vector<std::int32_t>(out, out + 8), (std::vector<std::int32_t>{3, 0, 3, 0, 7, 0, 7, 0}));
}

/// A disc moves farther than its width: with alignment there is a disc between, without it there is nothing.
TEST(InterpolateSlices, MovesWithItsCentroid) {
    slice_case c;
    c.shape = {2, 15, 40}, c.positions = {{1, 2}}, c.label.assign(2 * 15 * 40, 0);
    const auto cell = [](std::int64_t z, std::int64_t y, std::int64_t x) {
        return static_cast<std::size_t>((z * 15 + y) * 40 + x);
    };
    for (std::int64_t y = 0; y < 15; ++y)
        for (std::int64_t x = 0; x < 40; ++x) {
            c.label[cell(0, y, x)] = (y - 7) * (y - 7) + (x - 7) * (x - 7) <= 16 ? 5 : 0;
            c.label[cell(1, y, x)] = (y - 7) * (y - 7) + (x - 31) * (x - 31) <= 16 ? 5 : 0;
        }
    EXPECT_EQ(interpolated(c, 2), std::vector<std::int64_t>(15 * 40, 0));
    c.align = true;
    std::vector<std::int64_t> wanted(15 * 40);
    for (std::int64_t y = 0; y < 15; ++y)
        for (std::int64_t x = 0; x < 40; ++x)
            wanted[cell(0, y, x)] = (y - 7) * (y - 7) + (x - 19) * (x - 19) <= 16 ? 5 : 0;
    EXPECT_EQ(interpolated(c, 2), wanted);
}

/// More positions than one pass serves, in large slices; results do not depend on threads.
TEST(InterpolateSlices, ThreadsDoNotShow) {
    slice_case c;
    c.shape = {3, 90, 110};
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i)
        c.label.push_back(static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(i / 37)) % 3));
    for (std::int64_t k = 0; k <= 80; ++k) c.positions.push_back({k, 40});
    const std::vector<std::int64_t> one = interpolated(c, 1);
    EXPECT_EQ(one, interpolated(c, 3));
    for (std::size_t slice = 0; slice < 3; ++slice)
        for (std::size_t i = 0; i < 90 * 110; ++i)
            ASSERT_EQ(one[slice * 40 * 90 * 110 + i], c.label[slice * 90 * 110 + i]);
}

TEST(FillNearest, Refusals) {
    float value[4] = {}, out[4];
    const std::uint8_t missing[4] = {};
    const view<const float, 2, host> from{value, extent{2, 2}};
    const view<const std::uint8_t, 2, host> gone{missing, extent{2, 2}};
    const view<float, 2, host> to{out, extent{2, 2}};
    const auto call = [&](any_input<host> where, any_output<host> into, const fill_options& o) {
        return [=] { fill_nearest(host{}, from, where, into, o); };
    };
    expect_refused(call({}, to, {}), {"missing", "no axes"});
    expect_refused(call(gone, {}, {}), {"out", "no axes"});
    expect_refused(call(from, to, {}), {"missing", "float32"});
    expect_refused(call(gone, view<double, 2, host>{nullptr, extent{2, 2}}, {}), {"out", "float64"});
    expect_refused(call(gone, view<float, 2, host>{value, extent{2, 2}}, {}), {"overlap"});
    expect_refused(call(view<const std::uint8_t, 1, host>{missing, extent{3}}, to, {}), {"missing", "3"});
    expect_refused(call(gone, to, {-1.0}), {"spacing"});
    expect_refused(call(gone, to, {{}, {}, -1}), {"max_distance"});
    expect_refused(call(gone, to, {{}, {}, 1, 2}), {"batch_axes"});
    expect_refused([&] { fill_nearest(host{-1, {}}, from, gone, to); }, {"threads"});
}

TEST(InterpolateSlices, Refusals) {
    std::int32_t label[8] = {}, out[8];
    const view<const std::int32_t, 2, host> from{label, extent{4, 2}};
    const view<std::int32_t, 2, host> to{out, extent{1, 2}};
    const auto call = [&](int axis, slice_position at, any_output<host> into, const slice_options& o) {
        return [=] { interpolate_slices(host{}, from, axis, {&at, 1}, into, o); };
    };
    expect_refused(call(2, {1, 2}, to, {}), {"axis is 2"});
    expect_refused(call(-1, {1, 2}, to, {}), {"axis is -1"});
    expect_refused(call(0, {7, 2}, to, {}), {"positions has 7/2", "0 to 3"});
    expect_refused(call(0, {-1, 2}, to, {}), {"positions has -1/2"});
    expect_refused(call(0, {1, 0}, to, {}), {"positions has 1/0"});
    expect_refused(call(0, {1, 2}, {}, {}), {"out"});
    expect_refused(call(0, {1, 2}, view<std::int32_t, 2, host>{out, extent{2, 2}}, {}), {"out", "2x2"});
    expect_refused(call(0, {1, 2}, view<std::int32_t, 2, host>{label, extent{1, 2}}, {}), {"overlap"});
    expect_refused(call(0, {1, 2}, to, {0.0}), {"spacing"});
    const std::int64_t twice[] = {1, 1}, far[] = {4};
    expect_refused(call(0, {1, 2}, to, {{}, twice}), {"drawn has 1 after 1"});
    expect_refused(call(0, {1, 2}, to, {{}, far}), {"drawn has 4"});
}

TEST(InterpolateSlices, RefusedLabelsAndFinePositions) {
    std::int32_t label[8] = {}, out[8];
    const view<const std::int32_t, 2, host> from{label, extent{4, 2}};
    const view<std::int32_t, 2, host> to{out, extent{1, 2}};
    const slice_position half[] = {{1, 2}};
    const float real[8] = {};
    const view<const float, 2, host> reals{real, extent{4, 2}};
    expect_refused([&] { interpolate_slices(host{}, reals, 0, half, to); }, {"labels", "float32"});
    expect_refused([&] { interpolate_slices(host{-1, {}}, from, 0, half, to); }, {"threads"});
    const std::uint64_t large[4] = {std::uint64_t{1} << 63, 0, 0, 0};
    std::uint64_t into[2];
    expect_refused(
        [&] {
            interpolate_slices(host{}, view<const std::uint64_t, 2, host>{large, extent{2, 2}}, 0, half,
                               view<std::uint64_t, 2, host>{into, extent{1, 2}});
        },
        {"2^63"});
    std::vector<std::uint8_t> wide(2 * 100000), answer(100000);
    const slice_position fine[] = {{1, 1 << 20}};
    expect_refused(
        [&] {
            interpolate_slices(host{}, view<const std::uint8_t, 2, host>{wide.data(), extent{2, 100000}}, 0, fine,
                               view<std::uint8_t, 2, host>{answer.data(), extent{1, 100000}});
        },
        {"too fine", "up to 10737"});
    bool told = false;
    EXPECT_THROW(interpolate_slices(host{1, [&](double) { return !(told = true); }}, from, 0, half, to), error);
    EXPECT_TRUE(told);
}

}  // namespace
}  // namespace nearfield::test
