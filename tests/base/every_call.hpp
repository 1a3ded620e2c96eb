// Every public function of the host, on small arrays: for tests of what they all share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nearfield/nearfield.hpp"

namespace nearfield::test {

struct named_call {
    std::string name;
    std::function<std::uint64_t(const host&)> run;  ///< gives a hash of all outputs
};

/// Calls for images of `rows` by `columns` cells. Values and lengths are such that rounding and denormals show.
std::vector<named_call> every_call(std::int64_t rows, std::int64_t columns);

}  // namespace nearfield::test
