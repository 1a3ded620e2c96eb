// nearfield thickness, porosimetry
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "cli/compute.hpp"
#include "cli/files.hpp"
#include "cli/inlets.hpp"
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

bool is_porosimetry(const arguments& args) { return args.verb == "porosimetry"; }
bool is_png(const std::string& path) { return path.ends_with(".png") || path.ends_with(".PNG"); }

/// Paths of the outputs; an empty path means that the output is not wanted.
struct destinations {
    std::string values, picture, table;
    bool stdout_carries_data = false;
};

destinations destinations_of(const arguments& args) {
    if (is_png(args.output) && !args.picture.empty())
        refuse("-o and --picture both name a picture; give -o a format that holds numbers, e.g. -o thickness.npy");
    destinations to{is_png(args.output) ? "" : args.output, is_png(args.output) ? args.output : args.picture,
                    args.stats};
    if (to.values.empty() && to.picture.empty() && to.table.empty() && args.quiet && !args.json)
        refuse("nothing to make: give -o, --picture or --table, or leave out --quiet to be told the mean");
    if (!to.picture.empty() && !is_png(to.picture))
        refuse(fmt::format("--picture is {}; pictures are PNG files, e.g. --picture thickness.png", to.picture));
    check_destination(to.values), check_destination(to.picture);
    if (!to.table.empty() && to.table != "-") io::require_place(to.table);
    to.stdout_carries_data = one_stdout({to.values, to.picture, to.table});
    return to;
}

/// One input, and the results that the library fills.
struct thickness_run {
    loaded input;
    std::vector<double> sizes;
    std::vector<border> beyond;
    thickness_options options;
    io::array values;
    io::array squares;                        ///< for a table if values are not squares, because diameters are rounded
    std::map<double, std::int64_t> cells_of;  ///< number of cells by value, without background and endless cells
    double mean = 0, deviation = 0, largest = 0;
    std::int64_t cells = 0, endless = 0;

    [[nodiscard]] double cell_volume() const {
        double product = 1;
        for (std::size_t axis = static_cast<std::size_t>(options.batch_axes); axis < input.per_axis.size(); ++axis)
            product *= input.per_axis[axis];
        return product;
    }
};

dtype squared_type(const thickness_run& run) {
    distance_options like;
    like.spacing = run.options.spacing, like.border = run.options.border, like.batch_axes = run.options.batch_axes;
    const std::vector<std::int64_t>& shape = run.input.image.shape;
    return squared_distance_type(shape.data(), static_cast<int>(shape.size()), like);
}

dtype values_type(const arguments& args, const thickness_run& run) {
    for (int type = 0; type <= static_cast<int>(dtype::float64); ++type) {
        if (args.dtype != nearfield::name_of(static_cast<dtype>(type))) continue;
        if (args.squared ? args.dtype == "float32" : args.dtype[0] == 'u')
            refuse(fmt::format("--dtype is {}; give {}", args.dtype,
                               args.squared ? "uint32, uint64 or float64 with --squared"
                                            : "float32 or float64, or --squared for integers"));
        return static_cast<dtype>(type);
    }
    return args.squared ? squared_type(run) : dtype::float32;
}

void load_run(const arguments& args, const destinations& to, thickness_run& run) {
    run.input = load_mask(args);
    const distance_options words = options_for(args, sites::zero, run.input);
    if (!args.sizes.empty()) run.sizes = parse_numbers("--sizes", args.sizes, "--sizes 2,4,8");
    const auto axes = run.input.image.shape.size();
    for (std::size_t axis = 0; axis < axes; ++axis) run.beyond.push_back(words.border[static_cast<int>(axis)]);
    run.options.spacing = run.input.cell(), run.options.border = borders(run.beyond.data(), run.beyond.size());
    run.options.batch_axes = words.batch_axes, run.options.multilabel = args.multilabel;
    run.options.sizes = run.sizes;
    if (is_porosimetry(args) && words.batch_axes > 0)
        refuse(fmt::format("{} has {} images; porosimetry takes one: convert one of them", args.input,
                           text_of_axes(run.input.image)));
    const dtype type = values_type(args, run);
    const std::vector<std::int64_t>& shape = run.input.image.shape;
    if (!to.values.empty()) io::require_writable(to.values, type, shape, false, run.input.image.axes);
    if (!to.picture.empty()) static_cast<void>(arrange(shape, run.input.per_axis, page_of(args, run.input), false));
    run.values = make_like(run.input.image, type, shape);
    if (!to.table.empty() && !args.squared) run.squares = make_like(run.input.image, squared_type(run), shape);
}

/// The diameter that a squared radius stands for.
double diameter_of(const thickness_run& run, double squared) {
    const double diameter = 2 * std::sqrt(squared);
    if (run.sizes.empty()) return diameter;
    return *(std::upper_bound(run.sizes.begin(), run.sizes.end(), diameter) - 1);
}

computed compute_run(const arguments& args, thickness_run& run) {
    thickness_fields<host> out;
    (args.squared ? out.squared : out.thickness) = run.values.out();
    if (!run.squares.shape.empty()) out.squared = run.squares.out();
    const any_input<host> image = run.input.image.in();
    if (is_porosimetry(args)) {
        const io::array inlets = inlets_of(args, run.input.image);
        const porosimetry_options given{run.options.spacing, run.options.border, run.options.sizes};
        return compute(args, {
                                 [&](const host& on) { porosimetry(on, image, inlets.in(), out, given); },
                                 [&](int ordinal, int, int) {
                                     return edge::porosimetry_on_device(ordinal, image, inlets.in(), out, given);
                                 },
                             });
    }
    const placed_call call{
        [&](const host& on) { local_thickness(on, image, out, run.options); },
        [&](int ordinal, int, int) { return edge::thickness_on_device(ordinal, image, out, run.options); },
    };
    return compute(args, call);
}

/// Counts the cells of each value; `endless` becomes the number of cells without a largest ball.
std::map<double, std::int64_t> counted(const io::array& values, std::int64_t& endless) {
    std::map<double, std::int64_t> cells_of;
    with_elements(values.data.get(), values.type, [&]<class T>(const T* cells) {
        for (std::int64_t i = 0, n = values.cells(); i < n; ++i) {
            const auto value = static_cast<double>(cells[i]);
            if (value == 0) continue;
            const bool none = std::is_integral_v<T> ? cells[i] == std::numeric_limits<T>::max() : !std::isfinite(value);
            if (none) ++endless;
            else ++cells_of[value];
        }
    });
    return cells_of;
}

/// Computes mean and deviation from the counts, so that they do not depend on order.
void measure(thickness_run& run) {
    run.cells_of = counted(run.values, run.endless);
    double sum = 0, squares = 0;
    for (const auto& [value, count] : run.cells_of)
        run.cells += count, sum += value * static_cast<double>(count), run.largest = value;
    if (run.cells == 0) return;
    run.mean = sum / static_cast<double>(run.cells);
    for (const auto& [value, count] : run.cells_of)
        squares += (value - run.mean) * (value - run.mean) * static_cast<double>(count);
    run.deviation = std::sqrt(squares / static_cast<double>(run.cells));
}

std::string table_of(const arguments& args, const thickness_run& run) {
    std::string text = "squared,diameter,cells,volume\n";
    std::int64_t endless = 0;
    for (const auto& [squared, count] : args.squared ? run.cells_of : counted(run.squares, endless)) {
        text += fmt::format("{},{},{},{}\n", squared, diameter_of(run, squared), count,
                            static_cast<double>(count) * run.cell_volume());
    }
    return text;
}

/// Makes pores that no ball reaches infinite, so that pictures show them in a colour of their own.
void part_unreached(thickness_run& run) {
    with_elements(run.input.image.data.get(), run.input.image.type, [&](const auto* mask) {
        const auto part = [&]<class T>(T* cells) {
            for (std::int64_t i = 0, n = run.values.cells(); i < n; ++i)
                if (mask[i] != 0 && cells[i] == 0) cells[i] = std::numeric_limits<T>::infinity();
        };
        if (run.values.type == dtype::float64) part(reinterpret_cast<double*>(run.values.data.get()));
        else part(reinterpret_cast<float*>(run.values.data.get()));
    });
}

void save(const arguments& args, const destinations& to, thickness_run& run) {
    if (!to.values.empty()) io::write(to.values, run.values);
    if (!to.picture.empty()) {
        if (is_porosimetry(args)) part_unreached(run);
        const sheet on = arrange(run.values.shape, run.input.per_axis, page_of(args, run.input), run.input.rows_up);
        io::write(to.picture,
                  to_array(draw_distance(
                      with_legend(on), run.values,
                      {.squared = args.squared, .flat = true, .solid = true, .unit = run.input.image.unit})));
    }
    if (!to.table.empty()) write_text(to.table, table_of(args, run));
}

std::string summary(const thickness_run& run) {
    if (run.cells == 0 && run.endless > 0) return "infinite everywhere";
    const std::string& unit = run.input.image.unit;
    return fmt::format("mean {:.6g}, standard deviation {:.6g}, largest {:.6g}{}{}", run.mean, run.deviation,
                       run.largest, unit.empty() ? "" : " ", unit);
}

void report(const arguments& args, const destinations& to, const thickness_run& run, const computed& done) {
    json_report said = start_report(args);
    said["input"] = describe(run.input.image);
    said["input"]["path"] = args.input;
    said["spacing"] = run.input.per_axis;
    if (!args.border.empty()) said["border"] = split(args.border, ',');
    if (run.options.batch_axes > 0) said["batch_axes"] = run.options.batch_axes;
    if (!run.sizes.empty()) said["sizes"] = run.sizes;
    if (is_porosimetry(args)) said["inlets"] = split(args.inlets, ',');
    said["what"] = args.squared ? "squared" : "thickness";
    said["cells"] = run.cells, said["mean"] = run.mean, said["standard_deviation"] = run.deviation;
    said["largest"] = run.largest, said["values"] = run.cells_of.size();
    said["read_ms"] = run.input.read_ms;
    said["outputs"] = json_report::array();
    std::vector<std::string> files;
    for (const auto& [what, path] :
         {std::pair{"values", to.values}, std::pair{"picture", to.picture}, std::pair{"table", to.table}}) {
        if (path.empty()) continue;
        said["outputs"].push_back({{"what", what}, {"path", path}});
        if (path != "-") files.push_back(path);
    }
    said["run"] = describe(done, run.values.cells());
    finish(args, said,
           fmt::format("{}: {} {}: {} in {} on {} ({}){}{}", args.verb, text_of_axes(run.input.image),
                       nearfield::name_of(run.input.image.type), summary(run), text_of_ms(done.median_ms()),
                       done.device, done.name, files.empty() ? "" : " -> ", fmt::join(files, ", ")),
           to.stdout_carries_data);
}

/// Rewrites an error of the library, which names its arguments, in terms of options.
std::string in_words_of_options(std::string message) {
    constexpr std::pair<std::string_view, std::string_view> words[] = {{"out.thickness has element type", "--dtype is"},
                                                                       {"out.squared has element type", "--dtype is"},
                                                                       {"give an array of ", "give --dtype "},
                                                                       {"use host{}", "give --device cpu"},
                                                                       {"sizes[", "--sizes: entry ["},
                                                                       {"set batch_axes to", "give --batch-axes"},
                                                                       {"; multilabel takes", "; --multilabel takes"}};
    for (const auto& [theirs, ours] : words)
        if (const std::size_t at = message.find(theirs); at != std::string::npos)
            message.replace(at, theirs.size(), ours);
    return message;
}

}  // namespace

int thickness_verb(const arguments& args) {
    const destinations to = destinations_of(args);
    static_cast<void>(options_of(args, sites::zero));  // wrong words are reported before a large file is read
    check_picture_size(args);
    try {
        thickness_run run;
        load_run(args, to, run);
        const computed done = compute_run(args, run);
        measure(run);
        if (!done.note.empty()) note(args, done.note);
        if (run.endless > 0)
            note(args, "an image without any zero cell has no largest ball: its thickness is infinite");
        save(args, to, run);
        report(args, to, run, done);
    } catch (const error& problem) {
        throw error(problem.code(), in_words_of_options(problem.what()));
    }
    return 0;
}

}  // namespace nearfield::cli
