// On a device: computes distances, then a thread walks a ray.
#include "base/cuda.cuh"
#include "base/lines.hpp"
#include "nearfield/chessboard.hpp"
#include "raycast/core.hpp"

namespace nearfield::rays {
namespace {

constexpr int threads_of_block = 128;

struct marking {
    const void* from;
    std::uint8_t* to;
    dtype type;
    int rank;
    std::int64_t size[max_rank], step[max_rank], cells;
};

/// Writes 0 for an occupied cell, else 1. A thread owns a cell.
__global__ void __launch_bounds__(threads_of_block) mark(const __grid_constant__ marking m) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= m.cells) return;
    chessboard::with_bits(m.type, [&]<class Bits>(Bits, Bits counts) {
        m.to[i] = (static_cast<const Bits*>(m.from)[offset_of(i, m.size, m.step, m.rank)] & counts) == 0 ? 1 : 0;
    });
}

__global__ void __launch_bounds__(threads_of_block)
    cast_rays(const __grid_constant__ problem p, const std::uint8_t* field) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < p.rays) cast(p, i, &field);
}

}  // namespace

void run(const device& on, const problem& p, const any_input<device>& mask) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const std::int64_t field = memory.reserve<std::uint8_t>(p.volume());
    memory.allocate();
    auto* const distance = memory.get<std::uint8_t>(field);
    if (p.skips == ray_skips::none) {
        marking m{mask.data, distance, mask.type, mask.rank, {}, {}, p.volume()};
        for (int axis = 0; axis < mask.rank; ++axis)
            m.size[axis] = mask.shape[static_cast<std::size_t>(axis)],
            m.step[axis] = mask.stride[static_cast<std::size_t>(axis)];
        cuda::launch(on, mark, cuda::blocks_for(m.cells, threads_of_block), dim3(threads_of_block), 0, m);
    } else {
        chessboard_distance(
            on, mask,
            any_output<device>::contiguous(distance, dtype::uint8,
                                           std::span(mask.shape.data(), static_cast<std::size_t>(mask.rank))),
            {.sites = sites::nonzero});
    }
    cuda::launch(on, cast_rays, cuda::blocks_for(p.rays, threads_of_block), dim3(threads_of_block), 0, p, distance);
}

}  // namespace nearfield::rays
