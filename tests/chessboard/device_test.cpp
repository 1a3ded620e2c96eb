// Chessboard and city-block distances on a GPU, plain and recorded as a graph, against all pairs and the host.
#include <gtest/gtest.h>

#include "chessboard/cases.hpp"
#include "exact/device_engine.hpp"

namespace nearfield::test {
namespace {

class ChessboardDevice : public testing::Test {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
};

std::vector<std::int32_t> on_device(const step_case& c, bool graph) {
    static const stream on;
    std::vector<std::int32_t> answer(c.mask.size());
    const device_memory in(c.mask.size() + 1), out(4 * answer.size() + 4);
    const step_call<device> call = call_of<device>(c.diagonal);
    const auto start = [&] {
        call(device(on.get()), any_input<device>::contiguous(in.data(), dtype::uint8, c.shape),
             any_output<device>::contiguous(out.data(), dtype::int32, c.shape), c.options);
    };
    const auto upload = [&] {
        expect_cuda(cudaMemcpyAsync(in.data(), c.mask.data(), c.mask.size(), cudaMemcpyHostToDevice, on.get()), "in");
    };
    if (graph) {
        const recorded work(start, on);
        upload();
        work.replay(), work.replay();
    } else {
        upload();
        start();
    }
    expect_cuda(cudaMemcpyAsync(answer.data(), out.data(), 4 * answer.size(), cudaMemcpyDeviceToHost, on.get()), "out");
    on.wait();
    return answer;
}

TEST_F(ChessboardDevice, RandomCases) {
    check_steps([](const step_case& c) { return on_device(c, false); }, false, 0, 400);
}
TEST_F(ChessboardDevice, RandomCasesInAGraph) {
    check_steps([](const step_case& c) { return on_device(c, true); }, false, 500, 540);
}

/// Rows as long as several warps, lines of 32-bit distances, periodic lines.
TEST_F(ChessboardDevice, AsTheHost) {
    for (const shape_t& shape : {shape_t{50, 60, 70}, shape_t{3, 40000}, shape_t{34000, 2}}) {
        for (const bool diagonal : {true, false}) {
            step_case c;
            c.shape = shape, c.diagonal = diagonal, c.mask = make_random(shape, 0.0005, 5);
            c.options.sites = sites::nonzero, c.options.border = diagonal ? border::periodic : border::open;
            std::vector<std::int32_t> wanted(c.mask.size());
            const step_call<host> call = call_of<host>(diagonal);
            call(host{}, any_input<host>::contiguous(c.mask.data(), dtype::uint8, shape),
                 any_output<host>::contiguous(wanted.data(), dtype::int32, shape), c.options);
            EXPECT_EQ(on_device(c, false), wanted);
        }
    }
}

}  // namespace
}  // namespace nearfield::test
