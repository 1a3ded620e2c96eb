// Centroidal Voronoi diagrams on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "centroidal/cases.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

centroidal_answer on_host(const centroidal_case& c, int threads, double tolerance = 0) {
    const std::vector<std::byte> density = c.packed();
    centroidal_answer made(c);
    const centroidal_fields<host> out = made.fields(c);
    centroidal_options options = c.options();
    options.tolerance = tolerance;
    centroidal_voronoi(host{threads, {}}, any_input<host>::contiguous(density.data(), c.type, c.shape), out.sites, out,
                       options);
    return made;
}

double energy_at(const centroidal_answer& of, int round) {
    return std::ldexp(static_cast<double>(of.energy[static_cast<std::size_t>(2 * round)]), 64) +
           static_cast<double>(of.energy[static_cast<std::size_t>(2 * round + 1)]);
}

TEST(CentroidalVoronoi, RandomCases) {
    check_centroidal([](const centroidal_case& c) { return on_host(c, 1 + static_cast<int>(c.density.size() % 3)); }, 0,
                     1500);
}

/// In 200 rounds the energy never rises, and results do not depend on the number of threads.
TEST(CentroidalVoronoi, TwoHundredRounds) {
    for (const shape_t& shape : {shape_t{90, 110}, shape_t{20, 24, 22}}) {
        centroidal_case c = large_centroidal_case(shape, 150, 3);
        c.rounds = 200, c.supersample = shape.size() == 2 ? 2 : 1;
        const centroidal_answer one = on_host(c, 1);
        for (int round = 0; round < c.rounds; ++round)
            ASSERT_LE(energy_at(one, round + 1), energy_at(one, round)) << round;
        EXPECT_EQ(one, on_host(c, 3));
        c.relax = 2;
        const centroidal_answer far = on_host(c, 1);
        EXPECT_EQ(far, on_host(c, 4));
        EXPECT_LT(energy_at(far, c.rounds), energy_at(one, c.rounds));
        for (int round = 150; round < c.rounds; ++round)
            ASSERT_LE(energy_at(far, round + 1), energy_at(far, round)) << round;
    }
}

/// A mirrored call has a mirrored result, except for ties.
TEST(CentroidalVoronoi, MirroredEnergies) {
    centroidal_case c = large_centroidal_case({64, 80}, 60, 5), mirrored = c;
    for (std::size_t y = 0; y < 64; ++y)
        std::reverse(mirrored.density.begin() + static_cast<std::ptrdiff_t>(80 * y),
                     mirrored.density.begin() + static_cast<std::ptrdiff_t>(80 * y + 80));
    for (std::size_t i = 1; i < c.sites.size(); i += 2) mirrored.sites[i] = 79 - c.sites[i];
    c.rounds = mirrored.rounds = 60;
    const double a = energy_at(on_host(c, 1), 60), b = energy_at(on_host(mirrored, 1), 60);
    EXPECT_EQ(energy_at(on_host(c, 1), 0), energy_at(on_host(mirrored, 1), 0));
    EXPECT_NEAR(a, b, 0.02 * a);
}

TEST(CentroidalVoronoi, SumsBeyondSixtyFourBits) {
    centroidal_case c;
    c.shape = {65535, 4}, c.type = dtype::uint16, c.sites = {0, 0}, c.rounds = 1;
    c.density.assign(static_cast<std::size_t>(4 * 65535), 65535);
    const centroidal_answer found = on_host(c, 2);
    double energy = 0, after = 0;
    for (int y = 0; y < 65535; ++y)
        for (int x = 0; x < 4; ++x) {
            energy += 65535. * (static_cast<double>(y) * y + x * x);
            after += 65535. * (static_cast<double>(y - 32767) * (y - 32767) + (x - 1) * (x - 1));
        }
    EXPECT_NEAR(energy_at(found, 0), energy, 1e-12 * energy);
    EXPECT_NEAR(energy_at(found, 1), after, 1e-12 * after);
    EXPECT_GT(found.energy[0], 0U);
    EXPECT_EQ(found.sites, (std::vector<std::int32_t>{32767, 1}));
}

TEST(CentroidalVoronoi, StridesAndTolerance) {
    centroidal_case c = large_centroidal_case({40, 50}, 30, 1);
    c.rounds = 20;
    const centroidal_answer packed = on_host(c, 1);
    std::vector<std::uint8_t> spread(2 * c.density.size());
    for (std::size_t i = 0; i < c.density.size(); ++i) spread[2 * i] = static_cast<std::uint8_t>(c.density[i]);
    std::vector<std::int32_t> labels(3 * c.density.size(), -7), sites(3 * c.sites.size(), -7);
    for (std::size_t i = 0; i < c.sites.size(); ++i) sites[3 * i] = c.sites[i];
    const view<std::int32_t, 2, host> at{sites.data(), extent{30, 2}, {6, 3}};
    centroidal_fields<host> out;
    out.sites = at, out.labels = view<std::int32_t, 2, host>{labels.data(), extent{40, 50}, {150, 3}};
    centroidal_voronoi(host{2, {}}, view<const std::uint8_t, 2, host>{spread.data(), extent{40, 50}, {100, 2}}, at, out,
                       c.options());
    for (std::size_t i = 0; i < labels.size(); ++i) ASSERT_EQ(labels[i], i % 3 == 0 ? packed.labels[i / 3] : -7);
    for (std::size_t i = 0; i < sites.size(); ++i) ASSERT_EQ(sites[i], i % 3 == 0 ? packed.sites[i / 3] : -7);
    const centroidal_answer early = on_host(c, 1, 0.01);
    int stopped = 0;
    while (stopped < c.rounds && energy_at(early, stopped + 1) < energy_at(early, stopped)) ++stopped;
    EXPECT_LT(stopped, c.rounds);
    EXPECT_LT(energy_at(early, stopped - 1) - energy_at(early, stopped), 0.01 * energy_at(early, stopped - 1));
    EXPECT_EQ(energy_at(early, c.rounds), energy_at(early, stopped));
    EXPECT_EQ(energy_at(early, stopped), energy_at(packed, stopped));
}

TEST(CentroidalVoronoi, Refusals) {
    centroidal_case c = large_centroidal_case({8, 9}, 3, 1);
    const auto call = [&](auto change) {
        return [=] {
            centroidal_case changed = c;
            change(changed);
            static_cast<void>(on_host(changed, 1));
        };
    };
    expect_refused(call([](auto& o) { o.relax = 2.5; }), {"relax is 2.5"});
    expect_refused(call([](auto& o) { o.supersample = 0; }), {"supersample is 0"});
    expect_refused(call([](auto& o) { o.rounds = -1; }), {"rounds is -1"});
    expect_refused(call([](auto& o) { o.ends = {border::open, border::closed}; }), {"border along axis 1 is closed"});
    expect_refused(call([](auto& o) { o.spacing = {0.5}; }), {"spacing along axis 0 is 0.5"});
    expect_refused(call([](auto& o) { o.sites[1] = 9; }), {"coordinate 9 along axis 1 at row 0"});
    expect_refused(call([](auto& o) { o.sites = {1, 2, 1, 2}; }), {"row 1 twice"});
    expect_refused(call([](auto& o) { o.sites.clear(); }), {"sites has 0 rows"});
    expect_refused(call([](auto& o) { o.type = dtype::float32; }), {"density"});
    expect_refused([&] { static_cast<void>(on_host(c, 1, 1.5)); }, {"tolerance is 1.5"});
    expect_refused([&] { static_cast<void>(on_host(c, -1)); }, {"threads is -1"});
}

}  // namespace
}  // namespace nearfield::test
