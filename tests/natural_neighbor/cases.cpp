#include "natural_neighbor/cases.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "scale.hpp"

namespace nearfield::test {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<double>& value) {
    std::vector<std::byte> bytes(value.size() * sizeof(T));
    for (std::size_t i = 0; i < value.size(); ++i) {
        const auto one = static_cast<T>(value[i]);
        std::memcpy(bytes.data() + i * sizeof(T), &one, sizeof(T));
    }
    return bytes;
}

}  // namespace

std::vector<std::byte> natural_case::packed() const {
    switch (type) {
        case dtype::uint8: return bytes_of<std::uint8_t>(value);
        case dtype::int16: return bytes_of<std::int16_t>(value);
        case dtype::uint32: return bytes_of<std::uint32_t>(value);
        case dtype::int64: return bytes_of<std::int64_t>(value);
        case dtype::float32: return bytes_of<float>(value);
        default: return bytes_of<double>(value);
    }
}

natural_case drawn_natural_case(std::uint64_t seed) {
    std::uint64_t state = seed << 20;
    const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
    natural_case c;
    const auto axes = static_cast<int>(1 + draw(3));
    c.batch_axes = draw(4) == 0 ? 1 : 0;
    constexpr std::uint64_t longest[] = {40, 9, 6};
    if (c.batch_axes > 0) c.shape.push_back(1 + static_cast<std::int64_t>(draw(3)));
    for (int k = 0; k < axes; ++k) c.shape.push_back(1 + static_cast<std::int64_t>(draw(longest[axes - 1])));
    constexpr double lengths[][3] = {{1, 1, 1}, {1, 2, 3}, {0.5, 1.5, 1}, {1.4142135623730951, 3.141592653589793, 1}};
    const auto kind = draw(5);
    for (std::size_t k = 0; k < c.shape.size() && kind > 0; ++k) c.spacing.push_back(lengths[kind - 1][k % 3]);
    for (std::size_t k = 0; k < c.shape.size(); ++k)
        c.ends.push_back(k >= static_cast<std::size_t>(c.batch_axes) && draw(2) == 0 ? border::periodic : border::open);
    constexpr dtype types[] = {dtype::uint8, dtype::int16, dtype::uint32, dtype::int64, dtype::float32, dtype::float64};
    c.type = types[draw(6)];
    const bool floats = c.type >= dtype::float32, all = draw(3) == 0 && floats;
    const auto density = 1 + draw(10);
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        const bool known = draw(density) == 0;
        const auto whole = static_cast<double>(draw(200));
        c.value.push_back(!floats ? whole : all && !known ? NAN : (whole - 100) / 8);
        if (!all) c.known.push_back(known ? 1 : 0);
    }
    return c;
}

void check_natural(const natural_runner& run, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t seed = first; seed < share(first, end); ++seed) {
        const natural_case c = drawn_natural_case(seed);
        const std::vector<double> came = run(c), wanted = expected(c);
        ASSERT_EQ(came.size(), wanted.size());
        for (std::size_t i = 0; i < came.size(); ++i)
            ASSERT_TRUE(came[i] == wanted[i] || (std::isnan(came[i]) && std::isnan(wanted[i])))
                << "seed " << seed << " cell " << i << ": " << came[i] << ", by definition " << wanted[i];
    }
}

}  // namespace nearfield::test
