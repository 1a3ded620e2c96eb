#include "sdf/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

namespace nearfield::test {

shape_t sdf_case::out_shape() const {
    shape_t made = shape;
    for (std::size_t k = made.size() - 2; k < made.size(); ++k) made[k] /= options.supersample;
    return made;
}

std::vector<std::byte> on_host(const sdf_case& c, int threads) {
    const shape_t to = c.out_shape();
    std::vector<std::byte> out(static_cast<std::size_t>(cells_of(to) * size_of(c.out)));
    sdf(host{threads, {}}, any_input<host>::contiguous(c.image.data(), dtype::uint8, c.shape),
        any_output<host>::contiguous(out.data(), c.out, to), c.options);
    return out;
}

std::vector<float> floats(const std::vector<std::byte>& bytes) {
    std::vector<float> made(bytes.size() / sizeof(float));
    std::memcpy(made.data(), bytes.data(), bytes.size());
    return made;
}

sdf_case drawn_sdf_case(std::uint64_t seed) {
    std::uint64_t state = mix(seed);
    const auto below = [&](std::uint64_t n) {
        state = mix(state + 1);
        return static_cast<std::int64_t>(state % n);
    };
    sdf_case c;
    c.options.supersample = static_cast<int>(1 + below(4)), c.options.antialias = below(2) == 0;
    const std::int64_t side = below(3) == 0 ? 5 : 24;
    for (int k = 0; k < 2; ++k)
        c.shape.push_back((1 + below(static_cast<std::uint64_t>(side))) * c.options.supersample);
    if (below(4) == 0) c.shape.insert(c.shape.begin(), 1 + below(3)), c.options.batch_axes = 1;
    border ends[3] = {border::open, border::open, border::open};
    for (auto& end : ends) end = below(3) == 0 ? border::periodic : border::open;
    c.options.border = {ends, c.shape.size()};
    c.options.radius = 1 + static_cast<double>(below(9)), c.options.cutoff = static_cast<double>(below(5)) / 4;
    const dtype types[] = {dtype::float32, dtype::float32, dtype::uint8, dtype::uint16};
    c.out = types[below(4)];
    const std::int64_t kind = below(8), zoom = 1 + below(6), tilt = below(9) - 4, other = below(9) - 4;
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        const std::int64_t y = i / c.shape.back() / zoom, x = i % c.shape.back() / zoom;
        const auto slope = [&](std::int64_t by) {  // of an edge through the middle
            const std::int64_t down =
                i / c.shape.back() % c.shape[c.shape.size() - 2] - c.shape[c.shape.size() - 2] / 2;
            const std::int64_t away =
                2 * by * down + (by == other ? -5 : 5) * (2 * (i % c.shape.back()) - c.shape.back());
            return static_cast<std::uint64_t>(std::clamp<std::int64_t>(128 + 20 * away, 0, 255));
        };
        const std::uint64_t bits = mix(seed * 77 + static_cast<std::uint64_t>(kind > 2 ? y * 1000 + x : i));
        c.image.push_back(static_cast<std::uint8_t>(kind == 0   ? 0
                                                    : kind == 1 ? 255
                                                    : kind == 2 ? bits % 256
                                                    : kind == 3 ? (bits % 5 == 0 ? 255 : 0)
                                                    : kind == 4 ? (bits % 2 == 0 ? 200 : 0)
                                                    : kind == 5 ? (bits % 3) * 127
                                                    : kind == 6 ? std::min(slope(tilt), slope(other))
                                                                : std::max(slope(tilt), slope(other))));
    }
    return c;
}

std::vector<float> mask_by_definition(const sdf_case& c) {
    const std::size_t batch = c.shape.size() - 2;
    const std::int64_t rows = c.shape[batch], columns = c.shape[batch + 1], s = c.options.supersample;
    std::vector<float> made;
    for (std::int64_t image = 0; image < cells_of(c.shape) / (rows * columns); ++image) {
        const std::uint8_t* const cells = c.image.data() + image * rows * columns;
        const std::int64_t far_y = c.options.border[static_cast<int>(batch)] == border::periodic ? rows : 0,
                           far_x = c.options.border[static_cast<int>(batch) + 1] == border::periodic ? columns : 0;
        for (std::int64_t y = s; y <= 2 * rows; y += 2 * s)  // coordinates in half cells
            for (std::int64_t x = s; x <= 2 * columns; x += 2 * s) {
                const bool inside = cells[y / 2 * columns + x / 2] != 0;
                std::int64_t best[2] = {INT64_MAX, INT64_MAX};  // to outside cells, to inside cells
                for (std::int64_t v = -far_y; v < rows + far_y; ++v)
                    for (std::int64_t u = -far_x; u < columns + far_x; ++u) {
                        const std::int64_t dy = std::max({2 * v - y, y - 2 * v - 2, std::int64_t{0}}),
                                           dx = std::max({2 * u - x, x - 2 * u - 2, std::int64_t{0}});
                        std::int64_t& to = best[cells[(v + rows) % rows * columns + (u + columns) % columns] != 0];
                        to = std::min(to, dy * dy + dx * dx);
                    }
                // A corner that both sides share has distance 0, whichever side its cell is on.
                const std::int64_t squared = best[inside ? 0 : 1];
                const double length = squared == INT64_MAX ? std::numeric_limits<double>::infinity()
                                                           : std::sqrt(static_cast<double>(squared)) / 2;
                const double pixels = static_cast<double>(static_cast<float>(length)) / static_cast<double>(s);
                made.push_back(static_cast<float>(inside ? pixels : -pixels));
            }
    }
    return made;
}

shape_function disc(double y, double x, double radius) {
    return [=](double v, double u) { return radius - std::hypot(v - y, u - x); };
}
shape_function half_plane(double y, double x, double angle) {
    return [=](double v, double u) { return (v - y) * std::sin(angle) + (u - x) * std::cos(angle); };
}
shape_function polygon(std::vector<std::array<double, 2>> corners) {
    return [corners = std::move(corners)](double v, double u) {
        double best = std::numeric_limits<double>::infinity();
        bool inside = false;
        for (std::size_t k = 0; k < corners.size(); ++k) {
            const auto [y0, x0] = corners[k];
            const auto [y1, x1] = corners[(k + 1) % corners.size()];
            const double ey = y1 - y0, ex = x1 - x0;
            const double t = std::clamp(((v - y0) * ey + (u - x0) * ex) / (ey * ey + ex * ex), 0.0, 1.0);
            best = std::min(best, std::hypot(v - y0 - t * ey, u - x0 - t * ex));
            if ((y0 <= v) != (y1 <= v) && u < x0 + (v - y0) / ey * ex) inside = !inside;
        }
        return inside ? best : -best;
    };
}
shape_function regular_polygon(double y, double x, double radius, int corners, double angle) {
    std::vector<std::array<double, 2>> at;
    for (int k = 0; k < corners; ++k) {
        const double turn = angle + 2 * std::numbers::pi * k / corners;
        at.push_back({y + radius * std::sin(turn), x + radius * std::cos(turn)});
    }
    return polygon(std::move(at));
}

sdf_case covered(const shape_function& shape, std::int64_t n) {
    constexpr int parts = 16;  // parts along a side; a part is covered by its distance to the outline
    sdf_case c;
    c.shape = {n, n};
    for (std::int64_t y = 0; y < n; ++y)
        for (std::int64_t x = 0; x < n; ++x) {
            double sum = 0;
            for (int k = 0; k < parts * parts; ++k) {
                const double v = (k / parts + 0.5) / parts - 0.5, u = (k % parts + 0.5) / parts - 0.5;
                const double d = shape(static_cast<double>(y) + v, static_cast<double>(x) + u);
                sum += std::clamp(d * parts + 0.5, 0.0, 1.0);
            }
            c.image.push_back(static_cast<std::uint8_t>(std::lround(sum / (parts * parts) * 255)));
        }
    return c;
}

error_of measured(const shape_function& shape, const sdf_case& c, const std::vector<float>& field, double band) {
    const std::int64_t columns = c.out_shape()[1], rows = c.out_shape()[0];
    const double s = c.options.supersample;
    double sum = 0, largest = 0, count = 0;
    for (std::int64_t y = 4; y < rows - 4; ++y)
        for (std::int64_t x = 4; x < columns - 4; ++x) {
            const double at_y = (static_cast<double>(y) + 0.5) * s - 0.5,
                         at_x = (static_cast<double>(x) + 0.5) * s - 0.5;
            const double d = shape(at_y, at_x) / s;
            if (std::abs(d) > band) continue;
            const double off = std::abs(static_cast<double>(field[static_cast<std::size_t>(y * columns + x)]) - d);
            sum += off * off, largest = std::max(largest, off), ++count;
        }
    return {std::sqrt(sum / count), largest};
}

}  // namespace nearfield::test
