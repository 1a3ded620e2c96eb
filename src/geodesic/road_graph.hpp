// The graph of a roadmap: which nodes are connected, and shortest ways by A* with landmarks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"

namespace nearfield::geodesics {

/// Nodes, and roads between them with two directions. It also keeps the lengths of the ways from some nodes, the
/// landmarks, to all others: the way between two nodes is no shorter than the difference of their ways to a landmark.
///
/// Goldberg, Harrelson, "Computing the shortest path: A* search meets graph theory", SODA 2005.
class road_graph {
public:
    struct link {
        std::int64_t from, to;
        double length;
    };
    struct place {
        std::int64_t node;
        double length;  ///< of the way between a node and the start, or the goal
    };
    struct way {
        double length = std::numeric_limits<double>::infinity();
        std::size_t start = 0, goal = 0;    ///< the places between which it leads
        std::vector<std::int64_t> nodes{};  ///< in order
        std::vector<std::size_t> roads{};   ///< between them
    };

    /// `at` has `axes` coordinates of each node.
    road_graph(const std::vector<link>& roads, std::vector<double> at, std::size_t axes, workers& team)
        : axes_(axes), at_(std::move(at)), first_(at_.size() / axes + 1), arcs_(2 * roads.size()) {
        for (const link& each : roads) ++first_[index(each.from)], ++first_[index(each.to)];
        for (std::size_t sum = 0, node = 0; node < first_.size(); ++node) sum += std::exchange(first_[node], sum);
        std::vector<std::size_t> next(first_.begin(), first_.end());
        for (std::size_t k = 0; k < roads.size(); ++k) {
            const auto& [from, to, length] = roads[k];
            arcs_[next[index(from)]++] = {length, k, to}, arcs_[next[index(to)]++] = {length, k, from};
        }
        number_components();
        set_landmarks(team);
    }

    [[nodiscard]] bool connects(std::int64_t a, std::int64_t b) const {
        return component_[index(a)] == component_[index(b)];
    }

    /// Finds the shortest way from one of the starts to one of the goals, which is at `end`, that is shorter than
    /// `most`. It has an infinite length if there is none.
    [[nodiscard]] way shortest(std::span<const place> starts, std::span<const place> goals, const double* end,
                               double most) const {
        search s(*this);
        const auto least = [&](std::int64_t node) { return bound(node, goals, end); };
        for (std::size_t k = 0; k < starts.size(); ++k)
            s.reach(starts[k].node, starts[k].length, {-1 - static_cast<std::int64_t>(k), 0}, least);
        way best;
        std::int64_t last = -1;
        while (s.next() < std::min(most, best.length)) {
            const auto [node, length] = s.take();
            if (node < 0) continue;
            for (std::size_t k = 0; k < goals.size(); ++k)
                if (goals[k].node == node && length + goals[k].length < std::min(most, best.length))
                    best.length = length + goals[k].length, best.goal = k, last = node;
            for_arcs(node, [&](const arc& a) { s.reach(a.to, length + a.length, {node, a.road}, least); });
        }
        for (; last >= 0; last = s.before(last).node) {
            best.nodes.push_back(last);
            const auto [node, road] = s.before(last);
            if (node >= 0) best.roads.push_back(road);
            else best.start = static_cast<std::size_t>(-1 - node);
        }
        std::reverse(best.nodes.begin(), best.nodes.end()), std::reverse(best.roads.begin(), best.roads.end());
        return best;
    }

private:
    struct arc {
        double length;
        std::size_t road;
        std::int64_t to;
    };
    /// The node before another one, and the road between them; start k is node -1 - k.
    struct step {
        std::int64_t node;
        std::size_t road;
    };

    /// Nodes that a search has reached. Its memory begins as zeros, of which the system makes only touched pages.
    class search {
    public:
        explicit search(const road_graph& graph)
            : known_(static_cast<known*>(std::calloc(graph.component_.size(), sizeof(known)))) {
            if (known_ == nullptr) throw std::bad_alloc();
        }
        /// Notes a way to a node; `least` bounds the rest of the way.
        template <class Least>
        void reach(std::int64_t node, double length, step by, const Least& least) {
            known& k = known_.get()[node];
            if (k.is_reached && !(length < k.length)) return;
            k = {length, k.is_reached ? k.rest : least(node), by, true};
            heap_.push({length + k.rest, length, node});
        }
        /// Lower bound of the lengths of ways that are left.
        [[nodiscard]] double next() const {
            return heap_.empty() ? std::numeric_limits<double>::infinity() : heap_.top().whole;
        }
        /// Returns the next node and the length of its way; node -1 if a shorter way was found before.
        [[nodiscard]] place take() {
            const entry e = heap_.top();
            heap_.pop();
            return {e.length > known_.get()[e.node].length ? -1 : e.node, e.length};
        }
        [[nodiscard]] step before(std::int64_t node) const { return known_.get()[node].by; }

    private:
        struct known {
            double length, rest;
            step by;
            bool is_reached;
        };
        struct entry {
            double whole, length;
            std::int64_t node;
            bool operator>(const entry& other) const { return whole > other.whole; }
        };
        struct release {
            void operator()(void* memory) const { std::free(memory); }
        };
        std::unique_ptr<known, release> known_;
        std::priority_queue<entry, std::vector<entry>, std::greater<>> heap_;
    };

    static std::size_t index(std::int64_t node) { return static_cast<std::size_t>(node); }
    template <class Use>
    void for_arcs(std::int64_t node, const Use& use) const {
        for (std::size_t k = first_[index(node)]; k < first_[index(node) + 1]; ++k) use(arcs_[k]);
    }
    [[nodiscard]] double apart(std::int64_t node, const double* end) const {
        double square = 0;
        for (std::size_t k = 0; k < axes_; ++k) {
            const double by = at_[index(node) * axes_ + k] - end[k];
            square += by * by;
        }
        return std::sqrt(square);
    }
    /// Lower bound of the way from a node to the goals: a straight line, or what a landmark tells.
    [[nodiscard]] double bound(std::int64_t node, std::span<const place> goals, const double* end) const {
        constexpr float rounded = 0x1p-23F;  // twice the rounding of a length to float
        double best = (1 - 1e-12) * apart(node, end);
        const float* const its = far_.data() + index(node) * landmarks_;
        for (std::size_t k = 0; k < landmarks_; ++k) {
            double least = std::numeric_limits<double>::infinity();
            for (const place& goal : goals) {
                const float that = far_[index(goal.node) * landmarks_ + k];
                least = std::min<double>(least, std::abs(its[k] - that) - rounded * (its[k] + that) + goal.length);
            }
            if (least > best) best = least;
        }
        return best;
    }

    void number_components() {
        component_.assign(first_.size() - 1, -1);
        std::vector<std::int64_t> wait;
        for (std::int64_t node = 0; node < std::ssize(component_); ++node) {
            if (component_[index(node)] >= 0) continue;
            const auto add = [&](std::int64_t to) {
                if (component_[index(to)] < 0) component_[index(to)] = node, wait.push_back(to);
            };
            for (add(node); !wait.empty();) {
                const std::int64_t from = wait.back();
                wait.pop_back();
                for_arcs(from, [&](const arc& a) { add(a.to); });
            }
        }
    }
    /// Chooses nodes of the largest component, each as far as it can be from those before, and measures ways to them.
    void set_landmarks(workers& team) {
        std::vector<std::int64_t> size(component_.size());
        for (const std::int64_t each : component_) ++size[index(each)];
        const std::int64_t largest = std::max_element(size.begin(), size.end()) - size.begin();
        if (size.empty() || size[index(largest)] < 2) return;
        std::vector<double> away(size.size(), std::numeric_limits<double>::infinity());
        std::vector<std::int64_t> chosen{largest};  // begins with the first node of the component
        while (chosen.size() < most_landmarks) {
            team.go_on(0);
            std::int64_t farthest = largest;
            for (std::int64_t node = 0; node < std::ssize(away); ++node) {
                if (component_[index(node)] != largest) continue;
                double& its = away[index(node)];
                its = std::min(its, apart(node, &at_[index(chosen.back()) * axes_]));
                if (its > away[index(farthest)]) farthest = node;
            }
            chosen.push_back(farthest);
        }
        landmarks_ = chosen.size(), far_.assign(size.size() * landmarks_, 0);
        team.for_each(std::ssize(chosen), 1, 0, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t k = first; k < last; ++k) measure(chosen[index(k)], index(k), team);
        });
    }
    void measure(std::int64_t landmark, std::size_t number, workers& team) {
        constexpr std::int64_t nodes_at_once = 1 << 14;
        search s(*this);
        const auto nothing = [](std::int64_t) { return 0.0; };
        s.reach(landmark, 0, {-1, 0}, nothing);
        for (std::int64_t taken = 0; s.next() < std::numeric_limits<double>::infinity(); ++taken) {
            if (taken % nodes_at_once == 0) team.go_on(0);
            const auto [node, length] = s.take();
            if (node < 0) continue;
            far_[index(node) * landmarks_ + number] = static_cast<float>(length);
            for_arcs(node, [&](const arc& a) { s.reach(a.to, length + a.length, {node, a.road}, nothing); });
        }
    }

    static constexpr std::size_t most_landmarks = 8;
    std::size_t axes_, landmarks_ = 0;
    std::vector<double> at_;
    std::vector<std::size_t> first_;  ///< of each node's arcs, and their number
    std::vector<arc> arcs_;
    std::vector<std::int64_t> component_;  ///< the first node of a node's component
    std::vector<float> far_;               ///< from each landmark, node after node; 0 in other components
};

}  // namespace nearfield::geodesics
