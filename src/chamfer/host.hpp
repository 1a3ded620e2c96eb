// The checked problem that the public call hands to the host's engine.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "nearfield/chamfer.hpp"

namespace nearfield::chamfer {

struct problem {
    int rank = 0;
    std::array<std::int64_t, max_rank> size{};
    std::int64_t cells = 0;
    std::span<const std::int32_t> weight;  ///< 3^rank prices
    std::int32_t dearest = 0;
    bool two_passes = true;
    bool nonzero = false;      ///< true if nonzero cells are sites
    bool first_found = false;  ///< tie rule: the site found first stays
};

void run(const host& on, const problem& p, const any_input<host>& image, const chamfer_fields<host>& out);

}  // namespace nearfield::chamfer
