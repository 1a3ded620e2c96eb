#include "oracle/components.hpp"

#include <algorithm>
#include <numeric>

namespace oracle {
namespace {

using place = std::vector<std::int64_t>;

place place_of(std::int64_t index, const place& shape) {
    place at(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) at[axis] = index % shape[axis];
    return at;
}

bool wraps(const component_problem& p, std::size_t axis) { return !p.periodic.empty() && p.periodic[axis] != 0; }

struct neighbour {
    std::int64_t cell;
    std::size_t step;
};

/// A cell's neighbours on the grid.
std::vector<neighbour> neighbours(std::int64_t cell, const component_problem& p) {
    const place at = place_of(cell, p.shape);
    std::vector<neighbour> found;
    for (std::size_t step = 0; step < p.steps.size(); ++step) {
        if (p.steps[step] == 0) continue;
        place there = at;
        bool inside = true;
        std::size_t rest = step;
        for (std::size_t axis = at.size(); axis-- > 0; rest /= 3) {
            there[axis] += static_cast<std::int64_t>(rest % 3) - 1;
            if (wraps(p, axis)) there[axis] = (there[axis] + p.shape[axis]) % p.shape[axis];
            inside = inside && there[axis] >= 0 && there[axis] < p.shape[axis];
        }
        std::int64_t index = 0;
        for (std::size_t axis = 0; axis < at.size(); ++axis) index = index * p.shape[axis] + there[axis];
        if (inside && index != cell) found.push_back({index, step});
    }
    return found;
}

void fill_from(std::int64_t start, const component_problem& p, component_answer& answer) {
    std::vector<std::int64_t> open{start};
    answer.label[static_cast<std::size_t>(start)] = answer.count;
    while (!open.empty()) {
        const std::int64_t cell = open.back();
        open.pop_back();
        for (const auto& [next, step] : neighbours(cell, p)) {
            if (answer.label[static_cast<std::size_t>(next)] != 0) continue;
            if (!p.foreground(next) || !p.linked(cell, next, step)) continue;
            answer.label[static_cast<std::size_t>(next)] = answer.count;
            open.push_back(next);
        }
    }
}

}  // namespace

std::vector<std::uint8_t> steps_of(int axes, int changes) {
    std::size_t count = 1;
    for (int axis = 0; axis < axes; ++axis) count *= 3;
    std::vector<std::uint8_t> steps(count);
    for (std::size_t step = 0; step < count; ++step) {
        int changed = 0;
        std::size_t rest = step;
        for (int axis = 0; axis < axes; ++axis, rest /= 3) changed += rest % 3 != 1;
        steps[step] = changed > 0 && changed <= changes;
    }
    return steps;
}

component_answer flood_fill(const component_problem& p) {
    const std::int64_t cells = std::accumulate(p.shape.begin(), p.shape.end(), std::int64_t{1}, std::multiplies<>());
    component_answer answer;
    answer.label.assign(static_cast<std::size_t>(cells), 0);
    for (std::int64_t cell = 0; cell < cells; ++cell) {
        if (!p.foreground(cell) || answer.label[static_cast<std::size_t>(cell)] != 0) continue;
        ++answer.count;
        fill_from(cell, p, answer);
    }
    return answer;
}

component_answer filtered(const component_answer& all, const component_problem& p, const component_filter& by) {
    const auto count = static_cast<std::size_t>(all.count) + 1;
    std::vector<std::int64_t> size(count, 0);
    std::vector<std::uint8_t> keep(count, 1), at_end(count, 0);
    for (std::size_t i = 0; i < all.label.size(); ++i) {
        const auto label = static_cast<std::size_t>(all.label[i]);
        ++size[label];
        const place at = place_of(static_cast<std::int64_t>(i), p.shape);
        for (std::size_t axis = 0; axis < at.size(); ++axis)
            if (!wraps(p, axis) && (at[axis] == 0 || at[axis] + 1 == p.shape[axis])) at_end[label] = 1;
    }
    keep[0] = 0;
    for (std::size_t i = 1; i < count; ++i)
        if (size[i] < by.smallest || size[i] > by.largest || (by.clear_border && at_end[i] != 0)) keep[i] = 0;
    std::int64_t kept = std::count(keep.begin(), keep.end(), 1);
    for (; kept > by.keep_largest; --kept) {  // drops the smallest; of equal ones the last
        std::size_t worst = 0;
        for (std::size_t i = 1; i < count; ++i)
            if (keep[i] != 0 && (worst == 0 || size[i] <= size[worst])) worst = i;
        keep[worst] = 0;
    }
    component_answer left;
    std::vector<std::int64_t> number(count, 0);
    for (std::size_t i = 1; i < count; ++i)
        if (keep[i] != 0) number[i] = ++left.count;
    for (const std::int64_t label : all.label) left.label.push_back(number[static_cast<std::size_t>(label)]);
    return left;
}

}  // namespace oracle
