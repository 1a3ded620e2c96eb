// Nearest sites of volumes with sites close by, which the device searches by bits, equal the host's bit for bit. The
// volumes have more than 2^22 cells, as that path requires.
#include <gtest/gtest.h>

#include "exact/device_engine.hpp"
#include "exact/fills.hpp"

namespace nearfield::test {
namespace {

struct near_case {
    shape_t shape;
    int batch_axes = 0;
    const char* name = "";
};

void PrintTo(const near_case& c, std::ostream* to) { *to << c.name; }

class NearSites : public testing::TestWithParam<near_case> {};

/// Empties a ball around the cell a third along each axis of the last volume.
flags_t with_hole(flags_t sites, const shape_t& shape, std::int64_t radius) {
    const std::size_t rank = shape.size();
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        std::int64_t rest = i, apart2 = 0;
        for (std::size_t axis = rank; axis-- > rank - 3; rest /= shape[axis]) {
            const std::int64_t apart = rest % shape[axis] - shape[axis] / 3;
            apart2 += apart * apart;
        }
        if (apart2 < radius * radius) sites[static_cast<std::size_t>(i)] = 0;
    }
    return sites;
}

/// The device's indices of type T, in memory that begins `skipped` elements after an allocation.
template <class T>
std::vector<T> indices(const near_case& c, const flags_t& seeds, dtype type, std::size_t skipped) {
    const stream on;
    const device_memory image(seeds.size()), out((seeds.size() + skipped) * sizeof(T));
    std::vector<T> index(seeds.size() + skipped, T{-5});
    const auto copy = [&](void* to, const void* from, std::size_t bytes) {
        expect_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on.get()), "copy");
    };
    copy(image.data(), seeds.data(), seeds.size());
    copy(out.data(), index.data(), out.bytes());
    distance_options options;
    options.sites = sites::nonzero, options.batch_axes = c.batch_axes;
    fields<device> wanted;
    wanted.index = any_output<device>::contiguous(static_cast<T*>(out.data()) + skipped, type, c.shape);
    distance_transform(device{on.get()}, any_input<device>::contiguous(image.data(), dtype::uint8, c.shape), wanted,
                       options);
    copy(index.data(), out.data(), out.bytes());
    on.wait();
    return {index.begin() + static_cast<std::ptrdiff_t>(skipped), index.end()};
}

void compare(const near_case& c, const flags_t& seeds, const std::string& what) {
    std::vector<std::int32_t> expected(seeds.size());
    distance_options options;
    options.sites = sites::nonzero, options.batch_axes = c.batch_axes;
    fields<host> wanted;
    wanted.index = any_output<host>::contiguous(expected.data(), dtype::int32, c.shape);
    distance_transform(host{}, any_input<host>::contiguous(seeds.data(), dtype::uint8, c.shape), wanted, options);
    const auto differs = [&](const auto& index) {
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (index[i] != expected[i])
                return "cell " + std::to_string(i) + ": " + std::to_string(index[i]) + ", on the host " +
                       std::to_string(expected[i]);
        return std::string();
    };
    EXPECT_EQ(differs(indices<std::int32_t>(c, seeds, dtype::int32, 0)), "") << what;
    EXPECT_EQ(differs(indices<std::int32_t>(c, seeds, dtype::int32, 1)), "") << what << ", fours of cells cut";
    EXPECT_EQ(differs(indices<std::int64_t>(c, seeds, dtype::int64, 0)), "") << what << ", int64";
}

TEST_P(NearSites, EqualTheHosts) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    const near_case& c = GetParam();
    // Shares at which some cells are farther than the search by bits reaches (0.04), and at which sampling rejects that
    // path (0.02).
    for (const double share : {0.9, 0.1, 0.04, 0.02}) compare(c, make_random(c.shape, share, 3), std::to_string(share));
    compare(c, make_fill(fill::checkerboard, c.shape), "checkerboard");
    const flags_t tenth = make_random(c.shape, 0.1, 4);
    compare(c, with_hole(tenth, c.shape, 8), "a hole that is mended");
    compare(c, with_hole(tenth, c.shape, 12), "a hole of too many cells");
}

INSTANTIATE_TEST_SUITE_P(Volumes, NearSites,
                         testing::Values(near_case{{165, 160, 160}, 0, "tiles_and_words"},
                                         near_case{{130, 181, 181}, 0, "no_multiple_of_anything"},
                                         near_case{{3, 90, 120, 131}, 1, "three_volumes"},
                                         near_case{{20, 128, 1700}, 0, "lines_of_two_stretches"}),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace nearfield::test
