// What geodesic, path, roadmap and esdf share: cells in words, paths as text and in pictures, outputs.
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

namespace nearfield::cli {

/// "10,10;500,700": coordinates in array order, one cell after the other. Throws invalid_argument naming the option.
[[nodiscard]] std::vector<std::int64_t> parse_cells(const std::string& name, const std::string& text,
                                                    const std::vector<std::int64_t>& shape);

/// Cells of a map as words: coordinates in array order, or with --world x and y in the frame of a map.yaml.
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

/// The obstacles of a file, --unknown applied.
[[nodiscard]] loaded load_obstacles(const arguments& args);

/// Throws where a CSV file goes to another suffix or place; "-" and nothing are fine.
void check_csv(const std::string& name, const std::string& path);

inline constexpr rgb path_ink{200, 30, 60}, road_ink{250, 250, 250};

/// Cells of a way, joined by lines of this colour.
struct drawn_way {
    std::span<const std::int64_t> cells;
    rgb ink;
};
/// --picture: the distance to obstacles, and ways over it; of volumes seen along the axis that a plane lacks.
void draw_ways(const arguments& args, const loaded& input, std::span<const drawn_way> ways);

/// Throws for a picture that is no PNG, and where nothing would be made.
[[nodiscard]] bool check_paths_outputs(const arguments& args, const std::vector<std::string>& arrays);

/// Writes an array, or draws it where the suffix is .png.
void save_field(const arguments& args, const loaded& input, const std::string& path, const io::array& values,
                bool is_signed = false);

}  // namespace nearfield::cli
