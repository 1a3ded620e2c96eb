// Calls of chessboard and city-block distances on a GPU, and the way that they took.
#pragma once

#include <gtest/gtest.h>

#include "chessboard/cases.hpp"
#include "chessboard/ways.hpp"
#include "device_test.hpp"
#include "exact/device_engine.hpp"

namespace nearfield::test {

class ChessboardDevice : public device_test {};

inline std::vector<std::int32_t> on_device(const step_case& c, bool graph) {
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

inline std::vector<std::int32_t> on_host(const step_case& c) {
    std::vector<std::int32_t> answer(c.mask.size());
    call_of<host>(c.diagonal)(host{}, any_input<host>::contiguous(c.mask.data(), dtype::uint8, c.shape),
                              any_output<host>::contiguous(answer.data(), dtype::int32, c.shape), c.options);
    return answer;
}

/// Compares a call with the host's; returns its way.
inline chessboard::ways checked(const step_case& c) {
    chessboard::ways taken;
    chessboard::watched = &taken;
    const std::vector<std::int32_t> found = on_device(c, false);
    chessboard::watched = nullptr;
    EXPECT_EQ(found, on_host(c)) << testing::PrintToString(c.shape) << (c.diagonal ? " chessboard" : " city block");
    return taken;
}

}  // namespace nearfield::test
