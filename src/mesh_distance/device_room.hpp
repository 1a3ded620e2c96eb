// Distances from a mesh on a device.
#pragma once

#include "mesh/room.hpp"
#include "mesh_distance/core.hpp"

namespace nearfield::nearest_faces {

struct device_problem {
    space in;
    mesh_grid grid;
    mesh_fields<device> out;
    bool is_signed = false, winding = false, sampled = false;
    int shift = 0;           ///< log2 of lattice steps per cell, for signs
    std::int64_t room = -1;  ///< numbers that the pool of lists can hold; -1: the default
};

/// Checks the arguments; throws invalid_argument.
device_problem problem_of(const device_mesh::parts& of, const mesh_grid& grid, const mesh_fields<device>& out,
                          const mesh_distance_options& options);

/// Set by a test, for the calls of its thread: those wait, and say here how many distinct triangles a mesh has.
inline thread_local std::int64_t* watched_distinct = nullptr;

void run(const device& on, const device_mesh::parts& of, const device_problem& p);

}  // namespace nearfield::nearest_faces
