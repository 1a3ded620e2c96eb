// Device memory that belongs to a mesh, and a count of its open edges.
#include <bit>

#include "base/cuda_scan.cuh"
#include "mesh/room.hpp"

namespace nearfield::meshes {
namespace {

struct kept {
    explicit kept(const device& on_) : on(on_), memory(on) {}
    device on;
    cuda::workspace memory;
};

constexpr int threads_of_block = 256;
using cuda::word;

/// How often faces run along each edge from its lower vertex to the other, minus how often they run back. Edges are
/// found by open addressing.
struct edge_table {
    word* keys;  ///< 0: free
    int* net;
    std::int64_t slots;  ///< a power of two
};

__device__ std::int64_t own_item() { return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x; }

/// Adds the sides of faces to their edges. A thread owns a side.
__global__ void __launch_bounds__(threads_of_block)
    add_sides(const std::int32_t* faces, std::int64_t sides, const __grid_constant__ edge_table to) {
    const std::int64_t side = own_item();
    if (side >= sides) return;
    const auto a = static_cast<word>(faces[side]), b = static_cast<word>(faces[side % 3 == 2 ? side - 2 : side + 1]);
    if (a == b) return;
    const word key = (a < b ? a << 31 | b : b << 31 | a) + 1, last = static_cast<word>(to.slots) - 1;
    word at = (key * 0x9E3779B97F4A7C15ULL >> 20) & last;
    for (;; at = (at + 1) & last)
        if (const word before = atomicCAS(to.keys + at, word{0}, key); before == 0 || before == key) break;
    atomicAdd(to.net + at, a < b ? 1 : -1);
}

/// Counts the edges whose faces do not cancel. A thread owns a slot.
__global__ void __launch_bounds__(threads_of_block) count_open(const __grid_constant__ edge_table of, word* total) {
    const std::int64_t slot = own_item();
    const bool open = slot < of.slots && of.net[slot] != 0;
    const int count = __popc(__ballot_sync(cuda::every_lane, open ? 1 : 0));
    if (count > 0 && cuda::lane_of_thread() == 0) atomicAdd(total, static_cast<word>(count));
}

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

std::int64_t count_open_edges(const device& on, const std::int32_t* faces, std::int64_t count) {
    const cuda::device_guard current(on);
    // Three slots for two edges of a closed mesh; a mesh without shared edges fills at most three of four.
    edge_table table{nullptr, nullptr, static_cast<std::int64_t>(std::bit_ceil(static_cast<word>(4 * count) + 1))};
    cuda::workspace memory(on);
    const std::int64_t keys = memory.reserve<word>(table.slots), net = memory.reserve<int>(table.slots),
                       total = memory.reserve<word>(1), bytes = memory.bytes();
    memory.allocate();
    table.keys = memory.get<word>(keys), table.net = memory.get<int>(net);
    cuda::clear(on, table.keys, bytes);
    cuda::launch(on, add_sides, cuda::blocks_for(3 * count, threads_of_block), dim3(threads_of_block), 0, faces,
                 3 * count, table);
    cuda::launch(on, count_open, cuda::blocks_for(table.slots, threads_of_block), dim3(threads_of_block), 0, table,
                 memory.get<word>(total));
    word found = 0;
    cuda::fetch(on, &found, memory.get<word>(total), sizeof found);
    return static_cast<std::int64_t>(found);
}

}  // namespace nearfield::meshes
