// Writes the labels of tiles: looks up the label of every part once, then of every node, and then stores cells 16 bytes
// at a time.
#pragma once

#include "label/gpu/labels_out.cuh"
#include "label/gpu/tiles/number.cuh"

namespace nearfield::labelling {

/// Shared memory of a block that writes its tile.
template <class Tiling>
struct writing_desk {
    static constexpr std::uint32_t room = 1024, node_room = Tiling::valued ? 1024 : Tiling::nodes;
    static_assert(few_nodes <= node_room);  // shared nodes are not split into turns
    static constexpr int few_words = static_cast<int>(node_room) / (Tiling::nodes / Tiling::threads);
    std::uint32_t part_label[room];  ///< labels of the tile's first parts; few tiles have more
    std::uint32_t
        nodes[1 + node_room];  ///< label of node a at a + 1, so that a word may ask for the node before its first one
    word cells[Tiling::row_words], starts[Tiling::threads];
    std::uint16_t before[Tiling::threads];
};

/// Returns where nodes begin in a thread's bundle.
template <class Tiling>
__device__ word starts_of(const word* cells, const tile_bundle<Tiling>& b) {
    word all = 0;
#pragma unroll
    for (int r = 0; r < Tiling::bundle::count; ++r) all |= cells[b.at(r)];
    return all & ~(all << 1);
}

/// Loads the labels of the tile's first parts, and its words; returns the number of nodes. Synchronises.
template <class Tiling, class LabelOf>
__device__ std::uint32_t look_up(writing_desk<Tiling>& s, const tile_place<Tiling>& at, const tile_store& from,
                                 const LabelOf& label_of) {
    const int me = static_cast<int>(threadIdx.x);
    const std::int64_t words = std::int64_t{at.number} * Tiling::threads;
    if (me == 0) s.nodes[0] = 0;
    for (int i = me; i < Tiling::row_words; i += Tiling::threads)
        s.cells[i] = from.cells[std::int64_t{at.number} * Tiling::row_words + i];
    s.before[me] = from.before[words + me];
    for (std::uint32_t i = me; i < min(from.counts[at.number], s.room); i += Tiling::threads)
        s.part_label[i] = label_of(i);
    __syncthreads();
    s.starts[me] = from.starts != nullptr ? from.starts[words + me] : starts_of(s.cells, tile_bundle<Tiling>(me));
    __syncthreads();
    return s.before[Tiling::threads - 1] + static_cast<std::uint32_t>(__popc(s.starts[Tiling::threads - 1]));
}

/// Writes the labels of the cells of words `first` to `end`, whose nodes are looked up. Four neighbouring cells of each
/// row of a bundle share that look-up. A thread traverses one column of the tile, or its planes, so that invariants are
/// computed once.
/// Over 40 lines because it computes the invariants of a column first.
template <class Tiling, class Label>
__device__ void put_label_quads(const writing_desk<Tiling>& s, const narrow_lattice& g, const tile_place<Tiling>& at,
                                const label_target<Label>& to, int first, int end) {
    using bundle = typename Tiling::bundle;
    constexpr int step = 4, per_word = word_cells / step, words_a_round = Tiling::threads / per_word,
                  bundles_a_round = words_a_round / Tiling::words;
    constexpr bool deep = Tiling::deep > 1;
    constexpr int axis = deep ? 0 : 1;  // the axis that a thread traverses
    constexpr int far = deep ? bundles_a_round / Tiling::down * bundle::planes : bundles_a_round * bundle::rows;
    static_assert(words_a_round % Tiling::words == 0 && (!deep || bundles_a_round % Tiling::down == 0));
    const int x = static_cast<int>(threadIdx.x) % per_word * step;
    int thread = first + static_cast<int>(threadIdx.x) / per_word;
    const tile_bundle<Tiling> b(thread);
    const int column = (at.word + b.w) * word_cells + x;
    if (column >= g.size[2] || at.y + b.line(0) >= g.size[1] || at.z + b.plane(0) >= g.size[0]) return;
    const word here = up_to(x) >> 1;  // the cells before
    const std::int64_t across[2] = {to.at.along[0], to.at.along[1]};
    Label* out = to.data + to.at.image(at.image) + to.at.cell(at.z + b.plane(0), at.y + b.line(0), column);
    // Number of cells left along the axis, from the bundle's first row on.
    int left = g.size[axis] - (deep ? at.z + b.plane(0) : at.y + b.line(0));
    const int lines = g.size[1] - at.y - b.line(0);
    const auto* nodes = s.nodes - s.before[first];
    const word* cells = s.cells + b.at(0);
    for (; thread < end && left > 0; thread += words_a_round, left -= far, out += far * across[axis],
                                     cells += far * (deep ? Tiling::rows : 1) * Tiling::words) {
        const word starts = s.starts[thread];
        const auto* node = nodes + s.before[thread] + __popc(starts & here);
        word begin = starts >> x;
        Label label[step];
#pragma unroll
        for (int j = 0; j < step; ++j, begin >>= 1) {
            node += begin & 1;
            // A background cell reads the node before it and does not use it.
            label[j] = static_cast<Label>(*node);
        }
#pragma unroll
        for (int r = 0; r < bundle::count; ++r) {
            const int plane = r / bundle::rows, line = r % bundle::rows;
            if (r > 0 && ((plane > 0 && plane >= left) || (line > 0 && line >= (deep ? lines : left)))) continue;
            const word set = cells[(plane * Tiling::rows + line) * Tiling::words] >> x;
            four_labels<Label> four;
#pragma unroll
            for (int j = 0; j < step; ++j) four.value[j] = (set >> j & 1) != 0 ? label[j] : Label{0};
            Label* const row = out + plane * across[0] + line * across[1];
            store_once(row, four);
        }
    }
}

/// Writes labels, one cell to a lane, for rows at any alignment. A warp traverses its word's column, plane after plane.
template <class Tiling, class Label>
__device__ void put_labels(const writing_desk<Tiling>& s, const narrow_lattice& g, const tile_place<Tiling>& at,
                           const label_target<Label>& to, int first, int end) {
    using bundle = typename Tiling::bundle;
    constexpr int warps = Tiling::threads / cuda::warp, step = warps / Tiling::words;
    static_assert(warps % Tiling::words == 0 && word_cells == cuda::warp);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const int w = warp % Tiling::words, top = warp / Tiling::words;
    const int column = (at.word + w) * word_cells + lane, lines = g.size[1] - at.y, planes = g.size[0] - at.z;
    if (column >= g.size[2]) return;
    const word here = up_to(lane);
    const std::int64_t deeper = to.at.along[0], lower = to.at.along[1];
    Label* plane = to.data + to.at.image(at.image) + to.at.cell(at.z, at.y + top * bundle::rows, column);
    for (int z = 0; z < Tiling::deep && z * bundle::planes < planes; ++z, plane += bundle::planes * deeper) {
        Label* out = plane;
        for (int y = top; y < Tiling::down && y * bundle::rows < lines; y += step, out += step * bundle::rows * lower) {
            const int thread = (z * Tiling::down + y) * Tiling::words + w;
            if (thread < first || thread >= end) continue;
            const int rank = __popc(s.starts[thread] & here);
            const auto label = static_cast<Label>(s.nodes[s.before[thread] - s.before[first] + rank]);
            const word* cells = s.cells + (z * bundle::planes * Tiling::rows + y * bundle::rows) * Tiling::words + w;
#pragma unroll
            for (int r = 0; r < bundle::count; ++r) {
                const int p = r / bundle::rows, line = r % bundle::rows;
                if (z * bundle::planes + p >= planes || y * bundle::rows + line >= lines) continue;
                const bool set = (cells[(p * Tiling::rows + line) * Tiling::words] >> lane & 1) != 0;
                __stcs(out + p * deeper + line * lower, set ? label : Label{0});
            }
        }
    }
}

/// Writes the labels of the cells of tile `number`. All threads of a block call it.
template <class Tiling, bool Quads, class Label>
__device__ void write_tile(writing_desk<Tiling>& s, const narrow_lattice& g, int number, const tile_store& from,
                           const component_numbers& numbers, const std::int64_t* image_base,
                           const label_target<Label>& to) {
    const tile_place<Tiling> at(g, number);
    const std::uint32_t begin = static_cast<std::uint32_t>(at.number) * Tiling::nodes;
    const std::uint32_t less = g.images > 1 ? static_cast<std::uint32_t>(image_base[at.image]) : 0;
    const auto label_of = [&](std::uint32_t i) {
        const std::uint32_t number = numbers.of(static_cast<std::uint32_t>(from.parts[begin + i] >> 32));
        return number == 0 ? 0 : number - less;
    };
    const std::uint32_t nodes = look_up(s, at, from, label_of);
    // If not all nodes fit, groups of words take turns.
    const int step = !Tiling::valued || nodes <= s.node_room ? Tiling::threads : s.few_words;
    for (int first = 0; first < Tiling::threads; first += step) {
        const int end = first + step;
        const std::uint32_t behind = end < Tiling::threads ? s.before[end] : nodes;
        for (std::uint32_t a = s.before[first] + threadIdx.x; a < behind; a += Tiling::threads) {
            const std::uint32_t of_node = from.node_part[begin + a];
            s.nodes[a - s.before[first] + 1] = of_node < s.room ? s.part_label[of_node] : label_of(of_node);
        }
        __syncthreads();
        if constexpr (Quads) put_label_quads(s, g, at, to, first, end);
        else put_labels(s, g, at, to, first, end);
        if (end < Tiling::threads) __syncthreads();
    }
}

template <class Tiling, bool Quads, class Label>
__global__ void __launch_bounds__(Tiling::threads, Tiling::resident)
    write_tiles(narrow_lattice g, tile_store from, component_numbers numbers, const std::int64_t* image_base,
                label_target<Label> to) {
    __shared__ writing_desk<Tiling> s;
    cuda::wait_for_kernel_before();
    write_tile<Tiling, Quads>(s, g, static_cast<int>(blockIdx.x), from, numbers, image_base, to);
}

}  // namespace nearfield::labelling
