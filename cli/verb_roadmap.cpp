// nearfield roadmap
#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <memory>
#include <optional>

#include "cli/files.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/paths_verb.hpp"
#include "edge/paths_run.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// A row for each road, with the column names of skeleton graphs.
std::string csv_of(const roadmap& map, std::size_t axes) {
    std::string text = "node-id-src,node-id-dst,branch-distance,clearance,radius-src,radius-dst";
    for (const char* end : {"src", "dst"})
        for (std::size_t axis = 0; axis < axes; ++axis) text += fmt::format(",image-coord-{}-{}", end, axis);
    text += "\n";
    for (const road& each : map.roads()) {
        const auto from = static_cast<std::size_t>(each.from), to = static_cast<std::size_t>(each.to);
        fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}", from, to, each.length, each.clearance,
                       map.radii()[from], map.radii()[to]);
        for (const std::size_t node : {from, to})
            for (std::size_t axis = 0; axis < axes; ++axis)
                fmt::format_to(std::back_inserter(text), ",{}", map.nodes()[node * axes + axis]);
        text += "\n";
    }
    return text;
}

struct timed_path {
    path found;
    double us = 0;
};

timed_path find(const arguments& args, const roadmap& map, const std::vector<std::int64_t>& start,
                const std::vector<std::int64_t>& goal) {
    const auto began = std::chrono::steady_clock::now();
    timed_path made{map.find(start, goal, args.smooth)};
    made.us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
    return made;
}

void draw(const arguments& args, const loaded& input, const roadmap& map, const std::optional<timed_path>& way) {
    std::vector<drawn_way> ways;
    for (const road& each : map.roads()) ways.push_back({each.cells, road_ink});
    if (way) ways.push_back({way->found.cells, path_ink});
    draw_ways(args, input, ways);
}

void report(const arguments& args, const loaded& input, const roadmap& map, const std::optional<timed_path>& way,
            const computed& done, bool stdout_carries_data) {
    double length = 0;
    for (const road& each : map.roads()) length += each.length;
    json_report said = start_report(args);
    said["input"] = describe(input.image), said["input"]["path"] = args.input;
    said["nodes"] = map.radii().size(), said["roads"] = map.roads().size(), said["length"] = length;
    std::string result =
        fmt::format("{} nodes, {} roads of {:.6g} in all", map.radii().size(), map.roads().size(), length);
    if (way) {
        const path& p = way->found;
        const bool found = p.reason == path_reason::found;
        said["path"] = {{"found", found}, {"reason", p.text()}, {"us", way->us}};
        if (found) said["path"]["length"] = p.length, said["path"]["clearance"] = p.clearance;
        result += found ? fmt::format("; path of length {:.6g}, clearance {:.6g}, found in {:.0f} us", p.length,
                                      p.clearance, way->us)
                        : "; no path: " + p.text();
    }
    said["run"] = describe(done, input.image.cells());
    finish(args, said,
           fmt::format("roadmap: {} {}: {}, made in {} on {} ({}){}", text_of_axes(input.image),
                       nearfield::name_of(input.image.type), result, text_of_ms(done.median_ms()), done.device,
                       done.name, args.output.empty() || args.output == "-" ? "" : " -> " + args.output),
           stdout_carries_data);
}

}  // namespace

int roadmap_verb(const arguments& args) {
    check_csv("-o", args.output), check_csv("--path", args.path);
    if (args.start.empty() != args.goal.empty())
        refuse("--start or --goal is missing; give both for a path, or neither");
    if (!args.path.empty() && args.start.empty()) refuse("--path writes a path; give --start and --goal too");
    const bool stdout_carries_data =
        check_paths_outputs(args, {args.output == "-" ? args.output : "", args.path == "-" ? args.path : ""});
    in_words_of_options([&] {
        const loaded input = load_obstacles(args);
        const cell_words words(args, input);
        roadmap_options options{0, input.cell()};
        if (!args.radius.empty()) options.radius = parse_number("--radius", args.radius, "--radius 8");
        std::vector<std::int64_t> start, goal;
        if (!args.start.empty())
            start = words.one_cell("--start", args.start), goal = words.one_cell("--goal", args.goal);
        std::unique_ptr<const roadmap> map;
        const placed_call call{
            [&](const host& on) { map = std::make_unique<const roadmap>(on, input.image.in(), options); },
            [&](int ordinal, int warmups, int repeat) {
                return edge::roadmap_on_device(ordinal, input.image.in(), options, map, warmups, repeat);
            },
        };
        const computed done = compute(args, call);
        std::optional<timed_path> way;
        if (!start.empty()) way = find(args, *map, start, goal);
        if (!args.output.empty()) write_text(args.output, csv_of(*map, input.image.shape.size()));
        if (!args.path.empty()) write_text(args.path, words.csv(way->found.cells));
        if (!args.picture.empty()) draw(args, input, *map, way);
        report(args, input, *map, way, done, stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
