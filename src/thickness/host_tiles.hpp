// Parameters of the host's fast path, which is compiled for each instruction set.
#pragma once

#include "base/parallel.hpp"
#include "thickness/walk.hpp"

namespace nearfield::thickness {

struct plain_call {
    const grid3& g;
    const metric<std::int32_t>& m;
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
/// Paints the crescents of the others.
void paint_crescents(workers& team, const plain_call& call);

}  // namespace nearfield::thickness
