// nearfield bench
#include <fmt/format.h>

#include "cli/compute.hpp"
#include "cli/load.hpp"
#include "cli/parse.hpp"
#include "cli/report.hpp"
#include "cli/sample.hpp"

namespace nearfield::cli {
namespace {

struct bench_outputs {
    std::vector<io::array> arrays;
    fields<host> wanted;
};

bench_outputs allocate(const arguments& args, const loaded& input) {
    const std::vector<std::int64_t>& shape = input.image.shape;
    const int rank = static_cast<int>(shape.size());
    bench_outputs made;
    for (const std::string& name : split(args.fields, ',')) {
        const auto add = [&](dtype type, const std::vector<std::int64_t>& size, any_output<host>& field) {
            made.arrays.push_back(io::make_array(type, size));
            field = made.arrays.back().out();
        };
        std::vector<std::int64_t> with_axes{rank};
        with_axes.insert(with_axes.end(), shape.begin(), shape.end());
        if (name == "distance") add(dtype::float32, shape, made.wanted.distance);
        else if (name == "squared")
            add(squared_distance_type(shape.data(), rank, input.cell()), shape, made.wanted.squared);
        else if (name == "index") add(dtype::int64, shape, made.wanted.index);
        else if (name == "coordinates") add(dtype::int32, with_axes, made.wanted.coordinates);
        else
            throw error(error_code::invalid_argument,
                        fmt::format("--fields has '{}'; expected distance, squared, index, coordinates, joined by "
                                    "commas, e.g. --fields distance,index",
                                    name));
    }
    return made;
}

loaded bench_input(const arguments& args) {
    if (!args.input.empty()) return load(args.input, args);
    loaded made;
    made.image = make_sample(sample_kind_of(args.kind),
                             {args.size.empty() ? std::vector<std::int64_t>{256, 256, 256} : parse_size(args.size),
                              args.seed, args.density, args.scale, false});
    made.per_axis = parse_spacing(args.spacing, {}, made.image.shape);
    return made;
}

}  // namespace

int bench_verb(const arguments& args) {
    if (args.repeat < 1 || args.repeat > 1'000'000)
        throw error(error_code::invalid_argument, fmt::format("--repeat is {}; give 1 to 1000000", args.repeat));
    const loaded input = bench_input(args);
    const bench_outputs out = allocate(args, input);
    const sites which = args.sites == "zero" ? sites::zero : sites::nonzero;
    const computed run = compute(args, input.image.in(), out.wanted, {.spacing = input.cell(), .sites = which}, 1,
                                 static_cast<int>(args.repeat));
    if (!run.note.empty()) note(args, run.note);
    const auto cells = static_cast<double>(input.image.cells());
    json_report said = start_report(args);
    said["input"] = describe(input.image);
    said["input"]["from"] = args.input.empty() ? "sample " + args.kind : args.input;
    said["spacing"] = input.per_axis;
    said["sites"] = which == sites::zero ? "zero" : "nonzero";
    said["fields"] = split(args.fields, ',');
    said["run"] = describe(run, input.image.cells());
    said["run"]["best_ms"] = run.best_ms();
    said["run"]["all_ms"] = run.compute_ms;
    if (args.json) {
        finish(args, said, {});
        return 0;
    }
    std::string text = fmt::format("{} of {} {} on {} ({})\n", args.fields, args.input.empty() ? args.kind : args.input,
                                   text_of(input.image.shape), run.device, run.name);
    text += fmt::format("median {:10.3f} ms {:10.1f} Mcells/s\nbest   {:10.3f} ms {:10.1f} Mcells/s\n", run.median_ms(),
                        cells / run.median_ms() / 1e3, run.best_ms(), cells / run.best_ms() / 1e3);
    if (run.device == "cuda") text += fmt::format("copies {:10.3f} ms\n", run.copy_ms);
    print(text);
    return 0;
}

}  // namespace nearfield::cli
