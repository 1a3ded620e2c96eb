// On a device: computes distances, then draws. A thread owns a pixel; a warp's 8 x 4 rays read the same cells.
#include "base/cuda.cuh"
#include "nearfield/chessboard.hpp"
#include "render/room.hpp"

namespace nearfield::pictures {
namespace {

constexpr int threads_of_block = 128, cells_of_thread = 4, tile_width = 16, tile_height = 8;

__device__ std::int64_t own_item() { return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x; }

__global__ void __launch_bounds__(threads_of_block) trace_rays(const __grid_constant__ tracing p) {
    const std::int64_t i = own_item();
    if (i < p.rays) trace(p, i);
}
/// Writes byte(cell) for a thread's four cells from `first` on; `to` is aligned.
template <class Byte>
__device__ void put_four(std::uint8_t* to, std::int64_t first, std::int64_t cells, const Byte& byte) {
    std::uint32_t four = 0;
    for (int k = 0; k < cells_of_thread && first + k < cells; ++k)
        four |= static_cast<std::uint32_t>(byte(first + k)) << 8 * k;
    if (first + cells_of_thread <= cells) reinterpret_cast<std::uint32_t*>(to)[first / cells_of_thread] = four;
    else
        for (int k = 0; first + k < cells; ++k) to[first + k] = static_cast<std::uint8_t>(four >> 8 * k);
}
/// Marks the inside of a volume.
__global__ void __launch_bounds__(threads_of_block) mark_inside(const __grid_constant__ surface s, std::uint8_t* to) {
    const volume& f = s.field;
    const std::int64_t first = own_item() * cells_of_thread;
    std::int64_t y = cuda::quotient(first, f.size[2]), x = first - y * f.size[2], z = cuda::quotient(y, f.size[1]);
    y -= z * f.size[1];
    put_four(to, first, f.cells(), [&](std::int64_t) {
        const std::uint8_t mark = inside(f.at(z, y, x), s.level);
        if (++x == f.size[2]) x = 0, ++y;
        if (y == f.size[1]) y = 0, ++z;
        return mark;
    });
}
__global__ void __launch_bounds__(threads_of_block)
    keep_quarters(const float* distance, std::int64_t cells, float scale, std::uint8_t* to) {
    put_four(to, own_item() * cells_of_thread, cells, [&](std::int64_t i) { return quarters_of(distance[i], scale); });
}
/// Draws pixels. A block owns a tile of them.
__global__ void __launch_bounds__(threads_of_block) draw_tiles(const __grid_constant__ scene s) {
    const std::int64_t across = (s.width + tile_width - 1) / tile_width;
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp, lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const std::int64_t y = blockIdx.x / across * tile_height + warp / 2 * 4 + lane / 8,
                       x = blockIdx.x % across * tile_width + warp % 2 * 8 + lane % 8;
    if (y < s.height && x < s.width) draw(s, y, x);
}

template <class... Parameters, class... Arguments>
void start(const device& on, void (*kernel)(Parameters...), std::int64_t items, const Arguments&... arguments) {
    cuda::launch(on, kernel, cuda::blocks_for(items, threads_of_block), dim3(threads_of_block), 0, arguments...);
}

}  // namespace

void run(const device& on, const tracing& p) {
    const cuda::device_guard current(on);
    start(on, trace_rays, p.rays, p);
}

void run(const device& on, const scene& s, const wanted& w) {
    const cuda::device_guard current(on);
    const std::int64_t cells = s.what.field.cells();
    cuda::workspace memory(on);
    const std::int64_t solid = memory.reserve<std::uint8_t>(w.skip || w.clear ? cells : 0),
                       skip = memory.reserve<std::uint8_t>(w.skip ? cells : 0),
                       clear = memory.reserve<std::uint8_t>(w.clear ? cells : 0),
                       distance = memory.reserve<float>(w.clear ? cells : 0);
    memory.allocate();
    scene whole = s;
    const auto image = any_input<device>::contiguous(memory.get<std::uint8_t>(solid), dtype::uint8, s.what.field.size);
    if (w.skip || w.clear)
        start(on, mark_inside, cuda::blocks_for(cells, cells_of_thread), s.what, memory.get<std::uint8_t>(solid));
    if (w.skip) {
        whole.what.skip = memory.get<std::uint8_t>(skip);
        chessboard_distance(
            on, image, any_output<device>::contiguous(memory.get<std::uint8_t>(skip), dtype::uint8, s.what.field.size),
            {.sites = sites::nonzero});
    }
    if (w.clear) {
        distance_options how;
        how.spacing = w.spacing, how.sites = sites::nonzero, how.max_distance = 64 * s.narrow;
        nearfield::distance(
            on, image, any_output<device>::contiguous(memory.get<float>(distance), dtype::float32, s.what.field.size),
            how);
        whole.clear = memory.get<std::uint8_t>(clear);
        start(on, keep_quarters, cuda::blocks_for(cells, cells_of_thread), memory.get<float>(distance), cells,
              static_cast<float>(quarters / s.narrow), memory.get<std::uint8_t>(clear));
    }
    const std::int64_t tiles = cuda::blocks_for(s.width, tile_width) * cuda::blocks_for(s.height, tile_height);
    cuda::launch(on, draw_tiles, tiles, dim3(threads_of_block), 0, whole);
}

}  // namespace nearfield::pictures
