#include "cli/load.hpp"

#include <fmt/format.h>

#include <chrono>
#include <span>

#include "cli/parse.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// Weights of the samples of one cell; they add up to 10000.
std::vector<double> weights_of(const std::string& channel, std::int64_t samples) {
    std::vector<double> weights(static_cast<std::size_t>(samples), 0);
    const auto only = [&](std::size_t at) {
        if (at >= weights.size())
            refuse(
                fmt::format("channel is {} but the image has {} samples a cell and no {}", channel, samples, channel));
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

/// NIfTI's axes point right, front and up, so the first row of a plane belongs at the bottom.
bool draws_rows_up(const std::string& path) { return path.ends_with(".nii") || path.ends_with(".nii.gz"); }

}  // namespace

void check_channel(const io::array& image, const std::string& channel) {
    if (!image.color && !channel.empty() && channel != "luminance")
        refuse(fmt::format("--channel is {} and the image has one value a cell; leave it out", channel));
}

io::array take_channel(const io::array& image, const std::string& channel) {
    std::vector<std::int64_t> shape(image.shape.begin(), image.shape.end() - 1);
    const std::int64_t samples = image.shape.back();
    const std::vector<double> weights = weights_of(channel, samples);
    io::array gray = make_like(image, dtype::float64, shape);
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

loaded load(const std::string& path, const arguments& args, bool keep_colour) {
    const auto start = std::chrono::steady_clock::now();
    loaded input;
    input.image = io::read(path);
    check_channel(input.image, args.channel);
    if (input.image.color && (!keep_colour || !args.channel.empty() || !args.threshold.empty()))
        input.image = take_channel(input.image, args.channel.empty() ? "luminance" : args.channel);
    input.read_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (!args.threshold.empty()) input.image = apply_threshold(input.image, args.threshold);
    const std::span grid(input.image.shape.data(), static_cast<std::size_t>(input.image.grid_rank()));
    input.per_axis = parse_spacing(args.spacing, input.image.spacing, grid, args.batch_axes);
    input.image.spacing = args.spacing.empty() ? input.image.spacing : input.per_axis;
    input.rows_up = draws_rows_up(path);
    return input;
}

}  // namespace nearfield::cli
