#include "oracle/sweeps.hpp"

#include <cmath>
#include <functional>

namespace oracle {
namespace {

using coordinates = std::vector<std::int64_t>;

struct candidate {
    std::int64_t index;
    coordinates at;
};

/// True if `a` is the better site for the cell `to`: nearer, or equally near and smaller by the last axis, then by the
/// axis before, and so on.
bool better(const problem& p, const coordinates& to, std::int64_t a, std::int64_t b) {
    if (a < 0 || b < 0) return a >= 0;
    const coordinates at_a = coordinates_of(a, p.shape), at_b = coordinates_of(b, p.shape);
    const auto squared = [&]<class T>(const coordinates& at, T) {
        T sum = 0;
        for (std::size_t axis = p.shape.size(); axis-- > 0;) {
            const T d = static_cast<T>(at[axis] - to[axis]);
            sum += static_cast<T>(p.spacing[axis] * p.spacing[axis]) * (d * d);
        }
        return sum;
    };
    const auto decide = [&](auto zero) {
        const auto a2 = squared(at_a, zero), b2 = squared(at_b, zero);
        if (a2 != b2) return a2 < b2;
        for (std::size_t axis = p.shape.size(); axis-- > 0;)
            if (at_a[axis] != at_b[axis]) return at_a[axis] < at_b[axis];
        return false;
    };
    return squared_width(p.shape, p.spacing) == width::f64 ? decide(0.0) : decide(std::int64_t{0});
}

std::int64_t index_of(const coordinates& at, const coordinates& shape) {
    std::int64_t index = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (at[axis] < 0 || at[axis] >= shape[axis]) return -1;
        index = index * shape[axis] + at[axis];
    }
    return index;
}

/// Calls visit(index) for every cell of the grid whose coordinates differ from `at` by -1, 0 or 1, except along `axis`,
/// where they differ by exactly `by`.
void neighbours(coordinates at, const coordinates& shape, std::size_t from, std::size_t axis, std::int64_t by,
                const std::function<void(std::int64_t)>& visit) {
    if (from == shape.size()) {
        if (const std::int64_t index = index_of(at, shape); index >= 0) visit(index);
        return;
    }
    const std::int64_t own = at[from];
    for (std::int64_t d = -1; d <= 1; ++d) {
        if (from == axis && d != by) continue;
        at[from] = own + d;
        neighbours(at, shape, from + 1, axis, by, visit);
    }
}

void sweep(const problem& p, std::vector<std::int64_t>& site, std::size_t axis, bool back) {
    for (std::int64_t step = 1; step < p.shape[axis]; ++step)
        for (std::size_t cell = 0; cell < site.size(); ++cell) {
            const coordinates at = coordinates_of(static_cast<std::int64_t>(cell), p.shape);
            if (at[axis] != (back ? p.shape[axis] - 1 - step : step)) continue;
            neighbours(at, p.shape, 0, axis, back ? 1 : -1, [&](std::int64_t other) {
                const std::int64_t offered = site[static_cast<std::size_t>(other)];
                if (better(p, at, offered, site[cell])) site[cell] = offered;
            });
        }
}

}  // namespace

std::vector<std::int64_t> plane_sweep(const problem& p, bool independent) {
    std::vector<std::int64_t> start(p.site.size());
    for (std::size_t cell = 0; cell < start.size(); ++cell)
        start[cell] = p.site[cell] ? static_cast<std::int64_t>(cell) : -1;
    std::vector<std::int64_t> answer = start;
    for (std::size_t axis = 0; axis < p.shape.size(); ++axis)
        for (const bool back : {false, true}) {
            if (!independent) {
                sweep(p, answer, axis, back);
                continue;
            }
            std::vector<std::int64_t> found = start;
            sweep(p, found, axis, back);
            for (std::size_t cell = 0; cell < answer.size(); ++cell)
                if (better(p, coordinates_of(static_cast<std::int64_t>(cell), p.shape), found[cell], answer[cell]))
                    answer[cell] = found[cell];
        }
    return answer;
}

std::vector<std::int64_t> exclaves(const problem& p) {
    const std::vector<std::int64_t> site = by_cells(p).index;
    std::vector<std::int64_t> found;
    for (std::size_t cell = 0; cell < site.size(); ++cell) {
        if (site[cell] < 0 || site[cell] == static_cast<std::int64_t>(cell)) continue;
        const coordinates at = coordinates_of(static_cast<std::int64_t>(cell), p.shape);
        bool alone = true;
        neighbours(at, p.shape, 0, p.shape.size(), 0, [&](std::int64_t other) {
            if (other != static_cast<std::int64_t>(cell) && site[static_cast<std::size_t>(other)] == site[cell])
                alone = false;
        });
        if (alone) found.push_back(static_cast<std::int64_t>(cell));
    }
    return found;
}

}  // namespace oracle
