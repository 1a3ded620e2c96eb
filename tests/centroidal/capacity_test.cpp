// Regions of given masses: reported values against each part and each site, and the cost of the cheapest assignment.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "centroidal/cases.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

capacity_regions on_host(const centroidal_case& c, const std::vector<double>& capacities, int threads = 1) {
    const std::vector<std::byte> density = c.packed();
    return capacity_voronoi(
        host{threads, {}}, any_input<host>::contiguous(density.data(), c.type, c.shape),
        any_input<host>::contiguous(c.sites.data(), dtype::int32, shape_t{c.count(), std::ssize(c.shape)}), capacities,
        c.options());
}

double energy_at(const capacity_regions& of, std::size_t round) {
    return std::ldexp(static_cast<double>(of.energy[2 * round]), 64) + static_cast<double>(of.energy[2 * round + 1]);
}

double squared(const centroidal_case& c, const std::vector<std::int32_t>& sites, std::size_t site, std::int64_t cell) {
    double sum = 0;
    for (std::size_t axis = c.shape.size(); axis-- > 0; cell /= c.shape[axis]) {
        std::int64_t d = std::abs(cell % c.shape[axis] - sites[site * c.shape.size() + axis]);
        if (!c.ends.empty() && c.ends[axis] == border::periodic) d = std::min(d, c.shape[axis] - d);
        const double length = c.spacing.empty() ? 1 : c.spacing[axis];
        sum += length * length * static_cast<double>(d * d);
    }
    return sum;
}

std::vector<double> masses(const centroidal_case& c, const std::vector<double>& capacities) {
    std::vector<double> wanted = capacities;
    if (wanted.empty()) wanted.assign(static_cast<std::size_t>(c.count()), 1);
    const double all = std::accumulate(c.density.begin(), c.density.end(), 0.),
                 sum = std::accumulate(wanted.begin(), wanted.end(), 0.);
    for (double& each : wanted) each *= all / sum;
    return wanted;
}

/// Checks that masses, energy, bound and error follow from labels and powers; supersample is 1.
void check_told(const centroidal_case& c, const std::vector<double>& capacities, const capacity_regions& found) {
    const auto n = static_cast<std::size_t>(c.count());
    const std::vector<double> wanted = masses(c, capacities);
    std::vector<double> mass(n);
    double energy = 0, bound = 0, error = 0;
    for (std::size_t i = 0; i < c.density.size(); ++i) {
        const auto site = static_cast<std::size_t>(found.labels[i]);
        double least = 1e300;
        for (std::size_t k = 0; k < n; ++k)
            least = std::min(
                least, squared(c, found.sites, k, static_cast<std::int64_t>(i)) - static_cast<double>(found.powers[k]));
        mass[site] += c.density[i], bound += c.density[i] * least;
        energy += c.density[i] * squared(c, found.sites, site, static_cast<std::int64_t>(i));
    }
    for (std::size_t k = 0; k < n; ++k) {
        EXPECT_EQ(mass[k], static_cast<double>(found.weights[k]));
        bound += wanted[k] * static_cast<double>(found.powers[k]);
        error = std::max(error, std::abs(mass[k] - wanted[k]) / wanted[k]);
    }
    EXPECT_NEAR(energy_at(found, found.energy.size() / 2 - 1), energy, 1e-9 * energy);
    EXPECT_NEAR(found.bound, bound, 1e-9 * energy);
    EXPECT_NEAR(found.error, error, 1e-9);
    EXPECT_EQ(found.converged, found.error <= 0.01);
}

/// A density that is 1 to 4 everywhere; every third case has a gap.
centroidal_case ground(const shape_t& shape, std::int64_t sites, std::uint64_t seed) {
    centroidal_case c = large_centroidal_case(shape, sites, seed);
    for (std::size_t i = 0; i < c.density.size(); ++i)
        c.density[i] =
            seed % 3 == 2 && i % 7 < 3 ? 0 : static_cast<std::uint16_t>(1 + (i * 2654435761U + seed) % 64 / 16);
    return c;
}

TEST(CapacityVoronoi, TellsTheTruth) {
    for (std::uint64_t seed = 0; seed < share(0, 60); ++seed) {
        const shape_t shapes[] = {{900}, {40, 37}, {12, 11, 13}};
        centroidal_case c = ground(shapes[seed / 3 % 3], 7 + static_cast<std::int64_t>(seed % 5), seed);
        c.rounds = seed % 4 == 3 ? 3 : 0;
        if (seed % 5 == 1) c.spacing.assign(c.shape.size(), 1), c.spacing[0] = 2;
        if (seed % 5 == 2) c.ends.assign(c.shape.size(), border::periodic);
        std::vector<double> capacities;
        for (std::int64_t i = 0; seed % 2 == 1 && i < c.count(); ++i)
            capacities.push_back(1 + static_cast<double>(i % 3));
        const capacity_regions found = on_host(c, capacities);
        check_told(c, capacities, found);
        EXPECT_LE(found.error, 0.03) << seed;
        const double energy = energy_at(found, found.energy.size() / 2 - 1);
        EXPECT_NEAR(energy, found.bound, (seed % 3 == 2 ? 0.5 : 0.05) * energy) << seed;
    }
}

/// Sites in lines, whose regions have seven rows and a half, so that single parts must even out whole rows.
TEST(CapacityVoronoi, SharesSingleParts) {
    centroidal_case c;
    c.shape = {60, 60}, c.density.assign(3600, 1);
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 5; ++x) c.sites.insert(c.sites.end(), {3 + 6 * y, 5 + 11 * x});
    const capacity_regions found = on_host(c, {});
    for (const std::int64_t mass : found.weights) EXPECT_EQ(mass, 90);
    EXPECT_EQ(found.error, 0);
    check_told(c, {}, found);
}

/// Two islands of density and sites anywhere: a site without mass takes mass from a distance.
TEST(CapacityVoronoi, SitesWithoutMass) {
    centroidal_case c = large_centroidal_case({100, 100}, 25, 4);
    for (std::size_t i = 0; i < c.density.size(); ++i) {
        const std::size_t y = i / 100, x = i % 100;
        c.density[i] = y < 40 && x < 40 ? 3 : y > 70 && x > 60 ? 1 : 0;
    }
    const capacity_regions found = on_host(c, {});
    check_told(c, {}, found);
    EXPECT_LE(found.error, 0.02);
}

TEST(CapacityVoronoi, ThreadsDoNotShowAndRoundsHelp) {
    centroidal_case c = large_centroidal_case({80, 90}, 40, 8);
    c.supersample = 2;
    for (std::int32_t& each : c.sites) each *= 2;
    const capacity_regions still = on_host(c, {});
    c.rounds = test_scale() < 0.1 ? 2 : 8, c.relax = 1.5;
    const capacity_regions one = on_host(c, {}), many = on_host(c, {}, 3);
    EXPECT_EQ(one.sites, many.sites);
    EXPECT_EQ(one.labels, many.labels);
    EXPECT_EQ(one.powers, many.powers);
    EXPECT_EQ(one.energy, many.energy);
    EXPECT_TRUE(one.converged && still.converged) << one.error << " " << still.error;
    const double share = c.rounds == 8 ? 0.9 : 1;
    EXPECT_LT(energy_at(one, one.energy.size() / 2 - 1), share * energy_at(still, 0));
}

/// If the density cannot be divided into the wanted masses, the result says so.
TEST(CapacityVoronoi, SaysWhereItCannot) {
    centroidal_case c;
    c.shape = {4, 4}, c.density.assign(16, 0), c.sites = {0, 0, 3, 3};
    c.density[0] = 9, c.density[5] = 1;
    const capacity_regions found = on_host(c, {});
    EXPECT_FALSE(found.converged);
    EXPECT_NEAR(found.error, 0.8, 1e-9);
    check_told(c, {}, found);
}

TEST(CapacityVoronoi, Refusals) {
    centroidal_case c = large_centroidal_case({8, 9}, 3, 1);
    expect_refused([&] { static_cast<void>(on_host(c, {1, 2})); }, {"capacities has 2 values; expected 3"});
    expect_refused([&] { static_cast<void>(on_host(c, {1, 0, 2})); }, {"capacities has 0 at row 1"});
    expect_refused([&] { static_cast<void>(on_host(c, {1, 1e-20, 2})); }, {"ratio up to 1e12"});
    c.density.assign(c.density.size(), 0), c.density[4] = 1;
    expect_refused([&] { static_cast<void>(on_host(c, {})); }, {"only 1 parts of the density are above 0"});
    c.sites[0] = c.sites[2], c.sites[1] = c.sites[3];
    expect_refused([&] { static_cast<void>(on_host(c, {})); }, {"row 1 twice"});
}

}  // namespace
}  // namespace nearfield::test
