#include "cli/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <string_view>

#include "cli/component_columns.hpp"
#include "cli/files.hpp"
#include "cli/mesh_facts.hpp"
#include "cli/parse.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// Index of a channel among a cell's samples; -1 for luminance.
std::int64_t sample_of(const std::string& channel, std::int64_t samples) {
    constexpr std::string_view names[] = {"red", "green", "blue", "alpha"};
    if (channel == "luminance") return -1;
    const auto* const named = std::find(std::begin(names), std::end(names), channel);
    const std::int64_t at =
        named != std::end(names) ? named - names : parse_integer("--channel", channel, "--channel 0");
    if (at < 0 || at >= samples)
        refuse(fmt::format("--channel is {}, but the image has {} samples a cell; give {} to {}", channel, samples,
                           names[0], names[std::min<std::int64_t>(samples, 4) - 1]));
    return at;
}

/// Copies every `of`-th element, from element `at` on.
void copy_sample(const io::array& image, std::int64_t at, std::int64_t of, io::array& to) {
    const std::int64_t size = size_of(image.type), count = to.cells();
    const std::byte* from = image.data.get() + at * size;
    for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(to.data.get() + i * size, from + i * of * size, static_cast<std::size_t>(size));
}

/// True for NIfTI, whose axes point right, front and up, so that the first row of a plane is at the bottom.
bool draws_rows_up(const std::string& path) { return path.ends_with(".nii") || path.ends_with(".nii.gz"); }

}  // namespace

io::array take_channel(const io::array& image, const std::string& channel) {
    std::vector<std::int64_t> shape(image.shape.begin(), image.shape.end() - 1);
    const std::int64_t samples = image.shape.back();
    const std::int64_t only = sample_of(channel, samples);
    if (only >= 0) {
        io::array one = make_like(image, image.type, shape);
        copy_sample(image, only, samples, one);
        return one;
    }
    if (image.type == dtype::int64 || image.type == dtype::uint64)
        refuse(fmt::format("the colours are {}, whose luminance would be rounded; give --channel red, green or blue",
                           name_of(image.type)));
    io::array gray = make_like(image, dtype::float64, shape);
    auto* out = reinterpret_cast<double*>(gray.data.get());
    with_elements(image.data.get(), image.type, [&](const auto* cells) {
        const auto at = [&](std::int64_t i) { return static_cast<double>(cells[i]); };
        for (std::int64_t i = 0, n = gray.cells(); i < n; ++i)
            out[i] = (2126 * at(i * samples) + 7152 * at(i * samples + 1) + 722 * at(i * samples + 2)) / 10000;
    });
    return gray;
}

io::array read_file(const std::string& path, const arguments& args) {
    io::read_limits limits{.allow_outside = args.allow_outside};
    if (!args.max_bytes.empty()) limits.max_bytes = parse_bytes("--max-bytes", args.max_bytes);
    if (is_mesh(path))
        refuse(fmt::format("{} is a mesh; `nearfield voxelize` makes a volume of it, e.g. with --size 256", path));
    io::array image = io::read(path, limits);
    refuse_lost_data(args, path, image.beside);
    return image;
}

void check_unit(const arguments& args) {
    if (!is_plain_word(args.unit))
        refuse(fmt::format(
            "--unit is {}; give letters and digits, as they are to stand in tables and files, e.g. --unit um",
            args.unit));
}

loaded load(const std::string& path, const arguments& args, bool keep_colour) {
    check_unit(args);
    const auto start = std::chrono::steady_clock::now();
    loaded input;
    input.image = read_file(path, args);
    if (!keep_colour || !args.channel.empty() || !args.threshold.empty())
        input.image = apply_channel(std::move(input.image), args.channel);
    input.batch_axes = settle_axes(args, path, input.image);
    input.read_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (!args.threshold.empty()) input.image = apply_threshold(input.image, args.threshold);
    const std::span grid(input.image.shape.data(), static_cast<std::size_t>(input.image.grid_rank()));
    input.per_axis = parse_spacing(args.spacing, input.image.spacing, grid, input.batch_axes);
    input.image.spacing = args.spacing.empty() ? input.image.spacing : input.per_axis;
    if (!args.unit.empty()) input.image.unit = args.unit;
    input.rows_up = draws_rows_up(path);
    return input;
}

}  // namespace nearfield::cli
