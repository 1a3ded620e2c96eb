// The shapes behind the samples. Internal to sample.cpp and sample_*.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "cli/sample.hpp"

namespace nearfield::cli {

using point = std::array<std::int64_t, 3>;

/// A byte grid of three axes; images have a first axis of length 1.
struct canvas {
    std::uint8_t* cells;
    point size;
    int axes;  ///< that the caller asked for: 1, 2 or 3; leading ones of `size` are 1

    [[nodiscard]] std::int64_t count() const { return size[0] * size[1] * size[2]; }
    [[nodiscard]] std::uint8_t& at(const point& p) const { return cells[(p[0] * size[1] + p[1]) * size[2] + p[2]]; }
    [[nodiscard]] bool holds(const point& p) const {
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (p[axis] < 0 || p[axis] >= size[axis]) return false;
        return true;
    }
    /// Is this one of the axes the caller asked for?
    [[nodiscard]] bool used(std::size_t axis) const { return static_cast<int>(axis) >= 3 - axes; }
    /// Shortest of the axes asked for.
    [[nodiscard]] std::int64_t shortest() const;
};

/// Fills `labels`, an array of the canvas's size: touching polygons, each with a number of its own from 1 up (after
/// 65535 from 1 again), `density` of them; the others are 0. The canvas needs no cells.
void draw_labels(const canvas& on, std::uint16_t* labels, std::uint64_t seed, std::int64_t scale, double density);

/// Each draws 255 on zeros. `scale` > 0 is the size of a feature, in cells.
void draw_blobs(const canvas& on, std::uint64_t seed, std::int64_t scale, double density);
void draw_cells(const canvas& on, std::uint64_t seed, std::int64_t scale);
void draw_maze(const canvas& on, std::uint64_t seed, std::int64_t scale);
void draw_vessels(const canvas& on, std::uint64_t seed, std::int64_t scale);

}  // namespace nearfield::cli
