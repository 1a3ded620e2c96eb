#include "cli/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/report.hpp"
#include "io/bytes.hpp"
#include "os/files.hpp"

namespace nearfield::cli {
namespace {

bool is_folder(const std::string& path) {
    std::error_code ignored;
    return path.ends_with('/') || std::filesystem::is_directory(path, ignored);
}

/// Returns "-o" of "-o,--output".
std::string short_name(const option& row) { return row.names.substr(0, row.names.find(',')); }

/// Returns the values of options that name files, either those to read or those to write.
std::vector<named_file> files_of(const verb& chosen, const arguments& args, bool read) {
    std::vector<named_file> files;
    for (const option& row : chosen.options) {
        if (!row.file || row.reads != read) continue;
        if (const auto* one = std::get_if<std::string arguments::*>(&row.into); one != nullptr && !(args.**one).empty())
            files.push_back({short_name(row), args.**one});
        if (const auto* many = std::get_if<std::vector<std::string> arguments::*>(&row.into); many != nullptr)
            for (const std::string& path : args.**many) files.push_back({short_name(row), path});
    }
    return files;
}

/// Returns an empty text if the input does not exist or cannot be opened; its reader reports the error later.
std::string identity_of_input(const std::string& path) {
    try {
        return io::identity_of(path, os::standard_input);
    } catch (const error&) {
        return {};
    }
}

}  // namespace

std::vector<named_file> files_read(const verb& chosen, const arguments& args) {
    std::vector<named_file> files = files_of(chosen, args, true);
    for (const named_file& each : files)
        if (each.path != "-" && is_folder(each.path))
            throw error(error_code::io, fmt::format("{} is a folder, and {} is a file to read; name the files in it",
                                                    each.path, each.option));
    return files;
}

std::vector<named_file> files_written(const verb& chosen, const arguments& args) {
    std::vector<named_file> files = files_of(chosen, args, false);
    std::erase_if(files, [](const named_file& each) { return is_folder(each.path); });
    return files;
}

void refuse_lost_files(const arguments& args, const std::vector<named_file>& written) {
    std::vector<std::string> paths;
    for (const named_file& each : written) paths.push_back(each.path);
    static_cast<void>(one_stdout(paths));
    std::map<std::string, const named_file*> taken;
    const std::vector<named_file> read = files_read(*find_verb(args.verb), args);
    for (const named_file& each : written) {
        const std::string identity = io::identity_of(each.path, os::standard_output);
        if (identity.empty()) continue;
        const auto [other, fresh] = taken.try_emplace(identity, &each);
        if (!fresh)
            throw error(error_code::invalid_argument,
                        fmt::format("{} {} and {} {} are one file; give each a file of its own", other->second->option,
                                    other->second->path, each.option, each.path));
        for (const named_file& input : read)
            if (!args.overwrite && identity_of_input(input.path) == identity)
                throw error(
                    error_code::invalid_argument,
                    fmt::format("{} {} would replace {} {}; give another file, or --overwrite to lose the input",
                                each.option, each.path, input.option, input.path));
    }
}

void refuse_lost_data(const arguments& args, const std::string& path, const std::string& identity) {
    if (identity.empty() || args.overwrite || args.plan || args.inputs.size() > 1) return;
    for (const named_file& each : files_written(*find_verb(args.verb), args))
        if (io::identity_of(each.path, os::standard_output) == identity)
            throw error(error_code::invalid_argument,
                        fmt::format("{} {} would replace the data file of {}; give another file, or --overwrite to "
                                    "lose it",
                                    each.option, each.path, path));
}

bool writes_to_stdout(const verb& chosen, const std::vector<std::string>& words) {
    for (std::size_t i = 1; i < words.size(); ++i)
        for (const option& row : chosen.options) {
            if (!row.file || row.reads) continue;
            const std::string shorter = short_name(row), longer = row.long_name();
            const bool named = words[i - 1] == shorter || words[i - 1] == longer;
            for (const std::string stream : {"-", "/dev/stdout"})
                if ((words[i] == stream && named) || words[i] == longer + "=" + stream) return true;
        }
    return false;
}

void make_folder(const std::string& path) {
    std::error_code failed;
    std::filesystem::create_directories(path, failed);
    if (failed) throw error(error_code::io, fmt::format("cannot make folder {}: {}", path, failed.message()));
}

void write_text(const std::string& path, const std::string& text) {
    if (path == "-") return print(text);
    io::output to(path);
    to.write(text);
    to.commit();
}

}  // namespace nearfield::cli
