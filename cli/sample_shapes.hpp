// Draws the shapes of the samples. Internal to sample.cpp and sample_*.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "cli/sample.hpp"

namespace nearfield::cli {

using point = std::array<std::int64_t, 3>;

/// A grid of bytes with three axes; an image has a first axis of length 1.
struct canvas {
    std::uint8_t* cells;
    point size;
    int axes;  ///< number that the caller asked for, 1 to 3; `size` is 1 along the others, which come first

    [[nodiscard]] std::int64_t count() const { return size[0] * size[1] * size[2]; }
    [[nodiscard]] std::uint8_t& at(const point& p) const { return cells[(p[0] * size[1] + p[1]) * size[2] + p[2]]; }
    [[nodiscard]] bool holds(const point& p) const {
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (p[axis] < 0 || p[axis] >= size[axis]) return false;
        return true;
    }
    /// True if the caller asked for this axis.
    [[nodiscard]] bool used(std::size_t axis) const { return static_cast<int>(axis) >= 3 - axes; }
    /// Length of the shortest axis that the caller asked for.
    [[nodiscard]] std::int64_t shortest() const;
};

/// Fills `labels`, an array of the canvas's size, with touching polygons. A share `density` of them have labels, from 1
/// up (after 65535 from 1 again); the others are 0. The canvas needs no cells.
void draw_labels(const canvas& on, std::uint16_t* labels, std::uint64_t seed, std::int64_t scale, double density);

/// Each function draws 255 on zeros. `scale` > 0 is the size of a feature in cells.
void draw_blobs(const canvas& on, std::uint64_t seed, std::int64_t scale, double density);
void draw_cells(const canvas& on, std::uint64_t seed, std::int64_t scale);
void draw_maze(const canvas& on, std::uint64_t seed, std::int64_t scale);
void draw_vessels(const canvas& on, std::uint64_t seed, std::int64_t scale);

}  // namespace nearfield::cli
