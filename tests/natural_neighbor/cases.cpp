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

/// One image of a case, as three axes.
struct one_image {
    std::int64_t size[3] = {1, 1, 1};
    bool wraps[3] = {};
    double length[3] = {1, 1, 1};
    std::vector<double> value;
    std::vector<std::uint8_t> known;

    [[nodiscard]] std::vector<std::int64_t> at(std::int64_t i) const {
        return {i / size[2] / size[1], i / size[2] % size[1], i % size[2]};
    }
    /// Squared distance after the second cell is moved by a vector.
    [[nodiscard]] double apart(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) const {
        double sum = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const auto d = static_cast<double>(a[k] - b[k]);
            sum += length[k] * length[k] * (d * d);
        }
        return sum;
    }
    /// Calls body(copy) for every copy of a cell that can lie within `reach` of a cell of the grid.
    template <class Body>
    void for_copies(std::int64_t i, double reach, const Body& body) const {
        const std::vector<std::int64_t> c = at(i);
        const auto turns = [&](int k) {
            return wraps[k] ? static_cast<std::int64_t>(reach / length[k]) / size[k] + 1 : 0;
        };
        for (std::int64_t z = -turns(0); z <= turns(0); ++z)
            for (std::int64_t y = -turns(1); y <= turns(1); ++y)
                for (std::int64_t x = -turns(2); x <= turns(2); ++x)
                    body(std::vector<std::int64_t>{c[0] + z * size[0], c[1] + y * size[1], c[2] + x * size[2]});
    }
    [[nodiscard]] std::vector<double> solved() const;
};

std::vector<double> one_image::solved() const {
    const auto cells = static_cast<std::int64_t>(value.size());
    std::vector<double> sum(value.size()), count(value.size());
    for (std::int64_t p = 0; p < cells; ++p) {
        double nearest2 = INFINITY, given = 0;
        std::vector<std::int64_t> site;
        for (std::int64_t s = 0; s < cells; ++s) {
            if (known[static_cast<std::size_t>(s)] == 0) continue;
            double away2 = INFINITY;
            for_copies(s, 0, [&](const auto& copy) { away2 = std::min(away2, apart(at(p), copy)); });
            const auto c = at(s);
            const bool before = site.empty() || std::tuple(c[2], c[1], c[0]) < std::tuple(site[2], site[1], site[0]);
            if (away2 < nearest2 || (away2 == nearest2 && before))
                nearest2 = away2, given = value[static_cast<std::size_t>(s)], site = c;
        }
        if (site.empty()) continue;
        for (std::int64_t q = 0; q < cells; ++q)
            for_copies(q, std::sqrt(nearest2), [&](const auto& copy) {
                if (apart(at(p), copy) < nearest2 || (nearest2 == 0 && copy == at(p)))
                    sum[static_cast<std::size_t>(q)] += given, count[static_cast<std::size_t>(q)] += 1;
            });
    }
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] /= count[i];
    return sum;
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

std::vector<double> expected(const natural_case& c) {
    one_image one;
    const auto axes = static_cast<int>(c.shape.size());
    for (int axis = c.batch_axes; axis < axes; ++axis) {
        const auto k = static_cast<std::size_t>(axis), own = static_cast<std::size_t>(axis - c.batch_axes);
        const int to = 3 - axes + axis;
        one.size[to] = c.shape[k];
        if (!c.ends.empty()) one.wraps[to] = c.ends[k] == border::periodic;
        if (!c.spacing.empty()) one.length[to] = c.spacing[own + static_cast<std::size_t>(c.batch_axes)];
    }
    const auto cells = static_cast<std::size_t>(one.size[0] * one.size[1] * one.size[2]);
    std::vector<double> all;
    for (std::size_t first = 0; first < c.value.size(); first += cells) {
        one.value.assign(c.value.begin() + static_cast<std::ptrdiff_t>(first),
                         c.value.begin() + static_cast<std::ptrdiff_t>(first + cells));
        one.known.clear();
        for (std::size_t i = 0; i < cells; ++i)
            one.known.push_back(std::isfinite(one.value[i]) && (c.known.empty() || c.known[first + i] != 0) ? 1 : 0);
        const std::vector<double> more = one.solved();
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
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
