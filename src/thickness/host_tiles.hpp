// What the host's fast way is called with, for each instruction set.
#pragma once

#include "thickness/core.hpp"

namespace nearfield::thickness {

struct plain_call {
    const grid3& g;
    const std::int32_t* field = nullptr;
    std::int32_t* painted = nullptr;
    const std::uint32_t* table = nullptr;  ///< of table_entry()
    bool shared = false;                   ///< by several threads
    std::int32_t planes = 1, rows = 1;     ///< of a tile
};

}  // namespace nearfield::thickness
