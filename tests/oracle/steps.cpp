#include "oracle/steps.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "oracle/oracle.hpp"

namespace oracle {
namespace {

struct neighbour {
    std::vector<std::int64_t> offset;
    std::int64_t price = 0;
};

std::vector<neighbour> neighbours_of(const step_problem& p) {
    std::vector<neighbour> all;
    for (std::size_t k = 0; k < p.weight.size(); ++k) {
        neighbour one{std::vector<std::int64_t>(p.shape.size()), p.weight[k]};
        std::size_t rest = k;
        bool moves = false;
        for (std::size_t axis = p.shape.size(); axis-- > 0; rest /= 3) {
            one.offset[axis] = static_cast<std::int64_t>(rest % 3) - 1;
            moves = moves || one.offset[axis] != 0;
        }
        if (moves && one.price > 0) all.push_back(one);
    }
    return all;
}

/// Coordinates of all cells, one cell after the other.
std::vector<std::int64_t> coordinates_of_all(const step_problem& p) {
    std::vector<std::int64_t> all;
    for (std::size_t cell = 0; cell < p.site.size(); ++cell) {
        const std::vector<std::int64_t> at = coordinates_of(static_cast<std::int64_t>(cell), p.shape);
        all.insert(all.end(), at.begin(), at.end());
    }
    return all;
}

/// The cell that lies `direction` (1 or -1) times an offset away from these coordinates; -1 if it is outside.
std::int64_t cell_away(const std::int64_t* at, int direction, const neighbour& step, const step_problem& p) {
    std::int64_t cell = 0;
    for (std::size_t axis = 0; axis < p.shape.size(); ++axis) {
        const std::int64_t there = at[axis] + direction * step.offset[axis];
        if (there < 0 || there >= p.shape[axis]) return -1;
        cell = cell * p.shape[axis] + there;
    }
    return cell;
}

/// Prices of the cheapest paths from every cell to one site, by Dijkstra's algorithm from the site backwards.
std::vector<std::int64_t> paths_to(std::int64_t site, const step_problem& p, const std::vector<neighbour>& steps,
                                   const std::vector<std::int64_t>& coordinates) {
    std::vector<std::int64_t> price(p.site.size(), no_path);
    using entry = std::pair<std::int64_t, std::int64_t>;
    std::priority_queue<entry, std::vector<entry>, std::greater<>> open;
    price[static_cast<std::size_t>(site)] = 0;
    open.emplace(0, site);
    while (!open.empty()) {
        const auto [reached, cell] = open.top();
        open.pop();
        if (reached > price[static_cast<std::size_t>(cell)]) continue;
        const std::int64_t* const at = &coordinates[static_cast<std::size_t>(cell) * p.shape.size()];
        for (const neighbour& step : steps) {
            const std::int64_t from = cell_away(at, -1, step, p);  // the cell whose step leads here
            if (from < 0 || reached + step.price >= price[static_cast<std::size_t>(from)]) continue;
            price[static_cast<std::size_t>(from)] = reached + step.price;
            open.emplace(reached + step.price, from);
        }
    }
    return price;
}

/// The tie rule: compares the last axis first, then the axis before it, and so on.
bool goes_before(std::int64_t a, std::int64_t b, const std::vector<std::int64_t>& shape) {
    const std::vector<std::int64_t> at_a = coordinates_of(a, shape), at_b = coordinates_of(b, shape);
    for (std::size_t axis = shape.size(); axis-- > 0;)
        if (at_a[axis] != at_b[axis]) return at_a[axis] < at_b[axis];
    return false;
}

/// Updates one cell from its neighbours, in the order given; true if it changed.
bool look_round(std::int64_t cell, const step_problem& p, const std::vector<neighbour>& steps,
                const std::vector<std::int64_t>& coordinates, step_answer& found) {
    const auto self = static_cast<std::size_t>(cell);
    bool changed = false;
    for (const neighbour& step : steps) {
        const std::int64_t there = cell_away(&coordinates[self * p.shape.size()], 1, step, p);
        const auto other = static_cast<std::size_t>(there);
        if (there < 0 || found.distance[other] == no_path) continue;
        if (found.distance[other] + step.price >= found.distance[self]) continue;
        found.distance[self] = found.distance[other] + step.price, found.index[self] = found.index[other];
        changed = true;
    }
    return changed;
}

}  // namespace

step_answer found_first(const step_problem& p) {
    const auto cells = static_cast<std::int64_t>(p.site.size());
    step_answer found{std::vector<std::int64_t>(p.site.size(), no_path), std::vector<std::int64_t>(p.site.size(), -1)};
    for (std::int64_t cell = 0; cell < cells; ++cell)
        if (const auto k = static_cast<std::size_t>(cell); p.site[k] != 0) found.distance[k] = 0, found.index[k] = cell;
    std::vector<neighbour> before, after;
    for (const neighbour& step : neighbours_of(p)) {
        const auto first = std::find_if(step.offset.begin(), step.offset.end(), [](std::int64_t o) { return o != 0; });
        if (*first < 0) before.push_back(step);
        else after.insert(after.begin(), step);
    }
    const std::vector<std::int64_t> coordinates = coordinates_of_all(p);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::int64_t cell = 0; cell < cells; ++cell) changed |= look_round(cell, p, before, coordinates, found);
        for (std::int64_t cell = cells; cell-- > 0;) changed |= look_round(cell, p, after, coordinates, found);
    }
    return found;
}

step_answer cheapest_paths(const step_problem& p) {
    const std::vector<neighbour> steps = neighbours_of(p);
    const std::vector<std::int64_t> coordinates = coordinates_of_all(p);
    step_answer best{std::vector<std::int64_t>(p.site.size(), no_path), std::vector<std::int64_t>(p.site.size(), -1)};
    for (std::size_t site = 0; site < p.site.size(); ++site) {
        if (p.site[site] == 0) continue;
        const auto number = static_cast<std::int64_t>(site);
        const std::vector<std::int64_t> price = paths_to(number, p, steps, coordinates);
        for (std::size_t cell = 0; cell < price.size(); ++cell) {
            if (price[cell] == no_path || price[cell] > best.distance[cell]) continue;
            if (price[cell] < best.distance[cell] || goes_before(number, best.index[cell], p.shape))
                best.distance[cell] = price[cell], best.index[cell] = number;
        }
    }
    return best;
}

}  // namespace oracle
