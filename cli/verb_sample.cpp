// nearfield sample, nearfield convert
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/load.hpp"
#include "cli/parse.hpp"
#include "cli/report.hpp"
#include "cli/sample.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

/// Converts luminance back to the image's type, rounded to nearest.
io::array in_type(const io::array& values, dtype type) {
    io::array made = make_like(values, type, values.shape);
    const auto* from = reinterpret_cast<const double*>(values.data.get());
    with_elements(made.data.get(), type, [&]<class T>(const T* cells) {
        if constexpr (std::is_arithmetic_v<T>)
            for (std::int64_t i = 0, n = values.cells(); i < n; ++i)
                const_cast<T*>(cells)[i] = static_cast<T>(std::is_integral_v<T> ? std::nearbyint(from[i]) : from[i]);
    });
    return made;
}

}  // namespace

int sample_verb(const arguments& args) {
    check_destination(args.output);
    const bool stdout_carries_data = one_stdout({args.output});
    const sample_options options{args.size.empty() ? std::vector<std::int64_t>{512, 512} : parse_size(args.size),
                                 args.seed, args.density, args.scale, args.invert};
    io::require_writable(args.output, args.kind == "labels" ? dtype::uint16 : dtype::uint8, options.shape);
    io::array made = make_sample(sample_kind_of(args.kind), options);
    if (!args.spacing.empty()) made.spacing = parse_spacing(args.spacing, {}, made.shape);
    io::write(args.output, made);
    json_report said = start_report(args);
    said["kind"] = args.kind;
    said["seed"] = args.seed;
    said["output"] = describe(made);
    said["output"]["path"] = args.output;
    finish(args, said,
           fmt::format("sample: {} {}, seed {} -> {}", args.kind, text_of(made.shape), args.seed, args.output),
           stdout_carries_data);
    return 0;
}

int convert_verb(const arguments& args) {
    check_destination(args.output);
    const bool stdout_carries_data = one_stdout({args.output});
    io::array image = read_file(args.input, args);
    const json_report before = describe(image);
    if (!args.channel.empty() || !args.threshold.empty()) {
        const dtype type = image.type;
        image = apply_channel(std::move(image), args.channel);
        if (args.threshold.empty() && image.type != type) image = in_type(image, type);
    }
    if (!args.threshold.empty()) image = apply_threshold(image, args.threshold);
    if (!args.spacing.empty()) {
        // As in other verbs, lengths imply that pages of unknown meaning are spatial.
        const auto last = image.axes.begin() + image.leading_axes();
        if (std::all_of(image.axes.begin(), last, [](io::axis_kind kind) { return kind == io::axis_kind::unknown; }))
            image.axes.clear();
        std::vector<std::int64_t> grid = image.shape;
        if (image.color) grid.pop_back();
        image.spacing = parse_spacing(args.spacing, {}, grid, image.leading_axes());
    }
    io::write(args.output, image);
    json_report said = start_report(args);
    said["input"] = before;
    said["input"]["path"] = args.input;
    said["output"] = describe(image);
    said["output"]["path"] = args.output;
    finish(args, said, fmt::format("convert: {} {} -> {}", text_of_axes(image), name_of(image.type), args.output),
           stdout_carries_data);
    return 0;
}

}  // namespace nearfield::cli
