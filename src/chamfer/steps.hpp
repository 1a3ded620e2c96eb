// Steps of the method `chamfer`: to adjacent cells and, in images, by knight's moves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "methods/core.hpp"

namespace nearfield::methods {

/// A step from a cell, and its price. Kernels take it by value, in a list of at most `most_steps`.
struct step {
    std::int32_t z, y, x, price;
};
inline constexpr int most_steps = 26;
struct step_list {
    step at[most_steps];
    int count = 0;
};

/// The steps of a grid whose last `rank` axes are the image's. Weights (a, b, c): a is the price of changing one
/// coordinate by one, b of changing two, c of changing three. In images c is the price of a knight's move, which
/// changes one coordinate by one and the other by two.
step_list steps_of(const chamfer_method& how, int rank);

/// The given weights or the usual ones, and their number.
struct weight_list {
    std::array<std::int32_t, 3> at;
    std::size_t count;
};
constexpr weight_list weights_of(const chamfer_method& how) {
    if (how.weights[0] == 0) return {{3, 4, 5}, 3};
    return {how.weights, how.weights[1] == 0 ? std::size_t{1} : how.weights[2] == 0 ? std::size_t{2} : std::size_t{3}};
}
/// True if images have knight's moves.
constexpr bool has_knights(const chamfer_method& how, int rank) { return rank == 2 && how.weights[2] != 0; }

/// A cell's state: the price in the high half, the site's number in the low one, last axis most significant. The
/// smaller of two states is the answer, ties included, so rounds end in the same states whatever their order.
using state = std::int64_t;
NF_HD constexpr state state_of(std::int32_t price, std::uint32_t site) {
    return static_cast<state>(price) << 32 | site;
}
/// State of a cell without a path. One more step does not overflow.
inline constexpr state unreached = state_of(0x7fffffff - (1 << 21), 0xffffffffU);

/// A cell's number in the order that `state` uses.
NF_HD constexpr std::uint32_t number_of(const std::int64_t* size, std::int64_t z, std::int64_t y, std::int64_t x) {
    return static_cast<std::uint32_t>((x * size[1] + y) * size[0] + z);
}
template <class Key>
NF_HD constexpr Key key_of(const packing& keys, const std::int64_t* size, std::uint32_t number) {
    const auto nz = static_cast<std::uint32_t>(size[0]), ny = static_cast<std::uint32_t>(size[1]);
    return keys.pack<Key>(number % nz, number / nz % ny, number / nz / ny);
}

}  // namespace nearfield::methods
