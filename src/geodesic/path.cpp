// Paths with clearance: checks, and the texts that say why there is no path.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/call.hpp"
#include "geodesic/esdf_core.hpp"
#include "geodesic/planner.hpp"

namespace nearfield {
namespace geodesics {
namespace {

template <class Place>
void check_cells(const char* name, std::span<const std::int64_t> given, const any_input<Place>& grid) {
    const auto rank = static_cast<std::size_t>(grid.rank);
    if (given.size() % rank != 0)
        fail(fmt::format("{} has {} numbers; give {} coordinates for each cell", name, given.size(), rank));
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i] < 0 || given[i] >= grid.shape[i % rank])
            fail(fmt::format("{} has a cell whose coordinate along axis {} is {}; give 0 to {}", name, i % rank,
                             given[i], grid.shape[i % rank] - 1));
}

void check_costs(const path_options& o) {
    constexpr double least = 1.0 / price_parts, most = static_cast<double>(dearest) / price_parts;
    if (o.clearance_costs.empty()) return;
    if (o.objective != path_objective::safe) fail("clearance_costs are for the objective safe; give that, or no costs");
    if (o.clearance_costs.size() > 1 << 16)
        fail(fmt::format("clearance_costs has {} entries; give up to 65536", o.clearance_costs.size()));
    double before = -1;
    for (const auto& [clearance, cost] : o.clearance_costs) {
        if (!(clearance >= 0) || !(clearance > before))
            fail(before < 0 ? fmt::format("clearance_costs begins with a clearance of {}; give at least 0", clearance)
                            : fmt::format("clearance_costs has a clearance of {} after {}; give rising ones", clearance,
                                          before));
        if (!(cost >= least && cost <= most))
            fail(fmt::format("clearance_costs has a cost of {} up to {}; give {} to {}", cost, clearance, least, most));
        before = clearance;
    }
}

template <class Place>
void check(const any_input<Place>& obstacles, std::span<const std::int64_t> starts, std::span<const std::int64_t> goals,
           const path_options& o) {
    check_image<Place>("obstacles", obstacles, std::int64_t{1} << 31);
    const named_view<Place> all[] = {{"obstacles", obstacles}};
    check_data<Place>(all);
    check_cells("starts", starts, obstacles), check_cells("goals", goals, obstacles);
    if (goals.empty()) fail("goals has no cell; give at least one");
    if (!(o.radius >= 0) || !std::isfinite(o.radius))
        fail(fmt::format("radius is {}; give a length of at least 0", o.radius));
    if (o.connectivity < 1) fail(fmt::format("connectivity is {}; give 1 or more", o.connectivity));
    if (!(o.clearance_weight >= 0 && o.clearance_weight <= 1000))
        fail(fmt::format("clearance_weight is {}; give 0 to 1000", o.clearance_weight));
    if (!(o.clearance_decay >= 0) || !std::isfinite(o.clearance_decay))
        fail(fmt::format("clearance_decay is {}; give a length, or 0 for the usual one", o.clearance_decay));
    check_costs(o);
    static_cast<void>(checked_spacing(o.spacing, obstacles.shape.data(), obstacles.rank));
    const auto ends = checked_borders(o.border, obstacles.shape.data(), obstacles.rank);
    if (const auto* closed = std::find(ends.begin(), ends.end(), border::closed); closed != ends.end())
        fail(fmt::format("border is closed along axis {}; give open or periodic", closed - ends.begin()));
}

}  // namespace
}  // namespace geodesics

std::string path::text() const {
    switch (reason) {
        case path_reason::found: return "found";
        case path_reason::start_blocked:
            if (start_clearance == 0) return "the start is in an obstacle";
            return fmt::format("the start is {:g} from an obstacle, which is not more than the radius",
                               start_clearance);
        case path_reason::goals_blocked: return "no goal is farther from obstacles than the radius";
        default:
            if (goal_components.empty()) return "not connected";  // a roadmap does not number components
            return fmt::format("not connected: the start is in component {} of the free cells, the goals are in {}",
                               start_component, fmt::join(goal_components, ", "));
    }
}

std::vector<path> plan_path(const host& on, const any_input<host>& obstacles, std::span<const std::int64_t> starts,
                            std::span<const std::int64_t> goals, const path_options& options) {
    return in_call([&] {
        geodesics::check_threads(on);
        geodesics::check(obstacles, starts, goals, options);
        if (starts.empty()) return std::vector<path>{};
        geodesics::host_fields fields(on, obstacles);
        return geodesics::planner(fields, goals, options).plan(starts);
    });
}
std::vector<path> plan_path(const device& on, const any_input<device>& obstacles, std::span<const std::int64_t> starts,
                            std::span<const std::int64_t> goals, const path_options& options) {
    return in_call([&] {
        geodesics::check(obstacles, starts, goals, options);
        if (starts.empty()) return std::vector<path>{};
        const auto fields = geodesics::fields_of(on, obstacles);
        return geodesics::planner(*fields, goals, options).plan(starts);
    });
}

std::vector<clearance_cost> nav2_clearance_costs(const inflation_options& inflation, double weight) {
    return in_call([&] {
        geodesics::check_inflation(inflation);
        if (!(weight >= 0 && weight <= 1000)) fail(fmt::format("weight is {}; give 0 to 1000", weight));
        const double reach = std::ceil(inflation.inflation_radius / inflation.resolution) * inflation.resolution;
        std::vector<clearance_cost> made;
        for (int byte = costmap_inscribed - 1; byte > 0; --byte) {
            const double fall = std::log((costmap_inscribed - 1.0) / byte), rate = inflation.cost_scaling_factor;
            const double upto = rate > 0 ? std::min(reach, inflation.inscribed_radius + fall / rate) : reach;
            if (made.empty() || upto > made.back().clearance)
                made.push_back({upto, 1 + weight * byte / (costmap_inscribed - 1)});
        }
        return made;
    });
}

}  // namespace nearfield
