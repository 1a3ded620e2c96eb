// The public calls: they check their arguments, then run the place's backend.
#include <fmt/format.h>

#include <algorithm>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "base/unwritten.hpp"
#include "exact/room.hpp"
#include "medial_axis/problem.hpp"

namespace nearfield {
namespace medial_axes {
namespace {

constexpr double most_gamma = 65536;
constexpr double most_pruned = 0x1p46, most_marked = 0x1p59, most_of_balls = 0x1p60;
constexpr double most_weight = 0x1p53;  // largest weight of a power diagram's seed
constexpr auto masks = {dtype::boolean, dtype::uint8};
constexpr auto integers = {dtype::boolean, dtype::int8,   dtype::uint8, dtype::int16, dtype::uint16,
                           dtype::int32,   dtype::uint32, dtype::int64, dtype::uint64};

void check_place(const host& on) {
    if (on.threads < 0) fail("threads is negative; give 0 for every core or a number of threads");
}
void check_place(const device&) {}

template <class Place>
void check_shape(const char* name, const any_input<Place>& image, int batch_axes) {
    check_image<Place>(name, image, std::int64_t{1} << 31);
    if (batch_axes < 0 || batch_axes >= image.rank)
        fail(fmt::format("batch_axes is {} for an array of {} axes; leave one axis to search", batch_axes, image.rank));
    if (image.rank - batch_axes > most_axes)
        fail(fmt::format("{} has {} axes besides {} of a batch; give 1 to {}", name, image.rank - batch_axes,
                         batch_axes, most_axes));
}

void check_options(const medial_axis_options& o) {
    if (o.method > axis_method::reduced)
        fail(fmt::format("method is {}; give integer, balls or reduced", static_cast<int>(o.method)));
    if (o.prune > pruning::angle)
        fail(fmt::format("prune is {}; give constant, linear, square_root or angle", static_cast<int>(o.prune)));
    if (o.sites > sites::other_labels) fail("sites is neither zero, nonzero nor other_labels");
    const bool plain = o.prune == pruning::constant;
    if (o.method != axis_method::integer && (!plain || o.gamma != 1))
        fail("prune and gamma go with the method integer; leave them out, or give that method");
    const double most = plain ? std::numeric_limits<double>::max() : o.prune == pruning::angle ? 180 : most_gamma;
    if (!(o.gamma >= 0 && o.gamma <= most))
        fail(fmt::format("gamma is {}; give a number from 0 to {}", o.gamma, plain ? "inf" : fmt::format("{}", most)));
}

template <class Place>
void check_outputs(const any_input<Place>& image, const medial_axis_fields<Place>& out, axis_method method) {
    if (!out.axis.wanted()) fail("out.axis has no axes; give an array of the image's shape");
    check_type("out.axis", out.axis.type, masks);
    check_same_shape<Place>("out.axis", out.axis, image);
    if (out.second.wanted()) {
        check_type("out.second", out.second.type, {dtype::int64, dtype::int32});
        check_same_shape<Place>("out.second", out.second, image);
        if (method != axis_method::integer) fail("out.second goes with the method integer; leave it out");
        if (out.second.type == dtype::int32 && image.cells() > std::int64_t{1} << 31)
            fail(fmt::format("out.second has element type int32, which ends at 2147483647; {} cells need int64",
                             image.cells()));
    }
    const named_view<Place> all[] = {{"image", image},
                                     {"out.axis", out.axis},
                                     {"out.distance", out.distance},
                                     {"out.squared", out.squared},
                                     {"out.index", out.index},
                                     {"out.second", out.second}};
    check_data<Place>(all);
    check_apart<Place>(all);
}

/// The largest integer n with n <= x^2, at most int64's maximum.
std::int64_t floor_of_square(double x) {
    const double square = x * x;
    if (!(square < 0x1p62)) return std::numeric_limits<std::int64_t>::max();
    const double whole = std::floor(square);
    const bool rounded_up = whole == square && std::fma(x, x, -square) < 0;
    return static_cast<std::int64_t>(whole) - (rounded_up ? 1 : 0);
}

std::uint64_t share_of(double square) {
    return static_cast<std::uint64_t>(std::llround(std::ldexp(square, share_bits)));
}

/// The squared cosine; exact for angles whose squared cosine is 1/4.
double cosine2_of(double degrees) {
    if (degrees == 90) return 0;
    const double cosine = std::cos(degrees * 0x1.921fb54442d18p+1 / 180);
    return std::round(std::ldexp(cosine * cosine, share_bits)) / std::ldexp(1, share_bits);
}

void make_rules(problem& p, const medial_axis_options& o) {
    double slack = 0;
    for (int axis = 0; axis < p.axes; ++axis) {
        const double length = p.length[p.where.batch + axis];
        const int place = place_of(axis, p.axes);
        p.real.weights[place] = length * length, slack += length * length;
        if (p.counted) p.whole.weights[place] = static_cast<std::int64_t>(length * length);
        p.unit = p.unit && length == 1;
    }
    p.whole.prune = p.real.prune = o.prune;
    p.real.least = o.gamma * o.gamma, p.real.slack = slack;
    if (p.counted) {
        p.whole.least = floor_of_square(o.gamma / std::sqrt(p.unit2));
        p.whole.slack = static_cast<std::int64_t>(slack);
    }
    p.whole.obtuse = p.real.obtuse = o.gamma > 90;
    if (o.prune != pruning::constant)
        p.whole.share = p.real.share = share_of(o.prune == pruning::angle ? cosine2_of(o.gamma) : o.gamma * o.gamma);
}

template <class Place>
problem problem_of(const any_input<Place>& image, const distance_options& options) {
    problem p;
    p.rank = image.rank, p.axes = image.rank - options.batch_axes, p.options = options;
    const auto spacing = checked_spacing(options.spacing, image.shape.data(), image.rank);
    const auto ends = checked_borders(options.border, image.shape.data(), image.rank);
    const exact::counting counts = exact::counting_of(image.shape.data(), image.rank, options);
    p.where.batch = options.batch_axes, p.unit2 = counts.unit2;
    for (int axis = 0; axis < options.batch_axes; ++axis) {
        p.where.batch_size[axis] = image.shape[static_cast<std::size_t>(axis)], p.length[axis] = 1;
        p.where.images *= p.where.batch_size[axis];
    }
    for (int axis = options.batch_axes; axis < image.rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        const int place = place_of(axis - options.batch_axes, p.axes);
        p.where.size[place] = image.shape[k], p.where.beyond[place] = ends[k];
        p.length[axis] = counts.length[static_cast<std::size_t>(axis - options.batch_axes)];
        p.counted = p.counted && p.length[axis] == std::floor(p.length[axis]) && p.length[axis] < 0x1p26;
        const double way = static_cast<double>(image.shape[k] + 1) * p.length[axis];
        p.largest += way * way;
    }
    p.counted = p.counted && p.largest < most_marked;
    if (p.counted) return p;
    p.unit2 = 1;
    for (int axis = options.batch_axes; axis < image.rank; ++axis)
        p.length[axis] = spacing[static_cast<std::size_t>(axis)];
    return p;
}

void check_limits(const problem& p, const medial_axis_options& o) {
    if (o.method == axis_method::integer) {
        if (p.counted && o.prune != pruning::constant && p.largest >= most_pruned)
            fail("prune measures grids of up to 2^46 squared units; give constant, or a coarser spacing");
        return;
    }
    if (!p.counted)
        fail(
            "spacing has lengths that are not multiples of one length; balls are compared in integers: give such "
            "lengths, or the method integer");
    double diagonal = 0;
    for (const std::int64_t weight : p.whole.weights) diagonal += static_cast<double>(weight);
    if (p.largest >= most_weight || p.largest * diagonal >= most_of_balls)
        fail(
            "method compares balls in 64 bits, which this grid with its spacing exceeds; give the method integer, or a "
            "coarser spacing");
}

template <class Place>
void solve(const Place& on, const any_input<Place>& image, const medial_axis_fields<Place>& out,
           const medial_axis_options& o) {
    check_place(on);
    check_shape<Place>("image", image, o.batch_axes);
    check_options(o);
    check_outputs(image, out, o.method);
    if (o.sites == sites::other_labels) check_type("image", image.type, integers);
    distance_options options;
    options.spacing = o.spacing, options.sites = o.sites, options.border = o.border, options.batch_axes = o.batch_axes;
    problem p = problem_of(image, options);
    p.labels = o.sites == sites::other_labels, p.method = o.method;
    make_rules(p, o);
    check_limits(p, o);
    const expected_outputs written = {out.axis, out.distance, out.squared, out.index, out.second};
    if (image.cells() > 0) {
        run(on, p, image, out);
        return rehearse_step(o.method == axis_method::integer ? "sites of neighbours, compared"
                             : o.method == axis_method::balls ? "balls of neighbours, compared"
                                                              : "balls of neighbours, and owners in their diagram");
    }
    // An empty image is refused for the same reasons as one with cells.
    if (fields<Place> asked{.distance = out.distance,
                            .squared = out.squared,
                            .index = out.index,
                            .coordinates = {},
                            .label = {},
                            .trusted = {}};
        asked.distance.wanted() || asked.squared.wanted() || asked.index.wanted())
        distance_transform(on, image, asked, options);
}

template <class Place>
void solve_again(const Place& on, const any_input<Place>& axis, const any_input<Place>& squared,
                 const any_output<Place>& out, const reconstruct_options& o) {
    check_place(on);
    check_shape<Place>("axis", axis, o.batch_axes);
    check_type("axis", axis.type, integers);
    if (!squared.wanted()) fail("squared has no axes; give an array of the axis' shape");
    if (squared.type == dtype::float16) fail("squared has element type float16; give integers, float32 or float64");
    check_same_shape<Place>("squared", squared, axis);
    if (!out.wanted()) fail("out has no axes; give an array of the axis' shape");
    check_same_shape<Place>("out", out, axis);
    check_type("out", out.type, {axis.type});
    const named_view<Place> all[] = {{"axis", axis}, {"squared", squared}, {"out", out}};
    check_data<Place>(all);
    check_apart<Place>(all, 2);
    distance_options options;
    options.spacing = o.spacing, options.border = o.border, options.batch_axes = o.batch_axes;
    options.sites = sites::nonzero;
    const problem p = problem_of(axis, options);
    const expected_outputs written = {out};
    rehearse_step("power diagram of balls, cut");
    if (axis.cells() > 0) rebuild(on, p, axis, squared, out);
}

}  // namespace
}  // namespace medial_axes

void medial_axis(const host& on, const any_input<host>& image, const medial_axis_fields<host>& out,
                 const medial_axis_options& options) {
    in_call([&] { medial_axes::solve(on, image, out, options); });
}
void medial_axis(const device& on, const any_input<device>& image, const medial_axis_fields<device>& out,
                 const medial_axis_options& options) {
    in_call([&] { medial_axes::solve(on, image, out, options); });
}

void reconstruct(const host& on, const any_input<host>& axis, const any_input<host>& squared,
                 const any_output<host>& out, const reconstruct_options& options) {
    in_call([&] { medial_axes::solve_again(on, axis, squared, out, options); });
}
void reconstruct(const device& on, const any_input<device>& axis, const any_input<device>& squared,
                 const any_output<device>& out, const reconstruct_options& options) {
    in_call([&] { medial_axes::solve_again(on, axis, squared, out, options); });
}

}  // namespace nearfield
