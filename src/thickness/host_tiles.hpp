// Parameters of the host's fast path, which is compiled for each instruction set.
#pragma once

#include "thickness/core.hpp"

namespace nearfield::thickness {

struct plain_call {
    const grid3& g;
    const std::int32_t* field = nullptr;
    std::int32_t* painted = nullptr;
    const std::uint32_t* table = nullptr;  ///< entries of table_entry()
    bool shared = false;                   ///< several threads paint
    std::int32_t planes = 1, rows = 1;     ///< size of a tile
};

}  // namespace nearfield::thickness
