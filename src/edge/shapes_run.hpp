// Named wrappers of run_arrays_on_device(): medial axes, thickness, natural neighbours, fills, watersheds and surfaces
// on a GPU for contiguous arrays in host memory.
#pragma once

#include "edge/arrays_run.hpp"
#include "nearfield/fill.hpp"
#include "nearfield/medial_axis.hpp"
#include "nearfield/metrics.hpp"
#include "nearfield/natural_neighbor.hpp"
#include "nearfield/split.hpp"
#include "nearfield/thickness.hpp"
#include "nearfield/watershed.hpp"

namespace nearfield::edge {

inline device_timing medial_axis_on_device(int ordinal, const any_input<host>& image,
                                           const medial_axis_fields<host>& out, const medial_axis_options& options) {
    const any_output<host> fields[] = {out.axis, out.distance, out.squared, out.index, out.second};
    return run_arrays_on_device(ordinal, {&image, 1}, fields, [&](const device& on, auto in, auto to) {
        medial_axis(on, in[0], {to[0], to[1], to[2], to[3], to[4]}, options);
    });
}

inline device_timing reconstruct_on_device(int ordinal, const any_input<host>& axis, const any_input<host>& squared,
                                           const any_output<host>& out, const reconstruct_options& options) {
    const any_input<host> read[] = {axis, squared};
    return run_arrays_on_device(ordinal, read, {&out, 1}, [&](const device& on, auto in, auto to) {
        reconstruct(on, in[0], in[1], to[0], options);
    });
}

/// `radii_given`: the image holds squared radii, so union_of_balls() is called.
inline device_timing thickness_on_device(int ordinal, const any_input<host>& image, const thickness_fields<host>& out,
                                         const thickness_options& options, bool radii_given = false) {
    const any_output<host> fields[] = {out.thickness, out.squared};
    return run_arrays_on_device(ordinal, {&image, 1}, fields, [&](const device& on, auto in, auto to) {
        const thickness_fields<device> there{to[0], to[1]};
        if (radii_given) union_of_balls(on, in[0], there, options);
        else local_thickness(on, in[0], there, options);
    });
}

inline device_timing porosimetry_on_device(int ordinal, const any_input<host>& mask, const any_input<host>& inlets,
                                           const thickness_fields<host>& out, const porosimetry_options& options) {
    const any_input<host> read[] = {mask, inlets};
    const any_output<host> fields[] = {out.thickness, out.squared};
    return run_arrays_on_device(ordinal, read, fields, [&](const device& on, auto in, auto to) {
        porosimetry(on, in[0], in[1], {to[0], to[1]}, options);
    });
}

inline device_timing natural_neighbor_on_device(int ordinal, const any_input<host>& values,
                                                const any_input<host>& known, const any_output<host>& out,
                                                const natural_neighbor_options& options) {
    const any_input<host> read[] = {values, known};
    return run_arrays_on_device(
        ordinal, std::span(read, known.wanted() ? 2 : 1), {&out, 1}, [&](const device& on, auto in, auto to) {
            natural_neighbor(on, in[0], known.wanted() ? in[1] : any_input<device>{}, to[0], options);
        });
}

inline device_timing fill_nearest_on_device(int ordinal, const any_input<host>& image, const any_input<host>& missing,
                                            const any_output<host>& out, const fill_options& options) {
    const any_input<host> read[] = {image, missing};
    return run_arrays_on_device(ordinal, read, {&out, 1}, [&](const device& on, auto in, auto to) {
        fill_nearest(on, in[0], in[1], to[0], options);
    });
}

inline device_timing interpolate_slices_on_device(int ordinal, const any_input<host>& labels, int axis,
                                                  std::span<const slice_position> positions,
                                                  const any_output<host>& out, const slice_options& options) {
    return run_arrays_on_device(ordinal, {&labels, 1}, {&out, 1}, [&](const device& on, auto in, auto to) {
        interpolate_slices(on, in[0], axis, positions, to[0], options);
    });
}

inline device_timing watershed_on_device(int ordinal, const any_input<host>& image, const watershed_fields<host>& out,
                                         const watershed_options& options, const any_input<host>& markers,
                                         const any_input<host>& mask) {
    const any_input<host> read[] = {image, markers, mask};
    const any_output<host> fields[] = {out.label, out.passes, out.extrema};
    return run_arrays_on_device(ordinal, read, fields, [&](const device& on, auto in, auto to) {
        watershed(on, in[0], {to[0], to[1], to[2]}, options, in[1], in[2]);
    });
}

inline std::vector<peak> peaks_on_device(int ordinal, const any_input<host>& image, const watershed_options& options,
                                         const any_input<host>& mask, const any_input<host>& labels) {
    const any_input<host> read[] = {image, mask, labels};
    std::vector<peak> found;
    run_arrays_on_device(ordinal, read, {},
                         [&](const device& on, auto in, auto) { found = peaks(on, in[0], options, in[1], in[2]); });
    return found;
}

inline device_timing split_on_device(int ordinal, const any_input<host>& mask, const any_output<host>& out,
                                     const split_options& options) {
    return run_arrays_on_device(ordinal, {&mask, 1}, {&out, 1},
                                [&](const device& on, auto in, auto to) { split(on, in[0], to[0], options); });
}

inline device_timing reconstruct_gray_on_device(int ordinal, const any_input<host>& seed, const any_input<host>& image,
                                                const any_output<host>& out, const watershed_options& options) {
    const any_input<host> read[] = {seed, image};
    return run_arrays_on_device(ordinal, read, {&out, 1}, [&](const device& on, auto in, auto to) {
        reconstruct_gray(on, in[0], in[1], to[0], options);
    });
}

inline std::vector<surface_distances> compare_surfaces_on_device(int ordinal, const any_input<host>& a,
                                                                 const any_input<host>& b,
                                                                 std::span<const std::int64_t> labels,
                                                                 const surface_options& options) {
    const any_input<host> read[] = {a, b};
    std::vector<surface_distances> rows;
    run_arrays_on_device(ordinal, read, {}, [&](const device& on, auto in, auto) {
        rows = compare_surfaces(on, in[0], in[1], labels, options);
    });
    return rows;
}

}  // namespace nearfield::edge
