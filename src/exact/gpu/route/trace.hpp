// How many windows each rung of the ladder solves: for tests, and for whoever sets NEARFIELD_TRACE.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "exact/gpu/ground/ladder.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::exact::gpu {

/// Counts in all calls of its thread on the current device while it lives, except those for lists of images. A counted
/// call waits for the device; while a graph is recorded nothing is counted.
class trace {
public:
    trace();
    ~trace();
    trace(const trace&) = delete;
    trace& operator=(const trace&) = delete;

    /// Windows by rung: of lines 32 rows of 32 lines, of the ways before them blocks or tiles that were launched.
    [[nodiscard]] const std::array<std::int64_t, rungs>& solved() const { return solved_; }
    /// "near 128, strips 3"
    [[nodiscard]] std::string text() const;

    /// Numbers on the device to which kernels add; null without a trace.
    static std::uint32_t* numbers();
    /// Windows of a way that solves all it is given, unless `refused` on the device is not 0.
    static void note(const device& on, rung which, std::int64_t windows, const std::int32_t* refused = nullptr);

private:
    friend class traced_call;
    void take(const device& on);

    std::array<std::int64_t, rungs> solved_{};
    std::uint32_t* numbers_ = nullptr;
    trace* outer_;
};

/// A call: its numbers are taken at its end. With NEARFIELD_TRACE set it prints a line of them to stderr.
class traced_call {
public:
    traced_call(const device& on, const std::int64_t* size, int rank);
    ~traced_call();
    traced_call(const traced_call&) = delete;
    traced_call& operator=(const traced_call&) = delete;

private:
    const device& on_;
    const std::int64_t* size_;
    int rank_;
    trace* own_ = nullptr;
};

}  // namespace nearfield::exact::gpu
