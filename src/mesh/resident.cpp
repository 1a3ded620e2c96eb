#include "mesh/room.hpp"

#include "base/call.hpp"

namespace nearfield {
namespace {

std::unique_ptr<const device_mesh::parts> uploaded(const device& on, const mesh& of) {
    meshes::check_mesh("mesh", of);
    const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
    device_mesh::parts made{};
    made.vertex_count = count(of.vertices), made.face_count = count(of.faces), made.box = meshes::box_of(of);
    const std::span<const std::byte> blocks[] = {std::as_bytes(std::span(of.vertices)),
                                                 std::as_bytes(std::span(of.faces))};
    const void* at[2] = {};
    made.memory = meshes::upload(on, blocks, at);
    made.vertices = static_cast<const double*>(at[0]), made.faces = static_cast<const std::int32_t*>(at[1]);
    made.open_count = meshes::count_open_edges(on, made.faces, made.face_count);
    if (made.open_count > 0) {
        const std::vector<meshes::open_edge> open = meshes::open_edges_of(of);
        const std::span<const std::byte> block = std::as_bytes(std::span(open));
        made.open_memory = meshes::upload(on, {&block, 1}, at);
        made.open = static_cast<const meshes::open_edge*>(at[0]);
    }
    return std::make_unique<const device_mesh::parts>(std::move(made));
}

}  // namespace

device_mesh::device_mesh(const device& on, const mesh& of) : parts_(in_call([&] { return uploaded(on, of); })) {}
device_mesh::device_mesh(device_mesh&&) noexcept = default;
device_mesh& device_mesh::operator=(device_mesh&&) noexcept = default;
device_mesh::~device_mesh() = default;

}  // namespace nearfield
