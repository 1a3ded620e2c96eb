// One spacing for all axes, which is counted in cells: lengths whose squares are inexact, and the largest and smallest
// ones, under every option, equal the oracle.
#include <gtest/gtest.h>

#include <cmath>

#include "exact/options_call.hpp"
#include "exact/options_fields.hpp"

namespace nearfield::test {
namespace {

struct length_case {
    double length;
    dtype distance;
    const char* why;
};

const std::vector<length_case>& lengths() {
    static const std::vector<length_case> list = {
        {0.65, dtype::float32, "general"},
        {1.0 / 3, dtype::float64, "w * 9 + w * 16 and w * 25 differ"},
        {1.25, dtype::float32, "dyadic, no power of two"},
        {0.25, dtype::float16, "a power of two"},
        {0x1p-130, dtype::float32, "a power of two whose roots are no normal floats"},
        {3, dtype::float32, "integral"},
        {1e12, dtype::float64, "integral, squares beyond 2^62"},
        {1e150, dtype::float64, "the largest squares"},
        {1.5e-154, dtype::float64, "the smallest square that is a normal number, whose quarter is none"},
    };
    return list;
}

std::string check_length(const length_case& cell, const named_options& with, const shape_t& shape, std::uint64_t k) {
    option_call c;
    c.options = with.options;
    c.options.spacing = cell.length;
    c.options.max_distance *= cell.length;
    c.threads = 1 + static_cast<int>(k % 3);
    wanted_fields wanted;
    wanted.squared = dtype::float64, wanted.distance = cell.distance, wanted.index = dtype::int64;
    wanted.trusted = dtype::uint8, wanted.coordinates = true;
    c.items.emplace_back(shape, dtype::uint16, random_labels<std::uint32_t>(shape, 4, k % 2 == 0 ? 0.05 : 0.6, k),
                         c.options, wanted, k);
    c.items[0].solve();
    return check(host_options_engine(), c);
}

TEST(SameSpacing, EveryOptionWithEveryLength) {
    std::uint64_t k = 0;
    for (const length_case& cell : lengths())
        for (const named_options& with : some_options())
            for (const shape_t& shape : {shape_t{13}, shape_t{9, 40}, shape_t{5, 1, 6, 7}})
                ASSERT_EQ(check_length(cell, with, shape, ++k), "") << cell.why << ", " << with.name;
}

/// Sites (3, 4) and (5, 0) steps away are equally far, however their squares are rounded.
TEST(SameSpacing, RoundingMakesNoTieAndBreaksNone) {
    const shape_t shape{6, 6};
    for (const double length : {0.1, 0.3, 1.0 / 3, 0.65, 0.7, 1.1, 1e-9}) {
        flags_t image(36, 1);
        image[3 * 6 + 4] = image[5 * 6] = 0;  // (3, 4) and (5, 0)
        std::vector<std::int64_t> index(36);
        std::vector<double> squared(36);
        fields<host> out;
        out.index = any_output<host>::contiguous(index.data(), dtype::int64, shape);
        out.squared = any_output<host>::contiguous(squared.data(), dtype::float64, shape);
        distance_transform(host{1}, any_input<host>::contiguous(image.data(), dtype::uint8, shape), out,
                           {.spacing = length});
        EXPECT_EQ(index[0], 5 * 6) << length << ": the one that is smaller by its last coordinate";
        EXPECT_EQ(squared[0], length * length * 25) << length;
    }
}

}  // namespace
}  // namespace nearfield::test
