// nearfield morphology
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "cli/compute.hpp"
#include "cli/load.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/picture.hpp"
#include "cli/report.hpp"
#include "cli/values.hpp"
#include "edge/arrays_run.hpp"
#include "nearfield/morphology.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

bool is_png(const std::string& path) { return path.ends_with(".png") || path.ends_with(".PNG"); }

double radius_of(const arguments& args) {
    const double radius = parse_number("--radius", args.radius, "--radius 2.5");
    if (!(radius >= 0))
        refuse(fmt::format("--radius is {}; give a length of 0 or more in units of the spacing, e.g. --radius 2.5",
                           args.radius));
    return radius;
}

/// One input, what becomes of it, and how.
struct morphology_run {
    loaded input;
    io::array result;
    double radius = 0;
    distance_options given;  ///< what the words say: spacing, border, batch_axes
    morphology_options options;
    std::int64_t before = 0, after = 0;  ///< foreground cells

    template <class Place>
    void call(const std::string& operation, const Place& on, const any_input<Place>& image,
              const any_output<Place>& out) const {
        if (operation == "erosion") erosion(on, image, radius, out, options);
        else if (operation == "dilation") dilation(on, image, radius, out, options);
        else if (operation == "opening") opening(on, image, radius, out, options);
        else closing(on, image, radius, out, options);
    }
};

std::int64_t foreground(const io::array& image) {
    return with_elements(image.data.get(), image.type, [&](const auto* cells) -> std::int64_t {
        return std::count_if(cells, cells + image.cells(), [](auto cell) { return static_cast<double>(cell) != 0; });
    });
}

morphology_run load_run(const arguments& args) {
    morphology_run run;
    run.radius = radius_of(args);
    run.input = load(args.input, args);
    const io::array& image = run.input.image;
    run.given = options_for(args, sites::zero, run.input);
    run.options = {run.given.spacing, run.given.border, run.given.batch_axes, args.multilabel};
    if (args.multilabel && image.type >= dtype::float16)
        refuse(
            fmt::format("--multilabel takes labels, and {} has {}; convert it to integers, or leave --multilabel out",
                        args.input, nearfield::name_of(image.type)));
    const dtype type = args.multilabel ? image.type : dtype::uint8;
    if (!args.output.empty() && !is_png(args.output))
        io::require_writable(args.output, type, image.shape, false, image.axes);
    if (!args.picture.empty() || is_png(args.output))
        static_cast<void>(arrange(image.shape, run.input.per_axis, page_of(args, run.input), false));
    run.result = make_like(image, type, image.shape);
    return run;
}

computed run_all(const arguments& args, morphology_run& run) {
    const any_input<host> image = run.input.image.in();
    const any_output<host> out = run.result.out();
    const placed_call call{
        [&](const host& on) { run.call<host>(args.operation, on, image, out); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, {&image, 1}, {&out, 1},
                [&](const device& on, auto in, auto to) { run.call<device>(args.operation, on, in[0], to[0]); },
                warmups, repeat);
        },
    };
    const computed done = compute(args, call);
    run.before = foreground(run.input.image), run.after = foreground(run.result);
    // Masks in files are 0 and 255, so that every program shows them.
    if (!args.multilabel) {
        auto* const cells = reinterpret_cast<std::uint8_t*>(run.result.data.get());
        std::transform(cells, cells + run.result.cells(), cells, [](std::uint8_t in) { return in != 0 ? 255 : 0; });
    }
    return done;
}

void save(const arguments& args, const morphology_run& run) {
    if (!args.output.empty() && !is_png(args.output)) io::write(args.output, run.result);
    const std::string& path = is_png(args.output) ? args.output : args.picture;
    if (path.empty()) return;
    if (is_png(args.output) && !args.multilabel && run.result.shape.size() == 2) return io::write(path, run.result);
    const sheet on = arrange(run.result.shape, run.input.per_axis, page_of(args, run.input), run.input.rows_up);
    io::write(path,
              to_array(args.multilabel ? draw_labels(on, run.result) : draw_change(on, run.input.image, run.result)));
}

void report(const arguments& args, const morphology_run& run, const computed& done, bool stdout_carries_data) {
    json_report said = start_report(args);
    said["input"] = describe(run.input.image);
    said["input"]["path"] = args.input;
    said["operation"] = args.operation;
    said["radius"] = run.radius;
    said["spacing"] = run.input.per_axis;
    said["foreground_before"] = run.before;
    said["foreground_after"] = run.after;
    said["outputs"] = json_report::array();
    for (const std::string& path : {args.output, args.picture})
        if (!path.empty()) said["outputs"].push_back({{"path", path}});
    said["run"] = describe(done, run.result.cells());
    finish(args, said,
           fmt::format("{}: {} {}, radius {:g}: {} of {} cells, {} before, in {} on {} ({}){}", args.operation,
                       text_of_axes(run.input.image), nearfield::name_of(run.input.image.type), run.radius, run.after,
                       run.result.cells(), run.before, text_of_ms(done.median_ms()), done.device, done.name,
                       args.output.empty() || args.output == "-" ? "" : " -> " + args.output),
           stdout_carries_data);
}

/// The library speaks of its own arguments; here they are options.
std::string in_words_of_options(std::string message) {
    constexpr std::pair<std::string_view, std::string_view> words[] = {{"use host{}", "give --device cpu"}};
    for (const auto& [theirs, ours] : words)
        if (const std::size_t at = message.find(theirs); at != std::string::npos)
            message.replace(at, theirs.size(), ours);
    return message;
}

}  // namespace

int morphology_verb(const arguments& args) {
    if (is_png(args.output) && !args.picture.empty())
        refuse("-o and --picture both name a picture; give -o a format of arrays, e.g. -o opened.npy");
    if (!args.picture.empty() && !is_png(args.picture))
        refuse(fmt::format("--picture is {}; pictures are PNG files, e.g. --picture opened.png", args.picture));
    if (args.output.empty() && args.picture.empty() && args.quiet && !args.json)
        refuse("nothing to make: give -o or --picture, or leave out --quiet to be told how many cells are left");
    check_destination(args.output), check_destination(args.picture);
    const bool stdout_carries_data = one_stdout({args.output, args.picture});
    static_cast<void>(radius_of(args)), static_cast<void>(options_of(args, sites::zero));
    check_picture_size(args);
    try {
        morphology_run run = load_run(args);
        const computed done = run_all(args, run);
        if (!done.note.empty()) note(args, done.note);
        save(args, run);
        report(args, run, done, stdout_carries_data);
    } catch (const error& problem) {
        throw error(problem.code(), in_words_of_options(problem.what()));
    }
    return 0;
}

}  // namespace nearfield::cli
