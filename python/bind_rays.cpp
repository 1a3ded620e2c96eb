#include <nanobind/stl/vector.h>

#include <array>

#include "nearfield/chessboard.hpp"
#include "nearfield/raycast.hpp"
#include "nearfield/render.hpp"
#include "nearfield/sphere_trace.hpp"
#include "python/bind_run.hpp"

namespace nearfield::python {
namespace {

void step_distance(const array& image, const array& out, const distance_options& grid, bool diagonal, int ordinal,
                   std::uintptr_t stream, bool staged, int threads, const nb::object& progress) {
    const step_options options{grid.sites, grid.border, grid.max_distance, grid.batch_axes, {}};
    over<1, 1>({ordinal, stream, staged, threads, progress}, {&image}, {&out},
               [&](const auto& on, const auto& in, const auto& to) {
                   if (diagonal) chessboard_distance(on, in[0], to[0], options);
                   else cityblock_distance(on, in[0], to[0], options);
               });
}

void cast(const array& mask, const array& origins, const array& directions, const array& cells, const array& faces,
          const array& entry, const array& steps, int skips, int ordinal, std::uintptr_t stream, bool staged,
          int threads, const nb::object& progress) {
    const raycast_options options{static_cast<ray_skips>(skips)};
    over<3, 4>({ordinal, stream, staged, threads, progress}, {&mask, &origins, &directions},
               {&cells, &faces, &entry, &steps}, [&](const auto& on, const auto& in, const auto& to) {
                   raycast(on, in[0], in[1], in[2], {to[0], to[1], to[2], to[3]}, options);
               });
}

void trace(const array& field, const array& origins, const array& directions, const array& entry, const array& normals,
           const array& steps, const distance_options& grid, double level, int ordinal, std::uintptr_t stream,
           bool staged, int threads, const nb::object& progress) {
    const sphere_trace_options options{level, grid.spacing};
    over<3, 3>({ordinal, stream, staged, threads, progress}, {&field, &origins, &directions},
               {&entry, &normals, &steps}, [&](const auto& on, const auto& in, const auto& to) {
                   sphere_trace(on, in[0], in[1], in[2], {to[0], to[1], to[2]}, options);
               });
}

/// Reads a camera's ten numbers.
template <class Next>
camera camera_of(const Next& next) {
    camera c;
    for (double* each : {c.eye, c.target, c.up})
        for (int axis = 0; axis < 3; ++axis) each[axis] = next();
    c.field_of_view = next();
    return c;
}

void trace_picture(const array& field, const std::vector<double>& n, const array& entry, const array& normals,
                   const array& steps, const distance_options& grid, double level, int ordinal, std::uintptr_t stream,
                   bool staged, int threads, const nb::object& progress) {
    const sphere_trace_options options{level, grid.spacing};
    std::size_t k = 0;
    const camera from = camera_of([&] { return n.at(k++); });
    over<1, 3>({ordinal, stream, staged, threads, progress}, {&field}, {&entry, &normals, &steps},
               [&](const auto& on, const auto& in, const auto& to) {
                   sphere_trace(on, in[0], from, {to[0], to[1], to[2]}, options);
               });
}

/// `n` holds the options' numbers in the order of the members, then those of the points of a transfer function;
/// `map` the bytes of a colour map.
void draw(const array& volume, const array& picture, const distance_options& grid, const std::vector<double>& n,
          const nb::bytes& map, int ordinal, std::uintptr_t stream, bool staged, int threads,
          const nb::object& progress) {
    render_options o;
    std::size_t k = 0;
    const auto next = [&] { return n.at(k++); };
    const auto three = [&](double* to) {
        for (int axis = 0; axis < 3; ++axis) to[axis] = next();
    };
    o.mode = static_cast<render_mode>(static_cast<int>(next())), o.spacing = grid.spacing;
    o.camera = camera_of(next);
    o.threshold = next(), o.distance_field = next() != 0;
    three(o.light), o.light_from_camera = next() != 0, o.shadows = next(), o.ambient = next();
    for (rgb* each : {&o.colour, &o.background}) each->red = next(), each->green = next(), each->blue = next();
    o.low = next(), o.high = next(), o.opacity = next(), o.interval = next(), o.samples = static_cast<int>(next());
    o.colormap = {reinterpret_cast<const std::uint8_t*>(map.c_str()), map.size()};
    std::vector<transfer_point> points;
    while (k < n.size()) points.push_back({next(), {next(), next(), next()}, next()});
    o.transfer = points;
    over<1, 1>({ordinal, stream, staged, threads, progress}, {&volume}, {&picture},
               [&](const auto& on, const auto& in, const auto& to) { render(on, in[0], to[0], o); });
}

/// Returns eye, target, up and field of view.
std::vector<double> fitting(const std::vector<std::int64_t>& shape, const distance_options& grid, double turn,
                            double elevation, double aspect) {
    const camera c = camera_for(shape.data(), static_cast<int>(shape.size()), grid.spacing, turn, elevation, aspect);
    std::vector<double> all(c.eye, c.eye + 3);
    all.insert(all.end(), c.target, c.target + 3);
    all.insert(all.end(), c.up, c.up + 3);
    all.push_back(c.field_of_view);
    return all;
}

}  // namespace

void bind_rays(nb::module_& module) {
    module.def("step_distance", &step_distance, nb::arg("image"), nb::arg("out"), nb::arg("options"),
               nb::arg("diagonal"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("raycast", &cast, nb::arg("mask"), nb::arg("origins"), nb::arg("directions"), nb::arg("cells"),
               nb::arg("faces"), nb::arg("entry"), nb::arg("steps"), nb::arg("skips"), nb::arg("ordinal"),
               nb::arg("stream"), nb::arg("staged"), nb::arg("threads"), nb::arg("progress").none());
    module.def("sphere_trace", &trace, nb::arg("field"), nb::arg("origins"), nb::arg("directions"), nb::arg("entry"),
               nb::arg("normals"), nb::arg("steps"), nb::arg("options"), nb::arg("level"), nb::arg("ordinal"),
               nb::arg("stream"), nb::arg("staged"), nb::arg("threads"), nb::arg("progress").none());
    module.def("sphere_trace_camera", &trace_picture, nb::arg("field"), nb::arg("camera"), nb::arg("entry"),
               nb::arg("normals"), nb::arg("steps"), nb::arg("options"), nb::arg("level"), nb::arg("ordinal"),
               nb::arg("stream"), nb::arg("staged"), nb::arg("threads"), nb::arg("progress").none());
    module.def("render", &draw, nb::arg("volume"), nb::arg("picture"), nb::arg("options"), nb::arg("numbers"),
               nb::arg("colormap"), nb::arg("ordinal"), nb::arg("stream"), nb::arg("staged"), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("camera_for", &fitting, nb::arg("shape"), nb::arg("options"), nb::arg("turn"), nb::arg("elevation"),
               nb::arg("aspect"));
}

}  // namespace nearfield::python
