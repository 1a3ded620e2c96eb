// nearfield geodesic
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/paths_verb.hpp"
#include "cli/values.hpp"
#include "edge/paths_run.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

struct geodesic_run {
    loaded input;
    io::array mask, seeds, cost, result, labels;
    std::vector<priced_step> steps;
    geodesic_options options;
    std::int64_t reached = 0;
};

/// Sets the steps from prices, as "3,4", or from a word.
void set_steps(const arguments& args, geodesic_run& run) {
    const auto axes = static_cast<int>(run.input.image.shape.size());
    const std::string& word = args.step_weights;
    if (word == "cityblock" || word == "chessboard") {
        const std::vector<std::int32_t> ones(word == "cityblock" ? 1 : static_cast<std::size_t>(axes), 1);
        run.steps = chamfer_steps(axes, ones);
    } else if (word == "5-7-11") {
        if (axes != 2) refuse("--weights 5-7-11 is for images of 2 axes; give --weights 3,4,5");
        run.steps = knight_steps();
    } else if (word.starts_with("quasi-euclidean")) {
        const double per_unit = 4096 / *std::min_element(run.input.per_axis.begin(), run.input.per_axis.end());
        const int reach = word.ends_with("-2") ? 2 : word.ends_with("-3") ? 3 : 1;
        run.steps = euclidean_steps(axes, reach, run.input.cell(), per_unit);
        run.options.unit = 1 / per_unit;
    } else {
        std::vector<std::int32_t> prices;
        for (const std::string& each : split(word, ','))
            prices.push_back(static_cast<std::int32_t>(
                std::clamp<std::int64_t>(parse_integer("--weights", each, "--weights 3,4"), -1, 1 << 30)));
        run.steps = chamfer_steps(axes, prices);
    }
    run.options.steps = run.steps;
}

void set_seeds(const arguments& args, geodesic_run& run) {
    if (args.seeds.empty() == args.start.empty())
        refuse("the seeds are missing or given twice; give either --seeds FILE or --start CELLS");
    if (!args.seeds.empty()) {
        run.seeds = other_input(args.seeds, args, run.input.image, "--seeds");
        if (is_floating(run.seeds.type)) run.seeds = ones_of(run.seeds);
        return;
    }
    const auto& shape = run.input.image.shape;
    const std::vector<std::int64_t> cells = parse_cells("--start", args.start, shape);
    run.seeds = make_like(run.input.image, dtype::int32, shape);
    auto* const labels = reinterpret_cast<std::int32_t*>(run.seeds.data.get());
    std::fill_n(labels, run.seeds.cells(), 0);
    for (std::size_t i = 0; i < cells.size(); i += shape.size()) {
        std::int64_t cell = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) cell = cell * shape[axis] + cells[i + axis];
        labels[cell] = static_cast<std::int32_t>(i / shape.size() + 1);
    }
}

computed solve(const arguments& args, geodesic_run& run) {
    const io::array& image = run.input.image;
    run.mask = ones_of(image);
    if (!args.cost.empty()) run.cost = other_input(args.cost, args, image, "--cost");
    set_seeds(args, run), set_steps(args, run);
    const distance_options grid = options_for(args, sites::zero, run.input);
    run.options.border = grid.border, run.options.cut_corners = !args.no_corners;
    if (!args.max_cost.empty())
        run.options.max_cost = parse_number("--max-cost", args.max_cost, "--max-cost 100") / run.options.unit;
    run.result = make_like(image, dtype::float32, image.shape);
    geodesic_fields<host> out;
    out.cost = run.result.out();
    if (!args.labels.empty()) run.labels = make_like(image, run.seeds.type, image.shape), out.label = run.labels.out();
    const any_input<host> mask = run.mask.in(), seeds = run.seeds.in();
    const any_input<host> cost = args.cost.empty() ? any_input<host>{} : run.cost.in();
    const placed_call call{
        [&](const host& on) { geodesic(on, mask, seeds, out, run.options, cost); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::geodesic_on_device(ordinal, mask, seeds, out, run.options, cost, warmups, repeat);
        },
    };
    const computed done = compute(args, call);
    const auto* const cells = reinterpret_cast<const float*>(run.result.data.get());
    run.reached = std::count_if(cells, cells + run.result.cells(), [](float c) { return std::isfinite(c); });
    return done;
}

}  // namespace

int geodesic_verb(const arguments& args) {
    const bool stdout_carries_data = check_paths_outputs(args, {args.output, args.labels});
    in_words_of_options([&] {
        geodesic_run run;
        run.input = load(args.input, args);
        const computed done = solve(args, run);
        save_field(args, run.input, args.output, run.result);
        save_field(args, run.input, args.picture, run.result);
        if (!args.labels.empty()) io::write(args.labels, run.labels);
        json_report said = start_report(args);
        said["input"] = describe(run.input.image), said["input"]["path"] = args.input;
        said["weights"] = args.step_weights, said["reached"] = run.reached;
        said["run"] = describe(done, run.result.cells());
        finish(args, said,
               fmt::format("geodesic: {} {}, weights {}: {} cells reached in {} on {} ({}){}",
                           text_of_axes(run.input.image), nearfield::name_of(run.input.image.type), args.step_weights,
                           run.reached, text_of_ms(done.median_ms()), done.device, done.name,
                           args.output.empty() || args.output == "-" ? "" : " -> " + args.output),
               stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
