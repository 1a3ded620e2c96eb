#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "edge/device_arrays.hpp"
#include "edge/paths_run.hpp"
#include "nearfield/occupancy_map.hpp"
#include "nearfield/roadmap.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

using cells = std::vector<std::int64_t>;
/// Returns cells, length, clearance, cost, whether found, reason, goal, component of the start and those of the goals.
using path_row =
    std::tuple<nb::bytes, double, double, std::uint64_t, bool, std::string, std::int64_t, std::int64_t, cells>;

path_row row_of(path p) {
    return {bytes_of(p.cells),
            p.length,
            p.clearance,
            p.cost,
            p.reason == path_reason::found,
            p.text(),
            p.goal,
            p.start_component,
            std::move(p.goal_components)};
}

/// Clearances and costs.
using cost_rows = std::vector<std::tuple<double, double>>;

cost_rows nav2_costs(double resolution, double inscribed_radius, double inflation_radius, double cost_scaling_factor,
                     double weight) {
    cost_rows rows;
    for (const auto& [clearance, cost] :
         nav2_clearance_costs({resolution, inscribed_radius, inflation_radius, cost_scaling_factor}, weight))
        rows.emplace_back(clearance, cost);
    return rows;
}

std::vector<path_row> plan(const array& obstacles, const cells& starts, const cells& goals,
                           const distance_options& grid, double radius, int objective, int connectivity, double weight,
                           double decay, const cost_rows& costs, bool smooth, int ordinal, std::uintptr_t stream,
                           bool staged, int threads, const nb::object& progress) {
    path_options o;
    o.radius = radius, o.spacing = grid.spacing, o.border = grid.border,
    o.objective = static_cast<path_objective>(objective);
    o.connectivity = connectivity, o.clearance_weight = weight, o.clearance_decay = decay, o.smooth = smooth;
    std::vector<clearance_cost> table;
    for (const auto& [clearance, cost] : costs) table.push_back({clearance, cost});
    o.clearance_costs = table;
    std::vector<path> found;
    run(
        {ordinal, stream, staged, threads, progress}, obstacles.cells(),
        [&](const host& on) { found = plan_path(on, obstacles.view<const void, host>(), starts, goals, o); },
        [&](const device& on) { found = plan_path(on, obstacles.view<const void, device>(), starts, goals, o); },
        [&](int on) { edge::plan_path_on_device(on, obstacles.view<const void, host>(), starts, goals, o, found); });
    std::vector<path_row> rows;
    for (path& p : found) rows.push_back(row_of(std::move(p)));
    return rows;
}

const roadmap* made_roadmap(const array& obstacles, const distance_options& grid, double radius, int ordinal,
                            std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    const roadmap_options o{radius, grid.spacing};
    std::unique_ptr<const roadmap> made;
    const auto call = [&]<class Place>(const Place& on) {
        made = std::make_unique<const roadmap>(on, obstacles.view<const void, Place>(), o);
    };
    run(
        {ordinal, stream, staged, threads, progress}, obstacles.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); },
        [&](int on) { edge::roadmap_on_device(on, obstacles.view<const void, host>(), o, made); });
    return made.release();
}

/// Returns ends, lengths and clearances, where the coordinates of each road end, and coordinates, road after road.
std::tuple<nb::bytes, nb::bytes, nb::bytes, nb::bytes> roads_of(const roadmap& map) {
    cells edges, ends, all;
    std::vector<double> sizes;
    for (const road& r : map.roads()) {
        edges.insert(edges.end(), {r.from, r.to}), sizes.insert(sizes.end(), {r.length, r.clearance});
        all.insert(all.end(), r.cells.begin(), r.cells.end()), ends.push_back(std::ssize(all));
    }
    return {bytes_of(edges), bytes_of(sizes), bytes_of(ends), bytes_of(all)};
}

/// Calls on fields of up to so many cells are replayed as graphs. In larger ones the time of launches does not matter,
/// but a graph's own workspace does.
constexpr std::int64_t most_replayed = std::int64_t{1} << 25;

/// Appends all that the library sees of an array.
void describe(const array& a, std::vector<std::uint64_t>& to) {
    to.insert(to.end(), {a.data, static_cast<std::uint64_t>(a.type), static_cast<std::uint64_t>(a.rank)});
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(a.rank); ++axis)
        to.insert(to.end(), {static_cast<std::uint64_t>(a.shape[axis]), static_cast<std::uint64_t>(a.stride[axis])});
}

/// `first` and `end` are empty, or the corners of the changed box. `repeated` belongs to fields with these options.
void fill(const array& occupancy, const array& distance, const array& site, const array& gradient,
          const distance_options& grid, bool negative_inside, const cells& first, const cells& end,
          edge::repeated_call& repeated, int ordinal, std::uintptr_t stream, bool staged, int threads,
          const nb::object& progress) {
    const esdf_options o{grid.spacing, grid.max_distance, negative_inside};
    const auto call = [&]<class Place>(const Place& on) {
        const esdf_fields<Place> out{distance.view<void, Place>(), site.view<void, Place>(),
                                     gradient.view<void, Place>()};
        if (first.empty()) esdf(on, occupancy.view<const void, Place>(), out, o);
        else update_esdf(on, occupancy.view<const void, Place>(), first, end, out, o);
    };
    run(
        {ordinal, stream, staged, threads, progress}, occupancy.cells(), [&](const host& on) { call(on); },
        [&](const device& on) {
            if (planning() || occupancy.cells() > most_replayed) return call(on);
            std::vector<std::uint64_t> arguments(first.begin(), first.end());
            arguments.insert(arguments.end(), end.begin(), end.end());
            for (const array* each : {&occupancy, &distance, &site, &gradient}) describe(*each, arguments);
            repeated.run(ordinal, on.stream, std::move(arguments), [&](void* onto) { call(device{onto}); });
        },
        [&](int on) {
            edge::esdf_on_device(on, occupancy.view<const void, host>(),
                                 {distance.view<void, host>(), site.view<void, host>(), gradient.view<void, host>()},
                                 o);
        });
}

void inflate(const array& costmap, const array& out, double resolution, double inscribed_radius,
             double inflation_radius, double cost_scaling_factor, bool inflate_unknown, bool around_unknown,
             int ordinal, std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    const inflation_options o{resolution,          inscribed_radius, inflation_radius,
                              cost_scaling_factor, inflate_unknown,  around_unknown};
    const auto call = [&]<class Place>(const Place& on) {
        inflate_costmap(on, costmap.view<const void, Place>(), out.view<void, Place>(), o);
    };
    run(
        {ordinal, stream, staged, threads, progress}, costmap.cells(), [&](const host& on) { call(on); },
        [&](const device& on) { call(on); },
        [&](int on) {
            edge::inflate_costmap_on_device(on, costmap.view<const void, host>(), out.view<void, host>(), o);
        });
}

/// Returns costs, rows, columns, resolution and origin.
using map_row = std::tuple<nb::bytes, std::int64_t, std::int64_t, double, std::vector<double>>;

map_row read(const std::string& path) {
    const occupancy_map map = read_map(path);
    return {nb::bytes(map.costs.data(), map.costs.size()),
            map.rows,
            map.columns,
            map.info.resolution,
            {map.info.origin.begin(), map.info.origin.end()}};
}

void write(const std::string& path, const nb::bytes& costs, std::int64_t rows, std::int64_t columns, double resolution,
           const std::vector<double>& origin) {
    const auto* const from = static_cast<const std::uint8_t*>(costs.data());
    occupancy_map map{{}, rows, columns, {from, from + costs.size()}};
    map.info.resolution = resolution;
    std::copy_n(origin.begin(), std::min(origin.size(), map.info.origin.size()), map.info.origin.begin());
    write_map(path, map);
}

}  // namespace

void bind_path(nb::module_& module) {
    module.def("plan_path", &plan, nb::arg("obstacles"), nb::arg("starts"), nb::arg("goals"), nb::arg("options"),
               nb::arg("radius"), nb::arg("objective"), nb::arg("connectivity"), nb::arg("weight"), nb::arg("decay"),
               nb::arg("costs"), nb::arg("smooth"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"),
               nb::arg("threads"), nb::arg("progress").none());
    module.def("nav2_clearance_costs", &nav2_costs, nb::arg("resolution"), nb::arg("inscribed_radius"),
               nb::arg("inflation_radius"), nb::arg("cost_scaling_factor"), nb::arg("weight"));
    module.def("read_map", &read, nb::arg("path"));
    module.def("write_map", &write, nb::arg("path"), nb::arg("costs"), nb::arg("rows"), nb::arg("columns"),
               nb::arg("resolution"), nb::arg("origin"));
    nb::class_<roadmap>(module, "Roadmap")
        .def_static("of", &made_roadmap, nb::arg("obstacles"), nb::arg("options"), nb::arg("radius"),
                    nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
                    nb::arg("progress").none())
        .def("nodes", [](const roadmap& map) { return cells(map.nodes().begin(), map.nodes().end()); })
        .def("radii", [](const roadmap& map) { return std::vector<double>(map.radii().begin(), map.radii().end()); })
        .def("roads", &roads_of)
        .def(
            "find",
            [](const roadmap& map, const cells& start, const cells& goal, bool smooth) {
                return row_of(map.find(start, goal, smooth));
            },
            nb::arg("start"), nb::arg("goal"), nb::arg("smooth"));
    nb::class_<edge::repeated_call>(module, "RepeatedCall").def(nb::init<>());
    module.def("esdf", &fill, nb::arg("occupancy"), nb::arg("distance"), nb::arg("site"), nb::arg("gradient"),
               nb::arg("options"), nb::arg("negative_inside"), nb::arg("first"), nb::arg("end"), nb::arg("repeated"),
               nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("inflate_costmap", &inflate, nb::arg("costmap"), nb::arg("out"), nb::arg("resolution"),
               nb::arg("inscribed_radius"), nb::arg("inflation_radius"), nb::arg("cost_scaling_factor"),
               nb::arg("inflate_unknown"), nb::arg("around_unknown"), nb::arg("ordinal"), nb::arg("stream"),
               nb::arg("staged"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace nearfield::python
