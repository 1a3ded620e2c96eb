// Cells, boxes, centroids and borders of components, from the bits and nodes that tiles left: no label is read.
//
// What a node has is known in closed form. A block adds its tile's nodes up by part, in shared memory and in the tile's own
// coordinates, where 32 bits suffice. A part that is a whole component is finished there; of components with parts in
// several tiles (split) the parts meet in device memory, in 64 bits, and the rows are finished afterwards.
#pragma once

#include "base/cuda_by_warp.cuh"
#include "label/cuda_tile_write.cuh"
#include "label/statistics_rows.hpp"

namespace nearfield::labelling {

/// Where a tile's sums go.
struct table_target {
    statistics::columns to;
    std::int64_t rows;  ///< of the longest table
    int axes;           ///< of the image
    state* sums;        ///< row_words() for each row; only those of split components are used
    word* split;        ///< a bit for the place of each part: the root of a split component

    /// Words of a row: cells, then of each axis the sum of coordinates, ~first, and one past the last. So all begin at 0, and
    /// only grow.
    [[nodiscard]] NF_HD static constexpr int row_words(int axes) { return 1 + 3 * axes; }
    [[nodiscard]] __device__ state* sums_of(std::int64_t row) const { return sums + row * row_words(axes); }
    /// The image's axis that is the lattice's axis `a`; negative where there is none.
    [[nodiscard]] __device__ int axis_of(int a) const { return a - (3 - axes); }
};

/// Sums of a part in coordinates of its tile. Lattice axes from `first_axis` on.
template <class Tiling>
struct part_sums {
    static constexpr int first_axis = Tiling::deep > 1 ? 0 : 1, axes = 3 - first_axis;
    static constexpr std::uint32_t no_span = 0xffffffffU;  ///< less than any
    static_assert(Tiling::planes <= 256 && Tiling::rows <= 256 && Tiling::columns <= 256);

    std::uint32_t cells = 0, sum[axes] = {}, span[axes];

    __device__ part_sums() {
#pragma unroll
        for (std::uint32_t& each : span) each = no_span;
    }
    /// The first coordinate in the lower half, 2^16 - 1 less the last one in the upper, so that both only fall.
    __device__ static std::uint32_t span_of(int first, int last) {
        return static_cast<std::uint32_t>(first) | (0xffffU - static_cast<std::uint32_t>(last)) << 16;
    }
    __device__ static std::uint32_t first_of(std::uint32_t span) { return span & 0xffffU; }
    __device__ static std::uint32_t end_of(std::uint32_t span) { return 0xffffU - (span >> 16) + 1; }

    /// `n` cells of one row, whose columns add up to `sum_x` and lie in `span_x`.
    __device__ void add_row(std::uint32_t n, std::uint32_t sum_x, int line, int plane) {
        cells += n;
        sum[axes - 1] += sum_x;
        sum[axes - 2] += n * static_cast<std::uint32_t>(line);
        span[axes - 2] = __vminu2(span[axes - 2], span_of(line, line));
        if constexpr (first_axis == 0) {
            sum[0] += n * static_cast<std::uint32_t>(plane);
            span[0] = __vminu2(span[0], span_of(plane, plane));
        }
    }
    __device__ void add_columns(std::uint32_t span_x) { span[axes - 1] = __vminu2(span[axes - 1], span_x); }

    __device__ void reduce() {
        cells = __reduce_add_sync(cuda::every_lane, cells);
#pragma unroll
        for (int i = 0; i < axes; ++i) {
            sum[i] = __reduce_add_sync(cuda::every_lane, sum[i]);
            span[i] = __reduce_min_sync(cuda::every_lane, span[i] & 0xffffU) |
                      __reduce_min_sync(cuda::every_lane, span[i] >> 16) << 16;
        }
    }
};

/// Sums of `Room` places.
template <class Tiling, std::uint32_t Room>
struct part_tally {
    static constexpr std::uint32_t room = Room, nowhere = 0xffffffffU;
    static constexpr int axes = part_sums<Tiling>::axes;
    std::uint32_t cells[room], sum[axes][room], span[axes][room];

    __device__ void clear(std::uint32_t count) {
        for (std::uint32_t i = threadIdx.x; i < count; i += Tiling::threads) {
            cells[i] = 0;
#pragma unroll
            for (int a = 0; a < axes; ++a) sum[a][i] = 0, span[a][i] = part_sums<Tiling>::no_span;
        }
    }
    __device__ void add(std::uint32_t i, const part_sums<Tiling>& s) {
        atomicAdd(cells + i, s.cells);
#pragma unroll
        for (int a = 0; a < axes; ++a) {
            atomicAdd(sum[a] + i, s.sum[a]);
            widen(span[a] + i, s.span[a]);
        }
    }
    [[nodiscard]] __device__ part_sums<Tiling> get(std::uint32_t i) const {
        part_sums<Tiling> s;
        s.cells = cells[i];
#pragma unroll
        for (int a = 0; a < axes; ++a) s.sum[a] = sum[a][i], s.span[a] = span[a][i];
        return s;
    }

private:
    /// Halves only fall: what is read first may be old, but never spares a change that is due.
    __device__ static void widen(std::uint32_t* to, std::uint32_t span) {
        std::uint32_t seen = *static_cast<volatile std::uint32_t*>(to);
        for (std::uint32_t wanted = __vminu2(seen, span); wanted != seen; wanted = __vminu2(seen, span)) {
            const std::uint32_t before = atomicCAS(to, seen, wanted);
            if (before == seen) return;
            seen = before;
        }
    }
};

/// As many parts as are added up at once; few tiles have more.
template <class Tiling>
using parts_tally = part_tally<Tiling, 1024>;

/// The split components that a tile has parts of, most often the same few: they are added up here before they are added to rows.
template <class Tiling>
struct split_tally {
    static constexpr std::uint32_t room = 128, tries = 4, nowhere = 0xffffffffU;
    part_tally<Tiling, room> sums;
    std::uint32_t row[room];

    __device__ void clear() {
        sums.clear(room);
        for (std::uint32_t i = threadIdx.x; i < room; i += Tiling::threads) row[i] = nowhere;
    }
    /// A row's place; `nowhere` where there is none.
    [[nodiscard]] __device__ std::uint32_t place_of(std::uint32_t wanted) {
        std::uint32_t at = wanted * 0x9e3779b1U >> 25;
        for (std::uint32_t i = 0; i < tries; ++i, at = (at + 1) % room) {
            const std::uint32_t held = atomicCAS(row + at, nowhere, wanted);
            if (held == nowhere || held == wanted) return at;
        }
        return nowhere;
    }
};

/// Sum of the places of the bits.
__device__ inline std::uint32_t sum_of_places(word bits) {
    return static_cast<std::uint32_t>(__popc(bits & 0xaaaaaaaaU) + 2 * __popc(bits & 0xccccccccU) +
                                      4 * __popc(bits & 0xf0f0f0f0U) + 8 * __popc(bits & 0xff00ff00U) +
                                      16 * __popc(bits & 0xffff0000U));
}

/// Calls take(node's number, its columns, its rows' words) for the nodes of a thread's bundle.
template <class Tiling, class Take>
__device__ void each_node(const tile_place<Tiling>& at, const tile_store& from, const tile_bundle<Tiling>& b,
                          const Take& take) {
    using bundle = typename Tiling::bundle;
    word cells[bundle::count], all = 0;
#pragma unroll
    for (int r = 0; r < bundle::count; ++r) {
        cells[r] = from.cells[std::int64_t{at.number} * Tiling::row_words + b.at(r)];
        all |= cells[r];
    }
    const word starts =
        Tiling::valued ? from.starts[std::int64_t{at.number} * Tiling::threads + b.thread] : all & ~(all << 1);
    std::uint32_t node = from.before[std::int64_t{at.number} * Tiling::threads + b.thread];
    for (word left = starts; left != 0; left &= left - 1, ++node) {
        // The node ends before the next one, or before a column without cells.
        const word low = left & -left, behind = (starts | ~all) & ~(low | (low - 1));
        take(node, (behind & -behind) - low, cells);
    }
}

/// A thread adds what its bundle has of the tile's parts `first` to `first + room`; neighbouring nodes are often of one part.
template <class Tiling>
__device__ void add_nodes(const tile_place<Tiling>& at, const tile_store& from, std::uint32_t first,
                          parts_tally<Tiling>& tally) {
    using bundle = typename Tiling::bundle;
    constexpr std::uint32_t none = parts_tally<Tiling>::nowhere;
    const tile_bundle<Tiling> b(static_cast<int>(threadIdx.x));
    const std::uint16_t* const node_part = from.node_part + static_cast<std::int64_t>(at.number) * Tiling::nodes;
    std::uint32_t place = none;
    part_sums<Tiling> mine;
    const int x0 = b.w * word_cells;
    each_node(at, from, b, [&](std::uint32_t node, word columns, const word* cells) {
        const std::uint32_t part = node_part[node] - first;
        if (part >= parts_tally<Tiling>::room) return;
        if (part != place) {
            if (place != none) tally.add(place, mine);
            place = part, mine = {};
        }
        const int column = x0 + __ffs(static_cast<int>(columns)) - 1, many = __popc(columns);
        const auto full = static_cast<std::uint32_t>(many);
        const std::uint32_t of_full = full * static_cast<std::uint32_t>(2 * column + many - 1) / 2;
        mine.add_columns(part_sums<Tiling>::span_of(column, column + many - 1));
#pragma unroll
        for (int r = 0; r < bundle::count; ++r) {
            const word row = cells[r] & columns;
            if (bundle::count == 1 || row == columns) {
                mine.add_row(full, of_full, b.line(r), b.plane(r));
            } else if (row != 0) {
                const auto n = static_cast<std::uint32_t>(__popc(row));
                mine.add_row(n, n * static_cast<std::uint32_t>(x0) + sum_of_places(row), b.line(r), b.plane(r));
            }
        }
    });
    cuda::put_by_warp(place, none, mine, [&](std::uint32_t which, const part_sums<Tiling>& s) { tally.add(which, s); });
}

/// Marks the roots of components with parts in several tiles, and clears their rows' sums. A block owns a tile.
template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads)
    open_split_rows(narrow_lattice, tile_store from, component_numbers numbers, table_target to) {
    cuda::wait_for_kernel_before();
    const std::uint32_t begin = blockIdx.x * static_cast<std::uint32_t>(Tiling::nodes);
    const std::uint32_t end = begin + from.counts[blockIdx.x];
    for (std::uint32_t i = begin + threadIdx.x; i < end; i += Tiling::threads) {
        const part root = from.parts[i];
        const auto place = static_cast<std::uint32_t>(root);
        if (place == i) continue;
        word* const bits = to.split + place / word_cells;
        const word mine = word{1} << place % word_cells;
        // One of the parts of a large component asks for its bit, all others see it set.
        if ((*static_cast<volatile word*>(bits) & mine) != 0 || (atomicOr(bits, mine) & mine) != 0) continue;
        const std::int64_t row = std::int64_t{numbers.of(static_cast<std::uint32_t>(root >> 32))} - 1;
        if (row < 0 || row >= to.rows) continue;  // a component that a filter dropped has none
        state* const sums = to.sums_of(row);
        for (int k = 0; k < table_target::row_words(to.axes); ++k) sums[k] = 0;
    }
}

/// A row's box and centroid along one axis of the lattice; returns whether the component reaches an end of it.
__device__ inline bool put_lattice_axis(const table_target& to, const narrow_lattice& g, std::int64_t row, int a,
                                        std::uint64_t cells, std::int64_t first, std::int64_t end, std::uint64_t sum) {
    statistics::put_axis(to.to, row, to.axis_of(a), cells, first, end, sum);
    return !g.wraps[a] && (first == 0 || end == g.size[a]);
}

/// Where a tile's coordinates begin, along an axis of the lattice.
template <class Tiling>
__device__ std::int64_t origin_of(const tile_place<Tiling>& at, int a) {
    return a == 0 ? at.z : a == 1 ? at.y : at.word * word_cells;
}

/// Finishes the row of a component that lies in one tile.
template <class Tiling>
__device__ void put_whole(const table_target& to, const narrow_lattice& g, const tile_place<Tiling>& at,
                          std::int64_t row, const part_sums<Tiling>& s) {
    bool border = false;
#pragma unroll
    for (int i = 0; i < part_sums<Tiling>::axes; ++i) {
        const int a = part_sums<Tiling>::first_axis + i;
        if (to.axis_of(a) < 0) continue;
        const std::int64_t origin = origin_of(at, a);
        border |= put_lattice_axis(to, g, row, a, s.cells, origin + s.first_of(s.span[i]), origin + s.end_of(s.span[i]),
                                   std::uint64_t{s.cells} * static_cast<std::uint64_t>(origin) + s.sum[i]);
    }
    statistics::put_size_and_border(to.to, row, s.cells, border);
}

/// Adds a part to the sums of its component's row.
template <class Tiling>
__device__ void add_to_row(const table_target& to, const tile_place<Tiling>& at, std::int64_t row,
                           const part_sums<Tiling>& s) {
    state* const sums = to.sums_of(row);
    atomicAdd(sums, state{s.cells});
#pragma unroll
    for (int i = 0; i < part_sums<Tiling>::axes; ++i) {
        const int a = part_sums<Tiling>::first_axis + i, axis = to.axis_of(a);
        if (axis < 0) continue;
        const auto origin = static_cast<state>(origin_of(at, a));
        atomicAdd(sums + 1 + 3 * axis, s.cells * origin + s.sum[i]);
        atomicMax(sums + 2 + 3 * axis, ~(origin + s.first_of(s.span[i])));
        atomicMax(sums + 3 + 3 * axis, origin + s.end_of(s.span[i]));
    }
}

/// The row of a part, and whether its component has others in other tiles.
struct part_row {
    static constexpr std::uint32_t none = 0xffffffffU;
    std::uint32_t row = none;
    bool split = false;

    __device__ static part_row of(const tile_store& from, const component_numbers& numbers, const table_target& to,
                                  std::uint32_t place) {
        const part root = from.parts[place];
        part_row p{
            numbers.of(static_cast<std::uint32_t>(root >> 32)) - 1,
            static_cast<std::uint32_t>(root) != place || (to.split[place / word_cells] >> place % word_cells & 1) != 0};
        if (p.row >= to.rows) p.row = none;
        return p;
    }
};

/// Adds up what the parts of tiles have. A block owns a tile, a thread a bundle of words and then a part.
template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads, Tiling::threads < 256 ? 8
                                                   : Tiling::deep > 1    ? 4
                                                                         : 5)
    measure_tiles(narrow_lattice g, tile_store from, component_numbers numbers, table_target to) {
    using tally_of = parts_tally<Tiling>;
    __shared__ tally_of tally;
    __shared__ split_tally<Tiling> split;
    cuda::wait_for_kernel_before();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const std::uint32_t count = from.counts[at.number], begin = static_cast<std::uint32_t>(at.number) * Tiling::nodes;
    split.clear();
    for (std::uint32_t first = 0; first < count; first += tally_of::room) {
        const std::uint32_t here = min(count - first, tally_of::room);
        tally.clear(here);
        part_row next;  // the first part's is on its way while nodes are added up
        if (threadIdx.x < here) next = part_row::of(from, numbers, to, begin + first + threadIdx.x);
        __syncthreads();
        add_nodes(at, from, first, tally);
        __syncthreads();
        for (std::uint32_t i = threadIdx.x; i - threadIdx.x < here; i += Tiling::threads) {  // by whole warps
            part_sums<Tiling> mine;
            part_row of = next;
            next = {};
            if (i + Tiling::threads < here) next = part_row::of(from, numbers, to, begin + first + i + Tiling::threads);
            if (i < here) mine = tally.get(i);
            if (of.row != of.none && !of.split) put_whole(to, g, at, of.row, mine), of.row = of.none;
            cuda::put_by_warp(of.row, part_row::none, mine, [&](std::uint32_t which, const part_sums<Tiling>& s) {
                const std::uint32_t there = split.place_of(which);
                if (there != split.nowhere) split.sums.add(there, s);
                else add_to_row(to, at, which, s);
            });
        }
        __syncthreads();
    }
    for (std::uint32_t i = threadIdx.x; i < split.room; i += Tiling::threads)
        if (split.row[i] != split.nowhere) add_to_row(to, at, split.row[i], split.sums.get(i));
}

constexpr int close_threads = 256;

/// Finishes the rows of split components. A thread owns a word of marks.
static __global__ void __launch_bounds__(close_threads)
    close_split_rows(std::int64_t words, narrow_lattice g, const part* parts, component_numbers numbers,
                     table_target to) {
    cuda::wait_for_kernel_before();
    const std::int64_t w = std::int64_t{blockIdx.x} * close_threads + threadIdx.x;
    if (w >= words) return;
    for (word left = to.split[w]; left != 0; left &= left - 1) {
        const part root = parts[w * word_cells + __ffs(static_cast<int>(left)) - 1];
        const std::int64_t row = std::int64_t{numbers.of(static_cast<std::uint32_t>(root >> 32))} - 1;
        if (row < 0 || row >= to.rows) continue;  // a component that a filter dropped has none
        const state* const sums = to.sums_of(row);
        bool border = false;
#pragma unroll
        for (int a = 0; a < 3; ++a) {
            const int axis = to.axis_of(a);
            if (axis < 0) continue;
            const state* const of = sums + 1 + 3 * axis;
            border |= put_lattice_axis(to, g, row, a, sums[0], static_cast<std::int64_t>(~of[1]),
                                       static_cast<std::int64_t>(of[2]), of[0]);
        }
        statistics::put_size_and_border(to.to, row, sums[0], border);
    }
}

}  // namespace nearfield::labelling
