// Loops over the rows of a picture, divided among threads.
#pragma once

#include <algorithm>

#include "base/parallel.hpp"

namespace nearfield::effects {

/// Calls body(row) for all rows; reports progress.
template <class Body>
void for_rows(const host& on, std::int64_t rows, std::int64_t columns, const Body& body) {
    constexpr std::int64_t at_once = 1 << 13;  // pixels
    workers team(on, rows * columns);
    team.for_each(rows, std::max<std::int64_t>(at_once / columns, 1), columns,
                  [&](std::int64_t first, std::int64_t last, int) {
                      for (std::int64_t row = first; row < last; ++row) body(row);
                  });
}

}  // namespace nearfield::effects
