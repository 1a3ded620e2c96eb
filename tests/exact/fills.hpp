// Patterns of sites for test grids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nearfield::test {

using shape_t = std::vector<std::int64_t>;
using flags_t = std::vector<std::uint8_t>;  ///< C order, 1 for a site

enum class fill {
    none,          ///< no site anywhere
    all,           ///< every cell
    one,           ///< one cell in the interior
    first,         ///< the first cell in C order: the smallest key of all
    last,          ///< the last cell in C order
    corners,       ///< two opposite corners
    border,        ///< the whole surface, so that the middle ties with many sites
    circle,        ///< cells at equal distance from the centre
    checkerboard,  ///< every second cell, so that a cell has 2 * rank ties
    diagonal,      ///< one site in every row and column
    half,          ///< the first half along the last axis, which leads to long one-sided searches
    rows,          ///< whole lines along the last axis, a few of them
    columns,       ///< whole lines along the first axis
    sparse4,       ///< random, 0.0001 (at least one site)
    sparse3,       ///< random, 0.001
    percent,       ///< random, 0.01
    tenth,         ///< random, 0.1
    fifty,         ///< random, 0.5
    ninety,        ///< random, 0.9
    balls,         ///< solid balls of sites
    holes,         ///< everything but solid balls
    shells         ///< surfaces of balls, one or two cells thick
};

inline constexpr fill all_fills[] = {fill::none,    fill::all,    fill::one,     fill::first,        fill::last,
                                     fill::corners, fill::border, fill::circle,  fill::checkerboard, fill::diagonal,
                                     fill::half,    fill::rows,   fill::columns, fill::sparse4,      fill::sparse3,
                                     fill::percent, fill::tenth,  fill::fifty,   fill::ninety,       fill::balls,
                                     fill::holes,   fill::shells};

std::string name_of(fill kind);

/// 64 mixed bits by splitmix64's output function (Steele, Lea, Flood 2014), so that tests need no generator state.
constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

std::int64_t cells_of(const shape_t& shape);

/// Makes a fill; the same arguments give the same flags on every machine.
flags_t make_fill(fill kind, const shape_t& shape, std::uint64_t seed = 1);
flags_t make_random(const shape_t& shape, double density, std::uint64_t seed);

}  // namespace nearfield::test
