// Labels as colours.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "cli/picture.hpp"
#include "cli/seeded_hash.hpp"
#include "cli/slabs.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

constexpr rgb background{16, 16, 20}, ink{16, 16, 20};

/// Labels of the cells of one plane, numbered 0, 1, ... as they come; -1 is background.
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
                // The same number in another image of a batch is another component.
                const auto label = static_cast<std::uint64_t>(cells[shows.cell(row, column)]);
                const std::uint64_t key = label + (static_cast<std::uint64_t>(shows.first) << 32);
                taken.number.push_back(
                    label == 0 ? -1 : known.try_emplace(key, static_cast<std::int32_t>(known.size())).first->second);
            }
    });
    return taken;
}

/// Pairs of components that the eye sees side by side: each cell with the last component before it in its row and in
/// its column, touching or with background between.
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

struct label_painter {
    const panel& on;
    const numbered_plane& in;
    const std::vector<rgb>& colours;
    double pitch;

    /// Of the cell under the point, with a line along faces between two components where cells are large enough for
    /// lines.
    [[nodiscard]] rgb colour(double x, double y) const {
        if (on.rows_up) y = on.height - y;
        const double cell_row = y * pitch / on.shows.row_spacing, cell_column = x * pitch / on.shows.column_spacing;
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

}  // namespace

picture draw_labels(const sheet& on, const io::array& labels) {
    numbers known;
    std::vector<numbered_plane> planes;
    std::vector<std::array<std::int64_t, 2>> pairs;
    for (const panel& each : on.panels) {
        planes.push_back(take_plane(each.shows, labels, known));
        add_pairs(planes.back(), pairs);
    }
    std::vector<rgb> colours;
    for (const oklab& each : spread_colours(known.size(), std::move(pairs))) colours.push_back(to_rgb(each));
    picture image(on);
    for (std::size_t i = 0; i < on.panels.size(); ++i) {
        const panel& part = on.panels[i];
        const label_painter painter{part, planes[i], colours, on.pitch};
        for_slabs(part.height, [&](std::int64_t begin, std::int64_t end) {
            for (int y = static_cast<int>(begin); y < end; ++y)
                for (int x = 0; x < part.width; ++x)
                    image.at(part.left + x, part.top + y) = painter.colour(x + 0.5, y + 0.5);
        });
    }
    return image;
}

}  // namespace nearfield::cli
