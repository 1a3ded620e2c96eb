// nearfield path
#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/paths_verb.hpp"
#include "cli/ros_map.hpp"
#include "edge/paths_run.hpp"

namespace nearfield::cli {
namespace {

/// Parses "2,10;5,3.5", or makes the table of nav2's costs.
std::vector<clearance_cost> clearance_costs_of(const arguments& args, const loaded& input, double weight) {
    const char* const name = "--clearance-costs";
    std::vector<clearance_cost> made;
    if (args.clearance_costs == "nav2") return nav2_clearance_costs(inflation_of(args, input), weight);
    if (args.clearance_costs.empty()) return made;
    for (const std::string& entry : split(args.clearance_costs, ';')) {
        const auto pair = parse_numbers(name, entry, "--clearance-costs 2,10;5,3.5");
        if (pair.size() != 2)
            throw error(error_code::invalid_argument,
                        fmt::format("{} has {}; give a clearance and a cost, e.g. {} 2,10;5,3.5", name, entry, name));
        made.push_back({pair[0], pair[1]});
    }
    return made;
}

path_options path_options_of(const arguments& args, const loaded& input) {
    path_options o;
    o.spacing = input.cell(), o.smooth = args.smooth;
    o.border = options_for(args, sites::nonzero, input).border;
    if (!args.radius.empty()) o.radius = parse_number("--radius", args.radius, "--radius 8");
    if (!args.clearance_weight.empty())
        o.clearance_weight = parse_number("--clearance-weight", args.clearance_weight, "--clearance-weight 4");
    if (!args.clearance_decay.empty())
        o.clearance_decay = parse_number("--clearance-decay", args.clearance_decay, "--clearance-decay 10");
    o.objective = args.objective == "safe"     ? path_objective::safe
                  : args.objective == "widest" ? path_objective::widest
                                               : path_objective::shortest;
    return o;
}

/// Tells what counts as an obstacle in an image that may be a map of ROS without its YAML, whose free cells are 254.
std::string hint_of(const arguments& args, const path& p) {
    if (p.reason == path_reason::not_connected || is_ros_map(args.input)) return "";
    return " (cells that are not zero are obstacles; a map of ROS is read by its map.yaml)";
}

void report(const arguments& args, const loaded& input, const path& p, const computed& done, bool stdout_carries_data) {
    const bool found = p.reason == path_reason::found;
    json_report said = start_report(args);
    said["input"] = describe(input.image), said["input"]["path"] = args.input;
    said["objective"] = args.objective, said["found"] = found, said["reason"] = p.text();
    if (found) said["length"] = p.length, said["clearance"] = p.clearance;
    said["cells"] = static_cast<std::int64_t>(p.cells.size() / input.image.shape.size());
    said["run"] = describe(done, input.image.cells());
    const std::string result =
        found ? fmt::format("{} path of length {:.6g}, clearance {:.6g}", args.objective, p.length, p.clearance)
              : "no path: " + p.text() + hint_of(args, p);
    finish(args, said,
           fmt::format("path: {} {}: {}, in {} on {} ({}){}", text_of_axes(input.image),
                       nearfield::name_of(input.image.type), result, text_of_ms(done.median_ms()), done.device,
                       done.name, args.output.empty() || args.output == "-" ? "" : " -> " + args.output),
           stdout_carries_data);
}

}  // namespace

int path_verb(const arguments& args) {
    check_csv("-o", args.output);
    const bool stdout_carries_data = check_paths_outputs(args, {args.output == "-" ? "-" : ""});
    in_words_of_options([&] {
        const loaded input = load_obstacles(args);
        path_options options = path_options_of(args, input);
        const auto costs = clearance_costs_of(args, input, options.clearance_weight);
        options.clearance_costs = costs;
        const cell_words words(args, input);
        const auto starts = words.one_cell("--start", args.start), goals = words.cells("--goal", args.goal);
        std::vector<path> paths;
        const any_input<host> obstacles = input.image.in();
        const placed_call call{
            [&](const host& on) { paths = plan_path(on, obstacles, starts, goals, options); },
            [&](int ordinal, int warmups, int repeat) {
                return edge::plan_path_on_device(ordinal, obstacles, starts, goals, options, paths, warmups, repeat);
            },
        };
        const computed done = compute(args, call);
        const path& found = paths.front();
        if (!args.output.empty()) write_text(args.output, words.csv(found.cells));
        const drawn_way way[] = {{found.cells, path_ink}};
        draw_ways(args, input, way);
        report(args, input, found, done, stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
