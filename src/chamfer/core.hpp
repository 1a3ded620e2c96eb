// The mathematics of step distances: the numbers of steps, the condition under which two passes suffice, and limits
// within which sums fit.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "nearfield/grid.hpp"

namespace nearfield::chamfer {

/// 3^power. Steps are numbered in C order over (-1, 0, 1) along every axis.
constexpr std::int64_t three_to(int power) {
    std::int64_t n = 1;
    for (int i = 0; i < power; ++i) n *= 3;
    return n;
}
/// The number of the step to the cell itself. Smaller numbers lead to cells that come before in raster order.
constexpr std::int64_t middle_of(int rank) { return three_to(rank) / 2; }

/// Direction of step number `step` along an axis: -1, 0 or 1.
constexpr int along(std::int64_t step, int axis, int rank) {
    return static_cast<int>(step / three_to(rank - 1 - axis) % 3) - 1;
}

/// True if every step may be replaced, at no higher price, by the same step without one of its axes. Then two raster
/// passes, forward and backward, find every cheapest path. If two of its steps go opposite ways along an axis, both
/// can drop that axis, so some cheapest path never turns back. Its steps may be taken in any order without leaving
/// the grid, and so in the order of the passes. All cells on it have its site among their nearest, so ties resolve
/// too.
constexpr bool regular(std::span<const std::int32_t> weight, int rank) {
    const std::int64_t middle = middle_of(rank);
    for (std::int64_t step = 0; step < three_to(rank); ++step) {
        const std::int32_t price = weight[static_cast<std::size_t>(step)];
        if (step == middle || price == 0) continue;
        for (int axis = 0; axis < rank; ++axis) {
            const std::int64_t rest = step - along(step, axis, rank) * three_to(rank - 1 - axis);
            if (rest == step || rest == middle) continue;
            const std::int32_t lower = weight[static_cast<std::size_t>(rest)];
            if (lower == 0 || lower > price) return false;
        }
    }
    return true;
}

/// Upper bound of the longest cheapest path: without turning back each step advances along some axis; otherwise no path
/// visits a cell twice. A double, because it may exceed every integer.
constexpr double longest_path(const std::int64_t* size, int rank, bool is_regular, std::int32_t dearest) {
    double steps = 0, cells = 1;
    for (int axis = 0; axis < rank; ++axis) {
        steps += static_cast<double>(size[axis] - 1);
        cells *= static_cast<double>(size[axis]);
    }
    return (is_regular ? steps : cells - 1) * dearest;
}

/// Distance of cells without a path. One more step does not overflow, and the value exceeds every real distance.
constexpr std::int32_t unreached(std::int32_t dearest) { return std::numeric_limits<std::int32_t>::max() - dearest; }

/// The state that passes from cell to cell: the distance, or with sites the distance in the high half and the site's
/// number in the low one, last axis most significant. The smaller of two states is the answer, ties included.
template <class State>
constexpr State state_of(std::int32_t distance, std::uint32_t site) {
    if constexpr (sizeof(State) == 4) return distance;
    else return static_cast<State>(distance) << 32 | site;
}
template <class State>
constexpr std::int32_t distance_in(State s) {
    if constexpr (sizeof(State) == 4) return s;
    else return static_cast<std::int32_t>(s >> 32);
}
/// True if a cell with state `held` takes an offer. `FirstFound`: it keeps its site if the distances are
/// equal.
template <bool FirstFound, class State>
constexpr bool better(State offer, State held) {
    if constexpr (FirstFound) return distance_in(offer) < distance_in(held);
    else return offer < held;
}
/// The state that a step adds.
template <class State>
constexpr State price_of(std::int32_t weight) {
    return state_of<State>(weight, 0);
}

namespace self_check {
constexpr std::array<std::int32_t, 9> chess{1, 1, 1, 1, 0, 1, 1, 1, 1}, city{0, 1, 0, 1, 0, 1, 0, 1, 0};
constexpr std::array<std::int32_t, 9> weighted{4, 3, 4, 3, 0, 3, 4, 3, 4}, bishop{1, 0, 1, 0, 0, 0, 1, 0, 1};
constexpr std::array<std::int32_t, 9> cheap_corner{1, 2, 1, 2, 0, 2, 1, 2, 1}, one_way{0, 1, 0, 0, 0, 0, 0, 0, 0};
static_assert(regular(chess, 2) && regular(city, 2) && regular(weighted, 2) && regular(one_way, 2));
static_assert(!regular(bishop, 2) && !regular(cheap_corner, 2));
static_assert(along(0, 0, 2) == -1 && along(5, 0, 2) == 0 && along(5, 1, 2) == 1 && middle_of(2) == 4);
static_assert(state_of<std::int64_t>(7, 0xffffffffU) < state_of<std::int64_t>(8, 0));
static_assert(better<false>(state_of<std::int64_t>(7, 1), state_of<std::int64_t>(7, 2)) &&
              !better<true>(state_of<std::int64_t>(7, 1), state_of<std::int64_t>(7, 2)));
static_assert(distance_in(state_of<std::int64_t>(unreached(5), 0xffffffffU) + price_of<std::int64_t>(5)) ==
              std::numeric_limits<std::int32_t>::max());
}  // namespace self_check

}  // namespace nearfield::chamfer
