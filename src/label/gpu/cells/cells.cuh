// General kernels for every element type, criterion, stride and border, in device memory only: they find foreground
// cells, the starts of nodes, and all links between nodes. A warp owns a word, a lane a cell.
#pragma once

#include "label/core.hpp"
#include "label/gpu/forest.cuh"

namespace nearfield::labelling {

/// The source of the cells, and the rule that decides on them.
template <class T>
struct cell_source {
    const T* data;
    strides at;
    int channels;  ///< channels of a colour; 0 if elements are not colours
    std::int64_t channel_stride;
    rule<T> decide;
    link_pair west;  ///< for criterion::links: the bits of a cell and the one before it in its row

    [[nodiscard]] __device__ const T* image(std::int64_t number) const { return data + at.image(number); }
    [[nodiscard]] __device__ const T* cell(const T* of_image, std::int64_t z, std::int64_t y, std::int64_t x) const {
        return of_image + at.cell(z, y, x);
    }
    [[nodiscard]] __device__ bool foreground(const T* a) const {
        return channels == 0 ? decide.foreground(*a) : decide.foreground(a, channels, channel_stride);
    }
    /// `by`: for criterion::links, the bits by which the cells name each other.
    [[nodiscard]] __device__ bool linked(const T* a, const T* b, const link_pair& by) const {
        if constexpr (std::is_integral_v<T>)
            if (decide.kind == criterion::links)
                return ((*a & static_cast<T>(by.here)) | (*b & static_cast<T>(by.there))) != 0;
        return channels == 0 ? decide.linked(*a, *b) : decide.linked(a, b, channels, channel_stride);
    }
};

constexpr int cell_threads = 256;

/// Writes the words of foreground cells and of the cells that start a node; makes every node a tree of its own.
template <class T, class Id>
__global__ void __launch_bounds__(cell_threads)
    mark_cells(lattice<Id> g, cell_source<T> from, word* foreground, word* starts, forest<Id> trees, state* states,
               std::int64_t state_count) {
    cuda::wait_for_kernel_before();
    const std::int64_t thread = std::int64_t{blockIdx.x} * cell_threads + threadIdx.x;
    for (std::int64_t i = thread; i < state_count; i += std::int64_t{gridDim.x} * cell_threads) states[i] = 0;
    const auto w = static_cast<typename lattice<Id>::number>(thread / cuda::warp);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    if (w >= g.all_words()) return;
    const place<Id> at(g, w, lane);
    const T* me = from.cell(from.image(at.image), at.z, at.y, at.x);
    const bool set = at.x < g.size[2] && from.foreground(me);
    const word all = __ballot_sync(cuda::every_lane, set);
    if (lane == 0) foreground[w] = all;
    const bool goes_on =
        set && lane > 0 && (all >> (lane - 1) & 1) != 0 && from.linked(me, me - from.at.along[2], from.west);
    if (set && !goes_on) *trees.slot(static_cast<Id>(w * word_cells + lane)) = static_cast<Id>(w * word_cells + lane);
    const word first = __ballot_sync(cuda::every_lane, set && !goes_on);
    if (lane == 0) starts[w] = first;
}

/// Number of words whose cells a warp loads before it evaluates the first.
constexpr int words_a_warp = 8;

/// Writes the words of foreground cells only. A warp owns consecutive words, a lane one cell of each. The position of
/// the first word is computed once; each next word follows in the row or starts the next row.
template <class T, class Id>
__global__ void __launch_bounds__(cell_threads) mark_words(lattice<Id> g, cell_source<T> from, word* foreground) {
    cuda::wait_for_kernel_before();
    using number = typename lattice<Id>::number;
    const std::int64_t warp = (std::int64_t{blockIdx.x} * cell_threads + threadIdx.x) / cuda::warp;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    if (warp * words_a_warp >= g.all_words()) return;
    const auto first = static_cast<number>(warp * words_a_warp);
    const int count = static_cast<int>(min(std::int64_t{words_a_warp}, std::int64_t{g.all_words()} - first));
    place<Id> at(g, first, lane);
    const T* row = from.cell(from.image(at.image), at.z, at.y, 0);
    bool set[words_a_warp];
#pragma unroll
    for (int i = 0; i < words_a_warp; ++i) {
        set[i] = i < count && at.x < g.size[2] && from.foreground(row + at.x * from.at.along[2]);
        at.x += word_cells;
        if (i + 1 >= count || at.x - lane < g.size[2]) continue;
        at = place<Id>(g, first + i + 1, lane);
        row = from.cell(from.image(at.image), at.z, at.y, 0);
    }
#pragma unroll
    for (int i = 0; i < words_a_warp; ++i) {
        const word all = __ballot_sync(cuda::every_lane, set[i]);
        if (lane == 0 && i < count) foreground[first + i] = all;
    }
}

/// A backward step, with its bits for criterion::links.
struct backward {
    int dz, dy, dx;
    link_pair names;
};
struct backward_list {
    backward step[13];
    int count;
};

/// Unites the nodes of all linked cells. A lane skips a link between the same two nodes as the previous lane's.
template <class T, class Id>
__global__ void __launch_bounds__(cell_threads) link_cells(lattice<Id> g, cell_source<T> from, const word* foreground,
                                                           const word* starts, forest<Id> trees, backward_list steps) {
    cuda::wait_for_kernel_before();
    using number = typename lattice<Id>::number;
    const auto w = static_cast<number>((std::int64_t{blockIdx.x} * cell_threads + threadIdx.x) / cuda::warp);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    if (w >= g.all_words()) return;
    const word here = foreground[w];
    if (here == 0) return;
    const place<Id> at(g, w, lane);
    const bool set = (here >> lane & 1) != 0;
    const T* image = from.image(at.image);
    const T* me = from.cell(image, at.z, at.y, at.x);
    const Id mine = set ? static_cast<Id>(w * word_cells + start_of(starts[w], lane)) : 0;
    const auto into = [&](number& c, int axis) {
        const number n = g.size[axis];
        if (c >= 0 && c < n) return true;
        c += c < 0 ? n : -n;
        return g.wraps[axis];
    };
    for (int i = 0; i < steps.count; ++i) {
        const backward d = steps.step[i];
        const bool along_row = d.dz == 0 && d.dy == 0;
        number z = at.z + d.dz, y = at.y + d.dy, x = at.x + d.dx;
        Id other = 0;
        bool link = set && !(along_row && lane > 0) && into(z, 0) && into(y, 1) && into(x, 2);
        if (link) {
            const number there = ((at.image * g.size[0] + z) * g.size[1] + y) * g.words + x / word_cells;
            link =
                (foreground[there] >> (x % word_cells) & 1) != 0 && from.linked(me, from.cell(image, z, y, x), d.names);
            if (link)
                other = static_cast<Id>(there * word_cells + start_of(starts[there], static_cast<int>(x % word_cells)));
        }
        const bool before = __shfl_up_sync(cuda::every_lane, static_cast<int>(link), 1) != 0;
        const bool same =
            __shfl_up_sync(cuda::every_lane, other, 1) == other && __shfl_up_sync(cuda::every_lane, mine, 1) == mine;
        if (link && !(lane > 0 && before && same)) trees.unite(mine, other);
    }
}

}  // namespace nearfield::labelling
