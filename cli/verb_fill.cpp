// nearfield fill
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/files.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/values.hpp"
#include "edge/shapes_run.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

double value_of(const arguments& args) {
    if (args.missing == "nan" || args.missing == "NaN") return std::nan("");
    return parse_number("--missing", args.missing, "--missing 0 or --missing nan");
}

struct fill_run {
    loaded input;
    io::array missing, result;
    std::int64_t cells = 0;  ///< number of missing cells
};

bool is_natural(const arguments& args) { return args.operation == "natural"; }

/// Checks the options of interpolation.
void check_natural(const arguments& args, const io::array& image) {
    if (!is_natural(args)) return;
    if (image.color) refuse("--method natural takes one value a cell; give one channel, e.g. --channel red");
    if (image.type == dtype::float16)
        refuse(
            fmt::format("{} holds float16, which --method natural does not take; convert it to float32", args.input));
    if (!args.max_distance.empty())
        refuse("--max-distance belongs to --method nearest, and natural gives every cell a value; leave it out");
}

dtype result_type(const arguments& args, const io::array& image) {
    if (!is_natural(args)) return image.type;
    return image.type == dtype::float64 ? dtype::float64 : dtype::float32;
}

/// Finds the missing cells: those of the given value, in all channels for a colour image; or those that a mask marks.
void find_missing(const arguments& args, fill_run& run) {
    const io::array& image = run.input.image;
    const std::vector<std::int64_t> grid(image.shape.begin(), image.shape.begin() + image.grid_rank());
    run.missing = make_like(image, dtype::uint8, grid);
    auto* const gone = reinterpret_cast<std::uint8_t*>(run.missing.data.get());
    const std::int64_t cells = run.missing.cells(), each = image.color ? image.shape.back() : 1;
    if (!args.where.empty()) {
        const io::array mask = read_file(args.where, args);
        if (mask.shape != grid)
            refuse(fmt::format("--where {} has shape {} and the input {}; give one value a cell", args.where,
                               text_of(mask.shape), text_of(grid)));
        with_elements(mask.data.get(), mask.type, [&](const auto* marks) {
            std::transform(marks, marks + cells, gone, [](auto mark) { return static_cast<double>(mark) != 0; });
        });
    } else {
        const double value = value_of(args);
        with_elements(image.data.get(), image.type, [&](const auto* from) {
            const auto is_missing = [&](auto one) {
                const auto own = static_cast<double>(one);
                return std::isnan(value) ? std::isnan(own) : own == value;
            };
            for (std::int64_t i = 0; i < cells; ++i)
                gone[i] = std::all_of(from + i * each, from + (i + 1) * each, is_missing) ? 1 : 0;
        });
    }
    run.cells = std::count(gone, gone + cells, 1);
}

computed run_all(const arguments& args, fill_run& run) {
    loaded cells;  // the input without channels
    cells.image.shape = run.missing.shape, cells.image.axes = run.missing.axes;
    cells.per_axis = run.input.per_axis, cells.batch_axes = run.input.batch_axes;
    const distance_options given = options_for(args, sites::zero, cells);
    const fill_options options{given.spacing, given.border, given.max_distance, given.batch_axes};
    const any_input<host> image = run.input.image.in(), missing = run.missing.in();
    const any_output<host> out = run.result.out();
    if (is_natural(args)) {
        auto* const known = reinterpret_cast<std::uint8_t*>(run.missing.data.get());
        std::transform(known, known + run.missing.cells(), known, [](auto gone) { return 1 - gone; });
        const natural_neighbor_options how{given.spacing, given.border, given.batch_axes};
        return compute(args, placed_call{
                                 [&](const host& on) { natural_neighbor(on, image, missing, out, how); },
                                 [&](int ordinal, int, int) {
                                     return edge::natural_neighbor_on_device(ordinal, image, missing, out, how);
                                 },
                             });
    }
    const placed_call call{
        [&](const host& on) { fill_nearest(on, image, missing, out, options); },
        [&](int ordinal, int, int) { return edge::fill_nearest_on_device(ordinal, image, missing, out, options); },
    };
    return compute(args, call);
}

void report(const arguments& args, const fill_run& run, const computed& done) {
    json_report said = start_report(args);
    said["input"] = describe(run.input.image);
    said["input"]["path"] = args.input;
    said["spacing"] = run.input.per_axis;
    said["method"] = is_natural(args) ? "natural" : "nearest";
    said["missing"] = run.cells;
    said["outputs"] = json_report::array({{{"path", args.output}}});
    said["run"] = describe(done, run.missing.cells());
    finish(args, said,
           fmt::format("fill: {} {}: {} of {} cells missing, in {} on {} ({}){}", text_of_axes(run.input.image),
                       nearfield::name_of(run.input.image.type), run.cells, run.missing.cells(),
                       text_of_ms(done.median_ms()), done.device, done.name,
                       args.output == "-" ? "" : " -> " + args.output),
           args.output == "-");
}

}  // namespace

int fill_verb(const arguments& args) {
    check_destination(args.output);
    static_cast<void>(value_of(args)), static_cast<void>(options_of(args, sites::zero));
    in_words_of_options([&] {
        fill_run run;
        run.input = load(args.input, args, true);
        const io::array& image = run.input.image;
        check_natural(args, image);
        const dtype type = result_type(args, image);
        io::require_writable(args.output, type, image.shape, image.color, image.axes);
        find_missing(args, run);
        run.result = make_like(image, type, image.shape);
        run.result.color = image.color;
        const computed done = run_all(args, run);
        if (!done.note.empty()) note(args, done.note);
        io::write(args.output, run.result);
        report(args, run, done);
    });
    return 0;
}

}  // namespace nearfield::cli
