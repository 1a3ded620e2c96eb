// Calls every public function of the host on small arrays, for tests that concern all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nearfield/nearfield.hpp"

namespace nearfield::test {

struct named_call {
    std::string name;
    std::function<std::uint64_t(const host&)> run;  ///< returns a hash of all outputs
};

/// Calls for images of `rows` by `columns` cells, and for volumes of about as many cells. Values and lengths are chosen
/// so that changes in rounding and denormals alter the outputs.
std::vector<named_call> every_call(std::int64_t rows, std::int64_t columns);

/// Adds the calls for volumes, including everything that is made of distances.
void add_volume_calls(std::vector<named_call>& to, const extent<3>& shape);

}  // namespace nearfield::test
