// Draws labels as colours.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>

#include "cli/letters.hpp"
#include "cli/picture.hpp"
#include "cli/seeded_hash.hpp"
#include "cli/slabs.hpp"
#include "cli/solid.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

constexpr rgb background{16, 16, 20}, ink{16, 16, 20};

/// Labels of the cells of a plane, numbered 0, 1, ... in order of appearance; -1 is background.
struct numbered_plane {
    std::int64_t rows, columns;
    std::vector<std::int32_t> number;

    [[nodiscard]] std::int32_t at(std::int64_t row, std::int64_t column) const {
        row = std::clamp<std::int64_t>(row, 0, rows - 1), column = std::clamp<std::int64_t>(column, 0, columns - 1);
        return number[static_cast<std::size_t>(row * columns + column)];
    }
};

using numbers = std::unordered_map<std::uint64_t, std::int32_t, seeded_hash>;

numbered_plane take_plane(const plane& shows, const io::array& labels, numbers& known) {
    numbered_plane taken{shows.rows, shows.columns, {}};
    taken.number.reserve(static_cast<std::size_t>(shows.rows * shows.columns));
    with_elements(labels.data.get(), labels.type, [&](const auto* cells) {
        for (std::int64_t row = 0; row < shows.rows; ++row)
            for (std::int64_t column = 0; column < shows.columns; ++column) {
                // Equal numbers in different images of a batch are different components.
                const auto label = static_cast<std::uint64_t>(cells[shows.cell(row, column)]);
                const std::uint64_t key = label + (static_cast<std::uint64_t>(shows.first) << 32);
                taken.number.push_back(
                    label == 0 ? -1 : known.try_emplace(key, static_cast<std::int32_t>(known.size())).first->second);
            }
    });
    return taken;
}

/// Does the same for the pixels of a solid.
numbered_plane take_solid(const solid& seen, const io::array& labels, numbers& known) {
    numbered_plane taken{seen.height, seen.width, {}};
    with_elements(labels.data.get(), labels.type, [&](const auto* cells) {
        for (const std::int64_t cell : seen.cell) {
            const std::uint64_t key = cell < 0 ? 0 : static_cast<std::uint64_t>(cells[cell]);
            taken.number.push_back(
                key == 0 ? -1 : known.try_emplace(key, static_cast<std::int32_t>(known.size())).first->second);
        }
    });
    return taken;
}

/// Adds the pairs of components that appear side by side: each cell with the last component before it in its row and in
/// its column, whether they touch or have background between them.
void add_pairs(const numbered_plane& in, std::vector<std::array<std::int64_t, 2>>& pairs) {
    std::vector<std::int32_t> above(static_cast<std::size_t>(in.columns), -1);
    const auto meet = [&](std::int32_t a, std::int32_t b) {
        if (a < 0 || a == b) return;
        const std::array<std::int64_t, 2> pair{std::min(a, b), std::max(a, b)};
        if (pairs.empty() || pairs.back() != pair) pairs.push_back(pair);
    };
    for (std::int64_t row = 0; row < in.rows; ++row) {
        std::int32_t before = -1;
        for (std::int64_t column = 0; column < in.columns; ++column) {
            const std::int32_t here = in.at(row, column);
            if (here < 0) continue;
            std::int32_t& over = above[static_cast<std::size_t>(column)];
            meet(before, here), meet(over, here);
            before = over = here;
        }
    }
}

/// The cells of a background image as colours.
std::vector<rgb> take_photo(const plane& shows, const io::array& photo) {
    std::vector<rgb> taken;
    const std::int64_t samples = photo.color ? photo.shape.back() : 1;
    with_elements(photo.data.get(), photo.type, [&]<class T>(const T* cells) {
        // Bytes are taken as they are; values of other types are stretched from black to white.
        double least = 0, most = 255;
        if (sizeof(T) != 1) {
            const auto [low, high] = std::minmax_element(cells, cells + photo.cells());
            least = static_cast<double>(*low), most = static_cast<double>(*high);
        } else if (photo.type == dtype::boolean) {
            most = 1;
        }
        const auto level = [&](std::int64_t at) {
            const double share = most > least ? (static_cast<double>(cells[at]) - least) / (most - least) : 0;
            return static_cast<std::uint8_t>(std::lround(255 * (share >= 0 ? std::min(share, 1.0) : 0)));
        };
        for (std::int64_t row = 0; row < shows.rows; ++row)
            for (std::int64_t column = 0; column < shows.columns; ++column) {
                const std::int64_t at = shows.cell(row, column) * samples;
                taken.push_back(samples == 1 ? rgb{level(at), level(at), level(at)}
                                             : rgb{level(at), level(at + 1), level(at + 2)});
            }
    });
    return taken;
}

struct label_painter {
    const panel& on;
    const numbered_plane& in;
    const std::vector<rgb>& colours;
    const std::vector<rgb>& photo;  ///< the background image's colours of the plane's cells, or empty
    double pitch;

    /// The background image, with a line inside each label along its faces towards other labels.
    [[nodiscard]] rgb outlined(double cell_row, double cell_column) const {
        const auto row = std::min(static_cast<std::int64_t>(cell_row), in.rows - 1),
                   column = std::min(static_cast<std::int64_t>(cell_column), in.columns - 1);
        const rgb below = photo[static_cast<std::size_t>(row * in.columns + column)];
        const std::int32_t own = in.at(row, column);
        if (own < 0) return below;
        const double down = cell_row - static_cast<double>(row), right = cell_column - static_cast<double>(column),
                     high = on.shows.row_spacing / pitch, wide = on.shows.column_spacing / pitch;
        constexpr double thick = 1.6;  // pixels
        const bool line = (down * high < thick && in.at(row - 1, column) != own) ||
                          ((1 - down) * high < thick && in.at(row + 1, column) != own) ||
                          (right * wide < thick && in.at(row, column - 1) != own) ||
                          ((1 - right) * wide < thick && in.at(row, column + 1) != own);
        return mix(below, colours[static_cast<std::size_t>(own)], line ? 1.0 : 0.22);
    }

    /// The colour of the cell under a point, with a line along faces between two components if cells are large enough
    /// for lines.
    [[nodiscard]] rgb colour(double x, double y) const {
        if (on.rows_up) y = on.height - y;
        const double cell_row = y * pitch / on.shows.row_spacing, cell_column = x * pitch / on.shows.column_spacing;
        if (!photo.empty()) return outlined(cell_row, cell_column);
        const auto row = static_cast<std::int64_t>(cell_row), column = static_cast<std::int64_t>(cell_column);
        const std::int32_t own = in.at(row, column);
        if (own < 0) return background;
        const rgb painted = colours[static_cast<std::size_t>(own)];
        if (std::min(on.shows.row_spacing, on.shows.column_spacing) < 4 * pitch) return painted;
        const double down = cell_row - static_cast<double>(row), right = cell_column - static_cast<double>(column);
        const auto other = [&](std::int32_t beyond) { return beyond >= 0 && beyond != own; };
        const bool line = (std::min(down, 1 - down) * on.shows.row_spacing < pitch &&
                           other(in.at(row + (down < 0.5 ? -1 : 1), column))) ||
                          (std::min(right, 1 - right) * on.shows.column_spacing < pitch &&
                           other(in.at(row, column + (right < 0.5 ? -1 : 1))));
        return line ? mix(painted, ink, 0.6) : painted;
    }
};

/// Each label's cell in a plane that is nearest to the mean of its cells; -1 if the plane lacks the label.
std::vector<std::int64_t> middles(const numbered_plane& in, std::size_t labels) {
    struct sum {
        double row = 0, column = 0, cells = 0, nearest = INFINITY;
    };
    std::vector<sum> of(labels);
    std::vector<std::int64_t> middle(labels, -1);
    const auto each_cell = [&](const auto& use) {
        for (std::int64_t row = 0; row < in.rows; ++row)
            for (std::int64_t column = 0; column < in.columns; ++column)
                if (const std::int32_t own = in.at(row, column); own >= 0)
                    use(static_cast<std::size_t>(own), row, column);
    };
    each_cell([&](std::size_t own, std::int64_t row, std::int64_t column) {
        of[own].row += static_cast<double>(row), of[own].column += static_cast<double>(column), of[own].cells += 1;
    });
    each_cell([&](std::size_t own, std::int64_t row, std::int64_t column) {
        sum& s = of[own];
        const double away =
            std::hypot(static_cast<double>(row) - s.row / s.cells, static_cast<double>(column) - s.column / s.cells);
        if (away < s.nearest) s.nearest = away, middle[own] = row * in.columns + column;
    });
    return middle;
}

/// Writes numbers in light colour with a dark rim, so that they are readable on any image.
void write_numbers_of(picture& image, const panel& part, const numbered_plane& in,
                      const std::vector<std::string>& texts) {
    const std::vector<std::int64_t> middle = middles(in, texts.size());
    const int size = std::clamp(part.height / 400, 1, 3);
    for (std::size_t label = 0; label < texts.size(); ++label) {
        if (middle[label] < 0) continue;
        const double row = static_cast<double>(middle[label] / in.columns) + 0.5,
                     column = static_cast<double>(middle[label] % in.columns) + 0.5;
        const double down = (part.rows_up ? static_cast<double>(in.rows) - row : row) / static_cast<double>(in.rows);
        const int width = text_width(texts[label], size), height = glyph_height * size;
        const int left =
                      part.left + static_cast<int>(column / static_cast<double>(in.columns) * part.width) - width / 2,
                  top = part.top + static_cast<int>(down * part.height) - height / 2;
        const int most_left = part.left + part.width - width - 1, most_top = part.top + part.height - height - 1;
        if (most_left <= part.left || most_top <= part.top) continue;  // no room in the whole panel
        const int x = std::clamp(left, part.left + 1, most_left), y = std::clamp(top, part.top + 1, most_top);
        for (const auto& [right, below] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}})
            draw_text(image, x + right, y + below, texts[label], size, ink);
        draw_text(image, x, y, texts[label], size, {255, 255, 255});
    }
}

}  // namespace

picture draw_labels(const sheet& on, const io::array& labels, const label_style& style) {
    numbers known;
    std::vector<numbered_plane> planes;
    std::vector<std::array<std::int64_t, 2>> pairs;
    for (const panel& each : on.panels) {
        planes.push_back(take_plane(each.shows, labels, known));
        add_pairs(planes.back(), pairs);
    }
    const bool over = style.over != nullptr && !style.over->shape.empty();
    const solid seen = over ? solid{} : see_solid(on, labels);
    const numbered_plane of_solid = take_solid(seen, labels, known);
    add_pairs(of_solid, pairs);
    std::vector<rgb> colours;
    for (const oklab& each : spread_colours(known.size(), std::move(pairs))) colours.push_back(to_rgb(each));
    std::vector<std::string> texts(style.numbers ? known.size() : 0);
    if (style.numbers)
        for (const auto& [key, number] : known)
            texts[static_cast<std::size_t>(number)] = std::to_string(static_cast<std::uint32_t>(key));
    picture image(on);
    for (std::size_t i = 0; i < on.panels.size(); ++i) {
        const panel& part = on.panels[i];
        const std::vector<rgb> photo = over ? take_photo(part.shows, *style.over) : std::vector<rgb>{};
        const label_painter painter{part, planes[i], colours, photo, on.pitch};
        for_slabs(part.height, [&](std::int64_t begin, std::int64_t end) {
            for (int y = static_cast<int>(begin); y < end; ++y)
                for (int x = 0; x < part.width; ++x)
                    image.at(part.left + x, part.top + y) = painter.colour(x + 0.5, y + 0.5);
        });
        if (style.numbers) write_numbers_of(image, part, planes[i], texts);
    }
    seen.put(image, [&](std::size_t pixel) { return colours[static_cast<std::size_t>(of_solid.number[pixel])]; });
    name_planes(image, on);
    return image;
}

}  // namespace nearfield::cli
