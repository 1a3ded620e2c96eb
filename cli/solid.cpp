// Renders a volume's solid, and finds the cell that each pixel shows by a ray.
#include "cli/solid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "cli/slabs.hpp"
#include "cli/values.hpp"
#include "nearfield/raycast.hpp"
#include "nearfield/render.hpp"

namespace nearfield::cli {
namespace {

constexpr std::int64_t most_cells = std::int64_t{1} << 24;
constexpr double white = 0.94;

/// A grid of blocks; each holds the index of a cell that is solid, or -1.
struct blocks {
    std::int64_t side = 1;  ///< in cells
    std::vector<std::int64_t> shape, cell;
    io::array mask;
};

blocks blocks_of(const io::array& values) {
    blocks b;
    const auto along = [&](std::size_t axis) { return (values.shape[axis] + b.side - 1) / b.side; };
    while (along(0) * along(1) * along(2) > most_cells) ++b.side;
    b.shape = {along(0), along(1), along(2)};
    b.mask = io::make_array(dtype::uint8, b.shape);
    b.cell.assign(static_cast<std::size_t>(b.mask.cells()), -1);
    auto* const mask = reinterpret_cast<std::uint8_t*>(b.mask.data.get());
    std::fill_n(mask, b.mask.cells(), std::uint8_t{0});
    with_elements(values.data.get(), values.type, [&](const auto* cells) {
        for_slabs(b.shape[0], [&](std::int64_t begin, std::int64_t end) {
            const std::int64_t last = std::min(end * b.side, values.shape[0]);
            for (std::int64_t z = begin * b.side, from = z * values.shape[1] * values.shape[2]; z < last; ++z)
                for (std::int64_t y = 0; y < values.shape[1]; ++y)
                    for (std::int64_t x = 0; x < values.shape[2]; ++x, ++from) {
                        const auto value = static_cast<double>(cells[from]);
                        const std::int64_t to = (z / b.side * b.shape[1] + y / b.side) * b.shape[2] + x / b.side;
                        if (value == 0 || !std::isfinite(value) || mask[to] != 0) continue;
                        mask[to] = 1, b.cell[static_cast<std::size_t>(to)] = from;
                    }
        });
    });
    return b;
}

using vec = std::array<double, 3>;

/// Makes a camera that has all solid blocks in its picture.
camera view_of(const blocks& b, const vec& length, double aspect, bool up) {
    std::int64_t low[3] = {b.shape[0], b.shape[1], b.shape[2]}, end[3] = {}, size[3];
    for (std::size_t i = 0; i < b.cell.size(); ++i) {
        if (b.cell[i] < 0) continue;
        const auto at = static_cast<std::int64_t>(i);
        const std::int64_t place[3] = {at / b.shape[2] / b.shape[1], at / b.shape[2] % b.shape[1], at % b.shape[2]};
        for (int axis = 0; axis < 3; ++axis)
            low[axis] = std::min(low[axis], place[axis]), end[axis] = std::max(end[axis], place[axis] + 1);
    }
    for (int axis = 0; axis < 3; ++axis) {
        if (end[axis] == 0) low[axis] = 0;
        size[axis] = std::max<std::int64_t>(end[axis] - low[axis], 1);
    }
    camera view = camera_for(size, 3, spacing(length.data(), length.size()), 35, 25, aspect);
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (double* const each : {view.eye, view.target}) each[axis] += static_cast<double>(low[axis]) * length[axis];
    if (!up) view.eye[0] = 2 * view.target[0] - view.eye[0], view.up[0] = -1;
    view.field_of_view *= 0.95;
    return view;
}

vec cross(const vec& a, const vec& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
vec unit(const vec& a) {
    const double length = std::hypot(a[0], a[1], a[2]);
    return {a[0] / length, a[1] / length, a[2] / length};
}

/// Finds the block that each pixel of a picture shows; -1 for none.
std::vector<std::int64_t> seen_blocks(const blocks& b, const camera& view, const vec& length, const solid& s) {
    const std::int64_t count = std::int64_t{s.width} * s.height;
    io::array from = io::make_array(dtype::float64, {count, 3}), towards = io::make_array(dtype::float64, {count, 3}),
              hit = io::make_array(dtype::int32, {count, 3});
    // Axes in the order of the array are a left-handed system.
    const vec forward =
                  unit({view.target[0] - view.eye[0], view.target[1] - view.eye[1], view.target[2] - view.eye[2]}),
              right = unit(cross({view.up[0], view.up[1], view.up[2]}, forward)), up = cross(forward, right);
    const double pixel = 2 * std::tan(view.field_of_view * std::numbers::pi / 360) / s.height;
    auto* const origin = reinterpret_cast<double*>(from.data.get());
    auto* const way = reinterpret_cast<double*>(towards.data.get());
    for (std::int64_t i = 0; i < count; ++i)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double u = (static_cast<double>(i % s.width) + 0.5 - s.width / 2.0) * pixel,
                         v = (static_cast<double>(i / s.width) + 0.5 - s.height / 2.0) * pixel;
            origin[3 * i + static_cast<std::int64_t>(axis)] = view.eye[axis] / length[axis];
            way[3 * i + static_cast<std::int64_t>(axis)] =
                (forward[axis] + u * right[axis] - v * up[axis]) / length[axis];
        }
    raycast(host{}, b.mask.in(), from.in(), towards.in(), {.cells = hit.out()});
    const auto* const cell = reinterpret_cast<const std::int32_t*>(hit.data.get());
    std::vector<std::int64_t> found(static_cast<std::size_t>(count), -1);
    for (std::int64_t i = 0; i < count; ++i)
        if (cell[3 * i] >= 0)
            found[static_cast<std::size_t>(i)] =
                (cell[3 * i] * b.shape[1] + cell[3 * i + 1]) * b.shape[2] + cell[3 * i + 2];
    return found;
}

}  // namespace

void solid::put(picture& image, const std::function<rgb(std::size_t)>& colour_of) const {
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const std::size_t at =
                static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
            rgb& to = image.at(left + x, top + y);
            to = light[at];
            if (cell[at] < 0) continue;
            const rgb own = colour_of(at);
            const auto tint = [](std::uint8_t lit, std::uint8_t colour) {
                return static_cast<std::uint8_t>(std::min(255.0, lit * (colour / 255.0) / white));
            };
            to = {tint(to.red, own.red), tint(to.green, own.green), tint(to.blue, own.blue)};
        }
}

solid see_solid(const sheet& on, const io::array& values, int beside) {
    constexpr int least = 100;
    solid s;
    const int width = on.legend_width - beside, height = on.legend_height;
    if (on.panels.size() != 3 || values.shape.size() != 3 || width < least || height < least) return s;
    const blocks b = blocks_of(values);
    vec length{};
    for (const panel& each : on.panels) {
        length[static_cast<std::size_t>(each.shows.row_axis)] = each.shows.row_spacing * static_cast<double>(b.side);
        length[static_cast<std::size_t>(each.shows.column_axis)] =
            each.shows.column_spacing * static_cast<double>(b.side);
    }
    s.left = on.legend_left + beside, s.top = on.legend_top, s.width = width, s.height = height;
    const double aspect = static_cast<double>(width) / height;
    const render_options how{.spacing = spacing(length.data(), length.size()),
                             .camera = view_of(b, length, aspect, on.panels[0].rows_up),
                             .colour = {white, white, white},
                             .background = {250 / 255.0, 249 / 255.0, 246 / 255.0},
                             .samples = 2};
    io::array drawn = io::make_array(dtype::uint8, {height, width, 3});
    render(host{}, b.mask.in(), drawn.out(), how);
    const auto* const pixels = reinterpret_cast<const rgb*>(drawn.data.get());
    s.light.assign(pixels, pixels + std::int64_t{width} * height);
    s.cell = seen_blocks(b, how.camera, length, s);
    for (std::int64_t& cell : s.cell)
        if (cell >= 0) cell = b.cell[static_cast<std::size_t>(cell)];
    return s;
}

}  // namespace nearfield::cli
