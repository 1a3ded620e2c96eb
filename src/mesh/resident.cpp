#include "mesh/room.hpp"

#include "base/call.hpp"

namespace nearfield {
namespace {

std::unique_ptr<const device_mesh::parts> uploaded(const device& on, const mesh& of) {
    meshes::check_mesh("mesh", of);
    const std::vector<meshes::open_edge> open = meshes::open_edges_of(of);
    const std::span<const std::byte> blocks[] = {std::as_bytes(std::span(of.vertices)),
                                                 std::as_bytes(std::span(of.faces)), std::as_bytes(std::span(open))};
    const void* at[3] = {};
    std::shared_ptr<const void> memory = meshes::upload(on, blocks, at);
    const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
    return std::make_unique<const device_mesh::parts>(
        device_mesh::parts{count(of.vertices), count(of.faces), count(open), static_cast<const double*>(at[0]),
                           static_cast<const std::int32_t*>(at[1]), static_cast<const meshes::open_edge*>(at[2]),
                           meshes::box_of(of), std::move(memory)});
}

}  // namespace

device_mesh::device_mesh(const device& on, const mesh& of) : parts_(in_call([&] { return uploaded(on, of); })) {}
device_mesh::device_mesh(device_mesh&&) noexcept = default;
device_mesh& device_mesh::operator=(device_mesh&&) noexcept = default;
device_mesh::~device_mesh() = default;

}  // namespace nearfield
