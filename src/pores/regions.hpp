// What is counted of regions and of their contacts, in integers and in any order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "nearfield/grid.hpp"

namespace nearfield::pores {

using place = std::array<std::int64_t, 3>;

/// Regions on a grid of three axes, those in front of length 1 where there are fewer.
struct grid {
    place size{1, 1, 1}, label_step{}, squared_step{};
    std::array<double, 3> length{1, 1, 1};
    std::array<border, 3> ends{};
    std::array<bool, 3> given{};  ///< axes of the arrays
    any_input<host> label, squared;
    int connectivity = 1;

    [[nodiscard]] std::int64_t cells() const { return size[0] * size[1] * size[2]; }
    [[nodiscard]] place at(std::int64_t cell) const {
        return {cell / size[2] / size[1], cell / size[2] % size[1], cell % size[2]};
    }
    /// The way from one cell to another; along periodic axes the shorter one, of equal ones forwards.
    [[nodiscard]] place way(const place& from, const place& to) const;
};

/// The largest value met, and its first cell. Values are squared distances, or their bits: these have the same order.
struct peak {
    std::uint64_t value = 0;
    std::int64_t cell = -1;

    void meet(std::uint64_t other, std::int64_t where) {
        if (cell < 0 || other > value || (other == value && where < cell)) value = other, cell = where;
    }
};

struct region {
    std::int64_t cells = 0;
    peak centre;
    place moved{};  ///< sum of the ways from the centre to all cells
};

struct touching {
    place faces{};  ///< across each axis
    peak pass;
};
using pair = std::pair<std::int64_t, std::int64_t>;  ///< of labels, the smaller first; or a side and a label

struct counted {
    std::vector<region> regions;  ///< by label - 1; those without cells are none
    std::map<pair, touching> contacts, sides;
};

/// Throws for labels below 0, or above the number of cells.
counted count(const host& on, const grid& g, bool sides);

}  // namespace nearfield::pores
