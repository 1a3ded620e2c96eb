#include "chamfer/steps.hpp"

#include <cstdlib>

namespace nearfield::methods {
namespace {

void add(step_list& to, const step& one) { to.at[to.count++] = one; }

void add_knights_moves(step_list& to, std::int32_t price) {
    for (std::int32_t y : {-2, -1, 1, 2})
        for (std::int32_t x : {-2, -1, 1, 2})
            if (std::abs(y) != std::abs(x)) add(to, {0, y, x, price});
}

}  // namespace

step_list steps_of(const chamfer_method& how, int rank) {
    const weight_list weight = weights_of(how);
    step_list all;
    for (std::int32_t z = -1; z <= 1; ++z)
        for (std::int32_t y = -1; y <= 1; ++y)
            for (std::int32_t x = -1; x <= 1; ++x) {
                if ((z != 0 && rank < 3) || (y != 0 && rank < 2)) continue;
                const auto changed = static_cast<std::size_t>((z != 0) + (y != 0) + (x != 0));
                if (changed > 0 && changed <= weight.count) add(all, {z, y, x, weight.at[changed - 1]});
            }
    if (has_knights(how, rank)) add_knights_moves(all, weight.at[2]);
    return all;
}

}  // namespace nearfield::methods
