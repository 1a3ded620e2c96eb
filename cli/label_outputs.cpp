#include "cli/label_outputs.hpp"

#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/folders.hpp"
#include "cli/report.hpp"
#include "io/io.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

bool has_suffix(const std::string& path, const std::string& lower, const std::string& upper) {
    return path.ends_with(lower) || path.ends_with(upper);
}
bool is_png(const std::string& path) { return has_suffix(path, ".png", ".PNG"); }
bool is_json(const std::string& path) { return has_suffix(path, ".json", ".JSON"); }

}  // namespace

bool destinations::stats_as_json() const { return is_json(stats); }

destinations destinations_of(const arguments& args) {
    if (is_png(args.output) && !args.picture.empty())
        refuse("-o and --picture both name a picture; give -o a format that holds labels, e.g. -o labels.npy");
    destinations to{is_png(args.output) ? "" : args.output, is_png(args.output) ? args.output : args.picture,
                    args.stats};
    if (to.labels.empty() && to.picture.empty() && to.stats.empty() && args.quiet && !args.json)
        refuse("nothing to make: give -o, --picture or --stats, or leave out --quiet to be told how many there are");
    if (!to.picture.empty() && !is_png(to.picture))
        refuse(fmt::format("--picture is {}; pictures are PNG files, e.g. --picture labels.png", to.picture));
    if (!to.stats.empty() && to.stats != "-" && !is_json(to.stats) && !has_suffix(to.stats, ".csv", ".CSV"))
        refuse(fmt::format("--stats is {}; tables are CSV or JSON files, e.g. --stats components.csv", to.stats));
    if ((!args.over.empty() || args.numbers) && to.picture.empty())
        refuse(fmt::format("{} is for pictures; give --picture FILE.png too", args.numbers ? "--numbers" : "--over"));
    if (!args.intensity.empty() && to.stats.empty())
        refuse("--intensity is measured by --stats; give --stats FILE too");
    if (args.shapes && to.stats.empty()) refuse("--shapes adds columns to --stats; give --stats FILE too");
    if (!args.dtype.empty() && to.labels.empty()) refuse("--dtype says how to write the labels; give -o FILE too");
    to.stdout_carries_data = one_stdout({to.labels, to.picture, to.stats});
    return to;
}

void check_places(const destinations& to) {
    check_destination(to.labels), check_destination(to.picture);
    if (!to.stats.empty() && to.stats != "-") io::require_place(to.stats);
}

std::vector<arguments> words_for_each(const arguments& args) {
    std::vector<arguments> all;
    std::vector<named_file> written;
    for (const std::string& input : args.inputs) {
        arguments one = args;
        one.inputs = {input}, one.input = input;
        const auto place = [&](const char* option, std::string& path, const char* suffix) {
            if (path.empty() || args.inputs.size() == 1) return;
            check_folder(option, path);
            path = file_for(input, path, suffix);
            written.push_back({option, path});
        };
        place("-o", one.output, ".npy"), place("--picture", one.picture, ".png"), place("--stats", one.stats, ".csv");
        all.push_back(std::move(one));
    }
    if (args.inputs.size() == 1) return all;
    check_names(args);
    if (!args.intensity.empty())
        refuse(fmt::format("--intensity has the values of one input, and there are {}; give one INPUT",
                           args.inputs.size()));
    refuse_lost_files(args, written);
    return all;
}

}  // namespace nearfield::cli
