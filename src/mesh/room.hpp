// What a mesh on a device has.
#pragma once

#include <memory>

#include "mesh/core.hpp"

namespace nearfield {

struct device_mesh::parts {
    std::int64_t vertex_count, face_count, open_count;
    const double* vertices;              ///< three a vertex
    const std::int32_t* faces;           ///< three a face
    const meshes::open_edge* open;       ///< edges as open_edges_of() has them
    meshes::box box;                     ///< of the vertices
    std::shared_ptr<const void> memory;  ///< owns all of these
};

namespace meshes {

/// Memory of a device that lives as long as what is returned, and is freed on the stream; `at` is where it lies.
std::shared_ptr<const void> reserve(const device& on, std::int64_t bytes, void** at);
/// Copies blocks of bytes to memory of a device, which lives as long as what is returned, and waits. Sets `at` to where
/// each of them lies.
std::shared_ptr<const void> upload(const device& on, std::span<const std::span<const std::byte>> blocks,
                                   const void** at);

}  // namespace meshes
}  // namespace nearfield
