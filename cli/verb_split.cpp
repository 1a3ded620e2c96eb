// nearfield split
#include <fmt/format.h>

#include <algorithm>

#include "cli/component_columns.hpp"
#include "cli/each_value.hpp"
#include "cli/file_facts.hpp"
#include "cli/files.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/regions.hpp"
#include "edge/arrays_run.hpp"
#include "io/bytes.hpp"
#include "nearfield/components.hpp"
#include "nearfield/split.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// A run whose result has a row for each object.
struct split_run : mask_run {
    split_options how;
    std::int64_t objects = 0;
};

bool check_outputs(const arguments& args) {
    if (args.min_size < 1) refuse(fmt::format("--min-size is {}; give a number of cells, 1 or more", args.min_size));
    return check_outputs_with_table(args, "--table");
}

split_options options_of_words(const arguments& args) {
    constexpr std::pair<std::string_view, split_method> methods[] = {{"", split_method::watershed},
                                                                     {"watershed", split_method::watershed},
                                                                     {"lecture", split_method::lecture},
                                                                     {"voronoi", split_method::voronoi},
                                                                     {"geodesic", split_method::geodesic}};
    split_options how;
    how.smallest = args.min_size;
    how.method = std::find_if(std::begin(methods), std::end(methods), [&](const auto& each) {
                     return each.first == args.operation;
                 })->second;
    if (args.height.empty()) return how;
    how.h = parse_number("--height", args.height, "--height 1.5");
    if (!(*how.h >= 0))
        refuse(fmt::format("--height is {}; give a length of 0 or more in units of the spacing, e.g. --height 1.5",
                           args.height));
    return how;
}

/// Fills holes: components of the background that touch no open end become foreground.
void fill_holes(const arguments& args, split_run& run) {
    io::array mask = ones_of(run.input.image), holes = make_like(mask, dtype::uint8, mask.shape);
    bool open = false;
    for (std::size_t axis = 0; axis < mask.shape.size(); ++axis)
        open = open || run.how.border[static_cast<int>(axis)] == border::open;
    if (!open) refuse("--fill-holes finds holes from the open ends of axes, and all axes are periodic; leave it out");
    auto *const own = reinterpret_cast<std::uint8_t*>(mask.data.get()), *const others = reinterpret_cast<std::uint8_t*>(
                                                                            holes.data.get());
    for (std::int64_t i = 0; i < mask.cells(); ++i) others[i] = own[i] == 0 ? 1 : 0;
    label_options how;
    how.border = run.how.border, how.clear_border = true;
    remove_small(host{static_cast<int>(args.threads), {}}, holes.in(), holes.out(), 0, how);
    for (std::int64_t i = 0; i < mask.cells(); ++i) own[i] = static_cast<std::uint8_t>(own[i] | others[i]);
    run.input.image = std::move(mask);
}

/// Refuses a volume whose last axis looks like channels, of which a file of this kind says nothing.
void refuse_colours(const arguments& args, const io::array& image) {
    const auto& n = image.shape;
    if (n.size() == 3 && (n[2] == 3 || n[2] == 4) && std::min(n[0], n[1]) > 8)
        refuse(
            fmt::format("{} has {}, which looks like colours; write it as .png or .tif, or give --threshold objects "
                        "if it is a volume",
                        args.input, text_of_axes(image)));
}

/// Makes a mask of a gray image: where --threshold says so, or is left out and the values look gray.
void take_gray(const arguments& args, split_run& run) {
    const bool dark = args.threshold == "dark";
    const io::array image = std::move(run.input.image);
    io::array mask = make_like(image, dtype::boolean, image.shape);
    run.how.spacing = run.input.cell();
    run.how = gray_objects(host{static_cast<int>(args.threads), {}}, image.in(), mask.out(), run.how, dark);
    run.input.image = std::move(mask);
    note(args, fmt::format("{} is taken for a gray image of {} objects: height {}, at least {} cells; "
                           "--threshold 0 takes all cells that are not zero{}",
                           io::printable(args.input), dark ? "dark" : "bright",
                           run.how.h ? fmt::format("{:.3g}", *run.how.h) : "as usual", run.how.smallest,
                           dark ? "" : ", dark finds dark objects"));
}

computed run_all(const arguments& args, split_run& run) {
    const distance_options given = options_for(args, sites::zero, run.input);
    if (given.batch_axes > 0)
        refuse(fmt::format("{} has {} images; split takes one: convert one of them", args.input,
                           text_of_axes(run.input.image)));
    run.how.spacing = given.spacing, run.how.border = given.border;
    if (args.fill_holes && !args.plan) fill_holes(args, run);
    const std::int64_t one = 1;
    const any_input<host> mask = run.input.image.in();
    const any_output<host> to[] = {run.result.out(),
                                   any_output<host>::contiguous(&run.objects, dtype::int64, std::span(&one, 1))};
    const placed_call call{
        [&](const host& on) { split(on, mask, to[0], run.how, to[1]); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, {&mask, 1}, to,
                [&](const device& on, auto in, auto out) { split(on, in[0], out[0], run.how, out[1]); }, warmups,
                repeat);
        },
    };
    return compute(args, call);
}

void write_table(const arguments& args, const split_run& run) {
    if (args.stats.empty()) return;
    component_columns columns;
    component_statistics(host{static_cast<int>(args.threads), {}}, run.result.in(),
                         columns.make(run.objects, static_cast<int>(run.result.shape.size()), {}));
    const measure lengths{run.input.per_axis, run.input.image.unit};
    if (args.stats == "-")
        return columns.csv(lengths, {run.objects}, [](std::string_view piece) { print(std::string(piece)); });
    io::output file(args.stats);
    columns.csv(lengths, {run.objects}, [&](std::string_view piece) { file.write(piece); });
    file.commit();
}

void report(const arguments& args, const split_run& run, const computed& done, bool stdout_carries_data) {
    json_report said = start_mask_report(args, run, done);
    if (run.how.h) said["height"] = *run.how.h;
    said["method"] = args.operation.empty() ? "watershed" : args.operation;
    said["objects"] = run.objects;
    finish(
        args, said,
        fmt::format("split: {} {}{}: {} object{} in {} on {} ({}){}", text_of_axes(run.input.image),
                    nearfield::name_of(run.input.image.type), run.how.h ? fmt::format(", height {:g}", *run.how.h) : "",
                    run.objects, run.objects == 1 ? "" : "s", text_of_ms(done.median_ms()), done.device, done.name,
                    text_of_files(args)),
        stdout_carries_data);
}

}  // namespace

int split_verb(const arguments& args) {
    const bool stdout_carries_data = check_outputs(args);
    split_run run;
    run.how = options_of_words(args);
    static_cast<void>(options_of(args, sites::zero));
    in_words_of_options([&] {
        arguments plain = args;
        const bool asked = args.threshold == "objects" || args.threshold == "dark";
        if (asked) plain.threshold.clear();
        run.input = load(args.input, plain);
        if (run.input.image.shape.size() > 3)
            refuse(fmt::format("{} has {} axes; split takes 1 to 3, so give one image", args.input,
                               run.input.image.shape.size()));
        const bool gray = asked || (args.threshold.empty() && looks_gray(run.input.image));
        if (gray && !asked) refuse_colours(args, run.input.image);
        if (gray && !args.plan && run.input.batch_axes == 0) take_gray(args, run);
        make_result(args, run, dtype::int32);
        const computed done = run_all(args, run);
        count_cells(run, false);
        if (!done.note.empty()) note(args, done.note);
        save_mask(args, run, false);
        write_table(args, run);
        report(args, run, done, stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
