#include "geodesic/dijkstra.hpp"

#include <cstdlib>
#include <map>
#include <queue>
#include <tuple>

namespace nearfield::test {
namespace {

using cell = std::vector<std::int64_t>;

struct image {
    const geodesic_case& c;
    shape_t size;
    std::int64_t first;  ///< number of its first cell

    [[nodiscard]] std::int64_t cells() const { return cells_of(size); }
    [[nodiscard]] cell at(std::int64_t i) const {
        cell x(size.size());
        for (std::size_t k = size.size(); k-- > 0; i /= size[k]) x[k] = i % size[k];
        return x;
    }
    /// Number of a cell; -1 outside the image.
    [[nodiscard]] std::int64_t index(cell x) const {
        std::int64_t i = 0;
        for (std::size_t k = 0; k < size.size(); ++k) {
            const std::size_t axis = k + static_cast<std::size_t>(c.batch_axes);
            if (!c.ends.empty() && c.ends[axis] == border::periodic) x[k] = (x[k] % size[k] + size[k]) % size[k];
            if (x[k] < 0 || x[k] >= size[k]) return -1;
            i = i * size[k] + x[k];
        }
        return i;
    }
    [[nodiscard]] bool open(std::int64_t i) const {
        return i >= 0 && c.mask[static_cast<std::size_t>(first + i)] != 0 && (c.cost.empty() || cost(i) > 0);
    }
    [[nodiscard]] std::int64_t cost(std::int64_t i) const { return c.cost[static_cast<std::size_t>(first + i)]; }
    [[nodiscard]] cell order_of(std::int64_t i) const {
        const cell x = at(i);
        return {x.rbegin(), x.rend()};
    }
    void solve(geodesic_result& to) const;
    [[nodiscard]] std::vector<std::vector<int>> between(const priced_step& s) const;
};

std::vector<std::vector<int>> image::between(const priced_step& s) const {
    const std::size_t axes = size.size();
    const std::vector<int> v(s.by.begin(), s.by.begin() + static_cast<std::ptrdiff_t>(axes));
    std::vector<std::vector<int>> found;
    std::int64_t all = 1;
    for (std::size_t k = 0; k < axes; ++k) all *= std::abs(v[k]) + 1;
    for (std::int64_t number = 0; number < all; ++number) {
        std::vector<int> x(axes);
        std::int64_t rest = number;
        for (std::size_t k = 0; k < axes; ++k) {
            x[k] = static_cast<int>(rest % (std::abs(v[k]) + 1)) * (v[k] < 0 ? -1 : 1);
            rest /= std::abs(v[k]) + 1;
        }
        if (number > 0 && number < all - 1 && line_meets(v, x, !c.cut_corners)) found.push_back(x);
    }
    return found;
}

void image::solve(geodesic_result& to) const {
    using state = std::tuple<std::int64_t, cell, std::int64_t, std::int64_t>;  // cost, order of the seed, seed, cell
    std::priority_queue<state, std::vector<state>, std::greater<>> heap;
    std::map<std::size_t, std::vector<std::vector<int>>> between_of;
    for (std::size_t k = 0; k < c.steps.size(); ++k) between_of[k] = between(c.steps[k]);
    for (std::int64_t i = 0; i < cells(); ++i)
        if (open(i) && c.seeds[static_cast<std::size_t>(first + i)] != 0) heap.emplace(0, order_of(i), i, i);
    std::vector<bool> done(static_cast<std::size_t>(cells()));
    const auto moved = [&](const cell& x, const auto& by) {
        cell y = x;
        for (std::size_t k = 0; k < y.size(); ++k) y[k] += by[k];
        return index(y);
    };
    while (!heap.empty()) {
        const auto [price, order, seed, i] = heap.top();
        heap.pop();
        if (done[static_cast<std::size_t>(i)] || static_cast<double>(price) > c.max_cost) continue;
        done[static_cast<std::size_t>(i)] = true;
        const auto here = static_cast<std::size_t>(first + i);
        to.cost[here] = price, to.index[here] = seed, to.label[here] = c.seeds[static_cast<std::size_t>(first + seed)];
        const cell x = at(i);
        for (std::size_t k = 0; k < c.steps.size(); ++k) {
            const std::int64_t j = moved(x, c.steps[k].by);
            bool passes = open(j);
            for (const std::vector<int>& by : between_of[k]) passes = passes && open(moved(x, by));
            if (!passes || done[static_cast<std::size_t>(j)]) continue;
            std::int64_t times = 1;
            if (!c.cost.empty()) times = cost(j) + (c.rule == cost_rule::both ? cost(i) : 0);
            heap.emplace(price + c.steps[k].price * times, order, seed, j);
        }
    }
}

}  // namespace

geodesic_options geodesic_case::options() const {
    geodesic_options o;
    o.steps = steps, o.batch_axes = batch_axes, o.cut_corners = cut_corners, o.rule = rule, o.max_cost = max_cost;
    if (!ends.empty()) o.border = {ends.data(), ends.size()};
    return o;
}

bool line_meets(const std::vector<int>& v, const std::vector<int>& c, bool touching) {
    constexpr int all = 2 * 840;  // 840: divisible by 2 times 1 to 7
    for (int t = touching ? 0 : 1; t <= all; t += touching ? 1 : 2) {
        bool inside = true;
        for (std::size_t k = 0; k < v.size(); ++k) {
            const int away = std::abs(2 * t * v[k] - 2 * all * c[k]);
            inside = inside && (touching ? away <= all : away < all);
        }
        if (inside) return true;
    }
    return false;
}

geodesic_result expected(const geodesic_case& c) {
    geodesic_result to;
    to.cost.assign(c.mask.size(), -1), to.index.assign(c.mask.size(), -1), to.label.assign(c.mask.size(), 0);
    image one{c, {c.shape.begin() + c.batch_axes, c.shape.end()}, 0};
    for (; one.first < c.cells(); one.first += one.cells()) one.solve(to);
    return to;
}

}  // namespace nearfield::test
