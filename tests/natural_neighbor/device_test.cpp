// Natural neighbours on a GPU, plain and recorded as a graph: against the definition, and the host's bits.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "natural_neighbor/cases.hpp"

namespace nearfield::test {
namespace {

class NaturalNeighborDevice : public device_test {};

std::vector<double> on_device(const natural_case& c, bool graph) {
    static const stream on;
    const std::vector<std::byte> values = c.packed();
    std::vector<double> answer(c.value.size());
    const device_memory in(values.size() + 1), known(c.known.size() + 1), out(8 * answer.size() + 8);
    const auto start = [&] {
        natural_neighbor(
            device(on.get()), any_input<device>::contiguous(in.data(), c.type, c.shape),
            c.known.empty() ? any_input<device>{} : any_input<device>::contiguous(known.data(), dtype::uint8, c.shape),
            any_output<device>::contiguous(out.data(), dtype::float64, c.shape), c.options());
    };
    const auto upload = [&] {
        expect_cuda(cudaMemcpyAsync(in.data(), values.data(), values.size(), cudaMemcpyHostToDevice, on.get()), "in");
        expect_cuda(cudaMemcpyAsync(known.data(), c.known.data(), c.known.size(), cudaMemcpyHostToDevice, on.get()),
                    "known");
    };
    if (graph) {
        const recorded work(start, on);
        upload();
        work.replay(), work.replay();
    } else {
        upload();
        start();
    }
    expect_cuda(cudaMemcpyAsync(answer.data(), out.data(), 8 * answer.size(), cudaMemcpyDeviceToHost, on.get()), "out");
    on.wait();
    return answer;
}

TEST_F(NaturalNeighborDevice, RandomCases) {
    check_natural([](const natural_case& c) { return on_device(c, false); }, 0, 200);
}
TEST_F(NaturalNeighborDevice, RandomCasesInAGraph) {
    check_natural([](const natural_case& c) { return on_device(c, true); }, 300, 340);
}

/// Balls with more rows than a lane writes alone, rows longer than a warp, values that are rounded.
TEST_F(NaturalNeighborDevice, BitsOfTheHost) {
    for (const shape_t& shape : {shape_t{150, 170}, shape_t{20, 24, 70}}) {
        natural_case c;
        c.shape = shape;
        for (std::int64_t i = 0; i < cells_of(shape); ++i) {
            const std::uint64_t bits = mix(static_cast<std::uint64_t>(i));
            c.known.push_back(bits % 4000 == 0 ? 1 : 0);
            c.value.push_back(static_cast<double>(bits >> 11) / 3e13);
        }
        std::vector<double> wanted(c.value.size());
        const std::vector<std::byte> values = c.packed();
        natural_neighbor(host{}, any_input<host>::contiguous(values.data(), c.type, shape),
                         any_input<host>::contiguous(c.known.data(), dtype::uint8, shape),
                         any_output<host>::contiguous(wanted.data(), dtype::float64, shape));
        EXPECT_EQ(on_device(c, false), wanted);
    }
}

}  // namespace
}  // namespace nearfield::test
