// Errors of a build without CUDA if the device is asked for.
#include "base/no_cuda.hpp"
#include "mesh/room.hpp"

namespace nearfield::meshes {

std::shared_ptr<const void> reserve(const device&, std::int64_t, void**) { refuse_device(); }
std::shared_ptr<const void> upload(const device&, std::span<const std::span<const std::byte>>, const void**) {
    refuse_device();
}
std::int64_t count_open_edges(const device&, const std::int32_t*, std::int64_t) { refuse_device(); }

}  // namespace nearfield::meshes
