// Shared by geodesic, path, roadmap and esdf: cells in words, paths as text and in pictures, outputs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/colour.hpp"
#include "cli/compute.hpp"
#include "cli/load.hpp"
#include "cli/report.hpp"
#include "cli/ros_map.hpp"
#include "nearfield/esdf.hpp"

namespace nearfield::cli {

/// Parses cells as in "10,10;500,700": coordinates in array order. Throws invalid_argument with the option's name.
[[nodiscard]] std::vector<std::int64_t> parse_cells(const std::string& name, const std::string& text,
                                                    const std::vector<std::int64_t>& shape);

/// Reads and writes cells as coordinates in array order, or with --world as x and y in the frame of a map.yaml.
class cell_words {
public:
    cell_words(const arguments& args, const loaded& input);
    [[nodiscard]] std::vector<std::int64_t> cells(const std::string& name, const std::string& text) const;
    [[nodiscard]] std::vector<std::int64_t> one_cell(const std::string& name, const std::string& text) const;
    [[nodiscard]] std::string csv(std::span<const std::int64_t> cells) const;

private:
    std::vector<std::int64_t> shape_;
    std::optional<map_frame> frame_;
};

/// Loads the obstacles of a file, and applies --unknown.
[[nodiscard]] loaded load_obstacles(const arguments& args);

/// Parses --inflation, as in "0.1,0.55,10": inscribed radius, inflation radius, scaling.
[[nodiscard]] inflation_options inflation_of(const arguments& args, const loaded& input);

/// Throws unless the path has the suffix of CSV and can be written; "-" and "" are allowed.
void check_csv(const std::string& name, const std::string& path);

inline constexpr rgb path_ink{200, 30, 60}, road_ink{250, 250, 250};

/// Cells of a path, which lines of this colour join.
struct drawn_way {
    std::span<const std::int64_t> cells;
    rgb ink;
};
/// Draws --picture: the distance to obstacles with paths over it; in volumes, paths are projected along the third axis.
void draw_ways(const arguments& args, const loaded& input, std::span<const drawn_way> ways);

/// Throws if the picture is no PNG, and if the call would write nothing.
[[nodiscard]] bool check_paths_outputs(const arguments& args, const std::vector<std::string>& arrays);

/// Writes an array, or draws it if the suffix is .png.
void save_field(const arguments& args, const loaded& input, const std::string& path, const io::array& values,
                bool is_signed = false);

}  // namespace nearfield::cli
