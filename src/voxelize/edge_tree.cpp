#include "voxelize/edge_tree.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace nearfield::voxels {
namespace {

constexpr double turn = 4 * std::numbers::pi;  // as a solid angle
constexpr double allowed_change = 1.0 / 64;    // part of a turn by which a node may change within the reach

using corner = std::array<double, 3>;
corner corner_of(const open_edges& of, std::int32_t vertex) {
    corner made{};
    for (std::size_t k = 0; k < 3; ++k) made[k] = of.unit[k] * of.vertices[vertex][k];
    return made;
}
corner operator-(const corner& a, const corner& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double length_of(const corner& a) { return std::sqrt((a[0] * a[0] + a[1] * a[1]) + a[2] * a[2]); }
corner area_of(const corner& u, const corner& w) {
    return {(u[1] * w[2] - u[2] * w[1]) / 2, (u[2] * w[0] - u[0] * w[2]) / 2, (u[0] * w[1] - u[1] * w[0]) / 2};
}

}  // namespace

edge_tree::edge_tree(const open_edges& of) : edges_(of) {
    std::vector<chain> all = chains_of(of);
    add_chains(all.data(), std::ssize(all));
}

std::vector<edge_tree::chain> edge_tree::chains_of(const open_edges& of) {
    // Edges in the direction in which net is positive, by net and first vertex.
    std::multimap<std::pair<std::int64_t, std::int32_t>, std::int32_t> left;
    for (const meshes::open_edge& e : std::span(of.edges, static_cast<std::size_t>(of.count)))
        left.emplace(std::pair(std::abs(e.net), e.net > 0 ? e.from : e.to), e.net > 0 ? e.to : e.from);
    std::vector<chain> made;
    while (!left.empty()) {
        chain& own = made.emplace_back();
        for (auto next = left.begin(); next != left.end();) {
            const auto [net, from] = next->first;
            own.push_back({from, next->second, net});
            left.erase(next);
            next = own.back().to == own[0].from ? left.end() : left.find({net, own.back().to});
        }
    }
    return made;
}

edge_tree::node edge_tree::measured(const meshes::open_edge* first, std::int64_t count) const {
    node made{};
    made.straight = {first->from, first[count - 1].to, first->net}, made.is_edge = count == 1;
    const corner apex = corner_of(edges_, first->from);
    const auto net = static_cast<double>(first->net);
    for (std::int64_t n = 0; n < count; ++n) {
        const corner a = corner_of(edges_, first[n].from), b = corner_of(edges_, first[n].to);
        const corner area = area_of(a - apex, b - apex);
        made.area += net * length_of(area);
        for (std::size_t k = 0; k < 3; ++k) made.normal[k] += net * area[k];
        for (std::size_t k = 0; k < 3; ++k) {
            const auto [low, high] = std::minmax(edges_.vertices[first[n].from][k], edges_.vertices[first[n].to][k]);
            made.low[k] = n == 0 ? low : std::min(made.low[k], low);
            made.high[k] = n == 0 ? high : std::max(made.high[k], high);
        }
    }
    return made;
}

std::size_t edge_tree::add(node made) {
    for (std::size_t k = 0; k < 3; ++k) {
        const double from = edges_.unit[k] * made.low[k], to = edges_.unit[k] * made.high[k];
        made.middle[k] = (from + to) / 2, made.half[k] = (to - from) / 2;
    }
    made.radius = length_of({made.half[0], made.half[1], made.half[2]});
    nodes_.push_back(made);
    return nodes_.size() - 1;
}

void edge_tree::add_part(const meshes::open_edge* first, std::int64_t count) {
    const std::size_t own = add(measured(first, count));
    if (count > 1) add_part(first, count / 2), add_part(first + count / 2, count - count / 2);
    nodes_[own].after = static_cast<std::uint32_t>(nodes_.size());
}

void edge_tree::add_chains(chain* first, std::int64_t count) {
    if (count == 0) return;
    if (count == 1) return add_part(first->data(), std::ssize(*first));
    node whole{};
    for (std::int64_t n = 0; n < count; ++n) {
        const node one = measured(first[n].data(), std::ssize(first[n]));
        whole.area += one.area;
        if (one.straight.from != one.straight.to) whole.area = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < 3; ++k) {
            whole.normal[k] += one.normal[k];
            whole.low[k] = n == 0 ? one.low[k] : std::min(whole.low[k], one.low[k]);
            whole.high[k] = n == 0 ? one.high[k] : std::max(whole.high[k], one.high[k]);
        }
    }
    const std::size_t own = add(whole);
    const auto wide = [&](std::size_t k) { return edges_.unit[k] * static_cast<double>(whole.high[k] - whole.low[k]); };
    std::size_t axis = wide(1) > wide(0) ? 1 : 0;
    if (wide(2) > wide(axis)) axis = 2;
    const auto before = [&](const chain& a, const chain& b) {
        return edges_.vertices[a[0].from][axis] < edges_.vertices[b[0].from][axis];
    };
    std::nth_element(first, first + count / 2, first + count, before);
    add_chains(first, count / 2), add_chains(first + count / 2, count - count / 2);
    nodes_[own].after = static_cast<std::uint32_t>(nodes_.size());
}

open_edges::seen edge_tree::at(const std::int64_t* cell, double reach, double allowed) const {
    open_edges::seen made;
    double place[3], dipoles = 0;
    for (int k = 0; k < 3; ++k) place[k] = edges_.unit[k] * static_cast<double>(cell[k]);
    for (std::size_t n = 0; n < nodes_.size() && made.change < 0.5;) {
        const node& own = nodes_[n++];
        if (own.is_edge) {
            edges_.add(own.straight, cell, reach, made);
            continue;
        }
        double to_it[3], distance2 = 0;
        bool above = cell[2] >= own.low[2];
        for (int k = 0; k < 3; ++k) {
            to_it[k] = own.middle[k] - place[k];
            const double away = std::max(std::abs(to_it[k]) - own.half[k], 0.0);
            distance2 += away * away;
            above = above && (k == 2 || (cell[k] >= own.low[k] && cell[k] <= own.high[k]));
        }
        const double distance = std::sqrt(distance2), near = distance - reach, area = 2 * own.area / turn,
                     error = area * own.radius / (distance2 * distance), change = area * reach / (near * near * near);
        if (above || !(error < allowed) || !(near > 0) || !(change < allowed_change)) continue;
        made.change += error + change, n = own.after;
        const double away_from_it = length_of({to_it[0], to_it[1], to_it[2]});
        dipoles += ((own.normal[0] * to_it[0] + own.normal[1] * to_it[1]) + own.normal[2] * to_it[2]) /
                   (away_from_it * away_from_it * away_from_it);
        if (own.straight.from != own.straight.to) edges_.add(own.straight, cell, reach, made);
    }
    const double turns = std::round(dipoles / turn), rest = (dipoles - turns * turn) / 2;
    made.sum.add(std::cos(rest), std::sin(rest), rest < 0);
    made.sum.turns += static_cast<std::int64_t>(turns);
    return made;
}

bool edge_tree::is_below(const std::int64_t* first, const std::int64_t* last) const {
    for (std::size_t n = 0; n < nodes_.size();) {
        const node& own = nodes_[n];
        const bool meets = own.high[0] >= first[0] && own.low[0] <= last[0] && own.high[1] >= first[1] &&
                           own.low[1] <= last[1] && own.low[2] <= last[2];
        if (meets && own.is_edge) return true;
        n = meets ? n + 1 : own.after;
    }
    return false;
}

}  // namespace nearfield::voxels
