// The public calls: check, count regions, and convert counts to lengths.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/parallel.hpp"
#include "base/rehearsal.hpp"
#include "base/scratch.hpp"
#include "base/share.hpp"
#include "base/unwritten.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/pores.hpp"
#include "nearfield/watershed.hpp"
#include "pores/regions.hpp"

namespace nearfield {
namespace pores {
namespace {

constexpr int most_axes = 3;
using lengths = std::array<double, 3>;

void check_grid(const char* name, const any_input<host>& image, const pore_options& options) {
    check_image<host>(name, image, std::int64_t{1} << 31);
    if (image.rank > most_axes) fail(fmt::format("{} has {} axes; give 1 to {}", name, image.rank, most_axes));
    if (options.connectivity < 1 || options.connectivity > image.rank)
        fail(fmt::format("connectivity is {} for {} axes; give 1 to {}", options.connectivity, image.rank, image.rank));
}

grid grid_of(const any_input<host>& regions, const any_input<host>& squared, const pore_options& options) {
    check_grid("regions", regions, options);
    if (regions.type >= dtype::float16)
        fail(fmt::format("regions has element type {}; give integers", name_of(regions.type)));
    check_type("squared", squared.type, {dtype::uint32, dtype::uint64, dtype::float64});
    check_same_shape<host>("squared", squared, regions);
    const named_view<host> all[] = {{"regions", regions}, {"squared", squared}};
    check_data<host>(all);
    const auto length = checked_spacing(options.spacing, regions.shape.data(), regions.rank);
    const auto ends = checked_borders(options.border, regions.shape.data(), regions.rank);
    grid g;
    g.label = regions, g.squared = squared, g.connectivity = options.connectivity;
    for (int axis = 0; axis < regions.rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis), to = k + 3 - static_cast<std::size_t>(regions.rank);
        g.size[to] = regions.shape[k], g.length[to] = length[k], g.ends[to] = ends[k], g.given[to] = true;
        g.label_step[to] = regions.stride[k], g.squared_step[to] = squared.stride[k];
    }
    return g;
}

/// Diameter of a ball of this volume, or with 2 axes of a disc of this area; with 1 axis the length itself.
double diameter_of(double size, int axes) {
    constexpr double pi = 3.141592653589793;
    if (axes == 3) return std::cbrt(6 * size / pi);
    return axes == 2 ? 2 * std::sqrt(size / pi) : size;
}

/// Converts counts to units of the spacing.
class measured {
public:
    measured(const grid& g, int axes) : g_(g), axes_(axes), front_(3 - static_cast<std::size_t>(axes)) {
        network.axes = axes;
    }

    pore_network network;

    void add_pores(const counted& all) {
        const double cell = std::accumulate(g_.length.begin(), g_.length.end(), 1.0, std::multiplies{});
        for (std::size_t i = 0; i < all.regions.size(); ++i) {
            const region& r = all.regions[i];
            number_.push_back(static_cast<std::int64_t>(network.pores.size()));
            if (r.cells == 0) continue;
            pore made;
            made.region = static_cast<std::int64_t>(i) + 1, made.cells = r.cells;
            made.inscribed_diameter = diameter(r.centre), made.volume = cell * static_cast<double>(r.cells);
            made.equivalent_diameter = diameter_of(made.volume, axes_);
            const place at = g_.at(r.centre.cell);
            lengths centroid{};
            for (std::size_t k = 0; k < 3; ++k) {
                const auto size = static_cast<double>(g_.size[k]);
                centroid[k] =
                    static_cast<double>(at[k]) + static_cast<double>(r.moved[k]) / static_cast<double>(r.cells);
                if (g_.ends[k] == border::periodic) centroid[k] -= size * std::floor(centroid[k] / size);
                centroid[k] *= g_.length[k];
            }
            centres_.push_back(at);
            made.centre = in_array_order(scaled(at)), made.centroid = in_array_order(centroid);
            network.pores.push_back(made);
        }
    }

    void add_throats(const counted& all) {
        for (const auto& [labels, t] : all.contacts) {
            throat made = throat_of(t, number(labels.first), number(labels.second));
            const place &a = centres_[static_cast<std::size_t>(made.a)],
                        &b = centres_[static_cast<std::size_t>(made.b)], at = g_.at(t.pass.cell);
            made.total_length = far(g_.way(a, at)) + far(g_.way(at, b)), made.direct_length = far(g_.way(a, b));
            network.throats.push_back(made);
        }
    }

    void add_sides(const counted& all) {
        for (const auto& [key, t] : all.sides) {
            const std::size_t axis = static_cast<std::size_t>(key.first) / 2;
            const bool last = key.first % 2 != 0;
            const auto own = static_cast<std::int64_t>(network.pores.size());
            throat made = throat_of(t, number(key.second), own);
            const place at = g_.at(t.pass.cell);
            lengths end = scaled(at);
            end[axis] += (last ? 0.5 : -0.5) * g_.length[axis];
            const lengths to = scaled(centres_[static_cast<std::size_t>(made.a)]);
            lengths moved{};
            for (std::size_t k = 0; k < 3; ++k) moved[k] = end[k] - to[k];
            const place ways = g_.way(centres_[static_cast<std::size_t>(made.a)], at);
            for (std::size_t k = 0; k < 3; ++k)
                if (k != axis) moved[k] = static_cast<double>(ways[k]) * g_.length[k];
            made.total_length = made.direct_length = far(moved);
            pore beyond;
            beyond.side = key.first - 2 * static_cast<std::int64_t>(front_);
            beyond.centre = beyond.centroid = made.centre = in_array_order(end);
            beyond.inscribed_diameter = made.inscribed_diameter;
            network.pores.push_back(beyond);
            network.throats.push_back(made);
        }
    }

private:
    [[nodiscard]] std::int64_t number(std::int64_t label) const { return number_[static_cast<std::size_t>(label - 1)]; }
    [[nodiscard]] double diameter(const peak& p) const {
        if (g_.squared.type == dtype::float64) return 2 * std::sqrt(std::bit_cast<double>(p.value));
        const bool none = p.value == (g_.squared.type == dtype::uint32 ? UINT32_MAX : UINT64_MAX);
        return none ? std::numeric_limits<double>::infinity() : 2 * std::sqrt(static_cast<double>(p.value));
    }
    [[nodiscard]] lengths scaled(const place& at) const {
        lengths made{};
        for (std::size_t k = 0; k < 3; ++k) made[k] = static_cast<double>(at[k]) * g_.length[k];
        return made;
    }
    [[nodiscard]] lengths in_array_order(const lengths& at) const {
        lengths made{};
        std::copy(at.begin() + static_cast<std::ptrdiff_t>(front_), at.end(), made.begin());
        return made;
    }
    [[nodiscard]] static double far(const lengths& way) {
        return std::sqrt((way[0] * way[0] + way[1] * way[1]) + way[2] * way[2]);
    }
    [[nodiscard]] double far(const place& way) const { return far(scaled(way)); }

    [[nodiscard]] throat throat_of(const touching& t, std::int64_t a, std::int64_t b) const {
        throat made;
        made.a = a, made.b = b, made.inscribed_diameter = diameter(t.pass);
        made.centre = in_array_order(scaled(g_.at(t.pass.cell)));
        lengths area{};
        for (std::size_t k = 0; k < 3; ++k) {
            area[k] = static_cast<double>(t.faces[k]);
            for (std::size_t other = 0; other < 3; ++other)
                if (other != k) area[k] *= g_.length[other];
        }
        made.area = far(area), made.equivalent_diameter = diameter_of(made.area, axes_ - 1);
        return made;
    }

    const grid& g_;
    int axes_;
    std::size_t front_;                 ///< axes of the grid in front of those of the arrays
    std::vector<std::int64_t> number_;  ///< number of the pore, by label - 1
    std::vector<place> centres_;        ///< by pore
};

/// Marks the cells that have a distance above 0.
void mark(const host& on, const any_input<host>& squared, std::uint8_t* marks) {
    constexpr std::int64_t at_once = std::int64_t{1} << 16;
    const host silent{on.threads, {}};
    workers team(silent, squared.cells());
    const auto write = [&](const auto* value) {
        team.for_each(squared.cells(), at_once, 1, [&](std::int64_t first, std::int64_t last, int) {
            std::transform(value + first, value + last, marks + first, [](auto each) { return each != 0 ? 1 : 0; });
        });
    };
    switch (squared.type) {
        case dtype::uint32: return write(static_cast<const std::uint32_t*>(squared.data));
        case dtype::uint64: return write(static_cast<const std::uint64_t*>(squared.data));
        default: return write(static_cast<const double*>(squared.data));
    }
}

/// Finds regions as the watershed of the distance from its peaks.
void find_regions(const host& on, const any_input<host>& mask, const pore_options& options,
                  const any_output<host>& squared, const any_output<host>& regions) {
    const auto shape = mask.shape.data();
    distance_options how;
    how.spacing = options.spacing, how.border = options.border;
    fields<host> wanted;
    wanted.squared = squared;
    distance_transform(part_of(on, 0, 0.4), mask, wanted, how);
    host_scratch<std::uint8_t> inside(mask.cells());
    mark(on, squared, inside.get());
    auto ends = checked_borders(options.border, shape, mask.rank);
    std::replace(ends.begin(), ends.end(), border::closed, border::open);
    watershed_options flood;
    flood.connectivity = options.connectivity, flood.maxima = flood.roots = true;
    flood.border = borders(ends.data(), static_cast<std::size_t>(mask.rank));
    const auto length = checked_spacing(options.spacing, shape, mask.rank);
    flood.h = options.h < 0 ? *std::min_element(length.begin(), length.begin() + mask.rank) : options.h;
    const std::span<const std::int64_t> sizes(shape, static_cast<std::size_t>(mask.rank));
    watershed(part_of(on, 0.4, 0.5), squared, {regions, {}}, flood, {},
              any_input<host>::contiguous(inside.get(), dtype::uint8, sizes));
}

pore_network network_of(const host& on, const grid& g, int axes, bool boundaries) {
    const counted all = count(on, g, boundaries);
    measured made(g, axes);
    made.add_pores(all), made.add_throats(all), made.add_sides(all);
    return std::move(made.network);
}

}  // namespace
}  // namespace pores

pore_network network_of_regions(const host& on, const any_input<host>& regions, const any_input<host>& squared,
                                const pore_options& options) {
    return in_call([&] {
        const pores::grid g = pores::grid_of(regions, squared, options);
        return pores::network_of(on, g, regions.rank, options.boundaries);
    });
}

pore_network network_of_pores(const host& on, const any_input<host>& mask, const pore_options& options,
                              const any_output<host>& regions) {
    return in_call([&] {
        pores::check_grid("mask", mask, options);
        if (regions.wanted()) {
            check_type("regions", regions.type, {dtype::int32});
            check_same_shape<host>("regions", regions, mask);
            const named_view<host> all[] = {{"mask", mask}, {"regions", regions}};
            check_data<host>(all);
            check_apart<host>(all);
        }
        if (std::isnan(options.h)) fail("h is NaN; give a height, or a negative number for the shortest length");
        const std::span<const std::int64_t> shape(mask.shape.data(), static_cast<std::size_t>(mask.rank));
        distance_options how;
        how.spacing = options.spacing, how.border = options.border;
        const dtype type = squared_distance_type(shape.data(), mask.rank, how);
        const host_scratch<std::byte> squared(mask.cells() * size_of(type));
        const host_scratch<std::int32_t> own(regions.wanted() ? 0 : mask.cells());
        const auto field = any_output<host>::contiguous(squared.get(), type, shape);
        const auto label = regions.wanted() ? regions : any_output<host>::contiguous(own.get(), dtype::int32, shape);
        if (mask.cells() > 0) pores::find_regions(on, mask, options, field, label);
        const pores::grid g = pores::grid_of(label, field, options);
        rehearse_step("regions and what they share; 100 bytes a thread for each and each pair that touches");
        return pores::network_of(part_of(on, 0.9, 0.1), g, mask.rank, options.boundaries);
    });
}

}  // namespace nearfield
