// Draws distance fields, Voronoi cells and labels.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "cli/colour.hpp"
#include "cli/planes.hpp"
#include "io/io.hpp"

namespace nearfield::cli {

struct picture {
    int width = 0, height = 0;
    std::vector<rgb> pixels;

    picture() = default;
    /// Fills the picture with the colour of paper.
    explicit picture(const sheet& on)
        : width(on.width),
          height(on.height),
          pixels(static_cast<std::size_t>(on.width) * static_cast<std::size_t>(on.height), rgb{250, 249, 246}) {}

    [[nodiscard]] rgb& at(int x, int y) {
        return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
    }
};
/// The colour of cells without a site.
inline constexpr rgb unreached{176, 176, 174};

/// Converts to uint8 of shape (height, width, 3), as io::write takes it.
[[nodiscard]] io::array to_array(const picture& image);

/// Levels of isolines: "5,10,20", "none", or "auto" for about eight at round values up to `largest`.
/// Throws invalid_argument for levels that are not positive numbers.
[[nodiscard]] std::vector<double> parse_isolines(const std::string& text, double largest);

struct distance_style {
    std::string isolines = "none";
    bool squared = false;    ///< true if values are squared distances; their signed roots are drawn
    bool is_signed = false;  ///< true for colours of two signs, and a line at 0
    bool numbers = false;    ///< true for flat cells that show their values; see require_room_for_numbers
    bool flat = false;       ///< true to draw each cell in its own colour, without interpolation
    bool solid = false;      ///< true to draw a volume's solid, the cells that are not 0, beside the legend
    std::string unit{};      ///< unit of distances, for the legend
};
/// Draws values as colours of the ramp, light sites, gray infinities and anti-aliased isolines. A sheet of three planes
/// gets a legend. `values` has the shape for which `on` was arranged.
[[nodiscard]] picture draw_distance(const sheet& on, const io::array& values, const distance_style& style);

/// Throws invalid_argument unless cells are large enough for a number.
void require_room_for_numbers(const sheet& on);
/// Writes the values into their cells.
void write_numbers(picture& image, const sheet& on, const io::array& values);

struct voronoi_style {
    double max_distance = std::numeric_limits<double>::infinity();  ///< a farther cell has no site
    std::vector<border> borders{};                                  ///< one for each axis of the array, or empty: open
    const io::array* weights = nullptr;                             ///< weights of a power diagram, or null
    double site_ink = 0.55;                                         ///< share by which sites are darkened
    bool flat = false;  ///< true to draw cells as they are, because borders of the diagram need not be lines
};
/// Draws the cells of groups of sites: a colour for each group, thin lines at the true borders, dark sites.
///
///   nearest   int64 or int32, linear index (within its image) of the nearest site or -1
///   group_of  group number of a site; sites of one group have one colour and no border between them
[[nodiscard]] picture draw_voronoi(const sheet& on, const io::array& nearest, const std::vector<double>& per_axis,
                                   const std::function<std::int64_t(std::int64_t)>& group_of,
                                   const voronoi_style& style = {});

/// Draws labels, each in a colour that differs from all labels beside it; 0 is black. Beside three planes of a volume
/// stands its solid, lit. `labels` has the shape for which `on` was arranged.
struct label_style {
    /// Gray or colour image of the same grid, drawn below the labels, which are then outlines with a light tint inside.
    /// If it is nullptr or has no shape, labels are areas.
    const io::array* over = nullptr;
    bool numbers = false;  ///< true to write each label's number inside it if there is room
};
[[nodiscard]] picture draw_labels(const sheet& on, const io::array& labels, const label_style& style = {});

/// Draws a mask: green where it is 1, else orange.
[[nodiscard]] picture draw_trust(const sheet& on, const io::array& trusted);

/// Draws the change between two masks (not zero is inside): kept cells light, lost ones orange, new blue, others dark.
/// Beside three planes of a volume stands the solid of `after`, lit.
[[nodiscard]] picture draw_change(const sheet& on, const io::array& before, const io::array& after);

/// Groups of sites in `seeds`: equal labels if the values are few integers, else connected sites of one image of the
/// batch. The caller must keep `seeds` while it uses the result.
[[nodiscard]] std::function<std::int64_t(std::int64_t)> group_seeds(const io::array& seeds, bool zero_is_site,
                                                                    int batch_axes = 0);
/// Groups the cells by their values.
[[nodiscard]] std::function<std::int64_t(std::int64_t)> group_by_value(const io::array& seeds);

/// Writes the names of a volume's planes, axis and index as in --slice, into the gaps above them.
void name_planes(picture& image, const sheet& on);

/// Draws a colour bar from 0, or from -largest if signed, to `largest`, with round numbers beside it, into the free
/// corner of the sheet if there is room.
void draw_legend(picture& image, const sheet& on, double largest, bool is_signed, const std::vector<double>& levels,
                 const std::string& unit);

}  // namespace nearfield::cli
