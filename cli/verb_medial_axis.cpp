// nearfield medial-axis
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <string_view>

#include "cli/compute.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/picture.hpp"
#include "cli/report.hpp"
#include "cli/values.hpp"
#include "edge/shapes_run.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

bool is_png(const std::string& path) { return path.ends_with(".png") || path.ends_with(".PNG"); }

/// Paths of the outputs; an empty path means that the output is not wanted.
struct destinations {
    std::string axis, picture, distances;
    bool stdout_carries_data = false;

    [[nodiscard]] bool radii() const { return !picture.empty() || !distances.empty(); }
};

destinations destinations_of(const arguments& args) {
    if (is_png(args.output) && !args.picture.empty())
        refuse("-o and --picture both name a picture; give -o a format that holds arrays, e.g. -o axis.npy");
    destinations to{is_png(args.output) ? "" : args.output, is_png(args.output) ? args.output : args.picture,
                    args.distances};
    if (to.axis.empty() && to.picture.empty() && to.distances.empty() && args.quiet && !args.json)
        refuse("nothing to make: give -o, --picture or --distances, or leave out --quiet");
    if (!to.picture.empty() && !is_png(to.picture))
        refuse(fmt::format("--picture is {}; pictures are PNG files, e.g. --picture axis.png", to.picture));
    check_destination(to.axis), check_destination(to.picture), check_destination(to.distances);
    to.stdout_carries_data = one_stdout({to.axis, to.picture, to.distances});
    return to;
}

template <class Value, std::size_t Count>
Value value_of(const std::string& word, const std::pair<std::string_view, Value> (&known)[Count]) {
    for (const auto& [text, value] : known)
        if (word == text) return value;
    return known[0].second;  // the table allows no other word
}

void choose_method(const arguments& args, medial_axis_options& options) {
    struct rule {
        pruning prune;
        double usual;
    };
    constexpr std::pair<std::string_view, axis_method> methods[] = {
        {"integer", axis_method::integer}, {"balls", axis_method::balls}, {"reduced", axis_method::reduced}};
    constexpr std::pair<std::string_view, rule> prunings[] = {{"constant", {pruning::constant, 1}},
                                                              {"linear", {pruning::linear, 0.5}},
                                                              {"sqrt", {pruning::square_root, 1}},
                                                              {"angle", {pruning::angle, 60}}};
    const rule chosen = value_of(args.pruning, prunings);
    options.method = value_of(args.axis_method, methods);
    options.prune = chosen.prune;
    options.gamma = args.gamma.empty() ? chosen.usual : parse_number("--gamma", args.gamma, "--gamma 2");
    if (options.method != axis_method::integer && (args.pruning != "constant" || !args.gamma.empty()))
        refuse(fmt::format("--pruning and --gamma go with --method integer, not {}; leave them out", args.axis_method));
}

/// One input, and the results that the library fills.
struct axis_run {
    loaded input;
    medial_axis_options options;
    std::vector<border> beyond;
    io::array axis, distances;
    std::int64_t on_axis = 0;
};

axis_run load_run(const arguments& args, const destinations& to) {
    axis_run run;
    run.input = load_mask(args);
    const io::array& image = run.input.image;
    const distance_options grid = options_for(args, sites::zero, run.input);
    choose_method(args, run.options);
    run.options.spacing = grid.spacing, run.options.sites = grid.sites, run.options.border = grid.border;
    run.options.batch_axes = grid.batch_axes;
    if (grid.sites == sites::other_labels && is_floating(image.type))
        refuse(fmt::format("{} has {} values and labels are whole numbers; convert it to an integer type", args.input,
                           nearfield::name_of(image.type)));
    if (!to.axis.empty()) io::require_writable(to.axis, dtype::uint8, image.shape, false, image.axes);
    if (!to.distances.empty() && !is_png(to.distances))
        io::require_writable(to.distances, dtype::float32, image.shape, false, image.axes);
    if (to.radii()) {
        if (!to.picture.empty() || is_png(to.distances))
            static_cast<void>(arrange(image.shape, run.input.per_axis, page_of(args, run.input), false));
        run.distances = make_like(image, dtype::float32, image.shape);
    }
    run.axis = make_like(image, dtype::uint8, image.shape);
    return run;
}

computed find_axis(const arguments& args, axis_run& run) {
    medial_axis_fields<host> out;
    out.axis = run.axis.out();
    if (!run.distances.shape.empty()) out.distance = run.distances.out();
    const any_input<host> image = run.input.image.in();
    const placed_call call{
        [&](const host& on) { medial_axis(on, image, out, run.options); },
        [&](int ordinal, int, int) { return edge::medial_axis_on_device(ordinal, image, out, run.options); },
    };
    return compute(args, call);
}

/// Draws the radii on the axis; elsewhere in the shape infinity (gray), outside 0.
picture draw_axis(const sheet& on, const axis_run& run) {
    io::array shown = make_like(run.distances, dtype::float32, run.distances.shape);
    const auto* const distance = reinterpret_cast<const float*>(run.distances.data.get());
    const auto* const axis = reinterpret_cast<const std::uint8_t*>(run.axis.data.get());
    auto* const to = reinterpret_cast<float*>(shown.data.get());
    for (std::int64_t i = 0, n = shown.cells(); i < n; ++i)
        to[i] = axis[i] != 0 || distance[i] == 0 ? distance[i] : std::numeric_limits<float>::infinity();
    return draw_distance(on, shown, {.flat = true, .solid = true, .unit = run.input.image.unit});
}

void save(const arguments& args, const destinations& to, const axis_run& run) {
    if (!to.axis.empty()) io::write(to.axis, run.axis);
    const auto draw = [&](const std::string& path, bool axis) {
        const sheet on = arrange(run.axis.shape, run.input.per_axis, page_of(args, run.input), run.input.rows_up);
        io::write(path, to_array(axis ? draw_axis(on, run)
                                      : draw_distance(on, run.distances, {.unit = run.input.image.unit})));
    };
    if (!to.picture.empty()) draw(to.picture, true);
    if (is_png(to.distances)) draw(to.distances, false);
    else if (!to.distances.empty()) io::write(to.distances, run.distances);
}

void report(const arguments& args, const destinations& to, const axis_run& run, const computed& done) {
    json_report said = start_report(args);
    said["input"] = describe(run.input.image);
    said["input"]["path"] = args.input;
    said["spacing"] = run.input.per_axis;
    said["method"] = args.axis_method;
    if (run.options.method == axis_method::integer) said["pruning"] = args.pruning, said["gamma"] = run.options.gamma;
    said["cells_on_axis"] = run.on_axis;
    said["read_ms"] = run.input.read_ms;
    said["outputs"] = json_report::array();
    std::vector<std::string> files;
    const auto add = [&](const char* what, const std::string& path, const char* type) {
        if (path.empty()) return;
        said["outputs"].push_back({{"what", what}, {"path", path}, {"dtype", type}});
        if (path != "-") files.push_back(path);
    };
    add("axis", to.axis, "uint8"), add("picture", to.picture, "uint8");
    add("distance", to.distances, is_png(to.distances) ? "uint8" : "float32");
    said["run"] = describe(done, run.axis.cells());
    finish(args, said,
           fmt::format("medial-axis: {} {}{}: {} cells in {} on {} ({}){}{}", text_of_axes(run.axis),
                       nearfield::name_of(run.input.image.type), text_of_space(run.axis), run.on_axis,
                       text_of_ms(done.median_ms()), done.device, done.name, files.empty() ? "" : " -> ",
                       fmt::join(files, ", ")),
           to.stdout_carries_data);
}

/// Rewrites an error of the library, which names its arguments, in terms of options.
std::string in_words_of_options(std::string message) {
    constexpr std::pair<std::string_view, std::string_view> words[] = {
        {"gamma is", "--gamma is"}, {"prune measures", "--pruning measures"}, {"use host{}", "give --device cpu"}};
    for (const auto& [theirs, ours] : words)
        if (const std::size_t at = message.find(theirs); at != std::string::npos)
            message.replace(at, theirs.size(), ours);
    return message;
}

}  // namespace

int medial_axis_verb(const arguments& args) {
    const destinations to = destinations_of(args);
    // Wrong words are reported before a large file is read.
    static_cast<void>(options_of(args, sites::zero));
    medial_axis_options words;
    choose_method(args, words);
    check_picture_size(args);
    try {
        axis_run run = load_run(args, to);
        const computed done = find_axis(args, run);
        if (!done.note.empty()) note(args, done.note);
        const auto* const axis = reinterpret_cast<const std::uint8_t*>(run.axis.data.get());
        for (std::int64_t i = 0, n = run.axis.cells(); i < n; ++i) run.on_axis += axis[i];
        save(args, to, run);
        report(args, to, run, done);
    } catch (const error& problem) {
        throw error(problem.code(), in_words_of_options(problem.what()));
    }
    return 0;
}

}  // namespace nearfield::cli
