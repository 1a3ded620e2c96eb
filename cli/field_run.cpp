#include "cli/field_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "cli/method_run.hpp"
#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/picture.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// Converts bool and float16, which the library does not take as weights, to float64.
io::array in_weight_type(io::array weights) {
    if (weights.type != dtype::float16 && weights.type != dtype::boolean) return weights;
    io::array wider = make_like(weights, dtype::float64, weights.shape);
    auto* cells = reinterpret_cast<double*>(wider.data.get());
    with_elements(weights.data.get(), weights.type, [&](const auto* values) {
        for (std::int64_t i = 0, n = weights.cells(); i < n; ++i) cells[i] = static_cast<double>(values[i]);
    });
    return wider;
}

io::array load_weights(const arguments& args, const io::array& seeds) {
    const std::string& path = args.weights;
    io::array weights = read_file(path, args);
    if (weights.color || weights.shape != seeds.shape)
        refuse(fmt::format("--weights {} has shape {} and the seeds have {}; give an array with one weight a cell",
                           path, text_of(weights.shape), text_of(seeds.shape)));
    return in_weight_type(std::move(weights));
}

/// Returns the value of cells without data as an array of Values holds it. The file's text may have fewer digits.
template <class Value>
double no_data_of(const io::geo_place& place) {
    std::conditional_t<std::is_same_v<Value, float>, float, double> value = 0;
    const char* const end = place.no_data.data() + place.no_data.size();
    const auto read = std::from_chars(place.no_data.data(), end, value);
    if (read.ec == std::errc::result_out_of_range && read.ptr == end)
        return place.no_data.front() == '-' ? -INFINITY : INFINITY;
    if (place.no_data.empty() || read.ec != std::errc() || read.ptr != end)
        refuse("--where is nodata, and the input names no value of cells without data; give a mask");
    return static_cast<double>(value);
}

io::array load_part(const arguments& args, const field_run& run) {
    const char* not_with = run.weighted()            ? "--weights"
                           : !args.by_method.empty() ? "--method"
                           : args.plan               ? "--plan"
                           : args.inputs.size() > 1  ? "several inputs"
                                                     : nullptr;
    if (not_with != nullptr) refuse(fmt::format("--where does not go with {}; leave one of them out", not_with));
    const bool by_value = args.where == "nodata";
    const io::array given = read_file(by_value ? args.inputs[0] : args.where, args), &image = run.input.image;
    if (given.color || given.shape != image.shape)
        refuse(fmt::format("--where {} has shape {} and the input has {}; give an array with one value a cell",
                           args.where, text_of(given.shape), text_of(image.shape)));
    io::array part = make_like(given, dtype::uint8, given.shape);
    auto* cells = reinterpret_cast<std::uint8_t*>(part.data.get());
    with_elements(given.data.get(), given.type, [&]<class Value>(const Value* values) {
        const double mark = by_value ? no_data_of<Value>(given.place) : 0;
        for (std::int64_t i = 0, n = given.cells(); i < n; ++i) {
            const auto value = static_cast<double>(values[i]);
            cells[i] = value == mark || (std::isnan(value) && std::isnan(mark)) ? 0 : 1;
        }
    });
    return part;
}

void check_power(const field_run& run) {
    const distance_options& options = run.options;
    const char* not_with = std::isfinite(options.max_distance) ? "--max-distance"
                           : options.sites == sites::zero      ? "--sites zero"
                                                               : nullptr;
    if (not_with != nullptr) refuse(fmt::format("{} does not go with --weights; leave one of them out", not_with));
    for (std::size_t axis = 0; axis < run.input.image.shape.size(); ++axis)
        if (options.border[static_cast<int>(axis)] == border::closed)
            refuse("--border closed does not go with --weights; give open or periodic");
    for (const slot& each : run.slots)
        if (each.what == content::trusted) refuse("--trust does not go with --weights; leave one of them out");
}

std::vector<std::int64_t> with_axes(const field_run& run) {
    std::vector<std::int64_t> shape = run.input.image.shape;
    shape.insert(shape.begin(), std::ssize(shape) - run.options.batch_axes);
    return shape;
}

dtype values_type(const field_run& run, const arguments& args) {
    if (run.weighted()) return dtype::float64;
    const std::vector<std::int64_t>& shape = run.input.image.shape;
    if (args.squared && args.dtype.empty())
        return squared_distance_type(shape.data(), static_cast<int>(shape.size()), run.options);
    for (int type = 0; type <= static_cast<int>(dtype::float64); ++type)
        if (args.dtype == nearfield::name_of(static_cast<dtype>(type))) return static_cast<dtype>(type);
    return dtype::float32;
}

picture draw(const field_run& run, const arguments& args, content what) {
    constexpr int least_height = 300;  // pixels; small pictures stay pictures
    sheet on = arrange(run.input.image.shape, run.input.per_axis, page_of(args, run.input), run.input.rows_up);
    if (what == content::values && !args.numbers) on = with_legend(std::move(on), least_height);
    const bool is_signed = run.options.sign != sign::none || run.weighted();
    if (what == content::values)
        return draw_distance(on, run.values,
                             {.isolines = args.isolines,
                              .squared = args.squared || run.weighted(),
                              .is_signed = is_signed,
                              .numbers = args.numbers,
                              .unit = run.input.image.unit});
    if (what == content::trusted) return draw_trust(on, run.trusted);
    voronoi_style style;
    style.max_distance = run.options.max_distance;
    // Labels often cover much of the picture, so their sites are only slightly darker.
    if (what == content::label) style.site_ink = 0.3;
    style.weights = run.weighted() ? &run.weights : nullptr;
    for (int axis = 0; axis < static_cast<int>(run.input.image.shape.size()); ++axis)
        style.borders.push_back(run.options.border[axis]);
    const bool same_sites_for_all = run.options.sites != sites::other_labels && run.options.sign == sign::none;
    style.flat = run.options.half_cell || !same_sites_for_all || run.partly();
    // If cells of every value are sites, a group is a value, not a set of connected sites.
    const bool by_value = what == content::label || !same_sites_for_all;
    const auto groups = by_value
                            ? group_by_value(run.input.image)
                            : group_seeds(run.input.image, run.options.sites == sites::zero, run.options.batch_axes);
    return draw_voronoi(on, run.index, run.input.per_axis, groups, style);
}

/// True if a gray for each site replaces its index, which PGM cannot hold.
bool is_shaded(const arguments& args, const slot& each) {
    return each.what == content::nearest && !args.coordinates && each.path.ends_with(".pgm");
}

}  // namespace

const io::array& field_run::array_of(const arguments& args, content what) const {
    switch (what) {
        case content::values: return values;
        case content::nearest: return args.coordinates ? coordinates : index;
        case content::label: return label;
        default: return trusted;
    }
}

std::string field_run::name_of(const arguments& args, content what) const {
    switch (what) {
        case content::values: return weighted() ? "power" : args.squared ? "squared" : "distance";
        case content::nearest: return args.coordinates ? "coordinates" : "index";
        case content::label: return "label";
        default: return "trusted";
    }
}

std::pair<double, double> field_run::extremes() const {
    return with_elements(values.data.get(), values.type, [&]<class T>(const T* cells) {
        double least = std::numeric_limits<double>::infinity(), largest = -least;
        for (std::int64_t i = 0, n = values.cells(); i < n; ++i) {
            const auto value = static_cast<double>(cells[i]);
            if constexpr (std::is_integral_v<T>)
                if (cells[i] == std::numeric_limits<T>::max()) continue;
            if (std::isfinite(value)) least = std::min(least, value), largest = std::max(largest, value);
        }
        return least <= largest ? std::pair{least, largest} : std::pair{0.0, 0.0};
    });
}

field_run load_run(const arguments& args, const outputs& wanted, const std::string& path) {
    field_run run;
    run.path = path;
    run.input = args.random_sites > 0 ? random_sites(args) : load(path, args);
    run.slots = wanted.of(path);
    run.options = options_for(args, args.verb == "voronoi" ? sites::nonzero : sites::zero, run.input);
    const io::array& image = run.input.image;
    if (run.options.sites == sites::other_labels && is_floating(image.type))
        refuse(fmt::format("{} has {} values and labels are whole numbers; convert it to an integer type{}", path,
                           nearfield::name_of(image.type),
                           args.threshold.empty() ? ", or give --threshold for a mask" : ""));
    if (!args.weights.empty()) {
        run.weights = load_weights(args, image);
        check_power(run);
    }
    // A wrong slice is reported before the work.
    for (const slot& each : run.slots)
        if (each.drawn && !args.plan) {
            const sheet on = arrange(image.shape, run.input.per_axis, page_of(args, run.input), false);
            if (args.numbers && each.what == content::values) require_room_for_numbers(on);
        }
    if (!args.where.empty()) run.part = load_part(args, run);
    const auto* part = reinterpret_cast<const std::uint8_t*>(run.part.data.get());
    run.empty = image.cells() > 0 && !any_site(image, run.options.sites, part);
    return run;
}

void allocate(field_run& run, const arguments& args, const outputs& wanted, bool with_memory) {
    const io::array& image = run.input.image;
    const auto add = [&](io::array& to, any_output<host>& field, dtype type, const std::vector<std::int64_t>& shape) {
        if (with_memory) to = make_like(image, type, shape), field = to.out();
        else field = any_output<host>::contiguous(nullptr, type, shape);
    };
    const bool voronoi = args.verb == "voronoi", nothing_named = wanted.slots.empty();
    if (wanted.any(content::values) || (nothing_named && !voronoi))
        add(run.values, args.squared || run.weighted() ? run.out.squared : run.out.distance, values_type(run, args),
            image.shape);
    if (run.values.place.known() && run.values.type >= dtype::float16) run.values.place.no_data = "inf";
    const bool index_written = wanted.any(content::nearest, false) && !args.coordinates;
    if (index_written || wanted.any(content::nearest, true) || wanted.any(content::label, true) ||
        (nothing_named && voronoi))
        add(run.index, run.out.index, args.index_dtype == "int32" ? dtype::int32 : dtype::int64, image.shape);
    if (wanted.any(content::nearest, false) && args.coordinates) {
        add(run.coordinates, run.out.coordinates, dtype::int32, with_axes(run));
        run.coordinates.spacing.clear(), run.coordinates.axes.clear();
    }
    if (wanted.any(content::label, false)) add(run.label, run.out.label, image.type, image.shape);
    if (wanted.any(content::trusted)) add(run.trusted, run.out.trusted, dtype::uint8, image.shape);
    if (!with_memory) return;
    // So is a file format that cannot hold a result.
    for (const slot& each : run.slots)
        if (!each.drawn) {
            const io::array& made = run.array_of(args, each.what);
            io::require_writable(each.path, is_shaded(args, each) ? dtype::uint8 : made.type, made.shape, false,
                                 made.axes);
        }
}

work<host> work_of(const field_run& run) {
    work<host> call{.jobs = {{run.input.image.in(), run.out}},
                    .weights = run.weighted() ? run.weights.in() : any_input<host>{},
                    .options = run.options};
    if (run.partly()) call.where = run.part.in(), call.cleared = {true, true, true, true, true, true};
    return call;
}

void save(const field_run& run, const arguments& args) {
    for (const slot& each : run.slots) {
        if (each.drawn) io::write(each.path, to_array(draw(run, args, each.what)));
        else if (is_shaded(args, each)) io::write(each.path, shades_of(run.index));
        else io::write(each.path, run.array_of(args, each.what));
    }
}

}  // namespace nearfield::cli
