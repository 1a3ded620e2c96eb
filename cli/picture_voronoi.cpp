// Draws Voronoi cells as colours, with borders at their true place.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "cli/picture.hpp"
#include "cli/seeded_hash.hpp"
#include "cli/slabs.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

constexpr rgb ink{24, 22, 36};
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The array to draw.
struct field {
    const io::array& nearest;
    const std::vector<double>& per_axis;
    const voronoi_style& style;

    [[nodiscard]] border beyond(int axis) const {
        return axis < 0 || style.borders.empty() ? border::open : style.borders[static_cast<std::size_t>(axis)];
    }
    /// Length of a periodic axis; 0 for other axes.
    [[nodiscard]] double period(int axis) const {
        if (beyond(axis) != border::periodic) return 0;
        return static_cast<double>(nearest.shape[static_cast<std::size_t>(axis)]) *
               per_axis[static_cast<std::size_t>(axis)];
    }
};

/// The shorter difference between two places on an axis, which may be periodic.
double shorter(double way, double period) { return period > 0 ? way - period * std::round(way / period) : way; }

/// A site as seen from a plane: its place along the plane's axes in units of the spacing, and the square of its
/// distance to the plane minus its weight.
struct seen_site {
    double row = 0, column = 0, off2 = 0;
    std::size_t group = 0;
};

/// The sites that the cells of a plane refer to.
struct plane_sites {
    std::vector<std::int32_t> nearest;  ///< for every cell of the plane, number in `sites`, or -1
    std::vector<seen_site> sites;
    std::vector<std::int64_t> index;  ///< linear index of each of `sites`
    std::int64_t own_cells = 0;       ///< number of the plane's cells that are sites
};

seen_site see(const plane& from, std::int64_t index, const field& in) {
    seen_site site;
    if (in.style.weights != nullptr)
        site.off2 = -with_elements(in.style.weights->data.get(), in.style.weights->type,
                                   [&](const auto* weights) { return static_cast<double>(weights[index]); });
    for (int axis = static_cast<int>(in.nearest.shape.size()) - 1; axis >= 0; --axis) {
        const auto a = static_cast<std::size_t>(axis);
        const auto at = index % in.nearest.shape[a];
        index /= in.nearest.shape[a];
        const double place = (static_cast<double>(at) + 0.5) * in.per_axis[a];
        if (axis == from.row_axis) site.row = place;
        else if (axis == from.column_axis) site.column = place;
        else site.off2 += std::pow(shorter(static_cast<double>(at - from.at[a]) * in.per_axis[a], in.period(axis)), 2);
    }
    if (from.row_axis < 0) site.row = from.row_spacing / 2;
    return site;
}

plane_sites gather(const plane& from, const field& in) {
    const bool narrow = in.nearest.type == dtype::int32;
    const auto* indices = in.nearest.data.get();
    const auto index_at = [&](std::int64_t cell) {
        return narrow ? std::int64_t{reinterpret_cast<const std::int32_t*>(indices)[cell]}
                      : reinterpret_cast<const std::int64_t*>(indices)[cell];
    };
    plane_sites made;
    std::unordered_map<std::int64_t, std::int32_t> number;
    made.nearest.reserve(static_cast<std::size_t>(from.rows * from.columns));
    for (std::int64_t row = 0; row < from.rows; ++row)
        for (std::int64_t column = 0; column < from.columns; ++column) {
            const std::int64_t cell = from.cell(row, column);
            if (index_at(cell) < 0) {
                made.nearest.push_back(-1);
                continue;
            }
            // From here on an index counts from the first cell of the whole array.
            const std::int64_t index = from.first + index_at(cell);
            const auto [found, fresh] = number.try_emplace(index, static_cast<std::int32_t>(made.sites.size()));
            if (fresh) {
                made.sites.push_back(see(from, index, in));
                made.index.push_back(index);
            }
            made.nearest.push_back(found->second);
            made.own_cells += index == cell;
        }
    return made;
}

/// Gives every site its group's number, from 0 on, and each group a colour that differs from its neighbours'.
std::vector<rgb> colour_groups(const sheet& on, std::vector<plane_sites>& planes,
                               const std::function<std::int64_t(std::int64_t)>& group_of) {
    std::unordered_map<std::int64_t, std::size_t, seeded_hash> dense;
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
    const field& of;
    double pitch;
    bool dots;  ///< true to draw each of few sites as a dot that is visible at any scale
    double row_period = of.period(on.shows.row_axis), column_period = of.period(on.shows.column_axis);
    double off_plane_border = nearest_border_off_plane();

    [[nodiscard]] static std::int64_t inside(std::int64_t at, std::int64_t count, bool wraps) {
        return wraps ? (at % count + count) % count : std::clamp<std::int64_t>(at, 0, count - 1);
    }

    [[nodiscard]] std::int32_t nearest(std::int64_t row, std::int64_t column) const {
        row = inside(row, on.shows.rows, row_period > 0), column = inside(column, on.shows.columns, column_period > 0);
        return in.nearest[static_cast<std::size_t>(row * on.shows.columns + column)];
    }

    [[nodiscard]] double squared(const seen_site& s, double row, double column) const {
        const double down = shorter(s.row - row, row_period), right = shorter(s.column - column, column_period);
        return down * down + right * right + s.off2;
    }

    /// The different sites of the nine cells around a point.
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

    /// Share of a pixel that a border between groups covers. The bisector of two sites is a straight line, also with
    /// weights, so its distance follows from the pixel alone.
    [[nodiscard]] double border_cover(const std::array<const seen_site*, 9>& found, int count, const seen_site& own,
                                      double row, double column) const {
        double least = infinity;
        for (int i = 0; i < count; ++i) {
            const seen_site& other = *found[static_cast<std::size_t>(i)];
            if (other.group == own.group) continue;
            const double apart =
                std::hypot(shorter(other.row - row, row_period) - shorter(own.row - row, row_period),
                           shorter(other.column - column, column_period) - shorter(own.column - column, column_period));
            if (apart > 0)
                least = std::min(least, (squared(other, row, column) - squared(own, row, column)) / (2 * apart));
        }
        return std::clamp(1.05 - least / pitch, 0.0, 1.0);
    }

    [[nodiscard]] double seed_cover(const seen_site& own, double row, double column, double cell_row,
                                    double cell_column) const {
        if (dots) {
            const double down = shorter(own.row - row, row_period), right = shorter(own.column - column, column_period);
            return std::clamp(2.6 - std::hypot(down, right) / pitch, 0.0, 1.0);
        }
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
        row = inside(row, on.shows.rows, false), column = inside(column, on.shows.columns, false);
        const std::int32_t s = nearest(row, column);
        return s >= 0 && in.index[static_cast<std::size_t>(s)] == on.shows.cell(row, column);
    }

    /// Distance along an axis of length `length` to the centre of the first cell beyond a closed end.
    [[nodiscard]] double to_closed_end(int axis, double place, double length) const {
        if (of.beyond(axis) != border::closed) return infinity;
        return std::min(place, length - place) + of.per_axis[static_cast<std::size_t>(axis)] / 2;
    }

    [[nodiscard]] double nearest_border_off_plane() const {
        double least = infinity;
        for (std::size_t axis = 0; axis < of.per_axis.size(); ++axis) {
            const int a = static_cast<int>(axis);
            if (a == on.shows.row_axis || a == on.shows.column_axis) continue;
            const double place = (static_cast<double>(on.shows.at[axis]) + 0.5) * of.per_axis[axis];
            least = std::min(least,
                             to_closed_end(a, place, static_cast<double>(of.nearest.shape[axis]) * of.per_axis[axis]));
        }
        return least;
    }

    /// Largest distance at which a site counts for a point.
    [[nodiscard]] double reach(double row, double column) const {
        const plane& p = on.shows;
        return std::min({of.style.max_distance, off_plane_border,
                         to_closed_end(p.row_axis, row, static_cast<double>(p.rows) * p.row_spacing),
                         to_closed_end(p.column_axis, column, static_cast<double>(p.columns) * p.column_spacing)});
    }

    [[nodiscard]] rgb colour(double x, double y) const {
        if (on.rows_up) y = on.height - y;
        const double row = y * pitch, column = x * pitch;
        const double cell_row = row / on.shows.row_spacing, cell_column = column / on.shows.column_spacing;
        if (of.style.flat) return cell_colour(cell_row, cell_column);
        std::array<const seen_site*, 9> found{};
        const int count =
            candidates(static_cast<std::int64_t>(cell_row), static_cast<std::int64_t>(cell_column), found);
        if (count == 0) return unreached;
        const auto nearer = [&](const seen_site* a, const seen_site* b) {
            return squared(*a, row, column) < squared(*b, row, column);
        };
        const seen_site& own = **std::min_element(found.begin(), found.begin() + count, nearer);
        const double most = reach(row, column);
        double reached = 1;
        // Seeds are drawn whole, however small the limit is.
        if (most < infinity && !is_site(static_cast<std::int64_t>(cell_row), static_cast<std::int64_t>(cell_column)))
            reached = std::clamp((most - std::sqrt(std::max(0.0, squared(own, row, column)))) / pitch + 0.5, 0.0, 1.0);
        rgb painted = mix(unreached, colours[own.group], reached);
        painted = mix(painted, ink, 0.72 * reached * border_cover(found, count, own, row, column));
        return mix(painted, ink,
                   (dots ? 0.85 : of.style.site_ink) * seed_cover(own, row, column, cell_row - 0.5, cell_column - 0.5));
    }

    /// The colour of the cell itself, with lines along faces between groups if cells are large enough for lines.
    [[nodiscard]] rgb cell_colour(double cell_row, double cell_column) const {
        const auto row = static_cast<std::int64_t>(cell_row), column = static_cast<std::int64_t>(cell_column);
        const auto group_at = [&](std::int64_t r, std::int64_t c) {
            const std::int32_t s = nearest(r, c);
            return s < 0 ? std::int64_t{-1} : static_cast<std::int64_t>(in.sites[static_cast<std::size_t>(s)].group);
        };
        const std::int64_t own = group_at(row, column);
        const rgb painted = own < 0 ? unreached : colours[static_cast<std::size_t>(own)];
        if (std::min(on.shows.row_spacing, on.shows.column_spacing) < 4 * pitch) return painted;
        const double down = cell_row - static_cast<double>(row), right = cell_column - static_cast<double>(column);
        const bool line_down = std::min(down, 1 - down) * on.shows.row_spacing < pitch,
                   line_right = std::min(right, 1 - right) * on.shows.column_spacing < pitch;
        const bool line = (line_down && group_at(row + (down < 0.5 ? -1 : 1), column) != own) ||
                          (line_right && group_at(row, column + (right < 0.5 ? -1 : 1)) != own);
        return line ? mix(painted, ink, 0.6) : painted;
    }
};

}  // namespace

picture draw_voronoi(const sheet& on, const io::array& nearest, const std::vector<double>& per_axis,
                     const std::function<std::int64_t(std::int64_t)>& group_of, const voronoi_style& style) {
    const field of{nearest, per_axis, style};
    std::vector<plane_sites> planes;
    planes.reserve(on.panels.size());
    for (const panel& each : on.panels) planes.push_back(gather(each.shows, of));
    const std::vector<rgb> colours = colour_groups(on, planes, group_of);
    picture image(on);
    for (std::size_t i = 0; i < on.panels.size(); ++i) {
        const panel& part = on.panels[i];
        // A seed of a power diagram may not own its cell.
        const bool few =
            planes[i].own_cells * 100 < part.shows.rows * part.shows.columns &&
            (style.weights != nullptr || planes[i].own_cells == static_cast<std::int64_t>(planes[i].sites.size()));
        const voronoi_painter painter{part, planes[i], colours, of, on.pitch, few};
        for_slabs(part.height, [&](std::int64_t begin, std::int64_t end) {
            for (int y = static_cast<int>(begin); y < end; ++y)
                for (int x = 0; x < part.width; ++x)
                    image.at(part.left + x, part.top + y) = painter.colour(x + 0.5, y + 0.5);
        });
    }
    name_planes(image, on);
    return image;
}

}  // namespace nearfield::cli
