// Distances in spacings whose squares are proportional to small integers equal the host's bit for bit: dense and sparse
// sites, sites beyond the search limit, roots that are hard to round, and calls that another path serves.
#include <gtest/gtest.h>

#include "exact/cases.hpp"
#include "exact/options_device_engine.hpp"
#include "exact/options_fields.hpp"

namespace nearfield::test {
namespace {

struct spacing_case {
    double length[3];
    const char* why;
};

const std::vector<spacing_case>& spacings() {
    static const std::vector<spacing_case> list = {
        {{0.7, 0.31, 0.5}, "4900, 961, 2500"},
        {{0.65, 0.65, 5}, "169, 169, 10000: too large"},
        {{5, 0.65, 0.65}, "the same the other way round"},
        {{0.9, 0.3, 0.3}, "9, 1, 1"},
        {{0.1, 0.2, 0.7}, "1, 4, 49"},
        {{0.3333333333333333, 0.1, 0.2}, "no decimals"},
        {{1.4142135623730951, 0.7, 1}, "a root"},
        {{1e-40, 3e-40, 2e-40}, "units below floats"},
    };
    return list;
}

void check(const shape_t& shape, const spacing_case& each, const codes_t& codes, const wanted_fields& wanted,
           int batch_axes = 0) {
    distance_options options;
    // An image takes the lengths of the last axes.
    options.spacing = spacing(each.length + 3 - shape.size(), shape.size());
    options.batch_axes = batch_axes;
    ASSERT_EQ(differs(shape, dtype::uint8, codes, options, wanted), "") << each.why << ", " << text_of(shape);
}

constexpr double densities[] = {0.5, 0.02, 0.0005};

TEST(Counted, EqualsTheHosts) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{150, 70}, shape_t{37, 65}, shape_t{9, 40, 33}, shape_t{140, 5, 31}})
        for (const spacing_case& each : spacings())
            for (const double density : densities) {
                ++k;
                const codes_t codes = random_labels<std::uint32_t>(shape, 1, density, k);
                check(shape, each, codes, {.distance = dtype::float32}, k % 4 == 0 && shape.size() == 3 ? 1 : 0);
            }
}

codes_t one_site(const shape_t& shape, std::int64_t where) {
    codes_t codes(static_cast<std::size_t>(cells_of(shape)), 1);
    codes[static_cast<std::size_t>(where)] = 0;
    return codes;
}

TEST(Counted, SitesFartherThanBandsLook) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    for (const shape_t& shape : {shape_t{700, 33}, shape_t{40, 1100}, shape_t{200, 3, 33}, shape_t{3, 600, 5}})
        for (const spacing_case& each : {spacings()[0], spacings()[3]})
            for (const std::int64_t where : {std::int64_t{0}, cells_of(shape) - 1, cells_of(shape) / 2})
                check(shape, each, one_site(shape, where), {.distance = dtype::float32});
}

/// Volumes large enough for a limit, with as many rows in a line as each form of a tile has, and with more.
const std::vector<shape_t>& limited_shapes() {
    static const std::vector<shape_t> list = {{90, 97, 121}, {70, 150, 101}, {12, 400, 231}, {16, 523, 129}};
    return list;
}

TEST(Counted, VolumesWithinALimit) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    std::uint64_t k = 0;
    for (const shape_t& shape : limited_shapes())
        for (const double density : {0.9, 0.1, 0.01, 0.0005}) {
            const codes_t codes = random_labels<std::uint32_t>(shape, 1, density, ++k);
            check(shape, spacings()[k % 5], codes, {.distance = dtype::float32}, k % 7 == 0 ? 1 : 0);
        }
}

/// Sites near almost all cells, except in balls from which the sample takes no cell or only a few, so that the chosen
/// limit is too small there.
TEST(Counted, HolesBeyondTheLimit) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    for (const shape_t& shape : {limited_shapes()[1], limited_shapes()[3]})
        for (const std::int64_t radius : {5, 8, 12}) {
            codes_t codes = random_labels<std::uint32_t>(shape, 1, 0.3, static_cast<std::uint64_t>(radius));
            for (std::int64_t z = -radius; z <= radius; ++z)
                for (std::int64_t y = -radius; y <= radius; ++y)
                    for (std::int64_t x = -radius; x <= radius; ++x) {
                        const std::int64_t plane = shape[0] / 2 + z;
                        if (z * z + y * y + x * x > radius * radius || plane < 0 || plane >= shape[0]) continue;
                        const std::int64_t row = plane * shape[1] + shape[1] / 3 + y;
                        codes[static_cast<std::size_t>(row * shape[2] + shape[2] / 2 + x)] = 1;
                    }
            check(shape, spacings()[0], codes, {.distance = dtype::float32});
        }
}

TEST(Counted, NoSite) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    for (const shape_t& shape : {shape_t{140, 40}, shape_t{7, 70, 33}, limited_shapes()[0]})
        check(shape, spacings()[0], codes_t(static_cast<std::size_t>(cells_of(shape)), 1),
              {.distance = dtype::float32});
}

TEST(Counted, OtherFieldsAndLayouts) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    const shape_t shape{6, 70, 40};
    const codes_t codes = random_labels<std::uint32_t>(shape, 1, 0.03, 3);
    for (const wanted_fields& wanted :
         {wanted_fields{.squared = dtype::float64}, wanted_fields{.distance = dtype::float64},
          wanted_fields{.distance = dtype::float32, .index = dtype::int32},
          wanted_fields{.distance = dtype::float32, .output_layout = layout::transposed}})
        check(shape, spacings()[0], codes, wanted);
}

/// A cell whose root lies within a few units in the last place of the middle between two floats (found by a search).
TEST(Counted, DoubtfulRoots) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    struct doubtful {
        double rows, columns;
        std::int64_t down, across;
    };
    for (const doubtful& each : {doubtful{0.84, 0.55, 96, 9}, doubtful{0.55, 0.84, 9, 96}, doubtful{0.84, 0.33, 96, 15},
                                 doubtful{0.45, 0.84, 11, 96}, doubtful{0.55, 0.72, 9, 112}}) {
        const shape_t shape{each.down + 1, each.across + 1};
        check(shape, {{0, each.rows, each.columns}, "doubtful"}, one_site(shape, 0), {.distance = dtype::float32});
        const shape_t volume{each.down + 1, 2, each.across + 1};
        check(volume, {{each.rows, 0.3, each.columns}, "doubtful"}, one_site(volume, 0), {.distance = dtype::float32});
    }
}

}  // namespace
}  // namespace nearfield::test
