// Pore networks on the host: counts by pairs of cells, cases by hand, refused calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "exact/fills.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/pores.hpp"
#include "nearfield/watershed.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

/// Regions and squared distances of random cells, without a watershed, so that all kinds of contacts occur.
struct pore_case {
    shape_t shape;
    std::vector<std::int32_t> region;
    std::vector<double> squared, spacing;
    std::vector<border> ends;
    pore_options options;

    [[nodiscard]] any_input<host> regions() const {
        return any_input<host>::contiguous(region.data(), dtype::int32, shape);
    }
    [[nodiscard]] any_input<host> distances() const {
        return any_input<host>::contiguous(squared.data(), dtype::float64, shape);
    }
    [[nodiscard]] shape_t place(std::int64_t cell) const {
        shape_t at(shape.size());
        for (std::size_t k = shape.size(); k-- > 0;) at[k] = cell % shape[k], cell /= shape[k];
        return at;
    }
    /// The shorter vector between two cells along each axis.
    [[nodiscard]] std::vector<double> way(const shape_t& a, const shape_t& b) const {
        std::vector<double> moved;
        for (std::size_t k = 0; k < shape.size(); ++k) {
            std::int64_t step = b[k] - a[k];
            if (ends[k] == border::periodic)
                for (const std::int64_t other : {step - shape[k], step + shape[k]})
                    if (std::abs(other) < std::abs(step) || (std::abs(other) == std::abs(step) && other > step))
                        step = other;
            moved.push_back(static_cast<double>(step) * spacing[k]);
        }
        return moved;
    }
};

double far(const std::vector<double>& way) {
    double sum = 0;
    for (const double each : way) sum += each * each;
    return std::sqrt(sum);
}

pore_case drawn_case(std::uint64_t seed) {
    std::uint64_t state = seed << 20;
    const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
    pore_case c;
    const auto axes = 1 + draw(3);
    constexpr std::uint64_t longest[] = {30, 8, 6};
    for (std::uint64_t k = 0; k < axes; ++k) {
        c.shape.push_back(1 + static_cast<std::int64_t>(draw(longest[axes - 1])));
        c.spacing.push_back(draw(2) == 0 ? 1 : 2.5);
        c.ends.push_back(static_cast<border>(draw(3)));
    }
    const auto regions = 1 + draw(5), values = 1 + draw(9);
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        const auto label = static_cast<std::int32_t>(draw(regions + 1));
        c.region.push_back(label > cells_of(c.shape) ? 0 : label);
        c.squared.push_back(c.region.back() == 0 ? 0 : 1 + static_cast<double>(draw(values)));
    }
    c.options.connectivity = 1 + static_cast<int>(draw(axes));
    c.options.boundaries = draw(2) == 0;
    return c;
}

/// Expected contact of two regions, from pairs of cells.
struct contact_wanted {
    std::map<std::size_t, double> faces;
    double value = -1;
    std::int64_t cell = 0;

    void see(double other, std::int64_t where) {
        if (other > value || (other == value && where < cell)) value = other, cell = where;
    }
};

/// Calls body(cell, its neighbour, axes along which they differ) for each pair, once for each way between them.
template <class Body>
void for_pairs(const pore_case& c, const Body& body) {
    const auto axes = c.shape.size();
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i)
        for (std::int64_t code = 0; code < static_cast<std::int64_t>(std::pow(3, axes)); ++code) {
            std::vector<std::size_t> moved;
            std::int64_t rest = code, to = 0;
            bool there = true, forwards = false;
            shape_t step(axes);
            for (std::size_t k = 0; k < axes; ++k) {
                step[k] = rest % 3 - 1, rest /= 3;
                if (step[k] == 0) continue;
                if (moved.empty()) forwards = step[k] > 0;
                moved.push_back(k);
            }
            if (!forwards || static_cast<int>(moved.size()) > c.options.connectivity) continue;
            for (std::size_t k = 0; k < axes; ++k) {
                std::int64_t at = c.place(i)[k] + step[k];
                if (at < 0 || at >= c.shape[k]) there = there && c.ends[k] == border::periodic;
                at = (at + c.shape[k]) % c.shape[k];
                to = to * c.shape[k] + at;
            }
            if (there) body(i, to, moved);
        }
}

double area_of(const pore_case& c, const contact_wanted& t) {
    std::vector<double> areas;
    for (const auto& [axis, faces] : t.faces) {
        areas.push_back(faces);
        for (std::size_t k = 0; k < c.shape.size(); ++k)
            if (k != axis) areas.back() *= c.spacing[k];
    }
    return far(areas);
}

void check_pores(const pore_case& c, const pore_network& network, std::map<std::int64_t, std::int64_t>& number,
                 std::vector<std::int64_t>& centres) {
    std::set<std::int32_t> labels(c.region.begin(), c.region.end());
    labels.erase(0);
    std::size_t next = 0;
    for (const std::int32_t label : labels) {
        const pore& p = network.pores.at(next);
        contact_wanted ball;
        double cells = 0;
        for (std::int64_t i = 0; i < cells_of(c.shape); ++i)
            if (c.region[static_cast<std::size_t>(i)] == label)
                ++cells, ball.see(c.squared[static_cast<std::size_t>(i)], i);
        double volume = cells;
        for (const double length : c.spacing) volume *= length;
        EXPECT_EQ(p.region, label);
        EXPECT_EQ(static_cast<double>(p.cells), cells);
        EXPECT_DOUBLE_EQ(p.volume, volume);
        EXPECT_EQ(p.inscribed_diameter, 2 * std::sqrt(ball.value));
        for (std::size_t k = 0; k < c.shape.size(); ++k) {
            const shape_t at = c.place(ball.cell);
            EXPECT_EQ(p.centre[k], static_cast<double>(at[k]) * c.spacing[k]);
            double sum = 0;
            for (std::int64_t i = 0; i < cells_of(c.shape); ++i)
                if (c.region[static_cast<std::size_t>(i)] == label) sum += c.way(at, c.place(i))[k];
            double centroid = p.centre[k] + sum / cells;
            const double period = static_cast<double>(c.shape[k]) * c.spacing[k];
            if (c.ends[k] == border::periodic) centroid -= period * std::floor(centroid / period);
            EXPECT_NEAR(std::remainder(p.centroid[k] - centroid, c.ends[k] == border::periodic ? period : 1e9), 0,
                        1e-9);
        }
        number[label] = static_cast<std::int64_t>(next++), centres.push_back(ball.cell);
    }
}

/// Number of pores on the boundary.
std::size_t pores_beyond(const pore_case& c) {
    std::size_t beyond = 0;
    for (std::size_t axis = 0; axis < c.shape.size() && c.options.boundaries; ++axis)
        for (const std::int64_t end : {std::int64_t{0}, c.shape[axis] - 1}) {
            if (c.ends[axis] != border::open) continue;
            std::set<std::int32_t> met;
            for (std::int64_t i = 0; i < cells_of(c.shape); ++i)
                if (c.place(i)[axis] == end) met.insert(c.region[static_cast<std::size_t>(i)]);
            met.erase(0);
            beyond += met.size();
        }
    return beyond;
}

void check_network(std::uint64_t seed) {
    pore_case c = drawn_case(seed);
    c.options.spacing = spacing(c.spacing.data(), c.spacing.size());
    c.options.border = borders(c.ends.data(), c.ends.size());
    const pore_network network =
        network_of_regions(host{1 + static_cast<int>(seed % 3), {}}, c.regions(), c.distances(), c.options);
    std::map<std::int64_t, std::int64_t> number;
    std::vector<std::int64_t> centres;
    check_pores(c, network, number, centres);
    std::map<std::pair<std::int64_t, std::int64_t>, contact_wanted> contacts;
    for_pairs(c, [&](std::int64_t i, std::int64_t to, const std::vector<std::size_t>& moved) {
        const auto p = static_cast<std::size_t>(i), q = static_cast<std::size_t>(to);
        const std::int64_t a = c.region[p], b = c.region[q];
        if (a == 0 || b == 0 || a == b) return;
        contact_wanted& t = contacts[{number[std::min(a, b)], number[std::max(a, b)]}];
        const bool first = c.squared[p] < c.squared[q] || (c.squared[p] == c.squared[q] && i < to);
        t.see(std::min(c.squared[p], c.squared[q]), first ? i : to);
        if (moved.size() == 1) ++t.faces[moved[0]];
    });
    std::size_t next = 0;
    for (const auto& [pair, t] : contacts) {
        const throat& found = network.throats.at(next++);
        EXPECT_EQ(std::pair(found.a, found.b), pair);
        EXPECT_EQ(found.inscribed_diameter, 2 * std::sqrt(t.value));
        EXPECT_NEAR(found.area, area_of(c, t), 1e-9);
        const shape_t a = c.place(centres[static_cast<std::size_t>(pair.first)]),
                      b = c.place(centres[static_cast<std::size_t>(pair.second)]), at = c.place(t.cell);
        EXPECT_NEAR(found.direct_length, far(c.way(a, b)), 1e-9);
        EXPECT_NEAR(found.total_length, far(c.way(a, at)) + far(c.way(at, b)), 1e-9);
    }
    const std::size_t beyond = pores_beyond(c);
    EXPECT_EQ(network.throats.size(), contacts.size() + beyond);
    EXPECT_EQ(network.pores.size(), number.size() + beyond);
}

TEST(Pores, RandomRegions) {
    for (std::uint64_t seed = 0; seed < share(0, 600); ++seed) {
        SCOPED_TRACE(seed);
        check_network(seed);
        if (HasFailure()) break;
    }
}

/// Two balls of radius 6 whose centres are 20 apart, joined by a neck of radius 2.
std::vector<std::uint8_t> dumbbell(std::int64_t first_x = 8) {
    std::vector<std::uint8_t> mask(17 * 17 * 37);
    for (std::int64_t z = 0; z < 17; ++z)
        for (std::int64_t y = 0; y < 17; ++y)
            for (std::int64_t x = 0; x < 37; ++x) {
                const std::int64_t across = (z - 8) * (z - 8) + (y - 8) * (y - 8), l = x - first_x,
                                   r = x - first_x - 20;
                mask[static_cast<std::size_t>((z * 17 + y) * 37 + x)] =
                    across + l * l <= 36 || across + r * r <= 36 || (across <= 4 && l > 0 && r < 0) ? 1 : 0;
            }
    return mask;
}
const shape_t dumbbell_shape{17, 17, 37};

TEST(Pores, TwoBallsAndANeck) {
    const std::vector<std::uint8_t> mask = dumbbell();
    std::vector<std::int32_t> regions(mask.size());
    pore_options options;
    options.spacing = 0.5;
    const pore_network network =
        network_of_pores(host{2, {}}, any_input<host>::contiguous(mask.data(), dtype::uint8, dumbbell_shape), options,
                         any_output<host>::contiguous(regions.data(), dtype::int32, dumbbell_shape));
    ASSERT_EQ(network.pores.size(), 2U);
    ASSERT_EQ(network.throats.size(), 1U);
    EXPECT_EQ(network.pores[0].centre, (std::array<double, 3>{4, 4, 4}));
    EXPECT_EQ(network.pores[1].centre, (std::array<double, 3>{4, 4, 14}));
    EXPECT_EQ(network.pores[0].inscribed_diameter, std::sqrt(37.0));  // 2 sqrt(37) / 2: nearest solid at 6, 1, 0
    const throat& neck = network.throats[0];
    EXPECT_EQ(neck.inscribed_diameter, std::sqrt(5.0));  // nearest solid of the neck at 2, 1
    EXPECT_EQ(neck.area, 13 * 0.25);                     // 13 cells within 2 of its axis
    EXPECT_EQ(neck.direct_length, 10);
    EXPECT_EQ(neck.total_length, 10);
    EXPECT_EQ(network.pores[0].volume + network.pores[1].volume,
              0.125 * static_cast<double>(std::count(mask.begin(), mask.end(), 1)));
    for (std::size_t i = 0; i < mask.size(); ++i) ASSERT_EQ(regions[i] != 0, mask[i] != 0);
    const std::string text = csv_of(network);
    EXPECT_EQ(text.substr(0, text.find(',')), "throat.conns[0]");
    EXPECT_NE(text.find("\n0,1,4,4,"), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

/// Pores across the end of a periodic axis, and at open ends.
TEST(Pores, EndsOfTheSample) {
    const std::vector<std::uint8_t> mask = dumbbell(28);  // the second ball lies across the periodic end
    const std::vector<std::uint8_t> whole = dumbbell();
    std::vector<std::uint8_t> wrapped(mask);
    for (std::int64_t row = 0; row < 17 * 17; ++row)
        for (std::int64_t x = 0; x < 37; ++x) {
            wrapped[static_cast<std::size_t>(row * 37 + (x + 20) % 37)] = whole[static_cast<std::size_t>(row * 37 + x)];
        }
    pore_options options;
    options.border = {border::open, border::open, border::periodic};
    const auto of = [&](const std::vector<std::uint8_t>& cells) {
        return network_of_pores(host{1, {}}, any_input<host>::contiguous(cells.data(), dtype::uint8, dumbbell_shape),
                                options);
    };
    const pore_network network = of(wrapped);
    ASSERT_EQ(network.throats.size(), 1U);
    EXPECT_EQ(network.throats[0].direct_length, 17);  // the shorter way around, through the solid
    EXPECT_EQ(network.throats[0].area, 13);
    options.border = {}, options.boundaries = true;
    const std::vector<std::uint8_t> all(mask.size(), 1);
    const pore_network open = of(mask);
    ASSERT_EQ(open.pores.size(), 2U);
    EXPECT_EQ(open.pores[1].side, 5);
    EXPECT_EQ(open.pores[1].centre[2], 36.5);
    EXPECT_EQ(open.throats[0].total_length, 36.5 - open.pores[0].centre[2]);
    EXPECT_NE(csv_of(open).find("pore.zmax"), std::string::npos);
    const pore_network none = of(all);
    EXPECT_EQ(none.pores[0].inscribed_diameter, INFINITY);
}

TEST(Pores, Refusals) {
    std::int32_t label[4] = {1, 1, 2, 2};
    const std::uint32_t squared[4] = {1, 1, 1, 1};
    const view<const std::int32_t, 2, host> regions{label, extent{2, 2}};
    const view<const std::uint32_t, 2, host> far2{squared, extent{2, 2}};
    const auto call = [&](any_input<host> given, any_input<host> distance, const pore_options& o) {
        return [=] { static_cast<void>(network_of_regions(host{}, given, distance, o)); };
    };
    pore_options far_steps, length;
    far_steps.connectivity = 3, length.spacing = -1.0;
    expect_refused(call(regions, far2, far_steps), {"connectivity is 3"});
    expect_refused(call(regions, far2, length), {"spacing"});
    expect_refused(call(regions, regions, {}), {"squared", "int32"});
    expect_refused(call(far2, view<const std::uint32_t, 1, host>{squared, extent{4}}, {}), {"squared"});
    label[0] = 5;
    expect_refused(call(regions, far2, {}), {"label 5"});
    label[0] = -5;
    expect_refused(call(regions, far2, {}), {"label -5"});
    pore_options height;
    height.h = NAN;
    expect_refused([&] { static_cast<void>(network_of_pores(host{}, regions, height)); }, {"h is NaN"});
    const view<const std::uint32_t, 4, host> deep{squared, extent{1, 1, 2, 2}};
    expect_refused([&] { static_cast<void>(network_of_pores(host{}, deep)); }, {"mask has 4 axes"});
    EXPECT_THROW(static_cast<void>(network_of_pores(host{1, [](double) { return false; }}, far2)), error);
}

}  // namespace
}  // namespace nearfield::test
