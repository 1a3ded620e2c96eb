#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "nearfield/esdf.hpp"
#include "nearfield/path.hpp"
#include "python/bind_call.hpp"

namespace nearfield::python {
namespace {

using cells = std::vector<std::int64_t>;
/// Cells, length, clearance, cost, whether found, reason, goal, component of the start, components of the goals.
using path_row = std::tuple<cells, double, double, std::uint64_t, bool, std::string, std::int64_t, std::int64_t, cells>;

std::vector<path_row> plan(const array& obstacles, const cells& starts, const cells& goals,
                           const distance_options& grid, double radius, int objective, int connectivity, double weight,
                           double decay, bool smooth, int threads, const nb::object& progress) {
    path_options o;
    o.radius = radius, o.spacing = grid.spacing, o.objective = static_cast<path_objective>(objective);
    o.connectivity = connectivity, o.clearance_weight = weight, o.clearance_decay = decay, o.smooth = smooth;
    std::vector<path_row> rows;
    run_watched(obstacles.cells(), progress, [&](std::function<bool(double)> told) {
        for (path& p : plan_path(host{threads, std::move(told)}, obstacles.view<const void, host>(), starts, goals, o))
            rows.emplace_back(std::move(p.cells), p.length, p.clearance, p.cost, p.reason == path_reason::found,
                              p.text(), p.goal, p.start_component, std::move(p.goal_components));
    });
    return rows;
}

/// `first` and `end` are empty, or the corners of the box that has changed.
void fill(const array& occupancy, const array* distance, const array* site, const array* gradient,
          const distance_options& grid, bool negative_inside, const cells& first, const cells& end, int threads,
          const nb::object& progress) {
    const esdf_options o{grid.spacing, grid.max_distance, negative_inside};
    run_watched(occupancy.cells(), progress, [&](std::function<bool(double)> told) {
        esdf_fields<host> out;
        out.distance = view_of<void, host>(distance), out.site = view_of<void, host>(site);
        out.gradient = view_of<void, host>(gradient);
        const host on{threads, std::move(told)};
        if (first.empty()) esdf(on, occupancy.view<const void, host>(), out, o);
        else update_esdf(on, occupancy.view<const void, host>(), first, end, out, o);
    });
}

void inflate(const array& costmap, const array& out, double resolution, double inscribed_radius,
             double inflation_radius, double cost_scaling_factor, bool inflate_unknown, bool around_unknown,
             int threads) {
    const inflation_options o{resolution,          inscribed_radius, inflation_radius,
                              cost_scaling_factor, inflate_unknown,  around_unknown};
    run_watched(costmap.cells(), nb::none(), [&](std::function<bool(double)> told) {
        inflate_costmap(host{threads, std::move(told)}, costmap.view<const void, host>(), out.view<void, host>(), o);
    });
}

}  // namespace

void bind_path(nb::module_& module) {
    module.def("plan_path", &plan, nb::arg("obstacles"), nb::arg("starts"), nb::arg("goals"), nb::arg("options"),
               nb::arg("radius"), nb::arg("objective"), nb::arg("connectivity"), nb::arg("weight"), nb::arg("decay"),
               nb::arg("smooth"), nb::arg("threads"), nb::arg("progress").none());
    module.def("esdf", &fill, nb::arg("occupancy"), nb::arg("distance").none(), nb::arg("site").none(),
               nb::arg("gradient").none(), nb::arg("options"), nb::arg("negative_inside"), nb::arg("first"),
               nb::arg("end"), nb::arg("threads"), nb::arg("progress").none());
    module.def("inflate_costmap", &inflate, nb::arg("costmap"), nb::arg("out"), nb::arg("resolution"),
               nb::arg("inscribed_radius"), nb::arg("inflation_radius"), nb::arg("cost_scaling_factor"),
               nb::arg("inflate_unknown"), nb::arg("around_unknown"), nb::arg("threads"));
}

}  // namespace nearfield::python
