// One pass along one axis of a partial field that the caller keeps, on either place.
#pragma once

#include <array>
#include <cstdint>

#include "exact/core.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::exact {

/// An input array of `before` x `rows` x `after` elements and an output array, which may be the same.
struct partial_array {
    const void* from = nullptr;
    void* to = nullptr;
    dtype type = dtype::uint8;
};

struct partial_pass {
    std::int64_t before = 1, rows = 1, after = 1;
    partial_array squared, site, label;
    double weight = 1;  ///< squared length of a step along the axis
    bool periodic = false, half_cell = false;
    int axis = 0, rank = 0;  ///< axis and rank of the whole grid, with sites
    std::array<std::int64_t, max_rank> size{};
    key_layout keys{};

    [[nodiscard]] std::int64_t cells() const { return before * rows * after; }
    /// Returns the largest distance of two cells of a line.
    [[nodiscard]] std::int64_t farthest() const { return periodic ? rows / 2 : rows - 1; }
    /// Returns the largest term.
    [[nodiscard]] double most() const {
        const auto steps = static_cast<double>(reach(farthest(), half_cell));
        return weight * steps * steps;
    }
};

/// Throws error(invalid_argument) if integers reach 2^62, or their type's maximum.
void solve_partial(const host& on, const partial_pass& p);
/// Does not read the field first: throws if terms alone reach that, and treats larger sums as no site.
void solve_partial(const device& on, const partial_pass& p);

/// Throws error(invalid_argument) unless squares of `type` hold values up to `largest` and the terms of a line.
void check_fits(const partial_pass& p, double largest);

}  // namespace nearfield::exact
