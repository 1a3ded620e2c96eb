// Voronoi cells as colours, with borders at their true place.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "cli/picture.hpp"
#include "cli/slabs.hpp"

namespace nearfield::cli {
namespace {

constexpr rgb paper{250, 249, 246}, ink{24, 22, 36}, unreached{128, 128, 128};

/// A site as one plane sees it: place along the plane's axes in units of the spacing, and the square of its distance
/// to the plane.
struct seen_site {
    double row = 0, column = 0, off2 = 0;
    std::size_t group = 0;
};

/// The sites that the cells of one plane point at.
struct plane_sites {
    std::vector<std::int32_t> nearest;  ///< number in `sites` for every cell of the plane; -1 without a site
    std::vector<seen_site> sites;
    std::vector<std::int64_t> index;  ///< linear index of each of `sites`
    std::int64_t own_cells = 0;       ///< cells of the plane that are sites
};

seen_site see(const plane& from, std::int64_t index, const std::vector<std::int64_t>& shape,
              const std::vector<double>& per_axis) {
    seen_site site;
    for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
        const auto a = static_cast<std::size_t>(axis);
        const auto at = index % shape[a];
        index /= shape[a];
        const double place = (static_cast<double>(at) + 0.5) * per_axis[a];
        if (axis == from.row_axis) site.row = place;
        else if (axis == from.column_axis) site.column = place;
        else site.off2 += std::pow(static_cast<double>(at - from.at[a]) * per_axis[a], 2);
    }
    return site;
}

plane_sites gather(const plane& from, const io::array& nearest, const std::vector<double>& per_axis) {
    const auto* indices = reinterpret_cast<const std::int64_t*>(nearest.data.get());
    plane_sites made;
    std::unordered_map<std::int64_t, std::int32_t> number;
    made.nearest.reserve(static_cast<std::size_t>(from.rows * from.columns));
    for (std::int64_t row = 0; row < from.rows; ++row)
        for (std::int64_t column = 0; column < from.columns; ++column) {
            const std::int64_t cell = from.cell(row, column), index = indices[cell];
            if (index < 0) {
                made.nearest.push_back(-1);
                continue;
            }
            const auto [found, fresh] = number.try_emplace(index, static_cast<std::int32_t>(made.sites.size()));
            if (fresh) {
                made.sites.push_back(see(from, index, nearest.shape, per_axis));
                if (from.row_axis < 0) made.sites.back().row = from.row_spacing / 2;
                made.index.push_back(index);
            }
            made.nearest.push_back(found->second);
            made.own_cells += index == cell;
        }
    return made;
}

/// Gives every site the dense number of its group, and each group a colour unlike its neighbours'.
std::vector<rgb> colour_groups(const sheet& on, std::vector<plane_sites>& planes,
                               const std::function<std::int64_t(std::int64_t)>& group_of) {
    std::unordered_map<std::int64_t, std::size_t> dense;
    for (plane_sites& each : planes)
        for (std::size_t s = 0; s < each.sites.size(); ++s)
            each.sites[s].group = dense.try_emplace(group_of(each.index[s]), dense.size()).first->second;
    std::vector<std::array<std::int64_t, 2>> pairs;
    const auto meet = [&](const plane_sites& in, std::int32_t a, std::int32_t b) {
        if (a < 0 || b < 0) return;
        const auto x = static_cast<std::int64_t>(in.sites[static_cast<std::size_t>(a)].group),
                   y = static_cast<std::int64_t>(in.sites[static_cast<std::size_t>(b)].group);
        if (x != y && (pairs.empty() || pairs.back() != std::array{x, y})) pairs.push_back({x, y});
    };
    for (std::size_t p = 0; p < planes.size(); ++p) {
        const plane& shows = on.panels[p].shows;
        for (std::int64_t row = 0; row < shows.rows; ++row)
            for (std::int64_t column = 0; column < shows.columns; ++column) {
                const auto at = static_cast<std::size_t>(row * shows.columns + column);
                if (column + 1 < shows.columns) meet(planes[p], planes[p].nearest[at], planes[p].nearest[at + 1]);
                if (row + 1 < shows.rows)
                    meet(planes[p], planes[p].nearest[at],
                         planes[p].nearest[at + static_cast<std::size_t>(shows.columns)]);
            }
    }
    std::vector<rgb> colours;
    for (const oklab& each : spread_colours(dense.size(), std::move(pairs))) colours.push_back(to_rgb(each));
    return colours;
}

struct voronoi_painter {
    const panel& on;
    const plane_sites& in;
    const std::vector<rgb>& colours;
    double pitch;
    bool dots;  ///< few sites: draw each as a dot that can be seen at any scale

    [[nodiscard]] std::int32_t nearest(std::int64_t row, std::int64_t column) const {
        row = std::clamp<std::int64_t>(row, 0, on.shows.rows - 1),
        column = std::clamp<std::int64_t>(column, 0, on.shows.columns - 1);
        return in.nearest[static_cast<std::size_t>(row * on.shows.columns + column)];
    }

    [[nodiscard]] static double squared(const seen_site& s, double row, double column) {
        return (s.row - row) * (s.row - row) + (s.column - column) * (s.column - column) + s.off2;
    }

    /// The sites that the nine cells around a point know, each once.
    int candidates(std::int64_t row, std::int64_t column, std::array<const seen_site*, 9>& found) const {
        int count = 0;
        for (std::int64_t r = row - 1; r <= row + 1; ++r)
            for (std::int64_t c = column - 1; c <= column + 1; ++c) {
                const std::int32_t s = nearest(r, c);
                if (s < 0) continue;
                const seen_site* site = &in.sites[static_cast<std::size_t>(s)];
                if (std::find(found.begin(), found.begin() + count, site) == found.begin() + count)
                    found[static_cast<std::size_t>(count++)] = site;
            }
        return count;
    }

    /// Share of a pixel that a border between groups covers: the bisector of two sites is a straight line, so its
    /// distance is known without looking at other pixels.
    [[nodiscard]] double border(const std::array<const seen_site*, 9>& found, int count, const seen_site& own,
                                double row, double column) const {
        double least = INFINITY;
        for (int i = 0; i < count; ++i) {
            const seen_site& other = *found[static_cast<std::size_t>(i)];
            if (other.group == own.group) continue;
            const double apart = std::hypot(other.row - own.row, other.column - own.column);
            if (apart > 0)
                least = std::min(least, (squared(other, row, column) - squared(own, row, column)) / (2 * apart));
        }
        return std::clamp(1.05 - least / pitch, 0.0, 1.0);
    }

    [[nodiscard]] double seed_cover(const seen_site& own, double row, double column, double cell_row,
                                    double cell_column) const {
        if (dots) return std::clamp(2.6 - std::sqrt(squared(own, row, column)) / pitch, 0.0, 1.0);
        const double r = std::floor(cell_row), c = std::floor(cell_column), down = cell_row - r,
                     right = cell_column - c;
        double share = 0;
        for (int k = 0; k < 4; ++k) {
            const auto kr = static_cast<std::int64_t>(r) + k / 2, kc = static_cast<std::int64_t>(c) + k % 2;
            const double weight = (k / 2 != 0 ? down : 1 - down) * (k % 2 != 0 ? right : 1 - right);
            if (is_site(kr, kc)) share += weight;
        }
        const double sharpness = std::min(on.shows.column_spacing, on.shows.row_spacing) / pitch;
        return std::clamp((share - 0.5) * sharpness + 0.5, 0.0, 1.0);
    }

    [[nodiscard]] bool is_site(std::int64_t row, std::int64_t column) const {
        row = std::clamp<std::int64_t>(row, 0, on.shows.rows - 1),
        column = std::clamp<std::int64_t>(column, 0, on.shows.columns - 1);
        const std::int32_t s = nearest(row, column);
        return s >= 0 && in.index[static_cast<std::size_t>(s)] == on.shows.cell(row, column);
    }

    [[nodiscard]] rgb colour(double x, double y) const {
        if (on.rows_up) y = on.height - y;
        const double row = y * pitch, column = x * pitch;
        const double cell_row = row / on.shows.row_spacing, cell_column = column / on.shows.column_spacing;
        std::array<const seen_site*, 9> found{};
        const int count =
            candidates(static_cast<std::int64_t>(cell_row), static_cast<std::int64_t>(cell_column), found);
        if (count == 0) return unreached;
        const auto nearer = [&](const seen_site* a, const seen_site* b) {
            return squared(*a, row, column) < squared(*b, row, column);
        };
        const seen_site& own = **std::min_element(found.begin(), found.begin() + count, nearer);
        rgb painted = mix(colours[own.group], ink, 0.72 * border(found, count, own, row, column));
        return mix(painted, ink,
                   (dots ? 0.85 : 0.55) * seed_cover(own, row, column, cell_row - 0.5, cell_column - 0.5));
    }
};

}  // namespace

picture draw_voronoi(const sheet& on, const io::array& nearest, const std::vector<double>& per_axis,
                     const std::function<std::int64_t(std::int64_t)>& group_of) {
    std::vector<plane_sites> planes;
    for (const panel& each : on.panels) planes.push_back(gather(each.shows, nearest, per_axis));
    const std::vector<rgb> colours = colour_groups(on, planes, group_of);
    picture image{on.width, on.height,
                  std::vector<rgb>(static_cast<std::size_t>(on.width) * static_cast<std::size_t>(on.height), paper)};
    for (std::size_t i = 0; i < on.panels.size(); ++i) {
        const panel& part = on.panels[i];
        const bool few = planes[i].own_cells * 100 < part.shows.rows * part.shows.columns &&
                         planes[i].own_cells == static_cast<std::int64_t>(planes[i].sites.size());
        const voronoi_painter painter{part, planes[i], colours, on.pitch, few};
        for_slabs(part.height, [&](std::int64_t begin, std::int64_t end) {
            for (int y = static_cast<int>(begin); y < end; ++y)
                for (int x = 0; x < part.width; ++x)
                    image.at(part.left + x, part.top + y) = painter.colour(x + 0.5, y + 0.5);
        });
    }
    return image;
}

}  // namespace nearfield::cli
