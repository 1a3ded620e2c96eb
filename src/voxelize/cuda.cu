// On a device: moves vertices to the lattice, lets faces mark where they cross columns, then adds up along lines.
#include "base/cuda.cuh"
#include "base/cuda_scan.cuh"
#include "voxelize/room.hpp"
#include "voxelize/winding.hpp"

namespace nearfield::voxels {
namespace {

constexpr int threads_of_block = 128;
using lattice_vertex = std::array<std::int32_t, 3>;

/// A mesh on the lattice of a grid.
struct moved_mesh {
    const lattice_vertex* vertices;
    const std::int32_t* faces;
    std::int64_t face_count, shape[3];
    int shift;

    __device__ triangle at(std::int64_t face) const {
        triangle made;
        for (int corner = 0; corner < 3; ++corner)
            for (int k = 0; k < 3; ++k)
                made.at[corner][k] = vertices[faces[3 * face + corner]][static_cast<std::size_t>(k)];
        return made;
    }
    __device__ std::int64_t line_of(std::int64_t i, std::int64_t j) const { return i * shape[1] + j; }
};

__device__ std::int64_t own_item() { return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x; }

/// Moves vertices to the lattice. A thread owns a coordinate.
__global__ void __launch_bounds__(threads_of_block)
    move_vertices(const __grid_constant__ mesh_grid grid, int shift, const double* from, std::int64_t count,
                  lattice_vertex* to) {
    const std::int64_t i = own_item();
    if (i >= 3 * count) return;
    const auto axis = static_cast<std::size_t>(i % 3);
    to[i / 3][axis] = moved_to_lattice(from[i], grid.origin[axis], grid.pitch[axis], shift);
}

/// Number of warps whose lanes share the rows of a face, so that few large faces keep a device busy too.
std::int64_t warps_of_face(const moved_mesh& m) {
    const std::int64_t rows = cuda::blocks_for(m.shape[0], cuda::warp), few = 8192 / m.face_count;
    return rows < few ? rows : few > 1 ? few : 1;
}
/// Calls work(triangle, rows skipped, step) for a thread's face and rows.
template <class Work>
__device__ void for_own_rows(const moved_mesh& m, std::int64_t warps, const Work& work) {
    const std::int64_t own = own_item() / cuda::warp, face = own / warps;
    const int part = static_cast<int>(own - face * warps), lane = static_cast<int>(threadIdx.x) % cuda::warp;
    if (face < m.face_count) work(m.at(face), part * cuda::warp + lane, static_cast<int>(warps) * cuda::warp);
}

/// Flips a bit for every crossing.
__global__ void __launch_bounds__(threads_of_block)
    flip_bits(const __grid_constant__ moved_mesh m, std::int64_t warps, std::uint32_t* bits) {
    const std::int64_t words = words_of(m.shape[2]);
    for_own_rows(m, warps, [&](const triangle& t, int skipped, int step) {
        cross_columns(
            t, m.shift, m.shape,
            [&](std::int64_t i, std::int64_t j, std::int64_t k, int) {
                atomicXor(&bits[m.line_of(i, j) * words + k / 32], 1u << (k % 32));
            },
            skipped, step);
    });
}
/// Adds up crossings with their signs.
__global__ void __launch_bounds__(threads_of_block)
    add_crossings(const __grid_constant__ moved_mesh m, std::int64_t warps, int* count) {
    for_own_rows(m, warps, [&](const triangle& t, int skipped, int step) {
        cross_columns(
            t, m.shift, m.shape,
            [&](std::int64_t i, std::int64_t j, std::int64_t k, int way) {
                atomicAdd(&count[m.line_of(i, j) * m.shape[2] + k], way);
            },
            skipped, step);
    });
}

/// Replaces each bit by the parity of the bits up to it. A thread owns a line of words.
__global__ void __launch_bounds__(threads_of_block)
    add_up_bits(std::int64_t lines, std::int64_t words, std::uint32_t* bits) {
    const std::int64_t line = own_item();
    if (line >= lines) return;
    std::uint32_t before = 0;
    for (std::int64_t w = line * words; w < (line + 1) * words; ++w) {
        std::uint32_t x = bits[w];
        for (int by = 1; by < 32; by *= 2) x ^= x << by;
        bits[w] = x ^= before;
        before = (x >> 31) != 0 ? ~0u : 0u;
    }
}
/// Finds what the middle of a chunk of 32 cells of a line sees; all lanes share the edges, and return the same.
__device__ open_edges::seen seen_by_warp(const open_edges& edges, const std::int64_t* middle, double reach) {
    open_edges::seen own = edges.at(middle, reach, static_cast<int>(threadIdx.x) % cuda::warp, cuda::warp);
    for (int by = cuda::warp / 2; by > 0; by /= 2) {
        angle_sum other;
        other.re = __shfl_xor_sync(cuda::every_lane, own.sum.re, by);
        other.im = __shfl_xor_sync(cuda::every_lane, own.sum.im, by);
        other.turns = __shfl_xor_sync(cuda::every_lane, own.sum.turns, by);
        own.sum.add(other);
        own.change += __shfl_xor_sync(cuda::every_lane, own.change, by);
    }
    return own;
}
/// Adds up crossings along lines. A warp owns a line and takes 32 cells at a time.
__global__ void __launch_bounds__(threads_of_block)
    add_up_crossings(const __grid_constant__ moved_mesh m, const __grid_constant__ open_edges edges, const int* count,
                     std::uint32_t* bits) {
    const std::int64_t line = own_item() / cuda::warp, n = m.shape[2];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    if (line >= m.shape[0] * m.shape[1]) return;
    const std::int64_t i = line / m.shape[1], j = line - i * m.shape[1];
    const double reach = cuda::warp / 2 * edges.unit[2] * static_cast<double>(std::int64_t{1} << m.shift);
    int below = 0;
    for (std::int64_t first = 0; first < n; first += cuda::warp) {
        const std::int64_t k = first + lane;
        const int here = k < n ? count[line * n + k] : 0, sum = below + cuda::sum_before_in_warp(here) + here;
        bool inside = sum != 0;
        if (edges.count > 0) {
            std::int64_t cell[] = {i << m.shift, j << m.shift, (first + cuda::warp / 2) << m.shift};
            const open_edges::seen all = seen_by_warp(edges, cell, reach);
            cell[2] = k << m.shift;
            inside = __all_sync(cuda::every_lane, all.is_settled() ? 1 : 0) != 0
                         ? sum + all.sum.turns != 0
                         : k < n && edges.winds_round(cell, sum);
        }
        const unsigned word = __ballot_sync(cuda::every_lane, inside ? 1 : 0);
        if (lane == 0) bits[line * words_of(n) + first / cuda::warp] = word;
        below = __shfl_sync(cuda::every_lane, sum, cuda::warp - 1);
    }
}

struct marks {
    std::uint8_t* to;
    std::int64_t shape[3], step[3];
};

/// Writes the bytes of cells. A thread owns four cells of a line, which it writes as one word where it can.
__global__ void __launch_bounds__(threads_of_block)
    mark(const __grid_constant__ marks out, std::int64_t fours, const std::uint32_t* bits) {
    const std::int64_t item = own_item(), n = out.shape[2], line = cuda::quotient(item, fours),
                       k = 4 * (item - line * fours), i = cuda::quotient(line, out.shape[1]);
    if (i >= out.shape[0]) return;
    const unsigned inside = bits == nullptr ? 0 : bits[line * words_of(n) + k / 32] >> (k % 32) & 15;
    std::uint8_t* const to = out.to + (i * out.step[0] + (line - i * out.shape[1]) * out.step[1]) + k * out.step[2];
    if (out.step[2] == 1 && k + 4 <= n && reinterpret_cast<std::uintptr_t>(to) % 4 == 0)
        *reinterpret_cast<std::uint32_t*>(to) = inside * 0x204081u & 0x1010101u;
    else
        for (int c = 0; c < 4 && k + c < n; ++c) to[c * out.step[2]] = static_cast<std::uint8_t>(inside >> c & 1);
}
__global__ void __launch_bounds__(threads_of_block)
    mark_surface(const __grid_constant__ moved_mesh m, std::int64_t warps, const __grid_constant__ marks out) {
    for_own_rows(m, warps, [&](const triangle& t, int skipped, int step) {
        meet_cells(
            t, m.shift, m.shape,
            [&](std::int64_t i, std::int64_t j, std::int64_t k) {
                out.to[(i * out.step[0] + j * out.step[1]) + k * out.step[2]] = 1;
            },
            skipped, step);
    });
}

moved_mesh move(const device& on, const device_mesh::parts& of, const mesh_grid& grid, int shift, lattice_vertex* to) {
    moved_mesh made{to, of.faces, of.face_count, {}, shift};
    for (std::size_t k = 0; k < 3; ++k) made.shape[k] = grid.shape[k];
    cuda::launch(on, move_vertices, cuda::blocks_for(3 * of.vertex_count, threads_of_block), dim3(threads_of_block), 0,
                 grid, shift, of.vertices, of.vertex_count, to);
    return made;
}

template <class... Parameters, class... Arguments>
void launch_faces(const device& on, void (*kernel)(Parameters...), const moved_mesh& m, Arguments&&... arguments) {
    if (m.face_count == 0) return;
    const std::int64_t warps = warps_of_face(m);
    cuda::launch(on, kernel, cuda::blocks_for(m.face_count * warps * cuda::warp, threads_of_block),
                 dim3(threads_of_block), 0, m, warps, std::forward<Arguments>(arguments)...);
}

void clear(const device& on, void* to, std::int64_t bytes) {
    cuda::check(cudaMemsetAsync(to, 0, static_cast<std::size_t>(bytes), cuda::stream_of(on)), "clearing cells");
}

}  // namespace

void find_inside(const device& on, const device_mesh::parts& of, const mesh_grid& grid, int shift, bool winding,
                 std::uint32_t* bits) {
    cuda::workspace memory(on);
    const std::int64_t lines = grid.shape[0] * grid.shape[1], cells = winding ? lines * grid.shape[2] : 0;
    const std::int64_t vertices = memory.reserve<lattice_vertex>(of.vertex_count), counts = memory.reserve<int>(cells);
    memory.allocate();
    auto* const moved = memory.get<lattice_vertex>(vertices);
    const moved_mesh m = move(on, of, grid, shift, moved);
    if (!winding) {
        clear(on, bits, words_of(grid) * 4);
        launch_faces(on, flip_bits, m, bits);
        cuda::launch(on, add_up_bits, cuda::blocks_for(lines, threads_of_block), dim3(threads_of_block), 0, lines,
                     words_of(grid.shape[2]), bits);
        return;
    }
    open_edges edges{of.open, of.open_count, moved, {}};
    for (std::size_t k = 0; k < 3; ++k) edges.unit[k] = std::ldexp(grid.pitch[k], -shift);
    int* const count = memory.get<int>(counts);
    clear(on, count, cells * 4);
    launch_faces(on, add_crossings, m, count);
    cuda::launch(on, add_up_crossings, cuda::blocks_for(lines * cuda::warp, threads_of_block), dim3(threads_of_block),
                 0, m, edges, count, bits);
}

void run(const device& on, const device_mesh::parts& of, const mesh_grid& grid, int shift,
         const any_output<device>& out, const voxelize_options& options) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const std::int64_t words = memory.reserve<std::uint32_t>(options.solid ? words_of(grid) : 0),
                       vertices = memory.reserve<lattice_vertex>(options.surface ? of.vertex_count : 0);
    memory.allocate();
    auto* const bits = options.solid ? memory.get<std::uint32_t>(words) : nullptr;
    if (options.solid) find_inside(on, of, grid, shift, options.winding, bits);
    marks to{static_cast<std::uint8_t*>(out.data), {}, {}};
    for (std::size_t k = 0; k < 3; ++k) to.shape[k] = grid.shape[k], to.step[k] = out.stride[k];
    const std::int64_t fours = cuda::blocks_for(grid.shape[2], 4);
    cuda::launch(on, mark, cuda::blocks_for(grid.shape[0] * grid.shape[1] * fours, threads_of_block),
                 dim3(threads_of_block), 0, to, fours, bits);
    if (!options.surface) return;
    launch_faces(on, mark_surface, move(on, of, grid, shift, memory.get<lattice_vertex>(vertices)), to);
}

}  // namespace nearfield::voxels
