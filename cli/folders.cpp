#include "cli/folders.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "io/io.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

bool is_file_name(const std::string& path) {
    try {
        static_cast<void>(io::format_of(path));
        return true;
    } catch (const error&) {
        return false;
    }
}

/// The name without folder and suffixes: "a" for "folder/a.nii.gz".
std::string stem_of(const std::string& path) {
    std::filesystem::path name = std::filesystem::path(path).filename();
    if (name.extension() == ".gz") name = name.stem();
    return name.stem().string();
}

}  // namespace

bool is_folder(const std::string& path) {
    std::error_code ignored;
    return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

std::string file_for(const std::string& input, const std::string& folder, const std::string& suffix) {
    return (std::filesystem::path(folder) / (stem_of(input) + suffix)).string();
}

void check_names(const arguments& args) {
    std::map<std::string, std::string> stems;
    for (const std::string& input : args.inputs) {
        if (input == "-") refuse("'-' is stdin, which has no name to call an output by; give one INPUT or only files");
        const auto [other, fresh] = stems.try_emplace(stem_of(input), input);
        if (!fresh)
            refuse(fmt::format("{} and {} would both become {}.npy; rename one or run twice with different folders",
                               other->second, input, stem_of(input)));
    }
}

void check_folder(const std::string& option, const std::string& path) {
    std::error_code ignored;
    const bool there = std::filesystem::exists(path, ignored);
    if (path == "-" ||
        (!is_folder(path) && (there || is_file_name(path) || path.ends_with(".csv") || path.ends_with(".json"))))
        refuse(fmt::format("{} is {}, which is {}; with several inputs it names a folder, e.g. {} results/", option,
                           path, path == "-" ? "stdout" : "a file", option));
}

}  // namespace nearfield::cli
