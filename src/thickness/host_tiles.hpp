// Parameters of the host's fast path, which is compiled for each instruction set.
#pragma once

#include "base/parallel.hpp"
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

/// Balls of at least this squared radius whose centre has no earlier neighbour are painted whole, before crescents.
inline constexpr std::int32_t lone_r2 = 36;

/// Paints all such balls.
void paint_lone(workers& team, const plain_call& call);

}  // namespace nearfield::thickness
