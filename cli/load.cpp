#include "cli/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/parse.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// Weights of the samples of one cell; they add up to 10000.
std::vector<double> weights_of(const std::string& channel, std::int64_t samples) {
    std::vector<double> weights(static_cast<std::size_t>(samples), 0);
    const auto only = [&](std::size_t at) {
        if (at >= weights.size()) refuse(fmt::format("channel is {} but the image has {} samples a cell and no {}", channel, samples, channel));
        weights[at] = 10000;
    };
    if (channel == "alpha") only(3);
    else if (channel == "red") only(0);
    else if (channel == "green") only(1);
    else if (channel == "blue") only(2);
    else if (weights.size() < 3) only(0);
    else weights[0] = 2126, weights[1] = 7152, weights[2] = 722;
    return weights;
}

io::array like(const io::array& image, dtype type, std::vector<std::int64_t> shape) {
    io::array made = io::make_array(type, std::move(shape));
    made.spacing = image.spacing;
    made.unit = image.unit;
    return made;
}

/// Least and largest finite value; least > largest when there is none.
std::pair<double, double> finite_range(const io::array& image) {
    return with_elements(image.data.get(), image.type, [&](const auto* cells) {
        double least = INFINITY, largest = -INFINITY;
        for (std::int64_t i = 0, n = image.cells(); i < n; ++i) {
            const auto value = static_cast<double>(cells[i]);
            if (std::isfinite(value)) least = std::min(least, value), largest = std::max(largest, value);
        }
        return std::pair{least, largest};
    });
}

/// NIfTI's axes point right, front and up, so the first row of a plane belongs at the bottom.
bool draws_rows_up(const std::string& path) { return path.ends_with(".nii") || path.ends_with(".nii.gz"); }

}  // namespace

io::array take_channel(const io::array& image, const std::string& channel) {
    std::vector<std::int64_t> shape(image.shape.begin(), image.shape.end() - 1);
    const std::int64_t samples = image.shape.back();
    const std::vector<double> weights = weights_of(channel, samples);
    io::array gray = like(image, dtype::float64, shape);
    auto* out = reinterpret_cast<double*>(gray.data.get());
    const std::int64_t count = gray.cells();
    with_elements(image.data.get(), image.type, [&](const auto* cells) {
        for (std::int64_t i = 0; i < count; ++i) {
            double sum = 0;
            for (std::int64_t s = 0; s < samples; ++s) {
                const double weight = weights[static_cast<std::size_t>(s)];
                if (weight != 0) sum += weight * static_cast<double>(cells[i * samples + s]);
            }
            out[i] = sum / 10000;
        }
    });
    return gray;
}

io::array make_mask(const io::array& image, double threshold) {
    io::array mask = like(image, dtype::uint8, image.shape);
    auto* out = reinterpret_cast<std::uint8_t*>(mask.data.get());
    with_elements(image.data.get(), image.type, [&](const auto* cells) {
        for (std::int64_t i = 0, n = image.cells(); i < n; ++i) out[i] = static_cast<double>(cells[i]) > threshold ? 255 : 0;
    });
    return mask;
}

double otsu_threshold(const io::array& image) {
    constexpr std::size_t bins = 1024;
    const auto [least, largest] = finite_range(image);
    if (!(least < largest)) refuse("threshold is auto but all values of the image are equal; give a number, e.g. --threshold 0");
    const double width = (largest - least) / bins;
    double histogram[bins] = {}, total = 0, total_moment = 0;
    with_elements(image.data.get(), image.type, [&](const auto* cells) {
        for (std::int64_t i = 0, n = image.cells(); i < n; ++i) {
            const auto value = static_cast<double>(cells[i]);
            if (std::isfinite(value)) ++histogram[std::min(bins - 1, static_cast<std::size_t>((value - least) / width))];
        }
    });
    for (std::size_t bin = 0; bin < bins; ++bin) total += histogram[bin], total_moment += histogram[bin] * static_cast<double>(bin);
    double below = 0, moment = 0, best = -1;
    std::size_t cut = 0;
    for (std::size_t bin = 0; bin + 1 < bins; ++bin) {
        below += histogram[bin], moment += histogram[bin] * static_cast<double>(bin);
        if (below == 0 || below == total) continue;
        const double apart = moment / below - (total_moment - moment) / (total - below);
        const double between = below * (total - below) * apart * apart;
        if (between > best) best = between, cut = bin;
    }
    const double edge = least + width * static_cast<double>(cut + 1);
    // A whole number that divides the cells the same way reads better and says what it does.
    return is_floating(image.type) ? edge : std::ceil(edge) - 1;
}

loaded load(const std::string& path, const arguments& args) {
    const auto start = std::chrono::steady_clock::now();
    loaded input;
    input.image = io::read(path);
    if (input.image.color) input.image = take_channel(input.image, args.channel.empty() ? "luminance" : args.channel);
    input.read_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (!args.threshold.empty()) {
        const bool automatic = args.threshold == "auto";
        const double cut = automatic ? otsu_threshold(input.image) : parse_number("--threshold", args.threshold, "--threshold 127 or --threshold auto");
        input.image = make_mask(input.image, cut);
    }
    input.per_axis = parse_spacing(args.spacing, input.image.spacing, input.image.shape);
    input.image.spacing = args.spacing.empty() ? input.image.spacing : input.per_axis;
    input.rows_up = draws_rows_up(path);
    return input;
}

}  // namespace nearfield::cli
