// nearfield label
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <optional>
#include <string_view>

#include "cli/component_columns.hpp"
#include "cli/compute.hpp"
#include "cli/file_facts.hpp"
#include "cli/files.hpp"
#include "cli/folders.hpp"
#include "cli/label_outputs.hpp"
#include "cli/label_words.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/picture.hpp"
#include "cli/report.hpp"
#include "edge/arrays_run.hpp"
#include "edge/label_run.hpp"
#include "io/bytes.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// One input, and the results that the library fills.
struct label_run {
    loaded input;
    io::array intensity, labels;
    io::array over;  ///< image under the drawn labels; without a shape if there is none
    label_options options;
    propagation_options propagation;
    propagation_report propagated{};   ///< for --method propagation
    std::vector<std::int64_t> counts;  ///< number of components of each image of the batch
    component_columns columns;

    [[nodiscard]] std::vector<std::int64_t> grid() const {
        const std::vector<std::int64_t>& shape = input.image.shape;
        return {shape.begin(), shape.begin() + input.image.grid_rank()};
    }
    [[nodiscard]] int axes() const { return input.image.grid_rank() - options.batch_axes; }
    [[nodiscard]] std::int64_t count() const { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }
    [[nodiscard]] measure lengths() const {
        return {{input.per_axis.begin() + options.batch_axes, input.per_axis.end()},
                input.image.unit,
                options.batch_axes > 0};
    }
    [[nodiscard]] any_input<host> measured() const {
        return intensity.shape.empty() ? any_input<host>{} : intensity.in();
    }
};

void check_colour_type(const io::array& image) {
    for (const dtype comparable_as : {dtype::uint8, dtype::uint16, dtype::float32, dtype::float64})
        if (!image.color || image.type == comparable_as) return;
    refuse(fmt::format(
        "the input has colours of {}, and colours are compared as uint8, uint16, float32 or float64; convert "
        "it, or give --channel for one value a cell",
        nearfield::name_of(image.type)));
}

io::array load_intensity(const arguments& args, const std::vector<std::int64_t>& grid) {
    io::array values = read_file(args.intensity, args);
    if (values.color) values = take_channel(values, "luminance");
    if (io::array wide = comparable(values); !wide.shape.empty()) values = std::move(wide);
    if (values.shape != grid)
        refuse(fmt::format("--intensity {} has shape {} and the input has {}; give one value a cell", args.intensity,
                           text_of(values.shape), text_of(grid)));
    return values;
}

io::array load_over(const arguments& args, const std::vector<std::int64_t>& grid) {
    io::array photo = read_file(args.over, args);
    if (std::vector<std::int64_t>(photo.shape.begin(), photo.shape.begin() + photo.grid_rank()) != grid)
        refuse(fmt::format("--over {} has shape {} and the input has {}; give a picture of the same size", args.over,
                           text_of(photo.shape), text_of(grid)));
    return photo;
}

/// The wanted type, else the usual one for this image, or uint16 if the format cannot hold that.
dtype labels_type(const arguments& args, const destinations& to, const label_run& run) {
    for (int type = 0; type <= static_cast<int>(dtype::float64); ++type)
        if (args.dtype == nearfield::name_of(static_cast<dtype>(type))) return static_cast<dtype>(type);
    const dtype usual =
        label_type(run.input.image.shape.data(), static_cast<int>(run.input.image.shape.size()), run.options);
    if (to.labels.empty()) return usual;
    try {
        io::require_writable(to.labels, usual, run.grid(), false, run.input.image.axes);
    } catch (const error&) {
        io::require_writable(to.labels, dtype::uint16, run.grid(), false, run.input.image.axes);
        return dtype::uint16;
    }
    return usual;
}

void check_shapes(const arguments& args, const label_run& run) {
    if (run.axes() != 2 && run.axes() != 3)
        refuse(fmt::format("--shapes measures images of 2 or 3 axes, and {} has {}; leave it out", args.input,
                           run.axes()));
    for (int axis = 0; axis < run.axes(); ++axis)
        if (run.options.border[axis] == border::periodic)
            refuse(
                "--shapes measures what lies within the ends of the axes, and --border says that they meet; leave "
                "one of them out");
}

label_run load_run(const arguments& args, const destinations& to) {
    label_run run;
    // If every colour but black is foreground, luminance tells the same and alpha does not matter.
    run.input = load(args.input, args, args.criterion != "nonzero");
    if (io::array wide = comparable(run.input.image); !wide.shape.empty()) run.input.image = std::move(wide);
    check_colour_type(run.input.image);
    run.options = label_options_for(args, run.input);
    run.propagation = propagation_of(args);
    if (args.method != "fast" && run.options.batch_axes > 0)
        refuse(
            fmt::format("--method propagation labels one image, and {} has {}; give --batch-axes 0, or convert one of "
                        "them",
                        args.input, text_of_axes(run.input.image)));
    if (!args.intensity.empty()) run.intensity = load_intensity(args, run.grid());
    if (!args.over.empty()) run.over = load_over(args, run.grid());
    if (args.shapes) check_shapes(args, run);
    const dtype type = labels_type(args, to, run);
    if (!to.labels.empty()) io::require_writable(to.labels, type, run.grid(), false, run.input.image.axes);
    if (!to.picture.empty())
        static_cast<void>(arrange(run.grid(), run.input.per_axis, page_of(args, run.input), false));
    run.labels = make_like(run.input.image, type, run.grid());
    std::int64_t images = 1;
    for (int axis = 0; axis < run.options.batch_axes; ++axis)
        images *= run.labels.shape[static_cast<std::size_t>(axis)];
    run.counts.resize(static_cast<std::size_t>(images));
    return run;
}

/// Labels by the published method.
computed propagate_all(const arguments& args, label_run& run) {
    const any_input<host> image = run.input.image.in();
    const any_output<host> out = run.labels.out();
    const placed_call call{
        [&](const host& on) { run.propagated = label_by_propagation(on, image, out, run.options, run.propagation); },
        [&](int ordinal, int, int) {
            return edge::propagate_on_device(ordinal, image, out, run.options, run.propagation, run.propagated);
        },
    };
    const computed done = compute(args, call);
    run.counts[0] = run.propagated.components;
    return done;
}

computed label_all(const arguments& args, const destinations& to, label_run& run) {
    label_fields<host> out;
    if (!to.labels.empty() || !to.picture.empty() || args.shapes) out.label = run.labels.out();
    out.count = any_output<host>::contiguous(run.counts.data(), dtype::int64, std::array{std::ssize(run.counts)});
    if (!to.stats.empty())
        out.make_tables = [&run](std::int64_t rows) { return run.columns.make(rows, run.axes(), run.measured()); };
    const any_input<host> image = run.input.image.in();
    const placed_call call{
        [&](const host& on) { label(on, image, out, run.options); },
        [&](int ordinal, int, int) { return edge::label_on_device(ordinal, image, out, run.options); },
    };
    return compute(args, call);
}

/// Measures the labels of each image of the batch.
void measure_shapes(const arguments& args, label_run& run, computed& done) {
    const std::vector<double> lengths = run.lengths().per_axis;
    const auto first = run.labels.shape.begin() + run.options.batch_axes;
    const std::vector<std::int64_t> shape(first, run.labels.shape.end());
    const spacing cell(lengths.data(), lengths.size());
    std::vector<component_shape> all, found;
    for (std::size_t image = 0; image < run.counts.size(); ++image) {
        auto labels = any_input<host>::contiguous(static_cast<const void*>(nullptr), run.labels.type, shape);
        labels.data = run.labels.data.get() + static_cast<std::int64_t>(image) * labels.cells() * size_of(labels.type);
        const std::int64_t rows = run.counts[image];
        const placed_call call{
            [&](const host& on) { found = shape_measures(on, labels, rows, cell); },
            [&](int ordinal, int warmups, int repeat) {
                return edge::run_arrays_on_device(
                    ordinal, {&labels, 1}, {},
                    [&](const device& on, auto in, auto) { found = shape_measures(on, in[0], rows, cell); }, warmups,
                    repeat);
            },
        };
        done.add(compute(args, call));
        all.insert(all.end(), found.begin(), found.end());
    }
    run.columns.add_shapes(std::move(all), lengths.size() == 2 && lengths[0] == lengths[1]);
}

void write_stats(const destinations& to, const label_run& run, const text_sink& sink) {
    const measure lengths = run.lengths();
    if (!to.stats_as_json()) return run.columns.csv(lengths, run.counts, sink);
    json_report head;
    head["spacing"] = lengths.per_axis;
    if (!lengths.unit.empty()) head["unit"] = lengths.unit;
    std::string text = head.dump(-1, ' ', false, json_report::error_handler_t::replace);
    text.pop_back();  // drops the closing brace
    sink(text + ",\"components\": ");
    run.columns.json(lengths, run.counts, sink);
    sink("}\n");
}

void save(const arguments& args, const destinations& to, const label_run& run) {
    if (!to.labels.empty()) io::write(to.labels, run.labels);
    if (!to.picture.empty()) {
        const sheet on = arrange(run.labels.shape, run.input.per_axis, page_of(args, run.input), run.input.rows_up);
        io::write(to.picture, to_array(draw_labels(on, run.labels, {&run.over, args.numbers})));
    }
    if (to.stats.empty()) return;
    const measure lengths = run.lengths();
    if (to.stats == "-") return write_stats(to, run, [](std::string_view piece) { print(std::string(piece)); });
    io::output file(to.stats);
    write_stats(to, run, [&](std::string_view piece) { file.write(piece); });
    file.commit();
}

json_report describe_run(const arguments& args, const destinations& to, const label_run& run, const computed& done) {
    json_report said;
    said["input"] = describe(run.input.image);
    said["input"]["path"] = args.input;
    said["spacing"] = run.input.per_axis;
    said["criterion"] = args.criterion;
    said["connectivity"] = args.connectivity;
    said["components"] = run.count();
    if (args.method != "fast") said["rounds"] = run.propagated.rounds, said["link_steps"] = run.propagated.link_steps;
    if (run.options.batch_axes > 0) said["components_of_images"] = run.counts;
    said["read_ms"] = run.input.read_ms;
    said["outputs"] = json_report::array();
    const auto add = [&](const char* what, const std::string& path, const char* type) {
        if (path.empty()) return;
        json_report one{{"what", what}, {"path", path}};
        if (type != nullptr) one["dtype"] = type;
        said["outputs"].push_back(std::move(one));
    };
    add("label", to.labels, nearfield::name_of(run.labels.type));
    add("picture", to.picture, "uint8");
    add("statistics", to.stats, nullptr);
    said["run"] = describe(done, run.labels.cells());
    return said;
}

/// The summary line in plain words.
std::string summary(const arguments& args, const destinations& to, const label_run& run, const computed& done,
                    bool several) {
    std::vector<std::string> files;
    for (const std::string& path : {to.labels, to.picture, to.stats})
        if (!path.empty() && path != "-") files.push_back(path);
    return fmt::format(
        "label: {}{} {}{}: {} component{} in {}{} on {} ({}){}{}", several ? io::printable(args.input) + ": " : "",
        text_of_axes(run.labels), nearfield::name_of(run.input.image.type), text_of_space(run.labels), run.count(),
        run.count() == 1 ? "" : "s", args.method == "fast" ? "" : fmt::format("{} rounds and ", run.propagated.rounds),
        text_of_ms(done.median_ms()), done.device, done.name, files.empty() ? "" : " -> ", fmt::join(files, ", "));
}

/// Rewrites an error of the library, which names its arguments, in terms of options.
std::string in_words_of_options(std::string message) {
    constexpr std::pair<std::string_view, std::string_view> words[] = {
        {"out.label has element type", "--dtype is"},
        {"use host{}", "give --device cpu"},
        {"tables.intensity", "--intensity"},
        {"gather_length is", "--gather-length is"},
        {"set neighbours, or a gather_length of 1", "leave out --no-neighbours, or give --gather-length 1"},
        {"most_rounds is", "--most-rounds is"},
        {"a larger most_rounds", "a larger --most-rounds"},
    };
    for (const auto& [theirs, ours] : words)
        if (const std::size_t at = message.find(theirs); at != std::string::npos)
            message.replace(at, theirs.size(), ours);
    return message;
}

struct told {
    json_report said;
    std::string line;
    bool stdout_carries_data = false;
};

/// Reads and checks an input, and checks the destinations of its results.
label_run checked_run(const arguments& args) {
    const destinations to = destinations_of(args);
    check_places(to);
    return load_run(args, to);
}

told label_one(const arguments& args, label_run run, bool several) {
    const destinations to = destinations_of(args);
    computed done = args.method == "fast" ? label_all(args, to, run) : propagate_all(args, run);
    if (args.shapes) measure_shapes(args, run, done);
    if (!done.note.empty()) note(args, done.note);
    if (run.count() == 0) note(args, "no component is left: every label is 0");
    if (args.criterion == "nonzero") note_gray(args, args.input, run.input.image);
    save(args, to, run);
    return {describe_run(args, to, run, done), summary(args, to, run, done, several), to.stdout_carries_data};
}

/// Checks all inputs before any work, so that an error in the last one is found before files of the first one are
/// written. Large inputs are read again later.
std::vector<std::optional<label_run>> checked_runs(const std::vector<arguments>& all) {
    constexpr std::int64_t most_kept = std::int64_t{1} << 28;  // bytes
    std::vector<std::optional<label_run>> runs;
    std::int64_t kept = 0;
    for (const arguments& one : all) {
        runs.emplace_back(checked_run(one));
        const std::int64_t bytes = runs.back()->input.image.bytes() + runs.back()->labels.bytes();
        const bool once = one.input == "-" || all.size() == 1;  // a pipe can only be read once
        if (once || kept + bytes <= most_kept) kept += bytes;
        else runs.back().reset();
    }
    return runs;
}

}  // namespace

int label_verb(const arguments& args) {
    // Wrong words are reported before a large file is read.
    const std::vector<arguments> all = words_for_each(args);
    static_cast<void>(destinations_of(all.front()));
    static_cast<void>(label_options_of(args)), static_cast<void>(propagation_of(args));
    check_picture_size(args);
    const bool several = all.size() > 1;
    for (const std::string& folder : {args.output, args.picture, args.stats})
        if (several && !folder.empty()) make_folder(folder);
    json_report said = start_report(args);
    bool stdout_carries_data = false;
    try {
        std::vector<std::optional<label_run>> runs = checked_runs(all);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const arguments& one = all[i];
            label_run run = runs[i] ? std::move(*runs[i]) : checked_run(one);
            runs[i].reset();
            told each = label_one(one, std::move(run), several);
            if (several) said["inputs"].push_back(std::move(each.said));
            else said.update(each.said);
            stdout_carries_data = each.stdout_carries_data;
            if (!args.json) finish(args, {}, each.line, stdout_carries_data);
        }
    } catch (const error& problem) {
        throw error(problem.code(), in_words_of_options(problem.what()));
    }
    if (args.json) finish(args, said, {}, stdout_carries_data);
    return 0;
}

}  // namespace nearfield::cli
