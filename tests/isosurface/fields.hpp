// Fields that the tests of isosurfaces share.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "mesh/shapes.hpp"

namespace nearfield::test {

/// Random integers below `levels`.
inline std::vector<float> random_field(const shape_t& shape, std::uint64_t seed, int levels) {
    std::vector<float> field;
    for (std::int64_t i = 0; i < cells_of(shape); ++i)
        field.push_back(
            static_cast<float>(std::floor(levels * uniform(seed * 100000 + static_cast<std::uint64_t>(i)))));
    return field;
}

}  // namespace nearfield::test
