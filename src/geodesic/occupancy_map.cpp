// Occupancy maps of ROS.
#include "nearfield/occupancy_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "base/call.hpp"
#include "nearfield/error.hpp"
#include "nearfield/esdf.hpp"

namespace nearfield {
namespace geodesics {
namespace {

namespace fs = std::filesystem;
using pairs = std::map<std::string, std::string, std::less<>>;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
    throw error(error_code::io, fmt::format("{}: {}", path, what));
}

std::string trimmed(std::string_view text) {
    constexpr const char* blank = " \t\r\"'[]";
    const auto first = text.find_first_not_of(blank);
    return first == std::string_view::npos ? ""
                                           : std::string(text.substr(first, text.find_last_not_of(blank) - first + 1));
}

std::ifstream opened(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)));
    return file;
}

pairs pairs_of(const std::string& path) {
    constexpr std::streamsize most = 1 << 16;
    std::ifstream file = opened(path);
    std::string text(static_cast<std::size_t>(most), '\0');
    file.read(text.data(), most);
    text.resize(static_cast<std::size_t>(file.gcount()));
    pairs found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::string used = line.substr(0, line.find('#'));
        if (const auto colon = used.find(':'); colon != std::string::npos)
            found[trimmed(used.substr(0, colon))] = trimmed(used.substr(colon + 1));
    }
    return found;
}

double number_of(const std::string& path, std::string_view key, const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, value);
    if (code != std::errc() || rest != end || !std::isfinite(value))
        refuse(path, fmt::format("{} is {}; give a finite number", key, text));
    return value;
}

std::array<double, 3> origin_of(const std::string& path, const std::string& text) {
    std::array<double, 3> at{};
    std::istringstream parts(text);
    std::size_t k = 0;
    for (std::string part; std::getline(parts, part, ',') && k < at.size(); ++k)
        at[k] = number_of(path, "origin", trimmed(part));
    if (k < at.size() || !parts.eof()) refuse(path, "has no origin on one line; give a line such as origin: [0, 0, 0]");
    return at;
}

/// Reads a number of a PGM's header, before which comments may stand.
std::int64_t header_number(std::istream& file) {
    std::int64_t number = -1;
    for (file >> std::ws; file.peek() == '#'; file >> std::ws)
        for (int c = 0; c != '\n' && c != EOF;) c = file.get();
    file >> number;
    return number;
}

void read_image(const std::string& path, occupancy_map& map) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    std::ifstream file = opened(path);
    char magic[2]{};
    file.read(magic, 2);
    if (!file || magic[0] != 'P' || magic[1] != '5') refuse(path, "is not a binary PGM image (P5)");
    map.columns = header_number(file), map.rows = header_number(file);
    const std::int64_t white = header_number(file);
    file.get();
    if (!file || map.columns < 1 || map.rows < 1 || map.columns > most / map.rows || white != 255)
        refuse(path, "has a header without a width, a height and a maximum of 255");
    const std::int64_t cells = map.rows * map.columns;
    const auto from = file.tellg();
    if (file.seekg(0, std::ios::end).tellg() - from < cells) refuse(path, "ends before its last cell");
    map.costs.resize(static_cast<std::size_t>(cells));
    file.seekg(from).read(reinterpret_cast<char*>(map.costs.data()), cells);
    if (!file) refuse(path, "ends before its last cell");
}

std::uint8_t cost_of(int gray, const map_info& info) {
    const double share = (info.negate ? gray : 255 - gray) / 255.0, width = info.occupied - info.free;
    if (share > info.occupied) return costmap_lethal;
    if (share < info.free) return costmap_free;
    if (info.mode == "trinary") return costmap_unknown;
    const double percent = width > 0 ? std::rint((share - info.free) / width * 100) : 100;
    return static_cast<std::uint8_t>(percent * costmap_lethal / 100);
}

map_info info_of(const std::string& path) {
    const pairs given = pairs_of(path);
    map_info info;
    const auto take = [&](const char* key, auto& to) {
        if (const auto found = given.find(key); found != given.end() && !found->second.empty())
            to = static_cast<std::remove_reference_t<decltype(to)>>(number_of(path, key, found->second));
    };
    if (const auto image = given.find("image"); image != given.end()) info.image = image->second;
    if (info.image.empty()) refuse(path, "names no image; give a line such as image: map.pgm");
    if (const auto mode = given.find("mode"); mode != given.end()) info.mode = mode->second;
    if (info.mode != "trinary" && info.mode != "scale" && info.mode != "raw")
        throw error(error_code::invalid_argument,
                    fmt::format("{} has mode {}; give trinary, scale or raw", path, info.mode));
    info.resolution = 0;
    take("resolution", info.resolution), take("occupied_thresh", info.occupied), take("free_thresh", info.free);
    if (!(info.resolution > 0)) refuse(path, "has no resolution; give a line such as resolution: 0.05");
    if (const auto negate = given.find("negate"); negate != given.end())
        info.negate =
            negate->second == "true" || (negate->second != "false" && number_of(path, "negate", negate->second) != 0);
    if (const auto origin = given.find("origin"); origin != given.end()) info.origin = origin_of(path, origin->second);
    return info;
}

occupancy_map map_of(const std::string& path) {
    occupancy_map map;
    std::string image = path;
    if (path.ends_with(".yaml") || path.ends_with(".yml")) {
        map.info = info_of(path);
        image = (fs::path(path).parent_path() / map.info.image).string();
    }
    read_image(image, map);
    grays_to_costs(map.info, map.costs);
    return map;
}

void write(const std::string& path, const occupancy_map& map) {
    if (!path.ends_with(".yaml") && !path.ends_with(".yml"))
        throw error(error_code::invalid_argument, fmt::format("path is {}; give a name that ends in .yaml", path));
    if (map.rows * map.columns != std::ssize(map.costs))
        throw error(error_code::invalid_argument, fmt::format("map has {} costs for {} x {} cells; give one for each",
                                                              map.costs.size(), map.rows, map.columns));
    const fs::path image = fs::path(path).replace_extension(".pgm");
    std::ofstream pgm(image, std::ios::binary), yaml(path);
    pgm << fmt::format("P5\n{} {}\n255\n", map.columns, map.rows);
    pgm.write(reinterpret_cast<const char*>(map.costs.data()), std::ssize(map.costs));
    yaml << fmt::format(
        "image: {}\nmode: raw\nresolution: {}\norigin: [{}]\nnegate: 0\noccupied_thresh: 0.65\n"
        "free_thresh: 0.196\n",
        image.filename().string(), map.info.resolution, fmt::join(map.info.origin, ", "));
    pgm.close(), yaml.close();
    if (!pgm || !yaml) refuse(path, fmt::format("cannot be written: {}", std::strerror(errno)));
}

}  // namespace
}  // namespace geodesics

any_input<host> occupancy_map::view() const {
    const std::int64_t shape[] = {rows, columns};
    return any_input<host>::contiguous(costs.data(), dtype::uint8, shape);
}
map_info read_map_info(const std::string& path) {
    return in_call([&] { return geodesics::info_of(path); });
}
void grays_to_costs(const map_info& info, std::span<std::uint8_t> grays) {
    if (info.mode == "raw") return;
    std::array<std::uint8_t, 256> cost{};
    for (int gray = 0; gray < 256; ++gray) cost[static_cast<std::size_t>(gray)] = geodesics::cost_of(gray, info);
    for (std::uint8_t& each : grays) each = cost[each];
}
occupancy_map read_map(const std::string& path) {
    return in_call([&] { return geodesics::map_of(path); });
}
void write_map(const std::string& path, const occupancy_map& map) {
    in_call([&] { geodesics::write(path, map); });
}

}  // namespace nearfield
