// nearfield skeleton
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/compute.hpp"
#include "cli/load.hpp"
#include "cli/options.hpp"
#include "cli/picture.hpp"
#include "cli/report.hpp"
#include "cli/values.hpp"
#include "edge/arrays_run.hpp"
#include "nearfield/skeleton.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

bool is_png(const std::string& path) { return path.ends_with(".png") || path.ends_with(".PNG"); }

/// One input, its skeleton, and how.
struct skeleton_run {
    loaded input;
    io::array result;
    skeleton_options options;
    std::int64_t before = 0, after = 0;  ///< cells
};

std::int64_t foreground(const io::array& image) {
    return with_elements(image.data.get(), image.type, [&](const auto* cells) -> std::int64_t {
        return std::count_if(cells, cells + image.cells(), [](auto cell) { return static_cast<double>(cell) != 0; });
    });
}

kept_cells keep_of(const arguments& args) {
    return args.keep == "ends"      ? kept_cells::ends
           : args.keep == "nothing" ? kept_cells::nothing
                                    : kept_cells::isthmuses;
}

skeleton_run load_run(const arguments& args) {
    skeleton_run run;
    run.input = load(args.input, args);
    const io::array& image = run.input.image;
    const distance_options given = options_for(args, sites::zero, run.input);
    run.options = {given.spacing, given.border, given.batch_axes, keep_of(args), args.faces};
    const auto axes = static_cast<int>(image.shape.size()) - given.batch_axes;
    if (axes > 3)
        refuse(fmt::format("{} has {} axes; a skeleton takes 3 at most, so give --batch-axes {} or more", args.input,
                           image.shape.size(), axes - 3 + given.batch_axes));
    if (!args.output.empty() && !is_png(args.output))
        io::require_writable(args.output, dtype::uint8, image.shape, false, image.axes);
    if (!args.picture.empty() || is_png(args.output))
        static_cast<void>(arrange(image.shape, run.input.per_axis, page_of(args, run.input), false));
    run.result = make_like(image, dtype::uint8, image.shape);
    return run;
}

computed run_all(const arguments& args, skeleton_run& run) {
    const any_input<host> image = run.input.image.in();
    const any_output<host> out = run.result.out();
    const placed_call call{
        [&](const host& on) { skeletonize(on, image, out, run.options); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, {&image, 1}, {&out, 1},
                [&](const device& on, auto in, auto to) { skeletonize(on, in[0], to[0], run.options); }, warmups,
                repeat);
        },
    };
    const computed done = compute(args, call);
    run.before = foreground(run.input.image), run.after = foreground(run.result);
    // Masks in files are 0 and 255, so that every program shows them.
    auto* const cells = reinterpret_cast<std::uint8_t*>(run.result.data.get());
    std::transform(cells, cells + run.result.cells(), cells, [](std::uint8_t in) { return in != 0 ? 255 : 0; });
    return done;
}

void save(const arguments& args, const skeleton_run& run) {
    if (!args.output.empty() && !is_png(args.output)) io::write(args.output, run.result);
    const std::string& path = is_png(args.output) ? args.output : args.picture;
    if (path.empty()) return;
    if (is_png(args.output) && run.result.shape.size() == 2) return io::write(path, run.result);
    const sheet on = arrange(run.result.shape, run.input.per_axis, page_of(args, run.input), run.input.rows_up);
    io::write(path, to_array(draw_change(on, run.input.image, run.result)));
}

void report(const arguments& args, const skeleton_run& run, const computed& done, bool stdout_carries_data) {
    json_report said = start_report(args);
    said["input"] = describe(run.input.image);
    said["input"]["path"] = args.input;
    said["keep"] = args.keep;
    said["faces"] = args.faces;
    said["spacing"] = run.input.per_axis;
    said["foreground_before"] = run.before;
    said["foreground_after"] = run.after;
    said["outputs"] = json_report::array();
    for (const std::string& path : {args.output, args.picture})
        if (!path.empty()) said["outputs"].push_back({{"path", path}});
    said["run"] = describe(done, run.result.cells());
    finish(args, said,
           fmt::format("skeleton: {} {}, keep {}: {} of {} cells of the shape, in {} on {} ({}){}",
                       text_of_axes(run.input.image), nearfield::name_of(run.input.image.type), args.keep, run.after,
                       run.before, text_of_ms(done.median_ms()), done.device, done.name,
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

int skeleton_verb(const arguments& args) {
    if (is_png(args.output) && !args.picture.empty())
        refuse("-o and --picture both name a picture; give -o a format of arrays, e.g. -o skeleton.npy");
    if (!args.picture.empty() && !is_png(args.picture))
        refuse(fmt::format("--picture is {}; pictures are PNG files, e.g. --picture skeleton.png", args.picture));
    if (args.output.empty() && args.picture.empty() && args.quiet && !args.json)
        refuse("nothing to make: give -o or --picture, or leave out --quiet to be told how many cells are left");
    check_destination(args.output), check_destination(args.picture);
    const bool stdout_carries_data = one_stdout({args.output, args.picture});
    static_cast<void>(options_of(args, sites::zero));
    check_picture_size(args);
    try {
        skeleton_run run = load_run(args);
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
