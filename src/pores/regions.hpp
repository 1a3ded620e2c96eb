// Counts of regions and of their contacts, in integers that do not depend on order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "nearfield/grid.hpp"

namespace nearfield::pores {

using place = std::array<std::int64_t, 3>;

/// Regions on a grid of three axes; missing axes are put in front and have length 1.
struct grid {
    place size{1, 1, 1}, label_step{}, squared_step{};
    std::array<double, 3> length{1, 1, 1};
    std::array<border, 3> ends{};
    std::array<bool, 3> given{};  ///< true for axes that the arrays have
    any_input<host> label, squared;
    int connectivity = 1;

    [[nodiscard]] std::int64_t cells() const { return size[0] * size[1] * size[2]; }
    [[nodiscard]] place at(std::int64_t cell) const {
        return {cell / size[2] / size[1], cell / size[2] % size[1], cell % size[2]};
    }
    /// The vector from one cell to another. Along periodic axes it is the shorter one; of equal ones the forward one.
    [[nodiscard]] place way(const place& from, const place& to) const;
};

/// The largest value and its first cell. Values are squared distances or, for doubles, their bits in the same order.
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
    place moved{};  ///< sum of the vectors from the centre to all cells
};

struct touching {
    place faces{};  ///< number of shared faces, by axis
    peak pass;
};
using pair = std::pair<std::int64_t, std::int64_t>;  ///< two labels, the smaller first; or a side and a label

struct counted {
    std::vector<region> regions;  ///< by label - 1; one without cells is no region
    std::map<pair, touching> contacts, sides;
};

/// Throws if a label is below 0 or above the number of cells.
counted count(const host& on, const grid& g, bool sides);

}  // namespace nearfield::pores
