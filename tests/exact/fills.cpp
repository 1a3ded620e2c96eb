#include "exact/fills.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace nearfield::test {
namespace {

/// Calls f(C-order index, coordinates) for every cell.
template <class F>
void each_cell(const shape_t& shape, F&& f) {
    shape_t at(shape.size(), 0);
    const std::int64_t cells = cells_of(shape);
    for (std::int64_t i = 0; i < cells; ++i) {
        f(static_cast<std::size_t>(i), at);
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            if (++at[axis] < shape[axis]) break;
            at[axis] = 0;
        }
    }
}

template <class Inside>
flags_t where(const shape_t& shape, Inside&& inside) {
    flags_t sites(static_cast<std::size_t>(cells_of(shape)), 0);
    each_cell(shape, [&](std::size_t i, const shape_t& at) { sites[i] = inside(at) ? 1 : 0; });
    return sites;
}

flags_t one_site(const shape_t& shape, std::uint64_t where) {
    flags_t sites(static_cast<std::size_t>(cells_of(shape)), 0);
    if (!sites.empty()) sites[where % sites.size()] = 1;
    return sites;
}

/// The most frequent squared distance from the centre whose whole sphere lies inside; all its cells tie for the centre.
flags_t circle(const shape_t& shape) {
    std::int64_t reach = -1;
    for (std::int64_t n : shape) {
        if (n > 1) reach = reach < 0 ? (n - 1) / 2 : std::min(reach, (n - 1) / 2);
    }
    const auto radius2 = [&](const shape_t& at) {
        std::int64_t sum = 0;
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
            const std::int64_t d = at[axis] - shape[axis] / 2;
            sum += d * d;
        }
        return sum;
    };
    std::map<std::int64_t, std::int64_t> count;
    each_cell(shape, [&](std::size_t, const shape_t& at) {
        const std::int64_t r2 = radius2(at);
        if (r2 <= reach * reach) ++count[r2];
    });
    std::int64_t best = 0, most = 0;
    for (auto [r2, n] : count) {
        if (n >= most) best = r2, most = n;
    }
    return where(shape, [&](const shape_t& at) { return radius2(at) == best; });
}

struct ball {
    std::vector<double> centre;
    double radius;
};

std::vector<ball> some_balls(const shape_t& shape, std::uint64_t seed) {
    const std::int64_t longest = *std::max_element(shape.begin(), shape.end());
    std::vector<ball> balls;
    for (std::uint64_t b = 0; b < 6; ++b) {
        ball one{{}, 1.0 + static_cast<double>(mix(seed + 100 * b) % static_cast<std::uint64_t>(1 + longest / 5))};
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            one.centre.push_back(
                static_cast<double>(mix(seed + 100 * b + 1 + axis) % static_cast<std::uint64_t>(shape[axis])));
        }
        balls.push_back(one);
    }
    return balls;
}

/// True if the cell lies inside a ball, at most `thickness` cells below the ball's surface.
bool in_balls(const std::vector<ball>& balls, const shape_t& at, double thickness) {
    return std::any_of(balls.begin(), balls.end(), [&](const ball& b) {
        double sum = 0;
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
            const double d = static_cast<double>(at[axis]) - b.centre[axis];
            sum += d * d;
        }
        const double r = std::sqrt(sum);
        return r <= b.radius && r > b.radius - thickness;
    });
}

flags_t lines(const shape_t& shape, std::size_t along, std::uint64_t seed) {
    return where(shape, [&](const shape_t& at) {
        std::uint64_t key = seed;
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
            if (axis != along) key = mix(key + static_cast<std::uint64_t>(at[axis]));
        }
        return key % 11 == 0;
    });
}

bool on_border(const shape_t& at, const shape_t& shape) {
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
        if (shape[axis] > 1 && (at[axis] == 0 || at[axis] == shape[axis] - 1)) return true;
    }
    return false;
}

/// True on the scaled diagonal, which crosses every axis once along the longest one.
bool on_diagonal(const shape_t& at, const shape_t& shape) {
    const std::size_t longest = static_cast<std::size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
        if (at[axis] != at[longest] * shape[axis] / shape[longest]) return false;
    }
    return true;
}

flags_t at_least_one(flags_t sites, std::uint64_t seed) {
    if (!sites.empty() && std::find(sites.begin(), sites.end(), 1) == sites.end()) sites[mix(seed) % sites.size()] = 1;
    return sites;
}

flags_t structured(fill kind, const shape_t& shape, std::uint64_t seed) {
    switch (kind) {
        case fill::border: return where(shape, [&](const shape_t& at) { return on_border(at, shape); });
        case fill::circle: return circle(shape);
        case fill::checkerboard:
            return where(shape, [](const shape_t& at) {
                std::int64_t sum = 0;
                for (std::int64_t c : at) sum += c;
                return sum % 2 == 0;
            });
        case fill::diagonal: return where(shape, [&](const shape_t& at) { return on_diagonal(at, shape); });
        case fill::half: return where(shape, [&](const shape_t& at) { return 2 * at.back() < shape.back(); });
        case fill::rows: return lines(shape, shape.size() - 1, seed);
        case fill::columns: return lines(shape, 0, seed);
        default: break;
    }
    const auto balls = some_balls(shape, seed);
    const double thickness = kind == fill::shells ? 1.5 : 1e9;
    return where(shape, [&](const shape_t& at) { return in_balls(balls, at, thickness) != (kind == fill::holes); });
}

}  // namespace

std::int64_t cells_of(const shape_t& shape) {
    std::int64_t product = 1;
    for (std::int64_t n : shape) product *= n;
    return product;
}

std::string name_of(fill kind) {
    constexpr const char* names[] = {"none",    "all",     "one",          "first",    "last",  "corners",
                                     "border",  "circle",  "checkerboard", "diagonal", "half",  "rows",
                                     "columns", "sparse4", "sparse3",      "percent",  "tenth", "fifty",
                                     "ninety",  "balls",   "holes",        "shells"};
    return names[static_cast<int>(kind)];
}

flags_t make_random(const shape_t& shape, double density, std::uint64_t seed) {
    flags_t sites(static_cast<std::size_t>(cells_of(shape)));
    const auto limit = static_cast<std::uint64_t>(density * 4294967296.0);
    for (std::size_t i = 0; i < sites.size(); ++i) sites[i] = (mix(mix(seed) + i) >> 32) < limit ? 1 : 0;
    return sites;
}

flags_t make_fill(fill kind, const shape_t& shape, std::uint64_t seed) {
    const auto cells = static_cast<std::size_t>(cells_of(shape));
    if (cells == 0) return {};
    switch (kind) {
        case fill::none: return flags_t(cells, 0);
        case fill::all: return flags_t(cells, 1);
        case fill::one: return one_site(shape, mix(seed));
        case fill::first: return one_site(shape, 0);
        case fill::last: return one_site(shape, cells - 1);
        case fill::corners: {
            flags_t sites = one_site(shape, 0);
            sites.back() = 1;
            return sites;
        }
        case fill::sparse4: return at_least_one(make_random(shape, 0.0001, seed), seed);
        case fill::sparse3: return at_least_one(make_random(shape, 0.001, seed), seed);
        case fill::percent: return make_random(shape, 0.01, seed);
        case fill::tenth: return make_random(shape, 0.1, seed);
        case fill::fifty: return make_random(shape, 0.5, seed);
        case fill::ninety: return make_random(shape, 0.9, seed);
        default: return structured(kind, shape, seed);
    }
}

}  // namespace nearfield::test
