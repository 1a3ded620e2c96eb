// The list of images on which connected components are tested on every backend. Each shape names the path that it
// reaches.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "exact/cases.hpp"
#include "exact/fills.hpp"

namespace nearfield::test {

// Over 40 lines because it is one table.
inline const std::vector<shape_case>& label_shapes() {
    static const std::vector<shape_case> list = {
        {{0}, "an empty line"},
        {{0, 5}, "no rows"},
        {{5, 0}, "rows of nothing"},
        {{3, 0, 4}, "an empty axis in the middle"},
        {{1}, "one cell"},
        {{1, 1, 1}, "one cell of a volume"},
        {{31}, "1-D, one below half a word"},
        {{32}, "1-D, half a word"},
        {{33}, "1-D, one above half a word"},
        {{63}, "1-D, one below a word"},
        {{64}, "1-D, exactly one word"},
        {{65}, "1-D, one above a word"},
        {{1025}, "1-D, many words and one cell"},
        {{1, 129}, "a single row"},
        {{129, 1}, "a single column: every row has one cell, turned"},
        {{2, 2}, "the smallest square"},
        {{7, 13}, "2-D, primes, less than a word wide"},
        {{31, 33}, "2-D, around half a word"},
        {{33, 31}, "2-D, the same turned"},
        {{32, 32}, "2-D, half words"},
        {{17, 63}, "2-D, one below a word: the last bit of a word is empty"},
        {{17, 64}, "2-D, whole words: diagonals cross from word to word"},
        {{17, 65}, "2-D, one above a word: a word with one bit"},
        {{64, 64}, "2-D, a square tile of a word"},
        {{65, 129}, "2-D, more than one tile both ways"},
        {{61, 47}, "2-D, primes"},
        {{2, 200}, "2-D, wide and two high"},
        {{200, 2}, "2-D, tall and two wide, turned"},
        {{3, 5, 7}, "3-D, small primes"},
        {{8, 8, 8}, "3-D, a cube of a power of two"},
        {{1, 19, 23}, "3-D, one plane: equals the image"},
        {{19, 1, 23}, "3-D, middle axis of length 1"},
        {{19, 23, 1}, "3-D, contiguous axis of length 1"},
        {{5, 6, 63}, "3-D, rows one below a word"},
        {{5, 6, 64}, "3-D, rows of a word"},
        {{5, 6, 65}, "3-D, rows one above a word"},
        {{2, 33, 31}, "3-D, two planes"},
        {{33, 9, 17}, "3-D, many planes"},
        {{70, 5, 3}, "3-D, short rows, turned along the first axis"},
        {{3, 70, 15}, "3-D, short rows, turned along the middle axis"},
    };
    return list;
}

/// Shapes for a few figures and options.
inline const std::vector<shape_case>& large_label_shapes() {
    static const std::vector<shape_case> list = {
        {{70001}, "1-D, several tasks"},
        {{1023, 31}, "2-D, one below 1024 rows"},
        {{1024, 33}, "2-D, 1024 rows"},
        {{1025, 65}, "2-D, one above 1024 rows"},
        {{33, 1023}, "2-D, rows one below 1024 cells"},
        {{31, 1024}, "2-D, rows of 1024 cells"},
        {{65, 1025}, "2-D, rows one above 1024 cells"},
        {{257, 255}, "2-D, several tiles and bands"},
        {{40, 41, 43}, "3-D, several tiles, primes"},
        {{64, 64, 64}, "3-D, whole tiles"},
        {{3, 65, 130}, "3-D, a slab"},
        {{130, 65, 3}, "3-D, short rows, turned along the last of two long axes"},
        {{40001, 2}, "2-D, short rows, turned in several tiles"},
    };
    return list;
}

enum class figure {
    nothing,
    full,
    one,           ///< one cell somewhere
    checkerboard,  ///< the most components with the smallest connectivity, one with the largest
    apart,         ///< every second cell along every axis: the most components with the largest connectivity
    parity,        ///< cells whose coordinates are all even or all odd: the most components for 18 neighbours
    comb,          ///< teeth that only the last row joins: the longest chains upwards
    comb_down,     ///< teeth that the first row joins
    u_shapes,      ///< pairs of columns that meet at the bottom, nested
    spiral,        ///< one winding component in every plane; planes are joined at one end
    giant,         ///< all but a few cells
    planes,        ///< every second plane along the first axis, joined by a bridge
    stripes,       ///< every second cell of each row: most runs, long columns
    diagonal,      ///< runs that touch only by corners
    sparse,        ///< random, 10 %
    percolation6,  ///< random, 31 %
    percolation8,  ///< random, 41 %
    half,          ///< random, 50 %
    percolation4,  ///< random, 59 %
    dense,         ///< random, 90 %
    grains4,       ///< blocks of 4 cells a side, 50 %
    grains16,      ///< blocks of 16 cells a side, 50 %
};
inline constexpr figure all_figures[] = {
    figure::nothing,      figure::full,         figure::one,       figure::checkerboard, figure::apart,
    figure::parity,       figure::comb,         figure::comb_down, figure::u_shapes,     figure::spiral,
    figure::giant,        figure::planes,       figure::stripes,   figure::diagonal,     figure::sparse,
    figure::percolation6, figure::percolation8, figure::half,      figure::percolation4, figure::dense,
    figure::grains4,      figure::grains16};

/// Random value, of `choices`, of a block of `grain` cells a side; the same on every machine.
inline std::uint64_t grain_value(const shape_t& at, std::int64_t grain, std::uint64_t choices, std::uint64_t seed) {
    std::uint64_t hash = seed;
    for (const std::int64_t x : at) hash = mix(hash * 31 + static_cast<std::uint64_t>(x / grain));
    return hash % choices;
}

/// True for cells on a spiral through the plane of the last two axes, whose arms lie two cells apart.
inline bool on_spiral(std::int64_t y, std::int64_t x, std::int64_t rows, std::int64_t columns) {
    const std::int64_t ring = std::min(std::min(y, x), std::min(rows - 1 - y, columns - 1 - x));
    if (ring % 2 == 0) return !(y == ring + 1 && x == ring && ring + 1 < rows - 1 - ring);
    return y == ring && x == ring + 1;  // the passage to the next arm
}

inline shape_t middle_of(const shape_t& shape) {
    shape_t at = shape;
    for (std::int64_t& x : at) x /= 2;
    return at;
}

/// True if the cell at `at` of a grid of `shape` belongs to the figure.
inline bool in_figure(figure kind, const shape_t& at, const shape_t& shape, std::uint64_t seed) {
    const std::size_t last = shape.size() - 1;
    const std::int64_t x = at[last], y = last > 0 ? at[last - 1] : 0, z = last > 1 ? at[0] : 0;
    const std::int64_t rows = last > 0 ? shape[last - 1] : 1;
    std::int64_t sum = 0, odd = 0;
    for (const std::int64_t c : at) sum += c, odd += c % 2;
    const auto random = [&](std::uint64_t percent) { return grain_value(at, 1, 100, seed) < percent; };
    switch (kind) {
        case figure::nothing: return false;
        case figure::full: return true;
        case figure::one: return at == middle_of(shape);
        case figure::checkerboard: return sum % 2 == 0;
        case figure::apart: return odd == 0;
        case figure::parity: return odd == 0 || odd == static_cast<std::int64_t>(at.size());
        case figure::comb: return x % 2 == 0 || y == rows - 1;
        case figure::comb_down: return x % 2 == 0 || y == 0;
        case figure::u_shapes: {
            const std::int64_t ring = std::min(x % 16, 15 - x % 16);  // nested, 16 columns wide
            return (ring % 2 == 0 && y <= rows - 1 - ring) || ((rows - 1 - y) % 2 == 0 && rows - 1 - y <= ring);
        }
        case figure::spiral: return on_spiral(y, x, rows, shape[last]) && (z % 2 == 0 || (x == 0 && y == 0));
        case figure::giant: return !random(5);
        case figure::planes: return at[0] % 2 == 0 || (x == shape[last] - 1 && y == rows - 1);
        case figure::stripes: return x % 2 == 0;
        case figure::diagonal: return (x / 3 + y + z) % 2 == 0;
        case figure::sparse: return random(10);
        case figure::percolation6: return random(31);
        case figure::percolation8: return random(41);
        case figure::half: return random(50);
        case figure::percolation4: return random(59);
        case figure::dense: return random(90);
        case figure::grains4: return grain_value(at, 4, 2, seed) == 0;
        case figure::grains16: return grain_value(at, 16, 2, seed) == 0;
    }
    return false;
}

/// An array with one value a cell in C order: f(coordinates).
template <class F>
auto over(const shape_t& shape, const F& f) {
    std::vector<decltype(f(shape))> all;
    const std::int64_t cells = cells_of(shape);
    for (std::int64_t i = 0; i < cells; ++i) {
        shape_t at(shape.size());
        std::int64_t rest = i;
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) at[axis] = rest % shape[axis];
        all.push_back(f(at));
    }
    return all;
}

inline flags_t make_figure(figure kind, const shape_t& shape, std::uint64_t seed = 1) {
    return over(shape, [&](const shape_t& at) { return static_cast<std::uint8_t>(in_figure(kind, at, shape, seed)); });
}

inline std::string name_of(figure kind) {
    constexpr const char* names[] = {"nothing",      "full",     "one",     "checkerboard", "apart",        "parity",
                                     "comb",         "combdown", "ushapes", "spiral",       "giant",        "planes",
                                     "stripes",      "diagonal", "sparse",  "percolation6", "percolation8", "half",
                                     "percolation4", "dense",    "grains4", "grains16"};
    return names[static_cast<int>(kind)];
}

/// The generator of the speed tables (docs/performance.md): blocks of g cells a side in raster order are foreground
/// with a probability of d percent.
inline flags_t granular(std::int64_t n, std::int64_t g, unsigned d, unsigned sample) {
    std::mt19937 random(1000 * static_cast<unsigned>(g) + d + 1000000 * sample);
    const std::int64_t blocks = (n + g - 1) / g;
    flags_t block(static_cast<std::size_t>(blocks * blocks)), image(static_cast<std::size_t>(n * n));
    for (auto& one : block) one = random() % 100 < d;
    for (std::int64_t y = 0; y < n; ++y)
        for (std::int64_t x = 0; x < n; ++x)
            image[static_cast<std::size_t>(y * n + x)] = block[static_cast<std::size_t>(y / g * blocks + x / g)];
    return image;
}

}  // namespace nearfield::test
