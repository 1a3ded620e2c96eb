// What makes implementations of connected components go wrong, each by its name, for every backend.
#pragma once

#include <gtest/gtest.h>

#include "label/call.hpp"

namespace nearfield::test {

struct trap {
    const char* name;
    /// Fails the running test where the engine falls into it.
    void (*check)(const label_engine& engine);
};
const std::vector<trap>& traps();

inline std::string name_of_trap(const testing::TestParamInfo<trap>& info) { return info.param.name; }

}  // namespace nearfield::test
