// A bound for every cell, compared with all pairs of cells.
#include "nearfield/distance_bounds.hpp"

#include <gtest/gtest.h>

#include "exact/bounded.hpp"

namespace nearfield::test {
namespace {

/// The nearest site of a cell and its squared distance, among all cells that are zero (if signed, of the other class).
struct nearest {
    double squared = std::numeric_limits<double>::infinity();
    std::int64_t index = -1;
};
nearest nearest_of(const bounded_call& c, std::int64_t cell, const std::vector<double>& spacing, bool both_sides) {
    const auto is_zero = [&](std::int64_t i) { return c.image[static_cast<std::size_t>(i)] == 0; };
    nearest best;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(c.image.size()); ++i) {
        if (both_sides ? is_zero(i) == is_zero(cell) : !is_zero(i)) continue;
        double sum = 0;
        bool before = false, decided = false;
        std::int64_t a = i, b = cell, other = best.index;
        for (std::size_t axis = c.shape.size(); axis-- > 0;) {
            const std::int64_t n = c.shape[axis], at = a % n, apart = at - b % n;
            sum += spacing[axis] * spacing[axis] * static_cast<double>(apart * apart);
            if (!decided && other >= 0 && at != other % n) before = at < other % n, decided = true;
            a /= n, b /= n, other = other < 0 ? other : other / n;
        }
        if (sum < best.squared || (sum == best.squared && before)) best = {sum, i};
    }
    return best;
}

template <class T>
T element(const std::vector<std::byte>& of, std::size_t i) {
    T value;
    std::memcpy(&value, of.data() + i * sizeof(T), sizeof(T));
    return value;
}

void check(const bounded_call& c, const std::vector<double>& spacing) {
    const auto first = c.on_host(bounded_forms()[0]), second = c.on_host(bounded_forms()[1]),
               third = c.on_host(bounded_forms()[2]), fourth = c.on_host(bounded_forms()[3]),
               fifth = c.on_host(bounded_forms()[4], 1);
    for (std::size_t i = 0; i < c.image.size(); ++i) {
        nearest is = nearest_of(c, static_cast<std::int64_t>(i), spacing, false);
        double distance = std::sqrt(is.squared);
        const bool within = distance <= static_cast<double>(c.bounds[i]);
        if (!within) distance = std::numeric_limits<double>::infinity(), is.index = -1;
        SCOPED_TRACE(i);
        ASSERT_EQ(element<float>(first[0], i), static_cast<float>(distance));
        ASSERT_EQ(element<std::int32_t>(first[1], i), is.index);
        std::int64_t rest = is.index;
        for (std::size_t axis = c.shape.size(); axis-- > 0; rest = rest < 0 ? rest : rest / c.shape[axis])
            ASSERT_EQ(element<std::int32_t>(first[2], axis * c.image.size() + i), rest < 0 ? -1 : rest % c.shape[axis]);
        ASSERT_EQ(element<double>(second[0], i), distance);
        ASSERT_EQ(element<std::uint32_t>(second[1], i), within ? static_cast<std::uint32_t>(is.squared) : UINT32_MAX);
        ASSERT_EQ(element<std::uint8_t>(third[0], i), within && is.index >= 0 ? 1 : 0);
        ASSERT_EQ(element<std::uint16_t>(fourth[0], i) == 0x7c00, !within || is.index < 0);
        ASSERT_EQ(element<std::uint8_t>(fourth[1], i), 0);
        ASSERT_EQ(element<float>(fifth[0], i), within ? static_cast<float>(is.squared) : INFINITY);
        ASSERT_EQ(element<std::int64_t>(fifth[1], i), is.index);
    }
}

TEST(Bounds, EveryFieldAgainstAllPairs) {
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{300}, {1, 40}, {17, 23}, {6, 7, 9}, {3, 1, 4, 5}})
        check(bounded_call(shape, 7), std::vector<double>(shape.size(), 1.0));
}

TEST(Bounds, SpacingThatIsIntegral) {
    bounded_call c({12, 19}, 8);
    const double spacing[] = {3, 2};
    c.options.spacing = {spacing, 2};
    check(c, {3, 2});
}

TEST(Bounds, BothSidesOfASignedField) {
    bounded_call c({14, 15}, 9);
    c.options.sign = sign::inside_negative;
    const auto found = c.on_host({{0, dtype::float32}, {1, dtype::float64}});
    for (std::size_t i = 0; i < c.image.size(); ++i) {
        const nearest is = nearest_of(c, static_cast<std::int64_t>(i), {1, 1}, true);
        const bool within = std::sqrt(is.squared) <= static_cast<double>(c.bounds[i]);
        const double sign = c.image[i] != 0 ? -1 : 1;
        const double squared = sign * (within ? is.squared : std::numeric_limits<double>::infinity());
        SCOPED_TRACE(i);
        ASSERT_EQ(element<double>(found[1], i), squared);
        ASSERT_EQ(element<float>(found[0], i), static_cast<float>(sign * std::sqrt(std::abs(squared))));
    }
}

TEST(Bounds, OneBoundForManyCellsAndNoCells) {
    const std::uint8_t image[] = {0, 1, 1, 1, 0, 1, 1, 1};
    const double bound = 1;
    any_input<host> one = any_input<host>::contiguous(&bound, dtype::float64, std::vector<int>{2, 4});
    one.stride = {0, 0};
    float distance[8];
    fields<host> out;
    out.distance = any_output<host>::contiguous(distance, dtype::float32, std::vector<int>{2, 4});
    bounded_distance_transform(host{1, {}}, any_input<host>::contiguous(image, dtype::uint8, std::vector<int>{2, 4}),
                               one, out);
    EXPECT_EQ(distance[1], 1);
    EXPECT_EQ(distance[2], INFINITY);
    EXPECT_EQ(distance[5], 1);
    bounded_call none({0, 5}, 3);
    EXPECT_EQ(none.on_host({{0, dtype::float32}})[0].size(), 0U);
}

TEST(Bounds, ErrorsNameTheArgument) {
    const std::uint8_t image[6] = {};
    const float bounds[6] = {};
    float distance[6];
    std::uint8_t trusted[6];
    const auto call = [&](dtype type, const std::vector<int>& shape, bool trust) -> std::string {
        fields<host> out;
        out.distance = any_output<host>::contiguous(distance, dtype::float32, std::vector<int>{2, 3});
        if (trust) out.trusted = any_output<host>::contiguous(trusted, dtype::boolean, std::vector<int>{2, 3});
        try {
            bounded_distance_transform(host{}, any_input<host>::contiguous(image, dtype::uint8, std::vector<int>{2, 3}),
                                       any_input<host>::contiguous(bounds, type, shape), out);
        } catch (const error& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_NE(call(dtype::int32, {2, 3}, false).find("bounds"), std::string::npos);
    EXPECT_NE(call(dtype::float32, {3, 2}, false).find("bounds"), std::string::npos);
    EXPECT_NE(call(dtype::float32, {2, 3}, true).find("trusted"), std::string::npos);
    EXPECT_EQ(call(dtype::float32, {2, 3}, false), "");
}

}  // namespace
}  // namespace nearfield::test
