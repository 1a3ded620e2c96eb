// The public calls: they check arguments and pass the problem on.
#include <fmt/format.h>

#include <cmath>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "base/unwritten.hpp"
#include "label/checks.hpp"
#include "label/gpu/run.hpp"
#include "label/host/run.hpp"

namespace nearfield {
namespace labelling {
namespace {

constexpr std::int64_t most_side = std::int64_t{1} << 62;

void check_filters(const label_options& o) {
    const std::pair<const char*, std::int64_t> all[] = {
        {"smallest", o.smallest}, {"largest", o.largest}, {"keep_largest", o.keep_largest}};
    for (const auto& [name, value] : all)
        if (value < 0) fail(fmt::format("{} is {}; give a number of 0 or more", name, value));
}

void check_criterion(const label_options& o) {
    if (o.criterion > criterion::links)
        fail(fmt::format("criterion is {}; give nonzero, equal, within or links", static_cast<int>(o.criterion)));
    if (o.norm > colour_norm::euclidean)
        fail(fmt::format("norm is {}; give maximum, sum or euclidean", static_cast<int>(o.norm)));
    if (o.criterion == criterion::within && (o.tolerance.is_negative() || std::isnan(o.tolerance.real())))
        fail(fmt::format("tolerance is {}; give a difference of 0 or more", o.tolerance.real()));
}

/// Splits the shape into batch axes, image axes and channels.
problem split(const std::int64_t* shape, int rank, const label_options& o) {
    const int channel_axes = o.channels ? 1 : 0;
    problem p;
    p.options = o, p.colour = o.channels, p.batch_axes = o.batch_axes;
    if (o.batch_axes < 0 || o.batch_axes + channel_axes >= rank)
        fail(fmt::format("batch_axes is {} for an array of shape {}{}; give 0 to {}, so that an image is left",
                         o.batch_axes, shape_text(shape, rank), o.channels ? " whose last axis holds channels" : "",
                         std::max(0, rank - channel_axes - 1)));
    p.rank = rank - o.batch_axes - channel_axes;
    p.cells = 1;
    for (int axis = 0; axis < o.batch_axes; ++axis) p.images *= shape[axis];
    for (int axis = 0; axis < p.rank; ++axis) {
        p.size[static_cast<std::size_t>(axis)] = shape[o.batch_axes + axis];
        p.cells *= shape[o.batch_axes + axis];
    }
    if (!o.channels) return p;
    const std::int64_t channels = shape[rank - 1];
    if (channels < 1 || channels > 4)
        fail(fmt::format("channels is set, but the last axis of shape {} has {} values; a colour has 1 to 4",
                         shape_text(shape, rank), channels));
    p.channels = static_cast<int>(channels);
    return p;
}

void take_steps(problem& p) {
    const std::span<const std::uint8_t> steps = p.options.steps;
    const std::int64_t count = three_to(p.rank);
    if (static_cast<std::int64_t>(steps.size()) != count)
        fail(fmt::format("steps has {} values for images of {} axes; give {}, one per cell of a block of three a side",
                         steps.size(), p.rank, count));
    for (std::int64_t step = 0; step < count / 2; ++step)
        if ((steps[static_cast<std::size_t>(step)] != 0) != (steps[static_cast<std::size_t>(count - 1 - step)] != 0))
            fail(fmt::format("steps[{}] and steps[{}] are opposite steps, but only one is set; set both or none", step,
                             count - 1 - step));
    for (int axis = 0; axis < p.rank; ++axis)
        if (p.periodic[static_cast<std::size_t>(axis)])
            fail(fmt::format("steps is given and border is periodic along axis {}; use connectivity instead of steps",
                             axis));
    p.changes = 0;
}

const char* connectivity_names(int rank) {
    constexpr const char* names[] = {"", "1 or 2", "1 or 2, or 4 or 8", "1, 2 or 3, or 6, 18 or 26"};
    return names[rank];
}

/// Checks the axes of a graph, as far as the shape determines them.
void check_graph(const problem& p) {
    if (p.options.criterion != criterion::links) return;
    if (p.colour) fail("channels is set and criterion is links; a graph has one value a cell, so leave out channels");
    if (p.rank > 3)
        fail(fmt::format("criterion is links for images of {} axes; a graph has bits for neighbours along 1 to 3",
                         p.rank));
}

problem make_problem(const std::int64_t* shape, int rank, const label_options& o) {
    check_criterion(o);
    check_filters(o);
    problem p = split(shape, rank, o);
    check_graph(p);
    const auto beyond = checked_borders(o.border, p.size.data(), p.rank);
    for (int axis = 0; axis < p.rank; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        if (beyond[a] == border::closed)
            fail(fmt::format("border along axis {} is closed, which labels know nothing of; give open or periodic",
                             axis));
        p.periodic[a] = beyond[a] == border::periodic;
    }
    if (!o.steps.empty()) {
        take_steps(p);
        return p;
    }
    p.changes = changes_of(o.connectivity, p.rank);
    if (p.changes == 0 && p.rank <= 3)
        fail(fmt::format("connectivity is {} for images of {} axes; give {}", o.connectivity, p.rank,
                         connectivity_names(p.rank)));
    if (p.changes == 0)
        fail(
            fmt::format("connectivity is {} for images of {} axes; give 1 to {}, the number of coordinates that a step "
                        "may change",
                        o.connectivity, p.rank, p.rank));
    return p;
}

template <class Place>
void check_element(const any_input<Place>& image, const label_options& o) {
    if (o.criterion == criterion::links)
        check_type("image", image.type,
                   {dtype::int8, dtype::uint8, dtype::int16, dtype::uint16, dtype::int32, dtype::uint32, dtype::int64,
                    dtype::uint64});
    else if (o.channels) check_type("image", image.type, {dtype::uint8, dtype::uint16, dtype::float32, dtype::float64});
    else
        check_type("image", image.type,
                   {dtype::boolean, dtype::int8, dtype::uint8, dtype::int16, dtype::uint16, dtype::int32, dtype::uint32,
                    dtype::int64, dtype::uint64, dtype::float32, dtype::float64});
}

/// The view of the image without its channels, which has the labels' shape.
template <class Place>
any_input<Place> cells_of(const problem& p, any_input<Place> image) {
    if (p.colour) --image.rank;
    return image;
}

template <class Place>
void check_outputs(const problem& p, const any_input<Place>& image, const label_fields<Place>& out) {
    if (!out.label.wanted() && !out.count.wanted() && !out.tables.any() && !out.make_tables)
        fail("out asks for nothing; give at least one of label, count, tables and make_tables");
    if (out.make_tables && out.tables.any()) fail("out has both tables and make_tables; give one of them");
    if (out.label.wanted())
        check_type("out.label", out.label.type,
                   {dtype::uint16, dtype::int32, dtype::uint32, dtype::int64, dtype::uint64});
    check_same_shape<Place>("out.label", out.label, cells_of(p, image));
    if (out.count.wanted()) {
        check_type("out.count", out.count.type, {dtype::int64});
        if (out.count.rank != 1 || out.count.shape[0] != p.images)
            fail(fmt::format("out.count has shape {}; give one value for each of {} images",
                             shape_text(out.count.shape.data(), out.count.rank), p.images));
    }
    check_tables(p, image, out, out.tables);
}

template <class Place>
problem check(const any_input<Place>& image, const label_fields<Place>& out, const label_options& options) {
    check_image<Place>("image", image, most_side);
    check_element(image, options);
    const problem p = make_problem(image.shape.data(), image.rank, options);
    if (options.criterion == criterion::links && p.rank == 3 && p.changes != 1 && size_of(image.type) < 4)
        fail(
            fmt::format("image has element type {}, whose bits name 6 neighbours of a volume; give uint32, or "
                        "connectivity 6",
                        name_of(image.type)));
    check_outputs(p, image, out);
    return p;
}

}  // namespace
}  // namespace labelling

std::int64_t most_components(const std::int64_t* shape, int rank, const label_options& options) {
    any_input<host> image;
    image.rank = rank;
    if (rank >= 1 && rank <= max_rank) std::copy_n(shape, rank, image.shape.begin());
    check_image<host>("shape", image, labelling::most_side);
    return labelling::most_components(labelling::make_problem(shape, rank, options));
}

dtype label_type(const std::int64_t* shape, int rank, const label_options& options) {
    return most_components(shape, rank, options) <= labelling::largest_label(dtype::int32) ? dtype::int32
                                                                                           : dtype::int64;
}

void label(const host& on, const any_input<host>& image, const label_fields<host>& out, const label_options& options) {
    in_call([&] {
        if (on.threads < 0)
            fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
        const labelling::problem p = labelling::check(image, out, options);
        const expected_outputs written{out.label};
        rehearse_step("components; 4 bytes for each run of cells in a row");
        labelling::run(on, p, image, out);
    });
}

void label(const device& on, const any_input<device>& image, const label_fields<device>& out,
           const label_options& options) {
    in_call([&] {
        const labelling::problem p = labelling::check(image, out, options);
        if (p.rank > 3)
            fail(fmt::format("image has {} axes besides batch and channels; a device takes 1 to 3, host{{}} up to {}",
                             p.rank, max_rank));
        if (p.changes == 0) fail("steps is given, which only host{} takes; give connectivity");
        rehearse_step("components, by tiles");
        labelling::run(on, p, image, out);
    });
}

}  // namespace nearfield
