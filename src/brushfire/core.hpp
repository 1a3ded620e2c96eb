// The neighbours of a cell: of every axis longer than one cell, all that touch it.
#pragma once

#include <cstdint>

#include "methods/core.hpp"

namespace nearfield::methods {

/// Calls body(z, y, x) for the cells of a grid that touch cell (z, y, x).
template <class Body>
NF_HD inline void each_neighbour(const std::int64_t* size, std::int32_t z, std::int32_t y, std::int32_t x,
                                 const Body& body) {
    for (std::int32_t dz = -1; dz <= 1; ++dz)
        for (std::int32_t dy = -1; dy <= 1; ++dy)
            for (std::int32_t dx = -1; dx <= 1; ++dx) {
                const std::int32_t oz = z + dz, oy = y + dy, ox = x + dx;
                if ((dz | dy | dx) == 0 || oz < 0 || oz >= size[0] || oy < 0 || oy >= size[1] || ox < 0 ||
                    ox >= size[2])
                    continue;
                body(oz, oy, ox);
            }
}

}  // namespace nearfield::methods
