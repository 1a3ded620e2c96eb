#include "oracle/watershed.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace oracle {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using place = std::vector<std::int64_t>;

place place_of(std::int64_t cell, const place& shape) {
    place at(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) at[axis] = cell % shape[axis], cell /= shape[axis];
    return at;
}

std::vector<std::int64_t> neighbours(const watershed_problem& p, std::int64_t cell) {
    std::vector<std::int64_t> found;
    const place at = place_of(cell, p.shape);
    std::int64_t all = 1;
    for (std::size_t axis = 0; axis < p.shape.size(); ++axis) all *= 3;
    for (std::int64_t number = 0; number < all; ++number) {
        std::int64_t rest = number, there = 0;
        int changed = 0;
        bool inside = true;
        for (std::size_t axis = 0; axis < p.shape.size(); ++axis, rest /= 3) {
            std::int64_t x = at[axis] + rest % 3 - 1;
            changed += rest % 3 != 1 ? 1 : 0;
            if (p.wraps[axis] != 0) x = (x + p.shape[axis]) % p.shape[axis];
            inside = inside && x >= 0 && x < p.shape[axis];
            there = there * p.shape[axis] + x;
        }
        if (inside && changed > 0 && changed <= p.changes && there != cell &&
            !std::isnan(p.value[static_cast<std::size_t>(there)]))
            found.push_back(there);
    }
    return found;
}

bool before(const watershed_problem& p, std::int64_t a, std::int64_t b) {
    place of_a = place_of(a, p.shape), of_b = place_of(b, p.shape);
    std::reverse(of_a.begin(), of_a.end()), std::reverse(of_b.begin(), of_b.end());
    return of_a < of_b;
}

using key = std::pair<double, std::int64_t>;

std::vector<key> keys_of(const watershed_problem& p, const std::vector<double>& start) {
    std::vector<key> keys(p.value.size(), {inf, std::numeric_limits<std::int64_t>::max()});
    std::priority_queue<std::pair<key, std::int64_t>, std::vector<std::pair<key, std::int64_t>>, std::greater<>> next;
    const auto offer = [&](std::int64_t cell, key with) {
        key& own = keys[static_cast<std::size_t>(cell)];
        if (with < own) own = with, next.emplace(with, cell);
    };
    for (std::size_t i = 0; i < start.size(); ++i)
        if (!std::isnan(start[i]) && !std::isnan(p.value[i]))
            offer(static_cast<std::int64_t>(i), {std::max(start[i], p.value[i]), 0});
    while (!next.empty()) {
        const auto [own, cell] = next.top();
        next.pop();
        if (own != keys[static_cast<std::size_t>(cell)]) continue;
        for (const std::int64_t there : neighbours(p, cell)) {
            const double v = p.value[static_cast<std::size_t>(there)];
            offer(there, own.first >= v ? key{own.first, own.second + 1} : key{v, 0});
        }
    }
    return keys;
}

}  // namespace

std::vector<double> lowest_paths(const watershed_problem& p, const std::vector<double>& start) {
    std::vector<double> level;
    for (const key& each : keys_of(p, start)) level.push_back(each.first);
    return level;
}

watershed_answer flooded(const watershed_problem& p) {
    const std::size_t cells = p.value.size();
    std::vector<double> start(cells, std::nan(""));
    for (std::size_t i = 0; i < cells; ++i)
        if (p.marker[i] != 0) start[i] = p.value[i];
    const std::vector<key> keys = keys_of(p, start);
    watershed_answer answer{std::vector<double>(cells, inf), std::vector<std::int64_t>(cells)};
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < cells; ++i)
        if (keys[i].first < inf || keys[i].second < std::numeric_limits<std::int64_t>::max())
            order.push_back(static_cast<std::int64_t>(i)), answer.level[i] = keys[i].first;
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
    });
    for (const std::int64_t cell : order) {
        const auto i = static_cast<std::size_t>(cell);
        std::int64_t best = -1;
        for (const std::int64_t there : neighbours(p, cell)) {
            const auto less = [&](std::int64_t a, std::int64_t b) {
                const key of_a = keys[static_cast<std::size_t>(a)], of_b = keys[static_cast<std::size_t>(b)];
                return of_a != of_b ? of_a < of_b : before(p, a, b);
            };
            if (best < 0 || less(there, best)) best = there;
        }
        answer.label[i] = p.marker[i] != 0 ? p.marker[i] : answer.label[static_cast<std::size_t>(best)];
    }
    if (!p.lines) return answer;
    const std::vector<std::int64_t> whole = answer.label;
    for (const std::int64_t cell : order) {
        const auto i = static_cast<std::size_t>(cell);
        for (const std::int64_t there : neighbours(p, cell)) {
            const auto k = static_cast<std::size_t>(there);
            if (p.marker[i] == 0 && whole[k] != whole[i] &&
                (keys[k] < keys[i] || (keys[k] == keys[i] && before(p, there, cell))))
                answer.label[i] = 0;
        }
    }
    return answer;
}

std::vector<std::int64_t> plateau_of(const watershed_problem& p, std::int64_t cell) {
    std::vector<std::int64_t> cells{cell};
    for (std::size_t i = 0; i < cells.size(); ++i)
        for (const std::int64_t there : neighbours(p, cells[i]))
            if (p.value[static_cast<std::size_t>(there)] == p.value[static_cast<std::size_t>(cell)] &&
                std::find(cells.begin(), cells.end(), there) == cells.end())
                cells.push_back(there);
    return cells;
}

std::vector<minimum> minima_of(const watershed_problem& p, bool strict) {
    std::vector<minimum> found;
    for (std::int64_t cell = 0; cell < static_cast<std::int64_t>(p.value.size()); ++cell) {
        const double v = p.value[static_cast<std::size_t>(cell)];
        if (std::isnan(v)) continue;
        bool lowest = true;
        for (const std::int64_t each : plateau_of(p, cell)) {
            lowest = lowest && each >= cell;
            for (const std::int64_t there : neighbours(p, each))
                lowest = lowest && !(p.value[static_cast<std::size_t>(there)] < v);
        }
        if (!lowest) continue;
        std::vector<double> start(p.value.size(), std::nan(""));
        start[static_cast<std::size_t>(cell)] = v;
        const std::vector<double> level = lowest_paths(p, start);
        double saddle = inf;
        for (std::int64_t q = 0; q < static_cast<std::int64_t>(level.size()); ++q) {
            const double other = p.value[static_cast<std::size_t>(q)];
            if (other < v || (!strict && other == v && q < cell))
                saddle = std::min(saddle, level[static_cast<std::size_t>(q)]);
        }
        found.push_back({cell, saddle});
    }
    return found;
}

namespace {

/// The cells that are connected to a cell below a level.
std::vector<std::int64_t> below(const watershed_problem& p, std::int64_t cell, double level, std::vector<char>& seen) {
    std::vector<std::int64_t> cells{cell};
    seen[static_cast<std::size_t>(cell)] = 1;
    for (std::size_t i = 0; i < cells.size(); ++i)
        for (const std::int64_t there : neighbours(p, cells[i])) {
            const auto k = static_cast<std::size_t>(there);
            if (p.value[k] <= level && seen[k] == 0) seen[k] = 1, cells.push_back(there);
        }
    std::sort(cells.begin(), cells.end());
    return cells;
}

struct lake {
    double lowest = inf, cells = 0, volume = 0;
};

}  // namespace

std::vector<ending> endings_of(const watershed_problem& p, measured by) {
    std::map<std::int64_t, ending> found;
    std::vector<std::int64_t> region(p.value.size(), -1);  // region of each cell below the level
    std::set<double> levels;
    for (const double v : p.value)
        if (!std::isnan(v)) levels.insert(v);
    for (const double level : levels) {
        std::vector<char> seen(p.value.size());
        for (std::size_t first = 0; first < p.value.size(); ++first) {
            if (!(p.value[first] <= level) || seen[first] != 0) continue;
            const auto cells = below(p, static_cast<std::int64_t>(first), level, seen);
            std::map<std::int64_t, lake> lakes;
            for (const std::int64_t cell : cells) {
                const auto i = static_cast<std::size_t>(cell);
                if (!(p.value[i] < level)) continue;
                lake& own = lakes[region[i]];
                own.lowest = std::min(own.lowest, p.value[i]), ++own.cells, own.volume += level - p.value[i];
            }
            if (lakes.empty()) found[cells.front()] = {cells.front(), inf, -1}, lakes[cells.front()];
            const auto rank = [&](const std::pair<const std::int64_t, lake>& each) {
                const lake& l = each.second;
                const double amount = by == measured::height ? level - l.lowest
                                      : by == measured::area ? l.cells
                                                             : l.volume;
                return std::tuple(-amount, p.value[static_cast<std::size_t>(each.first)], each.first);
            };
            std::int64_t goes_on = lakes.begin()->first;
            for (const auto& each : lakes)
                if (rank(each) < rank(*lakes.find(goes_on))) goes_on = each.first;
            for (const auto& each : lakes)
                if (each.first != goes_on) found[each.first] = {each.first, -std::get<0>(rank(each)), goes_on};
            for (const std::int64_t cell : cells) region[static_cast<std::size_t>(cell)] = goes_on;
        }
    }
    std::vector<ending> list;
    for (const auto& [cell, each] : found) list.push_back(each);
    return list;
}

std::vector<std::size_t> apart_from_all_before(const std::vector<std::int64_t>& cells, const place& shape,
                                               double apart) {
    std::vector<std::size_t> taken;
    std::vector<place> at;
    for (std::size_t nth = 0; nth < cells.size(); ++nth) {
        const place here = place_of(cells[nth], shape);
        const bool near = std::any_of(at.begin(), at.end(), [&](const place& other) {
            std::int64_t square = 0;
            for (std::size_t axis = 0; axis < shape.size(); ++axis)
                square += (here[axis] - other[axis]) * (here[axis] - other[axis]);
            return static_cast<double>(square) < apart * apart;
        });
        if (!near) taken.push_back(nth), at.push_back(here);
    }
    return taken;
}

}  // namespace oracle
