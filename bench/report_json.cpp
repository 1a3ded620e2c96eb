#include "report_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>

#include "nearfield/error.hpp"
#include "nearfield/system.hpp"

namespace nearfield::bench {

std::string image_name(const std::string& data, const shape_t& shape) {
    return fmt::format("{}{}", data == "random" ? "" : data + " ", fmt::join(shape, "x"));
}

void print_header(const session& s) {
    fmt::print("\nnearfield on {} ({})\n", s.device, s.details);
    for (auto [threads, gb_s] : s.copy_gb_s) {
        fmt::print("copy bandwidth, read plus write{}: {:.1f} GB/s\n",
                   threads > 0 ? fmt::format(", {} threads", threads) : "", gb_s);
    }
    fmt::print("{:<22} {:>9} {:>9} {:>8} {:>11} {:>10} {:>7}\n", "image", "sites", "field", "threads", "ms", "Mcells/s",
               "copy %");
}

void report(session& s, const result& r) {
    const double seconds = r.ms * 1e-3;
    const double share = static_cast<double>(floor_bytes(r)) / seconds / (copy_of(s, r.threads) * 1e9);
    fmt::print("{:<22} {:>8.2f}% {:>9} {:>8} {:>11.3f} {:>10.1f} {:>7.1f} {}\n", image_name(r.data, r.shape),
               100 * r.density, r.field, r.threads > 0 ? std::to_string(r.threads) : "-", r.ms,
               static_cast<double>(cells_of(r.shape)) / seconds * 1e-6, 100 * share, r.simd);
    std::fflush(stdout);
    s.results.push_back(r);
}

nlohmann::ordered_json head_of(const session& s) {
    nlohmann::ordered_json j;
    j["engine"] = "nearfield";
    j["version"] = query_system().version;
    j["place"] = s.place;
    j["device"] = s.device;
    j["details"] = s.details;
    j["compiler"] = query_system().compiler;
    j["date"] = today();
    for (auto [threads, gb_s] : s.copy_gb_s) j["copy_gb_s"][std::to_string(threads)] = gb_s;
    return j;
}

void write_json(const session& s, const std::string& path, const char* rows) {
    nlohmann::ordered_json j = head_of(s);
    j[rows] = nlohmann::ordered_json::array();
    for (const result& r : s.results) {
        j[rows].push_back({{"engine", "nearfield"},
                           {"data", r.data},
                           {"shape", r.shape},
                           {"density", r.density},
                           {"field", r.field},
                           {"threads", r.threads},
                           {"ms", r.ms},
                           {"runs", r.runs}});
        if (!r.simd.empty()) j[rows].back()["simd"] = r.simd;
    }
    write_file(path, j);
}

void write_file(const std::string& path, const nlohmann::ordered_json& j) {
    const std::filesystem::path file(path);
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file);
    out << j.dump(1) << '\n';
    if (!out.flush()) throw error(error_code::io, fmt::format("cannot write {}", path));
}

}  // namespace nearfield::bench
