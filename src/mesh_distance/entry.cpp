// The public call: check, scale, solve, then the signs.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/call.hpp"
#include "base/check.hpp"
#include "base/unwritten.hpp"
#include "mesh/core.hpp"
#include "mesh_distance/blocks.hpp"
#include "mesh_distance/device_room.hpp"
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
        views.push_back({"distance", out.distance});
    }
    if (out.triangle.wanted()) {
        check_type("triangle", out.triangle.type, {dtype::int32});
        views.push_back({"triangle", out.triangle});
    }
    const auto like = any_input<Place>::contiguous(nullptr, dtype::uint8, grid.shape);
    for (const auto& each : views) check_same_shape<Place>(each.name, each.view, like);
    check_data<Place>(views);
    check_apart<Place>(views, 0);
}

/// With the power of two that brings all coordinates into (-1, 1).
space space_of(const meshes::box& of, const mesh_grid& grid, double most) {
    double largest = 0;
    space made;
    for (std::size_t k = 0; k < 3; ++k) {
        made.shape[k] = grid.shape[k], made.origin[k] = grid.origin[k], made.pitch[k] = grid.pitch[k];
        largest =
            std::max({largest, std::abs(of.low[k]), std::abs(of.high[k]), std::abs(grid.origin[k]) + grid.pitch[k],
                      std::abs(grid.origin[k] + grid.pitch[k] * static_cast<double>(grid.shape[k]))});
    }
    if (!(largest < 0x1p900) || !(largest > 0x1p-900))
        fail(fmt::format("coordinates reach {:.3g}; give a mesh and a grid of lengths between 1e-270 and 1e270",
                         largest));
    made.scale = std::ldexp(1, -1 - std::ilogb(largest)), made.most = most * made.scale;
    return made;
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

problem problem_of(const mesh& of, const mesh_grid& grid, const mesh_fields<host>& out, double most) {
    problem p{space_of(meshes::box_of(of), grid, most), {}, out.distance, out.triangle};
    p.triangles.reserve(of.faces.size());
    for (const auto& face : of.faces) {
        const double* at[3];
        for (std::size_t corner = 0; corner < 3; ++corner)
            at[corner] = of.vertices[static_cast<std::size_t>(face[corner])].data();
        p.triangles.push_back(triangle_at(at, p.in.scale));
    }
    return p;
}

void run_here(const host& on, const mesh& of, const mesh_grid& grid, const mesh_fields<host>& out,
              const mesh_distance_options& options) {
    std::optional<voxels::lattice> l;
    if (options.is_signed) voxels::check_solid(l.emplace(of, grid).open.size(), options.winding);
    const problem p = problem_of(of, grid, out, options.max_distance);
    block root;
    const std::int64_t longest = *std::max_element(grid.shape.begin(), grid.shape.end());
    for (root.level = 1; std::int64_t{1} << root.level < longest;) ++root.level;
    root.faces.resize(of.faces.size());
    std::iota(root.faces.begin(), root.faces.end(), 0);
    workers team(on, 512);
    solve(team, p, std::move(root));
    if (options.is_signed && out.distance.wanted()) set_signs(team, *l, options.winding, out.distance);
}

}  // namespace

void write_cell(const problem& p, const std::int64_t* at, double squared, std::int32_t face) {
    const answer told = answer::of(p.in, squared, face);
    const any_output<host>&to = p.distance, &index = p.face;
    if (to.wanted() && to.type == dtype::float64) static_cast<double*>(to.data)[offset_at(to, at)] = told.distance;
    else if (to.wanted()) static_cast<float*>(to.data)[offset_at(to, at)] = static_cast<float>(told.distance);
    if (index.wanted()) static_cast<std::int32_t*>(index.data)[offset_at(index, at)] = told.face;
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
    if (options.is_signed) {
        voxels::check_solid(static_cast<std::size_t>(of.open_count), options.winding);
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
