// nearfield distance, nearfield voronoi
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/compute.hpp"
#include "cli/load.hpp"
#include "cli/parse.hpp"
#include "cli/picture.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

/// What one run makes and where it goes.
struct field_job {
    const arguments& args;
    bool voronoi;
    std::string values_to, indices_to, picture_to;  ///< empty: not wanted
    nearfield::sites sites;
    io::array values, index, coordinates;  ///< values: distances
    bool want_values, want_index, want_coordinates;
};

field_job plan(const arguments& args) {
    const bool voronoi = args.verb == "voronoi";
    std::string output = args.output, drawn = args.picture;
    if (output.ends_with(".png") || output.ends_with(".PNG")) {
        if (!drawn.empty())
            throw error(
                error_code::invalid_argument,
                "-o and --picture both name a picture; give -o a format that holds values, e.g. -o distance.npy");
        drawn = std::exchange(output, {});
    }
    const std::string indices = voronoi ? output : args.indices;
    if (output.empty() && indices.empty() && drawn.empty() && !args.json)
        throw error(error_code::invalid_argument, voronoi ? "nothing to make: give -o or --picture"
                                                          : "nothing to make: give -o, --indices or --picture");
    if (!voronoi && args.coordinates && indices.empty())
        throw error(error_code::invalid_argument,
                    "--coordinates says how to write nearest sites; give --indices FILE too");
    const std::string which = args.sites.empty() ? (voronoi ? "nonzero" : "zero") : args.sites;
    field_job job{args,    voronoi, voronoi ? "" : output,
                  indices, drawn,   which == "zero" ? sites::zero : sites::nonzero,
                  {},      {},      {},
                  false,   false,   false};
    job.want_values = !voronoi && (!output.empty() || !drawn.empty() || (args.json && indices.empty()));
    job.want_coordinates = args.coordinates && !indices.empty();
    job.want_index = (!indices.empty() && !args.coordinates) || (voronoi && (!drawn.empty() || indices.empty()));
    for (const std::string& path : {job.values_to, job.indices_to, job.picture_to}) check_destination(path);
    if (!drawn.empty() && !drawn.ends_with(".png") && !drawn.ends_with(".PNG"))
        throw error(error_code::invalid_argument,
                    fmt::format("--picture is {}; pictures are PNG files, e.g. --picture distance.png", drawn));
    static_cast<void>(parse_isolines(args.isolines, 1));
    return job;
}

fields<host> allocate(field_job& job, const loaded& input) {
    const std::vector<std::int64_t>& shape = input.image.shape;
    const int rank = static_cast<int>(shape.size());
    fields<host> out;
    if (job.want_values) {
        const dtype type = job.args.squared              ? squared_distance_type(shape.data(), rank, input.cell())
                           : job.args.dtype == "float64" ? dtype::float64
                                                         : dtype::float32;
        job.values = make_like(input.image, type, shape);
        (job.args.squared ? out.squared : out.distance) = job.values.out();
    }
    if (job.want_index) job.index = make_like(input.image, dtype::int64, shape), out.index = job.index.out();
    if (job.want_coordinates) {
        std::vector<std::int64_t> with_axes{rank};
        with_axes.insert(with_axes.end(), shape.begin(), shape.end());
        job.coordinates = io::make_array(dtype::int32, with_axes);
        out.coordinates = job.coordinates.out();
    }
    return out;
}

/// A file format that cannot hold an answer must not be found out after the work either.
void check_formats(const field_job& job) {
    const io::array& sites_found = job.want_coordinates ? job.coordinates : job.index;
    if (!job.values_to.empty()) io::require_writable(job.values_to, job.values.type, job.values.shape);
    if (!job.indices_to.empty()) io::require_writable(job.indices_to, sites_found.type, sites_found.shape);
}

/// Without a site all cells say so, the first one too.
bool no_site(const field_job& job) {
    const io::array& any = job.want_values ? job.values : job.want_index ? job.index : job.coordinates;
    if (any.cells() == 0) return false;
    return with_elements(any.data.get(), any.type, [&]<class T>(const T* cells) {
        if constexpr (std::is_integral_v<T>)
            return job.want_values ? cells[0] == std::numeric_limits<T>::max()
                                   : std::cmp_less(static_cast<std::int64_t>(cells[0]), 0);
        else return std::isinf(static_cast<double>(cells[0]));
    });
}

double largest_of(const io::array& values) {
    return with_elements(values.data.get(), values.type, [&](const auto* cells) {
        double largest = 0;
        for (std::int64_t i = 0, n = values.cells(); i < n; ++i)
            largest = std::max(largest, static_cast<double>(cells[i]));
        return largest;
    });
}

void draw(const field_job& job, const loaded& input) {
    const sheet on = arrange(input.image.shape, input.per_axis, job.args.slice, input.rows_up);
    const picture image =
        job.voronoi ? draw_voronoi(on, job.index, input.per_axis, group_seeds(input.image, job.sites == sites::zero))
                    : draw_distance(on, job.values, {job.args.isolines, job.args.squared, input.image.unit});
    io::write(job.picture_to, to_array(image));
}

void save(const field_job& job, const loaded& input) {
    stop_if_interrupted();
    if (!job.values_to.empty()) io::write(job.values_to, job.values);
    stop_if_interrupted();
    if (!job.indices_to.empty()) io::write(job.indices_to, job.want_coordinates ? job.coordinates : job.index);
    stop_if_interrupted();
    if (!job.picture_to.empty()) draw(job, input);
}

void report(const field_job& job, const loaded& input, const computed& run, bool empty, bool stdout_carries_data) {
    const arguments& args = job.args;
    json_report said = start_report(args);
    said["input"] = describe(input.image);
    said["input"]["path"] = args.input;
    said["spacing"] = input.per_axis;
    said["sites"] = job.sites == sites::zero ? "zero" : "nonzero";
    said["any_site"] = !empty;
    said["read_ms"] = input.read_ms;
    said["run"] = describe(run, input.image.cells());
    std::vector<std::string> files;
    const auto add = [&](const char* what, const std::string& path, const char* type) {
        if (path.empty()) return;
        said["outputs"].push_back({{"what", what}, {"path", path}, {"dtype", type}});
        if (path != "-") files.push_back(path);
    };
    said["outputs"] = json_report::array();
    add(args.squared ? "squared" : "distance", job.values_to, name_of(job.values.type));
    add(job.want_coordinates ? "coordinates" : "index", job.indices_to, job.want_coordinates ? "int32" : "int64");
    add("picture", job.picture_to, "uint8");
    if (args.json && job.want_values && !empty)
        said[args.squared ? "largest_squared" : "largest_distance"] = largest_of(job.values);
    const bool from_file = args.spacing.empty() && !input.image.spacing.empty() &&
                           std::any_of(input.per_axis.begin(), input.per_axis.end(), [](double s) { return s != 1; });
    // A PNG's resolution makes distances millimetres; nobody should have to guess that.
    const std::string scale = from_file
                                  ? fmt::format(", spacing {:.4g}{}{} from the file", fmt::join(input.per_axis, "x"),
                                                input.image.unit.empty() ? "" : " ", input.image.unit)
                                  : "";
    finish(args, said,
           fmt::format("{}: {} {}{} in {:.3g} ms on {} ({}){}{}", args.verb, text_of(input.image.shape),
                       name_of(input.image.type), scale, run.median_ms(), run.device, run.name,
                       files.empty() ? "" : " -> ", fmt::join(files, ", ")),
           stdout_carries_data);
}

}  // namespace

int field_verb(const arguments& args) {
    field_job job = plan(args);
    const bool stdout_carries_data = one_stdout({job.values_to, job.indices_to, job.picture_to});
    const loaded input = load(args.input, args);
    // A slice that does not fit must not be found out after the work.
    if (!job.picture_to.empty()) static_cast<void>(arrange(input.image.shape, input.per_axis, args.slice, false));
    stop_if_interrupted();
    const fields<host> out = allocate(job, input);
    check_formats(job);
    const computed run = compute(args, input.image.in(), out, {.spacing = input.cell(), .sites = job.sites});
    if (!run.note.empty()) note(args, run.note);
    const bool empty = no_site(job);
    if (empty)
        note(args, fmt::format("no cell is {}, so there is no site: distances are infinite and indices -1; see --sites",
                               job.sites == sites::zero ? "zero" : "nonzero"));
    save(job, input);
    report(job, input, run, empty, stdout_carries_data);
    return 0;
}

}  // namespace nearfield::cli
