#include "chessboard/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "scale.hpp"

namespace nearfield::test {
namespace {

constexpr std::int32_t none = 0x7fffffff;

shape_t place_of(std::int64_t cell, const shape_t& shape) {
    shape_t at(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) at[axis] = cell % shape[axis], cell /= shape[axis];
    return at;
}

/// Number of steps from p to q along one axis, or -1 if q is on the wrong side.
std::int64_t along(std::int64_t p, std::int64_t q, std::int64_t n, border ends, int side) {
    const std::int64_t up = q >= p ? q - p : ends == border::periodic ? q - p + n : -1;
    const std::int64_t down = q <= p ? p - q : ends == border::periodic ? p - q + n : -1;
    if (side > 0) return up;
    if (side < 0) return down;
    return up < 0 ? down : down < 0 ? up : std::min(up, down);
}

std::vector<shape_t> sites_of(const step_case& c) {
    std::vector<shape_t> all;
    for (std::int64_t cell = 0; cell < cells_of(c.shape); ++cell)
        if ((c.mask[static_cast<std::size_t>(cell)] != 0) == (c.options.sites == sites::nonzero))
            all.push_back(place_of(cell, c.shape));
    return all;
}

std::int32_t expected(const step_case& c, const std::vector<shape_t>& sites, std::int64_t cell) {
    const step_options& o = c.options;
    const shape_t p = place_of(cell, c.shape);
    std::int64_t best = none;
    for (const shape_t& q : sites) {
        std::int64_t sum = 0, most = 0;
        bool counts = true;
        for (std::size_t axis = 0; axis < p.size(); ++axis) {
            const int k = static_cast<int>(axis);
            if (k < o.batch_axes) {
                counts = counts && p[axis] == q[axis];
                continue;
            }
            const std::int64_t one = along(p[axis], q[axis], c.shape[axis], o.border[k], o.side[axis]);
            counts = counts && one >= 0, sum += one, most = std::max(most, one);
        }
        if (counts) best = std::min(best, c.diagonal ? most : sum);
    }
    for (std::size_t axis = static_cast<std::size_t>(o.batch_axes); axis < p.size(); ++axis) {
        if (o.border[static_cast<int>(axis)] != border::closed) continue;
        if (o.side[axis] <= 0) best = std::min(best, p[axis] + 1);
        if (o.side[axis] >= 0) best = std::min(best, c.shape[axis] - p[axis]);
    }
    return static_cast<double>(best) > o.max_distance ? none : static_cast<std::int32_t>(best);
}

step_case drawn(std::uint64_t seed, bool sides) {
    step_case c;
    std::uint64_t state = seed;
    const auto below = [&](std::uint64_t n) { return static_cast<int>((state = mix(state)) % n); };
    const int rank = 1 + below(4);
    border ends[4];
    for (int axis = 0; axis < rank; ++axis) {
        c.shape.push_back(below(5) == 0 ? 1 : 1 + below(rank < 3 ? 12 : rank == 3 ? 8 : 5));
        ends[axis] = static_cast<border>(below(3) == 0 ? below(3) : 0);
        if (sides && seed % 3 == 0)
            c.options.side[static_cast<std::size_t>(axis)] = static_cast<std::int8_t>(below(3) - 1);
    }
    const double densities[] = {0, 0.02, 0.02, 0.2, 0.5, 1};
    c.mask = make_random(c.shape, densities[below(6)], seed);
    c.diagonal = below(2) == 0;
    c.options.border = borders(ends, static_cast<std::size_t>(rank));
    c.options.sites = below(2) == 0 ? sites::zero : sites::nonzero;
    if (below(4) == 0) c.options.max_distance = 1 + below(4) / 2.0;
    if (rank > 1 && below(3) == 0) c.options.batch_axes = 1 + below(static_cast<std::uint64_t>(rank - 1));
    return c;
}

/// A case whose axis `axis` has n cells; with few sites if it has many.
step_case of_length(std::int64_t n, border ends, bool diagonal, std::uint64_t seed) {
    step_case c;
    std::uint64_t state = seed;
    const auto below = [&](std::uint64_t m) { return static_cast<int>((state = mix(state)) % m); };
    const std::int64_t across = 1 + below(n > 2000 ? 2 : n > 200 ? 4 : 36);
    c.shape =
        std::vector<shape_t>{{n, across}, {across, n}, {2, n, (across + 1) / 2}, {3, 2, n}}[seed % (n > 2000 ? 2 : 4)];
    c.diagonal = diagonal;
    c.options.border = ends;
    c.options.sites = sites::nonzero;
    const std::int64_t cells = cells_of(c.shape);
    const double few = std::min(1.0, 12.0 / static_cast<double>(cells));
    const double densities[] = {0, few, few, cells < 1500 ? 0.1 : few, cells < 1500 ? 1 : few};
    c.mask = make_random(c.shape, densities[below(5)], seed);
    if (below(2) == 0) {
        std::ranges::fill(c.mask, std::uint8_t{0});
        c.mask[static_cast<std::size_t>(below(static_cast<std::uint64_t>(cells)))] = 1;
    }
    if (below(4) == 0) c.options.max_distance = 1 + below(static_cast<std::uint64_t>(n));
    return c;
}

/// True for the eleven cells or ten in the middle of every axis.
bool in_hole(std::int64_t cell, const shape_t& shape) {
    const shape_t at = place_of(cell, shape);
    for (std::size_t axis = 0; axis < at.size(); ++axis)
        if (std::abs(2 * at[axis] - shape[axis]) > 10) return false;
    return true;
}

/// One more than the least of `found` beside a cell.
std::int32_t stepped(const step_case& c, const std::vector<std::int32_t>& found, std::int64_t cell) {
    const shape_t at = place_of(cell, c.shape);
    std::int64_t steps = 1;
    for (std::size_t axis = 0; axis < at.size(); ++axis) steps *= 3;
    std::int32_t least = none - 1;
    for (std::int64_t step = 0; step < steps; ++step) {
        std::int64_t other = 0, moved = 0, left = step;
        bool beyond = false, outside = false;
        for (std::size_t axis = 0; axis < at.size(); ++axis, left /= 3) {
            const std::int64_t n = c.shape[axis], by = left % 3 - 1, to = at[axis] + by;
            const border ends = c.options.border[static_cast<int>(axis)];
            moved += by != 0 ? 1 : 0;
            if (to < 0 || to >= n) (ends == border::closed ? beyond : outside) |= ends != border::periodic;
            other = other * n + (to + n) % n;
        }
        if (moved == 0 || (moved > 1 && !c.diagonal) || outside) continue;
        least = std::min(least, beyond ? 0 : found[static_cast<std::size_t>(other)]);
    }
    return least + 1;
}

void check(const step_runner& run, const step_case& c, std::uint64_t seed) {
    const std::vector<std::int32_t> found = run(c);
    const std::vector<shape_t> sites = sites_of(c);
    for (std::int64_t cell = 0; cell < cells_of(c.shape); ++cell)
        ASSERT_EQ(found[static_cast<std::size_t>(cell)], expected(c, sites, cell))
            << "seed " << seed << ", cell " << cell << ", shape " << testing::PrintToString(c.shape);
}

}  // namespace

void check_steps(const step_runner& run, bool sides, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t seed = first; seed < share(first, end); ++seed) {
        check(run, drawn(seed, sides), seed);
        if (testing::Test::HasFatalFailure()) return;
    }
}

void check_lengths(const step_runner& run) {
    constexpr std::int64_t lengths[] = {1,   2,   7,   8,   9,   31,  32,  33,   63,   64,   65,   127,
                                        255, 256, 257, 511, 512, 513, 577, 1023, 1024, 1025, 1601, 66000};
    std::uint64_t seed = 0;
    for (const std::int64_t n : lengths)
        for (const border ends : {border::open, border::closed, border::periodic})
            for (const bool diagonal : {true, false})
                for (std::uint64_t k = 0; k < share(0, n > 2000 ? 1 : 3); ++k) {
                    SCOPED_TRACE(testing::Message() << "length " << n << ", ends " << static_cast<int>(ends));
                    ++seed;
                    check(run, of_length(n, ends, diagonal, seed), seed);
                    if (testing::Test::HasFatalFailure()) return;
                }
}

void check_dense(const step_runner& run) {
    std::uint64_t seed = 0;
    for (const shape_t& shape : {shape_t{700, 300}, {3, 500, 130}, {40, 33, 63}, {9, 90, 640}, {250, 2, 62}})
        for (const double density : {0.01, 0.1, 0.5})
            for (const bool diagonal : {true, false}) {
                step_case c;
                if (++seed > share(0, 30)) return;
                border ends[3];
                for (std::size_t axis = 0; axis < shape.size(); ++axis)
                    ends[axis] = static_cast<border>(mix(3 * seed + axis) % 3);
                c.shape = shape, c.diagonal = diagonal, c.mask = make_random(shape, density, seed);
                c.options.sites = sites::nonzero, c.options.border = borders(ends, shape.size());
                for (std::int64_t cell = 0; cell < cells_of(shape); ++cell)
                    if (in_hole(cell, shape)) c.mask[static_cast<std::size_t>(cell)] = 0;
                const std::vector<std::int32_t> found = run(c);
                for (std::int64_t cell = 0; cell < cells_of(shape); ++cell) {
                    const auto at = static_cast<std::size_t>(cell);
                    ASSERT_EQ(found[at], c.mask[at] != 0 ? 0 : stepped(c, found, cell))
                        << "seed " << seed << ", cell " << cell << ", shape " << testing::PrintToString(shape);
                }
            }
}

}  // namespace nearfield::test
