// Measures the error of a field of nearest sites against the exact one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "exact/room.hpp"
#include "methods/problem.hpp"

namespace nearfield {
namespace {

using methods::grid;

/// The exact result, contiguous.
struct truth {
    host_scratch<double> distance2;
    host_scratch<std::int64_t> index;
};

/// The errors that one part of the cells contributes.
struct tally {
    method_errors errors;
    double sum = 0;
};

truth solve(const host& on, const any_input<host>& image, const distance_options& options) {
    truth exact{host_scratch<double>(image.cells()), host_scratch<std::int64_t>(image.cells())};
    const std::span<const std::int64_t> shape(image.shape.data(), static_cast<std::size_t>(image.rank));
    fields<host> out;
    out.squared = any_output<host>::contiguous(exact.distance2.get(), dtype::float64, shape);
    out.index = any_output<host>::contiguous(exact.index.get(), dtype::int64, shape);
    distance_transform(on, image, out, options);
    return exact;
}

template <class Element>
std::int64_t place_in(const any_view<Element, host>& v, std::int64_t cell) {
    return offset_of(cell, v.shape.data(), v.stride.data(), v.rank);
}

std::int64_t index_at(const any_input<host>& index, std::int64_t cell) {
    const std::int64_t at = place_in(index, cell);
    if (index.type == dtype::int32) return static_cast<const std::int32_t*>(index.data)[at];
    return static_cast<const std::int64_t*>(index.data)[at];
}

class comparison {
public:
    comparison(const any_input<host>& index, const any_output<host>& error, const grid& g, double unit2,
               const truth& exact)
        : index_(index), error_(error), g_(g), m_(methods::metric_of<double>(g)), unit2_(unit2), exact_(exact) {}

    void look_at(std::int64_t cell, tally& to) const {
        const double right = exact_.distance2.get()[cell];
        const std::int64_t site = index_at(index_, cell);
        double off = 0;
        if (site < 0) {
            if (std::isfinite(right)) ++to.errors.missing, off = std::numeric_limits<double>::infinity();
        } else if (const double came = between(cell, site); came > right) {
            ++to.errors.wrong_sites;
            off = std::sqrt(came) - std::sqrt(right);
            to.sum += off;
            to.errors.largest_error = std::max(to.errors.largest_error, off);
            if (right > 0)
                to.errors.largest_relative_error = std::max(to.errors.largest_relative_error, off / std::sqrt(right));
        } else if (site != exact_.index.get()[cell]) {
            ++to.errors.other_ties;
        }
        if (error_.wanted()) static_cast<float*>(error_.data)[place_in(error_, cell)] = static_cast<float>(off);
    }

private:
    [[nodiscard]] double between(std::int64_t a, std::int64_t b) const {
        const auto term = [&](int axis, std::int64_t one, std::int64_t other) {
            return m_.term(axis, static_cast<std::int32_t>(one), static_cast<std::int32_t>(other));
        };
        const std::int64_t nx = g_.size[2], ny = g_.size[1];
        return unit2_ *
               ((term(2, a % nx, b % nx) + term(1, a / nx % ny, b / nx % ny)) + term(0, a / nx / ny, b / nx / ny));
    }

    const any_input<host>& index_;
    const any_output<host>& error_;
    const grid& g_;
    const methods::metric<double> m_;
    const double unit2_;
    const truth& exact_;
};

bool is_open(const borders& beyond) {
    for (int axis = 0; axis < std::min(std::max(beyond.count(), 1), max_rank); ++axis)
        if (beyond[axis] != border::open) return false;
    return true;
}

void check(const any_input<host>& image, const any_input<host>& index, const any_output<host>& error,
           const distance_options& options) {
    check_image<host>("image", image, (std::int64_t{1} << 31) - 2);
    if (image.rank > 3) fail(fmt::format("image has {} axes; sites are compared for 1 to 3", image.rank));
    if (!index.wanted()) fail("index has no axes; give the linear indices that a method found");
    check_type("index", index.type, {dtype::int64, dtype::int32});
    check_same_shape<host>("index", index, image);
    if (error.wanted()) check_type("error", error.type, {dtype::float32});
    check_same_shape<host>("error", error, image);
    if (options.sites == sites::other_labels || options.sign != sign::none || options.half_cell ||
        options.batch_axes != 0 || !is_open(options.border))
        fail("options beyond spacing, sites and max_distance do not go with a comparison; leave them out");
    const named_view<host> all[] = {{"image", image}, {"index", index}, {"error", error}};
    check_data<host>(all);
    check_apart<host>(all, 2);
}

// Parts have a fixed size and are added in order, so neither the mean nor a message depends on the number of threads.
constexpr std::int64_t piece = 1 << 14;

std::size_t pieces_of(std::int64_t cells) { return static_cast<std::size_t>((cells + piece - 1) / piece); }

/// Runs body(cell, part) for all cells, on the threads of `on`. The exact engine reports the progress; each piece of
/// this loop only repeats `share`, so that the callback can stop the call.
template <class Body>
void for_each_cell(const host& on, double share, std::int64_t cells, const Body& body) {
    host here{on.threads};
    if (on.progress) here.progress = [&](double) { return on.progress(share); };
    workers crew(here, cells);
    crew.for_each(static_cast<std::int64_t>(pieces_of(cells)), 1, piece,
                  [&](std::int64_t first, std::int64_t last, int) {
                      for (std::int64_t part = first; part < last; ++part)
                          for (std::int64_t cell = part * piece; cell < std::min(cells, (part + 1) * piece); ++cell)
                              body(cell, static_cast<std::size_t>(part));
                  });
}

void check_sites(const host& on, const any_input<host>& index) {
    const std::int64_t cells = index.cells();
    constexpr std::int64_t none = -1;
    std::vector<std::int64_t> first_wrong(pieces_of(cells), none);
    for_each_cell(on, 0, cells, [&](std::int64_t cell, std::size_t part) {
        const std::int64_t site = index_at(index, cell);
        if ((site < -1 || site >= cells) && first_wrong[part] == none) first_wrong[part] = cell;
    });
    for (const std::int64_t cell : first_wrong)
        if (cell != none)
            fail(fmt::format("index holds {}; an image of {} cells has indices below that, and -1",
                             index_at(index, cell), cells));
}

method_errors compared(const host& on, const any_input<host>& image, const any_input<host>& index,
                       const any_output<host>& error, const distance_options& options) {
    check(image, index, error, options);
    method_errors all;
    all.cells = image.cells();
    if (all.cells == 0) return all;
    check_sites(on, index);
    // Lengths have the same unit as in the exact engine.
    const auto [length, unit2] = exact::counting_of(image.shape.data(), image.rank, options);
    grid g;
    for (int axis = 0; axis < image.rank; ++axis) {
        const double s = length[static_cast<std::size_t>(axis)];
        g.size[3 - image.rank + axis] = image.shape[static_cast<std::size_t>(axis)];
        g.weight[3 - image.rank + axis] = s * s;
    }
    const truth exact = solve(on, image, options);
    const comparison each(index, error, g, unit2, exact);
    std::vector<tally> parts(pieces_of(all.cells));
    for_each_cell(on, 1, all.cells, [&](std::int64_t cell, std::size_t part) { each.look_at(cell, parts[part]); });
    double sum = 0;
    for (const tally& part : parts) {
        sum += part.sum;
        all.wrong_sites += part.errors.wrong_sites, all.other_ties += part.errors.other_ties;
        all.missing += part.errors.missing;
        all.largest_error = std::max(all.largest_error, part.errors.largest_error);
        all.largest_relative_error = std::max(all.largest_relative_error, part.errors.largest_relative_error);
    }
    if (all.wrong_sites > 0) all.mean_error = sum / static_cast<double>(all.wrong_sites);
    return all;
}

}  // namespace

method_errors compare_sites(const host& on, const any_input<host>& image, const any_input<host>& index,
                            const any_output<host>& error, const distance_options& options) {
    return in_call([&] { return compared(on, image, index, error, options); });
}

}  // namespace nearfield
