// Pictures of distance fields and of Voronoi cells.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/colour.hpp"
#include "cli/planes.hpp"
#include "io/io.hpp"

namespace nearfield::cli {

struct picture {
    int width = 0, height = 0;
    std::vector<rgb> pixels;

    [[nodiscard]] rgb& at(int x, int y) {
        return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
    }
};
/// uint8 of shape (height, width, 3), ready for io::write.
[[nodiscard]] io::array to_array(const picture& image);

/// Levels of isolines: "5,10,20", "none", or "auto" for about eight at round values up to `largest`.
/// Throws invalid_argument for levels that are not positive numbers.
[[nodiscard]] std::vector<double> parse_isolines(const std::string& text, double largest);

struct distance_style {
    std::string isolines = "none";
    bool squared = false;  ///< the values are squared distances; their roots are drawn
    std::string unit;      ///< of distances, for the legend
};
/// Colours from the ramp, sites light, +inf gray, isolines anti-aliased. A sheet of three planes gets a legend.
/// `values` has the cells that `on` was arranged for.
[[nodiscard]] picture draw_distance(const sheet& on, const io::array& values, const distance_style& style);

/// Every cell's group gets a colour, borders between groups are thin lines at their true place, sites are dark.
///
///   nearest   int64, linear index of the nearest site or -1
///   group_of  a number for each site: sites of one number get one colour and no border between them
[[nodiscard]] picture draw_voronoi(const sheet& on, const io::array& nearest, const std::vector<double>& per_axis,
                                   const std::function<std::int64_t(std::int64_t)>& group_of);

/// What belongs together in `seeds`: equal labels where the values are few whole numbers, else connected sites.
[[nodiscard]] std::function<std::int64_t(std::int64_t)> group_seeds(const io::array& seeds, bool zero_is_site);

/// A colour bar from 0 to `largest` with round numbers beside it, in the sheet's free corner, if there is room.
void draw_legend(picture& image, const sheet& on, double largest, const std::vector<double>& levels,
                 const std::string& unit);

}  // namespace nearfield::cli
