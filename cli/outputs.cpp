#include "cli/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/files.hpp"
#include "cli/folders.hpp"
#include "cli/options.hpp"
#include "cli/picture.hpp"
#include "cli/report.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

bool is_png(const std::string& path) { return path.ends_with(".png") || path.ends_with(".PNG"); }

std::vector<slot> slots_of(const arguments& args) {
    const bool voronoi = args.verb == "voronoi";
    std::vector<slot> slots;
    const auto add = [&](content what, bool drawn, const char* option, const std::string& path) {
        if (!path.empty()) slots.push_back({what, drawn || is_png(path), option, path});
    };
    const content main = voronoi ? content::nearest : content::values;
    if (is_png(args.output) && !args.picture.empty())
        refuse("-o and --picture both name a picture; give -o a format that holds values, e.g. -o distance.npy");
    add(main, false, "-o", args.output);
    if (!voronoi) add(content::nearest, false, "--indices", args.indices);
    add(content::label, false, "--labels", args.labels);
    add(content::values, false, "--distances", args.distances);
    add(content::values, false, "--power", args.power);
    add(content::trusted, false, "--trust", args.trust);
    // If only labels are asked for, the picture shows labels.
    const bool labels_only = voronoi && args.output.empty() && !args.labels.empty();
    add(labels_only ? content::label : main, true, "--picture", args.picture);
    return slots;
}

void check_words(const arguments& args, const outputs& wanted) {
    const bool voronoi = args.verb == "voronoi";
    if (wanted.slots.empty() && !args.json && !args.plan && !args.timings)
        refuse(voronoi ? "nothing to make: give -o, --labels or --picture"
                       : "nothing to make: give -o, --indices, --labels, --trust or --picture");
    const bool sites_written = wanted.any(content::nearest, false);
    if (args.coordinates && !sites_written)
        refuse(fmt::format("--coordinates says how to write nearest sites; give {} FILE too",
                           voronoi ? "-o" : "--indices"));
    if (!args.index_dtype.empty() && !sites_written)
        refuse(fmt::format("--index-dtype says how to write nearest sites; give {} FILE too",
                           voronoi ? "-o" : "--indices"));
    if (!args.index_dtype.empty() && args.coordinates)
        refuse(
            "--index-dtype sets the type of linear indices, and coordinates are int32; leave out --index-dtype or "
            "--coordinates");
    if (args.dtype.starts_with("uint") && !args.squared)
        refuse(fmt::format(
            "--dtype is {} and distances are not integers; give --squared too, or one of float16, float32, float64",
            args.dtype));
    if (!args.weights.empty() && !args.distances.empty())
        refuse("--distances does not go with --weights, whose measure is the power; give --power FILE instead");
    if (!args.power.empty() && args.weights.empty())
        refuse("--power needs the weights of the seeds; give --weights FILE");
    if (!args.weights.empty() && args.inputs.size() > 1)
        refuse(fmt::format("--weights has the weights of one input, and there are {}; give one INPUT",
                           args.inputs.size()));
    static_cast<void>(parse_isolines(args.isolines, 1));
    check_picture_size(args);
    if (!args.picture.empty() && !wanted.folders && !is_png(args.picture))
        refuse(fmt::format("--picture is {}; pictures are PNG files, e.g. --picture distance.png", args.picture));
}

/// Throws if two arrays of one input have the same name, or two inputs the same file.
void check_folders(const arguments& args, const outputs& wanted) {
    check_names(args);
    for (const slot& each : wanted.slots) check_folder(each.option, each.path);
    std::vector<named_file> written;
    for (const std::string& input : args.inputs)
        for (const slot& each : wanted.of(input)) written.push_back({each.option, each.path});
    refuse_lost_files(args, written);
}

}  // namespace

bool outputs::any(content what) const { return any(what, false) || any(what, true); }

bool outputs::any(content what, bool drawn) const {
    return std::any_of(slots.begin(), slots.end(),
                       [&](const slot& each) { return each.what == what && each.drawn == drawn; });
}

std::vector<slot> outputs::of(const std::string& input) const {
    std::vector<slot> own = slots;
    if (folders)
        for (slot& each : own) each.path = file_for(input, each.path, each.drawn ? ".png" : ".npy");
    return own;
}

outputs outputs_of(const arguments& args) {
    outputs wanted;
    wanted.slots = slots_of(args);
    wanted.folders = args.inputs.size() > 1 || std::any_of(wanted.slots.begin(), wanted.slots.end(),
                                                           [](const slot& each) { return is_folder(each.path); });
    check_words(args, wanted);
    if (args.plan) return wanted;
    if (wanted.folders) {
        check_folders(args, wanted);
        return wanted;
    }
    std::vector<std::string> paths;
    for (const slot& each : wanted.slots) {
        check_destination(each.path);
        paths.push_back(each.path);
    }
    wanted.stdout_carries_data = one_stdout(paths);
    return wanted;
}

void make_folders(const outputs& wanted) {
    if (!wanted.folders) return;
    for (const slot& each : wanted.slots) make_folder(each.path);
}

}  // namespace nearfield::cli
