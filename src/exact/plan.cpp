#include "exact/plan.hpp"

#include <cmath>

#include "base/check.hpp"

namespace nearfield::exact {
namespace {

constexpr double int32_limit = 1073741824.0;           // 2^30: no_site<int32>
constexpr double int64_limit = 4611686018427387904.0;  // 2^62: no_site<int64>
constexpr double uint32_output_limit = 4294967295.0;   // the type's maximum stands for "no site"
// 2 * weight must exceed the error of comparing two values, at most 2^-50 of the largest value that is compared.
constexpr double ordered_ratio = 562949953421312.0;       // 2^49
constexpr std::int64_t max_side = std::int64_t{1} << 31;  // coordinates are returned as int32

bool integral(const std::array<double, max_rank>& cell, int rank) {
    for (int axis = 0; axis < rank; ++axis)
        if (cell[static_cast<std::size_t>(axis)] != std::floor(cell[static_cast<std::size_t>(axis)])) return false;
    return true;
}

/// Sum over axes of weight * (size - 1)^2, an upper bound of every squared distance.
double largest_squared(const std::int64_t* shape, const std::array<double, max_rank>& weight, int rank) {
    double sum = 0;
    for (int axis = 0; axis < rank; ++axis) {
        const double reach = static_cast<double>(shape[axis] > 0 ? shape[axis] - 1 : 0);
        sum += weight[static_cast<std::size_t>(axis)] * (reach * reach);
    }
    return sum;
}

std::array<double, max_rank> squared(const std::array<double, max_rank>& cell) {
    std::array<double, max_rank> weight{};
    for (std::size_t axis = 0; axis < weight.size(); ++axis) weight[axis] = cell[axis] * cell[axis];
    return weight;
}

/// Sums in double are exact below 2^53; above, a bound this close to a limit is moved to the safe side.
double rounded_up(double bound) { return bound * (1.0 + 1e-15); }

dtype squared_type(double largest, bool whole) {
    if (whole && largest < uint32_output_limit) return dtype::uint32;
    if (whole && rounded_up(largest) < int64_limit) return dtype::uint64;
    return dtype::float64;
}

template <class Place>
void check_types(const fields<Place>& out, dtype exact_squared, double largest) {
    if (out.distance.wanted()) check_type("out.distance", out.distance.type, {dtype::float32, dtype::float64});
    if (out.index.wanted()) check_type("out.index", out.index.type, {dtype::int64});
    if (out.coordinates.wanted()) check_type("out.coordinates", out.coordinates.type, {dtype::int32});
    if (!out.squared.wanted()) return;
    check_type("out.squared", out.squared.type, {dtype::uint32, dtype::uint64, dtype::float64});
    check_holds("out.squared", out.squared.type, exact_squared, largest);
}

template <class Place>
void check_shapes(const any_input<Place>& image, const fields<Place>& out) {
    if (!out.distance.wanted() && !out.squared.wanted() && !out.index.wanted() && !out.coordinates.wanted())
        fail("out has no field; give at least one of distance, squared, index, coordinates");
    check_same_shape("out.distance", out.distance, image);
    check_same_shape("out.squared", out.squared, image);
    check_same_shape("out.index", out.index, image);
    check_coordinate_shape("out.coordinates", out.coordinates, image);
}

template <class Place>
void check_memory(const any_input<Place>& image, const fields<Place>& out) {
    const named_view<Place> all[] = {{"image", image},
                                     {"out.distance", out.distance},
                                     {"out.squared", out.squared},
                                     {"out.index", out.index},
                                     {"out.coordinates", out.coordinates}};
    check_apart<Place>(all);
}

/// Drops axes of length 1 (their distance is always 0), so that a column vector is solved as a line.
template <class Place>
void keep_long_axes(plan& p, const any_input<Place>& image, const std::array<double, max_rank>& weight) {
    p.image_rank = image.rank;
    p.rank = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(image.rank); ++axis) {
        const bool last_chance = p.rank == 0 && axis + 1 == static_cast<std::size_t>(image.rank);
        if (image.shape[axis] == 1 && !last_chance) continue;
        const auto kept = static_cast<std::size_t>(p.rank++);
        p.size[kept] = image.shape[axis];
        p.source_axis[kept] = static_cast<int>(axis);
        p.image_stride[kept] = image.stride[axis];
        p.weight[kept] = weight[axis];
    }
}

void choose_numbers(plan& p, bool whole) {
    const bool wide_key = p.sites_wanted && p.keys.total() > narrow_key_bits;
    if (!whole || rounded_up(p.largest) >= int64_limit) p.numbers = tier::float64;
    else p.numbers = p.largest < int32_limit && !wide_key ? tier::int32 : tier::int64;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(p.rank); ++axis)
        p.rows_ordered[axis] = p.numbers != tier::float64 || p.largest / p.weight[axis] < ordered_ratio;
}

}  // namespace

template <class Place>
plan make_plan(const any_input<Place>& image, const fields<Place>& out, const distance_options& options) {
    check_image("image", image, max_side);
    const auto cell = checked_spacing(options.spacing, image.shape.data(), image.rank);
    check_shapes(image, out);
    const auto weight = squared(cell);
    const bool whole = integral(cell, image.rank);

    plan p;
    p.largest = largest_squared(image.shape.data(), weight, image.rank);
    if (!std::isfinite(p.largest))
        fail(
            "spacing is so large that squared distances of this grid exceed what a double can hold; use another unit "
            "of length");
    check_types(out, squared_type(p.largest, whole), p.largest);
    check_memory(image, out);
    p.cells = image.cells();
    if (p.cells == 0) return p;
    keep_long_axes(p, image, weight);
    p.sites_wanted = out.index.wanted() || out.coordinates.wanted();
    p.keys = layout_for(p.size.data(), p.rank);
    if (p.keys.total() > wide_key_bits) fail("image has too many cells: its coordinates need more than 63 bits");
    choose_numbers(p, whole);
    return p;
}

template plan make_plan<host>(const any_input<host>&, const fields<host>&, const distance_options&);
template plan make_plan<device>(const any_input<device>&, const fields<device>&, const distance_options&);

}  // namespace nearfield::exact

namespace nearfield {

dtype squared_distance_type(const std::int64_t* shape, int rank, const spacing& cell) {
    if (rank < 1 || rank > max_rank) fail_rank("shape", rank);
    const auto length = checked_spacing(cell, shape, rank);
    const double largest = exact::largest_squared(shape, exact::squared(length), rank);
    return exact::squared_type(largest, exact::integral(length, rank));
}

}  // namespace nearfield
