// nearfield skeleton
#include <fmt/format.h>

#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "edge/arrays_run.hpp"
#include "nearfield/skeleton.hpp"

namespace nearfield::cli {
namespace {

skeleton_options skeleton_options_for(const arguments& args, const loaded& input) {
    const distance_options given = options_for(args, sites::zero, input);
    const auto axes = static_cast<int>(input.image.shape.size()) - given.batch_axes;
    if (axes > 3)
        throw error(error_code::invalid_argument,
                    fmt::format("{} has {} axes; a skeleton takes 3 at most, so give --batch-axes {} or more",
                                args.input, input.image.shape.size(), axes - 3 + given.batch_axes));
    const kept_cells keep = args.keep == "ends"      ? kept_cells::ends
                            : args.keep == "nothing" ? kept_cells::nothing
                                                     : kept_cells::isthmuses;
    return {given.spacing, given.border, given.batch_axes, keep, args.faces};
}

computed run_all(const arguments& args, mask_run& run, const skeleton_options& options) {
    const any_input<host> image = run.input.image.in();
    const any_output<host> out = run.result.out();
    const placed_call call{
        [&](const host& on) { skeletonize(on, image, out, options); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, {&image, 1}, {&out, 1},
                [&](const device& on, auto in, auto to) { skeletonize(on, in[0], to[0], options); }, warmups, repeat);
        },
    };
    return compute(args, call);
}

void report(const arguments& args, const mask_run& run, const computed& done, bool stdout_carries_data) {
    json_report said = start_mask_report(args, run, done);
    said["keep"] = args.keep;
    said["faces"] = args.faces;
    finish(args, said,
           fmt::format("skeleton: {} {}, keep {}: {} of {} cells of the shape, in {} on {} ({}){}",
                       text_of_axes(run.input.image), nearfield::name_of(run.input.image.type), args.keep, run.after,
                       run.before, text_of_ms(done.median_ms()), done.device, done.name,
                       args.output.empty() || args.output == "-" ? "" : " -> " + args.output),
           stdout_carries_data);
}

}  // namespace

int skeleton_verb(const arguments& args) {
    const bool stdout_carries_data = check_mask_outputs(args);
    static_cast<void>(options_of(args, sites::zero));
    in_words_of_options([&] {
        mask_run run;
        run.input = load(args.input, args);
        const skeleton_options options = skeleton_options_for(args, run.input);
        make_result(args, run, dtype::uint8);
        const computed done = run_all(args, run, options);
        count_cells(run, true);
        if (!done.note.empty()) note(args, done.note);
        save_mask(args, run, true);
        report(args, run, done, stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
