// nearfield path
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/files.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/paths_verb.hpp"
#include "cli/picture.hpp"
#include "cli/ros_map.hpp"
#include "cli/values.hpp"
#include "edge/paths_run.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::cli {
namespace {

path_options path_options_of(const arguments& args, const loaded& input) {
    path_options o;
    o.spacing = input.cell(), o.smooth = args.smooth;
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

std::string csv_of(const path& p, std::size_t axes) {
    std::string text;
    for (std::size_t axis = 0; axis < axes; ++axis) text += fmt::format("{}axis_{}", axis > 0 ? "," : "", axis);
    text += "\n";
    for (std::size_t i = 0; i < p.cells.size(); i += axes)
        text += fmt::format("{}\n", fmt::join(p.cells.begin() + static_cast<std::ptrdiff_t>(i),
                                              p.cells.begin() + static_cast<std::ptrdiff_t>(i + axes), ","));
    return text;
}

/// The distance to obstacles, and the path on it, in two axes.
void draw(const arguments& args, const loaded& input, const path& p) {
    io::array distance = make_like(input.image, dtype::float32, input.image.shape);
    fields<host> out;
    out.distance = distance.out();
    distance_options d;
    d.spacing = input.cell(), d.sites = sites::nonzero;
    distance_transform(host{static_cast<int>(args.threads), {}}, input.image.in(), out, d);
    const sheet on = arrange(distance.shape, input.per_axis, page_of(args, input), input.rows_up);
    picture drawn = draw_distance(on, distance, {.isolines = args.isolines, .unit = input.image.unit});
    const panel& whole = on.panels.front();
    const auto place = [&](std::size_t i, int k) {
        const double cells = static_cast<double>(k == 0 ? whole.shows.rows : whole.shows.columns);
        const double share = (static_cast<double>(p.cells[i + static_cast<std::size_t>(k)]) + 0.5) / cells;
        const double along = k == 0 && whole.rows_up ? 1 - share : share;
        return (k == 0 ? whole.top : whole.left) + along * (k == 0 ? whole.height : whole.width);
    };
    constexpr rgb ink{200, 30, 60};
    const double half = std::max(1.0, 0.0025 * std::max(on.width, on.height));
    for (std::size_t i = 2; i < p.cells.size() && distance.shape.size() == 2; i += 2) {
        const double y = place(i - 2, 0), x = place(i - 2, 1), dy = place(i, 0) - y, dx = place(i, 1) - x;
        const int steps = 1 + static_cast<int>(2 * std::max(std::abs(dy), std::abs(dx)));
        for (int s = 0; s <= steps; ++s)
            for (int b = static_cast<int>(y + dy * s / steps - half); b < y + dy * s / steps + half; ++b)
                for (int a = static_cast<int>(x + dx * s / steps - half); a < x + dx * s / steps + half; ++a)
                    if (a >= 0 && b >= 0 && a < drawn.width && b < drawn.height) drawn.at(a, b) = ink;
    }
    io::write(args.picture, to_array(drawn));
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
              : "no path: " + p.text();
    finish(args, said,
           fmt::format("path: {} {}: {}, in {} on {} ({}){}", text_of_axes(input.image),
                       nearfield::name_of(input.image.type), result, text_of_ms(done.median_ms()), done.device,
                       done.name, args.output.empty() || args.output == "-" ? "" : " -> " + args.output),
           stdout_carries_data);
}

}  // namespace

int path_verb(const arguments& args) {
    if (!args.output.empty() && args.output != "-" && !args.output.ends_with(".csv"))
        throw error(error_code::invalid_argument,
                    fmt::format("-o is {}; a path is a CSV file, e.g. -o path.csv", args.output));
    if (!args.output.empty() && args.output != "-") io::require_place(args.output);
    const bool stdout_carries_data = check_paths_outputs(args, {args.output == "-" ? "-" : ""});
    in_words_of_options([&] {
        loaded input = load_occupancy(args.input, args);
        if (args.unknown == "free" && input.image.type == dtype::int8) {
            auto* const cells = reinterpret_cast<std::int8_t*>(input.image.data.get());
            std::replace_if(cells, cells + input.image.cells(), [](std::int8_t c) { return c < 0; }, std::int8_t{0});
        }
        const path_options options = path_options_of(args, input);
        const auto starts = parse_cells("--start", args.start, input.image.shape);
        const auto goals = parse_cells("--goal", args.goal, input.image.shape);
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
        if (!args.output.empty()) write_text(args.output, csv_of(found, input.image.shape.size()));
        if (!args.picture.empty()) draw(args, input, found);
        report(args, input, found, done, stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
