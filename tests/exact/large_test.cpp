// Large grids on the host: sampled cells against brute force over all sites.
#include <gtest/gtest.h>

#include <memory>
#include <new>

#include "exact/large.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::test {
namespace {

void check_few_sites(const shape_t& shape, std::int64_t site_count, const spacing_case& cell, int threads) {
    const std::int64_t cells = cells_of(shape);
    std::vector<std::uint8_t> image(static_cast<std::size_t>(cells), 1);
    std::vector<std::int64_t> sites;
    for (std::int64_t k = 0; k < site_count; ++k) {
        sites.push_back(
            static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(k) + 77) % static_cast<std::uint64_t>(cells)));
        image[static_cast<std::size_t>(sites.back())] = 0;
    }
    std::vector<float> distance(image.size());
    std::vector<std::int64_t> index(image.size());
    fields<host> out;
    out.distance = any_output<host>::contiguous(distance.data(), dtype::float32, shape);
    out.index = any_output<host>::contiguous(index.data(), dtype::int64, shape);
    std::vector<std::int32_t> coordinates(shape.size() * image.size());
    shape_t field = shape;
    field.insert(field.begin(), static_cast<std::int64_t>(shape.size()));
    out.coordinates = any_output<host>::contiguous(coordinates.data(), dtype::int32, field);
    const auto lengths = per_axis(cell, shape.size());
    distance_options options;
    options.spacing = spacing(lengths.data(), lengths.size());
    host on;
    on.threads = threads;
    distance_transform(on, any_input<host>::contiguous(image.data(), dtype::uint8, shape), out, options);
    const auto picked = sample_cells(cells, 400, 5);
    sampled got;
    for (std::int64_t i : picked) {
        got.distance.push_back(distance[static_cast<std::size_t>(i)]);
        got.index.push_back(index[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(wrong_sample(shape, lengths, sites, picked, got), "");
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
        std::int64_t site = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis)
            site = site * shape[axis] + coordinates[axis * index.size() + i];
        wrong += site != index[i];
    }
    EXPECT_EQ(wrong, 0) << "coordinates that differ from the index";
}

TEST(HostLarge, SampledCellsAgainstEverySite) {
    check_few_sites({2048, 2048}, 400, spacings()[0], 2);
    check_few_sites({50000, 40}, 60, spacings()[0], 2);
    check_few_sites({40, 50000}, 60, spacings()[0], 2);
    check_few_sites({160, 170, 180}, 300, spacings()[2], 2);
    check_few_sites({1200, 1100, 3}, 300, spacings()[0], 2);
    check_few_sites({256, 256, 20}, 100, spacings()[0], 0);
    check_few_sites({3000000}, 50, spacings()[0], 2);
}

TEST(HostLarge, AWorkspaceThatMemoryCannotHoldIsAnError) {
    // 4e10 cells that share one byte of memory, and an output that is never written.
    const std::uint8_t one = 1;
    any_input<host> image = any_input<host>::contiguous(&one, dtype::uint8, shape_t{200000, 200000});
    image.stride = {};
    fields<host> out;
    out.distance = any_output<host>::contiguous(reinterpret_cast<void*>(std::uintptr_t{1} << 46), dtype::float64,
                                                shape_t{200000, 200000});
    try {
        distance_transform(host{}, image, out);
        FAIL() << "160 GB were to be had";
    } catch (const error& problem) {
        EXPECT_EQ(problem.code(), error_code::out_of_memory);
        EXPECT_NE(std::string(problem.what()).find("needs a workspace of 149.1 GiB, free are"), std::string::npos)
            << problem.what();
    }
}

/// Grids with more cells than int32 can count: a dozen sites, checked in sampled cells. `Squared` is the type of the
/// squared distances.
template <class Squared>
void check_big(const shape_t& shape, std::int64_t needed) {
    if (!big_tests_wanted()) GTEST_SKIP() << "set NEARFIELD_TEST_BIG=1 to run it";
    if (available_memory() < needed) {
        GTEST_SKIP() << "needs " << needed / 1000000000 << " GB of free memory, here are "
                     << available_memory() / 1000000000;
    }
    const std::int64_t cells = cells_of(shape);
    const std::unique_ptr<std::uint8_t[]> image(new std::uint8_t[static_cast<std::size_t>(cells)]);
    std::fill_n(image.get(), cells, std::uint8_t{1});
    std::vector<std::int64_t> sites;
    for (std::int64_t k = 0; k < 12; ++k) {
        sites.push_back(
            static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(k)) % static_cast<std::uint64_t>(cells)));
        image[static_cast<std::size_t>(sites.back())] = 0;
    }
    // This is the only large array besides the image: squared distances may serve as the engine's workspace.
    const std::unique_ptr<Squared[]> squared(new Squared[static_cast<std::size_t>(cells)]);
    nearfield::squared_distance(host{}, any_input<host>::contiguous(image.get(), dtype::uint8, shape),
                                any_output<host>::contiguous(squared.get(), dtype_of<Squared>(), shape));
    const auto picked = sample_cells(cells, 100000, 3);
    const oracle::answer expected = oracle::at_cells(shape, std::vector<double>(shape.size(), 1.0), sites, picked);
    for (std::size_t k = 0; k < picked.size(); ++k) {
        ASSERT_EQ(squared[static_cast<std::size_t>(picked[k])], expected.exact[k]) << "cell " << picked[k];
    }
}

/// 2.197e9 cells with small squares: 11 GB.
TEST(HostBig, Volume) { check_big<std::uint32_t>({1300, 1300, 1300}, 14'000'000'000); }
/// 2.147e9 cells with squares beyond 2^30, in the output's own 4 bytes a cell: 11 GB.
TEST(HostBig, Image) { check_big<std::uint32_t>({46341, 46341}, 14'000'000'000); }

}  // namespace
}  // namespace nearfield::test
