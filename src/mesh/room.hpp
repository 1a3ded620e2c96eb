// The parts of a mesh on a device.
#pragma once

#include <memory>

#include "mesh/core.hpp"

namespace nearfield {

struct device_mesh::parts {
    std::int64_t vertex_count, face_count, open_count;  ///< open_count is -1 if they were not looked for
    const double* vertices;                             ///< three coordinates per vertex
    const std::int32_t* faces;                          ///< three vertices per face
    const meshes::open_edge* open;                      ///< edges as open_edges_of() returns them
    meshes::box box;                                    ///< of the vertices
    std::shared_ptr<const void> memory, open_memory;    ///< own all of these
};

namespace meshes {

/// Allocates device memory, which lives as long as the returned pointer and is freed on the stream; sets `at` to it.
std::shared_ptr<const void> reserve(const device& on, std::int64_t bytes, void** at);
/// Copies blocks of bytes to device memory, which lives as long as the returned pointer, and waits. Sets `at` to the
/// address of each block.
std::shared_ptr<const void> upload(const device& on, std::span<const std::span<const std::byte>> blocks,
                                   const void** at);
/// Counts the edges that open_edges_of() returns, for faces with valid vertices, and waits. Takes 48 to 96 bytes of
/// workspace for each face.
std::int64_t count_open_edges(const device& on, const std::int32_t* faces, std::int64_t count);

}  // namespace meshes
}  // namespace nearfield
