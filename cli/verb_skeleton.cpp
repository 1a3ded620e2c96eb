// nearfield skeleton
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "cli/files.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "edge/arrays_run.hpp"
#include "nearfield/skeleton.hpp"
#include "nearfield/skeleton_graph.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// A rule for branches that are cut off; rules apply in order.
struct cut {
    branch_rule rule;
    double bound;
};

std::vector<cut> cuts_of(const arguments& args) {
    std::vector<cut> all;
    for (const auto& [name, text, rule] : {std::tuple{"--prune-length", &args.prune_length, branch_rule::length},
                                           std::tuple{"--prune-ratio", &args.prune_ratio, branch_rule::ratio},
                                           std::tuple{"--prune-angle", &args.prune_angle, branch_rule::angle}}) {
        if (text->empty()) continue;
        const double bound = parse_number(name, *text, std::string(name) + " 2");
        if (!(bound >= 0)) refuse(fmt::format("{} is {}; give a number of 0 or more", name, *text));
        all.push_back({rule, bound});
    }
    return all;
}

bool is_swc(const std::string& path) { return path.ends_with(".swc") || path.ends_with(".SWC"); }

void check_graph(const std::string& path) {
    if (path.empty() || path == "-") return;
    if (!is_swc(path) && !path.ends_with(".csv") && !path.ends_with(".CSV"))
        refuse(fmt::format("--graph is {}; graphs are .csv or .swc, e.g. --graph graph.csv", path));
    io::require_place(path);
}

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

/// The graph of the skeleton that the run has made, with radii. Branches that are cut off leave the skeleton, too.
skeleton_graph measured(const arguments& args, mask_run& run, const skeleton_options& options,
                        const std::vector<cut>& cuts) {
    distance_options like;
    like.spacing = options.spacing, like.border = options.border;
    io::array radii = make_like(run.input.image, dtype::float64, run.input.image.shape);
    fields<host> wanted;
    wanted.distance = radii.out();
    distance_transform(host{static_cast<int>(args.threads), {}}, run.input.image.in(), wanted, like);
    skeleton_graph graph = graph_of(cells_of_skeleton(run.result.in(), radii.in(), options.spacing, options.border));
    for (const cut& each : cuts) graph = pruned(graph, each.rule, each.bound);
    auto* const cells = reinterpret_cast<std::uint8_t*>(run.result.data.get());
    std::fill_n(cells, run.result.cells(), std::uint8_t{0});
    for (const std::int64_t at : graph.cells.at) cells[at] = 1;
    return graph;
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

/// Text of the graph: ", 12 branches of 345.6 mm in all".
std::string add_graph(json_report& said, const skeleton_graph& graph, const std::string& unit) {
    double length = 0;
    for (const skeleton_branch& each : graph.branches) length += each.length;
    said["branches"] = graph.branches.size(), said["nodes"] = graph.nodes.size(), said["length"] = length;
    return fmt::format(", {} branches of {:.6g}{}{} in all", graph.branches.size(), length, unit.empty() ? "" : " ",
                       unit);
}

void report(const arguments& args, const mask_run& run, const computed& done,
            const std::optional<skeleton_graph>& graph, bool stdout_carries_data) {
    json_report said = start_mask_report(args, run, done);
    said["keep"] = args.keep;
    said["faces"] = args.faces;
    const std::string branches = graph ? add_graph(said, *graph, run.input.image.unit) : "";
    finish(args, said,
           fmt::format("skeleton: {} {}, keep {}: {} of {} cells of the shape{}, in {} on {} ({}){}",
                       text_of_axes(run.input.image), nearfield::name_of(run.input.image.type), args.keep, run.after,
                       run.before, branches, text_of_ms(done.median_ms()), done.device, done.name, text_of_files(args)),
           stdout_carries_data);
}

}  // namespace

int skeleton_verb(const arguments& args) {
    const bool stdout_carries_data = check_mask_outputs(args);
    static_cast<void>(options_of(args, sites::zero));
    check_graph(args.graph);
    const std::vector<cut> cuts = cuts_of(args);
    in_words_of_options([&] {
        mask_run run;
        run.input = load_mask(args);
        const skeleton_options options = skeleton_options_for(args, run.input);
        make_result(args, run, dtype::uint8);
        const bool graph_wanted = !args.graph.empty() || !cuts.empty();
        if (graph_wanted && options.batch_axes > 0)
            refuse(fmt::format("{} holds several images (batch axes: {}), and a graph takes one; give one image",
                               args.input, options.batch_axes));
        const computed done = run_all(args, run, options);
        std::optional<skeleton_graph> graph;
        if (graph_wanted) graph = measured(args, run, options, cuts);
        count_cells(run, true);
        if (!done.note.empty()) note(args, done.note);
        save_mask(args, run, true);
        if (!args.graph.empty()) write_text(args.graph, is_swc(args.graph) ? swc_of(*graph) : csv_of(*graph));
        report(args, run, done, graph, stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
