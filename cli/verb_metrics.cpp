// nearfield metrics
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "cli/compute.hpp"
#include "cli/files.hpp"
#include "cli/load.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/report.hpp"
#include "edge/arrays_run.hpp"
#include "io/bytes.hpp"
#include "nearfield/metrics.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

struct metrics_run {
    loaded a, b;
    std::vector<std::int64_t> labels;
    surface_options options;
    std::vector<surface_distances> rows;
};

/// Sets everything that does not depend on the input.
metrics_run run_for(const arguments& args) {
    metrics_run run;
    if (!args.labels.empty())
        for (const std::string& label : split(args.labels, ','))
            run.labels.push_back(parse_integer("--labels", label, "--labels 1,2,5"));
    if (!args.percentile.empty())
        run.options.percentiles = parse_numbers("--percentile", args.percentile, "--percentile 50,95");
    if (!args.tolerance.empty())
        run.options.tolerances = parse_numbers("--tolerance", args.tolerance, "--tolerance 0.5,1");
    run.options.surface = args.surface == "elements" ? surface::elements : surface::cells;
    if (!args.output.empty() && args.output != "-") {
        if (!args.output.ends_with(".csv") && !args.output.ends_with(".CSV"))
            refuse(fmt::format("-o is {}; tables are CSV files, e.g. -o table.csv", args.output));
        io::require_place(args.output);
    }
    return run;
}

void load_both(const arguments& args, metrics_run& run) {
    run.a = load(args.input, args), run.b = load(args.other, args);
    const auto text = [](const loaded& from) { return text_of(from.image.shape); };
    if (run.a.image.shape != run.b.image.shape)
        refuse(fmt::format("{} has shape {} and {} has {}; give images of one shape", args.input, text(run.a),
                           args.other, text(run.b)));
    if (run.a.per_axis != run.b.per_axis)
        refuse(fmt::format("{} and {} have cells of different sizes; give --spacing", args.input, args.other));
    for (const auto& [path, from] : {std::pair{&args.input, &run.a}, std::pair{&args.other, &run.b}})
        if (from->image.type >= dtype::float16)
            refuse(fmt::format("{} has element type {}; labels are integers, and --threshold makes a mask", *path,
                               nearfield::name_of(from->image.type)));
    const distance_options grid = options_for(args, sites::zero, run.a);
    run.options.spacing = grid.spacing, run.options.batch_axes = grid.batch_axes;
}

computed compare(const arguments& args, metrics_run& run) {
    const any_input<host> images[] = {run.a.image.in(), run.b.image.in()};
    const placed_call call{
        [&](const host& on) { run.rows = compare_surfaces(on, images[0], images[1], run.labels, run.options); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, images, {},
                [&](const device& on, auto in, auto) {
                    run.rows = compare_surfaces(on, in[0], in[1], run.labels, run.options);
                },
                warmups, repeat);
        },
    };
    return compute(args, call);
}

/// A column of nearfield.metrics.SurfaceTable; columns have its order.
struct column {
    std::string name;
    std::function<std::string(const surface_distances&)> at;
};

/// Writes NaN without a sign, as Python does.
std::string text_of_number(double number) { return std::isnan(number) ? "nan" : fmt::format("{}", number); }

class columns {
public:
    explicit columns(const surface_options& options) {
        using row = surface_distances;
        if (options.batch_axes > 0) made_.push_back({"image", [](const row& r) { return std::to_string(r.image); }});
        made_.push_back({"label", [](const row& r) { return std::to_string(r.label); }});
        add("hausdorff", [](const row& r) { return r.hausdorff; });
        add_each("percentile", options.percentiles, [](const row& r) { return &r.percentile; });
        add("average", [](const row& r) { return r.average[0]; });
        add("symmetric_average", [](const row& r) { return r.symmetric_average; });
        add_each("surface_dice", options.tolerances, [](const row& r) { return &r.surface_dice; });
        add("dice", [](const row& r) { return r.dice; });
        add("average_b", [](const row& r) { return r.average[1]; });
        for (const int side : {0, 1})
            add(side == 0 ? "hausdorff_a" : "hausdorff_b", [side](const row& r) { return r.farthest[side]; });
        for (const int side : {0, 1})
            add_each(side == 0 ? "overlap_a" : "overlap_b", options.tolerances,
                     [side](const row& r) { return &r.overlap[side]; });
        for (const int side : {0, 1})
            add(side == 0 ? "area_a" : "area_b", [side](const row& r) { return r.area[side]; });
        for (const int side : {0, 1})
            made_.push_back(
                {side == 0 ? "size_a" : "size_b", [side](const row& r) { return std::to_string(r.cells[side]); }});
    }
    [[nodiscard]] std::string csv(const std::vector<surface_distances>& rows) const {
        std::string text;
        for (const column& each : made_) text += (text.empty() ? "" : ",") + each.name;
        for (const surface_distances& row : rows)
            for (const column& each : made_) text += (&each == &made_.front() ? "\n" : ",") + each.at(row);
        return text + "\n";
    }

private:
    template <class At>
    void add(const char* name, const At& at) {
        made_.push_back({name, [at](const surface_distances& r) { return text_of_number(at(r)); }});
    }
    template <class List>
    void add_each(const std::string& name, const std::vector<double>& asked, const List& list) {
        for (std::size_t k = 0; k < asked.size(); ++k)
            made_.push_back({asked.size() == 1 ? name : fmt::format("{}_{:g}", name, asked[k]),
                             [list, k](const surface_distances& r) { return text_of_number((*list(r))[k]); }});
    }

    std::vector<column> made_;
};

void report(const arguments& args, const metrics_run& run, const computed& done, bool stdout_carries_data) {
    json_report said = start_report(args);
    said["inputs"] = {describe(run.a.image), describe(run.b.image)};
    said["inputs"][0]["path"] = args.input, said["inputs"][1]["path"] = args.other;
    said["spacing"] = run.a.per_axis;
    said["surface"] = args.surface.empty() ? "cells" : args.surface;
    said["percentile"] = run.options.percentiles, said["tolerance"] = run.options.tolerances;
    said["rows"] = run.rows.size();
    said["outputs"] = json_report::array({{{"path", args.output.empty() ? "-" : args.output}}});
    said["run"] = describe(done, run.a.image.cells());
    double worst = 0;
    for (const surface_distances& row : run.rows)
        worst = std::max(worst, std::isnan(row.hausdorff) ? 0 : row.hausdorff);
    finish(args, said,
           fmt::format("metrics: {} {}: {} row{}, largest Hausdorff distance {:g}, in {} on {} ({}){}",
                       text_of_axes(run.a.image), nearfield::name_of(run.a.image.type), run.rows.size(),
                       run.rows.size() == 1 ? "" : "s", worst, text_of_ms(done.median_ms()), done.device, done.name,
                       stdout_carries_data ? "" : " -> " + args.output),
           stdout_carries_data);
}

}  // namespace

int metrics_verb(const arguments& args) {
    metrics_run run = run_for(args);
    const bool to_stdout = args.output.empty() || args.output == "-";
    in_words_of_options([&] {
        load_both(args, run);
        const computed done = compare(args, run);
        if (!done.note.empty()) note(args, done.note);
        write_text(to_stdout ? "-" : args.output, columns(run.options).csv(run.rows));
        report(args, run, done, to_stdout);
    });
    return 0;
}

}  // namespace nearfield::cli
