#include "cli/ros_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "cli/file_facts.hpp"
#include "cli/files.hpp"
#include "cli/parse.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
    throw error(error_code::io, fmt::format("{}: {}", path, what));
}

std::string trimmed(const std::string& text) {
    constexpr const char* blank = " \t\r\"'";
    const auto first = text.find_first_not_of(blank);
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Parses the pairs of a flat YAML file.
std::map<std::string, std::string> pairs_of(const std::string& path) {
    constexpr std::streamsize most = 1 << 16;
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)));
    std::string text(static_cast<std::size_t>(most), '\0');
    file.read(text.data(), most);
    text.resize(static_cast<std::size_t>(file.gcount()));
    std::map<std::string, std::string> found;
    for (const std::string& line : split(text, '\n')) {
        const std::string used = line.substr(0, line.find('#'));
        if (const auto colon = used.find(':'); colon != std::string::npos)
            found[trimmed(used.substr(0, colon))] = trimmed(used.substr(colon + 1));
    }
    return found;
}

double number_of(const std::string& path, const std::map<std::string, std::string>& map, const char* key,
                 double usual) {
    const auto found = map.find(key);
    if (found == map.end()) return usual;
    return parse_number(fmt::format("{} of {}", key, path), found->second, fmt::format("{}: {}", key, usual));
}

std::string origin_of(const std::map<std::string, std::string>& map) {
    const auto found = map.find("origin");
    return found == map.end() || found->second.empty() ? "[0, 0, 0]" : found->second;
}

/// Converts grays as map_server does: p = (255 - gray) / 255, or gray / 255 if `negate`.
io::array occupancy_of(const io::array& gray, bool negate, double occupied, double free) {
    io::array grid = make_like(gray, dtype::int8, gray.shape);
    const auto* const from = reinterpret_cast<const std::uint8_t*>(gray.data.get());
    std::transform(from, from + gray.cells(), reinterpret_cast<std::int8_t*>(grid.data.get()), [&](std::uint8_t v) {
        const double p = (negate ? v : 255 - v) / 255.0;
        return static_cast<std::int8_t>(p > occupied ? 100 : p < free ? 0 : -1);
    });
    return grid;
}

}  // namespace

bool is_ros_map(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

loaded load_occupancy(const std::string& path, const arguments& args) {
    if (!is_ros_map(path)) {
        loaded input = load(path, args);
        note_gray(args, path, input.image, "every cell that is not zero is an obstacle");
        return input;
    }
    const auto map = pairs_of(path);
    const auto named = map.find("image");
    if (named == map.end() || named->second.empty()) refuse(path, "names no image; give a line such as image: map.pgm");
    if (const auto mode = map.find("mode"); mode != map.end() && mode->second != "trinary")
        throw error(error_code::invalid_argument,
                    fmt::format("{} has mode {}; only trinary maps are read", path, mode->second));
    const double cell = number_of(path, map, "resolution", 0);
    if (!(cell > 0)) refuse(path, "has no resolution; give a line such as resolution: 0.05");
    arguments as_it_is = args;
    as_it_is.threshold.clear();
    loaded made = load((std::filesystem::path(path).parent_path() / named->second).string(), as_it_is);
    if (made.image.type != dtype::uint8 || made.image.shape.size() != 2)
        refuse(path, "names an image that is not gray of 8 bits");
    made.image =
        occupancy_of(made.image, number_of(path, map, "negate", 0) != 0, number_of(path, map, "occupied_thresh", 0.65),
                     number_of(path, map, "free_thresh", 0.196));
    if (args.spacing.empty()) made.per_axis = {cell, cell};
    made.image.spacing = made.per_axis, made.image.unit = "m", made.rows_up = false;
    return made;
}

std::array<std::int64_t, 2> map_frame::cell_at(double at_x, double at_y) const {
    const auto up = static_cast<std::int64_t>(std::floor((at_y - y) / resolution));
    return {rows - 1 - up, static_cast<std::int64_t>(std::floor((at_x - x) / resolution))};
}

std::array<double, 2> map_frame::centre_of(std::int64_t row, std::int64_t column) const {
    return {x + resolution * (static_cast<double>(column) + 0.5),
            y + resolution * (static_cast<double>(rows - 1 - row) + 0.5)};
}

map_frame frame_of(const std::string& path, std::int64_t rows) {
    const auto map = pairs_of(path);
    const std::string origin = origin_of(map);
    const std::vector<std::string> parts = split(origin.substr(1, origin.size() - 2), ',');
    if (origin.size() < 2 || origin.front() != '[' || parts.size() != 3)
        refuse(path, "has no origin on one line; give a line such as origin: [0, 0, 0]");
    double at[3];
    for (std::size_t k = 0; k < 3; ++k)
        at[k] = parse_number(fmt::format("origin of {}", path), trimmed(parts[k]), "origin: [0, 0, 0]");
    if (at[2] != 0)
        throw error(
            error_code::invalid_argument,
            fmt::format("{} is rotated by {}, and --world takes maps without rotation; give cells without --world",
                        path, at[2]));
    return {at[0], at[1], number_of(path, map, "resolution", 0), rows};
}

void write_ros_map(const std::string& path, const io::array& bytes, double resolution, const std::string& like) {
    const std::string origin = is_ros_map(like) ? origin_of(pairs_of(like)) : "[0, 0, 0]";
    const std::filesystem::path image = std::filesystem::path(path).replace_extension(".pgm");
    io::write(image, bytes);
    write_text(path, fmt::format("image: {}\nmode: raw\nresolution: {:.17g}\norigin: {}\nnegate: 0\n"
                                 "occupied_thresh: 0.65\nfree_thresh: 0.196\n",
                                 image.filename().string(), resolution, origin));
}

}  // namespace nearfield::cli
