// The public calls: check, set the camera and the scene's fields, and draw.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <utility>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/unwritten.hpp"
#include "render/room.hpp"

namespace nearfield {
namespace pictures {
namespace {

template <class Place>
void check_threads(const Place& on) {
    if constexpr (std::is_same_v<Place, host>)
        if (on.threads < 0)
            fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
}

template <class Place>
volume volume_of(const any_input<Place>& view, const nearfield::spacing& spacing) {
    volume v;
    const auto lengths = checked_spacing(spacing, view.shape.data(), view.rank);
    v.data = view.data, v.bytes = size_of(view.type) == 1;
    for (int axis = 0; axis < view.rank; ++axis) {
        const auto from = static_cast<std::size_t>(axis);
        const int to = 3 - view.rank + axis;
        v.size[to] = view.shape[from], v.step[to] = view.stride[from], v.length[to] = lengths[from];
    }
    return v;
}

void check_finite(const char* name, double value) {
    if (value - value != 0) fail(fmt::format("{} is {}; give a finite number", name, value));
}

vec vec_of(const double* from) { return {from[0], from[1], from[2]}; }
vec cross(vec a, vec b) { return {a.x * b.y - a.y * b.x, a.z * b.x - a.x * b.z, a.y * b.z - a.z * b.y}; }

viewpoint viewpoint_of(const camera& c, std::int64_t height, std::int64_t width) {
    for (const double* from : {c.eye, c.target, c.up})
        for (int k = 0; k < 3; ++k) check_finite("camera", from[k]);
    if (!(c.field_of_view > 0 && c.field_of_view < 180))
        fail(fmt::format("camera has a field of view of {} degrees; give one between 0 and 180", c.field_of_view));
    viewpoint v{width, height, vec_of(c.eye), {}, {}, {}};
    v.forward = unit(vec_of(c.target) + -1.0 * v.eye);
    const vec right = unit(cross(v.forward, vec_of(c.up)));
    if (dot(v.forward, v.forward) == 0) fail("camera looks at the place where it is; give another target");
    if (dot(right, right) == 0) fail("camera looks along its own upward direction; give another up");
    const double pixel = 2 * std::tan(c.field_of_view * std::numbers::pi / 360) / static_cast<double>(height);
    v.right = pixel * right, v.down = -pixel * cross(right, v.forward);
    return v;
}

// ---- rays -----------------------------------------------------------------------------------------------------------

template <class Place>
void check_field(const any_input<Place>& field, const surface_hits<Place>& out) {
    check_image<Place>("field", field, std::int64_t{1} << 31);
    check_type("field", field.type, {dtype::float32});
    if (field.rank < 2 || field.rank > 3) fail(fmt::format("field has {} axes; give an image or a volume", field.rank));
    if (field.cells() == 0) fail("field has no cells; give one with cells");
    if (!out.entry.wanted() && !out.normals.wanted() && !out.steps.wanted())
        fail("out asks for nothing; give at least one of entry, normals and steps");
}

template <class Place>
void check_rays(const any_input<Place>& field, const any_input<Place>& origins, const any_input<Place>& directions,
                const surface_hits<Place>& out) {
    if (origins.rank != 2) fail(fmt::format("origins has {} axes; give one row a ray", origins.rank));
    const auto check_one = [&](const char* name, const any_input<Place>& view, bool table, dtype type) {
        if (!view.wanted()) return;
        check_type(name, view.type, {type});
        if (view.rank != (table ? 2 : 1) || view.shape[0] != origins.shape[0] || (table && view.shape[1] != field.rank))
            fail(fmt::format("{} has shape {}; give {} rows{}", name, shape_text(view.shape.data(), view.rank),
                             origins.shape[0], table ? fmt::format(" of {}", field.rank) : ""));
    };
    check_one("origins", origins, true, dtype::float64);
    if (!directions.wanted()) fail("directions has no axes; give one row a ray");
    check_one("directions", directions, true, dtype::float64);
    check_one("out.entry", out.entry, false, dtype::float64);
    check_one("out.normals", out.normals, true, dtype::float32);
    check_one("out.steps", out.steps, false, dtype::int32);
    const named_view<Place> all[] = {{"field", field},         {"origins", origins},         {"directions", directions},
                                     {"out.entry", out.entry}, {"out.normals", out.normals}, {"out.steps", out.steps}};
    check_data<Place>(all);
    check_apart<Place>(all, 3);
}

/// Checks a picture's outputs; returns its height and width.
template <class Place>
std::array<std::int64_t, 2> checked_picture(const any_input<Place>& field, const surface_hits<Place>& out) {
    if (field.rank != 3) fail(fmt::format("field has {} axes; a camera looks at one of 3", field.rank));
    const any_output<Place>& first = out.entry.wanted() ? out.entry : out.steps.wanted() ? out.steps : out.normals;
    const auto check_one = [&](const char* name, const any_output<Place>& view, int rank, dtype type) {
        if (!view.wanted()) return;
        check_type(name, view.type, {type});
        if (view.rank != rank || view.shape[0] != first.shape[0] || view.shape[1] != first.shape[1] ||
            (rank == 3 && view.shape[2] != 3))
            fail(fmt::format("{} has shape {}; give {} of one picture", name, shape_text(view.shape.data(), view.rank),
                             rank == 3 ? "(height, width, 3)" : "(height, width)"));
    };
    check_one("out.entry", out.entry, 2, dtype::float64);
    check_one("out.normals", out.normals, 3, dtype::float32);
    check_one("out.steps", out.steps, 2, dtype::int32);
    const named_view<Place> all[] = {
        {"field", field}, {"out.entry", out.entry}, {"out.normals", out.normals}, {"out.steps", out.steps}};
    check_data<Place>(all);
    check_apart<Place>(all);
    return {first.shape[0], first.shape[1]};
}

/// Sets what tables and pictures share; the outputs have `columns` axes for their rays.
template <class Place>
tracing tracing_of(const any_input<Place>& field, const surface_hits<Place>& out, const sphere_trace_options& options,
                   std::size_t columns) {
    check_finite("level", options.level);
    tracing p;
    p.what = {volume_of(field, options.spacing), options.level, 1, nullptr, true};
    p.rank = field.rank;
    p.entry = static_cast<double*>(out.entry.data), p.normals = static_cast<float*>(out.normals.data);
    p.steps = static_cast<std::int32_t*>(out.steps.data);
    for (std::size_t k = 0; k < columns; ++k)
        p.entry_step[k] = out.entry.stride[k], p.normals_step[k] = out.normals.stride[k],
        p.steps_step[k] = out.steps.stride[k];
    p.normals_step[2] = out.normals.stride[columns];
    return p;
}

template <class Place>
void solve(const Place& on, const any_input<Place>& field, const any_input<Place>& origins,
           const any_input<Place>& directions, const surface_hits<Place>& out, const sphere_trace_options& options) {
    in_call([&] {
        check_threads(on);
        check_field(field, out);
        check_rays(field, origins, directions, out);
        tracing p = tracing_of(field, out, options, 1);
        p.rays = origins.shape[0];
        p.origin = static_cast<const double*>(origins.data), p.direction = static_cast<const double*>(directions.data);
        for (std::size_t k = 0; k < 2; ++k)
            p.origin_step[k] = origins.stride[k], p.direction_step[k] = directions.stride[k];
        if (p.rays > 0) run(on, p);
    });
}
template <class Place>
void solve(const Place& on, const any_input<Place>& field, const camera& from, const surface_hits<Place>& out,
           const sphere_trace_options& options) {
    in_call([&] {
        check_threads(on);
        check_field(field, out);
        const auto [height, width] = checked_picture(field, out);
        tracing p = tracing_of(field, out, options, 2);
        p.rays = height * width;
        if (p.rays > 0) p.seen = viewpoint_of(from, height, width), run(on, p);
    });
}

// ---- pictures -------------------------------------------------------------------------------------------------------

paint paint_of(const rgb& c) { return {c.red * c.red, c.green * c.green, c.blue * c.blue}; }

void check_options(const render_options& o) {
    for (const double each : o.light) check_finite("light", each);
    check_finite("threshold", o.threshold), check_finite("low", o.low), check_finite("high", o.high);
    const bool mapped = o.mode != render_mode::surface && o.transfer.empty();
    if (mapped && !(o.high > o.low)) fail(fmt::format("high is {} and low {}; give a larger one", o.high, o.low));
    if (o.mode == render_mode::volume && mapped && !(o.high > o.threshold))
        fail(fmt::format("high is {} and threshold {}; give a larger one", o.high, o.threshold));
    if (!(o.interval > 0)) fail(fmt::format("interval is {}; give a positive number", o.interval));
    if (!(o.opacity > 0)) fail(fmt::format("opacity is {}; give a positive number", o.opacity));
    for (const auto& [name, share] : {std::pair{"shadows", o.shadows}, std::pair{"ambient", o.ambient}})
        if (!(share >= 0 && share <= 1)) fail(fmt::format("{} is {}; give 0 to 1", name, share));
    if (o.samples < 1 || o.samples > 8) fail(fmt::format("samples is {}; give 1 to 8", o.samples));
    if (!o.colormap.empty() && o.colormap.size() != 768)
        fail(fmt::format("colormap has {} bytes; give 256 colours of 3 bytes", o.colormap.size()));
}

void check_transfer(const render_options& o) {
    const auto points = o.transfer;
    if (points.empty()) return;
    if (o.mode != render_mode::volume) fail("transfer is given, which goes with clouds only; leave it out");
    if (points.size() < 2 || points.size() > most_points)
        fail(fmt::format("transfer has {} points; give 2 to {}", points.size(), most_points));
    for (std::size_t k = 0; k < points.size(); ++k) {
        const auto& [value, colour, opacity] = points[k];
        if (!(std::fabs(value) < 1e18)) fail(fmt::format("transfer: point {} has the value {}", k, value));
        if (k > 0 && value < points[k - 1].value)
            fail(fmt::format("transfer: the value {} comes after {}; give points in ascending order", value,
                             points[k - 1].value));
        for (const double each : {colour.red, colour.green, colour.blue, opacity})
            if (!(each >= 0 && each <= 1))
                fail(fmt::format("transfer: point {} has a colour or opacity of {}; give 0 to 1", k, each));
    }
}

template <class Place>
void check_views(const any_input<Place>& what, const any_output<Place>& picture) {
    check_image<Place>("volume", what, std::int64_t{1} << 31);
    check_type("volume", what.type, {dtype::uint8, dtype::boolean, dtype::float32});
    if (what.rank != 3) fail(fmt::format("volume has {} axes; give one of 3", what.rank));
    if (what.cells() == 0) fail("volume has no cells; give one with cells");
    check_type("picture", picture.type, {dtype::uint8});
    if (picture.rank != 3 || picture.shape[2] != 3)
        fail(fmt::format("picture has shape {}; give (height, width, 3)",
                         shape_text(picture.shape.data(), picture.rank)));
    const named_view<Place> all[] = {{"volume", what}, {"picture", picture}};
    check_data<Place>(all);
    check_apart<Place>(all);
}

void set_view(const render_options& o, scene& s) {
    static_cast<viewpoint&>(s) = viewpoint_of(o.camera, s.height, s.width);
    s.pixel = std::sqrt(dot(s.right, s.right));
    const vec right = unit(s.right), up = unit(-1.0 * s.down);
    s.light = unit(o.light_from_camera ? 0.62 * up + -0.5 * right + -0.6 * s.forward : vec_of(o.light));
    if (dot(s.light, s.light) == 0) fail("light has no direction; give one");
}

void set_cut(scene& s) {
    const double towards[3] = {std::fabs(s.forward.z), std::fabs(s.forward.y), std::fabs(s.forward.x)};
    s.cut = static_cast<int>(std::max_element(towards, towards + 3) - towards);
    s.cut_at = static_cast<double>(s.what.field.size[s.cut] - 1) / 2;
    s.cut_low = (s.cut == 0 ? s.forward.z : s.cut == 1 ? s.forward.y : s.forward.x) > 0;
}

void set_transfer(const render_options& o, scene& s) {
    s.points = static_cast<int>(o.transfer.size()), s.what.level = 0;
    int zone = 0;
    for (std::size_t k = 0; k < o.transfer.size(); ++k) {
        const auto& [value, c, opacity] = o.transfer[k];
        if (k > 0 && (opacity > 0 || o.transfer[k - 1].opacity > 0)) ++zone;
        s.point[k] = {value, c.red, c.green, c.blue, opacity, zone};
    }
}

template <class Place>
scene scene_of(const any_input<Place>& what, const any_output<Place>& picture, const render_options& o) {
    scene s;
    const bool cloud = o.mode == render_mode::volume, distance = o.distance_field && !cloud;
    s.what = {volume_of(what, o.spacing), o.threshold, distance ? 1.0 : -1.0, nullptr, distance};
    s.mode = o.mode;
    s.height = picture.shape[0], s.width = picture.shape[1], s.picture = static_cast<std::uint8_t*>(picture.data);
    for (std::size_t k = 0; k < 3; ++k) s.step[k] = picture.stride[k];
    s.narrow = std::min({s.what.field.length[0], s.what.field.length[1], s.what.field.length[2]});
    s.shadows = o.shadows, s.ambient = o.ambient, s.colour = paint_of(o.colour), s.background = paint_of(o.background);
    s.low = o.low, s.high = o.high, s.opacity = o.opacity, s.interval = o.interval, s.samples = o.samples;
    for (std::size_t k = 0; k < 768; ++k)
        s.map[k] = o.colormap.empty() ? static_cast<std::uint8_t>(k / 3) : o.colormap[k];
    if (!o.transfer.empty()) set_transfer(o, s);
    return s;
}

template <class Place>
void solve(const Place& on, const any_input<Place>& what, const any_output<Place>& picture, const render_options& o) {
    in_call([&] {
        check_threads(on);
        check_views(what, picture);
        check_options(o);
        check_transfer(o);
        scene s = scene_of(what, picture, o);
        if (s.height == 0 || s.width == 0) return;
        set_view(o, s);
        if (o.mode == render_mode::isolines) set_cut(s);
        const bool cloud = o.mode == render_mode::volume;
        run(on, s, {!s.what.distance, !s.what.distance && !cloud && (o.shadows > 0 || o.ambient > 0), o.spacing});
    });
}

}  // namespace
}  // namespace pictures

camera camera_for(const std::int64_t* shape, int rank, const nearfield::spacing& spacing, double turn, double elevation,
                  double aspect) {
    const default_floats floats;
    if (rank != 3) fail(fmt::format("shape has {} axes; give 3", rank));
    pictures::check_finite("turn", turn), pictures::check_finite("elevation", elevation);
    if (!(aspect > 0)) fail(fmt::format("aspect is {}; give a positive number", aspect));
    const auto lengths = checked_spacing(spacing, shape, rank);
    camera c;
    const double degree = std::numbers::pi / 180, flat = std::cos(elevation * degree);
    const pictures::vec back{std::sin(elevation * degree), flat * std::cos(turn * degree),
                             flat * std::sin(turn * degree)};
    if (std::fabs(flat) < 1e-9) c.up[0] = 0, c.up[1] = -1;
    const pictures::vec right = pictures::unit(pictures::cross(-1.0 * back, pictures::vec_of(c.up))),
                        up = pictures::cross(back, right);
    const double edge = std::tan(c.field_of_view / 2 * degree);
    double half[3], away = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        half[k] = static_cast<double>(std::max<std::int64_t>(shape[k] - 1, 1)) * lengths[k] / 2;
        c.target[k] = static_cast<double>(std::max<std::int64_t>(shape[k] - 1, 0)) * lengths[k] / 2;
    }
    for (int corner = 0; corner < 8; ++corner) {  // the picture has to show all corners
        const pictures::vec at{corner & 4 ? half[0] : -half[0], corner & 2 ? half[1] : -half[1],
                               corner & 1 ? half[2] : -half[2]};
        const double across = std::max(std::fabs(dot(at, right)) / aspect, std::fabs(dot(at, up)));
        away = std::max(away, across / edge + dot(at, back));
    }
    const double to[3] = {back.z, back.y, back.x};
    for (std::size_t k = 0; k < 3; ++k) c.eye[k] = c.target[k] + 1.02 * away * to[k];
    return c;
}

void sphere_trace(const host& on, const any_input<host>& field, const any_input<host>& origins,
                  const any_input<host>& directions, const surface_hits<host>& out,
                  const sphere_trace_options& options) {
    pictures::solve(on, field, origins, directions, out, options);
}
void sphere_trace(const device& on, const any_input<device>& field, const any_input<device>& origins,
                  const any_input<device>& directions, const surface_hits<device>& out,
                  const sphere_trace_options& options) {
    pictures::solve(on, field, origins, directions, out, options);
}

void sphere_trace(const host& on, const any_input<host>& field, const camera& from, const surface_hits<host>& out,
                  const sphere_trace_options& options) {
    pictures::solve(on, field, from, out, options);
}
void sphere_trace(const device& on, const any_input<device>& field, const camera& from, const surface_hits<device>& out,
                  const sphere_trace_options& options) {
    pictures::solve(on, field, from, out, options);
}

void render(const host& on, const any_input<host>& volume, const any_output<host>& picture,
            const render_options& options) {
    pictures::solve(on, volume, picture, options);
}
void render(const device& on, const any_input<device>& volume, const any_output<device>& picture,
            const render_options& options) {
    pictures::solve(on, volume, picture, options);
}

}  // namespace nearfield
