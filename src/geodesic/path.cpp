// Paths with clearance, built on public calls: distances, geodesic costs from the goals, basins of clearance.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/call.hpp"
#include "geodesic/planner.hpp"
#include "geodesic/transfer.hpp"

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
    static_cast<void>(checked_spacing(o.spacing, obstacles.shape.data(), obstacles.rank));
    const auto ends = checked_borders(o.border, obstacles.shape.data(), obstacles.rank);
    if (const auto* closed = std::find(ends.begin(), ends.end(), border::closed); closed != ends.end())
        fail(fmt::format("border is closed along axis {}; give open or periodic", closed - ends.begin()));
}

class device_fields final : public path_fields {
public:
    device_fields(const device& on, const any_input<device>& obstacles) : on_(on), obstacles_(obstacles) {}

    void clearances(const distance_options& how, double* to) override {
        with_bytes(on_, 8 * obstacles_.cells(), [&](void* squared) {
            fields<device> out;
            out.squared = any_output<device>::contiguous(squared, dtype::float64, shape());
            distance_transform(on_, obstacles_, out, how);
            fetch(on_, to, squared, 8 * obstacles_.cells());
        });
    }
    void costs(const std::uint8_t* mask, const std::uint8_t* seeds, const std::uint16_t* prices,
               const geodesic_options& how, std::int64_t* to) override {
        const std::int64_t cells = obstacles_.cells();
        with_bytes(on_, 12 * cells, [&](void* memory) {
            auto* const cost = static_cast<std::int64_t*>(memory);
            auto* const price = reinterpret_cast<std::uint16_t*>(cost + cells);
            auto* const open = reinterpret_cast<std::uint8_t*>(price + cells);
            send(on_, open, mask, cells), send(on_, open + cells, seeds, cells);
            if (prices != nullptr) send(on_, price, prices, 2 * cells);
            geodesic_fields<device> out;
            out.cost = any_output<device>::contiguous(cost, dtype::int64, shape());
            geodesic(
                on_, any_input<device>::contiguous(open, dtype::uint8, shape()),
                any_input<device>::contiguous(open + cells, dtype::uint8, shape()), out, how,
                prices == nullptr ? any_input<device>{} : any_input<device>::contiguous(price, dtype::uint16, shape()));
            fetch(on_, to, cost, 8 * cells);
        });
    }

private:
    [[nodiscard]] std::span<const std::int64_t> shape() const {
        return {obstacles_.shape.data(), static_cast<std::size_t>(obstacles_.rank)};
    }

    const device& on_;
    const any_input<device>& obstacles_;
};

}  // namespace
}  // namespace geodesics

std::string path::text() const {
    switch (reason) {
        case path_reason::found: return "found";
        case path_reason::start_blocked:
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
        return geodesics::planner(fields, on, obstacles, goals, options).plan(starts);
    });
}
std::vector<path> plan_path(const device& on, const any_input<device>& obstacles, std::span<const std::int64_t> starts,
                            std::span<const std::int64_t> goals, const path_options& options) {
    return in_call([&] {
        geodesics::check(obstacles, starts, goals, options);
        if (starts.empty()) return std::vector<path>{};
        geodesics::device_fields fields(on, obstacles);
        return geodesics::planner(fields, host{}, obstacles, goals, options).plan(starts);
    });
}

}  // namespace nearfield
