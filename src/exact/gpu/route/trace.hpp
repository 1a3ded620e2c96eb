// Counts the windows that each rung of the ladder solves: for tests, and for users who set NEARFIELD_TRACE.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "exact/gpu/ground/ladder.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::exact::gpu {

/// Counts in all calls of its thread on the current device during its lifetime, except in those for lists of images. A
/// counted call waits for the device; nothing is counted while a graph is recorded.
class trace {
public:
    trace();
    ~trace();
    trace(const trace&) = delete;
    trace& operator=(const trace&) = delete;

    /// Windows by rung: for lines 32 rows of 32 lines, for the rungs before them launched blocks or tiles.
    [[nodiscard]] const std::array<std::int64_t, rungs>& solved() const { return solved_; }
    /// Formats the counts: "near 128, strips 3".
    [[nodiscard]] std::string text() const;

    /// Returns the device counters to which kernels add; null without a trace.
    static std::uint32_t* numbers();
    /// Counts the windows of a rung that solves all windows, unless `refused` on the device is not 0. Returns whether
    /// they were counted.
    static bool note(const device& on, rung which, std::int64_t windows, const std::int32_t* refused = nullptr);

private:
    friend class traced_call;
    void take(const device& on);

    std::array<std::int64_t, rungs> solved_{};
    std::uint32_t* numbers_ = nullptr;
    trace* outer_;
};

/// Scope of one call, whose counts are read at its end. With NEARFIELD_TRACE set it prints them to stderr.
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
