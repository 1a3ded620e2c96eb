// The public calls: check, find outlines, let the engine find the nearest ones, and write pixels.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/lend.hpp"
#include "base/unwritten.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/sdf.hpp"
#include "sdf/core.hpp"

namespace nearfield {
namespace signed_field {
namespace {

constexpr int most_supersample = 256;

void check_options(const sdf_options& o, int rank) {
    if (!(o.radius > 0) || !std::isfinite(o.radius))
        fail(fmt::format("radius is {}; give a positive number of pixels", o.radius));
    if (!(o.cutoff >= 0 && o.cutoff <= 1)) fail(fmt::format("cutoff is {}; give a share from 0 to 1", o.cutoff));
    if (o.supersample < 1 || o.supersample > most_supersample)
        fail(fmt::format("supersample is {}; give 1 to {} cells along each axis of a pixel", o.supersample,
                         most_supersample));
    if (o.batch_axes < 0 || o.batch_axes != rank - 2)
        fail(fmt::format("image has {} axes and batch_axes is {}; give 2 axes besides those of batches", rank,
                         o.batch_axes));
}

template <class Place>
void check_views(const any_input<Place>& image, const any_output<Place>& out, const sdf_options& o) {
    check_image<Place>("image", image, std::int64_t{1} << 31);
    check_options(o, image.rank);
    if (o.antialias)
        check_type("image", image.type, {dtype::boolean, dtype::uint8, dtype::uint16, dtype::float32, dtype::float64});
    if (!out.wanted()) fail("out has no axes; give an array of the image's shape over supersample");
    check_type("out", out.type, {dtype::float32, dtype::uint8, dtype::uint16});
    any_input<Place> wanted = image;
    for (int axis = o.batch_axes; axis < image.rank; ++axis) {
        std::int64_t& size = wanted.shape[static_cast<std::size_t>(axis)];
        if (size % o.supersample != 0)
            fail(fmt::format("image has {} cells along axis {}, which supersample, {}, does not divide; pad it", size,
                             axis, o.supersample));
        size /= o.supersample;
    }
    if (out.rank != wanted.rank || out.shape != wanted.shape)
        fail(fmt::format("out has shape {}; give {}, the image's over supersample",
                         shape_text(out.shape.data(), out.rank), shape_text(wanted.shape.data(), wanted.rank)));
    const named_view<Place> all[] = {{"image", image}, {"out", out}};
    check_data<Place>(all);
    check_apart<Place>(all);
}

template <class Place>
work work_of(const any_input<Place>& image, const any_output<Place>& out, const sdf_options& o) {
    work w;
    const auto beyond = checked_borders(o.border, image.shape.data(), image.rank);
    for (int axis = 0; axis < image.rank; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        w.image_step[k] = image.stride[k], w.out_step[k] = out.stride[k];
        if (axis < o.batch_axes) {
            w.batch_size[k] = image.shape[k], w.images *= image.shape[k];
            continue;
        }
        if (beyond[k] == border::closed)
            fail(fmt::format("border along axis {} is closed; give open or periodic, or pad the image", axis));
        w.wraps[axis - o.batch_axes] = beyond[k] == border::periodic;
        (axis == o.batch_axes ? w.rows : w.columns) = image.shape[k];
    }
    w.batch = o.batch_axes, w.supersample = o.supersample, w.coverage = o.antialias;
    w.scale = 1 / o.radius, w.edge = 1 - o.cutoff;
    w.image = image.data, w.out = out.data, w.image_type = image.type, w.out_type = out.type;
    w.wide = w.rows * w.columns >= (std::int64_t{1} << 31) - 16;  // steps to neighbours stay below 2^31
    if (!w.wide && w.columns > 0) w.by_columns = divisor(w.columns);
    return w;
}

/// Limits the search: integers saturate beyond their range, and a segment reaches 3 cells from its site at most.
distance_options limits_of(const work& w, const sdf_options& o, int rank) {
    distance_options limits;
    std::array<border, max_rank> ends{};
    for (int axis = 0; axis < 2; ++axis)
        ends[static_cast<std::size_t>(o.batch_axes + axis)] = w.wraps[axis] ? border::periodic : border::open;
    limits.border = {ends.data(), static_cast<std::size_t>(rank)};
    limits.batch_axes = o.batch_axes;
    if (w.out_type != dtype::float32)
        limits.max_distance = std::ceil(o.radius * std::max(o.cutoff, 1 - o.cutoff)) * o.supersample + 4;
    return limits;
}

template <class Place>
void from_coverage(const Place& on, work& w, distance_options limits, std::span<const std::int64_t> shape) {
    const std::int64_t cells = w.images * w.rows * w.columns, index = cells * (w.wide ? 8 : 4), lines = 8 * cells;
    with_bytes(on, index + lines + cells, [&](void* memory) {
        auto* const bytes = static_cast<std::byte*>(memory);
        w.site = bytes, w.outline = reinterpret_cast<segment*>(bytes + index);
        w.mark = reinterpret_cast<std::uint8_t*>(bytes + index + lines);
        trace_outline(on, w);
        find_corners(on, w);
        limits.sites = sites::nonzero;
        fields<Place> wanted;
        wanted.index = any_output<Place>::contiguous(w.site, w.wide ? dtype::int64 : dtype::int32, shape);
        distance_transform(on, any_input<Place>::contiguous(w.mark, dtype::uint8, shape), wanted, limits);
        write_pixels(on, w);
    });
}

/// The centre of a pixel is the centre of a cell, or a corner that four cells share. The point of a cell that is
/// nearest to a corner is a corner too, so plain distances on the grid of corners are exact.
template <class Place>
void from_mask(const Place& on, work& w, distance_options limits, const any_input<Place>& image,
               const any_output<Place>& out) {
    fields<Place> wanted;
    const auto at = static_cast<std::size_t>(w.batch);
    if (!w.corners()) {
        limits.sign = sign::outside_negative, limits.half_cell = true;
        if (w.supersample == 1 && w.out_type == dtype::float32) {
            wanted.distance = out;
            return distance_transform(on, image, wanted, limits);
        }
        const std::span<const std::int64_t> shape(image.shape.data(), at + 2);
        return with_bytes(on, 4 * image.cells(), [&](void* memory) {
            w.distance = static_cast<float*>(memory);
            wanted.distance = any_output<Place>::contiguous(memory, dtype::float32, shape);
            distance_transform(on, image, wanted, limits);
            write_pixels(on, w);
        });
    }
    auto sizes = image.shape;
    sizes[at] = w.corner_rows(), sizes[at + 1] = w.corner_columns();
    const std::span<const std::int64_t> shape(sizes.data(), at + 2);
    const std::int64_t corners = w.images * w.corner_rows() * w.corner_columns();
    with_bytes(on, 5 * corners, [&](void* memory) {
        w.distance = static_cast<float*>(memory);
        w.mark = reinterpret_cast<std::uint8_t*>(w.distance + corners);
        touch_corners(on, w);
        wanted.distance = any_output<Place>::contiguous(memory, dtype::float32, shape);
        distance_transform(on, any_input<Place>::contiguous(w.mark, dtype::uint8, shape), wanted, limits);
        write_pixels(on, w);
    });
}

template <class Place>
void solve(const Place& on, const any_input<Place>& image, const any_output<Place>& out, const sdf_options& o) {
    in_call([&] {
        check_views(image, out, o);
        work w = work_of(image, out, o);
        if (image.cells() == 0) return;
        const expected_outputs outputs{out};
        const distance_options limits = limits_of(w, o, image.rank);
        if (!w.coverage) return from_mask(on, w, limits, image, out);
        from_coverage(on, w, limits, {image.shape.data(), static_cast<std::size_t>(image.rank)});
    });
}

}  // namespace
}  // namespace signed_field

void sdf(const host& on, const any_input<host>& image, const any_output<host>& out, const sdf_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    signed_field::solve(on, image, out, options);
}
void sdf(const device& on, const any_input<device>& image, const any_output<device>& out, const sdf_options& options) {
    signed_field::solve(on, image, out, options);
}

}  // namespace nearfield
