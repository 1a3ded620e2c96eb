// nearfield watershed and nearfield peaks
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/files.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/values.hpp"
#include "edge/arrays_run.hpp"
#include "nearfield/watershed.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// A run whose result is labels, or marks of peaks if these are wanted.
struct flood_run : mask_run {
    io::array markers, mask;
    watershed_options how;
    std::vector<peak> found;
};

double not_negative(const std::string& name, const std::string& text) {
    const double number = text.empty() ? 0 : parse_number(name, text, name + " 1.5");
    if (!(number >= 0)) refuse(fmt::format("{} is {}; give a number of 0 or more, e.g. {} 1.5", name, text, name));
    return number;
}

flood_run start(const arguments& args) {
    flood_run run;
    run.how.h = not_negative("--height", args.height);
    run.input = load(args.input, args);
    const io::array& image = run.input.image;
    const distance_options given = options_for(args, sites::zero, run.input);
    if (given.batch_axes > 0)
        refuse(fmt::format("{} has {} images; {} takes one: convert one of them", args.input, text_of_axes(image),
                           args.verb));
    run.how.border = given.border;
    if (!args.where.empty()) run.mask = ones_of(other_input(args.where, args, image, "--mask"));
    return run;
}

void report(const arguments& args, const flood_run& run, const computed& done, const char* what, std::size_t count,
            const std::vector<std::string>& outputs) {
    json_report said = start_report(args);
    said["input"] = describe(run.input.image);
    said["input"]["path"] = args.input;
    said["height"] = run.how.h;
    said[fmt::format("{}s", what)] = count;
    said["outputs"] = json_report::array();
    bool stdout_carries_data = false;
    for (const std::string& path : outputs)
        if (!path.empty()) said["outputs"].push_back({{"path", path}}), stdout_carries_data |= path == "-";
    said["run"] = describe(done, run.input.image.cells());
    if (!done.note.empty()) note(args, done.note);
    finish(args, said,
           fmt::format("{}: {} {}: {} {}{} in {} on {} ({}){}", args.verb, text_of_axes(run.input.image),
                       nearfield::name_of(run.input.image.type), count, what, count == 1 ? "" : "s",
                       text_of_ms(done.median_ms()), done.device, done.name, text_of_files(args)),
           stdout_carries_data);
}

// ---- watershed -----------------------------------------------------------------------------------------------------

std::size_t regions_of(const io::array& labels) {
    return with_elements(labels.data.get(), labels.type, [&](const auto* cells) {
        std::set<double> found;
        for (std::int64_t i = 0; i < labels.cells(); ++i)
            if (i == 0 || cells[i] != cells[i - 1]) found.insert(static_cast<double>(cells[i]));
        return found.size() - found.count(0);
    });
}

void read_markers(const arguments& args, flood_run& run) {
    if (args.seeds.empty()) return;
    run.markers = other_input(args.seeds, args, run.input.image, "--markers");
    if (is_floating(run.markers.type))
        refuse(fmt::format("--markers {} holds {}; markers are integers", args.seeds,
                           nearfield::name_of(run.markers.type)));
}

computed flood(const arguments& args, flood_run& run) {
    const any_input<host> read[] = {run.input.image.in(), run.markers.data ? run.markers.in() : any_input<host>{},
                                    run.mask.data ? run.mask.in() : any_input<host>{}};
    const any_output<host> to = run.result.out();
    const placed_call call{
        [&](const host& on) { watershed(on, read[0], {.label = to}, run.how, read[1], read[2]); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, read, {&to, 1},
                [&](const device& on, auto in, auto out) {
                    watershed(on, in[0], {.label = out[0]}, run.how, in[1], in[2]);
                },
                warmups, repeat);
        },
    };
    return compute(args, call);
}

// ---- peaks ---------------------------------------------------------------------------------------------------------

bool is_table(const std::string& path) { return path.ends_with(".csv") || path.ends_with(".CSV"); }

/// Limits the search for maxima to cells above 0.
void mask_background(flood_run& run) {
    if (!run.how.maxima) return;
    const io::array& image = run.input.image;
    if (!run.mask.data) {
        run.mask = make_like(image, dtype::uint8, image.shape);
        std::fill_n(reinterpret_cast<std::uint8_t*>(run.mask.data.get()), image.cells(), std::uint8_t{1});
    }
    auto* const counts = reinterpret_cast<std::uint8_t*>(run.mask.data.get());
    with_elements(image.data.get(), image.type, [&](const auto* cells) {
        for (std::int64_t i = 0; i < image.cells(); ++i)
            if (!(static_cast<double>(cells[i]) > 0)) counts[i] = 0;
    });
}

template <class Place>
void find(const Place& on, const any_input<Place>& image, const any_input<Place>& mask, const any_output<Place>& marks,
          flood_run& run) {
    run.found = peaks(on, image, run.how, mask);
    if (marks.wanted()) watershed(on, image, {.extrema = marks}, run.how, {}, mask);
}

computed find_peaks(const arguments& args, flood_run& run) {
    const any_input<host> read[] = {run.input.image.in(), run.mask.data ? run.mask.in() : any_input<host>{}};
    const any_output<host> to = run.result.data ? run.result.out() : any_output<host>{};
    const placed_call call{
        [&](const host& on) { find<host>(on, read[0], read[1], to, run); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, read, {&to, 1},
                [&](const device& on, auto in, auto out) { find<device>(on, in[0], in[1], out[0], run); }, warmups,
                repeat);
        },
    };
    return compute(args, call);
}

/// Writes coordinates and values of peaks as CSV.
std::string table_of(const std::vector<peak>& found, const std::vector<std::int64_t>& shape) {
    std::string text;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) text += fmt::format("axis_{},", axis);
    text += "value\n";
    std::vector<std::int64_t> at(shape.size());
    for (const peak& each : found) {
        std::int64_t rest = each.cell;
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) at[axis] = rest % shape[axis];
        text += fmt::format("{},{}\n", fmt::join(at, ","), each.value);
    }
    return text;
}

}  // namespace

int watershed_verb(const arguments& args) {
    static_cast<void>(check_mask_outputs(args));
    if (!args.seeds.empty() && !args.height.empty())
        refuse("--height chooses the minima to start from, which --markers does too; leave out one of them");
    in_words_of_options([&] {
        flood_run run = start(args);
        run.how.connectivity = static_cast<int>(std::clamp<std::int64_t>(args.connectivity, -1, 1 << 20));
        run.how.maxima = args.maxima, run.how.lines = args.line;
        read_markers(args, run);
        make_result(args, run, run.markers.data ? run.markers.type : dtype::int32);
        const computed done = flood(args, run);
        save_mask(args, run, false);
        report(args, run, done, "region", regions_of(run.result), {args.output, args.picture});
    });
    return 0;
}

int peaks_verb(const arguments& args) {
    const double apart = not_negative("--min-distance", args.radius);
    if (!args.output.empty() && args.output != "-" && !is_table(args.output))
        refuse(fmt::format("-o is {}; peaks are a CSV file, e.g. -o peaks.csv, and --marks an image", args.output));
    if (!args.output.empty() && args.output != "-") io::require_place(args.output);
    check_destination(args.labels);
    static_cast<void>(one_stdout({args.output, args.labels}));
    in_words_of_options([&] {
        flood_run run = start(args);
        const io::array& image = run.input.image;
        run.how.connectivity = static_cast<int>(image.shape.size());
        run.how.maxima = !args.minima;
        mask_background(run);
        if (!args.labels.empty()) {
            io::require_writable(args.labels, dtype::uint8, image.shape, false, image.axes);
            run.result = make_like(image, dtype::uint8, image.shape);
        }
        const computed done = find_peaks(args, run);
        const std::vector<peak> rows = sorted_peaks(run.found, image.shape, run.how.maxima, apart);
        if (!args.output.empty()) write_text(args.output, table_of(rows, image.shape));
        if (!args.labels.empty()) count_cells(run, true), io::write(args.labels, run.result);
        report(args, run, done, "peak", rows.size(), {args.output, args.labels});
    });
    return 0;
}

}  // namespace nearfield::cli
