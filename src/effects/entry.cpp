// The public calls for layers and padding: they check arguments, compute what no pixel changes, call the backend.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lend.hpp"
#include "base/lines.hpp"
#include "base/rehearsal.hpp"
#include "effects/core.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::effects {
namespace {

constexpr double radians = std::numbers::pi / 180;

float number(const char* name, double value, double least = -1e6, double most = 1e6) {
    if (!(value >= least && value <= most))
        fail(fmt::format("{} is {}; give a number from {:g} to {:g}", name, value, least, most));
    return static_cast<float>(value);
}

/// Returns the share of a unit square that a disc of radius r around its middle covers.
double covered_by_disc(double r) {
    if (r <= 0.5) return std::numbers::pi * r * r;
    if (r * r >= 0.5) return 1;
    const double cap = r * r * std::acos(0.5 / r) - 0.5 * std::sqrt(r * r - 0.25);
    return std::numbers::pi * r * r - 4 * cap;
}
double radius_for(double share) {
    double low = 0, high = std::numbers::sqrt2 / 2;
    for (int k = 0; k < 50; ++k) {
        const double middle = (low + high) / 2;
        (covered_by_disc(middle) < share ? low : high) = middle;
    }
    return low;
}

constexpr double tiny = 1e-3;

void set(layer_work& w, const outline& e) {
    w.p[0] = number("inner", e.inner, 0), w.p[1] = number("outer", e.outer, 0);
}
void set(layer_work& w, const glow& e) {
    w.p[0] = number("radius", e.radius, tiny), w.flag = e.side == side::inside, w.power = e.power;
    if (e.power < 1 || e.power > 16) fail(fmt::format("power is {}; give 1 to 16", e.power));
}
void set(layer_work& w, const shadow& e) {
    w.p[0] = number("down", e.down), w.p[1] = number("right", e.right);
    w.p[2] = number("blur", e.blur, 0), w.p[3] = number("spread", e.spread);
}
void set(layer_work& w, const bevel& e) {
    const double azimuth = number("azimuth", e.azimuth), elevation = number("elevation", e.elevation, 0, 90);
    w.p[0] = number("width", e.width, tiny), w.flag = e.round;
    w.p[1] = static_cast<float>(-std::sin(azimuth * radians) * std::cos(elevation * radians));
    w.p[2] = static_cast<float>(std::cos(azimuth * radians) * std::cos(elevation * radians));
    w.p[3] = static_cast<float>(std::sin(elevation * radians));
}
void set(layer_work& w, const contour& e) {
    w.p[0] = number("every", e.every, tiny), w.p[1] = number("width", e.width, 0), w.flag = e.side == side::inside;
}
void set(layer_work& w, const trail& e) { w.p[0] = number("down", e.down), w.p[1] = number("right", e.right); }
void set(layer_work& w, const light& e) {
    w.p[0] = number("row", e.row), w.p[1] = number("column", e.column);
    w.p[2] = number("radius", e.radius, tiny), w.p[3] = number("reach", e.reach, tiny);
}
void set(layer_work& w, const halftone& e) {
    const double angle = number("angle", e.angle) * radians;
    w.p[0] = number("pitch", e.pitch, 1);
    w.p[1] = static_cast<float>(-std::sin(angle)), w.p[2] = static_cast<float>(std::cos(angle));
    for (int k = 0; k <= tones; ++k) w.dot[k] = static_cast<float>(radius_for(static_cast<double>(k) / tones));
}

void set_borders(const borders& given, const std::int64_t* shape, int rank, bool* wraps) {
    const auto beyond = checked_borders(given, shape, rank);
    for (std::size_t axis = 0; axis < 2; ++axis) {
        if (beyond[axis] == border::closed)
            fail(fmt::format("border along axis {} is closed; give open or periodic", axis));
        wraps[axis] = beyond[axis] == border::periodic;
    }
}

template <class Place>
void make_layer(const Place& on, const any_input<Place>& field, const any_output<Place>& out, const effect& what,
                const borders& given) {
    in_call([&] {
        check_image<Place>("field", field, std::int64_t{1} << 31);
        if (field.rank != 2) fail(fmt::format("field has {} axes; give 2", field.rank));
        check_type("field", field.type, {dtype::float32});
        if (!out.wanted()) fail("out has no axes; give an array of the field's shape");
        check_type("out", out.type, {dtype::float32});
        check_same_shape<Place>("out", out, field);
        const named_view<Place> all[] = {{"field", field}, {"out", out}};
        check_data<Place>(all);
        check_apart<Place>(all);
        layer_work w{};
        set_borders(given, field.shape.data(), 2, w.wraps);
        w.kind = static_cast<int>(what.index());
        std::visit([&](const auto& e) { set(w, e); }, what);
        w.field = static_cast<const float*>(field.data), w.out = static_cast<float*>(out.data);
        w.rows = field.shape[0], w.columns = field.shape[1];
        w.row_step = field.stride[0], w.column_step = field.stride[1];
        w.out_row_step = out.stride[0], w.out_column_step = out.stride[1];
        rehearse_step("pixel by pixel, without workspace");
        if (field.cells() > 0) shade_all(on, w);
    });
}

template <class Place>
void check_padding(const any_input<Place>& image, const any_output<Place>& out, const any_input<Place>& known,
                   const pad_options& o) {
    check_image<Place>("image", image, std::int64_t{1} << 31);
    if (image.rank != 3) fail(fmt::format("image has {} axes; give 3: rows, columns and channels", image.rank));
    check_type("image", image.type, {dtype::uint8, dtype::uint16, dtype::float32});
    if (!out.wanted()) fail("out has no axes; give an array of the image's shape");
    check_type("out", out.type, {image.type});
    check_same_shape<Place>("out", out, image);
    if (!(o.radius >= 0)) fail(fmt::format("radius is {}; give a length of at least 0", o.radius));
    number("least", o.least, 0, 1);
    const std::int64_t channels = image.shape[2];
    if (known.wanted()) {
        check_type("known", known.type, {dtype::boolean, dtype::uint8});
        any_input<Place> pixels = image;
        pixels.rank = 2, pixels.shape[2] = pixels.stride[2] = 0;
        check_same_shape<Place>("known", known, pixels);
    } else if (channels != 2 && channels != 4) {
        fail(fmt::format("image has {} channels, none of which is alpha; give known, or an image of 2 or 4 channels",
                         channels));
    }
    const named_view<Place> all[] = {{"image", image}, {"known", known}, {"out", out}};
    const named_view<Place> without[] = {all[0], all[2]};
    const auto views = known.wanted() ? std::span<const named_view<Place>>(all) : std::span(without);
    check_data<Place>(views);
    check_apart<Place>(views, views.size() - 1);
}

template <class Place>
void make_padding(const Place& on, const any_input<Place>& image, const any_output<Place>& out, const pad_options& o,
                  const any_input<Place>& known) {
    in_call([&] {
        check_padding(image, out, known, o);
        pad_work w{};
        distance_options limits;
        limits.sites = sites::nonzero, limits.max_distance = o.radius;
        bool wraps[2];
        set_borders(o.border, image.shape.data(), 2, wraps);
        limits.border = {wraps[0] ? border::periodic : border::open, wraps[1] ? border::periodic : border::open};
        w.image = image.data, w.out = out.data;
        w.type = image.type, w.least = o.least, w.has_alpha = image.shape[2] == 2 || image.shape[2] == 4;
        w.rows = image.shape[0], w.columns = image.shape[1], w.channels = image.shape[2];
        std::copy_n(image.stride.begin(), 3, w.step), std::copy_n(out.stride.begin(), 3, w.out_step);
        const auto in_fours = [](const auto& view) {
            return reinterpret_cast<std::uintptr_t>(view.data) % 4 == 0 &&
                   is_contiguous(view.shape.data(), view.stride.data(), view.rank);
        };
        w.four = w.type == dtype::uint8 && w.channels == 4 && in_fours(image) && in_fours(out);
        const std::int64_t pixels = w.rows * w.columns;
        if (image.cells() == 0) return;
        w.wide = pixels >= std::int64_t{1} << 31;
        const std::int64_t index = pixels * (w.wide ? 8 : 4), sizes[] = {w.rows, w.columns};
        with_bytes(on, index + (known.wanted() ? 0 : pixels), [&](void* memory) {
            w.site = memory, w.mark = static_cast<std::uint8_t*>(memory) + index;
            any_input<Place> marks = known;
            if (!known.wanted()) {
                mark_all(on, w);
                marks = any_input<Place>::contiguous(w.mark, dtype::uint8, sizes);
            }
            fields<Place> wanted;
            wanted.index = any_output<Place>::contiguous(w.site, w.wide ? dtype::int64 : dtype::int32, sizes);
            distance_transform(on, marks, wanted, limits);
            fill_all(on, w);
        });
    });
}

void check_threads(const host& on) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
}

}  // namespace

void layer(const host& on, const any_input<host>& field, const any_output<host>& out, const effect& what,
           const borders& border) {
    check_threads(on);
    make_layer(on, field, out, what, border);
}
void layer(const device& on, const any_input<device>& field, const any_output<device>& out, const effect& what,
           const borders& border) {
    make_layer(on, field, out, what, border);
}
void pad(const host& on, const any_input<host>& image, const any_output<host>& out, const pad_options& options,
         const any_input<host>& known) {
    check_threads(on);
    make_padding(on, image, out, options, known);
}
void pad(const device& on, const any_input<device>& image, const any_output<device>& out, const pad_options& options,
         const any_input<device>& known) {
    make_padding(on, image, out, options, known);
}

}  // namespace nearfield::effects
