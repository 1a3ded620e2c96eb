// Images on which implementations of connected components go wrong, each with a name, for every backend.
#pragma once

#include <gtest/gtest.h>

#include "label/call.hpp"

namespace nearfield::test {

struct trap {
    const char* name;
    /// Fails the running test if the engine gives a wrong result.
    void (*check)(const label_engine& engine);
};
const std::vector<trap>& traps();

inline std::string name_of_trap(const testing::TestParamInfo<trap>& info) { return info.param.name; }

}  // namespace nearfield::test
