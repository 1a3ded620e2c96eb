// Dual contouring on a device. Threads walk lines of nodes and list what the surface passes: polygons of cells, which
// become vertices, and edges, which become faces. Then a thread owns each of these.
#include "isosurface/cuda_bits.cuh"
#include "isosurface/dual_core.hpp"

namespace nearfield::isosurfaces {
namespace {

__device__ const std::array<polygons, 256> polygons_of_cell = all_polygons();

struct device_nodes {
    problem<device> p;

    __device__ double value(std::int64_t node) const {
        const std::int64_t line = cuda::quotient(node, p.nodes[2]), i = cuda::quotient(line, p.nodes[1]);
        return value_at(p, i, line - i * p.nodes[1], node - line * p.nodes[2]);
    }
    __device__ bool is_inside(std::int64_t node) const { return p.is_inside(value(node)); }
    __device__ const polygons& polygons_at(int cell) const { return polygons_of_cell[static_cast<std::size_t>(cell)]; }
};
using geometry = dual_geometry<device_nodes>;

__device__ std::int64_t own_item() { return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x; }

/// Calls word(w), cell(at, node, polygons) for cells that the surface passes, and edge(node, axis) for edges that cross
/// the level and have four cells, in the order of a line's nodes.
template <class Word, class Cell, class Edge>
__device__ void walk_line(const node_bits& bits, std::int64_t line, const Word& word, const Cell& cell,
                          const Edge& edge) {
    const std::int64_t i = cuda::quotient(line, bits.nodes[1]), j = line - i * bits.nodes[1];
    const bool within_0 = i > 0 && i + 1 < bits.nodes[0], within_1 = j > 0 && j + 1 < bits.nodes[1];
    for (std::int64_t w = 0; w < bits.words; ++w) {
        word(w);
        const cell_bits cells(bits, i, j, w);
        const crossings crossed = bits.edges_at(i, j, w);
        const std::uint32_t within_2 = bits.followed(w) & (w == 0 ? ~1u : ~0u);
        const std::uint32_t edges[] = {within_1 ? crossed.axis[0] & within_2 : 0,
                                       within_0 ? crossed.axis[1] & within_2 : 0,
                                       within_0 && within_1 ? crossed.axis[2] : 0};
        for (std::uint32_t left = cells.mixed | edges[0] | edges[1] | edges[2]; left != 0; left &= left - 1) {
            const int bit = __ffs(static_cast<int>(left)) - 1;
            const std::int64_t k = 32 * w + bit, node = line * bits.nodes[2] + k;
            if ((cells.mixed >> bit & 1) != 0) cell(cell_at{i, j, k}, node, polygons_of_cell[cells.corners(bit)]);
            for (std::size_t axis = 0; axis < 3; ++axis)
                if ((edges[axis] >> bit & 1) != 0) edge(node, axis);
        }
    }
}
/// A ring's length does not depend on numbers of vertices.
__device__ int count_faces(const geometry& of, std::int64_t node, std::size_t axis) {
    return of.ring_of(node, axis, [](std::int64_t) { return 0; }, {}, nullptr) - 2;
}

/// Counts vertices, faces and doubled segments of a line. A thread owns a line.
__global__ void __launch_bounds__(threads_of_block)
    count_dual(const __grid_constant__ device_nodes nodes, const __grid_constant__ node_bits bits,
               std::int64_t* vertices, std::int64_t* faces, std::int64_t* doubled) {
    const std::int64_t line = own_item();
    if (line >= bits.nodes[0] * bits.nodes[1]) return;
    const geometry of(nodes);
    std::int64_t count[3] = {0, 0, 0};
    walk_line(
        bits, line, [](std::int64_t) {},
        [&](const cell_at& at, std::int64_t node, const polygons& all) {
            count[0] += all.count;
            if (all.doubled != 0) of.for_each_doubled(at, node, [&](std::int64_t) { ++count[2]; });
        },
        [&](std::int64_t node, std::size_t axis) { count[1] += count_faces(of, node, axis); });
    vertices[line] = count[0], faces[line] = count[1], doubled[line] = count[2];
}

/// Lists of all lines: polygons by vertex, as 4 * cell + number; edges by their first face, as 3 * node + axis, and -1
/// at their other faces; keys of doubled segments.
struct listed {
    std::int64_t *polygon, *edge, *doubled;
};

/// Lists what count_dual() counted, and numbers the first vertex of each word. A thread owns a line.
__global__ void __launch_bounds__(threads_of_block)
    list_dual(const __grid_constant__ device_nodes nodes, const __grid_constant__ node_bits bits,
              const __grid_constant__ line_sums vertices, const __grid_constant__ line_sums faces,
              const __grid_constant__ line_sums doubled, const __grid_constant__ listed to) {
    const std::int64_t line = own_item();
    if (line >= bits.nodes[0] * bits.nodes[1]) return;
    const geometry of(nodes);
    std::int64_t vertex = vertices.before(line, bits.nodes[1]), face = faces.before(line, bits.nodes[1]),
                 segment = doubled.before(line, bits.nodes[1]);
    walk_line(
        bits, line, [&](std::int64_t w) { bits.first[line * bits.words + w] = static_cast<std::int32_t>(vertex); },
        [&](const cell_at& at, std::int64_t node, const polygons& all) {
            for (int n = 0; n < all.count; ++n) to.polygon[vertex++] = 4 * node + n;
            if (all.doubled != 0) of.for_each_doubled(at, node, [&](std::int64_t key) { to.doubled[segment++] = key; });
        },
        [&](std::int64_t node, std::size_t axis) {
            const int count = count_faces(of, node, axis);
            for (int n = 0; n < count; ++n) to.edge[face++] = n == 0 ? 3 * node + static_cast<std::int64_t>(axis) : -1;
        });
}

/// Number of the vertex of a cell's first polygon.
__device__ std::int32_t first_vertex(const node_bits& bits, std::int64_t node) {
    const std::int64_t line = cuda::quotient(node, bits.nodes[2]), i = cuda::quotient(line, bits.nodes[1]),
                       j = line - i * bits.nodes[1], k = node - line * bits.nodes[2], w = k / 32;
    const cell_bits cells(bits, i, j, w);
    std::int32_t number = bits.first[line * bits.words + w];
    for (std::uint32_t left = cells.mixed & ((1u << (k % 32)) - 1); left != 0; left &= left - 1)
        number += polygons_of_cell[cells.corners(__ffs(static_cast<int>(left)) - 1)].count;
    return number;
}

/// Computes vertices: those of polygons, then those of doubled segments. A thread owns a vertex.
__global__ void __launch_bounds__(threads_of_block)
    fit_vertices(const __grid_constant__ device_nodes nodes, const __grid_constant__ listed from,
                 const __grid_constant__ doubled_segments doubled, double* to) {
    const std::int64_t vertex = own_item(), segment = vertex - doubled.first_vertex;
    if (segment >= doubled.count) return;
    const geometry of(nodes);
    const vec at = segment >= 0 ? of.middle_of(from.doubled[segment])
                                : of.vertex_of(from.polygon[vertex] / 4, static_cast<int>(from.polygon[vertex] % 4));
    for (std::size_t k = 0; k < 3; ++k) to[3 * vertex + static_cast<std::int64_t>(k)] = at[k];
}
/// Writes faces. A thread owns an edge.
__global__ void __launch_bounds__(threads_of_block)
    fan_faces(const __grid_constant__ device_nodes nodes, const __grid_constant__ node_bits bits,
              const __grid_constant__ listed from, const __grid_constant__ doubled_segments doubled, std::int64_t faces,
              std::int32_t* to) {
    const std::int64_t face = own_item();
    if (face >= faces || from.edge[face] < 0) return;
    std::int32_t ring[8];
    const int count = geometry(nodes).ring_of(
        from.edge[face] / 3, static_cast<std::size_t>(from.edge[face] % 3),
        [&](std::int64_t cell) { return first_vertex(bits, cell); }, doubled, ring);
    for (int k = 1; k + 1 < count; ++k) {
        std::int32_t* const own = to + 3 * (face + k - 1);
        own[0] = ring[0], own[1] = ring[k], own[2] = ring[k + 1];
    }
}

/// Launches a kernel with a thread for every item.
template <class... Parameters, class... Arguments>
void launch_items(const device& on, std::int64_t count, void (*kernel)(Parameters...), Arguments&&... arguments) {
    cuda::launch(on, kernel, cuda::blocks_for(count, threads_of_block), dim3(threads_of_block), 0,
                 std::forward<Arguments>(arguments)...);
}

}  // namespace

mesh dual_contouring(const device& on, const problem<device>& p) {
    const cuda::device_guard current(on);
    const counted_lines<3> lines(on, p);
    const device_nodes nodes{p};
    const node_bits& bits = lines.bits;
    const line_sums* const sums = lines.sums;
    const std::int64_t all_lines = p.nodes[0] * p.nodes[1];
    launch_items(on, all_lines, count_dual, nodes, bits, sums[0].line, sums[1].line, sums[2].line);
    const auto [plain, faces, segments] = lines.sum();
    const std::int64_t vertices = plain + segments, all_faces = faces;
    check_counts(vertices, all_faces);
    cuda::workspace memory(on);
    const std::int64_t polygon = memory.reserve<std::int64_t>(plain), edge = memory.reserve<std::int64_t>(faces),
                       doubled = memory.reserve<std::int64_t>(segments);
    memory.allocate();
    const listed all{memory.get<std::int64_t>(polygon), memory.get<std::int64_t>(edge),
                     memory.get<std::int64_t>(doubled)};
    const doubled_segments keys{all.doubled, segments, plain};
    launch_items(on, all_lines, list_dual, nodes, bits, sums[0], sums[1], sums[2], all);
    return written(on, vertices, all_faces, [&](double* vertex_to, std::int32_t* face_to) {
        launch_items(on, vertices, fit_vertices, nodes, all, keys, vertex_to);
        launch_items(on, all_faces, fan_faces, nodes, bits, all, keys, all_faces, face_to);
    });
}

}  // namespace nearfield::isosurfaces
