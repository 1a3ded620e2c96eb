#include "metrics/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "scale.hpp"

namespace nearfield::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

// ---- polygons -------------------------------------------------------------------------------------------------------

using point = std::array<double, 3>;  ///< z, y, x; the two cells of an axis have their centres at 0 and 1
using cell = std::array<int, 3>;

/// Connected cells, and the flat polygons around them.
struct piece {
    std::vector<cell> cells;
    std::vector<std::vector<point>> polygons;
};
const piece pieces[] = {
    {{{0, 0, 0}}, {{{.5, 0, 0}, {0, .5, 0}, {0, 0, .5}}}},
    {{{0, 0, 0}, {0, 0, 1}}, {{{.5, 0, 0}, {.5, 0, 1}, {0, .5, 1}, {0, .5, 0}}}},
    {{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}},
     {{{.5, 0, 0}, {.5, 0, 1}, {.5, 1, 0}}, {{.5, 0, 1}, {0, .5, 1}, {0, 1, .5}, {.5, 1, 0}}}},
    {{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}}, {{{.5, 0, 0}, {.5, 0, 1}, {.5, 1, 1}, {.5, 1, 0}}}},
    {{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}},
     {{{.5, 0, 1}, {0, .5, 1}, {0, 1, .5}, {.5, 1, 0}, {1, .5, 0}, {1, 0, .5}}}},
    {{{1, 0, 0}, {0, 0, 0}, {0, 0, 1}, {0, 1, 1}},
     {{{1, .5, 0}, {.5, 0, 1}, {0, 1, .5}},
      {{1, .5, 0}, {1, 0, .5}, {.5, 0, 1}},
      {{.5, 0, 1}, {.5, 1, 1}, {0, 1, .5}},
      {{0, 1, .5}, {0, .5, 0}, {1, .5, 0}}}},
};

double area_of(const std::vector<point>& polygon, const double (&length)[3]) {
    point sum{};
    for (std::size_t i = 1; i + 1 < polygon.size(); ++i)
        for (std::size_t k = 0; k < 3; ++k) {
            const std::size_t m = (k + 1) % 3, n = (k + 2) % 3;
            const auto side = [&](std::size_t to, std::size_t axis) {
                return (polygon[to][axis] - polygon[0][axis]) * length[axis];
            };
            sum[k] += (side(i, m) * side(i + 1, n) - side(i, n) * side(i + 1, m)) / 2;
        }
    return std::hypot(sum[0], sum[1], sum[2]);
}

/// A rotation of the cube, or a reflected one.
struct turn {
    std::array<std::size_t, 3> axis;
    unsigned mirrored;

    template <class T>
    [[nodiscard]] std::array<T, 3> operator()(const std::array<T, 3>& at) const {
        std::array<T, 3> to{};
        for (std::size_t k = 0; k < 3; ++k) to[k] = (mirrored >> k & 1) != 0 ? 1 - at[axis[k]] : at[axis[k]];
        return to;
    }
};

unsigned bit_of(const cell& at) { return 1u << (4 * at[2] + 2 * at[0] + at[1]); }

std::map<unsigned, double> areas_of_pieces(const double (&length)[3]) {
    std::map<unsigned, double> areas;
    std::array<std::size_t, 3> axis{0, 1, 2};
    do
        for (unsigned mirrored = 0; mirrored < 8; ++mirrored)
            for (const piece& one : pieces) {
                const turn to{axis, mirrored};
                unsigned bits = 0;
                for (const cell& at : one.cells) bits |= bit_of(to(at));
                double area = 0;
                for (std::vector<point> polygon : one.polygons) {
                    for (point& at : polygon) at = to(at);
                    area += area_of(polygon, length);
                }
                const auto [known, fresh] = areas.emplace(bits, area);
                EXPECT_TRUE(fresh || std::abs(known->second - area) < 1e-12 * area) << bits;
            }
    while (std::next_permutation(axis.begin(), axis.end()));
    return areas;
}

// ---- one label of one image -----------------------------------------------------------------------------------------

struct weighted_point {
    std::array<std::int64_t, 3> at;
    double area;
};

struct one_image {
    int axes = 3;
    std::int64_t size[3] = {1, 1, 1};
    double length[3] = {1, 1, 1};
    std::map<unsigned, double> areas;  ///< empty if points are cells

    [[nodiscard]] bool inside(const std::vector<bool>& mask, std::int64_t z, std::int64_t y, std::int64_t x) const {
        const std::int64_t at[] = {z, y, x};
        for (int k = 0; k < 3; ++k)
            if (at[k] < 0 || at[k] >= size[k]) {
                if (k >= 3 - axes) return false;
                return inside(mask, k == 0 ? 0 : z, k == 1 ? 0 : y, x);
            }
        return mask[static_cast<std::size_t>((z * size[1] + y) * size[2] + x)];
    }
    [[nodiscard]] double area_at(const std::vector<bool>& mask, std::int64_t z, std::int64_t y, std::int64_t x) const {
        if (areas.empty()) {
            if (!inside(mask, z, y, x)) return 0;
            const bool inner = inside(mask, z - 1, y, x) && inside(mask, z + 1, y, x) && inside(mask, z, y - 1, x) &&
                               inside(mask, z, y + 1, x) && inside(mask, z, y, x - 1) && inside(mask, z, y, x + 1);
            return inner ? 0 : 1;
        }
        unsigned bits = 0;
        for (int k = 0; k < 8; ++k) {
            const cell by{k >> 2, k >> 1 & 1, k & 1};
            if (inside(mask, z - 1 + by[0], y - 1 + by[1], x - 1 + by[2])) bits |= bit_of(by);
        }
        return bits == 0 || bits == 255 ? 0 : areas.at(bits);
    }
    [[nodiscard]] std::vector<weighted_point> points(const std::vector<bool>& mask) const {
        std::vector<weighted_point> found;
        const auto end = [&](int k) { return size[k] + (!areas.empty() && k >= 3 - axes ? 1 : 0); };
        for (std::int64_t z = 0; z < end(0); ++z)
            for (std::int64_t y = 0; y < end(1); ++y)
                for (std::int64_t x = 0; x < end(2); ++x)
                    if (const double area = area_at(mask, z, y, x); area > 0) found.push_back({{z, y, x}, area});
        return found;
    }
    [[nodiscard]] double apart2(const weighted_point& a, const weighted_point& b) const {
        double sum = 0;
        for (std::size_t k = 3; k-- > 0;) {
            const auto d = static_cast<double>(a.at[k] - b.at[k]);
            sum += length[k] * length[k] * (d * d);
        }
        return sum;
    }
};

using weighted = std::vector<std::pair<double, double>>;  ///< distance and area of points, sorted

weighted distances_of(const one_image& of, const std::vector<weighted_point>& a, const std::vector<weighted_point>& b) {
    weighted all;
    for (const weighted_point& from : a) {
        double least2 = inf;
        for (const weighted_point& to : b) least2 = std::min(least2, of.apart2(from, to));
        all.emplace_back(std::sqrt(least2), from.area);
    }
    std::ranges::sort(all);
    return all;
}

double percentile_of(const weighted& all, double percent, bool elements) {
    if (!elements) {
        const double at = static_cast<double>(all.size() - 1) * (percent / 100);
        const auto below = static_cast<std::size_t>(at);
        const double low = all[below].first, high = all[std::min(below + 1, all.size() - 1)].first,
                     share = at - std::floor(at);
        return share < 0.5 ? low + (high - low) * share : high - (high - low) * (1 - share);
    }
    double total = 0, sum = 0;
    for (const auto& [distance, area] : all) total += area;
    for (const auto& [distance, area] : all)
        if ((sum += area) >= percent / 100 * total * (1 - 1e-12)) return distance;
    return all.back().first;
}

struct sums {
    double area = 0, moment = 0;
    std::vector<double> within;
};
sums sums_of(const weighted& all, const std::vector<double>& tolerances) {
    sums s;
    for (const auto& [distance, area] : all) s.area += area, s.moment += distance * area;
    for (const double tolerance : tolerances) {
        double within = 0;
        for (const auto& [distance, area] : all) within += distance <= tolerance ? area : 0;
        s.within.push_back(within);
    }
    return s;
}

surface_distances compared(const one_image& of, const surface_options& options, const std::vector<bool> (&mask)[2]) {
    surface_distances row;
    const bool elements = options.surface == surface::elements;
    const std::vector<weighted_point> points[] = {of.points(mask[0]), of.points(mask[1])};
    const weighted all[] = {distances_of(of, points[0], points[1]), distances_of(of, points[1], points[0])};
    const sums of_side[] = {sums_of(all[0], options.tolerances), sums_of(all[1], options.tolerances)};
    std::int64_t common = 0;
    for (std::size_t i = 0; i < mask[0].size(); ++i) common += mask[0][i] && mask[1][i] ? 1 : 0;
    bool empty[2];
    for (int s = 0; s < 2; ++s) {
        row.cells[s] = std::ranges::count(mask[s], true), row.area[s] = of_side[s].area;
        empty[s] = row.cells[s] == 0;
        row.farthest[s] = empty[s] ? nan : all[s].back().first;
        row.average[s] = of_side[s].moment / of_side[s].area;
        for (const double within : of_side[s].within) row.overlap[s].push_back(within / of_side[s].area);
    }
    const bool neither = empty[0] && empty[1], either = empty[0] || empty[1];
    const double both = of_side[0].area + of_side[1].area;
    row.hausdorff = neither ? nan : either ? inf : std::max(row.farthest[0], row.farthest[1]);
    row.symmetric_average = neither ? nan : either ? inf : (of_side[0].moment + of_side[1].moment) / both;
    row.dice = 2 * static_cast<double>(common) / static_cast<double>(row.cells[0] + row.cells[1]);
    for (const double percent : options.percentiles)
        row.percentile.push_back(
            either ? row.hausdorff
                   : std::max(percentile_of(all[0], percent, elements), percentile_of(all[1], percent, elements)));
    for (std::size_t t = 0; t < options.tolerances.size(); ++t)
        row.surface_dice.push_back(either ? (neither ? nan : 0) : (of_side[0].within[t] + of_side[1].within[t]) / both);
    if (either)
        for (int s = 0; s < 2; ++s)
            for (double& share : row.overlap[s]) share = empty[s] ? nan : 0;  // for any tolerance
    return row;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<std::int64_t>& value) {
    std::vector<std::byte> bytes(value.size() * sizeof(T));
    for (std::size_t i = 0; i < value.size(); ++i) {
        const auto one = static_cast<T>(value[i]);
        std::memcpy(bytes.data() + i * sizeof(T), &one, sizeof(T));
    }
    return bytes;
}

}  // namespace

double element_area(unsigned cells, const double (&length)[3]) {
    const std::map<unsigned, double> areas = areas_of_pieces(length);
    double sum = 0;
    for (unsigned left = std::popcount(cells) > 4 ? ~cells & 255u : cells; left != 0;) {
        unsigned component = left & -left;
        for (int times = 0; times < 3; ++times)
            for (int k = 0; k < 8; ++k)
                if ((component >> k & 1) != 0)
                    for (const int step : {1, 2, 4}) component |= left & 1u << (k ^ step);
        sum += areas.at(component), left &= ~component;
    }
    return sum;
}

std::vector<std::byte> surface_case::packed(int side) const {
    const std::vector<std::int64_t>& from = value[side];
    switch (type[side]) {
        case dtype::boolean:
        case dtype::uint8: return bytes_of<std::uint8_t>(from);
        case dtype::int8: return bytes_of<std::int8_t>(from);
        case dtype::int16: return bytes_of<std::int16_t>(from);
        case dtype::uint16: return bytes_of<std::uint16_t>(from);
        case dtype::int32: return bytes_of<std::int32_t>(from);
        case dtype::uint32: return bytes_of<std::uint32_t>(from);
        default: return bytes_of<std::int64_t>(from);
    }
}

std::vector<surface_distances> expected(const surface_case& c) {
    one_image one;
    const auto axes = static_cast<int>(c.shape.size());
    one.axes = axes - c.options.batch_axes;
    for (int axis = c.options.batch_axes; axis < axes; ++axis) {
        one.size[3 - axes + axis] = c.shape[static_cast<std::size_t>(axis)];
        one.length[3 - axes + axis] = c.options.spacing[axis];
    }
    if (c.options.surface == surface::elements)
        for (unsigned cells = 1; cells < 255; ++cells) one.areas[cells] = element_area(cells, one.length);
    std::vector<std::int64_t> labels = c.labels;
    if (labels.empty()) {
        std::set<std::int64_t> found(c.value[0].begin(), c.value[0].end());
        found.insert(c.value[1].begin(), c.value[1].end());
        found.erase(0);
        labels.assign(found.begin(), found.end());
    }
    std::vector<surface_distances> rows;
    const auto cells = static_cast<std::size_t>(one.size[0] * one.size[1] * one.size[2]);
    for (std::size_t image = 0; image * cells < c.value[0].size(); ++image)
        for (const std::int64_t label : labels) {
            std::vector<bool> mask[2];
            for (int s = 0; s < 2; ++s)
                for (std::size_t i = 0; i < cells; ++i) mask[s].push_back(c.value[s][image * cells + i] == label);
            surface_distances& row = rows.emplace_back(compared(one, c.options, mask));
            row.image = static_cast<std::int64_t>(image), row.label = label;
        }
    return rows;
}

surface_case drawn_surface_case(std::uint64_t seed) {
    std::uint64_t state = seed << 20;
    const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
    surface_case c;
    const auto axes = static_cast<int>(1 + draw(3));
    c.options.batch_axes = draw(4) == 0 ? 1 : 0;
    constexpr std::uint64_t longest[] = {40, 12, 7};
    if (c.options.batch_axes > 0) c.shape.push_back(1 + static_cast<std::int64_t>(draw(3)));
    for (int k = 0; k < axes; ++k) c.shape.push_back(1 + static_cast<std::int64_t>(draw(longest[axes - 1])));
    constexpr double lengths[][3] = {{1, 1, 1}, {1, 2, 3}, {0.5, 1.5, 1}, {1.4142135623730951, 3.141592653589793, 1}};
    std::vector<double> length;
    const auto kind = draw(5);
    for (std::size_t k = 0; k < c.shape.size() && kind > 0; ++k) length.push_back(lengths[kind - 1][k % 3]);
    if (kind > 0) c.options.spacing = spacing(length.data(), length.size());
    c.options.surface = draw(2) == 0 ? surface::cells : surface::elements;
    c.options.percentiles.clear(), c.options.tolerances.clear();
    constexpr double percents[] = {0, 50, 95, 99.5, 100, 33.3};
    for (auto n = draw(4); n > 0; --n) c.options.percentiles.push_back(percents[draw(6)]);
    constexpr double tolerances[] = {0, 1, 1.5, 2.25, inf};
    for (auto n = draw(3); n > 0; --n) c.options.tolerances.push_back(tolerances[draw(5)]);
    const auto labels = 1 + draw(3), noise = 1 + draw(12), block = 1 + draw(4), empty = draw(6);
    const bool bytes = seed % 3 == 0;  // which are their own codes
    const std::uint64_t largest = bytes ? 255 : labels;
    for (const int side : {0, 1}) {
        constexpr dtype types[] = {dtype::uint8,  dtype::int8,  dtype::int16, dtype::uint16,
                                   dtype::uint32, dtype::int64, dtype::int32};
        c.type[side] = bytes ? dtype::uint8 : types[draw(7)];
        for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
            const auto k = static_cast<std::uint64_t>(i);
            const std::uint64_t base = mix(k / block + (seed << 8)) % (labels + 1);
            const std::uint64_t value = draw(noise) == 0 ? draw(labels + 1) : base;
            c.value[side].push_back(empty == static_cast<std::uint64_t>(side) && value == labels
                                        ? 0
                                        : static_cast<std::int64_t>(value * (labels == 2 ? 40 : largest / labels)));
        }
    }
    if (draw(2) == 0) c.labels = {40, 1, bytes ? 255 : -3, 2};
    return c;
}

surface_case spheres(const shape_t& shape, int labels, std::uint64_t seed) {
    surface_case c;
    c.shape = shape;
    std::uint64_t state = seed << 20;
    for (auto& value : c.value) value.assign(static_cast<std::size_t>(cells_of(shape)), 0);
    for (int label = 1; label <= labels; ++label) {
        double centre[3], radius[3];
        for (std::size_t k = 0; k < 3; ++k) {
            const auto size = static_cast<double>(shape[k]);
            centre[k] = size * static_cast<double>(mix(state++) % 1000) / 1000;
            radius[k] = 2 + size / 5 * static_cast<double>(mix(state++) % 1000) / 1000;
        }
        for (std::int64_t i = 0; i < cells_of(shape); ++i) {
            const double at[] = {static_cast<double>(i / shape[2] / shape[1]),
                                 static_cast<double>(i / shape[2] % shape[1]), static_cast<double>(i % shape[2])};
            for (const int side : {0, 1}) {
                double sum = 0;
                for (std::size_t k = 0; k < 3; ++k) {
                    const double by = (at[k] - centre[k] - 1.5 * side) / (radius[k] + side);
                    sum += by * by;
                }
                if (sum <= 1) c.value[side][static_cast<std::size_t>(i)] = label;
            }
        }
    }
    return c;
}

void expect_same(const std::vector<surface_distances>& came, const std::vector<surface_distances>& wanted,
                 double tolerance) {
    const auto near = [](double x, double y, double within) {
        return x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= within * std::abs(y);
    };
    const auto all_near = [&](const std::vector<double>& x, const std::vector<double>& y, double within) {
        return std::ranges::equal(x, y, [&](double p, double q) { return near(p, q, within); });
    };
    ASSERT_EQ(came.size(), wanted.size());
    for (std::size_t i = 0; i < came.size(); ++i) {
        const surface_distances &x = came[i], &y = wanted[i];
        EXPECT_TRUE(x.image == y.image && x.label == y.label) << x.image << ' ' << x.label;
        EXPECT_TRUE(near(x.hausdorff, y.hausdorff, 0)) << x.hausdorff << " not " << y.hausdorff;
        EXPECT_TRUE(near(x.dice, y.dice, 0)) << x.dice << " not " << y.dice;
        EXPECT_TRUE(all_near(x.percentile, y.percentile, 0))
            << testing::PrintToString(x.percentile) << " not " << testing::PrintToString(y.percentile);
        EXPECT_TRUE(near(x.symmetric_average, y.symmetric_average, tolerance)) << x.symmetric_average;
        EXPECT_TRUE(all_near(x.surface_dice, y.surface_dice, tolerance));
        for (int s = 0; s < 2; ++s) {
            EXPECT_EQ(x.cells[s], y.cells[s]);
            EXPECT_TRUE(near(x.farthest[s], y.farthest[s], 0)) << x.farthest[s] << " not " << y.farthest[s];
            EXPECT_TRUE(near(x.area[s], y.area[s], tolerance)) << x.area[s] << " not " << y.area[s];
            EXPECT_TRUE(near(x.average[s], y.average[s], tolerance)) << x.average[s] << " not " << y.average[s];
            EXPECT_TRUE(all_near(x.overlap[s], y.overlap[s], tolerance));
        }
    }
}

void check_surfaces(const surface_runner& run, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t seed = first; seed < share(first, end) && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const surface_case c = drawn_surface_case(seed);
        expect_same(run(c), expected(c), 1e-12);
    }
}

}  // namespace nearfield::test
