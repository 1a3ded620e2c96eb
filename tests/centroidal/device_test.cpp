// Centroidal Voronoi diagrams and stippling on a GPU, plain and recorded as a graph, against the definition; and
// against the host's bits after 200 rounds, which a single wrong bit would change.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>

#include "centroidal/cases.hpp"
#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "nearfield/stipple.hpp"

namespace nearfield::test {
namespace {

class CentroidalDevice : public device_test {};

centroidal_answer on_device(const centroidal_case& c, bool graph, double tolerance = 0) {
    static const stream on;
    const std::vector<std::byte> density = c.packed();
    centroidal_answer made(c);
    const device_memory in(density.size()), sites(4 * made.sites.size()), moved(4 * made.sites.size()),
        weights(8 * made.weights.size()), energy(8 * made.energy.size()), labels(4 * made.labels.size());
    centroidal_fields<host> there = made.fields(c);
    const auto placed = [](const any_output<host>& like, const device_memory& memory) {
        return any_output<device>::contiguous(memory.data(), like.type,
                                              std::span(like.shape.data(), static_cast<std::size_t>(like.rank)));
    };
    centroidal_options options = c.options();
    options.tolerance = tolerance;
    const auto start = [&] {
        centroidal_voronoi(device(on.get()), any_input<device>::contiguous(in.data(), c.type, c.shape),
                           placed(there.sites, sites),
                           {placed(there.sites, moved), placed(there.weights, weights), placed(there.energy, energy),
                            placed(there.labels, labels)},
                           options);
    };
    const auto copy = [&](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
        expect_cuda(cudaMemcpyAsync(to, from, bytes, kind, on.get()), "copy");
    };
    const auto upload = [&] {
        copy(in.data(), density.data(), density.size(), cudaMemcpyHostToDevice);
        copy(sites.data(), c.sites.data(), 4 * c.sites.size(), cudaMemcpyHostToDevice);
    };
    if (graph) {
        const recorded work(start, on);
        upload();
        work.replay(), work.replay();
    } else {
        upload();
        start();
    }
    copy(made.sites.data(), moved.data(), 4 * made.sites.size(), cudaMemcpyDeviceToHost);
    copy(made.weights.data(), weights.data(), 8 * made.weights.size(), cudaMemcpyDeviceToHost);
    copy(made.energy.data(), energy.data(), 8 * made.energy.size(), cudaMemcpyDeviceToHost);
    copy(made.labels.data(), labels.data(), 4 * made.labels.size(), cudaMemcpyDeviceToHost);
    on.wait();
    return made;
}

centroidal_answer on_host(const centroidal_case& c, double tolerance = 0) {
    const std::vector<std::byte> density = c.packed();
    centroidal_answer made(c);
    const centroidal_fields<host> out = made.fields(c);
    centroidal_options options = c.options();
    options.tolerance = tolerance;
    centroidal_voronoi(host{2, {}}, any_input<host>::contiguous(density.data(), c.type, c.shape), out.sites, out,
                       options);
    return made;
}

TEST_F(CentroidalDevice, RandomCases) {
    check_centroidal([](const centroidal_case& c) { return on_device(c, false); }, 0, 300);
}
TEST_F(CentroidalDevice, RandomCasesInAGraph) {
    check_centroidal([](const centroidal_case& c) { return on_device(c, true); }, 300, 340);
}

TEST_F(CentroidalDevice, TwoHundredRounds) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        centroidal_case c = large_centroidal_case(seed < 3 ? shape_t{60, 71} : shape_t{12, 14, 37}, 90, seed);
        c.rounds = 200, c.relax = seed == 1 ? 1 : 2;
        EXPECT_EQ(on_device(c, false), on_host(c));
    }
}

/// Moves a case's sites into a corner, onto a circle, or onto a line.
void arrange(centroidal_case& c, int kind) {
    const double height = static_cast<double>(c.shape[0]), width = static_cast<double>(c.shape[1]);
    const std::int64_t side = std::llround(std::ceil(std::sqrt(static_cast<double>(c.count()))));
    std::set<std::pair<std::int64_t, std::int64_t>> at;
    for (std::int64_t k = 0; std::ssize(at) < c.count(); ++k) {
        const double turn = 5 * static_cast<double>(k) / static_cast<double>(c.count());
        if (kind == 1) at.emplace(k / side, k % side);
        if (kind == 2)
            at.emplace(std::lround((0.5 + 0.45 * std::sin(turn)) * (height - 1)),
                       std::lround((0.5 + 0.45 * std::cos(turn)) * (width - 1)));
        if (kind == 3) at.emplace(height > width ? k * 11 % c.shape[0] : 1, height > width ? 1 : k * 7 % c.shape[1]);
    }
    c.sites.clear();
    for (const auto& [row, column] : at)
        c.sites.push_back(static_cast<std::int32_t>(row)), c.sites.push_back(static_cast<std::int32_t>(column));
}

/// Regions beyond a tile's first reach and its longest one, and more sites near a tile than its lists hold. A third of
/// the density is 0, by squares.
TEST_F(CentroidalDevice, ImagesByTiles) {
    const struct {
        shape_t shape;
        int sites, kind, supersample;
    } given[] = {{{100, 217}, 900, 0, 1},  {{100, 130}, 12, 0, 1},  {{40, 50}, 100, 0, 3},   {{100, 130}, 1500, 1, 1},
                 {{127, 129}, 300, 2, 1},  {{60, 70}, 50, 2, 2},    {{2, 20000}, 3, 0, 1},   {{5000, 4}, 9, 3, 1},
                 {{40, 700}, 60, 3, 1},    {{31, 33}, 1, 0, 1},     {{64, 128}, 1000, 1, 1}, {{64, 64}, 512, 0, 1},
                 {{500, 600}, 2000, 1, 1}, {{300, 701}, 300, 3, 1}, {{500, 400}, 900, 2, 1}};
    for (const auto& [shape, sites, kind, supersample] : given) {
        centroidal_case c = large_centroidal_case(shape, sites, 3);
        c.rounds = 3, c.relax = 1.9, c.supersample = supersample;
        for (std::int64_t i = 0; i < std::ssize(c.density); ++i) {
            const std::int64_t row = i / shape[1] / 40, column = i % shape[1] / 40;
            if (mix(static_cast<std::uint64_t>(row * 100 + column)) % 3 == 0)
                c.density[static_cast<std::size_t>(i)] = 0;
        }
        if (kind != 0) arrange(c, kind);
        EXPECT_EQ(on_device(c, false), on_host(c)) << sites << " of kind " << kind;
    }
}

TEST_F(CentroidalDevice, TolerancesStop) {
    centroidal_case c = large_centroidal_case({40, 50}, 30, 1);
    c.rounds = 20;
    EXPECT_EQ(on_device(c, false, 0.01), on_host(c, 0.01));
}

/// A tile with more sites than a block's memory holds.
TEST_F(CentroidalDevice, ManySites) {
    centroidal_case c = large_centroidal_case({140, 40}, 3000, 1);
    c.rounds = 3;
    EXPECT_EQ(on_device(c, false), on_host(c));
}

TEST_F(CentroidalDevice, CapacitiesOfTheHost) {
    const stream on;
    centroidal_case c = large_centroidal_case({16, 20}, 6, 2);
    c.rounds = 1, c.supersample = 2;
    const std::vector<std::byte> density = c.packed();
    const device_memory there(density.size());
    expect_cuda(cudaMemcpyAsync(there.data(), density.data(), density.size(), cudaMemcpyHostToDevice, on.get()), "in");
    const auto sites = any_input<host>::contiguous(c.sites.data(), dtype::int32, shape_t{6, 2});
    const capacity_regions a = capacity_voronoi(device(on.get()),
                                                any_input<device>::contiguous(there.data(), c.type, c.shape), sites, {},
                                                c.options()),
                           b = capacity_voronoi(host{2, {}},
                                                any_input<host>::contiguous(density.data(), c.type, c.shape), sites, {},
                                                c.options());
    EXPECT_EQ(a.sites, b.sites);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_EQ(a.powers, b.powers);
    EXPECT_EQ(a.energy, b.energy);
    EXPECT_EQ(a.error, b.error);
}

/// Few samples, and so many that they ask for parts that others have, up to those that end anywhere.
TEST_F(CentroidalDevice, SamplesOfTheHost) {
    const stream on;
    for (const shape_t& shape : {shape_t{40, 50}, shape_t{9, 11, 13}, shape_t{700}, shape_t{3, 2000}}) {
        const centroidal_case c = large_centroidal_case(shape, 1, 3);
        const std::vector<std::byte> image = c.packed();
        const device_memory there(image.size());
        expect_cuda(cudaMemcpyAsync(there.data(), image.data(), image.size(), cudaMemcpyHostToDevice, on.get()), "in");
        const auto gray = any_input<host>::contiguous(image.data(), c.type, c.shape);
        const std::int64_t parts = gray.cells() << shape.size();
        for (const std::int64_t points : {std::int64_t{1}, parts / 100, parts / 4, parts / 2, 4 * parts / 5}) {
            stipple_options options;
            options.points = points, options.rounds = 0, options.supersample = 2, options.seed = 5;
            const stipples a = stipple(device(on.get()), any_input<device>::contiguous(there.data(), c.type, c.shape),
                                       options),
                           b = stipple(host{}, gray, options);
            ASSERT_EQ(a.parts, b.parts) << points << " of " << parts;
            ASSERT_EQ(a.weights, b.weights);
        }
    }
}

TEST_F(CentroidalDevice, StipplesOfTheHost) {
    const stream on;
    const centroidal_case c = large_centroidal_case({40, 50}, 1, 2);
    const std::vector<std::byte> image = c.packed();
    const device_memory there(image.size());
    expect_cuda(cudaMemcpyAsync(there.data(), image.data(), image.size(), cudaMemcpyHostToDevice, on.get()), "in");
    for (const stipple_method method : {stipple_method::lloyd, stipple_method::lbg}) {
        stipple_options options;
        options.points = 60, options.method = method, options.rounds = 20, options.supersample = 2;
        for (const bool watched : {true, false}) {  // one by one; all rounds at once
            if (watched) options.watch = [](const stipple_state&) {};
            else options.watch = {};
            const stipples a = stipple(device(on.get()), any_input<device>::contiguous(there.data(), c.type, c.shape),
                                       options),
                           b = stipple(host{}, any_input<host>::contiguous(image.data(), c.type, c.shape), options);
            EXPECT_EQ(a.parts, b.parts);
            EXPECT_EQ(a.weights, b.weights);
            EXPECT_EQ(a.energy, b.energy);
            EXPECT_EQ(a.supersample, b.supersample);
        }
    }
}

}  // namespace
}  // namespace nearfield::test
