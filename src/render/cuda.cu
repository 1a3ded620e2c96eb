// On a device: computes distances, then draws. A thread owns a pixel; a warp's 8 x 4 rays read the same cells.
#include "base/cuda.cuh"
#include "nearfield/chessboard.hpp"
#include "render/room.hpp"

namespace nearfield::pictures {
namespace {

constexpr int threads_of_block = 128, cells_of_thread = 4, tile_width = 16, tile_height = 8,
              blocks_at_once = 5;  // on a multiprocessor; 3, 4, 5, 6 and 8: 4.71, 4.57, 4.44, 4.43, 4.63 ms (H200)

__device__ std::int64_t own_item() { return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x; }

__global__ void __launch_bounds__(threads_of_block) trace_rays(const __grid_constant__ tracing p) {
    const std::int64_t i = own_item();
    if (i < p.rays) trace(p, i);
}
/// Writes byte(k) to cell first + k for a thread's four cells; `to` is aligned.
template <class Byte>
__device__ void put_four(std::uint8_t* to, std::int64_t first, std::int64_t cells, const Byte& byte) {
    if (first + cells_of_thread > cells) {
        for (int k = 0; first + k < cells; ++k) to[first + k] = byte(k);
        return;
    }
    std::uint32_t four = 0;
#pragma unroll
    for (int k = 0; k < cells_of_thread; ++k) four |= static_cast<std::uint32_t>(byte(k)) << 8 * k;
    reinterpret_cast<std::uint32_t*>(to)[first / cells_of_thread] = four;
}
/// Marks the cells of a scene's volume. `packed` says that its cells are contiguous and that fours of them are aligned.
__global__ void __launch_bounds__(threads_of_block)
    mark_cells(const __grid_constant__ scene s, bool packed, std::uint8_t* to) {
    const volume& f = s.what.field;
    const std::int64_t item = own_item(), first = item * cells_of_thread, cells = f.cells();
    if (packed && first + cells_of_thread <= cells) {
        const std::uint32_t four = f.bytes ? static_cast<const std::uint32_t*>(f.data)[item] : 0;
        float4 own{};
        if (!f.bytes) own = static_cast<const float4*>(f.data)[item];
        return put_four(to, first, cells, [&](int k) {
            const float value = k == 0 ? own.x : k == 1 ? own.y : k == 2 ? own.z : own.w;
            return s.mark_of(f.bytes ? static_cast<double>(four >> 8 * k & 0xff) : value);
        });
    }
    std::int64_t y = cuda::quotient(first, f.size[2]), x = first - y * f.size[2], z = cuda::quotient(y, f.size[1]);
    y -= z * f.size[1];
    put_four(to, first, cells, [&](int) {
        const std::uint8_t mark = s.mark_of(f.at(f.place(z, y, x)));
        if (++x == f.size[2]) x = 0, ++y;
        if (y == f.size[1]) y = 0, ++z;
        return mark;
    });
}
/// Marks the blocks of two cells a side that are not free. A thread owns four blocks of a row.
__global__ void __launch_bounds__(threads_of_block)
    mark_blocks(const std::uint8_t* solid, const __grid_constant__ scene s, std::uint8_t* to) {
    const std::int64_t *n = s.what.field.size, rows = blocks_of(n[1]), row = blocks_of(n[2]), parts = (row + 3) / 4;
    const std::int64_t item = own_item(), line = cuda::quotient(item, parts), plane = cuda::quotient(line, rows);
    if (plane >= blocks_of(n[0])) return;
    const std::int64_t z = 2 * plane, y = 2 * (line - plane * rows), first = 4 * (item - line * parts), x = 2 * first;
    std::uint64_t any = 0;  // of eight cells along the row
    std::uint8_t beyond = 0;
    for (std::int64_t k = z; k < z + 3 && k < n[0]; ++k)
        for (std::int64_t i = y; i < y + 3 && i < n[1]; ++i) {
            const std::uint8_t* const from = solid + (k * n[1] + i) * n[2] + x;
            if (n[2] % 8 == 0) any |= *reinterpret_cast<const std::uint64_t*>(from);
            else
                for (int b = 0; b < 8 && x + b < n[2]; ++b) any |= std::uint64_t{from[b]} << 8 * b;
            if (x + 8 < n[2]) beyond |= from[8];
        }
    for (int b = 0; b < 4 && first + b < row; ++b) {
        const std::uint64_t own = b < 3 ? any >> 16 * b : any >> 48 | std::uint64_t{beyond} << 16;
        to[line * row + first + b] = s.is_taken(static_cast<std::uint8_t>(own | own >> 8 | own >> 16)) ? 1 : 0;
    }
}
__global__ void __launch_bounds__(threads_of_block)
    keep_quarters(const float* distance, std::int64_t cells, float scale, std::uint8_t* to) {
    const std::int64_t first = own_item() * cells_of_thread;
    float4 four{};  // the workspace has room for a whole one
    if (first < cells) four = reinterpret_cast<const float4*>(distance)[first / cells_of_thread];
    put_four(to, first, cells, [&](int k) {
        return quarters_of(k == 0 ? four.x : k == 1 ? four.y : k == 2 ? four.z : four.w, scale);
    });
}
/// Draws pixels. A block owns a tile of them.
template <render_mode Mode>
__global__ void __launch_bounds__(threads_of_block, blocks_at_once) draw_tiles(const __grid_constant__ scene s) {
    const std::int64_t across = (s.width + tile_width - 1) / tile_width;
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp, lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const std::int64_t y = blockIdx.x / across * tile_height + warp / 2 * 4 + lane / 8,
                       x = blockIdx.x % across * tile_width + warp % 2 * 8 + lane % 8;
    if (y < s.height && x < s.width) draw(s, Mode, y, x);
}

bool is_packed(const volume& f) {
    return f.step[2] == 1 && f.step[1] == f.size[2] && f.step[0] == f.size[1] * f.size[2] &&
           reinterpret_cast<std::uintptr_t>(f.data) % (f.bytes ? 8 : sizeof(float4)) == 0;
}
/// Whether the bytes of a mask serve as those of mark_cells().
bool is_marked(const scene& s) {
    return s.what.field.bytes && is_packed(s.what.field) && s.points == 0 && s.what.level > 0 && s.what.level <= 1;
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
    const std::int64_t *n = s.what.field.size, size[] = {blocks_of(n[0]), blocks_of(n[1]), blocks_of(n[2])},
                       rows = size[0] * size[1], blocks = w.skip ? rows * size[2] : 0;
    const bool marks = (w.skip || w.clear) && !is_marked(s);
    const std::int64_t marked = memory.reserve<std::uint8_t>(marks ? cells : 0),
                       taken = memory.reserve<std::uint8_t>(blocks), skip = memory.reserve<std::uint8_t>(blocks),
                       clear = memory.reserve<std::uint8_t>(w.clear ? cells : 0),
                       distance = memory.reserve<float4>(w.clear ? cuda::blocks_for(cells, cells_of_thread) : 0);
    memory.allocate();
    scene whole = s;
    const auto* const solid =
        marks ? memory.get<std::uint8_t>(marked) : static_cast<const std::uint8_t*>(s.what.field.data);
    const auto image = any_input<device>::contiguous(solid, dtype::uint8, s.what.field.size);
    if (marks)
        start(on, mark_cells, cuda::blocks_for(cells, cells_of_thread), s, is_packed(s.what.field),
              memory.get<std::uint8_t>(marked));
    if (w.skip) {
        whole.what.skip = memory.get<std::uint8_t>(skip);
        start(on, mark_blocks, rows * cuda::blocks_for(size[2], 4), solid, s, memory.get<std::uint8_t>(taken));
        chessboard_distance(on, any_input<device>::contiguous(memory.get<std::uint8_t>(taken), dtype::uint8, size),
                            any_output<device>::contiguous(memory.get<std::uint8_t>(skip), dtype::uint8, size),
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
    const auto kernel = s.mode == render_mode::volume     ? draw_tiles<render_mode::volume>
                        : s.mode == render_mode::isolines ? draw_tiles<render_mode::isolines>
                                                          : draw_tiles<render_mode::surface>;
    cuda::launch(on, kernel, tiles, dim3(threads_of_block), 0, whole);
}

}  // namespace nearfield::pictures
