// The public call: computes a signed distance on a grid, its isosurface, and the shells.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "base/scratch.hpp"
#include "mesh/room.hpp"
#include "mesh_distance/room.hpp"
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

/// Allocates memory on the side where a call runs; it lives as long as the returned pointer.
std::shared_ptr<const void> memory_for(const host&, std::int64_t bytes, void** at) {
    const auto made = std::make_shared<host_scratch<std::byte>>(bytes);
    *at = made->get();
    return made;
}
std::shared_ptr<const void> memory_for(const device& on, std::int64_t bytes, void** at) {
    return meshes::reserve(on, bytes, at);
}
const mesh& mesh_for(const host&, const mesh& of) { return of; }
device_mesh mesh_for(const device& on, const mesh& of) { return {on, of}; }

/// Computes signed distances at the points of the grid; infinite where no requested surface passes nearby.
template <class Place>
void fill_field(const Place& on, const mesh& of, const mesh_grid& grid, double most, const offset_options& options,
                const any_output<Place>& field) {
    const auto& there = mesh_for(on, of);
    if (options.method == offset_method::exact) {
        mesh_distance_options how;
        how.is_signed = true, how.winding = options.winding, how.max_distance = most;
        return mesh_distance(on, there, grid, {field, {}}, how);
    }
    void* at = nullptr;
    const auto mask = memory_for(on, field.cells(), &at);
    const auto cells = any_output<Place>::contiguous(at, dtype::uint8, grid.shape);
    voxelize(on, there, grid, cells, {true, false, options.winding});
    distance_options how;
    how.spacing = grid.pitch[0], how.sign = sign::inside_negative, how.half_cell = true, how.max_distance = most;
    nearfield::distance(on, cells, field, how);
}

/// Returns a host without progress, for work on the host after the part that reports progress.
host quiet_host(const host& on) { return {on.threads, {}}; }
host quiet_host(const device&) { return {}; }

/// Returns for the vertices of both shells, one shell after the other, the distance from the other shell.
std::vector<double> thickness_of(const host& on, const mesh& outer, const mesh& inner) {
    std::vector<double> made = nearest_faces::distances_from(on, inner, outer.vertices);
    const std::vector<double> more = nearest_faces::distances_from(on, outer, inner.vertices);
    made.insert(made.end(), more.begin(), more.end());
    return made;
}

/// A mesh with the other side of its faces outwards.
mesh reversed(const mesh& of) {
    mesh made;
    append_mesh(made, of, true);
    return made;
}

/// Joins vertices at the same place and drops faces without area between them, and the vertices that no face names.
mesh tidy(const mesh& of) {
    mesh made = meshes::joined(of);
    std::vector<std::int32_t> number(made.vertices.size(), -1);
    std::vector<std::array<double, 3>> kept;
    for (auto& face : made.faces)
        for (std::int32_t& v : face) {
            std::int32_t& own = number[static_cast<std::size_t>(v)];
            if (own < 0)
                own = static_cast<std::int32_t>(kept.size()),
                kept.push_back(made.vertices[static_cast<std::size_t>(v)]);
            v = own;
        }
    made.vertices = std::move(kept);
    return made;
}

/// The surface of a part as it is given, or, if that is not closed, where its field is 0; faces look outwards.
template <class Place>
mesh surface_of(const Place& on, const mesh& of, const any_output<Place>& field, const isosurface_options& how) {
    mesh given = of;
    mesh_measures measures = measure_mesh(given);
    if (!measures.closed) given = tidy(of), measures = measure_mesh(given);
    if (!measures.closed) return isosurface(on, field, 0, how);
    return measures.volume < 0 ? reversed(given) : given;
}

void check_arguments(double distance, const offset_options& options) {
    if (!std::isfinite(distance)) fail(fmt::format("distance is {}; give a finite length", distance));
    if (options.pitch < 0 || !std::isfinite(options.pitch))
        fail(fmt::format("pitch is {}; give a positive length, or 0 for 1/256 of the longest side", options.pitch));
}

/// Computes the surface of a mesh that has faces.
template <class Place>
offset_result solve(const Place& on, const mesh& of, double distance, const offset_options& options) {
    offset_result made;
    made.grid = grid_for(of, distance, options);
    const double pitch = made.grid.pitch[0];
    if (options.hollow && !(std::abs(distance) >= 2 * pitch))
        fail(fmt::format("distance is {} and pitch {}; a hollow wall takes 2 pitches or more: give a smaller pitch",
                         distance, pitch));
    const std::int64_t cells = made.grid.shape[0] * made.grid.shape[1] * made.grid.shape[2];
    if (rehearsal* const now = rehearsing())
        now->note_arrays(std::is_same_v<Place, device>, cells, std::ssize(of.vertices) * 24 + std::ssize(of.faces) * 12,
                         0);
    void* at = nullptr;
    const auto memory = memory_for(on, cells * 4, &at);
    const auto field = any_output<Place>::contiguous(at, dtype::float32, made.grid.shape);
    fill_field<Place>(on, of, made.grid, std::abs(distance) + 2 * pitch, options, field);
    isosurface_options how{made.grid.origin, made.grid.pitch, true, false, {}};
    if (options.sharp) how.method = isosurface_method::dual_contouring;
    made.surface = isosurface(on, field, distance, how);
    if (options.hollow) {
        const mesh own = surface_of<Place>(on, of, field, how);
        if (own.faces.empty())
            fail(
                "mesh has no inside, so it cannot be hollow; if faces lie on each other, keep one of them or use the "
                "winding number (winding)");
        const mesh &outer = distance > 0 ? made.surface : own, &inner = distance > 0 ? own : made.surface;
        if (!inner.faces.empty()) made.thickness = thickness_of(quiet_host(on), outer, inner);
        mesh both;
        append_mesh(both, outer);
        append_mesh(both, inner, true);
        made.surface = std::move(both);
    }
    made.error_bound = pitch * ((options.sharp ? std::sqrt(3.0) + 0.5 : 1.5 + 0x1p-10) +
                                (options.method == offset_method::voxels ? std::sqrt(0.75) : 0));
    return made;
}

template <class Place>
offset_result checked(const Place& on, const mesh& of, double distance, const offset_options& options) {
    return in_call([&] {
        check_arguments(distance, options);
        if (of.faces.empty()) fail("mesh has no faces, so it has no offset; give at least one");
        return solve(on, of, distance, options);
    });
}

}  // namespace

offset_result offset(const host& on, const mesh& of, double distance, const offset_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    return checked(on, of, distance, options);
}
offset_result offset(const device& on, const mesh& of, double distance, const offset_options& options) {
    return checked(on, of, distance, options);
}

}  // namespace nearfield
