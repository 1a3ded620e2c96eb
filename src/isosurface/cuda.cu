// Marching cubes on a device, from the bits of nodes. Only nodes at edges that cross the level are read again.
#include "isosurface/cuda_bits.cuh"

namespace nearfield::isosurfaces {
namespace {

/// The triangles of a cell, as in isosurfaces::table.
struct alignas(16) cell_triangles {
    std::int8_t count = 0, corners[15] = {};
};
constexpr std::array<cell_triangles, 256> all_triangles() {
    std::array<cell_triangles, 256> made{};
    for (std::size_t cell = 0; cell < 256; ++cell) {
        made[cell].count = table[cell].triangles;
        for (std::size_t k = 0; k < 15; ++k) made[cell].corners[k] = table[cell].corners[k];
    }
    return made;
}
__device__ const std::array<cell_triangles, 256> triangles_of_cell = all_triangles();

/// Counts vertices and faces. A warp owns a line.
__global__ void __launch_bounds__(threads_of_block)
    count_lines(const __grid_constant__ node_bits bits, std::int64_t* vertices, std::int64_t* faces) {
    const std::int64_t line = own_line(bits);
    if (line < 0) return;
    const std::int64_t i = line / bits.nodes[1], j = line % bits.nodes[1];
    std::int64_t count[2] = {0, 0};
    for (std::int64_t w = own_lane(); w < bits.words; w += cuda::warp) {
        count[0] += bits.edges_at(i, j, w).count();
        const cell_bits cells(bits, i, j, w);
        for (std::uint32_t left = cells.mixed; left != 0; left &= left - 1)
            count[1] += triangles_of_cell[cells.corners(__ffs(static_cast<int>(left)) - 1)].count;
    }
    for (std::int64_t& each : count)
        for (int by = cuda::warp / 2; by > 0; by /= 2) each += __shfl_xor_sync(cuda::every_lane, each, by);
    if (own_lane() == 0) vertices[line] = count[0], faces[line] = count[1];
}

/// Numbers the first vertex of each word. A warp owns a line.
__global__ void __launch_bounds__(threads_of_block)
    number_words(const __grid_constant__ node_bits bits, const __grid_constant__ line_sums vertices) {
    const std::int64_t line = own_line(bits);
    if (line < 0) return;
    auto next = static_cast<int>(vertices.before(line, bits.nodes[1]));
    for (std::int64_t start = 0; start < bits.words; start += cuda::warp) {
        const std::int64_t w = start + own_lane();
        const int mine = w < bits.words ? bits.edges_at(line / bits.nodes[1], line % bits.nodes[1], w).count() : 0;
        const int before = cuda::sum_before_in_warp(mine);
        if (w < bits.words) bits.first[line * bits.words + w] = next + before;
        next += __shfl_sync(cuda::every_lane, before + mine, cuda::warp - 1);
    }
}

__device__ void write_vertices(const problem<device>& p, const node_bits& bits, std::int64_t i, std::int64_t j,
                               std::int64_t w, double* to) {
    const crossings edges = bits.edges_at(i, j, w);
    const int lane = own_lane();
    if (((edges.axis[0] | edges.axis[1] | edges.axis[2]) >> lane & 1) == 0) return;
    const std::int64_t k = 32 * w + lane;
    double* at = to + 3 * (bits.first[bits.word_of(i, j, w)] + std::int64_t{edges.count_before(lane)});
    const double here = value_at(p, i, j, k);
    for (int axis = 0; axis < 3; ++axis) {
        if ((edges.axis[axis] >> lane & 1) == 0) continue;
        const double there = value_at(p, i + (axis == 0 ? 1 : 0), j + (axis == 1 ? 1 : 0), k + (axis == 2 ? 1 : 0));
        double node[] = {static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)};
        node[axis] += place_between(here, there, p.level);
        for (std::size_t c = 0; c < 3; ++c) *at++ = p.coordinate(c, node[c]);
    }
}

/// Writes the faces of 32 cells and returns how many there are.
__device__ int write_faces(const node_bits& bits, std::int64_t i, std::int64_t j, std::int64_t w, std::int32_t* to) {
    const cell_bits cells(bits, i, j, w);
    if (cells.mixed == 0) return 0;
    const int lane = own_lane();
    const cell_triangles& own = triangles_of_cell[cells.corners(lane)];
    const int mine = (cells.mixed >> lane & 1) != 0 ? own.count : 0, before = cuda::sum_before_in_warp(mine);
    for (int corner = 0; corner < 3 * mine; ++corner) {
        const int edge = own.corners[corner];
        to[3 * before + corner] =
            bits.vertex_at(i + (edge >> 2 & 1), j + (edge >> 1 & 1), 32 * w + lane + (edge & 1), edge / 8);
    }
    return __shfl_sync(cuda::every_lane, before + mine, cuda::warp - 1);
}

/// Writes vertices and faces. A warp owns a line, finds the words that the surface passes, and takes the 32 nodes of
/// each at a time.
__global__ void __launch_bounds__(threads_of_block)
    write_lines(const __grid_constant__ problem<device> p, const __grid_constant__ node_bits bits,
                const __grid_constant__ line_sums faces, double* vertex_to, std::int32_t* face_to) {
    const std::int64_t line = own_line(bits);
    if (line < 0) return;
    const std::int64_t i = line / bits.nodes[1], j = line % bits.nodes[1];
    std::int32_t* to = face_to + 3 * faces.before(line, bits.nodes[1]);
    for (std::int64_t start = 0; start < bits.words; start += cuda::warp) {
        const std::int64_t own = start + own_lane();
        const bool some =
            own < bits.words && (bits.edges_at(i, j, own).count() != 0 || cell_bits(bits, i, j, own).mixed != 0);
        for (unsigned left = __ballot_sync(cuda::every_lane, some ? 1 : 0); left != 0; left &= left - 1) {
            const std::int64_t w = start + __ffs(static_cast<int>(left)) - 1;
            write_vertices(p, bits, i, j, w, vertex_to);
            to += 3 * std::int64_t{write_faces(bits, i, j, w, to)};
        }
    }
}

}  // namespace

mesh marching_cubes(const device& on, const problem<device>& p) {
    const cuda::device_guard current(on);
    const counted_lines<2> lines(on, p);
    const auto& [vertices, faces] = lines.sums;
    launch_lines(on, lines.bits, count_lines, lines.bits, vertices.line, faces.line);
    const auto [all_vertices, all_faces] = lines.sum();
    check_counts(all_vertices, all_faces);
    launch_lines(on, lines.bits, number_words, lines.bits, vertices);
    return written(on, all_vertices, all_faces, [&](double* vertex_to, std::int32_t* face_to) {
        launch_lines(on, lines.bits, write_lines, p, lines.bits, lines.sums[1], vertex_to, face_to);
    });
}

}  // namespace nearfield::isosurfaces
