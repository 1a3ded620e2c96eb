// A call of the host engine can be stopped within a long line and within a long column; columns whose winners do not
// bound each other equal a search over all rows.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "exact/call.hpp"
#include "nearfield/voronoi.hpp"

namespace nearfield::test {
namespace {

/// Arrays of a call for the nearest sites' linear indices.
struct index_call {
    shape_t shape;
    flags_t sites;
    std::vector<std::int64_t> index;
    distance_options options{.sites = sites::nonzero};

    explicit index_call(const shape_t& of)
        : shape(of), sites(static_cast<std::size_t>(cells_of(of)), 0), index(sites.size()) {
        sites[sites.size() / 3] = 1;
    }
    void run(const host& on) {
        fields<host> out;
        out.index = any_output<host>::contiguous(index.data(), dtype::int64, shape);
        distance_transform(on, any_input<host>::contiguous(sites.data(), dtype::uint8, shape), out, options);
    }
};

/// Expects that one thread asks at least `fewest` times whether to go on, and that it can be stopped each time.
void expect_stops(index_call c, int fewest) {
    int asked = 0;
    c.run(host{1, [&](double) { return ++asked, true; }});
    EXPECT_GE(asked, fewest);
    for (int share = 0; share < 20; ++share) {
        const int most = 1 + (asked - 1) * share / 19;
        int heard = 0;
        try {
            c.run(host{1, [&](double) { return ++heard < most; }});
            ADD_FAILURE() << "went on after question " << most << " of " << asked;
        } catch (const error& stopped) {
            EXPECT_EQ(stopped.code(), error_code::cancelled);
            EXPECT_EQ(heard, most);
        }
    }
}

TEST(HostStop, IsHeardWithinALongLine) {
    // The engine asks every 2^18 cells while it reads, in two scans, and while it writes.
    const int parts = test_scale() < 0.1 ? 5 : 20;
    const std::int64_t cells = std::int64_t{parts} << 18;
    index_call line({cells});
    expect_stops(line, 4 * parts);
    line.options.border = border::periodic;
    expect_stops(line, 4 * parts);
    line.options = {.sites = sites::other_labels};
    expect_stops(line, 3 * parts);
    expect_stops(index_call({1, cells}), 4 * parts);
}

TEST(HostStop, IsHeardWithinALongColumn) {
    // One tile, whose rows are processed in parts of 2^13 cells.
    const double cell[] = {0.3001, 0.7071, 0.7072};
    index_call column({100000, 2, 2});
    column.options.spacing = {cell, 3};
    column.sites.assign(column.sites.size(), 1);
    expect_stops(column, 12);
    // Ratios of squared lengths from 2^49 on: the search asks every 2^17 steps.
    index_call steep({40000, 2});
    steep.options.spacing = {1e-8, 1};
    expect_stops(steep, 20);
}

/// Pieces of a long line give the result of the whole line.
TEST(HostStop, PiecesOfALineHaveTheAnswerOfTheLine) {
    constexpr std::int64_t count = (std::int64_t{1} << 20) + 77777;
    for (const std::int64_t apart : {3, 1000, 400000, 1100000}) {
        index_call c({count});
        c.sites.assign(c.sites.size(), 0);
        std::vector<std::int64_t> at;
        for (std::int64_t x = 1; x < count; x += apart) c.sites[static_cast<std::size_t>(x)] = 1, at.push_back(x);
        c.run(host{2});
        std::size_t next = 0;
        for (std::int64_t x = 0; x < count; ++x) {
            while (next + 1 < at.size() && at[next + 1] - x < x - at[next]) ++next;
            ASSERT_EQ(c.index[static_cast<std::size_t>(x)], at[next]) << x << ", sites " << apart << " apart";
        }
    }
}

TEST(HostSteep, AnySpacingHasTheAnswerOfAllRows) {
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{700, 9}, shape_t{40, 300, 5}, shape_t{530, 3, 4}})
        for (const double length : {3e-8, 1e-8, 1e-10, 1e-14, 1e-20})
            for (const double density : {0.0005, 0.01, 0.2}) {
                if (!chosen(++k)) continue;
                const solved s = solve(shape, make_random(shape, density, k), {{length, 1, 1}, "steep"});
                ASSERT_EQ(check(host_engine(2), s, outputs::all(), dress{}), "");
                ASSERT_EQ(check(host_engine(1), s, outputs::number(1 + k % 47), dress::number(k)), "");
            }
}

/// A random weight. Kind 0 has any size; kind 1 is so small that sums with a term are integers; kind 2 takes
/// neighbouring doubles, which sums with a term often round to one value.
double some_weight(int kind, std::uint64_t chance) {
    const auto share = static_cast<double>(chance % 4096) / 4096;
    if (kind == 2) return -1e20 - 16384 * std::floor(share * 4);
    return std::pow(10., (kind == 0 ? 78 : 15) * share - 40);
}

/// Any weights: each cell gets the least (power, site) of all rows; a row's own site is the least along the row.
// over 40 lines because the oracle stands beside what it checks
TEST(HostSteep, AnyWeightsHaveTheAnswerOfAllRows) {
    constexpr std::int64_t rows = 900, columns = 3;
    const shape_t shape{rows, columns};
    for (const int sparse : {1, 7, 60, 200})
        for (const int kind : {0, 1, 2}) {
            const double narrow = kind == 1 ? 1e-10 : 1;  // spacing between columns
            flags_t sites(rows * columns, 0);
            std::vector<double> weight(sites.size());
            for (std::size_t i = 0; i < sites.size(); ++i) {
                sites[i] = mix(i + 1) % static_cast<std::uint64_t>(sparse) == 0;
                weight[i] = some_weight(kind, mix(i + 99999));
            }
            weight[sites.size() - 1] = -1e30, sites.back() = 1;  // winners give no bounds for any kind
            std::vector<double> power(sites.size());
            std::vector<std::int64_t> index(sites.size());
            fields<host> out;
            out.squared = any_output<host>::contiguous(power.data(), dtype::float64, shape);
            out.index = any_output<host>::contiguous(index.data(), dtype::int64, shape);
            power_diagram(host{1}, any_input<host>::contiguous(sites.data(), dtype::uint8, shape),
                          any_input<host>::contiguous(weight.data(), dtype::float64, shape), out,
                          {.spacing = {1, narrow}});
            for (std::int64_t x = 0; x < columns; ++x) {
                using candidate = std::tuple<double, std::int64_t, std::int64_t>;  // power, the site's column and row
                const candidate none{INFINITY, -1, -1};
                std::vector<candidate> own(rows, none);
                for (std::int64_t r = 0; r < rows; ++r)
                    for (std::int64_t c = 0; c < columns; ++c)
                        if (const auto i = static_cast<std::size_t>(r * columns + c); sites[i] != 0)
                            own[static_cast<std::size_t>(r)] =
                                std::min(own[static_cast<std::size_t>(r)],
                                         {-weight[i] + narrow * narrow * static_cast<double>((x - c) * (x - c)), c, r});
                for (std::int64_t q = 0; q < rows; ++q) {
                    candidate best = none;
                    for (const auto& [value, c, r] : own)
                        best = std::min(best, {value + static_cast<double>((q - r) * (q - r)), c, r});
                    const auto& [value, c, r] = best;
                    const auto i = static_cast<std::size_t>(q * columns + x);
                    ASSERT_EQ(power[i], value) << q << ", " << x << ": 1 site in " << sparse << ", weights " << kind;
                    ASSERT_EQ(index[i], c < 0 ? -1 : r * columns + c)
                        << q << ", " << x << ": 1 site in " << sparse << ", weights " << kind;
                }
            }
        }
}

}  // namespace
}  // namespace nearfield::test
