// Nearest sites that are too far for steps, in volumes with so many groups of lines that a device sweeps them, a lane a line:
// bit for bit the host's.
#include <gtest/gtest.h>

#include <limits>

#include "exact/device_engine.hpp"
#include "exact/fills.hpp"

namespace nearfield::test {
namespace {

/// Cells that `rule(z, y, x)` names.
template <class Rule>
flags_t sites_where(const shape_t& shape, const Rule& rule) {
    flags_t sites(static_cast<std::size_t>(cells_of(shape)));
    std::size_t i = 0;
    for (std::int64_t z = 0; z < shape[0]; ++z)
        for (std::int64_t y = 0; y < shape[1]; ++y)
            for (std::int64_t x = 0; x < shape[2]; ++x, ++i) sites[i] = rule(z, y, x) ? 1 : 0;
    return sites;
}

/// One field of `sites` on the host and the device, as the bytes that each leaves.
class one_field {
public:
    one_field(const shape_t& shape, const flags_t& sites, double max_distance) : shape_(shape), sites_(sites) {
        options_.sites = sites::nonzero, options_.max_distance = max_distance;
    }

    template <class T>
    std::string differs(dtype type, int arrays, const char* name) {
        std::vector<T> expected(sites_.size() * static_cast<std::size_t>(arrays)), found(expected.size());
        shape_t whole = shape_;
        if (arrays > 1) whole.insert(whole.begin(), arrays);
        fields<host> at_home;
        (arrays > 1 ? at_home.coordinates : at_home.index) = any_output<host>::contiguous(expected.data(), type, whole);
        distance_transform(host{}, any_input<host>::contiguous(sites_.data(), dtype::uint8, shape_), at_home, options_);

        const stream on;
        const device_memory image(sites_.size()), out(found.size() * sizeof(T));
        const auto copy = [&](void* to, const void* from, std::size_t bytes) {
            expect_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on.get()), "copy");
        };
        copy(image.data(), sites_.data(), sites_.size());
        fields<device> there;
        (arrays > 1 ? there.coordinates : there.index) =
            any_output<device>::contiguous(static_cast<T*>(out.data()), type, whole);
        distance_transform(device{on.get()}, any_input<device>::contiguous(image.data(), dtype::uint8, shape_), there,
                           options_);
        copy(found.data(), out.data(), out.bytes());
        on.wait();
        for (std::size_t i = 0; i < found.size(); ++i)
            if (found[i] != expected[i])
                return name + (" " + std::to_string(i)) + ": " + std::to_string(found[i]) + ", on the host " +
                       std::to_string(expected[i]);
        return "";
    }

private:
    const shape_t& shape_;
    const flags_t& sites_;
    distance_options options_;
};

class SweptSites : public testing::TestWithParam<shape_t> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
    [[nodiscard]] const shape_t& shape() const { return GetParam(); }

    void compare(const flags_t& sites) const {
        const double all = std::numeric_limits<double>::infinity();
        EXPECT_EQ((one_field(shape(), sites, all).differs<std::int32_t>(dtype::int32, 1, "int32")), "");
        EXPECT_EQ((one_field(shape(), sites, all).differs<std::int64_t>(dtype::int64, 1, "int64")), "");
        EXPECT_EQ((one_field(shape(), sites, all).differs<std::int32_t>(dtype::int32, 3, "coordinates")), "");
        EXPECT_EQ((one_field(shape(), sites, 150).differs<std::int32_t>(dtype::int32, 1, "within 150")), "");
    }
};

TEST_P(SweptSites, OfOneCorner) {
    compare(sites_where(shape(), [](auto z, auto y, auto x) { return z < 2 && y < 8 && x < 32; }));
}
/// The middle ties with sites of both ends of each axis.
TEST_P(SweptSites, OfEightCorners) {
    const auto end = [](std::int64_t at, std::int64_t length, std::int64_t cells) {
        return at < cells || at >= length - cells;
    };
    compare(sites_where(shape(), [&](auto z, auto y, auto x) {
        return end(z, shape()[0], 1) && end(y, shape()[1], 5) && end(x, shape()[2], 9);
    }));
}
TEST_P(SweptSites, OfSurfacesThatBend) {
    compare(sites_where(shape(), [&](auto z, auto y, auto x) {
        const auto dz = z - shape()[0] / 2, dy = y - shape()[1] / 2, dx = x - 300, apart2 = dz * dz + dy * dy + dx * dx;
        return apart2 >= 16 * 16 && apart2 < 17 * 17;
    }));
}
TEST_P(SweptSites, BesideManySites) {
    const flags_t random = make_random(shape(), 0.02, 5);
    std::size_t i = 0;
    compare(sites_where(shape(), [&](auto, auto, auto x) { return random[i++] != 0 && x < 120; }));
}

// 132 * 32 groups of 32 lines along one axis: sweeps are thought of from 4096 on. The last lanes of a row have no cells.
INSTANTIATE_TEST_SUITE_P(Volumes, SweptSites, testing::Values(shape_t{132, 35, 1011}, shape_t{35, 132, 1011}),
                         [](const auto& of) { return of.param[0] == 132 ? "along_y" : "along_z"; });

}  // namespace
}  // namespace nearfield::test
