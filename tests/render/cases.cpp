#include "render/cases.hpp"

#include <algorithm>
#include <cmath>

namespace nearfield::test {

trace_case drawn_trace(std::uint64_t seed, std::int64_t rays) {
    trace_case c;
    std::uint64_t state = seed;
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>((state = mix(state)) % n); };
    const auto real = [&] { return std::ldexp(static_cast<double>((state = mix(state)) >> 11), -53); };
    const std::size_t axes = below(4) == 0 ? 2 : 3;
    for (std::size_t k = 0; k < axes; ++k) {
        c.shape.push_back(2 + below(20));
        c.spacing.push_back(seed % 3 == 0 ? 0.5 + static_cast<double>(below(4)) / 2 : 1);
    }
    const flags_t mask = make_random(c.shape, below(3) == 0 ? 0.3 : 0.01, seed);
    c.field.resize(mask.size());
    const bool is_signed = below(2) == 0;
    distance_options how;
    how.sites = sites::nonzero, how.spacing = {c.spacing.data(), axes};
    how.half_cell = is_signed;  // otherwise adjacent cells of both sides would be two apart
    if (is_signed) how.sign = sign::inside_negative, how.sites = sites::zero;
    distance(host{1, {}}, any_input<host>::contiguous(mask.data(), dtype::uint8, c.shape),
             any_output<host>::contiguous(c.field.data(), dtype::float32, c.shape), how);
    if (is_signed)
        for (float& f : c.field) f = -f;
    c.level = static_cast<double>(below(5)) / 3 - (is_signed ? 0.5 : -0.2);
    for (std::int64_t i = 0; i < rays; ++i)
        for (std::size_t k = 0; k < axes; ++k) {
            const auto side = static_cast<double>(c.shape[k]);
            const double at = real() * (side + 8) - 4;
            c.origins.push_back(i % 5 == 0 ? std::rint(at) : at);
            c.directions.push_back(i % 5 == 0 ? static_cast<double>(below(3) - 1) : real() * side - at);
        }
    return c;
}

double field_at(const trace_case& c, const std::vector<double>& point) {
    double sum = 0;
    for (std::size_t corner = 0; corner < std::size_t{1} << c.shape.size(); ++corner) {
        double weight = 1;
        std::int64_t index = 0;
        for (std::size_t k = 0; k < c.shape.size(); ++k) {
            const double low = std::clamp(std::floor(point[k]), 0.0, static_cast<double>(c.shape[k] - 2));
            const bool high = (corner >> k & 1) != 0;
            weight *= high ? point[k] - low : 1 - (point[k] - low);
            index = index * c.shape[k] + static_cast<std::int64_t>(low) + (high ? 1 : 0);
        }
        const auto value = static_cast<double>(c.field[static_cast<std::size_t>(index)]);
        sum += weight * std::clamp(value, -1e18, 1e18);
    }
    return sum;
}

trace_table traced_on_host(const trace_case& c, int threads) {
    const auto n = static_cast<std::size_t>(c.rays());
    trace_table t{std::vector<double>(n, 7), std::vector<float>(n * c.shape.size(), 7), std::vector<std::int32_t>(n)};
    const shape_t table{c.rays(), static_cast<std::int64_t>(c.shape.size())}, flat{c.rays()};
    sphere_trace(host{threads, {}}, any_input<host>::contiguous(c.field.data(), dtype::float32, c.shape),
                 any_input<host>::contiguous(c.origins.data(), dtype::float64, table),
                 any_input<host>::contiguous(c.directions.data(), dtype::float64, table),
                 {any_output<host>::contiguous(t.entry.data(), dtype::float64, flat),
                  any_output<host>::contiguous(t.normals.data(), dtype::float32, table),
                  any_output<host>::contiguous(t.steps.data(), dtype::int32, flat)},
                 c.options());
    return t;
}

trace_table traced_by_camera(const trace_case& c, const camera& from, int threads) {
    const auto n = static_cast<std::size_t>(picture_width * picture_height);
    trace_table t{std::vector<double>(n, 7), std::vector<float>(3 * n, 7), std::vector<std::int32_t>(n)};
    const shape_t flat{picture_height, picture_width}, deep{picture_height, picture_width, 3};
    sphere_trace(host{threads, {}}, any_input<host>::contiguous(c.field.data(), dtype::float32, c.shape), from,
                 {any_output<host>::contiguous(t.entry.data(), dtype::float64, flat),
                  any_output<host>::contiguous(t.normals.data(), dtype::float32, deep),
                  any_output<host>::contiguous(t.steps.data(), dtype::int32, flat)},
                 c.options());
    return t;
}

std::vector<std::uint8_t> drawn_object(const shape_t& shape) {
    std::vector<std::uint8_t> all;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        const auto z = static_cast<double>(i / shape[2] / shape[1]) / static_cast<double>(shape[0]) - 0.5,
                   y = static_cast<double>(i / shape[2] % shape[1]) / static_cast<double>(shape[1]) - 0.5,
                   x = static_cast<double>(i % shape[2]) / static_cast<double>(shape[2]) - 0.5;
        double value = 320 * (0.62 - std::sqrt(z * z + y * y + x * x));
        if (x * x + z * z < 0.01) value = 0;
        if (z < -0.42) value = 180;
        all.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
    }
    return all;
}

std::vector<render_options> picture_options(const shape_t& shape) {
    render_options plain;
    plain.threshold = 100, plain.low = 0, plain.high = 255, plain.interval = 20;
    plain.camera = camera_for(shape.data(), 3, {}, 35, 25, 1.2);
    // Nothing up to 30, a film at 60, nothing from 90 to 110, and a solid core with a sharp edge.
    static constexpr transfer_point points[] = {{30, {0, 0, 1}, 0},  {60, {0, 1, 0}, 0.3},  {90, {1, 1, 0}, 0},
                                                {110, {1, 0, 0}, 0}, {160, {1, 0, 0}, 0.1}, {200, {1, 1, 1}, 0.1},
                                                {200, {1, 1, 1}, 1}};
    std::vector<render_options> all(7, plain);
    all[1].mode = render_mode::volume;
    all[2].mode = render_mode::isolines;
    all[3].shadows = all[3].ambient = 0, all[3].samples = 2;
    all[4].spacing = {1, 1.5, 0.75}, all[4].camera = camera_for(shape.data(), 3, all[4].spacing, 200, -20, 1.2);
    all[6].mode = render_mode::volume, all[6].transfer = points;
    all[5].camera.eye[0] = 4, all[5].camera.eye[1] = 3, all[5].camera.eye[2] = 5;  // lies inside the volume
    return all;
}

std::vector<std::uint8_t> drawn_on_host(const std::vector<std::uint8_t>& volume, const shape_t& shape,
                                        const render_options& options, int threads) {
    std::vector<std::uint8_t> picture(3 * picture_width * picture_height, 7);
    render(host{threads, {}}, any_input<host>::contiguous(volume.data(), dtype::uint8, shape),
           any_output<host>::contiguous(picture.data(), dtype::uint8, shape_t{picture_height, picture_width, 3}),
           options);
    return picture;
}

}  // namespace nearfield::test
