// The public calls: check, set lengths and bounds, and run the engine.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "base/unwritten.hpp"
#include "exact/room.hpp"
#include "natural_neighbor/core.hpp"

namespace nearfield {
namespace natural {
namespace {

constexpr int most_axes = 3;

template <class Place>
void check_views(const any_input<Place>& values, const any_input<Place>& known, const any_output<Place>& out) {
    check_image<Place>("values", values, std::int64_t{1} << 31);
    if (values.type == dtype::float16) fail("values has element type float16; give float32");
    if (!out.wanted()) fail("out has no axes; give an array of the shape of values");
    check_type("out", out.type, {dtype::float32, dtype::float64});
    check_same_shape<Place>("out", out, values);
    if (known.wanted()) {
        check_type("known", known.type, {dtype::boolean, dtype::uint8});
        check_same_shape<Place>("known", known, values);
    }
    const named_view<Place> all[] = {{"values", values}, {"known", known}, {"out", out}};
    const named_view<Place> without[] = {all[0], all[2]};
    const auto views = known.wanted() ? std::span<const named_view<Place>>(all) : std::span(without);
    check_data<Place>(views);
    check_apart<Place>(views, views.size() - 1);
}

/// Sets squared lengths, in a common unit if there is one.
template <class Place>
void set_axes(const any_input<Place>& values, const natural_neighbor_options& options, problem& p) {
    const auto lengths = checked_spacing(options.spacing, values.shape.data(), values.rank);
    const auto beyond = checked_borders(options.border, values.shape.data(), values.rank);
    const exact::counting units = exact::counting_of(values.shape.data(), values.rank, p.sites);
    for (int axis = 0; axis < values.rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        if (axis < options.batch_axes) {
            p.images *= values.shape[k];
            continue;
        }
        if (beyond[k] == border::closed)
            fail(fmt::format("border along axis {} is closed, and nothing is known beyond it; give open or periodic",
                             axis));
        const auto to = static_cast<std::size_t>(3 - values.rank + axis);
        const double units_long = units.length[k - static_cast<std::size_t>(options.batch_axes)];
        const double length = units_long > 0 && units_long == std::floor(units_long) ? units_long : lengths[k];
        p.size[to] = values.shape[k];
        p.wraps[to] = beyond[k] == border::periodic;
        p.weight[to] = length * length;
    }
}

/// Bounds the number of cells of a ball, including those in periodic copies.
void set_count_bits(problem& p) {
    double reach2 = 0, most = 1;
    for (int axis = 0; axis < 3; ++axis) {
        const auto far = static_cast<double>(p.wraps[axis] ? p.size[axis] / 2 : p.size[axis] - 1);
        reach2 += p.weight[axis] * (far * far);
    }
    for (int axis = 0; axis < 3; ++axis) {
        const double across = 2 * std::sqrt(reach2 / p.weight[axis]) + 3, size = static_cast<double>(p.size[axis]);
        most *= p.wraps[axis] ? std::max(across, size) : size;
    }
    p.count_bits = std::ilogb(std::max(most, 1.0)) + 1;
}

template <class Place>
void solve(const Place& on, const any_input<Place>& values, const any_input<Place>& known, const any_output<Place>& out,
           const natural_neighbor_options& options) {
    in_call([&] {
        check_views(values, known, out);
        if (options.batch_axes < 0 || options.batch_axes >= values.rank || values.rank - options.batch_axes > most_axes)
            fail(fmt::format("values has {} axes and batch_axes is {}; give 1 to {} axes besides those of batches",
                             values.rank, options.batch_axes, most_axes));
        problem p;
        p.sites.spacing = options.spacing, p.sites.border = options.border;
        p.sites.batch_axes = options.batch_axes, p.sites.sites = sites::nonzero;
        p.whole = values.type < dtype::float16;
        set_axes(values, options, p);
        set_count_bits(p);
        if (p.count_bits > 60) fail("values has too many cells for exact sums; give a smaller image");
        if (values.cells() == 0) return;
        const expected_outputs outputs{out};
        run(on, p, values, known, out);
        rehearse_step("balls added to sums, and sums along rows");
    });
}

}  // namespace
}  // namespace natural

void natural_neighbor(const host& on, const any_input<host>& values, const any_input<host>& known,
                      const any_output<host>& out, const natural_neighbor_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    natural::solve(on, values, known, out, options);
}
void natural_neighbor(const device& on, const any_input<device>& values, const any_input<device>& known,
                      const any_output<device>& out, const natural_neighbor_options& options) {
    natural::solve(on, values, known, out, options);
}

}  // namespace nearfield
