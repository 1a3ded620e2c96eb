// nearfield esdf
#include <fmt/format.h>

#include <algorithm>

#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/paths_verb.hpp"
#include "cli/ros_map.hpp"
#include "edge/paths_run.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

struct esdf_run {
    loaded input;
    io::array distance, site, gradient, costs;
    inflation_options inflation;
};

void set_inflation(const arguments& args, esdf_run& run) {
    if (args.costmap.empty()) return;
    if (run.input.image.shape.size() != 2) refuse("--costmap takes images of 2 axes; leave it out");
    run.inflation = inflation_of(args, run.input);
}

/// Converts occupancies to the bytes of a costmap; those of a map are costs.
io::array costmap_of(const io::array& image, bool map) {
    io::array made = make_like(image, dtype::uint8, image.shape);
    auto* const to = reinterpret_cast<std::uint8_t*>(made.data.get());
    if (image.type == dtype::int8) {
        const auto* const from = reinterpret_cast<const std::int8_t*>(image.data.get());
        std::transform(from, from + image.cells(), to, [](std::int8_t v) {
            return v > 0 ? costmap_lethal : v < 0 ? costmap_unknown : costmap_free;
        });
        return made;
    }
    const auto* const from = reinterpret_cast<const std::uint8_t*>(image.data.get());
    std::transform(from, from + image.cells(), to, [map](std::uint8_t v) {
        return map ? v : v != 0 ? costmap_lethal : costmap_free;
    });
    return made;
}

computed solve(const arguments& args, esdf_run& run) {
    const io::array& image = run.input.image;
    if (!args.costmap.empty() && image.type != dtype::int8 && image.type != dtype::uint8)
        refuse(fmt::format("{} has {} values and --costmap takes a map or a mask; give --threshold", args.input,
                           nearfield::name_of(image.type)));
    if (!args.costmap.empty()) run.costs = costmap_of(image, is_ros_map(args.input));
    std::vector<std::int64_t> more{static_cast<std::int64_t>(image.shape.size())};
    more.insert(more.end(), image.shape.begin(), image.shape.end());
    esdf_fields<host> out;
    run.distance = make_like(image, dtype::float32, image.shape), out.distance = run.distance.out();
    if (!args.indices.empty()) run.site = io::make_array(dtype::int32, more), out.site = run.site.out();
    if (!args.gradient.empty()) run.gradient = io::make_array(dtype::float32, more), out.gradient = run.gradient.out();
    const distance_options grid = options_for(args, sites::nonzero, run.input);
    const esdf_options options{grid.spacing, grid.max_distance, args.is_signed};
    io::array inflated = args.costmap.empty() ? io::array{} : make_like(image, dtype::uint8, image.shape);
    const placed_call call{
        [&](const host& on) {
            esdf(on, image.in(), out, options);
            if (!args.costmap.empty()) inflate_costmap(on, run.costs.in(), inflated.out(), run.inflation);
        },
        [&](int ordinal, int warmups, int repeat) {
            if (!args.costmap.empty())
                edge::inflate_costmap_on_device(ordinal, run.costs.in(), inflated.out(), run.inflation);
            return edge::esdf_on_device(ordinal, image.in(), out, options, warmups, repeat);
        },
    };
    const computed done = compute(args, call);
    run.costs = std::move(inflated);
    return done;
}

}  // namespace

int esdf_verb(const arguments& args) {
    const bool map = is_ros_map(args.costmap);
    if (map) io::require_place(args.costmap);
    const bool stdout_carries_data =
        check_paths_outputs(args, {args.output, args.indices, args.gradient, map ? "" : args.costmap});
    in_words_of_options([&] {
        esdf_run run;
        run.input = load_obstacles(args);
        set_inflation(args, run);
        const computed done = solve(args, run);
        save_field(args, run.input, args.output, run.distance, args.is_signed);
        save_field(args, run.input, args.picture, run.distance, args.is_signed);
        if (!args.indices.empty()) io::write(args.indices, run.site);
        if (!args.gradient.empty()) io::write(args.gradient, run.gradient);
        if (map) write_ros_map(args.costmap, run.costs, run.inflation.resolution, args.input);
        else if (!args.costmap.empty()) io::write(args.costmap, run.costs);
        json_report said = start_report(args);
        said["input"] = describe(run.input.image), said["input"]["path"] = args.input;
        said["spacing"] = run.input.per_axis;
        said["run"] = describe(done, run.distance.cells());
        finish(args, said,
               fmt::format("esdf: {} {} in {} on {} ({}){}", text_of_axes(run.input.image),
                           nearfield::name_of(run.input.image.type), text_of_ms(done.median_ms()), done.device,
                           done.name, args.output.empty() || args.output == "-" ? "" : " -> " + args.output),
               stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
