#include "cli/regions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/values.hpp"
#include "edge/arrays_run.hpp"
#include "io/bytes.hpp"
#include "nearfield/watershed.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// Computes distances to the background, and their watershed from peaks.
template <class Place>
void separate(const Place& on, const any_input<Place>& mask, const any_output<Place>& squared,
              const any_output<Place>& label, const distance_options& given, double height, int connectivity) {
    fields<Place> out;
    out.squared = squared;
    distance_transform(on, mask, out, given);
    watershed_options options;
    options.connectivity = connectivity, options.maxima = true;
    std::array<border, max_rank> ends{};
    for (int axis = 0; axis < mask.rank; ++axis)
        if (given.border[axis] == border::periodic) ends[static_cast<std::size_t>(axis)] = border::periodic;
    options.border = borders(ends.data(), static_cast<std::size_t>(mask.rank));
    options.h = height, options.roots = true;
    watershed(on, squared, {label, {}}, options, {}, mask);
}

}  // namespace

bool check_outputs_with_table(const arguments& args, const std::string& option) {
    if (!args.stats.empty() && args.stats != "-" && !args.stats.ends_with(".csv") && !args.stats.ends_with(".CSV"))
        refuse(fmt::format("{0} is {1}; tables are CSV files, e.g. {0} table.csv", option, args.stats));
    if (!args.stats.empty() && args.stats != "-") io::require_place(args.stats);
    arguments others = args;
    others.quiet = others.quiet && args.stats.empty();
    static_cast<void>(check_mask_outputs(others));
    return one_stdout({args.output, args.picture, args.stats});
}

double height_of(const arguments& args, const std::vector<double>& per_axis) {
    if (args.height.empty()) return per_axis.empty() ? 1 : *std::min_element(per_axis.begin(), per_axis.end());
    const double height = parse_number("--height", args.height, "--height 1.5");
    if (!(height >= 0))
        refuse(fmt::format("--height is {}; give a length of 0 or more in units of the spacing, e.g. --height 1.5",
                           args.height));
    return height;
}

computed find_regions(const arguments& args, region_run& run, int connectivity) {
    const distance_options given = options_for(args, sites::zero, run.input);
    if (given.batch_axes > 0)
        refuse(fmt::format("{} has {} images; {} takes one: convert one of them", args.input,
                           text_of_axes(run.input.image), args.verb));
    const io::array& image = run.input.image;
    run.height = height_of(args, run.input.per_axis);
    run.mask = ones_of(image);
    run.squared = make_like(
        image, squared_distance_type(image.shape.data(), static_cast<int>(image.shape.size()), given), image.shape);
    const any_input<host> mask = run.mask.in();
    const any_output<host> to[] = {run.squared.out(), run.result.out()};
    const placed_call call{
        [&](const host& on) { separate<host>(on, mask, to[0], to[1], given, run.height, connectivity); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, {&mask, 1}, to,
                [&](const device& on, auto in, auto out) {
                    separate<device>(on, in[0], out[0], out[1], given, run.height, connectivity);
                },
                warmups, repeat);
        },
    };
    return compute(args, call);
}

}  // namespace nearfield::cli
