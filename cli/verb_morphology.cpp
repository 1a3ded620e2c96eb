// nearfield morphology
#include <fmt/format.h>

#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "edge/arrays_run.hpp"
#include "nearfield/morphology.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

double radius_of(const arguments& args) {
    const double radius = parse_number("--radius", args.radius, "--radius 2.5");
    if (!(radius >= 0))
        refuse(fmt::format("--radius is {}; give a length of 0 or more in units of the spacing, e.g. --radius 2.5",
                           args.radius));
    return radius;
}

template <class Place>
void operate(const arguments& args, const Place& on, const any_input<Place>& image, const any_output<Place>& out,
             const morphology_options& options) {
    const double radius = radius_of(args);
    if (args.operation == "erosion") erosion(on, image, radius, out, options);
    else if (args.operation == "dilation") dilation(on, image, radius, out, options);
    else if (args.operation == "opening") opening(on, image, radius, out, options);
    else closing(on, image, radius, out, options);
}

computed run_all(const arguments& args, mask_run& run) {
    const distance_options given = options_for(args, sites::zero, run.input);
    const morphology_options options{given.spacing, given.border, given.batch_axes, args.multilabel};
    const any_input<host> image = run.input.image.in();
    const any_output<host> out = run.result.out();
    const placed_call call{
        [&](const host& on) { operate<host>(args, on, image, out, options); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, {&image, 1}, {&out, 1},
                [&](const device& on, auto in, auto to) { operate<device>(args, on, in[0], to[0], options); }, warmups,
                repeat);
        },
    };
    return compute(args, call);
}

void report(const arguments& args, const mask_run& run, const computed& done, bool stdout_carries_data) {
    json_report said = start_mask_report(args, run, done);
    said["operation"] = args.operation;
    said["radius"] = radius_of(args);
    finish(args, said,
           fmt::format("{}: {} {}, radius {:g}: {} of {} cells, {} before, in {} on {} ({}){}", args.operation,
                       text_of_axes(run.input.image), nearfield::name_of(run.input.image.type), radius_of(args),
                       run.after, run.result.cells(), run.before, text_of_ms(done.median_ms()), done.device, done.name,
                       text_of_files(args)),
           stdout_carries_data);
}

}  // namespace

int morphology_verb(const arguments& args) {
    const bool stdout_carries_data = check_mask_outputs(args);
    static_cast<void>(radius_of(args)), static_cast<void>(options_of(args, sites::zero));
    in_words_of_options([&] {
        mask_run run;
        run.input = load_mask(args);
        const dtype type = run.input.image.type;
        if (args.multilabel && type >= dtype::float16)
            refuse(fmt::format(
                "--multilabel takes labels, and {} has {}; convert it to integers, or leave --multilabel out",
                args.input, nearfield::name_of(type)));
        make_result(args, run, args.multilabel ? type : dtype::uint8);
        const computed done = run_all(args, run);
        count_cells(run, !args.multilabel);
        if (!done.note.empty()) note(args, done.note);
        save_mask(args, run, !args.multilabel);
        report(args, run, done, stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
