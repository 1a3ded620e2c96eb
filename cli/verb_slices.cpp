// nearfield slices
#include <fmt/format.h>

#include <algorithm>

#include "cli/files.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/values.hpp"
#include "edge/shapes_run.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

struct slices_run : mask_run {
    std::size_t axis = 0;
    std::vector<std::int64_t> drawn;
    std::vector<slice_position> positions;
};

void check(const arguments& args) {
    if (args.steps < 0)
        refuse(fmt::format("--steps is {}; give the number of steps from slice to slice, 1 or more", args.steps));
    if (args.steps > 0 && !args.drawn.empty()) refuse("--steps treats every slice as drawn; leave out --drawn");
}

std::vector<std::int64_t> drawn_of(const arguments& args, const io::array& labels, std::size_t axis) {
    std::vector<std::int64_t> drawn;
    for (const double each :
         args.drawn.empty() ? std::vector<double>{} : parse_numbers("--drawn", args.drawn, "--drawn 0,5,10")) {
        if (!(each >= 0) || each != static_cast<double>(static_cast<std::int64_t>(each)))
            refuse(fmt::format("--drawn is {}; give numbers of slices, e.g. --drawn 0,5,10", args.drawn));
        drawn.push_back(static_cast<std::int64_t>(each));
    }
    if (!args.drawn.empty() || args.steps > 0) return drawn;
    std::int64_t inner = 1;
    for (std::size_t k = axis + 1; k < labels.shape.size(); ++k) inner *= labels.shape[k];
    std::vector<bool> seen(static_cast<std::size_t>(labels.shape[axis]));
    with_elements(labels.data.get(), labels.type, [&](const auto* cells) {
        for (std::int64_t i = 0; i < labels.cells(); ++i)
            if (static_cast<double>(cells[i]) != 0)
                seen[static_cast<std::size_t>(i / inner % labels.shape[axis])] = true;
    });
    for (std::size_t k = 0; k < seen.size(); ++k)
        if (seen[k]) drawn.push_back(static_cast<std::int64_t>(k));
    return drawn;
}

/// Sets the axis, the drawn slices, the positions and the result's array.
void plan_slices(const arguments& args, slices_run& run) {
    const io::array& labels = run.input.image;
    const auto axes = static_cast<std::int64_t>(labels.shape.size());
    if (args.axis < -axes || args.axis >= axes)
        refuse(fmt::format("--axis is {} for {} axes; give 0 to {}", args.axis, axes, axes - 1));
    run.axis = static_cast<std::size_t>(args.axis < 0 ? args.axis + axes : args.axis);
    run.drawn = drawn_of(args, labels, run.axis);
    const std::int64_t steps = std::max<std::int64_t>(args.steps, 1), slices = labels.shape[run.axis];
    for (std::int64_t k = 0; k <= (slices - 1) * steps; ++k) run.positions.push_back({k, steps});
    std::vector<std::int64_t> shape = labels.shape;
    shape[run.axis] = static_cast<std::int64_t>(run.positions.size());
    if (!args.output.empty()) io::require_writable(args.output, labels.type, shape, false, labels.axes);
    run.result = make_like(labels, labels.type, shape);
    run.input.per_axis[run.axis] /= static_cast<double>(steps);
    if (!run.result.spacing.empty()) run.result.spacing[run.axis] /= static_cast<double>(steps);
}

computed run_all(const arguments& args, slices_run& run) {
    const slice_options options{run.input.cell(), run.drawn, args.align};
    const any_input<host> labels = run.input.image.in();
    const any_output<host> out = run.result.out();
    const int axis = static_cast<int>(run.axis);
    const placed_call call{
        [&](const host& on) { interpolate_slices(on, labels, axis, run.positions, out, options); },
        [&](int ordinal, int, int) {
            return edge::interpolate_slices_on_device(ordinal, labels, axis, run.positions, out, options);
        },
    };
    return compute(args, call);
}

}  // namespace

int slices_verb(const arguments& args) {
    const bool stdout_carries_data = check_mask_outputs(args);
    check(args);
    in_words_of_options([&] {
        slices_run run;
        run.input = load(args.input, args);
        if (run.input.batch_axes > 0)
            refuse(fmt::format("{} has {} images; slices takes one: convert one of them", args.input,
                               text_of_axes(run.input.image)));
        plan_slices(args, run);
        const computed done = run_all(args, run);
        count_cells(run, false);
        if (!done.note.empty()) note(args, done.note);
        save_mask(args, run, false);
        json_report said = start_mask_report(args, run, done);
        said["drawn"] = run.drawn, said["slices"] = run.positions.size();
        finish(args, said,
               fmt::format("slices: {} {}: {} slices along axis {}, in {} on {} ({}){}", text_of_axes(run.input.image),
                           nearfield::name_of(run.input.image.type), run.positions.size(), run.axis,
                           text_of_ms(done.median_ms()), done.device, done.name,
                           args.output.empty() || args.output == "-" ? "" : " -> " + args.output),
               stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
