// Device memory that belongs to a mesh.
#include "base/cuda.cuh"
#include "mesh/room.hpp"

namespace nearfield::meshes {
namespace {

struct kept {
    explicit kept(const device& on_) : on(on_), memory(on) {}
    device on;
    cuda::workspace memory;
};

}  // namespace

std::shared_ptr<const void> reserve(const device& on, std::int64_t bytes, void** at) {
    const cuda::device_guard current(on);
    const auto made = std::make_shared<kept>(on);
    const std::int64_t place = made->memory.reserve<std::byte>(bytes);
    made->memory.allocate();
    *at = made->memory.get<std::byte>(place);
    return made;
}

std::shared_ptr<const void> upload(const device& on, std::span<const std::span<const std::byte>> blocks,
                                   const void** at) {
    const cuda::device_guard current(on);
    const auto made = std::make_shared<kept>(on);
    std::vector<std::int64_t> places;
    for (const auto& block : blocks)
        places.push_back(made->memory.reserve<std::byte>(static_cast<std::int64_t>(block.size())));
    made->memory.allocate();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        auto* const to = made->memory.get<std::byte>(places[i]);
        at[i] = to;
        if (!blocks[i].empty())
            cuda::check(
                cudaMemcpyAsync(to, blocks[i].data(), blocks[i].size(), cudaMemcpyHostToDevice, cuda::stream_of(on)),
                "copying a mesh");
    }
    cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "copying a mesh");
    return made;
}

}  // namespace nearfield::meshes
