// Sums behind shape_measures() on a device: a lane walks down a column and counts, a block adds up in shared memory,
// and the host receives the words of the rows.
#include <memory>

#include "components/cuda_scan.cuh"
#include "components/cuda_walk.cuh"
#include "components/engine.hpp"
#include "components/measures.hpp"

namespace nearfield::components {
namespace {

/// Words of 32 bits that hold a label's sums in a tile, relative to the tile's origin. Signed sums wrap.
enum tile_word { n_at, x_at, w_at, xx_at, xw_at, ww_at, closed_at, open_at, border_at };
template <int Axes>
inline constexpr int other_at = border_at + (Axes == 2 ? border_kinds : 0);
template <int Axes>
inline constexpr int tile_words = other_at<Axes> + directions<Axes>;

/// Words of 64 bits that hold a row's sums in device memory: cells, coordinates, products of two words each, then the
/// tile's words from closed_at on.
template <int Axes>
inline constexpr int counts_at = 1 + Axes + 2 * products<Axes>;
template <int Axes>
inline constexpr int row_words = counts_at<Axes> + tile_words<Axes> - closed_at;

template <int Axes>
struct tile_sums {
    std::uint32_t of[tile_words<Axes>] = {};

    __device__ void reduce() {
        for (int by = cuda::warp / 2; by > 0; by /= 2)
#pragma unroll
            for (std::uint32_t& each : of) each += __shfl_xor_sync(cuda::every_lane, each, by);
    }
};

/// Words of all rows of a block, in shared memory.
template <int Axes>
struct block_sums {
    block_rows rows;
    std::uint32_t of[tile_words<Axes>][block_rows::places];

    __device__ void clear() {
        rows.clear();
        for (auto& each : of) each[threadIdx.x] = 0;
    }
};

/// Adds the sums of a tile to the row's words in device memory.
template <int Axes>
__device__ void add_to_row(const walk& by, const stand& at, word* to, const tile_sums<Axes>& s) {
    const std::uint64_t n = s.of[n_at], x0 = static_cast<std::uint64_t>(at.x0), w0 = static_cast<std::uint64_t>(at.w0),
                        p = static_cast<std::uint64_t>(at.p), in_x = s.of[x_at], in_w = s.of[w_at];
    const std::uint64_t x = n * x0 + in_x, w = n * w0 + in_w;
    // Axes of the walk, numbered as in the array.
    const int axis_x = Axes - 1, axis_w = by.axis_w - (most_axes - Axes), axis_p = by.axis_p - (most_axes - Axes);
    const auto add = [&](int i, int j, uint128 product) {
        const std::uint64_t words[] = {static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64)};
        add_wide(to + 1 + Axes + 2 * product_at<Axes>(i < j ? i : j, i < j ? j : i), words);
    };
    atomicAdd(to, static_cast<word>(n));
    atomicAdd(to + 1 + axis_x, static_cast<word>(x)), atomicAdd(to + 1 + axis_w, static_cast<word>(w));
    add(axis_x, axis_x, static_cast<uint128>(x) * x0 + static_cast<uint128>(in_x) * x0 + s.of[xx_at]);
    add(axis_x, axis_w, static_cast<uint128>(x) * w0 + static_cast<uint128>(in_w) * x0 + s.of[xw_at]);
    add(axis_w, axis_w, static_cast<uint128>(w) * w0 + static_cast<uint128>(in_w) * w0 + s.of[ww_at]);
    if constexpr (Axes == 3) {
        atomicAdd(to + 1 + axis_p, static_cast<word>(n * p));
        add(axis_x, axis_p, static_cast<uint128>(x) * p), add(axis_w, axis_p, static_cast<uint128>(w) * p);
        add(axis_p, axis_p, static_cast<uint128>(n * p) * p);
    }
#pragma unroll
    for (int k = closed_at; k < tile_words<Axes>; ++k) {
        const bool is_signed = k == closed_at || k == open_at;
        const std::int64_t more = is_signed ? std::int64_t{static_cast<std::int32_t>(s.of[k])} : std::int64_t{s.of[k]};
        if (more != 0) atomicAdd(to + counts_at<Axes> + k - closed_at, static_cast<word>(more));
    }
}

/// Counts which neighbours of a cell have another label, and the patterns that they form.
template <int Axes>
__device__ void count_neighbours(const array3& in, const std::int64_t (&at)[3], tile_sums<Axes>& to) {
    constexpr steps3 steps = forward_steps(Axes, Axes);
    const std::uint32_t* const here =
        static_cast<const std::uint32_t*>(in.data) + at[0] * in.step[0] + at[1] * in.step[1] + at[2] * in.step[2];
    const std::uint32_t label = *here;
    std::uint32_t other[directions<Axes>], found[euler_patterns<Axes>::count], any = 0;
#pragma unroll
    for (int k = 0; k < directions<Axes>; ++k) {
        bool same = true;
        std::int64_t offset = 0;
#pragma unroll
        for (int axis = 3 - Axes; axis < 3; ++axis) {
            const int by = -steps.all[k].by[axis];
            if (by != 0) same = same && at[axis] + by >= 0 && at[axis] + by < in.side[axis];
            offset += by * in.step[axis];
        }
        other[k] = same && here[offset] == label ? 0 : 1;
        any |= other[k], to.of[other_at<Axes> + k] += other[k];
    }
    if (any != 0) {
        euler_patterns<Axes>::find(other, found);
#pragma unroll
        for (int k = 0; k < euler_patterns<Axes>::count; ++k)
            to.of[k < euler_patterns<Axes>::closed ? closed_at : open_at] +=
                static_cast<std::uint32_t>(euler_patterns<Axes>::sign(k)) * found[k];
    }
    if constexpr (Axes == 2) {
        const border_kind kind = border_kind_of([&](int y, int x) {
            return at[1] + y >= 0 && at[1] + y < in.side[1] && at[2] + x >= 0 && at[2] + x < in.side[2] &&
                   here[y * in.step[1] + x * in.step[2]] == label;
        });
#pragma unroll
        for (int k = 0; k < border_kinds; ++k) to.of[border_at + k] += kind == k ? 1 : 0;
    }
}

/// Adds up the sums of labels. A block owns a tile, a lane 64 cells of a column; lanes read cells side by side. Sums of
/// squares of a tile stay below 2^31, because its sides are at most 512 and 256 and it has 2^14 cells.
template <int Axes>
__global__ void __launch_bounds__(threads_of_block) add_up_measures(const walk by, const labels32 labels, word* words) {
    __shared__ block_sums<Axes> sums;
    sums.clear();
    __syncthreads();
    const stand at(by);
    std::uint32_t row = no_row;
    tile_sums<Axes> mine;
    const auto put = [&](std::uint32_t which, const tile_sums<Axes>& s) {
        const int place = sums.rows.place_of(which);
        if (place < 0) return add_to_row<Axes>(by, at, words + static_cast<std::int64_t>(which) * row_words<Axes>, s);
#pragma unroll
        for (int k = 0; k < tile_words<Axes>; ++k)
            if (s.of[k] != 0) atomicAdd(&sums.of[k][place], s.of[k]);
    };
    const auto with_columns = [&](tile_sums<Axes> s) {
        const auto x = static_cast<std::uint32_t>(at.x);
        s.of[x_at] = s.of[n_at] * x, s.of[xx_at] = s.of[x_at] * x, s.of[xw_at] = s.of[w_at] * x;
        return s;
    };
    walk_down(by, labels, at, [&](std::uint32_t found, int i) {
        if (found == no_row) return;
        if (found != row) {
            if (row != no_row) put(row, with_columns(mine));
            row = found, mine = {};
        }
        const auto w = static_cast<std::uint32_t>(at.w + i);
        ++mine.of[n_at], mine.of[w_at] += w, mine.of[ww_at] += w * w;
        std::int64_t cell[3] = {0, 0, at.x0 + at.x};
        cell[by.axis_p] = at.p, cell[by.axis_w] = at.w0 + w;
        count_neighbours<Axes>(labels.at, cell, mine);
    });
    put_by_warp(row, with_columns(mine), put);
    __syncthreads();
    const std::uint32_t own = sums.rows.row[threadIdx.x];
    if (own == no_row) return;
    tile_sums<Axes> all;
#pragma unroll
    for (int k = 0; k < tile_words<Axes>; ++k) all.of[k] = sums.of[k][threadIdx.x];
    add_to_row<Axes>(by, at, words + static_cast<std::int64_t>(own) * row_words<Axes>, all);
}

template <int Axes>
measure_sums<Axes> sums_in(const word* of) {
    measure_sums<Axes> sums;
    sums.cells = *of++;
    for (std::uint64_t& each : sums.coordinate) each = *of++;
    for (uint128& each : sums.product) each = static_cast<uint128>(of[1]) << 64 | of[0], of += 2;
    sums.closed = static_cast<std::int64_t>(*of++), sums.open = static_cast<std::int64_t>(*of++);
    if (Axes == 2)
        for (std::uint64_t& each : sums.border) each = *of++;
    for (std::uint64_t& each : sums.other) each = *of++;
    return sums;
}

/// Copies the sums to the host and waits for them.
template <class T>
host_scratch<T> fetch(const device& on, const void* from, std::int64_t count) {
    host_scratch<T> values(count);
    if (count > 0)
        cuda::check(cudaMemcpyAsync(values.get(), from, static_cast<std::size_t>(count) * sizeof(T),
                                    cudaMemcpyDeviceToHost, cuda::stream_of(on)),
                    "fetching sums of shapes");
    cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "measuring shapes");
    return values;
}

}  // namespace

template <int Axes>
host_scratch<measure_sums<Axes>> measure_sums_of(const device& on, const any_input<device>& labels, std::int64_t rows) {
    const cuda::device_guard guard(on);
    labels32 in(labels, rows);
    cuda::workspace memory(on);
    const std::int64_t count = rows * row_words<Axes>;
    const auto copy = memory.reserve<std::uint32_t>(in.copied ? in.at.cells() : 0), words = memory.reserve<word>(count);
    memory.allocate();
    in.copy(on, labels, memory.get<std::uint32_t>(copy));
    word* const to = memory.get<word>(words);
    launch_fill(on, to, count, word{0});
    if (in.at.cells() > 0) {
        const walk by(in.at, Axes);
        cuda::launch(on, add_up_measures<Axes>, by.tiles, dim3(threads_of_block), 0, by, in, to);
    }
    const host_scratch<word> got = fetch<word>(on, to, count);
    host_scratch<measure_sums<Axes>> sums(rows);
    for (std::int64_t row = 0; row < rows; ++row)
        std::construct_at(sums.get() + row, sums_in<Axes>(got.get() + row * row_words<Axes>));
    return sums;
}
template host_scratch<measure_sums<2>> measure_sums_of(const device&, const any_input<device>&, std::int64_t);
template host_scratch<measure_sums<3>> measure_sums_of(const device&, const any_input<device>&, std::int64_t);

outlines outlines_of(const device& on, const any_input<device>& labels, std::int64_t rows) {
    const cuda::device_guard guard(on);
    const auto array = [](std::int64_t* data, std::initializer_list<std::int64_t> shape) {
        return any_output<device>::contiguous(data, dtype::int64, shape);
    };
    cuda::workspace memory(on), of_runs(on);
    const auto box = memory.reserve<std::int64_t>(rows * 2 * labels.rank),
               offset = memory.reserve<std::int64_t>(rows + 1);
    memory.allocate();
    component_tables<device> tables;
    tables.box = array(memory.get<std::int64_t>(box), {rows, 2, labels.rank});
    measure(on, labels, tables);
    outlines made;
    made.box = fetch<std::int64_t>(on, memory.get<std::int64_t>(box), rows * 2 * labels.rank);
    if (labels.rank != 2) return made;
    const any_output<device> offsets = array(memory.get<std::int64_t>(offset), {rows + 1});
    count_lists(on, labels, offsets, list_of::runs);
    made.offset = fetch<std::int64_t>(on, offsets.data, rows + 1);
    const std::int64_t runs = made.offset.get()[rows];
    const auto run = of_runs.reserve<std::int64_t>(2 * runs);
    of_runs.allocate();
    std::int64_t* const entries = of_runs.get<std::int64_t>(run);
    if (runs > 0) fill_lists(on, labels, offsets, array(entries, {runs, 2}), list_of::runs);
    made.run = fetch<std::int64_t>(on, entries, 2 * runs);
    return made;
}

}  // namespace nearfield::components
