// The public calls: they check their arguments, then call the method's room.
#include <fmt/format.h>

#include <algorithm>

#include "banding/core.hpp"
#include "base/call.hpp"
#include "base/check.hpp"
#include "base/unwritten.hpp"
#include "exact/room.hpp"
#include "methods/problem.hpp"

namespace nearfield {
namespace {

using methods::problem;

constexpr std::int64_t most_cells = (std::int64_t{1} << 31) - 2;
constexpr int most_steps_before = 16, most_extra_rounds = 16, most_runs = 8;

template <class Place>
void check_arrays(const char* name, const any_input<Place>& image, const fields<Place>& out) {
    check_image<Place>("image", image, most_cells);
    if (image.rank > 3)
        fail(fmt::format("image has {} axes; {} works on 1 to 3, exact on 1 to {}", image.rank, name, max_rank));
    if (image.cells() > most_cells)
        fail(fmt::format("image has {} cells; {} works on fewer than 2^31 - 1, exact on any number", image.cells(),
                         name));
    if (!out.distance.wanted() && !out.squared.wanted() && !out.index.wanted() && !out.coordinates.wanted() &&
        !out.label.wanted())
        fail("out asks for nothing; give at least one of distance, squared, index, coordinates and label");
    if (out.trusted.wanted()) fail(fmt::format("out.trusted does not go with {}; leave it out, or use exact", name));
    if (out.distance.wanted()) check_type("out.distance", out.distance.type, {dtype::float32, dtype::float64});
    if (out.index.wanted()) check_type("out.index", out.index.type, {dtype::int64, dtype::int32});
    if (out.coordinates.wanted()) check_type("out.coordinates", out.coordinates.type, {dtype::int32});
    if (out.label.wanted()) check_type("out.label", out.label.type, {image.type});
    check_same_shape<Place>("out.distance", out.distance, image);
    check_same_shape<Place>("out.squared", out.squared, image);
    check_same_shape<Place>("out.index", out.index, image);
    check_same_shape<Place>("out.label", out.label, image);
    check_coordinate_shape<Place>("out.coordinates", out.coordinates, image, 0);
    const named_view<Place> all[] = {
        {"image", image},         {"out.distance", out.distance},       {"out.squared", out.squared},
        {"out.index", out.index}, {"out.coordinates", out.coordinates}, {"out.label", out.label}};
    check_data<Place>(all);
    check_apart<Place>(all);
}

/// Checks value ranges. Rank, shape and spacing are already checked.
template <class Place>
void check_ranges(const any_input<Place>& image, const fields<Place>& out, const distance_options& options) {
    if (out.distance.wanted()) exact::check_distance_type(image.shape.data(), image.rank, options, out.distance.type);
    if (!out.squared.wanted()) return;
    check_type("out.squared", out.squared.type, {dtype::uint32, dtype::uint64, dtype::float64});
    const dtype narrowest = squared_distance_type(image.shape.data(), image.rank, options);
    const bool holds = out.squared.type == dtype::float64 || out.squared.type == narrowest ||
                       (narrowest == dtype::uint32 && out.squared.type == dtype::uint64);
    if (!holds)
        fail(
            fmt::format("out.squared has element type {}, which does not hold every squared distance of this call; "
                        "give an array of {}",
                        name_of(out.squared.type), name_of(narrowest)));
}

void check_options(const char* name, const distance_options& options) {
    const auto refuse = [name](const char* what) {
        fail(fmt::format("{} does not go with {}; leave it out, or use exact", what, name));
    };
    if (options.sites == sites::other_labels) refuse("sites = other_labels");
    if (options.sign != sign::none) refuse("sign");
    if (options.half_cell) refuse("half_cell");
    if (options.batch_axes != 0) refuse("batch_axes");
    for (int axis = 0; axis < std::max(options.border.count(), 1) && axis < max_rank; ++axis)
        if (options.border[axis] != border::open) refuse("border");
    if (!(options.max_distance >= 0))
        fail(fmt::format("max_distance is {}; give a length of at least 0", options.max_distance));
}

void check_range(const char* name, int came, int least, int most) {
    if (came < least || came > most) fail(fmt::format("{} is {}; give {} to {}", name, came, least, most));
}

void check_method(const exact_method&, const problem&, bool) {}
void check_method(const banding& how, const problem& p, bool) {
    check_range("m1", how.m1, 0, bands::most_m1);
    check_range("m2", how.m2, 0, bands::most_m2);
    check_range("m3", how.m3, 0, bands::most_m3);
    if (p.g.in == methods::numbers::float64)
        fail(
            "spacing is not integral, or too large; banding compares integers, so give integral spacing, or use exact");
}
void check_method(const jump_flood& how, const problem&, bool) {
    check_range("rounds_before", how.rounds_before, 0, most_steps_before);
    check_range("rounds_after", how.rounds_after, 0, most_extra_rounds);
    check_range("sites_per_cell", how.sites_per_cell, 1, 2);
    check_range("runs", how.runs, 1, most_runs);
    if (how.steps > jump_flood::order::doubling) fail("steps is neither halving nor doubling");
    if (how.randomised && how.sites_per_cell == 2)
        fail("randomised does not go with two sites a cell; give sites_per_cell = 1");
    if (how.seed != 0 && !how.randomised)
        fail(fmt::format("seed is {} and nothing is drawn; set randomised, or leave seed 0", how.seed));
}
void check_method(const plane_sweep& how, const problem& p, bool on_device) {
    if (how.launch > plane_sweep::form::shuffled) fail("launch is none of automatic, cooperative, banded and shuffled");
    if (how.launch == plane_sweep::form::shuffled && p.g.size[0] > 1)
        fail("launch shuffled works on images of one or two axes only; give banded, or leave it automatic");
    if (!on_device && how.launch != plane_sweep::form::automatic)
        fail("launch is a matter of devices; leave it automatic on the host");
}
void check_method(const brushfire& how, const problem&, bool on_device) {
    if (on_device && !how.parallel)
        fail("brushfire by a priority queue runs on the host only; set parallel on a device");
}
void check_method(const chamfer_method& how, const problem& p, bool on_device) {
    if (on_device && !how.iterated) fail("chamfer in raster passes runs on the host only; set iterated on a device");
    const int most = p.g.rank == 2 ? 3 : p.g.rank;
    int count = 0;
    while (count < 3 && how.weights[static_cast<std::size_t>(count)] != 0) ++count;
    if (count > most)
        fail(fmt::format("weights has {} values for a {}-D image; give at most {}", count, p.g.rank, most));
    for (std::size_t k = 0; k < how.weights.size(); ++k)
        if (how.weights[k] < 0 || how.weights[k] > 1 << 20 ||
            (how.weights[k] != 0 && k >= static_cast<std::size_t>(count)))
            fail(fmt::format("weights[{}] is {}; give 1 to {}, and none after a 0", k, how.weights[k], 1 << 20));
    for (double weight : p.g.weight)
        if (weight != 1) fail("spacing does not go with chamfer, whose weights say what a step costs; leave it out");
    // Steps along single axes reach every cell, so no cheapest path costs more than one of these.
    const double dearest = count == 0 ? 5 : *std::max_element(how.weights.begin(), how.weights.end());
    double longest = 0;
    for (std::int64_t n : p.g.size) longest += static_cast<double>(n - 1);
    if (longest * dearest >= 2147483647.0 - (1 << 21))
        fail(fmt::format("weights go up to {}, so that prices could exceed 2^31 - 1; give smaller weights", dearest));
}

template <class Place>
problem make_problem(const method& by, const any_input<Place>& image, const fields<Place>& out,
                     const distance_options& options) {
    check_options(name_of(by), options);
    check_arrays(name_of(by), image, out);
    const auto length = checked_spacing(options.spacing, image.shape.data(), image.rank);
    check_ranges(image, out, options);
    problem p;
    p.g.rank = image.rank;
    p.zero_is_site = options.sites == sites::zero;
    p.limit = options.max_distance;
    for (int axis = 0; axis < p.g.rank; ++axis) {
        p.g.size[3 - p.g.rank + axis] = image.shape[static_cast<std::size_t>(axis)];
        p.g.weight[3 - p.g.rank + axis] =
            length[static_cast<std::size_t>(axis)] * length[static_cast<std::size_t>(axis)];
    }
    if (p.g.cells() > 0) p.g = methods::finished(p.g);
    constexpr bool on_device = std::is_same_v<Place, device>;
    std::visit([&](const auto& how) { check_method(how, p, on_device); }, by);
    if (const auto* how = std::get_if<chamfer_method>(&by)) {
        if (out.squared.wanted())
            fail("squared distances do not go with chamfer, whose distances are no roots; leave them out");
        p.first_weight = how->weights[0] == 0 ? 3 : how->weights[0];
    }
    return p;
}

void check_place(const host& on) {
    if (on.threads < 0) fail("threads is negative; give 0 for every core or a number of threads");
}
void check_place(const device&) {}

template <class Place>
method_report solve(const method& by, const Place& on, const any_input<Place>& image, const fields<Place>& out,
                    const distance_options& options) {
    check_place(on);
    method_report report;
    if (std::holds_alternative<exact_method>(by)) {
        methods::run_exact(on, image, out, options, report);
    } else {
        const problem p = make_problem(by, image, out, options);
        const expected_outputs written{out.distance, out.squared, out.index, out.coordinates, out.label};
        if (p.g.cells() > 0) methods::run(on, by, p, image, out, report);
    }
    for (const method_stage& each : report.stages)
        report.rounds += each.rounds, report.bytes += each.bytes, report.seconds += each.seconds;
    return report;
}

}  // namespace

const char* name_of(const method& by) {
    constexpr const char* names[] = {"exact", "banding", "jump-flood", "plane-sweep", "brushfire", "chamfer"};
    static_assert(std::size(names) == std::variant_size_v<method>);
    return names[by.index()];
}

method_report nearest_sites(const method& by, const host& on, const any_input<host>& image, const fields<host>& out,
                            const distance_options& options) {
    return in_call([&] { return solve(by, on, image, out, options); });
}
method_report nearest_sites(const method& by, const device& on, const any_input<device>& image,
                            const fields<device>& out, const distance_options& options) {
    return in_call([&] { return solve(by, on, image, out, options); });
}

}  // namespace nearfield
