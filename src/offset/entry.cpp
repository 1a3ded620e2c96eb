// The public call: a signed distance on a grid, its isosurface, the shells.
#include <fmt/format.h>

#include <cmath>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/scratch.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/isosurface.hpp"
#include "nearfield/mesh_distance.hpp"
#include "nearfield/offset.hpp"

namespace nearfield {
namespace {

mesh_grid grid_for(const mesh& of, double distance, const offset_options& options) {
    double pitch = options.pitch;
    if (pitch == 0) {
        const mesh_grid box = grid_around(of, {256, 256, 256}, 0);  // its cubes are 1/256 of the longest side
        pitch = box.pitch[0] + 2 * std::max(distance, 0.0) / 256;
    }
    if (!(pitch > 0) || !std::isfinite(pitch)) fail(fmt::format("pitch is {}; give a positive length", pitch));
    const double rim = std::ceil(std::max(distance, 0.0) / pitch) + 2;
    if (!(rim < 0x1p20)) fail(fmt::format("distance is {} and pitch {}; give a larger pitch", distance, pitch));
    return grid_around(of, pitch, static_cast<std::int64_t>(rim));
}

/// Signed distances at the points of the grid, infinite where no surface that is asked for passes nearby.
void fill_field(const host& on, const mesh& of, const mesh_grid& grid, double most, const offset_options& options,
                const any_output<host>& field) {
    if (options.method == offset_method::exact) {
        mesh_distance_options how;
        how.is_signed = true, how.winding = options.winding, how.max_distance = most;
        return mesh_distance(on, of, grid, {field, {}}, how);
    }
    const host_scratch<std::uint8_t> mask(field.cells());
    const auto cells = any_output<host>::contiguous(mask.get(), dtype::uint8, grid.shape);
    voxelize(on, of, grid, cells, {true, false, options.winding});
    distance_options how;
    how.spacing = grid.pitch[0], how.sign = sign::inside_negative, how.half_cell = true, how.max_distance = most;
    nearfield::distance(on, cells, field, how);
}

void check_arguments(const host& on, double distance, const offset_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    if (!std::isfinite(distance)) fail(fmt::format("distance is {}; give a finite length", distance));
    if (options.pitch < 0 || !std::isfinite(options.pitch))
        fail(fmt::format("pitch is {}; give a positive length, or 0 for 1/256 of the longest side", options.pitch));
}

}  // namespace

offset_result offset(const host& on, const mesh& of, double distance, const offset_options& options) {
    return in_call([&] {
        check_arguments(on, distance, options);
        if (of.faces.empty()) fail("mesh has no faces, so it has no offset; give at least one");
        const mesh_measures given = measure_mesh(of);
        if (!options.winding && given.open_edges > 0)
            fail(
                fmt::format("mesh has {} open edges, so that parity cannot tell inside from outside; close it, or use "
                            "the winding number (winding)",
                            given.open_edges));
        offset_result made;
        made.grid = grid_for(of, distance, options);
        const double pitch = made.grid.pitch[0];
        if (options.hollow && !(std::abs(distance) >= 2 * pitch))
            fail(fmt::format("distance is {} and pitch {}; a hollow wall takes 2 pitches or more: give a smaller pitch",
                             distance, pitch));
        const std::int64_t cells = made.grid.shape[0] * made.grid.shape[1] * made.grid.shape[2];
        const host_scratch<float> values(cells);
        const auto field = any_output<host>::contiguous(values.get(), dtype::float32, made.grid.shape);
        fill_field(on, of, made.grid, std::abs(distance) + 2 * pitch, options, field);
        isosurface_options how{made.grid.origin, made.grid.pitch, true, false, {}};
        if (options.sharp) how.method = isosurface_method::dual_contouring;
        made.surface = isosurface(on, field, distance, how);
        if (options.hollow) {
            const mesh own = given.closed ? of : isosurface(on, field, 0, how);
            mesh both;
            append_mesh(both, distance > 0 ? made.surface : own);
            append_mesh(both, distance > 0 ? own : made.surface, true);
            made.surface = std::move(both);
        }
        made.measures = measure_mesh(made.surface);
        made.error_bound = pitch * ((options.sharp ? std::sqrt(3.0) + 0.5 : 1.5 + 0x1p-10) +
                                    (options.method == offset_method::voxels ? std::sqrt(0.75) : 0));
        return made;
    });
}

}  // namespace nearfield
