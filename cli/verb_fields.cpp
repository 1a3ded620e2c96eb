// nearfield distance, nearfield voronoi
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "cli/compute.hpp"
#include "cli/field_run.hpp"
#include "cli/file_facts.hpp"
#include "cli/method_run.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/report.hpp"
#include "io/bytes.hpp"

namespace nearfield::cli {
namespace {

/// Makes one call of the library for all runs with equal element types, axes and spacing.
computed compute_all(const arguments& args, std::vector<field_run>& runs) {
    using likeness = std::tuple<std::size_t, int, dtype, dtype, std::vector<double>>;
    std::map<likeness, work<host>> calls;
    for (field_run& run : runs) {
        const io::array& image = run.input.image;
        work<host>& call =
            calls[{image.shape.size(), run.options.batch_axes, image.type, run.values.type, run.input.per_axis}];
        work<host> one = work_of(run);
        one.jobs.insert(one.jobs.begin(), call.jobs.begin(), call.jobs.end());
        call = std::move(one);
    }
    std::vector<computed> done;
    done.reserve(calls.size());
    for (const auto& [key, call] : calls) done.push_back(compute(args, call));
    for (std::size_t i = 1; i < done.size(); ++i) done[0].add(done[i]);
    return done[0];
}

void note_if_empty(const arguments& args, const field_run& run) {
    if (!run.empty) return;
    const std::string what = run.options.sites == sites::other_labels
                                 ? "all cells have one value that is not zero"
                                 : fmt::format("no cell is {}", name_of(run.options.sites));
    note(args, fmt::format("{}{}, so there is no site: distances are infinite and indices -1; see --sites, and "
                           "--threshold for gray images",
                           args.inputs.size() > 1 ? run.path + ": " : "", what));
}

void note_if_gray(const arguments& args, const field_run& run) {
    if (run.empty || args.verb != "distance" || run.options.sites == sites::other_labels) return;
    note_gray(args, run.path, run.input.image,
              fmt::format("the cells that are {} were taken as sites",
                          run.options.sites == sites::zero ? "zero" : "not zero"));
}

/// The report of a run: its input, its files, the range of its values.
json_report describe_run(const arguments& args, const field_run& run) {
    json_report said;
    said["input"] = describe(run.input.image);
    said["input"]["path"] = run.path;
    said["spacing"] = run.input.per_axis;
    said["sites"] = name_of(run.options.sites);
    said["any_site"] = !run.empty;
    if (run.options.sign != sign::none) said["negative_side"] = args.sign;
    if (run.options.half_cell) said["half_cell"] = true;
    if (run.partly()) said["where"] = args.where;
    if (!args.border.empty()) said["border"] = split(args.border, ',');
    if (!args.max_distance.empty()) said["max_distance"] = args.max_distance;
    if (run.options.batch_axes > 0) said["batch_axes"] = run.options.batch_axes;
    said["read_ms"] = run.input.read_ms;
    said["outputs"] = json_report::array();
    for (const slot& each : run.slots) {
        const std::string what = each.drawn ? "picture" : run.name_of(args, each.what);
        const dtype type = each.drawn ? dtype::uint8 : run.array_of(args, each.what).type;
        said["outputs"].push_back({{"what", what}, {"path", each.path}, {"dtype", nearfield::name_of(type)}});
    }
    if (!args.json || run.empty || run.values.shape.empty() || run.values.cells() == 0) return said;
    const auto [least, largest] = run.extremes();
    said["largest_" + run.name_of(args, content::values)] = largest;
    if (run.options.sign != sign::none || run.weighted())
        said["smallest_" + run.name_of(args, content::values)] = least;
    return said;
}

/// The summary line in plain words.
std::string summary(const arguments& args, const std::vector<field_run>& runs, const outputs& wanted,
                    const computed& done) {
    std::vector<std::string> files;
    for (const slot& each : wanted.folders ? wanted.slots : runs.front().slots)
        if (each.path != "-" && std::find(files.begin(), files.end(), each.path) == files.end())
            files.push_back(each.path);
    const loaded& first = runs.front().input;
    std::string what = runs.size() > 1 ? fmt::format("{} arrays", runs.size())
                                       : fmt::format("{} {}{}", text_of_axes(first.image),
                                                     nearfield::name_of(first.image.type), text_of_space(first.image));
    const bool from_file = runs.size() == 1 && args.spacing.empty() && !first.image.spacing.empty() &&
                           std::any_of(first.per_axis.begin(), first.per_axis.end(), [](double s) { return s != 1; });
    // A PNG's resolution turns distances into millimetres, which the line should say.
    if (from_file)
        what += fmt::format(", spacing {:.4g}{}{} from the file", fmt::join(first.per_axis, "x"),
                            first.image.unit.empty() ? "" : " ", first.image.unit);
    return fmt::format("{}: {} in {} on {} ({}){}{}", args.verb, what, text_of_ms(done.median_ms()), done.device,
                       done.name, files.empty() ? "" : " -> ", fmt::join(files, ", "));
}

void report(const arguments& args, const std::vector<field_run>& runs, const outputs& wanted, const computed& done,
            const method_report& took) {
    json_report said = start_report(args);
    std::int64_t cells = 0;
    for (const field_run& run : runs) cells += run.input.image.cells();
    if (runs.size() == 1) said.update(describe_run(args, runs.front()));
    else
        for (const field_run& run : runs) said["inputs"].push_back(describe_run(args, run));
    said["run"] = describe(done, cells);
    if (uses_method(args)) said["run"].update(describe_method(args, took, done));
    finish(args, said, summary(args, runs, wanted, done), wanted.stdout_carries_data);
}

void print_plans(const arguments& args, const outputs& wanted) {
    json_report said = start_report(args);
    std::string text;
    for (const std::string& path : args.inputs) {
        field_run run = load_run(args, wanted, path);
        allocate(run, args, wanted, false);
        const call_plan p = plan_for(args, work_of(run));
        said["plans"].push_back(describe(p));
        said["plans"].back()["input"] = describe(run.input.image);
        said["plans"].back()["input"]["path"] = path;
        text += fmt::format("{}{} of {} {} {}\n{}", text.empty() ? "" : "\n", args.verb, io::printable(path),
                            text_of_axes(run.input.image), nearfield::name_of(run.input.image.type), p.text());
        if (text.back() != '\n') text += '\n';
    }
    if (args.json) finish(args, said, {});
    else print(text);
}

/// Rewrites an error of the library, which names fields and element types, in terms of options.
std::string in_words_of_options(std::string message) {
    constexpr std::pair<std::string_view, std::string_view> words[] = {
        {"out.distance has element type", "--dtype is"},
        {"out.squared has element type", "--dtype is"},
        {"out.index has element type", "--index-dtype is"},
        {"give an array of i", "give --index-dtype i"},
        {"give an array of f", "give --dtype f"},
        {"give an array of u", "give --dtype u"},
        {"a smaller max_distance", "a smaller --max-distance"},
        {"use host{}", "give --device cpu"},
    };
    for (const auto& [theirs, ours] : words)
        if (const std::size_t at = message.find(theirs); at != std::string::npos)
            message.replace(at, theirs.size(), ours);
    return message;
}

/// Checks that all outputs and the engine's workspace fit memory, before any array is made.
void check_room(const arguments& args, const outputs& wanted, std::vector<field_run>& runs) {
    std::int64_t bytes = 0, workspace = 0;
    for (field_run& run : runs) {
        allocate(run, args, wanted, false);
        for (const any_output<host>* field : {&run.out.distance, &run.out.squared, &run.out.index, &run.out.coordinates,
                                              &run.out.label, &run.out.trusted})
            if (field->wanted()) bytes += field->cells() * size_of(field->type);
    }
    constexpr std::int64_t small = std::int64_t{1} << 26;  // require_memory() accepts less unchecked
    if (bytes > small && !uses_method(args)) {
        arguments alone = args;
        alone.threads = 1;  // the engine takes fewer threads if their buffers do not fit
        for (const field_run& run : runs) {
            const call_plan p = plan_for(alone, work_of(run));
            if (p.place == "host") workspace = std::max(workspace, p.workspace_bytes);
        }
    }
    require_memory(bytes + workspace, "the call with its outputs");
}

void run_fields(const arguments& args, const outputs& wanted) {
    std::vector<field_run> runs;
    for (const std::string& path : args.inputs) {
        runs.push_back(load_run(args, wanted, path));
    }
    make_folders(wanted);
    if (wanted.folders)
        for (const field_run& run : runs)
            for (const slot& each : run.slots) io::require_place(each.path);
    check_room(args, wanted, runs);
    for (field_run& run : runs) allocate(run, args, wanted, true);
    method_report took;
    const computed done = uses_method(args) ? compute_by_method(args, runs.front(), took) : compute_all(args, runs);
    if (!done.note.empty()) note(args, done.note);
    for (const field_run& run : runs) note_if_empty(args, run), note_if_gray(args, run);
    const stopwatch saving;
    for (const field_run& run : runs) save(run, args);
    if (args.timings && !args.json)
        print_stages(wanted.stdout_carries_data, runs.front(), took, done, saving.milliseconds());
    report(args, runs, wanted, done, took);
}

}  // namespace

int field_verb(const arguments& typed) {
    arguments args = typed;
    name_random_sites(args);
    const outputs wanted = outputs_of(args);
    check_method_words(args);
    // Wrong words are reported before a large file is read.
    static_cast<void>(options_of(args, sites::zero));
    try {
        if (args.plan) print_plans(args, wanted);
        else run_fields(args, wanted);
    } catch (const error& problem) {
        throw error(problem.code(), in_words_of_options(problem.what()));
    }
    return 0;
}

}  // namespace nearfield::cli
