// Graphs of skeletons: neighbours, nodes, and the branches between nodes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "skeleton/graph_cells.hpp"

namespace nearfield {
namespace skeleton {

neighbours::neighbours(const skeleton_cells& cells) {
    const auto count = static_cast<std::int64_t>(cells.at.size());
    std::array<std::int64_t, 27> reached{};  // per step: no later cell has its neighbour before this index
    start_.reserve(cells.at.size() + 1);
    start_.push_back(0);
    for (std::int64_t cell = 0; cell < count; ++cell) {
        const place at = place_of(cells, cells.at[static_cast<std::size_t>(cell)]);
        for (std::size_t k = 0; k < 27; ++k) {
            const place step{static_cast<std::int64_t>(k / 9) - 1, static_cast<std::int64_t>(k / 3 % 3) - 1,
                             static_cast<std::int64_t>(k % 3) - 1};
            std::int64_t wanted = 0;
            bool inside = true, across = false;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                std::int64_t to = at[axis] + step[axis];
                if (to < 0 || to >= cells.shape[axis]) {
                    inside = inside && cells.wraps[axis];
                    across = true, to = to < 0 ? cells.shape[axis] - 1 : 0;
                }
                wanted = static_cast<int>(axis) < cells.axes ? wanted * cells.shape[axis] + to : wanted;
            }
            if (!inside) continue;
            std::int64_t found = reached[k];
            if (across) found = std::lower_bound(cells.at.begin(), cells.at.end(), wanted) - cells.at.begin();
            else {
                while (found < count && cells.at[static_cast<std::size_t>(found)] < wanted) ++found;
                reached[k] = found;
            }
            if (found < count && cells.at[static_cast<std::size_t>(found)] == wanted && found != cell)
                near_.push_back(found);
        }
        const auto first = near_.begin() + static_cast<std::ptrdiff_t>(start_.back());
        std::sort(first, near_.end());
        near_.erase(std::unique(first, near_.end()), near_.end());  // duplicates from short periodic axes
        start_.push_back(near_.size());
    }
}

namespace {

/// Builds the graph. Cells are numbered in C order.
class tracer {
public:
    explicit tracer(skeleton_cells cells) : near_(cells), count_(static_cast<std::int64_t>(cells.at.size())) {
        graph_.cells = std::move(cells);
        component_.assign(graph_.cells.at.size(), 0), node_.assign(graph_.cells.at.size(), -1);
        graph_.branch_of.assign(graph_.cells.at.size(), -1);
    }

    skeleton_graph traced() {
        for (std::int64_t cell = 0; cell < count_; ++cell) {
            if (of(component_, cell) == 0) ++components_, flood(cell, component_, components_, false);
            if (!is_path(cell) && of(node_, cell) < 0) flood(cell, node_, cell, true);
        }
        for (std::int64_t cell = 0; cell < count_; ++cell)
            if (!is_path(cell))
                for (const std::int64_t other : near_[cell]) follow(cell, other);
        for (std::int64_t cell = 0; cell < count_; ++cell)
            if (is_path(cell) && of(graph_.branch_of, cell) < 0) follow_cycle(cell);
        number();
        return std::move(graph_);
    }

private:
    /// A branch that has no number yet: its end cells, and the first of its own cells.
    struct found {
        std::int64_t src, dst, key, number;
        bool cycle;
        skeleton_branch branch;
    };
    /// Quantities summed along a branch.
    struct sums {
        std::array<std::int64_t, 8> steps{};  // counted by the axes that change, as bits
        place moved{};
        double values = 0, least = std::numeric_limits<double>::infinity(), largest = -least;
        std::int64_t cells = 0;
    };

    template <class T>
    static T& of(std::vector<T>& values, std::int64_t cell) {
        return values[static_cast<std::size_t>(cell)];
    }
    [[nodiscard]] bool is_path(std::int64_t cell) const { return near_.degree(cell) == 2; }
    [[nodiscard]] bool is_junction(std::int64_t cell) const { return near_.degree(cell) > 2; }

    /// Writes `value` to all cells connected to the first one; for nodes only through cells of junctions.
    void flood(std::int64_t first, std::vector<std::int64_t>& to, std::int64_t value, bool node) {
        of(to, first) = value;
        if (node && !is_junction(first)) return;
        const std::int64_t empty = node ? -1 : 0;
        for (stack_.assign(1, first); !stack_.empty();) {
            const std::int64_t cell = stack_.back();
            stack_.pop_back();
            for (const std::int64_t other : near_[cell]) {
                if (of(to, other) != empty || (node && !is_junction(other))) continue;
                of(to, other) = value;
                stack_.push_back(other);
            }
        }
    }

    void step(sums& s, std::int64_t from, std::int64_t to) const {
        const place by = step_between(graph_.cells, from, to);
        std::size_t axes = 0;
        for (std::size_t k = 0; k < 3; ++k) s.moved[k] += by[k], axes |= by[k] != 0 ? std::size_t{1} << k : 0;
        ++s.steps[axes];
    }
    void see(sums& s, std::int64_t cell) const {
        if (!graph_.cells.measured) return;
        const double value = graph_.cells.values[static_cast<std::size_t>(cell)];
        s.values += value, ++s.cells;
        s.least = std::min(s.least, value), s.largest = std::max(s.largest, value);
    }

    /// Follows the branch that leaves a node through this neighbour, unless it was found from its other end.
    void follow(std::int64_t from, std::int64_t cell) {
        const auto number = static_cast<std::int64_t>(found_.size());
        sums s;
        std::int64_t before = from, key = count_;
        see(s, from), step(s, from, cell);
        if (is_path(cell) ? of(graph_.branch_of, cell) >= 0 : of(node_, cell) <= of(node_, from)) return;
        while (is_path(cell)) {
            of(graph_.branch_of, cell) = number, key = std::min(key, cell);
            see(s, cell);
            const auto both = near_[cell];
            const std::int64_t next = both[0] == before ? both[1] : both[0];
            step(s, cell, next);
            before = cell, cell = next;
        }
        see(s, cell);
        for (const std::int64_t end : {from, cell})
            if (near_.degree(end) == 1) of(graph_.branch_of, end) = number;
        if (key == count_) key = near_.degree(from) == 1 ? from : cell;
        const bool turn = std::tuple(of(node_, cell), cell) < std::tuple(of(node_, from), from);
        add({turn ? cell : from, turn ? from : cell, key, number, false, {}}, s);
    }

    void follow_cycle(std::int64_t first) {
        const auto number = static_cast<std::int64_t>(found_.size());
        sums s;
        std::int64_t before = near_[first][1], cell = first;
        do {
            of(graph_.branch_of, cell) = number;
            see(s, cell);
            const auto both = near_[cell];
            const std::int64_t next = both[0] == before ? both[1] : both[0];
            step(s, cell, next);
            before = cell, cell = next;
        } while (cell != first);
        of(node_, first) = first;
        add({first, first, first, number, true, {}}, s);
    }

    void add(found one, const sums& s) {
        const skeleton_cells& cells = graph_.cells;
        skeleton_branch& b = one.branch;
        double straight2 = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const double by = static_cast<double>(s.moved[k]) * cells.spacing[k];
            straight2 += by * by;
        }
        b.straight = std::sqrt(straight2);
        for (std::size_t axes = 1; axes < 8; ++axes) {
            double step2 = 0;
            std::size_t along = 0;
            for (std::size_t k = 0; k < 3; ++k)
                if ((axes >> k & 1) != 0) step2 += cells.spacing[k] * cells.spacing[k], ++along;
            b.steps[along - 1] += s.steps[axes];
            b.length += static_cast<double>(s.steps[axes]) * std::sqrt(step2);
        }
        if (s.cells > 0) b.mean = s.values / static_cast<double>(s.cells), b.least = s.least, b.largest = s.largest;
        b.skeleton = of(component_, one.src);
        b.src = place_of(cells, of(graph_.cells.at, one.src)), b.dst = place_of(cells, of(graph_.cells.at, one.dst));
        b.kind = one.cycle ? branch_kind::cycle
                           : static_cast<branch_kind>(int{is_junction(one.src)} + int{is_junction(one.dst)});
        found_.push_back(one);
    }

    [[nodiscard]] node_kind kind_of(std::int64_t cell) const {
        const std::size_t degree = near_.degree(cell);
        if (degree == 0) return node_kind::alone;
        return degree == 1 ? node_kind::tip : degree == 2 ? node_kind::cycle : node_kind::junction;
    }

    /// Sorts nodes and branches, and replaces every number by the final one.
    void number() {
        std::vector<std::int64_t> node_number(graph_.cells.at.size(), -1);  // indexed by the node's first cell
        for (std::int64_t cell = 0; cell < count_; ++cell) {
            if (of(node_, cell) != cell) continue;
            of(node_number, cell) = static_cast<std::int64_t>(graph_.nodes.size());
            graph_.nodes.push_back({kind_of(cell), place_of(graph_.cells, of(graph_.cells.at, cell))});
        }
        const auto place_among = [&](const found& f) {
            return std::tuple(f.branch.skeleton, node_[static_cast<std::size_t>(f.src)],
                              node_[static_cast<std::size_t>(f.dst)], f.key);
        };
        std::sort(found_.begin(), found_.end(),
                  [&](const found& a, const found& b) { return place_among(a) < place_among(b); });
        std::vector<std::int64_t> new_number(found_.size());
        for (found& each : found_) {
            of(new_number, each.number) = static_cast<std::int64_t>(graph_.branches.size());
            each.branch.node_src = of(node_number, of(node_, each.src));
            each.branch.node_dst = of(node_number, of(node_, each.dst));
            graph_.branches.push_back(each.branch);
        }
        for (std::int64_t& branch : graph_.branch_of)
            if (branch >= 0) branch = of(new_number, branch);
    }

    neighbours near_;
    std::int64_t count_, components_ = 0;
    skeleton_graph graph_;
    std::vector<std::int64_t> component_, node_;  // per cell; node_: the node's first cell, -1 on branches
    std::vector<found> found_;
    std::vector<std::int64_t> stack_;
};

std::size_t number_of(const skeleton_cells& cells, const place& at) {
    std::int64_t linear = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(cells.axes); ++k) linear = linear * cells.shape[k] + at[k];
    return static_cast<std::size_t>(std::lower_bound(cells.at.begin(), cells.at.end(), linear) - cells.at.begin());
}

/// The two ends of a branch that runs from a tip to a junction.
struct pruned_ends {
    std::size_t tip, junction;
};
pruned_ends ends_of(const skeleton_graph& graph, const skeleton_branch& b) {
    const std::size_t src = number_of(graph.cells, b.src), dst = number_of(graph.cells, b.dst);
    const bool tip_first = graph.nodes[static_cast<std::size_t>(b.node_src)].kind == node_kind::tip;
    return tip_first ? pruned_ends{src, dst} : pruned_ends{dst, src};
}

bool is_cut(const skeleton_graph& graph, const skeleton_branch& b, branch_rule rule, double bound) {
    if (b.kind != branch_kind::tip_junction) return false;
    if (rule == branch_rule::length) return b.length < bound;
    const auto [tip, junction] = ends_of(graph, b);
    const double at_junction = graph.cells.values[junction], at_tip = graph.cells.values[tip];
    if (rule == branch_rule::ratio) return b.length < bound * at_junction;
    constexpr double half_a_degree = 3.14159265358979323846 / 360;
    return at_junction - at_tip > b.length * std::cos(bound * half_a_degree);
}

/// Returns whether at least two neighbours remain, and are connected without the cell.
bool is_passed_by(const neighbours& near, std::size_t cell, const std::vector<char>& gone) {
    std::vector<std::int64_t> left, reached;
    for (const std::int64_t other : near[static_cast<std::int64_t>(cell)])
        if (gone[static_cast<std::size_t>(other)] == 0) left.push_back(other);
    if (left.size() < 2) return false;
    reached.push_back(left.back()), left.pop_back();
    for (std::size_t next = 0; next < reached.size(); ++next)
        for (const std::int64_t other : near[reached[next]])
            if (const auto at = std::find(left.begin(), left.end(), other); at != left.end())
                reached.push_back(other), left.erase(at);
    return left.empty();
}

/// Removes the cells of cut branches; returns false if no branch is cut. It also removes the junction's cell where a
/// cut branch began, if its neighbours stay connected: the cell would remain as a bulge that looks like a junction.
bool cut(const skeleton_graph& graph, branch_rule rule, double bound, skeleton_cells& left) {
    std::vector<char> cut_off;
    std::vector<std::size_t> ends;
    for (const skeleton_branch& each : graph.branches) {
        cut_off.push_back(is_cut(graph, each, rule, bound) ? 1 : 0);
        if (cut_off.back() != 0) ends.push_back(ends_of(graph, each).junction);
    }
    if (ends.empty()) return false;
    std::vector<char> gone(graph.cells.at.size());
    for (std::size_t cell = 0; cell < gone.size(); ++cell)
        if (const std::int64_t branch = graph.branch_of[cell]; branch >= 0)
            gone[cell] = cut_off[static_cast<std::size_t>(branch)];
    const neighbours near(graph.cells);
    std::sort(ends.begin(), ends.end());
    for (const std::size_t end : ends)
        if (gone[end] == 0 && is_passed_by(near, end, gone)) gone[end] = 1;
    left = graph.cells;
    left.at.clear(), left.values.clear();
    for (std::size_t cell = 0; cell < gone.size(); ++cell) {
        if (gone[cell] != 0) continue;
        left.at.push_back(graph.cells.at[cell]);
        if (graph.cells.measured) left.values.push_back(graph.cells.values[cell]);
    }
    return true;
}

void check_cells(const skeleton_cells& cells) {
    const std::int64_t all = cells.shape[0] * cells.shape[1] * cells.shape[2];
    const bool ascending = std::adjacent_find(cells.at.begin(), cells.at.end(), std::greater_equal{}) == cells.at.end();
    if (cells.axes < 1 || cells.axes > 3 || !ascending ||
        (!cells.at.empty() && (cells.at.front() < 0 || cells.at.back() >= all)))
        fail("cells.at is not ascending, or has cells outside of the shape; give each cell of 1 to 3 axes once");
    if (cells.measured && cells.values.size() != cells.at.size())
        fail(fmt::format("cells.values has {} entries for {} cells; give one a cell, or none", cells.values.size(),
                         cells.at.size()));
}

}  // namespace
}  // namespace skeleton

skeleton_graph graph_of(skeleton_cells cells) {
    return in_call([&] {
        skeleton::check_cells(cells);
        if (rehearsal* const now = rehearsing()) {
            const std::int64_t all = cells.shape[0] * cells.shape[1] * cells.shape[2];
            now->note_arrays(false, all, all, 0);  // unless cells_of_skeleton() has noted the image
            now->note_step("tips, junctions and branches; 100 bytes a cell of the skeleton");
        }
        for (std::size_t k = 0; k < 3; ++k) cells.wraps[k] = cells.wraps[k] && cells.shape[k] > 1;
        return skeleton::tracer(std::move(cells)).traced();
    });
}

skeleton_graph pruned(const skeleton_graph& graph, branch_rule rule, double bound) {
    return in_call([&] {
        if (!(bound >= 0)) fail(fmt::format("bound is {}; give a number from 0 on", bound));
        if (rule != branch_rule::length && !graph.cells.measured)
            fail("the graph has no values, with which ratio and angle compare; give radii as values");
        skeleton_graph left = graph;
        for (skeleton_cells cells; skeleton::cut(left, rule, bound, cells);)
            left = skeleton::tracer(std::move(cells)).traced();
        return left;
    });
}

}  // namespace nearfield
