// Runs rounds on a device until nothing changes.
#pragma once

#include <algorithm>
#include <array>

#include "base/cuda.cuh"
#include "methods/room.hpp"

namespace nearfield::methods {

/// Rounds between two looks at whether anything changed: a look waits for the device; an extra round changes nothing.
inline constexpr int rounds_a_look = 16;

/// Calls round(flag) to order one round after another. A round sets *flag, which is 0 before, if it changes a cell.
/// Returns the number of rounds up to the first that changed nothing.
template <class Round>
std::int64_t until_nothing_changes(const device& on, const Round& round) {
    cuda::workspace memory(on);
    const std::int64_t reserved = memory.reserve<int>(rounds_a_look);
    memory.allocate();
    int* const flags = memory.get<int>(reserved);
    std::array<int, rounds_a_look> seen{};
    for (std::int64_t before = 0;; before += rounds_a_look) {
        cuda::check(cudaMemsetAsync(flags, 0, sizeof(seen), cuda::stream_of(on)), "clearing flags");
        for (int k = 0; k < rounds_a_look; ++k) round(flags + k);
        cuda::check(cudaMemcpyAsync(seen.data(), flags, sizeof(seen), cudaMemcpyDeviceToHost, cuda::stream_of(on)),
                    "reading flags");
        cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "waiting for rounds");
        const auto last = std::find(seen.begin(), seen.end(), 0);
        if (last != seen.end()) return before + (last - seen.begin()) + 1;
    }
}

}  // namespace nearfield::methods
