#include "exact/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/call.hpp"
#include "base/check.hpp"
#include "exact/room.hpp"
#include "exact/types.hpp"

namespace nearfield::exact {
namespace {

using lengths = std::array<double, max_rank>;
using edges = std::array<border, max_rank>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double int32_limit = 1073741824.0;              // 2^30: no_site<int32>
constexpr double int64_limit = 4611686018427387904.0;     // 2^62: no_site<int64>
constexpr double largest_weight = 4294967296.0;           // 2^32: exceeds every weight of 4 bytes of a power diagram
constexpr double most_counted = 4503599627370496.0;       // 2^52: such numbers of cells, and their products, round once
constexpr std::int64_t most_bottom = 1000;                // denominator of a common measure of spacings
constexpr double most_multiple = 67108864.0;              // 2^26: squares are integers that a double holds
constexpr std::int64_t max_side = std::int64_t{1} << 31;  // coordinates are returned as int32

/// Lengths, borders and shape of the axes that are searched.
struct geometry {
    int rank = 0;
    std::array<std::int64_t, max_rank> size{};
    lengths cell{};
    edges beyond{};
    bool half_cell = false;

    [[nodiscard]] bool integral() const {
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis)
            if (cell[axis] != std::floor(cell[axis])) return false;
        return true;
    }
    [[nodiscard]] bool same_along_all_axes() const {
        return std::all_of(cell.begin(), cell.begin() + rank, [&](double length) { return length == cell[0]; });
    }
    [[nodiscard]] double weight(std::size_t axis) const { return cell[axis] * cell[axis]; }
    /// Returns the squared distance of `cells` along an axis, in quarters with half_cell.
    [[nodiscard]] double term(std::size_t axis, std::int64_t cells) const {
        const auto d = static_cast<double>(reach(cells, half_cell));
        return weight(axis) * (d * d);
    }
    /// Returns the largest number of cells between two of an axis.
    [[nodiscard]] std::int64_t farthest(std::size_t axis) const {
        if (size[axis] == 0) return 0;
        return beyond[axis] == border::periodic ? size[axis] / 2 : size[axis] - 1;
    }
    /// Returns an upper bound of every squared distance between two cells.
    [[nodiscard]] double largest() const {
        double sum = 0;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) sum += term(axis, farthest(axis));
        return sum;
    }
    /// Returns the shortest distance between two cells, or to a closed border.
    [[nodiscard]] double least() const {
        double shortest = infinity;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis)
            if (size[axis] > 1 || beyond[axis] == border::closed) shortest = std::min(shortest, cell[axis]);
        return half_cell ? shortest / 2 : shortest;
    }
    /// Returns an upper bound of the answers: no cell is farther than a closed border, with or without sites.
    [[nodiscard]] double largest_answer() const {
        double to_border = infinity;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis)
            if (beyond[axis] == border::closed) to_border = std::min(to_border, term(axis, (size[axis] + 1) / 2));
        return std::isfinite(to_border) ? to_border : largest();
    }
    /// Returns an upper bound of every value that an engine computes at borders, which are one step from a single cell.
    [[nodiscard]] double largest_beyond() const {
        double sum = 0;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis)
            sum += term(axis, std::max<std::int64_t>(farthest(axis), 1));
        return sum;
    }
};

geometry geometry_of(const std::int64_t* shape, int rank, const distance_options& options) {
    const auto cell = checked_spacing(options.spacing, shape, rank);
    const auto beyond = checked_borders(options.border, shape, rank);
    if (options.batch_axes < 0 || options.batch_axes >= rank)
        fail(
            fmt::format("batch_axes is {} for a {}-D array (shape {}); give 0 to {}, so that an axis is left to search",
                        options.batch_axes, rank, shape_text(shape, rank), rank - 1));
    if (!(options.max_distance >= 0))
        fail(fmt::format("max_distance is {}; give a length of 0 or more, or infinity for no limit",
                         options.max_distance));
    if (options.sites > sites::other_labels) fail("sites is none of zero, nonzero, other_labels");
    if (options.sign > sign::outside_negative) fail("sign is none of none, inside_negative, outside_negative");
    geometry g;
    g.half_cell = options.half_cell;
    for (int axis = options.batch_axes; axis < rank; ++axis) {
        const auto k = static_cast<std::size_t>(g.rank++);
        g.size[k] = shape[axis];
        g.cell[k] = cell[static_cast<std::size_t>(axis)];
        g.beyond[k] = beyond[static_cast<std::size_t>(axis)];
    }
    if (!std::isfinite(4 * g.largest_beyond()))
        fail(
            "spacing is so large that squared distances of this grid exceed what a double can hold; use another unit "
            "of length");
    return g;
}

/// Returns the largest number of units of unit2 whose distance, as a double, does not exceed max_distance.
double limit_in_units(double max_distance, double unit2) {
    const double units = max_distance / std::sqrt(unit2);
    double limit = std::floor(units * units);
    if (!(limit < 2 * most_counted)) return infinity;
    while (limit < 2 * most_counted && std::sqrt(unit2 * (limit + 1)) <= max_distance) ++limit;
    while (limit > 0 && std::sqrt(unit2 * limit) > max_distance) --limit;
    return limit;
}

/// Returns the largest value whose distance, as a double, does not exceed max_distance; in quarters with half_cell.
double limit_of(const distance_options& options, bool whole) {
    const double most = options.half_cell ? 2 * options.max_distance : options.max_distance;
    if (!std::isfinite(most)) return infinity;
    double limit = most * most;
    if (!std::isfinite(limit)) return infinity;
    const auto next = [&](double v) { return whole ? std::floor(v) + 1 : std::nextafter(v, infinity); };
    const auto previous = [&](double v) { return whole ? std::ceil(v) - 1 : std::nextafter(v, -infinity); };
    if (whole && limit >= 9007199254740992.0) whole = false;  // beyond 2^53 a step of one is lost
    if (whole) limit = std::floor(limit);
    while (std::sqrt(next(limit)) <= most) limit = next(limit);
    while (limit > 0 && std::sqrt(limit) > most) limit = previous(limit);
    return limit;
}

range range_of(const geometry& g, const distance_options& options, bool weighted) {
    range r;
    const double limit = limit_of(options, g.integral());
    r.largest = std::min(g.largest_answer(), limit) / (g.half_cell ? 4 : 1);
    r.least = g.least();
    r.whole = g.integral() && !weighted;
    // choose_numbers selects double if intermediate values of a small answer may be larger.
    r.exact = g.largest_beyond() * (1.0 + 1e-15) < int64_limit;
    r.quarters = r.whole && g.half_cell;
    r.negative = options.sign != sign::none;
    return r;
}

template <class Place>
void check_fields(const any_input<Place>& image, const fields<Place>& out, const range& r, const request& wanted,
                  double cells_of_image) {
    const any_output<Place>* all[] = {&out.distance,    &out.squared, &out.index,
                                      &out.coordinates, &out.label,   &out.trusted};
    if (std::none_of(std::begin(all), std::end(all), [](const auto* field) { return field->wanted(); }))
        fail("out has no field; give at least one of distance, squared, index, coordinates, label, trusted");
    check_same_shape<Place>("out.distance", out.distance, image);
    check_same_shape<Place>("out.squared", out.squared, image);
    check_same_shape<Place>("out.index", out.index, image);
    check_same_shape<Place>("out.label", out.label, image);
    check_same_shape<Place>("out.trusted", out.trusted, image);
    check_coordinate_shape("out.coordinates", out.coordinates, image, wanted.options.batch_axes);
    if (out.distance.wanted()) check_distance_type(out.distance.type, r);
    if (out.squared.wanted()) {
        if (wanted.weighted) check_type("out.squared", out.squared.type, {dtype::float64});
        else check_squared_type(out.squared.type, r);
    }
    if (out.index.wanted()) check_index_type(out.index.type, cells_of_image);
    if (out.coordinates.wanted()) check_type("out.coordinates", out.coordinates.type, {dtype::int32});
    if (out.label.wanted()) check_type("out.label", out.label.type, {image.type});
    if (out.trusted.wanted()) check_type("out.trusted", out.trusted.type, {dtype::boolean, dtype::uint8});
}

/// Drops axes of length 1 (their distance is always 0), so that a column vector is solved as a line. It stores the
/// effect of their borders on every cell.
template <class Place>
void keep_long_axes(plan& p, const any_input<Place>& image, const geometry& g) {
    p.image_rank = image.rank;
    p.batch_axes = image.rank - g.rank;
    p.rank = p.first_axis = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(image.rank); ++axis) {
        const int searched = static_cast<int>(axis) - p.batch_axes;
        const bool last_chance = p.rank == p.first_axis && axis + 1 == static_cast<std::size_t>(image.rank);
        if (image.shape[axis] == 1 && !last_chance) {
            if (searched < 0) continue;
            const auto k = static_cast<std::size_t>(searched);
            if (g.beyond[k] == border::closed) p.closed_beside = std::min(p.closed_beside, g.term(k, 1));
            if (g.beyond[k] == border::open) p.open_beside = std::min(p.open_beside, g.term(k, 1));
            continue;
        }
        const auto kept = static_cast<std::size_t>(p.rank++);
        if (searched < 0) p.first_axis = p.rank;
        p.size[kept] = image.shape[axis];
        p.source_axis[kept] = static_cast<int>(axis);
        p.image_stride[kept] = image.stride[axis];
        if (searched < 0) continue;
        p.weight[kept] = g.weight(static_cast<std::size_t>(searched));
        p.borders[kept] = g.beyond[static_cast<std::size_t>(searched)];
    }
}

/// If all axes have the same spacing, counts squared distances in cells, or in quarters of them with half_cell: the
/// same grid in unit spacing. Returns false if spacings differ, or if integers are more exact than a double.
bool count_in_cells(plan& p, geometry& g) {
    if (!g.same_along_all_axes()) return false;
    const double unit2 = g.weight(0);
    if (g.integral() && unit2 >= 2 * most_counted && g.largest_beyond() < int64_limit) return false;
    geometry cells = g;
    cells.cell.fill(1);
    if (!(cells.largest_beyond() < most_counted)) return false;
    g = cells;
    p.unit2 *= unit2;
    return true;
}

/// Spacings such as (2.5, 0.7, 0.7) are 25, 7 and 7 times 0.1, (40, 4, 4) are 10, 1 and 1 times 4: squared distances
/// are then integers in units of that square. Returns false if this would change nothing, if no length top / bottom
/// divides all spacings, or if integers are more exact than a double.
bool count_in_common_measure(plan& p, geometry& g) {
    geometry counted = g;
    std::int64_t top = 0, bottom = 1;
    const auto has_multiples = [&](double divisor) {
        top = 0;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(g.rank); ++axis) {
            const double multiple = std::round(g.cell[axis] * divisor);
            if (!(multiple >= 1 && multiple < most_multiple && multiple / divisor == g.cell[axis])) return false;
            counted.cell[axis] = multiple;
            top = std::gcd(top, static_cast<std::int64_t>(multiple));
        }
        return true;
    };
    while (!has_multiples(static_cast<double>(bottom)))
        if (g.integral() || ++bottom > most_bottom) return false;
    if (g.integral() && (top == 1 || static_cast<double>(top) * static_cast<double>(top) >= 2 * most_counted))
        return false;
    for (double& multiple : counted.cell) multiple /= static_cast<double>(top);
    if (!(counted.largest_beyond() < most_counted)) return false;
    g = counted;
    p.unit2 *= static_cast<double>(top * top) / static_cast<double>(bottom * bottom);
    return true;
}

/// Returns what `rows` beyond half of a joined line add to the largest value: the device searches 4 at once, bounds 32.
double beyond_half(const plan& p, std::int64_t rows) {
    double most = 0;
    for (auto axis = static_cast<std::size_t>(p.first_axis); axis < static_cast<std::size_t>(p.rank); ++axis) {
        if (p.borders[axis] != border::periodic) continue;
        const auto square = [&](std::int64_t d) { return std::pow(static_cast<double>(reach(d, p.half_cell)), 2); };
        most = std::max(most, p.weight[axis] * (square(p.size[axis] / 2 + rows) - square(p.size[axis] / 2)));
    }
    return most;
}

void choose_numbers(plan& p, bool whole, dtype weight_type) {
    const bool wide_key = p.sites_wanted && p.keys.total() > narrow_key_bits;
    const double heaviest = !p.weighted ? 0 : size_of(weight_type) < 8 ? largest_weight : double{most_wide_weight};
    const double largest = (p.largest + heaviest) * (1.0 + 1e-15);
    const auto fits = [&](double limit) {
        return largest + beyond_half(p, 4) < limit && largest + beyond_half(p, 32) < 2 * limit;
    };
    if (!fits(int32_limit)) p.largest = std::max(p.largest, int32_limit);  // tells that values need more than int32
    if (!whole || !fits(int64_limit)) p.numbers = tier::float64;
    else p.numbers = fits(int32_limit) && !wide_key && !p.weighted ? tier::int32 : tier::int64;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(p.rank); ++axis)
        p.rows_ordered[axis] = p.numbers != tier::float64 || rows_ordered(p.largest, p.weight[axis]);
}

template <class Place>
void choose_classes(plan& p, const any_input<Place>& image, const distance_options& options) {
    p.rule = options.sites;
    p.inside_is_nonzero = options.sites != sites::nonzero;
    if (options.sites == sites::other_labels) {
        if (image.type >= dtype::float16)
            fail(fmt::format(
                "image has element type {}; labels (sites::other_labels) are integers of 1 to 8 bytes or bool",
                name_of(image.type)));
        p.by = classes::values;
        p.background = options.sign == sign::none;
    }
    if (options.sign != sign::none) {
        if (p.by == classes::none) p.by = classes::zero;
        p.inside_sign = options.sign == sign::inside_negative ? -1 : 1;
        p.outside_sign = -p.inside_sign;
    }
    if (p.by == classes::values && image.type == dtype::boolean) p.take_as_mask();
}

void check_weighted(const distance_options& options, bool distance_wanted, bool trusted_wanted, dtype weights) {
    check_type("weights", weights,
               {dtype::int8, dtype::uint8, dtype::int16, dtype::uint16, dtype::int32, dtype::uint32, dtype::int64,
                dtype::uint64, dtype::float32, dtype::float64});
    const char* name = options.sign != sign::none             ? "sign"
                       : options.half_cell                    ? "half_cell"
                       : options.max_distance != infinity     ? "max_distance"
                       : options.sites == sites::other_labels ? "sites::other_labels"
                       : distance_wanted                      ? "out.distance"
                       : trusted_wanted                       ? "out.trusted"
                                                              : nullptr;
    if (name != nullptr) fail(fmt::format("{} does not go with a power diagram; leave it out", name));
    for (int axis = options.batch_axes; axis < std::max(options.border.count(), options.batch_axes + 1); ++axis)
        if (options.border[axis] == border::closed)
            fail("border is closed, which does not go with a power diagram; give open or periodic");
}

}  // namespace

template <class Place>
bool has_plain_types(const fields<Place>& out) {
    const auto is = [](const any_output<Place>& field, std::initializer_list<dtype> types) {
        return !field.wanted() || std::find(types.begin(), types.end(), field.type) != types.end();
    };
    return is(out.distance, {dtype::float32, dtype::float64}) &&
           is(out.squared, {dtype::uint32, dtype::uint64, dtype::float64}) &&
           is(out.index, {dtype::int64, dtype::int32}) && !out.label.wanted() && !out.trusted.wanted();
}

template bool has_plain_types<host>(const fields<host>&);
template bool has_plain_types<device>(const fields<device>&);

void plan::take_as_mask() {
    by = is_signed() ? classes::zero : classes::none;
    rule = sites::zero;
    background = false;
}

bool plan::any(border which) const {
    return std::any_of(borders.begin() + first_axis, borders.begin() + rank, [&](border b) { return b == which; });
}

bool plan::plain() const {
    return by == classes::none && !half_cell && !weighted && plain_outputs && limit == infinity &&
           closed_beside == infinity && !any(border::closed) && !any(border::periodic);
}

double plan::unit() const {
    constexpr int most = 60;  // keeps products from overflowing or losing bits
    int exponent = 0;
    const bool power_of_four = std::frexp(unit2, &exponent) == 0.5 && exponent % 2 != 0;
    return power_of_four && std::abs(exponent) <= 2 * most ? std::ldexp(1.0, (exponent - 1) / 2) : 0;
}

template <class Place>
plan make_plan(const any_input<Place>& image, const fields<Place>& out, const request& wanted) {
    const distance_options& options = wanted.options;
    check_image("image", image, max_side);
    geometry g = geometry_of(image.shape.data(), image.rank, options);
    if (wanted.weighted) check_weighted(options, out.distance.wanted(), out.trusted.wanted(), wanted.weight_type);
    plan p;
    p.half_cell = options.half_cell;
    p.unit2 = options.half_cell ? 0.25 : 1;
    p.weighted = wanted.weighted;
    choose_classes(p, image, options);
    double cells_of_image = 1;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(g.rank); ++axis)
        cells_of_image *= static_cast<double>(g.size[axis]);
    check_fields(image, out, range_of(g, options, wanted.weighted), wanted, cells_of_image);
    if (wanted.reads_data) check_memory("image", image, out);
    p.cells = image.cells();
    if (p.cells == 0) return p;
    const bool integral = g.integral();
    const bool counted = !wanted.weighted && (count_in_cells(p, g) || count_in_common_measure(p, g));
    p.limit = counted ? limit_in_units(options.max_distance, p.unit2) : limit_of(options, integral);
    p.largest = g.largest();
    keep_long_axes(p, image, g);
    if (out.trusted.wanted() || p.any(border::closed) || p.closed_beside < infinity) p.largest = g.largest_beyond();
    p.plain_outputs = has_plain_types(out);
    p.sites_wanted = out.index.wanted() || out.coordinates.wanted() || out.label.wanted();
    p.keys = layout_for(p.size.data(), p.rank, p.first_axis);
    if (p.keys.total() > wide_key_bits) fail("image has too many cells: its coordinates need more than 63 bits");
    const bool whole = (integral || counted) && !(wanted.weighted && wanted.weight_type >= dtype::float16);
    choose_numbers(p, whole, wanted.weight_type);
    p.follow_memory(image, out);
    return p;
}

counting counting_of(const std::int64_t* shape, int rank, const distance_options& options) {
    geometry g = geometry_of(shape, rank, options);
    plan p;
    if (!count_in_cells(p, g)) (void)count_in_common_measure(p, g);
    return {g.cell, p.unit2};
}

void check_distance_type(const std::int64_t* shape, int rank, const distance_options& options, dtype type) {
    check_distance_type(type, range_of(geometry_of(shape, rank, options), options, false));
}

template plan make_plan<host>(const any_input<host>&, const fields<host>&, const request&);
template plan make_plan<device>(const any_input<device>&, const fields<device>&, const request&);

}  // namespace nearfield::exact

namespace nearfield {

dtype squared_distance_type(const std::int64_t* shape, int rank, const distance_options& options) {
    if (rank < 1 || rank > max_rank) fail_rank("shape", rank);
    return in_call(
        [&] { return exact::squared_type(exact::range_of(exact::geometry_of(shape, rank, options), options, false)); });
}

}  // namespace nearfield
