// nearfield split
#include <fmt/format.h>

#include <algorithm>

#include "cli/component_columns.hpp"
#include "cli/files.hpp"
#include "cli/mask_verb.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/values.hpp"
#include "edge/arrays_run.hpp"
#include "io/bytes.hpp"
#include "nearfield/components.hpp"
#include "nearfield/watershed.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// A run whose result has a row for each object.
struct split_run : mask_run {
    io::array mask;  ///< 1 in objects
    std::int64_t objects = 0;
    double height = 0;
};

bool check_outputs(const arguments& args) {
    if (!args.stats.empty() && args.stats != "-" && !args.stats.ends_with(".csv") && !args.stats.ends_with(".CSV"))
        refuse(fmt::format("--table is {}; tables are CSV files, e.g. --table objects.csv", args.stats));
    if (args.min_size < 1) refuse(fmt::format("--min-size is {}; give a number of cells, 1 or more", args.min_size));
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

/// Distances to the background, and their watershed upside down.
template <class Place>
void separate(const Place& on, const any_input<Place>& mask, const any_output<Place>& squared,
              const any_output<Place>& label, const distance_options& given, double height) {
    fields<Place> out;
    out.squared = squared;
    distance_transform(on, mask, out, given);
    watershed_options options;
    options.connectivity = mask.rank, options.border = given.border, options.maxima = true;
    options.h = height, options.roots = true;
    watershed(on, squared, {label, {}}, options, {}, mask);
}

computed run_all(const arguments& args, split_run& run) {
    const distance_options given = options_for(args, sites::zero, run.input);
    if (given.batch_axes > 0)
        refuse(fmt::format("{} has {} images; split takes one: convert one of them", args.input,
                           text_of_axes(run.input.image)));
    const io::array& image = run.input.image;
    run.height = height_of(args, run.input.per_axis);
    run.mask = make_like(image, dtype::uint8, image.shape);
    with_elements(image.data.get(), image.type, [&](const auto* cells) {
        std::transform(cells, cells + image.cells(), reinterpret_cast<std::uint8_t*>(run.mask.data.get()),
                       [](auto cell) { return static_cast<double>(cell) != 0 ? 1 : 0; });
    });
    io::array squared = make_like(
        image, squared_distance_type(image.shape.data(), static_cast<int>(image.shape.size()), given), image.shape);
    const any_input<host> mask = run.mask.in();
    const any_output<host> to[] = {squared.out(), run.result.out()};
    const placed_call call{
        [&](const host& on) { separate<host>(on, mask, to[0], to[1], given, run.height); },
        [&](int ordinal, int warmups, int repeat) {
            return edge::run_arrays_on_device(
                ordinal, {&mask, 1}, to,
                [&](const device& on, auto in, auto out) {
                    separate<device>(on, in[0], out[0], out[1], given, run.height);
                },
                warmups, repeat);
        },
    };
    return compute(args, call);
}

/// Drops small objects and numbers the others in raster order.
void number(const arguments& args, split_run& run) {
    auto* const cells = reinterpret_cast<std::int32_t*>(run.result.data.get());
    std::vector<std::int64_t> sizes(1);
    for (std::int64_t i = 0; i < run.result.cells(); ++i) {
        if (cells[i] >= std::ssize(sizes)) sizes.resize(static_cast<std::size_t>(cells[i]) + 1);
        ++sizes[static_cast<std::size_t>(cells[i])];
    }
    for (std::int64_t i = 0; i < run.result.cells(); ++i)
        if (sizes[static_cast<std::size_t>(cells[i])] < args.min_size) cells[i] = 0;
    io::array numbered = make_like(run.result, dtype::int32, run.result.shape);
    const std::int64_t one = 1;
    relabel(host{static_cast<int>(args.threads), {}}, run.result.in(), numbered.out(),
            any_output<host>::contiguous(&run.objects, dtype::int64, std::span(&one, 1)));
    run.result = std::move(numbered);
}

void write_table(const arguments& args, const split_run& run) {
    if (args.stats.empty()) return;
    component_columns columns;
    component_statistics(host{static_cast<int>(args.threads), {}}, run.result.in(),
                         columns.make(run.objects, static_cast<int>(run.result.shape.size()), {}));
    const measure lengths{run.input.per_axis, run.input.image.unit};
    if (args.stats == "-")
        return columns.csv(lengths, {run.objects}, [](std::string_view piece) { print(std::string(piece)); });
    io::output file(args.stats);
    columns.csv(lengths, {run.objects}, [&](std::string_view piece) { file.write(piece); });
    file.commit();
}

void report(const arguments& args, const split_run& run, const computed& done, bool stdout_carries_data) {
    json_report said = start_mask_report(args, run, done);
    said["height"] = run.height;
    said["objects"] = run.objects;
    if (!args.stats.empty()) said["outputs"].push_back({{"path", args.stats}});
    finish(args, said,
           fmt::format("split: {} {}, height {:g}: {} object{} in {} on {} ({}){}", text_of_axes(run.input.image),
                       nearfield::name_of(run.input.image.type), run.height, run.objects, run.objects == 1 ? "" : "s",
                       text_of_ms(done.median_ms()), done.device, done.name,
                       args.output.empty() || args.output == "-" ? "" : " -> " + args.output),
           stdout_carries_data);
}

}  // namespace

int split_verb(const arguments& args) {
    const bool stdout_carries_data = check_outputs(args);
    static_cast<void>(height_of(args, {})), static_cast<void>(options_of(args, sites::zero));
    in_words_of_options([&] {
        split_run run;
        run.input = load(args.input, args);
        if (run.input.image.shape.size() > 3)
            refuse(fmt::format("{} has {} axes; split takes 1 to 3", args.input, run.input.image.shape.size()));
        make_result(args, run, dtype::int32);
        const computed done = run_all(args, run);
        number(args, run);
        count_cells(run, false);
        if (!done.note.empty()) note(args, done.note);
        save_mask(args, run, false);
        write_table(args, run);
        report(args, run, done, stdout_carries_data);
    });
    return 0;
}

}  // namespace nearfield::cli
