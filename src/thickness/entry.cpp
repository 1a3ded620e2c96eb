// The public calls: check arguments, choose the number type of squared radii, call the backend.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "base/unwritten.hpp"
#include "exact/room.hpp"
#include "thickness/problem.hpp"

namespace nearfield {
namespace thickness {
namespace {

constexpr int most_axes = 3;

void check_place(const host& on) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
}
void check_place(const device&) {}

/// Upper bound of squared distances with these weights; it includes distances to a closed border.
double bound_of_grid(const problem& p) {
    double sum = p.flat2;
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t cells = p.grid.wraps[axis] ? p.grid.size[axis] / 2 : p.grid.size[axis];
        const auto far = static_cast<double>(std::max<std::int64_t>(cells, 1));
        sum += p.weight[axis] * (far * far);
    }
    return sum;
}

/// Lengths of a cell along each axis; integers in some unit if squared radii are integers.
struct counted_lengths {
    std::array<double, max_rank> length{};  ///< per axis; 1 for batch axes
    bool whole = true;
};

counted_lengths count_lengths(const std::int64_t* shape, int rank, int batch_axes, problem& p) {
    // The caller gives radii in units of the spacing itself.
    const auto given = checked_spacing(p.distances.spacing, shape, rank);
    const exact::counting counted = p.radii_given ? exact::counting{} : exact::counting_of(shape, rank, p.distances);
    counted_lengths found;
    found.length.fill(1);
    std::int64_t common = 0;
    for (int axis = batch_axes; axis < rank; ++axis) {
        const double units = p.radii_given ? given[static_cast<std::size_t>(axis)]
                                           : counted.length[static_cast<std::size_t>(axis - batch_axes)];
        found.whole = found.whole && units == std::floor(units) && units < 0x1p26;
        found.length[static_cast<std::size_t>(axis)] = units;
        if (found.whole) common = std::gcd(common, static_cast<std::int64_t>(units));
    }
    p.unit2 = counted.unit2;
    if (!found.whole || p.radii_given) return found;
    const auto unit = static_cast<double>(common);
    p.unit2 *= unit * unit;
    for (int axis = batch_axes; axis < rank; ++axis) found.length[static_cast<std::size_t>(axis)] /= unit;
    return found;
}

/// Sets the grid without axes of one cell, which lengthen no ball.
void set_grid(const std::int64_t* shape, int rank, const thickness_options& options, problem& p) {
    const auto beyond = checked_borders(options.border, shape, rank);
    for (int axis = 0; axis < options.batch_axes; ++axis) p.grid.images *= shape[axis];
    for (int axis = rank - 1, to = 2; axis >= options.batch_axes; --axis) {
        if (shape[axis] == 1) continue;
        p.grid.size[to] = static_cast<std::int32_t>(shape[axis]);
        p.grid.wraps[to--] = beyond[static_cast<std::size_t>(axis)] == border::periodic;
    }
}

/// Sets the weights of the grid's axes, and the largest squared distance to a closed border of axes of one cell.
void set_weights(const std::int64_t* shape, int rank, int batch_axes, const std::array<double, max_rank>& length,
                 problem& p) {
    p.flat2 = 0;
    for (int axis = rank - 1, to = 2; axis >= batch_axes; --axis) {
        const double weight = length[static_cast<std::size_t>(axis)] * length[static_cast<std::size_t>(axis)];
        if (shape[axis] == 1) p.flat2 += weight;
        else p.weight[to--] = weight;
    }
}

void set_lengths(const std::int64_t* shape, int rank, int batch_axes, problem& p) {
    const counted_lengths counted = count_lengths(shape, rank, batch_axes, p);
    p.numbers = counted.whole ? number::int64 : number::real;
    if (counted.whole) p.distances.spacing = spacing(counted.length.data(), static_cast<std::size_t>(rank));
    set_weights(shape, rank, batch_axes, counted.length, p);
}

/// Chooses the number type of squared radii, and the type that distance_transform returns.
void choose_numbers(double largest, problem& p) {
    const double heaviest = *std::max_element(p.weight, p.weight + 3);
    if (p.numbers == number::int64 && !(largest < int64_limit)) p.numbers = number::real;
    if (p.numbers == number::int64 && largest < int32_limit && heaviest <= int32_weight_limit)
        p.numbers = number::int32;
    p.plain = p.numbers == number::int32 && heaviest == 1 && !p.wraps();
    p.field = p.numbers == number::int32 ? dtype::uint32 : p.numbers == number::int64 ? dtype::uint64 : dtype::float64;
}

/// Switches to doubles: squared distances in the caller's own spacing.
void take_doubles(const std::int64_t* shape, int rank, const thickness_options& options, problem& p) {
    p.distances.spacing = options.spacing, p.unit2 = 1;
    set_weights(shape, rank, options.batch_axes, checked_spacing(options.spacing, shape, rank), p);
}

/// Computes for each size the smallest squared radius whose diameter, rounded to double, is not below the size.
void set_sizes(std::span<const double> sizes, problem& p) {
    p.has_sizes = !sizes.empty();
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        const double size = sizes[k];
        if (!(size > 0) || !std::isfinite(size))
            fail(fmt::format("sizes[{}] is {}; give diameters above 0 in units of spacing", k, size));
        if (k > 0 && !(size > sizes[k - 1]))
            fail(fmt::format("sizes[{}] is {} after {}; give ascending diameters", k, size, sizes[k - 1]));
        const bool real = p.numbers == number::real;
        const auto diameter = [&](double r2) { return 2 * std::sqrt(p.unit2 * r2); };
        // Integers beyond 2^53 are as far apart as doubles are.
        const auto next = [&](double r2, double to) {
            return real || r2 >= 0x1p53 ? std::nextafter(r2, to) : r2 + (to > r2 ? 1 : -1);
        };
        double r2 = size / 2 * (size / 2) / p.unit2;
        if (!real) r2 = std::ceil(r2);
        if (!real && !(r2 < (p.numbers == number::int32 ? int32_limit : int64_limit))) break;  // larger than any ball
        while (r2 > 0 && diameter(next(r2, 0)) >= size) r2 = next(r2, 0);
        while (diameter(r2) < size) r2 = next(r2, std::numeric_limits<double>::infinity());
        p.sizes.push_back(size), p.least_radius2.push_back(r2);
    }
}

void check_squared_type(dtype came, dtype narrowest) {
    check_type("out.squared", came, {dtype::uint32, dtype::uint64, dtype::float64});
    if (came == dtype::float64 || came == narrowest || (came == dtype::uint64 && narrowest == dtype::uint32)) return;
    fail(fmt::format(
        "out.squared has element type {}, which cannot hold every squared radius of this call exactly; give "
        "an array of {}",
        name_of(came), name_of(narrowest)));
}

template <class Place>
void check_views(const any_input<Place>& image, const thickness_fields<Place>& out) {
    if (!out.thickness.wanted() && !out.squared.wanted()) fail("out has no field; give thickness, squared, or both");
    if (out.thickness.wanted()) {
        check_type("out.thickness", out.thickness.type, {dtype::float32, dtype::float64});
        check_same_shape<Place>("out.thickness", out.thickness, image);
    }
    if (out.squared.wanted()) check_same_shape<Place>("out.squared", out.squared, image);
    const named_view<Place> all[] = {{"image", image}, {"out.thickness", out.thickness}, {"out.squared", out.squared}};
    check_data<Place>(all);
    check_apart<Place>(all);
}

void check_rank(const std::int64_t* shape, int rank, const thickness_options& options) {
    if (options.batch_axes < 0 || options.batch_axes >= rank)
        fail(fmt::format("batch_axes is {} for a {}-D array (shape {}); give 0 to {}, so that an axis is left",
                         options.batch_axes, rank, shape_text(shape, rank), rank - 1));
    if (rank - options.batch_axes > most_axes)
        fail(
            fmt::format("image has {} axes (shape {}) of which {} are batch axes; local thickness takes 1 to 3 axes "
                        "besides them: set batch_axes to {} if the leading axes number images",
                        rank, shape_text(shape, rank), options.batch_axes, rank - most_axes));
}

/// Refuses float32 outputs whose overflow would read as infinite, or whose underflow would read as background.
template <class Place>
void check_thickness_type(const problem& p, double largest, const thickness_fields<Place>& out) {
    if (!out.thickness.wanted() || out.thickness.type == dtype::float64) return;
    const double lightest = *std::min_element(p.weight, p.weight + 3);
    if (2 * std::sqrt(p.unit2 * largest) <= double{std::numeric_limits<float>::max()} &&
        std::sqrt(p.unit2 * lightest) >= double{std::numeric_limits<float>::min()})
        return;
    fail(
        "out.thickness has element type float32, which cannot hold the diameters of this spacing; give an array of "
        "float64, or spacing in another unit");
}

template <class Place>
problem checked(const any_input<Place>& image, const thickness_fields<Place>& out, const thickness_options& options,
                bool radii_given) {
    check_image<Place>("image", image, largest_side);
    check_rank(image.shape.data(), image.rank, options);
    check_views(image, out);
    if (options.multilabel && image.type >= dtype::float16)
        fail(fmt::format("image has element type {}; multilabel takes integers", name_of(image.type)));
    problem p;
    p.radii_given = radii_given;
    p.distances.spacing = options.spacing, p.distances.border = options.border;
    p.distances.batch_axes = options.batch_axes;
    p.distances.sites = options.multilabel ? sites::other_labels : sites::zero;
    const dtype narrowest = squared_distance_type(image.shape.data(), image.rank, p.distances);
    set_grid(image.shape.data(), image.rank, options, p);
    set_lengths(image.shape.data(), image.rank, options.batch_axes, p);
    double largest = bound_of_grid(p);
    if (radii_given) {
        if (p.numbers == number::real || p.unit2 != 1 || options.multilabel)
            fail(
                "spacing is not integral, or multilabel is set; balls have squared radii in whole units: multiply "
                "lengths and radii by one factor");
        largest = size_of(image.type) <= 2 ? std::max(largest, 65536.0) : std::max(largest, 0x1p57);
    }
    choose_numbers(largest, p);
    if (p.numbers == number::real) {
        if (radii_given) fail("spacing is too large for union_of_balls; use a larger unit of length");
        take_doubles(image.shape.data(), image.rank, options, p), largest = bound_of_grid(p);
    }
    check_thickness_type(p, largest, out);
    if (out.squared.wanted())
        check_squared_type(out.squared.type, !radii_given               ? narrowest
                                             : size_of(image.type) <= 4 ? dtype::uint32
                                                                        : dtype::uint64);
    set_sizes(options.sizes, p);
    return p;
}

/// Checks the inlets, and sets how centres move from them: none lies beyond a closed end. `ends` outlives the problem.
template <class Place>
void set_moves(const any_input<Place>& image, const any_input<Place>& inlets, const thickness_fields<Place>& out,
               const thickness_options& options, int connectivity, std::array<border, max_rank>& ends, problem& p) {
    check_same_shape<Place>("inlets", inlets, image);
    check_type("inlets", inlets.type,
               {dtype::boolean, dtype::int8, dtype::uint8, dtype::int16, dtype::uint16, dtype::int32, dtype::uint32,
                dtype::int64, dtype::uint64});
    const named_view<Place> all[] = {
        {"inlets", inlets}, {"out.thickness", out.thickness}, {"out.squared", out.squared}};
    check_data<Place>(all);
    check_apart<Place>(all);
    for (int axis = 0; axis < image.rank; ++axis)
        if (options.border[axis] == border::periodic) ends[static_cast<std::size_t>(axis)] = border::periodic;
    p.moves.border = borders(ends.data(), static_cast<std::size_t>(image.rank));
    p.moves.connectivity = connectivity, p.moves.maxima = true;
}

/// Checks the search for ways before any work: a rehearsal of it, with arrays that are addresses only.
template <class Place>
void check_search(const Place& on, const any_input<Place>& image, const any_input<Place>& inlets, const problem& p) {
    rehearsal checks;
    const auto array = [&] {
        const std::int64_t bytes = std::max<std::int64_t>(image.cells() * size_of(p.field), 1);
        return any_output<Place>::contiguous(checks.take(bytes), p.field,
                                             std::span(image.shape.data(), static_cast<std::size_t>(image.rank)));
    };
    Place silent = on;
    if constexpr (std::is_same_v<Place, host>) silent.progress = {};
    watershed(silent, array(), {{}, array()}, p.moves, inlets);
}

template <class Place>
void solve(const Place& on, const any_input<Place>& image, const thickness_fields<Place>& out,
           const thickness_options& options, bool radii_given, const any_input<Place>& inlets = {},
           int connectivity = 1) {
    in_call([&] {
        check_place(on);
        problem p = checked(image, out, options, radii_given);
        std::array<border, max_rank> ends{};
        if (inlets.wanted()) {
            set_moves(image, inlets, out, options, connectivity, ends, p);
            check_search(on, image, inlets, p);
        }
        const expected_outputs written{out.thickness, out.squared};
        if (image.cells() > 0) run(on, p, image, inlets, out);
        const bool tiles = p.plain || (std::is_same_v<Place, host> && p.numbers == number::int32);
        rehearse_step(tiles ? "crescents of balls, by tiles" : "crescents of balls, one by one");
    });
}

template <class Place>
void solve_balls(const Place& on, const any_input<Place>& radii, const thickness_fields<Place>& out,
                 const thickness_options& options) {
    check_type("squared_radii", radii.type,
               {dtype::uint8, dtype::int16, dtype::uint16, dtype::int32, dtype::uint32, dtype::int64, dtype::uint64});
    solve(on, radii, out, options, true);
}

template <class Place>
void solve_porosimetry(const Place& on, const any_input<Place>& mask, const any_input<Place>& inlets,
                       const thickness_fields<Place>& out, const porosimetry_options& options) {
    if (!inlets.wanted()) fail("inlets has no axes; give an array of the shape of mask");
    thickness_options like;
    like.spacing = options.spacing, like.border = options.border, like.sizes = options.sizes;
    solve(on, mask, out, like, false, inlets, options.connectivity);
}

}  // namespace
}  // namespace thickness

void local_thickness(const host& on, const any_input<host>& image, const thickness_fields<host>& out,
                     const thickness_options& options) {
    thickness::solve(on, image, out, options, false);
}
void local_thickness(const device& on, const any_input<device>& image, const thickness_fields<device>& out,
                     const thickness_options& options) {
    thickness::solve(on, image, out, options, false);
}
void union_of_balls(const host& on, const any_input<host>& squared_radii, const thickness_fields<host>& out,
                    const thickness_options& options) {
    thickness::solve_balls(on, squared_radii, out, options);
}
void union_of_balls(const device& on, const any_input<device>& squared_radii, const thickness_fields<device>& out,
                    const thickness_options& options) {
    thickness::solve_balls(on, squared_radii, out, options);
}
void porosimetry(const host& on, const any_input<host>& mask, const any_input<host>& inlets,
                 const thickness_fields<host>& out, const porosimetry_options& options) {
    thickness::solve_porosimetry(on, mask, inlets, out, options);
}
void porosimetry(const device& on, const any_input<device>& mask, const any_input<device>& inlets,
                 const thickness_fields<device>& out, const porosimetry_options& options) {
    thickness::solve_porosimetry(on, mask, inlets, out, options);
}

}  // namespace nearfield
