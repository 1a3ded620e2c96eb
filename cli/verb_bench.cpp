// nearfield bench
#include <fmt/format.h>

#include "cli/compute.hpp"
#include "cli/load_or_sample.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/report.hpp"
#include "cli/sample.hpp"
#include "io/bytes.hpp"

namespace nearfield::cli {
namespace {

struct bench_outputs {
    std::vector<io::array> arrays;
    fields<host> wanted;
};

bench_outputs allocate(const arguments& args, const io::array& image, const distance_options& options) {
    const std::vector<std::int64_t>& shape = image.shape;
    const auto rank = static_cast<int>(shape.size());
    bench_outputs made;
    for (const std::string& name : split(args.fields, ',')) {
        const auto add = [&](dtype type, const std::vector<std::int64_t>& size, any_output<host>& field) {
            made.arrays.push_back(io::make_array(type, size));
            field = made.arrays.back().out();
        };
        std::vector<std::int64_t> with_axes{rank - options.batch_axes};
        with_axes.insert(with_axes.end(), shape.begin(), shape.end());
        if (name == "distance") add(dtype::float32, shape, made.wanted.distance);
        else if (name == "squared") add(squared_distance_type(shape.data(), rank, options), shape, made.wanted.squared);
        else if (name == "index") add(dtype::int64, shape, made.wanted.index);
        else if (name == "coordinates") add(dtype::int32, with_axes, made.wanted.coordinates);
        else if (name == "label") add(image.type, shape, made.wanted.label);
        else add(dtype::uint8, shape, made.wanted.trusted);
    }
    return made;
}

/// The report of a run, of which the text shows a part: what ran, on what.
json_report told(const arguments& args, const loaded& input, const distance_options& options, const computed& run) {
    json_report said = start_report(args);
    said["input"] = describe(input.image);
    said["input"]["from"] = input_name(args);
    said["spacing"] = input.per_axis;
    said["sites"] = name_of(options.sites);
    if (!args.sign.empty()) said["negative_side"] = args.sign;
    if (args.half_cell) said["half_cell"] = true;
    if (!args.border.empty()) said["border"] = split(args.border, ',');
    if (!args.max_distance.empty()) said["max_distance"] = args.max_distance;
    if (input.batch_axes > 0) said["batch_axes"] = input.batch_axes;
    said["fields"] = split(args.fields, ',');
    said["run"] = describe(run, input.image.cells());
    said["run"]["best_ms"] = run.best_ms();
    said["run"]["all_ms"] = run.compute_ms;
    return said;
}

}  // namespace

int bench_verb(const arguments& args) {
    if (args.repeat < 1 || args.repeat > 1'000'000)
        throw error(error_code::invalid_argument, fmt::format("--repeat is {}; give 1 to 1000000", args.repeat));
    const std::vector<std::int64_t> usual_size{256, 256, 256};
    if (args.input.empty()) {
        // Fields that do not fit memory are refused before a large sample is made.
        loaded outline;
        outline.image.shape = args.size.empty() ? usual_size : parse_size(args.size);
        outline.batch_axes = asked_batch_axes(args);
        outline.per_axis = parse_spacing(args.spacing, {}, outline.image.shape, outline.batch_axes);
        static_cast<void>(allocate(args, outline.image, options_for(args, sites::nonzero, outline)));
    }
    const loaded input = load_or_sample(args, usual_size);
    const distance_options options = options_for(args, sites::nonzero, input);
    const bench_outputs out = allocate(args, input.image, options);
    const computed run =
        compute(args, {{{input.image.in(), out.wanted}}, {}, options}, 1, static_cast<int>(args.repeat));
    if (!run.note.empty()) note(args, run.note);
    const auto cells = static_cast<double>(input.image.cells());
    json_report said = told(args, input, options, run);
    if (args.json) {
        finish(args, said, {});
        return 0;
    }
    std::string text = fmt::format("{} of {} {}{} on {} ({})\n", args.fields, io::printable(input_name(args)),
                                   text_of_axes(input.image), text_of_space(input.image), run.device, run.name);
    text += fmt::format("median {:10.3f} ms {:10.1f} Mcells/s\nbest   {:10.3f} ms {:10.1f} Mcells/s\n", run.median_ms(),
                        cells / run.median_ms() / 1e3, run.best_ms(), cells / run.best_ms() / 1e3);
    if (run.device == "cuda") text += fmt::format("copies {:10.3f} ms\n", run.copy_ms);
    print(text);
    return 0;
}

}  // namespace nearfield::cli
