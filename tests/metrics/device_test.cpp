// Surfaces of segmentations on a GPU: against the definitions, and the host's bits.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "metrics/cases.hpp"

namespace nearfield::test {
namespace {

class MetricsDevice : public device_test {};

std::vector<surface_distances> on_device(const surface_case& c) {
    static const stream on;
    const std::vector<std::byte> a = c.packed(0), b = c.packed(1);
    const device_memory there_a(a.size() + 1), there_b(b.size() + 1);
    expect_cuda(cudaMemcpyAsync(there_a.data(), a.data(), a.size(), cudaMemcpyHostToDevice, on.get()), "a");
    expect_cuda(cudaMemcpyAsync(there_b.data(), b.data(), b.size(), cudaMemcpyHostToDevice, on.get()), "b");
    return compare_surfaces(device(on.get()), any_input<device>::contiguous(there_a.data(), c.type[0], c.shape),
                            any_input<device>::contiguous(there_b.data(), c.type[1], c.shape), c.labels, c.options);
}

std::vector<surface_distances> on_host(const surface_case& c) {
    const std::vector<std::byte> a = c.packed(0), b = c.packed(1);
    return compare_surfaces(host{}, any_input<host>::contiguous(a.data(), c.type[0], c.shape),
                            any_input<host>::contiguous(b.data(), c.type[1], c.shape), c.labels, c.options);
}

TEST_F(MetricsDevice, RandomCases) { check_surfaces(on_device, 0, 120); }

/// Lists longer than a block's, boxes of many blocks, codes of more than one byte.
TEST_F(MetricsDevice, BitsOfTheHost) {
    for (const surface kind : {surface::cells, surface::elements}) {
        surface_case c = spheres({40, 50, 61}, 5, 3);
        c.options.surface = kind, c.options.percentiles = {50, 95};
        expect_same(on_device(c), on_host(c));
        c.options.spacing = {1.5, 1, 0.7};
        for (std::int64_t label = 1; label <= 300; ++label) c.labels.push_back(label);
        expect_same(on_device(c), on_host(c));
    }
}

/// Surfaces that are near each other, that are far apart, and that one image lacks, in one call; boxes of few cells and
/// of many.
void check_near_and_far(const shape_t& shape, surface kind, const std::vector<double>& spacing) {
    surface_case c = spheres(shape, 6, 11);
    const auto row = static_cast<std::size_t>(shape[2]), cells = c.value[0].size();
    for (std::size_t i = 0; i < 3; ++i) c.value[0][i] = 7, c.value[1][cells - 1 - i] = 7, c.value[0][row + i] = 8;
    c.options.percentiles = {50, 95}, c.options.tolerances = {1, 40};
    c.options.spacing = {spacing.data(), spacing.size()};
    c.options.surface = kind;
    expect_same(on_device(c), on_host(c));
}

TEST_F(MetricsDevice, NearAndFarSurfaces) {
    for (const std::vector<double>& spacing : {std::vector<double>{}, {1.5, 1, 0.7}, {0.001, 0.001, 0.001}})
        for (const surface kind : {surface::cells, surface::elements}) check_near_and_far({4, 5, 300}, kind, spacing);
    check_near_and_far({60, 90, 120}, surface::elements, {});
}

TEST_F(MetricsDevice, Strides) {
    surface_case c = spheres({12, 17, 19}, 3, 5);
    std::vector<std::int64_t> spread(c.value[0].size() * 2);
    for (std::size_t i = 0; i < c.value[0].size(); ++i) spread[2 * i] = c.value[0][i];
    const device_memory there(spread.size() * 8);
    static const stream on;
    expect_cuda(cudaMemcpyAsync(there.data(), spread.data(), there.bytes(), cudaMemcpyHostToDevice, on.get()), "a");
    const view<const std::int64_t, 3, device> a{
        static_cast<const std::int64_t*>(there.data()), extent{12, 17, 19}, {2 * 17 * 19, 2 * 19, 2}};
    c.value[1] = c.value[0];
    expect_same(compare_surfaces(device(on.get()), a, a), on_host(c));
}

/// Bytes that do not begin or end at words.
TEST_F(MetricsDevice, BytesAnywhere) {
    static const stream on;
    for (const std::int64_t offset : {0, 1, 4}) {
        surface_case c = spheres({12, 17, offset == 4 ? 19 : 20}, 3, 5);
        const std::vector<std::byte> a = c.packed(0), b = c.packed(1);
        const device_memory there(a.size() + b.size() + 4);
        std::byte *const to_a = static_cast<std::byte*>(there.data()) + offset, *const to_b = to_a + a.size();
        expect_cuda(cudaMemcpyAsync(to_a, a.data(), a.size(), cudaMemcpyHostToDevice, on.get()), "a");
        expect_cuda(cudaMemcpyAsync(to_b, b.data(), b.size(), cudaMemcpyHostToDevice, on.get()), "b");
        expect_same(compare_surfaces(device(on.get()), any_input<device>::contiguous(to_a, dtype::uint8, c.shape),
                                     any_input<device>::contiguous(to_b, dtype::uint8, c.shape)),
                    on_host(c));
    }
}

}  // namespace
}  // namespace nearfield::test
