#include "cli/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "cli/files.hpp"
#include "cli/options.hpp"
#include "cli/picture.hpp"
#include "cli/report.hpp"
#include "io/io.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

bool is_png(const std::string& path) { return path.ends_with(".png") || path.ends_with(".PNG"); }

bool is_file_name(const std::string& path) {
    try {
        static_cast<void>(io::format_of(path));
        return true;
    } catch (const error&) {
        return false;
    }
}

/// "a" of "folder/a.nii.gz"
std::string stem_of(const std::string& path) {
    std::filesystem::path name = std::filesystem::path(path).filename();
    if (name.extension() == ".gz") name = name.stem();
    return name.stem().string();
}

bool is_folder(const std::string& path) {
    std::error_code ignored;
    return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

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
    // Where labels are what is asked for, they are what is drawn.
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
            "--index-dtype is about linear indices and coordinates are int32; leave out --index-dtype or "
            "--coordinates");
    if (args.dtype.starts_with("uint") && !args.squared)
        refuse(
            fmt::format("--dtype is {} and distances are no integers; give --squared too, or one of float16, float32, "
                        "float64",
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

/// Two arrays of one input must not have one name, nor two inputs one file.
void check_folders(const arguments& args, const outputs& wanted) {
    std::map<std::string, std::string> stems;
    for (const std::string& input : args.inputs) {
        if (input == "-") refuse("'-' is stdin, which has no name to call an output by; give one INPUT or only files");
        const auto [other, fresh] = stems.try_emplace(stem_of(input), input);
        if (!fresh)
            refuse(fmt::format("{} and {} would both become {}.npy; rename one or run twice with different folders",
                               other->second, input, stem_of(input)));
    }
    for (const slot& each : wanted.slots) {
        std::error_code ignored;
        const bool there = std::filesystem::exists(each.path, ignored);
        if (each.path == "-" || (!is_folder(each.path) && (there || is_file_name(each.path))))
            refuse(fmt::format("{} is {}, which is {}; with several inputs it names a folder, e.g. {} results/",
                               each.option, each.path, each.path == "-" ? "stdout" : "a file", each.option));
    }
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
        for (slot& each : own)
            each.path = (std::filesystem::path(each.path) / (stem_of(input) + (each.drawn ? ".png" : ".npy"))).string();
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
