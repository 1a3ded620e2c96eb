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

/// Calls for images of `rows` by `columns` cells, and for volumes of as many. Values and lengths are such that rounding
/// and denormals show.
std::vector<named_call> every_call(std::int64_t rows, std::int64_t columns);

/// Those for volumes, among them all of what is made of distances.
void add_volume_calls(std::vector<named_call>& to, const extent<3>& shape);

}  // namespace nearfield::test
