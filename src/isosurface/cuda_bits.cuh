// Marching cubes and dual contouring on a device share this: a bit marks each node that lies inside. From these words
// come the counts of every line and their sums.
#pragma once

#include "base/cuda_scan.cuh"
#include "base/result.hpp"
#include "base/with_integer.hpp"
#include "isosurface/device_room.hpp"

namespace nearfield::isosurfaces {
namespace {

constexpr int threads_of_block = 256;

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
    with_number(p.field.type,
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
    /// Inside corners of a cell.
    __device__ unsigned corners(int bit) const {
        unsigned cell = 0;
        for (int c = 0; c < 8; ++c) cell |= (corner[c] >> bit & 1) << c;
        return cell;
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
    with_number(p.field.type, [&]<class T>(T) {
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

/// Memory of a call: bits of nodes, and `Counts` numbers of each line.
template <int Counts>
class counted_lines {
public:
    counted_lines(const device& on, const problem<device>& p)
        : on_(on), memory_(on), planes_(p.nodes[0]), of_plane_(p.nodes[1]) {
        const std::int64_t lines = planes_ * of_plane_, words = cuda::blocks_for(p.nodes[2], 32);
        const std::int64_t inside = memory_.reserve<std::uint32_t>(lines * words),
                           first = memory_.reserve<std::int32_t>(lines * words),
                           totals = memory_.reserve<std::int64_t>(Counts),
                           of_lines = memory_.reserve<std::int64_t>(Counts * lines),
                           of_planes = memory_.reserve<std::int64_t>(Counts * planes_);
        memory_.allocate();
        bits = {memory_.get<std::uint32_t>(inside),
                memory_.get<std::int32_t>(first),
                {p.nodes[0], p.nodes[1], p.nodes[2]},
                words};
        totals_ = memory_.get<std::int64_t>(totals);
        for (int which = 0; which < Counts; ++which)
            sums[which] = {memory_.get<std::int64_t>(of_lines) + which * lines,
                           memory_.get<std::int64_t>(of_planes) + which * planes_};
        launch_lines(on, bits, mark_inside, p, bits);
    }
    /// Turns the counts of lines into sums before each; returns the sums over all lines, and waits.
    [[nodiscard]] std::array<std::int64_t, Counts> sum() const {
        for (int which = 0; which < Counts; ++which) {
            cuda::launch(on_, sum_lines, planes_, dim3(threads_of_block), 0, sums[which].line, of_plane_,
                         sums[which].plane);
            cuda::launch_sums(on_, sums[which].plane, planes_, totals_ + which);
        }
        std::array<std::int64_t, Counts> total{};
        read(on_, total.data(), totals_, sizeof total);
        return total;
    }

    node_bits bits{};
    line_sums sums[Counts];

private:
    const device& on_;
    cuda::workspace memory_;
    std::int64_t planes_, of_plane_, *totals_ = nullptr;
};

/// Copies a mesh, which write(vertices, faces) launches kernels to make, to the host. Memory of the host is made ready
/// while they run.
template <class Write>
mesh written(const device& on, std::int64_t vertices, std::int64_t faces, const Write& write) {
    cuda::workspace memory(on);
    const std::int64_t vertex = memory.reserve<double>(3 * vertices), face = memory.reserve<std::int32_t>(3 * faces);
    memory.allocate();
    auto* const vertex_to = memory.get<double>(vertex);
    auto* const face_to = memory.get<std::int32_t>(face);
    write(vertex_to, face_to);
    mesh made;
    resize_result(made.vertices, vertices), resize_result(made.faces, faces);
    read(on, made.vertices.data(), vertex_to, made.vertices.size() * sizeof made.vertices[0]);
    read(on, made.faces.data(), face_to, made.faces.size() * sizeof made.faces[0]);
    return made;
}

}  // namespace
}  // namespace nearfield::isosurfaces
