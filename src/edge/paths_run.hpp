// Named wrappers of run_arrays_on_device(): distance fields for robots, geodesic distances and paths on a GPU for
// contiguous arrays in host memory.
#pragma once

#include "edge/arrays_run.hpp"
#include "nearfield/esdf.hpp"
#include "nearfield/geodesic.hpp"
#include "nearfield/path.hpp"
#include "nearfield/roadmap.hpp"

namespace nearfield::edge {

inline device_timing esdf_on_device(int ordinal, const any_input<host>& occupancy, const esdf_fields<host>& out,
                                    const esdf_options& options, int warmups = 0, int repeat = 1) {
    const any_output<host> fields[] = {out.distance, out.site, out.gradient};
    return run_arrays_on_device(
        ordinal, {&occupancy, 1}, fields,
        [&](const device& on, auto in, auto to) { esdf(on, in[0], {to[0], to[1], to[2]}, options); }, warmups, repeat);
}

inline device_timing inflate_costmap_on_device(int ordinal, const any_input<host>& costmap, const any_output<host>& out,
                                               const inflation_options& options) {
    return run_arrays_on_device(ordinal, {&costmap, 1}, {&out, 1}, [&](const device& on, auto in, auto to) {
        inflate_costmap(on, in[0], to[0], options);
    });
}

inline device_timing geodesic_on_device(int ordinal, const any_input<host>& mask, const any_input<host>& seeds,
                                        const geodesic_fields<host>& out, const geodesic_options& options,
                                        const any_input<host>& cost, int warmups = 0, int repeat = 1) {
    const any_input<host> read[] = {mask, seeds, cost};
    const any_output<host> fields[] = {out.cost, out.index, out.coordinates, out.label};
    return run_arrays_on_device(
        ordinal, read, fields,
        [&](const device& on, auto in, auto to) {
            geodesic(on, in[0], in[1], {to[0], to[1], to[2], to[3]}, options, in[2]);
        },
        warmups, repeat);
}

inline device_timing plan_path_on_device(int ordinal, const any_input<host>& obstacles,
                                         std::span<const std::int64_t> starts, std::span<const std::int64_t> goals,
                                         const path_options& options, std::vector<path>& found, int warmups = 0,
                                         int repeat = 1) {
    return run_arrays_on_device(
        ordinal, {&obstacles, 1}, {},
        [&](const device& on, auto in, auto) { found = plan_path(on, in[0], starts, goals, options); }, warmups,
        repeat);
}

inline device_timing roadmap_on_device(int ordinal, const any_input<host>& obstacles, const roadmap_options& options,
                                       std::unique_ptr<const roadmap>& made, int warmups = 0, int repeat = 1) {
    return run_arrays_on_device(
        ordinal, {&obstacles, 1}, {},
        [&](const device& on, auto in, auto) { made = std::make_unique<const roadmap>(on, in[0], options); }, warmups,
        repeat);
}

}  // namespace nearfield::edge
