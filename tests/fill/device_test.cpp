// Fills on a GPU against the definition, plain and recorded as a graph, and slices.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "fill/cases.hpp"

namespace nearfield::test {
namespace {

class FillDevice : public device_test {};

void send(const device_memory& to, const std::vector<std::byte>& from, const stream& on) {
    expect_cuda(cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyHostToDevice, on.get()), "in");
}
std::vector<std::byte> fetched(const device_memory& from, std::size_t bytes, const stream& on) {
    std::vector<std::byte> answer(bytes);
    expect_cuda(cudaMemcpyAsync(answer.data(), from.data(), bytes, cudaMemcpyDeviceToHost, on.get()), "out");
    on.wait();
    return answer;
}

std::vector<std::int64_t> filled(const fill_case& c, bool graph) {
    static const stream on;
    const std::vector<std::byte> image = packed(c.value, c.type);
    std::vector<std::byte> flags(c.missing.size() + 1);
    for (std::size_t i = 0; i < c.missing.size(); ++i) flags[i] = static_cast<std::byte>(c.missing[i]);
    const device_memory in(image.size()), missing(flags.size()), out(image.size());
    const auto start = [&] {
        fill_nearest(device(on.get()), any_input<device>::contiguous(in.data(), c.type, c.shape()),
                     any_input<device>::contiguous(missing.data(), dtype::uint8, c.cells),
                     any_output<device>::contiguous(out.data(), c.type, c.shape()), c.options());
    };
    if (graph) {
        const recorded work(start, on);
        send(in, image, on), send(missing, flags, on);
        work.replay(), work.replay();
        return unpacked(fetched(out, image.size() - 1, on), c.type);
    }
    send(in, image, on), send(missing, flags, on);
    start();
    return unpacked(fetched(out, image.size() - 1, on), c.type);
}

std::vector<std::int64_t> interpolated(const slice_case& c) {
    static const stream on;
    const std::vector<std::byte> labels = packed(c.label, c.type);
    const shape_t to = c.answer_shape();
    const auto bytes = static_cast<std::size_t>(cells_of(to) * size_of(c.type));
    const device_memory in(labels.size()), out(bytes + 1);
    send(in, labels, on);
    interpolate_slices(device(on.get()), any_input<device>::contiguous(in.data(), c.type, c.shape), c.axis, c.positions,
                       any_output<device>::contiguous(out.data(), c.type, to), c.options());
    return unpacked(fetched(out, bytes, on), c.type);
}

TEST_F(FillDevice, RandomCases) {
    check_fill([](const fill_case& c) { return filled(c, false); }, 0, 300);
}
TEST_F(FillDevice, RandomCasesInAGraph) {
    check_fill([](const fill_case& c) { return filled(c, true); }, 300, 340);
}
TEST_F(FillDevice, RandomSlices) {
    check_slices([](const slice_case& c) { return interpolated(c); }, 0, 300);
}

/// Computes in doubles, with more positions than one pass serves.
TEST_F(FillDevice, BitsOfTheHost) {
    slice_case c;
    c.shape = {3, 40, 50}, c.spacing = {1, 1.4142135623730951, 3.141592653589793};
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i)
        c.label.push_back(static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(i / 17)) % 3));
    for (std::int64_t k = 0; k <= 80; ++k) c.positions.push_back({k, 40});
    const std::vector<std::byte> labels = packed(c.label, c.type);
    std::vector<std::byte> out(static_cast<std::size_t>(4 * cells_of(c.answer_shape())));
    interpolate_slices(host{}, any_input<host>::contiguous(labels.data(), c.type, c.shape), c.axis, c.positions,
                       any_output<host>::contiguous(out.data(), c.type, c.answer_shape()), c.options());
    EXPECT_EQ(interpolated(c), unpacked(out, c.type));
}

}  // namespace
}  // namespace nearfield::test
