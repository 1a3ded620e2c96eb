#include "mesh/room.hpp"

#include "base/call.hpp"

namespace nearfield {
namespace {

std::unique_ptr<const device_mesh::parts> uploaded(const device& on, meshes::vertex_span vertices,
                                                   meshes::face_span faces, bool edges) {
    meshes::check_mesh("mesh", vertices, faces);
    device_mesh::parts made{};
    made.vertex_count = std::ssize(vertices), made.face_count = std::ssize(faces), made.box = meshes::box_of(vertices);
    const std::span<const std::byte> blocks[] = {std::as_bytes(vertices), std::as_bytes(faces)};
    const void* at[2] = {};
    made.memory = meshes::upload(on, blocks, at);
    made.vertices = static_cast<const double*>(at[0]), made.faces = static_cast<const std::int32_t*>(at[1]);
    made.open_count = edges ? meshes::count_open_edges(on, made.faces, made.face_count) : -1;
    if (made.open_count > 0) {
        const std::vector<meshes::open_edge> open = meshes::open_edges_of_joined(
            meshes::joined({{vertices.begin(), vertices.end()}, {faces.begin(), faces.end()}}));
        made.open_count = std::ssize(open);
        const std::span<const std::byte> block = std::as_bytes(std::span(open));
        made.open_memory = meshes::upload(on, {&block, 1}, at);
        made.open = static_cast<const meshes::open_edge*>(at[0]);
    }
    return std::make_unique<const device_mesh::parts>(std::move(made));
}

}  // namespace

device_mesh::device_mesh(const device& on, meshes::vertex_span vertices, meshes::face_span faces, bool edges)
    : parts_(in_call([&] { return uploaded(on, vertices, faces, edges); })) {}
device_mesh::device_mesh(device_mesh&&) noexcept = default;
device_mesh& device_mesh::operator=(device_mesh&&) noexcept = default;
device_mesh::~device_mesh() = default;

}  // namespace nearfield
