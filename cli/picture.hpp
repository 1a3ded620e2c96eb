// Pictures of distance fields, of Voronoi cells and of labels.
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
    /// The colour of paper everywhere.
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

/// uint8 of shape (height, width, 3), ready for io::write.
[[nodiscard]] io::array to_array(const picture& image);

/// Levels of isolines: "5,10,20", "none", or "auto" for about eight at round values up to `largest`.
/// Throws invalid_argument for levels that are not positive numbers.
[[nodiscard]] std::vector<double> parse_isolines(const std::string& text, double largest);

struct distance_style {
    std::string isolines = "none";
    bool squared = false;    ///< the values are squared distances; their roots (with their sign) are drawn
    bool is_signed = false;  ///< colours for two signs, and a line at 0
    bool numbers = false;    ///< flat cells with their values in them; see require_room_for_numbers
    bool flat = false;       ///< cells in their own colour, nothing between them
    std::string unit{};      ///< of distances, for the legend
};
/// Colours from the ramp, sites light, infinities gray, isolines anti-aliased. A sheet of three planes gets a legend.
/// `values` has the cells that `on` was arranged for.
[[nodiscard]] picture draw_distance(const sheet& on, const io::array& values, const distance_style& style);

/// Throws invalid_argument unless cells are large enough for a number.
void require_room_for_numbers(const sheet& on);
/// The values in their cells.
void write_numbers(picture& image, const sheet& on, const io::array& values);

struct voronoi_style {
    double max_distance = std::numeric_limits<double>::infinity();  ///< what is farther from its site has none
    std::vector<border> borders{};                                  ///< one for every axis of the array, or empty: open
    const io::array* weights = nullptr;                             ///< of a power diagram
    double site_ink = 0.55;                                         ///< how much darker sites are
    bool flat = false;  ///< draw cells as they are: borders between the cells of the diagram are not known to be lines
};
/// Every cell's group gets a colour, borders between groups are thin lines at their true place, sites are dark.
///
///   nearest   int64 or int32, linear index (within its image) of the nearest site or -1
///   group_of  a number for each site: sites of one number get one colour and no border between them
[[nodiscard]] picture draw_voronoi(const sheet& on, const io::array& nearest, const std::vector<double>& per_axis,
                                   const std::function<std::int64_t(std::int64_t)>& group_of,
                                   const voronoi_style& style = {});

/// A colour for each label, unlike that of any label beside it; 0 is black. `labels` has the cells that `on` was
/// arranged for.
struct label_style {
    /// Gray or colour, of the same grid, under the labels, which are outlines then with a breath of colour inside;
    /// nullptr or no shape: labels are areas.
    const io::array* over = nullptr;
    bool numbers = false;  ///< each label's number, inside it where there is room
};
[[nodiscard]] picture draw_labels(const sheet& on, const io::array& labels, const label_style& style = {});

/// Green where the mask is 1, else orange.
[[nodiscard]] picture draw_trust(const sheet& on, const io::array& trusted);

/// Of two masks (not zero is inside): what stays light, what is gone orange, what is new blue, the rest dark.
[[nodiscard]] picture draw_change(const sheet& on, const io::array& before, const io::array& after);

/// What belongs together in `seeds`: equal labels where the values are few whole numbers, else connected sites of one
/// image of the batch. The caller keeps `seeds` as long as the answer.
[[nodiscard]] std::function<std::int64_t(std::int64_t)> group_seeds(const io::array& seeds, bool zero_is_site,
                                                                    int batch_axes = 0);
/// Cells of equal value.
[[nodiscard]] std::function<std::int64_t(std::int64_t)> group_by_value(const io::array& seeds);

/// Names the planes of a volume in the gaps above them, as --slice does: axis and index.
void name_planes(picture& image, const sheet& on);

/// A colour bar from 0, or from -largest where signed, to `largest` with round numbers beside it, in the sheet's free
/// corner, if there is room.
void draw_legend(picture& image, const sheet& on, double largest, bool is_signed, const std::vector<double>& levels,
                 const std::string& unit);

}  // namespace nearfield::cli
