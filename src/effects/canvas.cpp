// Canvases: linear light times alpha, converted from sRGB and back.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lines.hpp"
#include "effects/core.hpp"
#include "effects/rows.hpp"

namespace nearfield::effects {
namespace {

/// The transfer functions of IEC 61966-2-1.
double to_linear(double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); }
double to_srgb(double v) { return v <= 0.0031308 ? v * 12.92 : 1.055 * std::pow(v, 1 / 2.4) - 0.055; }

void check_canvas(const any_input<host>& canvas) {
    check_image<host>("canvas", canvas, std::int64_t{1} << 31);
    check_type("canvas", canvas.type, {dtype::float32});
    if (canvas.rank != 3 || canvas.shape[2] != 4 || !is_contiguous(canvas.shape.data(), canvas.stride.data(), 3))
        fail(fmt::format("canvas has shape {}; give a contiguous one of (rows, columns, 4)",
                         shape_text(canvas.shape.data(), canvas.rank)));
}
void check_picture(const any_input<host>& image, const any_input<host>& canvas, std::int64_t least_channels) {
    check_canvas(canvas);
    check_image<host>("image", image, std::int64_t{1} << 31);
    check_type("image", image.type, {dtype::uint8, dtype::uint16});
    if (image.rank != 3 || image.shape[0] != canvas.shape[0] || image.shape[1] != canvas.shape[1] ||
        image.shape[2] < least_channels || image.shape[2] > 4)
        fail(fmt::format("image has shape {}; give rows and columns of the canvas and {} to 4 channels",
                         shape_text(image.shape.data(), image.rank), least_channels));
    if (!is_contiguous(image.shape.data(), image.stride.data(), 3)) fail("image is not contiguous; give a copy");
}

/// Returns the linear light of every code of the type, then alpha.
template <class T>
std::vector<float> linear_codes() {
    constexpr int most = std::numeric_limits<T>::max();
    std::vector<float> of(static_cast<std::size_t>(most) + 1);
    for (int k = 0; k <= most; ++k)
        of[static_cast<std::size_t>(k)] = static_cast<float>(to_linear(static_cast<double>(k) / most));
    return of;
}

template <class T>
void decode_as(const host& on, const T* from, float* to, std::int64_t rows, std::int64_t columns, int channels) {
    const std::vector<float> linear = linear_codes<T>();
    const bool gray = channels < 3, with_alpha = channels % 2 == 0;
    for_rows(on, rows, columns, [&](std::int64_t y) {
        for (std::int64_t i = y * columns; i < (y + 1) * columns; ++i) {
            const T* const in = from + i * channels;
            float* const out = to + 4 * i;
            out[3] = with_alpha ? static_cast<float>(in[channels - 1]) / std::numeric_limits<T>::max() : 1;
            for (int k = 0; k < 3; ++k) out[k] = linear[in[gray ? 0 : k]] * out[3];
        }
    });
}

template <class T>
void encode_as(const host& on, const float* from, T* to, std::int64_t rows, std::int64_t columns, int channels) {
    constexpr double most = std::numeric_limits<T>::max();
    const auto code = [](double v) { return static_cast<T>(std::floor((v > 0 ? v < 1 ? v : 1 : 0) * most + 0.5)); };
    for_rows(on, rows, columns, [&](std::int64_t y) {
        for (std::int64_t i = y * columns; i < (y + 1) * columns; ++i) {
            const float* const in = from + 4 * i;
            T* const out = to + i * channels;
            const double by = channels == 3 ? 1 : in[3] > 0 ? in[3] : 1;
            for (int k = 0; k < 3; ++k) out[k] = code(to_srgb(in[k] / by));
            if (channels == 4) out[3] = code(in[3]);
        }
    });
}

void put(float* pixel, float value, const colour& with, blend how) {
    float share = value * with.alpha;
    share = share > 0 ? share < 1 ? share : 1 : 0;
    const float mine = how == blend::under ? share * (1 - pixel[3]) : share;
    const float theirs = how == blend::over ? 1 - share : 1;
    const float paint[] = {with.red, with.green, with.blue};
    for (int k = 0; k < 3; ++k) pixel[k] = paint[k] * mine + pixel[k] * theirs;
    pixel[3] += share * (1 - pixel[3]);
}

}  // namespace

colour colour_of(std::string_view text) {
    const default_floats floats;
    const std::size_t digits = text.size() < 2 || text[0] != '#' ? 0 : text.size() - 1;
    unsigned bits = 0;
    const auto [end, problem] =
        std::from_chars(text.data() + 1, text.data() + (digits > 0 ? text.size() : 1), bits, 16);
    if ((digits != 3 && digits != 6 && digits != 8) || problem != std::errc{} || end != text.data() + text.size())
        fail(fmt::format("colour is \"{}\"; give \"#f80\", \"#ff8800\" or with alpha \"#ff8800cc\"", text));
    if (digits == 3) bits = (bits >> 8 & 15) * 0x110000 | (bits >> 4 & 15) * 0x1100 | (bits & 15) * 0x11;
    if (digits != 8) bits = bits << 8 | 255;
    const auto linear = [&](int shift) { return static_cast<float>(to_linear((bits >> shift & 255) / 255.0)); };
    return {linear(24), linear(16), linear(8), static_cast<float>(bits & 255) / 255};
}

void paint(const host& on, const any_output<host>& canvas, const any_input<host>& layer, const colour& with,
           blend how) {
    in_call([&] {
        check_canvas(canvas);
        check_image<host>("layer", layer, std::int64_t{1} << 31);
        check_type("layer", layer.type, {dtype::float32});
        if (layer.rank != 2 || layer.shape[0] != canvas.shape[0] || layer.shape[1] != canvas.shape[1])
            fail(fmt::format("layer has shape {}; give rows and columns of the canvas",
                             shape_text(layer.shape.data(), layer.rank)));
        const named_view<host> all[] = {{"layer", layer}, {"canvas", canvas}};
        check_data<host>(all);
        check_apart<host>(all);
        if (layer.cells() == 0) return;
        for_rows(on, layer.shape[0], layer.shape[1], [&](std::int64_t y) {
            const float* const from = static_cast<const float*>(layer.data) + y * layer.stride[0];
            float* const to = static_cast<float*>(canvas.data) + y * canvas.stride[0];
            for (std::int64_t x = 0; x < layer.shape[1]; ++x) put(to + 4 * x, from[x * layer.stride[1]], with, how);
        });
    });
}

void decode(const host& on, const any_input<host>& image, const any_output<host>& canvas) {
    in_call([&] {
        check_picture(image, canvas, 1);
        const named_view<host> all[] = {{"image", image}, {"canvas", canvas}};
        check_data<host>(all);
        check_apart<host>(all);
        if (canvas.cells() == 0) return;
        auto* const to = static_cast<float*>(canvas.data);
        const int channels = static_cast<int>(image.shape[2]);
        const std::int64_t rows = image.shape[0], columns = image.shape[1];
        if (image.type == dtype::uint8)
            decode_as(on, static_cast<const std::uint8_t*>(image.data), to, rows, columns, channels);
        else decode_as(on, static_cast<const std::uint16_t*>(image.data), to, rows, columns, channels);
    });
}

void encode(const host& on, const any_input<host>& canvas, const any_output<host>& image) {
    in_call([&] {
        check_picture(image, canvas, 3);
        const named_view<host> all[] = {{"canvas", canvas}, {"image", image}};
        check_data<host>(all);
        check_apart<host>(all);
        if (canvas.cells() == 0) return;
        const auto* const from = static_cast<const float*>(canvas.data);
        const int channels = static_cast<int>(image.shape[2]);
        const std::int64_t rows = image.shape[0], columns = image.shape[1];
        if (image.type == dtype::uint8)
            encode_as(on, from, static_cast<std::uint8_t*>(image.data), rows, columns, channels);
        else encode_as(on, from, static_cast<std::uint16_t*>(image.data), rows, columns, channels);
    });
}

}  // namespace nearfield::effects
