// The public call: checks its arguments, then runs the method.
#include <fmt/format.h>

#include "base/call.hpp"
#include "base/check.hpp"
#include "isosurface/planes.hpp"

namespace nearfield {
namespace isosurfaces {
namespace {

template <class Place>
problem<Place> checked(const any_input<Place>& field, double level, const isosurface_options& options) {
    check_image<Place>("field", field, (std::int64_t{1} << 31) - 4);
    if (field.rank != 3) fail(fmt::format("field has {} axes; give 3", field.rank));
    if (field.type == dtype::float16) fail("field has element type float16; give float32");
    if (!std::isfinite(level)) fail(fmt::format("level is {}; give a finite number", level));
    problem<Place> p{field, level, options, options.closed ? 1 : 0, {}};
    for (std::size_t k = 0; k < 3; ++k) {
        if (!(options.spacing[k] > 0) || !std::isfinite(options.spacing[k]))
            fail(fmt::format("spacing along axis {} is {}; give a positive length", k, options.spacing[k]));
        if (!std::isfinite(options.origin[k])) fail(fmt::format("origin along axis {} is not finite", k));
        p.nodes[k] = field.shape[k] + 2 * p.rim;
    }
    const named_view<Place> views[] = {{"field", field}};
    check_data<Place>(views);
    return p;
}

template <class Place>
mesh solve(const Place& on, const any_input<Place>& field, double level, const isosurface_options& options) {
    const problem<Place> p = checked(field, level, options);
    if (field.cells() == 0) return {};
    return options.method == isosurface_method::marching_cubes ? marching_cubes(on, p) : dual_contouring(on, p);
}

}  // namespace
}  // namespace isosurfaces

mesh isosurface(const host& on, const any_input<host>& field, double level, const isosurface_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    return in_call([&] { return isosurfaces::solve(on, field, level, options); });
}
mesh isosurface(const device& on, const any_input<device>& field, double level, const isosurface_options& options) {
    return in_call([&] { return isosurfaces::solve(on, field, level, options); });
}

}  // namespace nearfield
