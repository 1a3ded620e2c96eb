// Roadmaps: the skeleton of the free cells as a graph, paths down to it, and A* on it.
#include "nearfield/roadmap.hpp"

#include <map>
#include <optional>

#include "base/call.hpp"
#include "geodesic/planner.hpp"
#include "geodesic/road_graph.hpp"

namespace nearfield {

using geodesics::planner;
using geodesics::road_graph;

struct [[gnu::visibility("hidden")]] roadmap::parts {
    const path_options options;
    std::unique_ptr<geodesics::path_fields> fields;
    planner free;
    std::vector<std::int64_t> node_cell, nodes;
    std::vector<double> radii;
    std::vector<road> roads;
    std::optional<road_graph> graph;

    /// A cell's place on the map: a node, or a cell between the ends of a road.
    struct spot {
        std::int64_t node = -1;
        std::size_t road = 0, at = 0;  ///< the road, and the cell's index on it
    };
    std::map<std::int64_t, spot> spots;
    std::vector<std::vector<double>> way;  ///< for each road, the length up to each of its cells
    using marks = std::span<const std::uint8_t>;

    parts(std::unique_ptr<geodesics::path_fields> f, const path_options& o)
        : options(o), fields(std::move(f)), free(*fields, {}, options) {
        skeleton_options how;
        how.spacing = options.spacing, how.faces = true;
        const host_scratch<std::uint8_t> thin = fields->thinned(free.rule(), how);
        const std::int64_t cells = rehearsing() != nullptr ? 0 : count_cells();
        const marks skeleton(thin.get(), static_cast<std::size_t>(cells));
        const host asking = fields->asking();
        workers team(asking, 1);
        find_nodes(skeleton, team);
        follow_roads(skeleton, team);
        make_graph(team);
        std::vector<std::int64_t> seeds;
        for (const auto& [cell, where] : spots) seeds.push_back(cell);
        free.lead_to(std::move(seeds));
        if (rehearsing() != nullptr) fields.reset();  // the map may outlive the rehearsal, whose memory this is
    }

    // ---- cells ------------------------------------------------------------------------------------------------------

    [[nodiscard]] std::int64_t count_cells() const {
        return std::accumulate(free.shape().begin(), free.shape().end(), std::int64_t{1}, std::multiplies<>());
    }
    [[nodiscard]] double clearance(std::int64_t cell) const { return std::sqrt(free.squared(cell)); }
    void append(std::int64_t cell, std::vector<std::int64_t>& to) const {
        std::int64_t at[max_rank];
        free.locate(cell, at);
        to.insert(to.end(), at, at + free.shape().size());
    }
    /// Appends the coordinates of a cell in units of the spacing.
    void append_point(std::int64_t cell, std::vector<double>& to) const {
        std::int64_t at[max_rank];
        free.locate(cell, at);
        for (std::size_t axis = 0; axis < free.shape().size(); ++axis)
            to.push_back(free.lengths()[axis] * static_cast<double>(at[axis]));
    }
    /// Face neighbours of a cell that are in the skeleton.
    [[nodiscard]] std::vector<std::int64_t> beside(std::int64_t cell, marks skeleton) const {
        std::vector<std::int64_t> found;
        std::int64_t at[max_rank];
        free.locate(cell, at);
        std::int64_t pitch = 1;
        for (std::size_t axis = free.shape().size(); axis-- > 0; pitch *= free.shape()[axis])
            for (const std::int64_t by : {std::int64_t{-1}, std::int64_t{1}}) {
                const std::int64_t there = at[axis] + by, to = cell + by * pitch;
                if (there >= 0 && there < free.shape()[axis] && skeleton[static_cast<std::size_t>(to)] != 0)
                    found.push_back(to);
            }
        return found;
    }
    [[nodiscard]] double apart(std::int64_t a, std::int64_t b) const {
        std::int64_t of_a[max_rank], of_b[max_rank];
        free.locate(a, of_a), free.locate(b, of_b);
        double square = 0;
        for (std::size_t axis = 0; axis < free.shape().size(); ++axis) {
            const double by = free.lengths()[axis] * static_cast<double>(of_a[axis] - of_b[axis]);
            square += by * by;
        }
        return std::sqrt(square);
    }
    [[nodiscard]] bool clear(std::int64_t a, std::int64_t b) const {
        std::int64_t of_a[max_rank], of_b[max_rank];
        free.locate(a, of_a), free.locate(b, of_b);
        return free.clear(of_a, of_b, -1);
    }
    /// Shortens a chain of steps along axes: drops a corner if the diagonal past it is clear.
    [[nodiscard]] std::vector<std::int64_t> without_corners(const std::vector<std::int64_t>& chain) const {
        std::vector<std::int64_t> made{chain.front()};
        for (std::size_t i = 0; i + 1 < chain.size();) {
            const bool turns = i + 2 < chain.size() && chain[i + 2] != chain[i] &&
                               chain[i + 2] - chain[i + 1] != chain[i + 1] - chain[i];
            i += turns && clear(chain[i], chain[i + 2]) ? 2 : 1;
            made.push_back(chain[i]);
        }
        return made;
    }
    [[nodiscard]] std::int64_t cell_at(const char* name, std::span<const std::int64_t> given) const {
        if (given.size() != free.shape().size())
            fail(fmt::format("{} has {} coordinates; give {}", name, given.size(), free.shape().size()));
        for (std::size_t axis = 0; axis < given.size(); ++axis)
            if (given[axis] < 0 || given[axis] >= free.shape()[axis])
                fail(fmt::format("{} has {} along axis {}; give 0 to {}", name, given[axis], axis,
                                 free.shape()[axis] - 1));
        return free.place(given.data());
    }

    // ---- the graph --------------------------------------------------------------------------------------------------

    /// Calls use(cell) for the skeleton's cells, and asks now and then whether to go on.
    static void for_marked(marks skeleton, workers& team, const auto& use) {
        constexpr std::size_t cells_at_once = 1 << 16;
        for (std::size_t cell = 0; cell < skeleton.size(); ++cell) {
            if (cell % cells_at_once == 0) team.go_on(0);
            if (skeleton[cell] != 0) use(static_cast<std::int64_t>(cell));
        }
    }
    void find_nodes(marks skeleton, workers& team) {
        for_marked(skeleton, team, [&](std::int64_t cell) {
            if (beside(cell, skeleton).size() != 2) add_node(cell);
        });
    }
    void add_node(std::int64_t cell) {
        spots[cell] = {std::ssize(node_cell), 0, 0};
        node_cell.push_back(cell), radii.push_back(clearance(cell));
        append(cell, nodes);
    }
    /// Follows roads from nodes, then rings, on which no cell is a node yet.
    void follow_roads(marks skeleton, workers& team) {
        const host_scratch<std::uint8_t> memory(count_cells());
        clear_scratch(memory.get(), count_cells());
        const std::span seen(memory.get(), skeleton.size());
        const auto from_node = [&](std::int64_t cell) {
            seen[static_cast<std::size_t>(cell)] = 1;
            for (const std::int64_t next : beside(cell, skeleton)) {
                const auto other = spots.find(next);
                const bool node = other != spots.end() && other->second.node >= 0;
                if (node ? next > cell : seen[static_cast<std::size_t>(next)] == 0) follow(cell, next, skeleton, seen);
            }
        };
        constexpr std::size_t nodes_at_once = 4096;
        for (std::size_t k = 0, count = node_cell.size(); k < count; ++k) {
            if (k % nodes_at_once == 0) team.go_on(0);
            from_node(node_cell[k]);
        }
        for_marked(skeleton, team, [&](std::int64_t cell) {
            if (seen[static_cast<std::size_t>(cell)] == 0) add_node(cell), from_node(cell);
        });
    }
    void follow(std::int64_t cell, std::int64_t next, marks skeleton, std::span<std::uint8_t> seen) {
        std::vector<std::int64_t> chain{cell, next};
        const auto is_node = [&](std::int64_t c) {
            const auto found = spots.find(c);
            return found != spots.end() && found->second.node >= 0;
        };
        while (!is_node(chain.back())) {
            seen[static_cast<std::size_t>(chain.back())] = 1;
            const auto two = beside(chain.back(), skeleton);
            chain.push_back(two.front() == chain[chain.size() - 2] ? two.back() : two.front());
        }
        add_road(without_corners(chain));
    }
    void add_road(const std::vector<std::int64_t>& cells) {
        road made{spots.at(cells.front()).node, spots.at(cells.back()).node, 0, clearance(cells.front()), {}};
        std::vector<double> upto{0};
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (i > 0) upto.push_back(upto.back() + apart(cells[i - 1], cells[i]));
            if (i > 0 && i + 1 < cells.size()) spots[cells[i]] = {-1, roads.size(), i};
            made.clearance = std::min(made.clearance, clearance(cells[i]));
            append(cells[i], made.cells);
        }
        made.length = upto.back();
        roads.push_back(std::move(made)), way.push_back(std::move(upto));
    }

    void make_graph(workers& team) {
        std::vector<road_graph::link> links;
        for (const road& each : roads) links.push_back({each.from, each.to, each.length});
        std::vector<double> at;
        for (const std::int64_t cell : node_cell) append_point(cell, at);
        graph.emplace(links, std::move(at), free.shape().size(), team);
    }

    // ---- a path -----------------------------------------------------------------------------------------------------

    /// A part of a road, from one of its cells to another, by index.
    struct part {
        std::size_t road = 0, from = 0, to = 0;
    };
    /// A node that a spot reaches along its road, and the length of that way.
    struct exit {
        std::int64_t node;
        double length;
        part by;
    };
    [[nodiscard]] std::vector<exit> exits(const spot& s) const {
        if (s.node >= 0) return {{s.node, 0, {}}};
        const std::size_t last = way[s.road].size() - 1;
        return {{roads[s.road].from, way[s.road][s.at], {s.road, s.at, 0}},
                {roads[s.road].to, way[s.road][last] - way[s.road][s.at], {s.road, s.at, last}}};
    }

    /// Finds the shortest way between two cells, as parts; false if there is none.
    bool connect(std::int64_t from, std::int64_t to, std::vector<part>& found) const {
        const spot &a = spots.at(from), &b = spots.at(to);
        const std::vector<exit> of_a = exits(a), of_b = exits(b);
        if (!graph->connects(of_a.front().node, of_b.front().node)) return false;
        double along = std::numeric_limits<double>::infinity();  // the length of a way that passes no node
        if (a.node < 0 && b.node < 0 && a.road == b.road) along = std::abs(way[a.road][a.at] - way[a.road][b.at]);
        std::vector<road_graph::place> starts, goals;
        for (const exit& e : of_a) starts.push_back({e.node, e.length});
        for (const exit& e : of_b) goals.push_back({e.node, e.length});
        std::vector<double> end;
        append_point(to, end);
        const road_graph::way best = graph->shortest(starts, goals, end.data(), along);
        if (best.nodes.empty()) return found = {{a.road, a.at, b.at}}, true;
        found = {of_a[best.start].by};
        for (std::size_t i = 0; i < best.roads.size(); ++i) {
            const std::size_t k = best.roads[i], last = way[k].size() - 1;
            found.push_back(roads[k].from == best.nodes[i] ? part{k, 0, last} : part{k, last, 0});
        }
        const part& by = of_b[best.goal].by;
        found.push_back({by.road, by.to, by.from});
        return true;
    }

    [[nodiscard]] path find(std::span<const std::int64_t> start, std::span<const std::int64_t> goal,
                            bool smooth) const {
        if (fields == nullptr) return {};  // made in a rehearsal
        const std::int64_t a = cell_at("start", start), b = cell_at("goal", goal);
        path p;
        p.start_clearance = clearance(a);
        if (!free.is_free(a)) p.reason = path_reason::start_blocked;
        else if (!free.is_free(b)) p.reason = path_reason::goals_blocked;
        if (p.reason != path_reason::found) return p;
        std::vector<std::int64_t> cells = free.way_from(a), back = free.way_from(b);
        const std::size_t axes = free.shape().size();
        std::vector<part> by;
        if (!connect(free.place(&cells[cells.size() - axes]), free.place(&back[back.size() - axes]), by)) {
            p.reason = path_reason::not_connected;
            return p;
        }
        for (const part& each : by)
            for (std::size_t at = each.from; at != each.to;) {
                at += each.to > at ? 1 : std::size_t(-1);
                const auto on = roads[each.road].cells.begin() + static_cast<std::ptrdiff_t>(at * axes);
                cells.insert(cells.end(), on, on + static_cast<std::ptrdiff_t>(axes));
            }
        for (std::size_t i = back.size() - axes; i > 0; i -= axes)
            cells.insert(cells.end(), &back[i - axes], &back[i - axes] + axes);
        p.goal = 0;
        free.finish(std::move(cells), smooth, p);
        return p;
    }
};

namespace {

/// Checks the arguments, and returns the options of paths that belong to them.
template <class Place>
path_options checked(const any_input<Place>& obstacles, const roadmap_options& options) {
    check_image<Place>("obstacles", obstacles, std::int64_t{1} << 31);
    if (obstacles.rank > 3) fail(fmt::format("obstacles has {} axes; give 1 to 3", obstacles.rank));
    const named_view<Place> all[] = {{"obstacles", obstacles}};
    check_data<Place>(all);
    if (!(options.radius >= 0) || !std::isfinite(options.radius))
        fail(fmt::format("radius is {}; give a length of at least 0", options.radius));
    path_options o;
    o.radius = options.radius, o.spacing = options.spacing;
    return o;
}

}  // namespace

roadmap::roadmap(const host& on, const any_input<host>& obstacles, const roadmap_options& options) {
    in_call([&] {
        geodesics::check_threads(on);
        const path_options o = checked(obstacles, options);
        parts_ = std::make_unique<parts>(std::make_unique<geodesics::host_fields>(on, obstacles), o);
    });
}
roadmap::roadmap(const device& on, const any_input<device>& obstacles, const roadmap_options& options) {
    in_call([&] {
        const path_options o = checked(obstacles, options);
        rehearse_step("memory of the host beside that of the device: 18 bytes a cell");
        parts_ = std::make_unique<parts>(geodesics::kept_fields_of(on, obstacles), o);
    });
}
roadmap::~roadmap() = default;
roadmap::roadmap(roadmap&&) noexcept = default;
roadmap& roadmap::operator=(roadmap&&) noexcept = default;

std::span<const std::int64_t> roadmap::nodes() const { return parts_->nodes; }
std::span<const double> roadmap::radii() const { return parts_->radii; }
std::span<const road> roadmap::roads() const { return parts_->roads; }
path roadmap::find(std::span<const std::int64_t> start, std::span<const std::int64_t> goal, bool smooth) const {
    return in_call([&] { return parts_->find(start, goal, smooth); });
}

}  // namespace nearfield
