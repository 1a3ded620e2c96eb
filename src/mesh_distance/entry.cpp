// The public call: checks, scales, solves, then sets the signs.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/rehearsal.hpp"
#include "base/scratch.hpp"
#include "base/share.hpp"
#include "base/unwritten.hpp"
#include "mesh/core.hpp"
#include "mesh_distance/blocks.hpp"
#include "mesh_distance/device_room.hpp"
#include "nearfield/voronoi.hpp"
#include "voxelize/room.hpp"

namespace nearfield {
namespace nearest_faces {
namespace {

std::int64_t offset_at(const any_output<host>& of, const std::int64_t* at) {
    return (at[0] * of.stride[0] + at[1] * of.stride[1]) + at[2] * of.stride[2];
}

template <class Place>
void check(const mesh_grid& grid, std::int64_t faces, const mesh_fields<Place>& out,
           const mesh_distance_options& options) {
    voxels::check_grid(grid);
    if (!(options.max_distance >= 0)) fail(fmt::format("max_distance is {}; give 0 or more", options.max_distance));
    if (faces == 0) fail("mesh has no faces, so there is nothing to be near to; give at least one");
    if (!out.distance.wanted() && !out.triangle.wanted()) fail("no field is asked for; give distance or triangle");
    std::vector<named_view<Place>> views;
    if (out.distance.wanted()) {
        check_type("distance", out.distance.type, {dtype::float32, dtype::float64});
        views.push_back({"out.distance", out.distance});
    }
    if (out.triangle.wanted()) {
        check_type("triangle", out.triangle.type, {dtype::int32});
        views.push_back({"out.triangle", out.triangle});
    }
    const auto like = any_input<Place>::contiguous(nullptr, dtype::uint8, grid.shape);
    for (const auto& each : views) check_same_shape<Place>(each.name, each.view, like);
    check_data<Place>(views);
    check_apart<Place>(views, 0);
}

/// Chooses the power of two that scales all coordinates into (-1, 1).
space space_of(const meshes::box& of, const mesh_grid& grid, double most) {
    double largest = 0;
    space made;
    for (std::size_t k = 0; k < 3; ++k) {
        made.shape[k] = grid.shape[k], made.origin[k] = grid.origin[k], made.pitch[k] = grid.pitch[k];
        largest =
            std::max({largest, std::abs(of.low[k]), std::abs(of.high[k]), std::abs(grid.origin[k]) + grid.pitch[k],
                      std::abs(grid.origin[k] + grid.pitch[k] * static_cast<double>(grid.shape[k]))});
    }
    made.scale = scale_for(largest), made.most = most * made.scale;
    const double cells = largest / *std::min_element(grid.pitch.begin(), grid.pitch.end());
    if (!(cells < 0x1p40))
        fail(fmt::format(
            "coordinates reach {:.3g}, which is {:.3g} cells; give a mesh and a grid within 2^40 cells, since "
            "coordinates are rounded to 2^-50 of the largest one",
            largest, cells));
    return made;
}

/// Throws unless every point of the mesh lies in a cell of the grid.
void check_within(const meshes::box& of, const mesh_grid& grid) {
    for (std::size_t k = 0; k < 3; ++k) {
        const double half = grid.pitch[k] * (0.5 + 0x1p-20),
                     last = grid.origin[k] + grid.pitch[k] * static_cast<double>(grid.shape[k] - 1);
        if (of.low[k] < grid.origin[k] - half || of.high[k] > last + half)
            fail(
                fmt::format("mesh reaches from {:g} to {:g} along axis {}, beyond the grid; with samples give a grid "
                            "that has all of it, as grid_around() makes one",
                            of.low[k], of.high[k], k));
    }
}

/// True if cells farther than near() are within max_distance, so that they use samples.
bool is_sampled(const space& in, const meshes::box& of, const mesh_grid& grid, const mesh_distance_options& options) {
    if (options.samples) check_within(of, grid);
    return options.samples && in.most > in.near();
}

void set_signs(workers& team, const voxels::lattice& l, bool winding, const any_output<host>& distance) {
    const std::int64_t n = l.grid.shape[2];
    const auto turn = [&]<class T>(T* line, const std::uint8_t* inside) {
        for (std::int64_t k = 0; k < n; ++k) {
            T& d = line[k * distance.stride[2]];
            if (inside[k] != 0 && d != 0) d = -d;
        }
    };
    voxels::for_each_inside_line(team, l, winding, [&](std::int64_t number, const std::uint8_t* inside) {
        const std::int64_t at[] = {number / l.grid.shape[1], number % l.grid.shape[1], 0};
        const std::int64_t first = offset_at(distance, at);
        if (distance.type == dtype::float32) turn(static_cast<float*>(distance.data) + first, inside);
        else turn(static_cast<double*>(distance.data) + first, inside);
    });
}

void solve_exactly(const host& on, const problem& p) {
    block root;
    const std::int64_t longest = *std::max_element(p.in.shape, p.in.shape + 3);
    for (root.level = 1; std::int64_t{1} << root.level < longest;) ++root.level;
    rehearse_step("nearest triangles, by blocks that are halved; 152 bytes a triangle");
    root.faces = distinct(p.triangles);
    workers team(on, 512);
    solve(team, p, std::move(root));
}

/// Finds the nearest triangles of cells near the mesh, counted from 1; spreads them as labels to other cells; measures.
void solve_by_samples(const host& on, const problem& p, const mesh_grid& grid) {
    const std::int64_t cells = grid.shape[0] * grid.shape[1] * grid.shape[2], n = grid.shape[2];
    const host_scratch<std::int32_t> seeds(cells), own(p.face.wanted() ? 0 : cells);
    const auto label = p.face.wanted() ? p.face : any_output<host>::contiguous(own.get(), dtype::int32, grid.shape);
    problem near{p.in, p.triangles, {}, any_output<host>::contiguous(seeds.get(), dtype::int32, grid.shape), 1};
    near.in.most = p.in.near();
    solve_exactly(part_of(on, 0, 0.5), near);
    distance_options spaced;
    spaced.spacing = {grid.pitch.data(), 3};
    expand_labels(part_of(on, 0.5, 0.4), any_input<host>::contiguous(seeds.get(), dtype::int32, grid.shape), label,
                  spaced);
    const host last_part = part_of(on, 0.9, 0.1);
    workers team(last_part, cells);
    team.for_each(cells / n, 16, n, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t line = first; line < last; ++line)
            for (std::int64_t k = 0; k < n; ++k) {
                const std::int64_t at[] = {line / grid.shape[1], line % grid.shape[1], k};
                const std::int32_t face = static_cast<const std::int32_t*>(label.data)[offset_at(label, at)] - 1;
                write_cell(p, at, squared_at(p.in, at, p.triangles[static_cast<std::size_t>(face)]), face);
            }
    });
}

void run_here(const host& on, const mesh& of, const mesh_grid& grid, const mesh_fields<host>& out,
              const mesh_distance_options& options) {
    std::optional<voxels::lattice> l;
    if (options.is_signed) voxels::check_solid(std::ssize(l.emplace(of, grid).open), options.winding);
    const meshes::box box = meshes::box_of(of);
    const space in = space_of(box, grid, options.max_distance);
    const bool sampled = is_sampled(in, box, grid, options);
    const std::vector<triangle> triangles = triangles_of(of, in.scale);
    const problem p{in, triangles, out.distance, out.triangle};
    if (sampled) solve_by_samples(on, p, grid);
    else solve_exactly(on, p);
    if (!options.is_signed || !out.distance.wanted()) return;
    const host silent{on.threads, {}};
    workers team(silent, 1);
    set_signs(team, *l, options.winding, out.distance);
}

}  // namespace

double scale_for(double largest) {
    if (!(largest < 0x1p900) || !(largest > 0x1p-900))
        fail(fmt::format("coordinates reach {:.3g}; give a mesh and a grid of lengths between 1e-270 and 1e270",
                         largest));
    return std::ldexp(1, -1 - std::ilogb(largest));
}

std::vector<triangle> triangles_of(const mesh& of, double scale) {
    std::vector<triangle> made;
    made.reserve(of.faces.size());
    for (const auto& face : of.faces) {
        const double* at[3];
        for (std::size_t corner = 0; corner < 3; ++corner)
            at[corner] = of.vertices[static_cast<std::size_t>(face[corner])].data();
        made.push_back(triangle_at(at, scale));
    }
    return made;
}

std::vector<std::int32_t> distinct(std::span<const triangle> of) {
    std::size_t size = 64;
    while (size < 2 * of.size()) size *= 2;
    std::vector<std::int32_t> table(size), made;
    made.reserve(of.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
        std::size_t slot = hash_of(of[i]) % size;
        const auto held = [&] { return static_cast<std::size_t>(table[slot]); };
        while (held() != 0 && !same(of[held() - 1], of[i])) slot = (slot + 1) % size;
        if (held() != 0) continue;
        made.push_back(static_cast<std::int32_t>(i)), table[slot] = static_cast<std::int32_t>(i + 1);
    }
    return made;
}

void write_cell(const problem& p, const std::int64_t* at, double squared, std::int32_t face) {
    const answer told = answer::of(p.in, squared, face);
    const any_output<host>&to = p.distance, &index = p.face;
    if (to.wanted() && to.type == dtype::float64) static_cast<double*>(to.data)[offset_at(to, at)] = told.distance;
    else if (to.wanted()) static_cast<float*>(to.data)[offset_at(to, at)] = static_cast<float>(told.distance);
    if (index.wanted()) static_cast<std::int32_t*>(index.data)[offset_at(index, at)] = told.face + p.first_number;
}

void fill_far(const problem& p, const std::int64_t* first, int level) {
    std::int64_t last[3], at[3];
    for (std::size_t k = 0; k < 3; ++k) last[k] = std::min(first[k] + (std::int64_t{1} << level), p.in.shape[k]);
    for (at[0] = first[0]; at[0] < last[0]; ++at[0])
        for (at[1] = first[1]; at[1] < last[1]; ++at[1])
            for (at[2] = first[2]; at[2] < last[2]; ++at[2])
                write_cell(p, at, std::numeric_limits<double>::infinity(), -1);
}

device_problem problem_of(const device_mesh::parts& of, const mesh_grid& grid, const mesh_fields<device>& out,
                          const mesh_distance_options& options) {
    check(grid, of.face_count, out, options);
    device_problem p{space_of(of.box, grid, options.max_distance), grid, out};
    p.is_signed = options.is_signed, p.winding = options.winding;
    p.sampled = is_sampled(p.in, of.box, grid, options);
    if (options.is_signed) {
        voxels::check_solid(of.open_count, options.winding);
        p.shift = voxels::shift_for(of.box, grid);
    }
    return p;
}

}  // namespace nearest_faces

void mesh_distance(const host& on, const mesh& of, const mesh_grid& grid, const mesh_fields<host>& out,
                   const mesh_distance_options& options) {
    if (on.threads < 0) fail(fmt::format("threads is {}; give 0 for every core or a number of threads", on.threads));
    in_call([&] {
        meshes::check_mesh("mesh", of);
        nearest_faces::check(grid, static_cast<std::int64_t>(of.faces.size()), out, options);
        if (grid.shape[0] * grid.shape[1] * grid.shape[2] == 0) return;
        const expected_outputs outputs{out.distance, out.triangle};
        nearest_faces::run_here(on, of, grid, out, options);
    });
}
void mesh_distance(const device& on, const device_mesh& of, const mesh_grid& grid, const mesh_fields<device>& out,
                   const mesh_distance_options& options) {
    in_call([&] {
        const nearest_faces::device_problem p = nearest_faces::problem_of(of.inside(), grid, out, options);
        if (grid.shape[0] * grid.shape[1] * grid.shape[2] > 0) nearest_faces::run(on, of.inside(), p);
    });
}

}  // namespace nearfield
