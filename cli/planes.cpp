#include "cli/planes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/parse.hpp"
#include "nearfield/error.hpp"

namespace nearfield::cli {
namespace {

constexpr double longest_side = 8192, gap_pixels = 12;
constexpr std::size_t most_images = 16;

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

using positions = std::vector<std::optional<std::int64_t>>;

positions parse_slice(const std::string& text, const std::vector<std::int64_t>& shape) {
    positions fixed(shape.size());
    if (text.empty()) return fixed;
    for (const std::string& item : split(text, ',')) {
        const std::size_t colon = item.find(':');
        if (colon == std::string::npos)
            refuse(fmt::format("--slice is '{}'; expected AXIS:INDEX, e.g. --slice 0:32", item));
        const std::int64_t axis = parse_integer("--slice", item.substr(0, colon), "--slice 0:32");
        std::int64_t index = parse_integer("--slice", item.substr(colon + 1), "--slice 0:32");
        const auto axes = static_cast<std::int64_t>(shape.size());
        if (axis < 0 || axis >= axes)
            refuse(fmt::format("--slice names axis {} of a {}-D array; its axes are 0 to {}", axis, axes, axes - 1));
        const std::int64_t length = shape[static_cast<std::size_t>(axis)];
        if (index < -length || index >= length)
            refuse(fmt::format(
                "--slice asks for index {} of axis {}, which has {} cells; give 0 to {}, or -1 for the last", index,
                axis, length, length - 1));
        fixed[static_cast<std::size_t>(axis)] = index < 0 ? index + length : index;
    }
    return fixed;
}

/// The plane along two axes; the other axes have their fixed coordinate, or their middle.
plane make_plane(const std::vector<std::int64_t>& shape, const std::vector<double>& per_axis, const positions& fixed,
                 int row_axis, int column_axis, int batch_axes) {
    plane made;
    made.at.resize(shape.size());
    std::int64_t stride = 1;
    for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
        const auto a = static_cast<std::size_t>(axis);
        if (axis == row_axis) {
            made.rows = shape[a], made.row_stride = stride, made.row_axis = axis, made.row_spacing = per_axis[a];
        } else if (axis == column_axis) {
            made.columns = shape[a], made.column_stride = stride, made.column_axis = axis,
            made.column_spacing = per_axis[a];
        } else {
            made.at[a] = fixed[a].value_or(shape[a] / 2);
            made.offset += made.at[a] * stride;
            if (axis < batch_axes) made.first += made.at[a] * stride;
        }
        stride *= shape[a];
    }
    return made;
}

int pixels(double length, double pitch) { return std::max(1, static_cast<int>(std::lround(length / pitch))); }
double height_of(const plane& p) { return static_cast<double>(p.rows) * p.row_spacing; }
double width_of(const plane& p) { return static_cast<double>(p.columns) * p.column_spacing; }

/// Side of a pixel: an integer fraction of the smallest cell, for about `wanted` pixels along the longest side.
double choose_pitch(const std::vector<panel>& panels, double longest, double wanted) {
    double finest = INFINITY;
    for (const panel& each : panels) {
        if (each.shows.row_axis >= 0) finest = std::min(finest, each.shows.row_spacing);
        if (each.shows.column_axis >= 0) finest = std::min(finest, each.shows.column_spacing);
    }
    const double enlarge = std::max(1.0, std::floor(wanted / (longest / finest)));
    return std::max(finest / enlarge, longest / longest_side);
}

sheet one_panel(const plane& shows, bool rows_up, int wanted) {
    sheet made;
    made.panels.push_back({.shows = shows, .rows_up = rows_up});
    panel& only = made.panels[0];
    made.pitch =
        choose_pitch(made.panels, std::max(shows.row_axis >= 0 ? height_of(shows) : 0, width_of(shows)), wanted);
    // A one-dimensional array is drawn as a strip.
    if (shows.row_axis < 0) only.shows.row_spacing = 48 * made.pitch;
    made.width = only.width = pixels(width_of(only.shows), made.pitch);
    made.height = only.height = pixels(height_of(only.shows), made.pitch);
    return made;
}

/// Places front and side view above and the top view below the front, so that neighbours share an axis.
sheet three_panels(const plane& front, const plane& side, const plane& top, bool rows_up, int wanted) {
    sheet made;
    for (const plane& each : {front, side, top}) made.panels.push_back({.shows = each, .rows_up = rows_up});
    const double across = width_of(front) + width_of(side), down = height_of(front) + height_of(top);
    made.pitch = choose_pitch(made.panels, std::max(across, down), wanted);
    for (panel& each : made.panels)
        each.width = pixels(width_of(each.shows), made.pitch), each.height = pixels(height_of(each.shows), made.pitch);
    const int gap = static_cast<int>(gap_pixels);
    const panel& first = made.panels[0];
    for (panel& each : made.panels) each.left = gap, each.top = gap;
    made.panels[1].left = made.legend_left = 2 * gap + first.width;
    made.panels[2].top = made.legend_top = 2 * gap + first.height;
    made.legend_width = made.panels[1].width, made.legend_height = made.panels[2].height;
    made.width = made.legend_left + made.legend_width + gap;
    made.height = made.legend_top + made.legend_height + gap;
    return made;
}

/// Places the images of a batch in rows and columns, about as wide as high.
sheet contact_sheet(const std::vector<plane>& images, bool rows_up, int wanted) {
    sheet made;
    for (const plane& each : images) made.panels.push_back({.shows = each, .rows_up = rows_up});
    const plane& one = images[0];
    const double width = width_of(one), height = one.row_axis >= 0 ? height_of(one) : width / 8;
    const auto count = static_cast<int>(images.size());
    const int columns = std::clamp(static_cast<int>(std::ceil(std::sqrt(count * height / width))), 1, count),
              rows = (count + columns - 1) / columns;
    made.pitch = choose_pitch(made.panels, std::max(width * columns, height * rows), wanted);
    const int gap = static_cast<int>(gap_pixels) / 2;
    for (int i = 0; i < count; ++i) {
        panel& each = made.panels[static_cast<std::size_t>(i)];
        if (one.row_axis < 0) each.shows.row_spacing = height;
        each.width = pixels(width, made.pitch), each.height = pixels(height, made.pitch);
        each.left = gap + i % columns * (each.width + gap), each.top = gap + i / columns * (each.height + gap);
    }
    made.width = gap + columns * (made.panels[0].width + gap);
    made.height = gap + rows * (made.panels[0].height + gap);
    return made;
}

/// Advances the axes among the first `batch_axes` that are not fixed to the next image; false after the last.
bool next_image(positions& at, const positions& fixed, const std::vector<std::int64_t>& shape, std::size_t batch_axes) {
    for (std::size_t axis = batch_axes; axis-- > 0;) {
        if (fixed[axis]) continue;
        const std::int64_t next = at[axis].value_or(0) + 1;
        at[axis] = next < shape[axis] ? next : 0;
        if (next < shape[axis]) return true;
    }
    return false;
}

}  // namespace

sheet arrange(const std::vector<std::int64_t>& shape, const std::vector<double>& per_axis, const page& drawn,
              bool rows_up) {
    const positions fixed = parse_slice(drawn.slice, shape);
    const auto batch = static_cast<std::size_t>(drawn.batch_axes);
    std::vector<int> free;
    for (std::size_t axis = batch; axis < shape.size(); ++axis)
        if (!fixed[axis]) free.push_back(static_cast<int>(axis));
    if (std::find(shape.begin(), shape.end(), 0) != shape.end() || shape.empty())
        refuse(fmt::format("there is nothing to draw: the array has no cells (shape {})", text_of(shape)));
    if (free.empty() || free.size() > 3)
        refuse(fmt::format("a picture needs one to three axes and {} of shape {} are left; use --slice AXIS:INDEX{}",
                           free.size(), text_of(shape),
                           free.empty() ? " for fewer axes" : ", several joined by commas"));
    if (free.size() < 2 &&
        std::any_of(fixed.begin() + drawn.batch_axes, fixed.end(), [](const auto& at) { return at.has_value(); }))
        refuse(
            fmt::format("--slice {} leaves a line of an array of shape {}; a slice leaves two axes or three, so leave "
                        "it out or name fewer axes",
                        drawn.slice, text_of(shape)));
    positions at = fixed;
    for (std::size_t axis = 0; axis < batch; ++axis) at[axis] = fixed[axis].value_or(0);
    const auto draw = [&](int row_axis, int column_axis) {
        return make_plane(shape, per_axis, at, row_axis, column_axis, drawn.batch_axes);
    };
    const int wanted = drawn.size > 0 ? drawn.size : free.size() == 3 ? 1200 : 800;
    if (free.size() == 3)
        return three_panels(draw(free[0], free[2]), draw(free[0], free[1]), draw(free[1], free[2]), rows_up, wanted);
    std::vector<plane> images;
    do images.push_back(free.size() == 1 ? draw(-1, free[0]) : draw(free[0], free[1]));
    while (images.size() < most_images && next_image(at, fixed, shape, batch));
    rows_up = rows_up && free.size() == 2;
    return images.size() == 1 ? one_panel(images[0], rows_up, wanted) : contact_sheet(images, rows_up, wanted);
}

sheet with_legend(sheet on, int least_height) {
    if (on.legend_width > 0 || on.height < least_height) return on;
    on.legend_left = on.width, on.legend_height = on.height;
    on.legend_width = legend_room(on.height);
    on.width += on.legend_width;
    return on;
}

}  // namespace nearfield::cli
