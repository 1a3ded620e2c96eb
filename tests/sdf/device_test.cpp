// Signed fields, layers and padding on a GPU have the host's bits, plain and recorded as a graph.
#include <gtest/gtest.h>

#include <cstring>

#include "device_test.hpp"
#include "effects/cases.hpp"
#include "exact/device_engine.hpp"
#include "scale.hpp"
#include "sdf/cases.hpp"

namespace nearfield::test {
namespace {

class SdfDevice : public device_test {};

/// Copies bytes to the device, calls start() with the addresses of input and output, and copies the result back.
template <class Start>
std::vector<std::byte> there(const void* data, std::size_t bytes, std::size_t out_bytes, bool graph,
                             const Start& start) {
    static const stream on;
    std::vector<std::byte> answer(out_bytes);
    const device_memory in(bytes + 1), out(out_bytes + 1);
    const auto upload = [&] {
        expect_cuda(cudaMemcpyAsync(in.data(), data, bytes, cudaMemcpyHostToDevice, on.get()), "in");
    };
    const auto work = [&] { start(device(on.get()), in.data(), out.data()); };
    if (graph) {
        const recorded calls(work, on);
        upload();
        calls.replay(), calls.replay();
    } else {
        upload();
        work();
    }
    expect_cuda(cudaMemcpyAsync(answer.data(), out.data(), out_bytes, cudaMemcpyDeviceToHost, on.get()), "out");
    on.wait();
    return answer;
}

std::vector<std::byte> on_device(const sdf_case& c, bool graph) {
    const shape_t to = c.out_shape();
    return there(c.image.data(), c.image.size(), static_cast<std::size_t>(cells_of(to) * size_of(c.out)), graph,
                 [&](const device& on, const void* in, void* out) {
                     sdf(on, any_input<device>::contiguous(in, dtype::uint8, c.shape),
                         any_output<device>::contiguous(out, c.out, to), c.options);
                 });
}

TEST_F(SdfDevice, BitsOfTheHost) {
    for (std::uint64_t seed = 0; seed < share(0, 300); ++seed) {
        const sdf_case c = drawn_sdf_case(seed);
        ASSERT_EQ(on_device(c, seed % 10 == 0), on_host(c)) << seed;
    }
}

TEST_F(SdfDevice, LayersAreTheHosts) {
    for (std::uint64_t seed = 0; seed < share(0, 240); ++seed) {
        const layer_case c = drawn_layer_case(seed);
        const std::vector<float> wanted = on_host(c);
        const std::vector<float> found = floats(
            there(c.field.data(), c.field.size() * 4, c.field.size() * 4, seed % 10 == 0,
                  [&](const device& on, const void* in, void* out) {
                      effects::layer(on, any_input<device>::contiguous(in, dtype::float32, c.shape),
                                     any_output<device>::contiguous(out, dtype::float32, c.shape), c.what, c.ends);
                  }));
        ASSERT_EQ(found, wanted) << seed;
    }
}

/// Pads a case's image, with numbers of another type, on both sides.
template <class T>
void expect_padding(const pad_case& c, dtype type, double full, bool graph) {
    std::vector<T> image, wanted(c.image.size());
    for (const std::uint8_t each : c.image) image.push_back(static_cast<T>(each * (full / 255)));
    effects::pad(host{}, any_input<host>::contiguous(image.data(), type, c.shape),
                 any_output<host>::contiguous(wanted.data(), type, c.shape), c.options);
    const std::size_t bytes = image.size() * sizeof(T);
    const std::vector<std::byte> found =
        there(image.data(), bytes, bytes, graph, [&](const device& on, const void* in, void* out) {
            effects::pad(on, any_input<device>::contiguous(in, type, c.shape),
                         any_output<device>::contiguous(out, type, c.shape), c.options);
        });
    ASSERT_EQ(std::memcmp(found.data(), wanted.data(), bytes), 0);
}

TEST_F(SdfDevice, PaddingIsTheHosts) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const pad_case c = drawn_pad_case(seed);
        ASSERT_NO_FATAL_FAILURE(expect_padding<std::uint8_t>(c, dtype::uint8, 255, seed % 10 == 0));
        ASSERT_NO_FATAL_FAILURE(expect_padding<std::uint16_t>(c, dtype::uint16, 65535, false));
        ASSERT_NO_FATAL_FAILURE(expect_padding<float>(c, dtype::float32, 1, false));
    }
}

TEST_F(SdfDevice, PaddingByAMaskIsTheHosts) {
    const pad_case c = drawn_pad_case(3);
    const auto cells = static_cast<std::size_t>(c.shape[0] * c.shape[1]);
    std::vector<std::uint8_t> image = c.image, wanted(c.image.size());
    for (std::size_t i = 0; i < cells; ++i) image.push_back(i % 7 == 2 ? 3 : 0);
    const shape_t flat{c.shape[0], c.shape[1]};
    effects::pad(host{}, any_input<host>::contiguous(image.data(), dtype::uint8, c.shape),
                 any_output<host>::contiguous(wanted.data(), dtype::uint8, c.shape), c.options,
                 any_input<host>::contiguous(image.data() + 4 * cells, dtype::uint8, flat));
    const std::vector<std::byte> found =
        there(image.data(), image.size(), wanted.size(), false, [&](const device& on, const void* in, void* out) {
            const auto* const known = static_cast<const std::uint8_t*>(in) + 4 * cells;
            effects::pad(on, any_input<device>::contiguous(in, dtype::uint8, c.shape),
                         any_output<device>::contiguous(out, dtype::uint8, c.shape), c.options,
                         any_input<device>::contiguous(known, dtype::uint8, flat));
        });
    EXPECT_EQ(std::memcmp(found.data(), wanted.data(), wanted.size()), 0);
}

}  // namespace
}  // namespace nearfield::test
