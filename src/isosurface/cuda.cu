// Marching cubes on a device. A bit marks each node that lies inside. From these words come the counts of every line
// and their sums, then vertices and faces. Only nodes at edges that cross the level are read again.
#include "base/cuda_scan.cuh"
#include "base/result.hpp"
#include "isosurface/device_room.hpp"

namespace nearfield::isosurfaces {
namespace {

constexpr int threads_of_block = 256;

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

/// Calls body(zero of the field's element type).
template <class Body>
__device__ void with_element(dtype type, const Body& body) {
    switch (type) {
        case dtype::int8: return body(std::int8_t{});
        case dtype::int16: return body(std::int16_t{});
        case dtype::uint16: return body(std::uint16_t{});
        case dtype::int32: return body(std::int32_t{});
        case dtype::uint32: return body(std::uint32_t{});
        case dtype::int64: return body(std::int64_t{});
        case dtype::uint64: return body(std::uint64_t{});
        case dtype::float32: return body(float{});
        case dtype::float64: return body(double{});
        default: return body(std::uint8_t{});
    }
}
/// True if a node of an axis lies in the field, not in the rim.
__device__ bool has_value(const problem<device>& p, std::size_t axis, std::int64_t node) {
    return node >= p.rim && node < p.field.shape[axis] + p.rim;
}
/// The value of a node; NaN if it lies in the rim.
__device__ double value_at(const problem<device>& p, std::int64_t i, std::int64_t j, std::int64_t k) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (!has_value(p, 0, i) || !has_value(p, 1, j) || !has_value(p, 2, k)) return value;
    const std::int64_t at =
        (i - p.rim) * p.field.stride[0] + (j - p.rim) * p.field.stride[1] + (k - p.rim) * p.field.stride[2];
    with_element(p.field.type,
                 [&]<class T>(T) { value = static_cast<double>(static_cast<const T*>(p.field.data)[at]); });
    return value;
}

/// The crossing edges of 32 nodes of a line: for each axis, bits of the nodes whose edge along it crosses the level.
struct crossings {
    std::uint32_t axis[3];
    __device__ int count() const { return __popc(axis[0]) + __popc(axis[1]) + __popc(axis[2]); }
    /// Number of crossing edges of the nodes before `bit`.
    __device__ int count_before(int bit) const {
        const std::uint32_t before = (1u << bit) - 1;
        return __popc(axis[0] & before) + __popc(axis[1] & before) + __popc(axis[2] & before);
    }
};

/// Inside bits of all nodes, and the numbers of their vertices.
struct node_bits {
    std::uint32_t* inside;
    std::int32_t* first;  ///< for each word, the number of its first vertex
    std::int64_t nodes[3], words;

    __device__ std::int64_t word_of(std::int64_t i, std::int64_t j, std::int64_t w) const {
        return (i * nodes[1] + j) * words + w;
    }
    /// Inside bits of the nodes after those of a word, shifted by one node along the last axis.
    __device__ std::uint32_t behind(std::int64_t i, std::int64_t j, std::int64_t w) const {
        const std::int64_t at = word_of(i, j, w);
        return inside[at] >> 1 | (w + 1 < words ? inside[at + 1] << 31 : 0);
    }
    /// Bits of a word's nodes that have a node after them along the last axis.
    __device__ std::uint32_t followed(std::int64_t w) const {
        const std::int64_t left = nodes[2] - 1 - 32 * w;
        return left >= 32 ? ~0u : (1u << left) - 1;
    }
    __device__ crossings edges_at(std::int64_t i, std::int64_t j, std::int64_t w) const {
        const std::uint32_t here = inside[word_of(i, j, w)];
        return {{i + 1 < nodes[0] ? here ^ inside[word_of(i + 1, j, w)] : 0,
                 j + 1 < nodes[1] ? here ^ inside[word_of(i, j + 1, w)] : 0, (here ^ behind(i, j, w)) & followed(w)}};
    }
    /// Number of the vertex on the edge that leads from a node along an axis.
    __device__ std::int32_t vertex_at(std::int64_t i, std::int64_t j, std::int64_t k, int along) const {
        const std::int64_t w = k / 32;
        const int bit = static_cast<int>(k % 32);
        const crossings edges = edges_at(i, j, w);
        int number = first[word_of(i, j, w)] + edges.count_before(bit);
        for (int axis = 0; axis < along; ++axis) number += static_cast<int>(edges.axis[axis] >> bit & 1);
        return number;
    }
};

/// 32 cells of a line: inside bits by corner, and bits of the cells that the surface crosses.
struct cell_bits {
    std::uint32_t corner[8] = {}, mixed = 0;
    __device__ cell_bits(const node_bits& of, std::int64_t i, std::int64_t j, std::int64_t w) {
        if (i + 1 >= of.nodes[0] || j + 1 >= of.nodes[1]) return;
        std::uint32_t some = 0, all = ~0u;
        for (int c = 0; c < 8; ++c) {
            const std::int64_t plane = i + (c >> 2), row = j + (c >> 1 & 1);
            corner[c] = (c & 1) != 0 ? of.behind(plane, row, w) : of.inside[of.word_of(plane, row, w)];
            some |= corner[c], all &= corner[c];
        }
        mixed = some & ~all & of.followed(w);
    }
    __device__ const cell_triangles& triangles(int bit) const {
        unsigned cell = 0;
        for (int c = 0; c < 8; ++c) cell |= (corner[c] >> bit & 1) << c;
        return triangles_of_cell[cell];
    }
};

/// The warp's line, or -1 if there is none.
__device__ std::int64_t own_line(const node_bits& bits) {
    const std::int64_t line = (static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x) / cuda::warp;
    return line < bits.nodes[0] * bits.nodes[1] ? line : -1;
}
__device__ int own_lane() { return static_cast<int>(threadIdx.x) % cuda::warp; }

/// Marks inside nodes. A warp owns a line and takes four times 32 nodes at once.
__global__ void __launch_bounds__(threads_of_block)
    mark_inside(const __grid_constant__ problem<device> p, const __grid_constant__ node_bits bits) {
    constexpr int at_once = 4;
    const std::int64_t line = own_line(bits);
    if (line < 0) return;
    const std::int64_t i = cuda::quotient(line, bits.nodes[1]), j = line - i * bits.nodes[1];
    const bool has_values = has_value(p, 0, i) && has_value(p, 1, j);
    with_element(p.field.type, [&]<class T>(T) {
        const T* const from = static_cast<const T*>(p.field.data) + (i - p.rim) * p.field.stride[0] +
                              (j - p.rim) * p.field.stride[1] - p.rim * p.field.stride[2];
        for (std::int64_t w = 0; w < bits.words; w += at_once) {
            double value[at_once];
            for (int n = 0; n < at_once; ++n) {
                const std::int64_t k = 32 * (w + n) + own_lane();
                value[n] = has_values && has_value(p, 2, k) ? static_cast<double>(from[k * p.field.stride[2]])
                                                            : std::numeric_limits<double>::quiet_NaN();
            }
            for (int n = 0; n < at_once; ++n) {
                const unsigned word = __ballot_sync(cuda::every_lane, p.is_inside(value[n]) ? 1 : 0);
                if (own_lane() == 0 && w + n < bits.words) bits.inside[line * bits.words + w + n] = word;
            }
        }
    });
}

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
            count[1] += cells.triangles(__ffs(static_cast<int>(left)) - 1).count;
    }
    for (std::int64_t& each : count)
        for (int by = cuda::warp / 2; by > 0; by /= 2) each += __shfl_xor_sync(cuda::every_lane, each, by);
    if (own_lane() == 0) vertices[line] = count[0], faces[line] = count[1];
}

/// Turns the counts of a plane's lines into sums before each. A block owns a plane.
__global__ void __launch_bounds__(threads_of_block)
    sum_lines(std::int64_t* counts, std::int64_t lines, std::int64_t* of_plane) {
    __shared__ std::int64_t held[threads_of_block / cuda::warp];
    std::int64_t* const own = counts + blockIdx.x * lines;
    std::int64_t done = 0;
    for (std::int64_t first = 0; first < lines; first += threads_of_block) {
        const std::int64_t at = first + threadIdx.x;
        std::int64_t here = 0;
        const std::int64_t before = cuda::sum_before(at < lines ? own[at] : std::int64_t{0}, held, here);
        if (at < lines) own[at] = done + before;
        done += here;
    }
    if (threadIdx.x == 0) of_plane[blockIdx.x] = done;
}

/// Sums before a line within its plane, and before its plane.
struct line_sums {
    std::int64_t *line, *plane;
    __device__ std::int64_t before(std::int64_t number, std::int64_t lines_of_plane) const {
        return plane[number / lines_of_plane] + line[number];
    }
};

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
    const cell_triangles& own = cells.triangles(lane);
    const int mine = (cells.mixed >> lane & 1) != 0 ? own.count : 0, before = cuda::sum_before_in_warp(mine);
    for (int corner = 0; corner < 3 * mine; ++corner) {
        const int edge = own.corners[corner];
        to[3 * before + corner] =
            bits.vertex_at(i + (edge >> 2 & 1), j + (edge >> 1 & 1), 32 * w + lane + (edge & 1), edge / 8);
    }
    return __shfl_sync(cuda::every_lane, before + mine, cuda::warp - 1);
}

/// Writes vertices and faces. A warp owns a line and takes 32 nodes at a time.
__global__ void __launch_bounds__(threads_of_block)
    write_lines(const __grid_constant__ problem<device> p, const __grid_constant__ node_bits bits,
                const __grid_constant__ line_sums faces, double* vertex_to, std::int32_t* face_to) {
    const std::int64_t line = own_line(bits);
    if (line < 0) return;
    const std::int64_t i = line / bits.nodes[1], j = line % bits.nodes[1];
    std::int32_t* to = face_to + 3 * faces.before(line, bits.nodes[1]);
    for (std::int64_t w = 0; w < bits.words; ++w) {
        write_vertices(p, bits, i, j, w, vertex_to);
        to += 3 * std::int64_t{write_faces(bits, i, j, w, to)};
    }
}

/// Launches a kernel with a warp for every line.
template <class... Parameters, class... Arguments>
void launch_lines(const device& on, const node_bits& bits, void (*kernel)(Parameters...), Arguments&&... arguments) {
    cuda::launch(on, kernel, cuda::blocks_for(bits.nodes[0] * bits.nodes[1] * cuda::warp, threads_of_block),
                 dim3(threads_of_block), 0, std::forward<Arguments>(arguments)...);
}

/// Copies bytes to the host and waits for them.
void read(const device& on, void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, cuda::stream_of(on)), "reading a surface");
    cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "reading a surface");
}

/// Writes the mesh and copies it to the host, whose memory is made ready while the kernel runs.
mesh written(const device& on, const problem<device>& p, const node_bits& bits, const line_sums& faces,
             const std::int64_t* total) {
    cuda::workspace memory(on);
    const std::int64_t vertex = memory.reserve<double>(3 * total[0]), face = memory.reserve<std::int32_t>(3 * total[1]);
    memory.allocate();
    auto* const vertex_to = memory.get<double>(vertex);
    auto* const face_to = memory.get<std::int32_t>(face);
    launch_lines(on, bits, write_lines, p, bits, faces, vertex_to, face_to);
    mesh made;
    resize_result(made.vertices, total[0]), resize_result(made.faces, total[1]);
    read(on, made.vertices.data(), vertex_to, made.vertices.size() * sizeof made.vertices[0]);
    read(on, made.faces.data(), face_to, made.faces.size() * sizeof made.faces[0]);
    return made;
}

}  // namespace

mesh marching_cubes(const device& on, const problem<device>& p) {
    const cuda::device_guard current(on);
    const std::int64_t planes = p.nodes[0], lines = planes * p.nodes[1], words = cuda::blocks_for(p.nodes[2], 32);
    cuda::workspace memory(on);
    const std::int64_t inside = memory.reserve<std::uint32_t>(lines * words),
                       first = memory.reserve<std::int32_t>(lines * words), totals = memory.reserve<std::int64_t>(2),
                       of_lines = memory.reserve<std::int64_t>(2 * lines),
                       of_planes = memory.reserve<std::int64_t>(2 * planes);
    memory.allocate();
    const node_bits bits{memory.get<std::uint32_t>(inside),
                         memory.get<std::int32_t>(first),
                         {p.nodes[0], p.nodes[1], p.nodes[2]},
                         words};
    auto *const line = memory.get<std::int64_t>(of_lines), *const plane = memory.get<std::int64_t>(of_planes),
                *const sums = memory.get<std::int64_t>(totals);
    const line_sums vertices{line, plane}, faces{line + lines, plane + planes};
    launch_lines(on, bits, mark_inside, p, bits);
    launch_lines(on, bits, count_lines, bits, vertices.line, faces.line);
    for (int which = 0; which < 2; ++which) {
        const line_sums& of = which == 0 ? vertices : faces;
        cuda::launch(on, sum_lines, planes, dim3(threads_of_block), 0, of.line, p.nodes[1], of.plane);
        cuda::launch_sums(on, of.plane, planes, sums + which);
    }
    std::int64_t total[2];
    read(on, total, sums, sizeof total);
    check_counts(total[0], total[1]);
    launch_lines(on, bits, number_words, bits, vertices);
    return written(on, p, bits, faces, total);
}

}  // namespace nearfield::isosurfaces
