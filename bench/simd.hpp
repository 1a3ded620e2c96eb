// Instruction sets below the best that the machine has, so that one machine measures them all.
#pragma once

#include <hwy/targets.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nearfield::bench {

/// The library takes no other instruction set while it lives.
class only_simd {
public:
    explicit only_simd(std::int64_t level) {
        hwy::SetSupportedTargetsForTest(level);
        hwy::GetChosenTarget().Update(level);
    }
    ~only_simd() {
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().DeInit();
    }
    only_simd(const only_simd&) = delete;
    only_simd& operator=(const only_simd&) = delete;
};

/// Those that the build and the machine have, the best one left out, from good to plain. The last, plain C++ to Highway
/// 1.0.3, is what the least x86-64 runs: SSE2 in the exact engine's searches (exact/host_lanes.hpp).
inline std::vector<std::int64_t> lesser_simd() {
    std::vector<std::int64_t> levels;
    for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) levels.push_back(left & -left);
    if (!levels.empty()) levels.erase(levels.begin());
    return levels;
}

inline std::string name_of_simd(std::int64_t level) { return hwy::TargetName(level); }

}  // namespace nearfield::bench
