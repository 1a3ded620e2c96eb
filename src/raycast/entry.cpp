// The public calls: check, set the arrays' steps, and run the engine.
#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/unwritten.hpp"
#include "raycast/core.hpp"

namespace nearfield {
namespace rays {
namespace {

template <class Place>
void check_table(const char* name, const any_input<Place>& view, std::int64_t rays, int axes, dtype type) {
    check_type(name, view.type, {type});
    const bool flat = axes == 0;
    if (view.rank == (flat ? 1 : 2) && view.shape[0] == rays && (flat || view.shape[1] == axes)) return;
    const std::string wanted = flat ? fmt::format("({},)", rays) : fmt::format("({}, {})", rays, axes);
    fail(fmt::format("{} has shape {}; give {}", name, shape_text(view.shape.data(), view.rank), wanted));
}

template <class Place>
void check(const any_input<Place>& mask, const any_input<Place>& origins, const any_input<Place>& directions,
           const ray_hits<Place>& out) {
    check_image<Place>("mask", mask, std::int64_t{1} << 19);
    if (mask.rank < 2 || mask.rank > 3) fail(fmt::format("mask has {} axes; give an image or a volume", mask.rank));
    if (origins.rank != 2) fail(fmt::format("origins has {} axes; give one row a ray", origins.rank));
    check_table("origins", origins, origins.shape[0], mask.rank, dtype::float64);
    check_table("directions", directions, origins.shape[0], mask.rank, dtype::float64);
    if (!out.cells.wanted() && !out.faces.wanted() && !out.entry.wanted() && !out.steps.wanted())
        fail("out asks for nothing; give at least one of cells, faces, entry and steps");
    const auto check_out = [&](const char* name, const any_output<Place>& field, int axes, dtype type) {
        if (field.wanted()) check_table<Place>(name, field, origins.shape[0], axes, type);
    };
    check_out("out.cells", out.cells, mask.rank, dtype::int32);
    check_out("out.faces", out.faces, 0, dtype::int8);
    check_out("out.entry", out.entry, 0, dtype::float64);
    check_out("out.steps", out.steps, 0, dtype::int32);
    const named_view<Place> all[] = {{"mask", mask},           {"origins", origins},     {"directions", directions},
                                     {"out.cells", out.cells}, {"out.faces", out.faces}, {"out.entry", out.entry},
                                     {"out.steps", out.steps}};
    check_data<Place>(all);
    check_apart<Place>(all, 3);
}

template <class Place>
problem problem_of(const any_input<Place>& mask, const any_input<Place>& origins, const any_input<Place>& directions,
                   const ray_hits<Place>& out, const raycast_options& options) {
    problem p;
    p.rank = mask.rank, p.rays = origins.shape[0], p.skips = options.skips;
    for (int axis = 0; axis < p.rank; ++axis) p.size[3 - p.rank + axis] = mask.shape[static_cast<std::size_t>(axis)];
    p.origin = static_cast<const double*>(origins.data), p.direction = static_cast<const double*>(directions.data);
    p.cells = static_cast<std::int32_t*>(out.cells.data), p.faces = static_cast<std::int8_t*>(out.faces.data);
    p.entry = static_cast<double*>(out.entry.data), p.steps = static_cast<std::int32_t*>(out.steps.data);
    for (std::size_t k = 0; k < 2; ++k)
        p.origin_step[k] = origins.stride[k], p.direction_step[k] = directions.stride[k],
        p.cells_step[k] = out.cells.stride[k];
    p.faces_step = out.faces.stride[0], p.entry_step = out.entry.stride[0], p.steps_step = out.steps.stride[0];
    return p;
}

template <class Place>
void solve(const Place& on, const any_input<Place>& mask, const any_input<Place>& origins,
           const any_input<Place>& directions, const ray_hits<Place>& out, const raycast_options& options) {
    in_call([&] {
        if constexpr (std::is_same_v<Place, host>) {
            if (on.threads < 0)
                fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
        } else if (options.skips == ray_skips::octants) {
            fail("skips is octants, which goes with the host only; give cubes");
        }
        check(mask, origins, directions, out);
        const problem p = problem_of(mask, origins, directions, out, options);
        if (p.rays == 0) return;
        const expected_outputs outputs{out.cells};
        run(on, p, mask);
    });
}

}  // namespace
}  // namespace rays

void raycast(const host& on, const any_input<host>& mask, const any_input<host>& origins,
             const any_input<host>& directions, const ray_hits<host>& out, const raycast_options& options) {
    rays::solve(on, mask, origins, directions, out, options);
}
void raycast(const device& on, const any_input<device>& mask, const any_input<device>& origins,
             const any_input<device>& directions, const ray_hits<device>& out, const raycast_options& options) {
    rays::solve(on, mask, origins, directions, out, options);
}

}  // namespace nearfield
