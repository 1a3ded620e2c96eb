#include "oracle/methods.hpp"

#include <algorithm>
#include <cstddef>

namespace oracle {
namespace {

using cell_t = std::int64_t;

std::size_t at(cell_t cell) { return static_cast<std::size_t>(cell); }

/// The tie rule: compares the last axis first.
bool comes_first(cell_t a, cell_t b, const std::vector<std::int64_t>& shape) {
    for (std::size_t axis = shape.size(); axis-- > 0; a /= shape[axis], b /= shape[axis])
        if (a % shape[axis] != b % shape[axis]) return a % shape[axis] < b % shape[axis];
    return false;
}

/// Squared distances as the contract defines them.
struct ruler {
    const problem& p;
    bool integers;

    explicit ruler(const problem& of) : p(of), integers(squared_width(of.shape, of.spacing) != width::f64) {}

    [[nodiscard]] std::uint64_t exactly(cell_t a, cell_t b) const {
        std::uint64_t sum = 0;
        for (std::size_t axis = p.shape.size(); axis-- > 0; a /= p.shape[axis], b /= p.shape[axis]) {
            const auto d = static_cast<std::uint64_t>(std::abs(a % p.shape[axis] - b % p.shape[axis]));
            const auto s = static_cast<std::uint64_t>(p.spacing[axis]);
            sum += s * s * d * d;
        }
        return sum;
    }
    [[nodiscard]] double rounded(cell_t a, cell_t b) const {
        double sum = 0;
        for (std::size_t axis = p.shape.size(); axis-- > 0; a /= p.shape[axis], b /= p.shape[axis]) {
            const auto d = static_cast<double>(a % p.shape[axis] - b % p.shape[axis]);
            sum += p.spacing[axis] * p.spacing[axis] * (d * d);
        }
        return sum;
    }
    /// True if site a is preferred to site b for a cell.
    [[nodiscard]] bool prefers(cell_t cell, cell_t a, cell_t b) const {
        if (integers) {
            const std::uint64_t da = exactly(cell, a), db = exactly(cell, b);
            return da != db ? da < db : comes_first(a, b, p.shape);
        }
        const double da = rounded(cell, a), db = rounded(cell, b);
        return da != db ? da < db : comes_first(a, b, p.shape);
    }
};

using lists = std::vector<std::vector<cell_t>>;

lists start(const problem& p) {
    lists held(p.site.size());
    for (std::size_t cell = 0; cell < held.size(); ++cell)
        if (p.site[cell] != 0) held[cell].push_back(static_cast<cell_t>(cell));
    return held;
}

/// The cells that a cell reads in a round, including itself.
std::vector<cell_t> asked(cell_t cell, std::int64_t step, const std::vector<std::int64_t>& shape) {
    std::vector<cell_t> all{0};
    const std::vector<std::int64_t> place = coordinates_of(cell, shape);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        std::vector<cell_t> longer;
        for (cell_t prefix : all)
            for (std::int64_t there : {place[axis] - step, place[axis], place[axis] + step})
                if (there >= 0 && there < shape[axis]) longer.push_back(prefix * shape[axis] + there);
        all = longer;
    }
    return all;
}

lists round(const lists& held, const problem& p, std::int64_t step, std::size_t kept) {
    const ruler by(p);
    lists next(held.size());
    for (std::size_t k = 0; k < held.size(); ++k) {
        const auto cell = static_cast<cell_t>(k);
        std::vector<cell_t>& mine = next[k];
        for (cell_t other : asked(cell, step, p.shape))
            mine.insert(mine.end(), held[at(other)].begin(), held[at(other)].end());
        std::sort(mine.begin(), mine.end());
        mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
        std::sort(mine.begin(), mine.end(), [&](cell_t a, cell_t b) { return by.prefers(cell, a, b); });
        if (mine.size() > kept) mine.resize(kept);
    }
    return next;
}

std::vector<std::int64_t> nearest(const lists& held) {
    std::vector<std::int64_t> index;
    for (const std::vector<cell_t>& mine : held) index.push_back(mine.empty() ? -1 : mine.front());
    return index;
}

}  // namespace

std::vector<std::int64_t> jump_flood(const problem& p, const std::vector<std::int64_t>& steps, std::size_t kept) {
    lists held = start(p);
    for (std::int64_t step : steps) held = round(held, p, step, kept);
    return nearest(held);
}

std::vector<std::int64_t> halving_steps(const std::vector<std::int64_t>& shape) {
    const std::int64_t longest = *std::max_element(shape.begin(), shape.end());
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 1; step < longest; step *= 2) steps.insert(steps.begin(), step);
    return steps;
}

std::vector<std::int64_t> naive_flood(const problem& p) {
    lists held = start(p);
    while (true) {
        lists next = round(held, p, 1, 1);
        if (next == held) return nearest(held);
        held = std::move(next);
    }
}

answer of_sites(const problem& p, const std::vector<std::int64_t>& index) {
    answer a;
    a.type = squared_width(p.shape, p.spacing);
    a.index = index;
    const ruler by(p);
    for (std::size_t cell = 0; cell < index.size(); ++cell) {
        const bool none = index[cell] < 0;
        const auto here = static_cast<cell_t>(cell);
        if (by.integers) {
            a.exact.push_back(none ? no_site : by.exactly(here, index[cell]));
            a.squared.push_back(none ? std::numeric_limits<double>::infinity() : static_cast<double>(a.exact.back()));
        } else {
            a.squared.push_back(none ? std::numeric_limits<double>::infinity() : by.rounded(here, index[cell]));
        }
    }
    return a;
}

std::vector<priced> cheapest(const problem& p, const std::vector<priced_step>& steps) {
    std::vector<priced> held(p.site.size(), {-1, -1});
    for (std::size_t cell = 0; cell < held.size(); ++cell)
        if (p.site[cell] != 0) held[cell] = {0, static_cast<cell_t>(cell)};
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t cell = 0; cell < held.size(); ++cell)
            for (const priced_step& step : steps) {
                const std::vector<std::int64_t> place = coordinates_of(static_cast<cell_t>(cell), p.shape);
                cell_t other = 0;
                bool inside = true;
                for (std::size_t axis = 0; axis < place.size(); ++axis) {
                    const std::int64_t there = place[axis] + step.by[axis];
                    inside = inside && there >= 0 && there < p.shape[axis];
                    other = other * p.shape[axis] + there;
                }
                if (!inside || held[at(other)].site < 0) continue;
                const priced offer{held[at(other)].price + step.price, held[at(other)].site};
                priced& mine = held[cell];
                const bool better = mine.site < 0 || offer.price < mine.price ||
                                    (offer.price == mine.price && comes_first(offer.site, mine.site, p.shape));
                if (better) mine = offer, changed = true;
            }
    }
    return held;
}

}  // namespace oracle
