// Cells, coordinates, boxes and faces of labels on a device.
#pragma once

#include "components/cuda_walk.cuh"
#include "label/statistics_rows.hpp"

namespace nearfield::components {

/// Selects the sums that a kernel adds up.
enum class tally : std::uint8_t { shapes, shapes_and_faces, cells, runs };

constexpr bool is_shape(tally what) { return what == tally::shapes || what == tally::shapes_and_faces; }

/// Words of a row in device memory; `cells` and `runs` have only the first one.
enum shape_word {
    size_at,
    sum_x_at,
    sum_w_at,
    sum_p_at,
    low_x_at,
    end_x_at,
    low_w_at,
    end_w_at,
    low_p_at,
    end_p_at,
    faces_at,
    shape_words
};
constexpr int words_of(tally what) { return is_shape(what) ? shape_words : 1; }

/// Sums of a label's cells within a tile, relative to the tile's origin. If an axis is folded, w counts its folds.
struct tile_shape {
    std::uint32_t n = 0, sum_x = 0, sum_w = 0, sum_p = 0, pairs = 0, low_x = no_row, high_x = 0, low_w = no_row,
                  high_w = 0, planes = 0;  ///< planes: a bit for each place of p
};

/// Words of all rows of a block, in shared memory.
struct block_shapes {
    static constexpr int count = block_rows::places;
    block_rows rows;
    std::uint32_t n[count], sum_x[count], sum_w[count], sum_p[count], pairs[count], low_x[count], high_x[count],
        low_w[count], high_w[count], planes[count];

    __device__ void clear() {
        const unsigned i = threadIdx.x;
        rows.clear();
        n[i] = sum_x[i] = sum_w[i] = sum_p[i] = pairs[i] = high_x[i] = high_w[i] = planes[i] = 0;
        low_x[i] = low_w[i] = no_row;
    }
    template <tally What>
    __device__ void add(int place, const tile_shape& s) {
        atomicAdd(n + place, s.n);
        if (!is_shape(What)) return;
        atomicAdd(sum_x + place, s.sum_x), atomicAdd(sum_w + place, s.sum_w), atomicAdd(sum_p + place, s.sum_p);
        atomicMin(low_x + place, s.low_x), atomicMax(high_x + place, s.high_x);
        atomicMin(low_w + place, s.low_w), atomicMax(high_w + place, s.high_w);
        atomicOr(planes + place, s.planes);
        if (What == tally::shapes_and_faces) atomicAdd(pairs + place, s.pairs);
    }
    [[nodiscard]] __device__ tile_shape get(int place) const {
        return {n[place],     sum_x[place],  sum_w[place], sum_p[place],  pairs[place],
                low_x[place], high_x[place], low_w[place], high_w[place], planes[place]};
    }
};

/// Adds the sums of a tile to the row's words in device memory.
template <tally What>
__device__ void add_to_row(const walk& by, const stand& at, word* words, std::uint32_t row, const tile_shape& s) {
    word* const to = words + static_cast<std::int64_t>(row) * words_of(What);
    atomicAdd(to + size_at, static_cast<word>(s.n));
    if (!is_shape(What)) return;
    const auto n = static_cast<word>(s.n);
    const std::int64_t x = at.x0 + by.folded * at.w0;
    atomicAdd(to + sum_x_at, n * static_cast<word>(x) + s.sum_x + static_cast<word>(by.folded) * s.sum_w);
    lower(to + low_x_at, static_cast<word>(x + s.low_x)), raise(to + end_x_at, static_cast<word>(x + s.high_x + 1));
    if (by.has_w) {
        atomicAdd(to + sum_w_at, n * static_cast<word>(at.w0) + s.sum_w);
        lower(to + low_w_at, static_cast<word>(at.w0 + s.low_w));
        raise(to + end_w_at, static_cast<word>(at.w0 + s.high_w + 1));
    }
    if (by.has_p) {
        atomicAdd(to + sum_p_at, n * static_cast<word>(at.p) + s.sum_p);
        lower(to + low_p_at, static_cast<word>(at.p + __ffs(static_cast<int>(s.planes)) - 1));
        raise(to + end_p_at, static_cast<word>(at.p + 32 - __clz(static_cast<int>(s.planes))));
    }
    const word sides = 2 + (by.has_w ? 2 : 0) + (by.has_p ? 2 : 0);  // a pair hides two of its cells' faces
    if (What == tally::shapes_and_faces) atomicAdd(to + faces_at, sides * n - 2 * s.pairs);
}

inline constexpr int column_rows = 32;

/// A lane's cells of a column. Bit r of a word stands for the cell in row r.
template <tally What>
struct column {
    std::uint32_t label[column_rows];
    std::uint32_t left = 0;                         ///< cells whose label has a row and is not yet measured
    std::uint32_t down = 0, right = 0, behind = 0;  ///< cells with the label of the next cell along w, x, p

    /// The first cell that is left, and those below it with its label.
    __device__ std::uint32_t first_piece() const {
        const int first = __ffs(static_cast<int>(left)) - 1;
        const int more = __ffs(static_cast<int>(~(down >> first))) - 1;  // -1 if no bit is 0
        return (more < 0 ? ~0U : (2U << more) - 1) << first;
    }
    __device__ std::uint32_t pairs(std::uint32_t cells) const {
        const int along = __popc(cells & right);
        return static_cast<std::uint32_t>(
            What == tally::shapes_and_faces ? along + __popc(cells & down) + __popc(cells & behind) : along);
    }
};

/// Loads the cells of a column from row `first` on, 0 from row `rows` on. The loads do not wait for each other.
template <int Count>
__device__ void load_rows(const std::uint32_t* cells, std::int64_t step, int first, int rows,
                          std::uint32_t (&to)[Count]) {
#pragma unroll
    for (int j = 0; j < Count; ++j, cells += step) to[j] = first + j < rows ? *cells : 0;
}

/// Returns bit `first` + j for each cell j that equals the other one.
template <int Count>
__device__ std::uint32_t equal_cells(const std::uint32_t* a, const std::uint32_t (&b)[Count], int first) {
    std::uint32_t found = 0;
#pragma unroll
    for (int j = 0; j < Count; ++j)
        if (a[j] == b[j]) found |= 1U << (first + j);
    return found;
}

template <tally What>
__device__ column<What> read_column(const walk& by, const labels32& labels, const stand& at) {
    constexpr bool faces = What == tally::shapes_and_faces;
    const std::int64_t x = at.x0 + at.x, w = at.w0 + at.w, p = at.p + at.deep;
    const int rows = p < by.size_p ? by.rows_at(x, w) : 0;
    const std::uint32_t* cells = labels.data() + by.offset(x, w, p);
    // Rows that have a cell to the right; the last cell of a folded line has none.
    const bool folds = by.folded != 0;
    const int with_right = !folds ? (x + 1 < by.size_x ? rows : 0)
                                  : rows - (rows > 0 && x + by.folded * (w + rows - 1) + 1 == by.cells ? 1 : 0);
    const int with_behind = by.has_p && p + 1 < by.size_p ? rows : 0;
    column<What> c;
    load_rows(cells, by.step_w, 0, rows, c.label);
    std::uint32_t below = 0;
    if (by.has_w && rows == column_rows && w + rows < by.size_w) below = cells[column_rows * by.step_w];
#pragma unroll
    for (int first = 0; first < column_rows; first += loads_at_once, cells += loads_at_once * by.step_w) {
        std::uint32_t right[loads_at_once], behind[loads_at_once];
        if (faces || What == tally::runs) load_rows(cells + by.step_x, by.step_w, first, with_right, right);
        if (faces) load_rows(cells + by.step_p, by.step_w, first, with_behind, behind);
        if (faces || What == tally::runs) c.right |= equal_cells(c.label + first, right, first);
        if (faces) c.behind |= equal_cells(c.label + first, behind, first);
    }
#pragma unroll
    for (int r = 0; r < column_rows; ++r) {
        if (c.label[r] - 1 < labels.rows) c.left |= 1U << r;
        if (by.has_w && (r + 1 < column_rows ? c.label[r + 1] : below) == c.label[r]) c.down |= 1U << r;
    }
    return c;
}

/// Sums of cells of one label in a lane's column; reduce() adds those of a warp.
struct column_sums {
    std::uint32_t n, sum_x, sum_w, pairs, low_x = no_row, high_x = 0, rows;

    template <tally What>
    __device__ column_sums(const walk& by, const stand& at, const column<What>& c, std::uint32_t cells) {
        n = static_cast<std::uint32_t>(__popc(cells)), rows = cells;
        sum_x = n * static_cast<std::uint32_t>(at.x);
        sum_w = __popc(cells & 0xaaaaaaaaU) + 2 * __popc(cells & 0xccccccccU) + 4 * __popc(cells & 0xf0f0f0f0U) +
                8 * __popc(cells & 0xff00ff00U) + 16 * __popc(cells & 0xffff0000U);
        pairs = c.pairs(cells);
        if (cells == 0) return;
        const auto fold = static_cast<std::uint32_t>(by.folded);
        low_x = at.x + fold * (at.w + __ffs(static_cast<int>(cells)) - 1);
        high_x = at.x + fold * (at.w + 31 - __clz(static_cast<int>(cells)));
    }
    __device__ void reduce() {
        n = __reduce_add_sync(cuda::every_lane, n), sum_x = __reduce_add_sync(cuda::every_lane, sum_x);
        sum_w = __reduce_add_sync(cuda::every_lane, sum_w), pairs = __reduce_add_sync(cuda::every_lane, pairs);
        low_x = __reduce_min_sync(cuda::every_lane, low_x), high_x = __reduce_max_sync(cuda::every_lane, high_x);
        rows = __reduce_or_sync(cuda::every_lane, rows);
    }
    [[nodiscard]] __device__ tile_shape in_tile(const stand& at) const {
        const auto w = static_cast<std::uint32_t>(at.w), deep = static_cast<std::uint32_t>(at.deep);
        return {n,
                sum_x,
                sum_w + n * w,
                n * deep,
                pairs,
                low_x,
                high_x,
                w + __ffs(static_cast<int>(rows)) - 1,
                w + 31 - __clz(static_cast<int>(rows)),
                1U << deep};
    }
};

/// Raises *largest to the largest label of a warp's columns. Returns true if one beyond the rows has been found.
template <tally What>
__device__ bool raise_largest(const column<What>& c, const labels32& labels, std::uint32_t* largest) {
    std::uint32_t most = 0;
#pragma unroll
    for (int r = 0; r < column_rows; ++r) most = max(most, c.label[r] <= labels.most ? c.label[r] : 0);
    most = __reduce_max_sync(cuda::every_lane, most);
    const std::uint32_t before = *static_cast<volatile std::uint32_t*>(largest);
    if (most > before && threadIdx.x % cuda::warp == 0) atomicMax(largest, most);
    return max(most, before) > labels.rows;
}

/// Adds up the sums of labels. A warp owns 32 columns of 32 cells. It takes up to eight of its labels one after the
/// other: each lane marks a label's cells as bits, whose sums are counts of bits, and the warp adds these. Cells of
/// further labels are added by the lanes, piece by piece of a column. With `largest`, the largest label is sought, and
/// nothing more is added once it exceeds the rows.
template <tally What>
__global__ void __launch_bounds__(threads_of_block, 4)
    add_up_shapes(const walk by, const labels32 labels, word* words, std::uint32_t* largest) {
    constexpr int rounds = 8;
    __shared__ block_shapes sums;
    const stand at(by);
    column<What> c = read_column<What>(by, labels, at);
    sums.clear();
    if (__syncthreads_or(largest != nullptr && raise_largest(c, labels, largest) ? 1 : 0) != 0) return;
    const std::uint32_t* const cells = labels.data() + by.offset(at.x0 + at.x, at.w0 + at.w, at.p + at.deep);
    const auto first_label = [&] { return cells[(__ffs(static_cast<int>(c.left)) - 1) * by.step_w]; };
    const auto put = [&](std::uint32_t label, const column_sums& of) {
        tile_shape s = of.in_tile(at);
        if (What == tally::runs) s.n -= s.pairs;
        const int place = sums.rows.place_of(label - 1);
        if (place >= 0) sums.template add<What>(place, s);
        else add_to_row<What>(by, at, words, label - 1, s);
    };
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    for (int round = 0; round < rounds; ++round) {
        const unsigned lanes = __ballot_sync(cuda::every_lane, c.left != 0 ? 1 : 0);
        if (lanes == 0) break;
        const int leader = __ffs(static_cast<int>(lanes)) - 1;
        const std::uint32_t label =
            __shfl_sync(cuda::every_lane, lane == leader ? first_label() : std::uint32_t{0}, leader);
        std::uint32_t own = 0;
#pragma unroll
        for (int r = 0; r < column_rows; ++r)
            if (c.label[r] == label) own |= 1U << r;
        c.left &= ~own;
        column_sums of(by, at, c, own);
        of.reduce();
        if (lane == leader) put(label, of);
    }
    while (c.left != 0) {
        const std::uint32_t piece = c.first_piece(), label = first_label();
        put(label, column_sums(by, at, c, piece)), c.left &= ~piece;
    }
    __syncthreads();
    const std::uint32_t own = sums.rows.row[threadIdx.x];
    if (own != no_row) add_to_row<What>(by, at, words, own, sums.get(static_cast<int>(threadIdx.x)));
}

/// Sets the words of rows to those of a row without cells.
template <tally What>
__global__ void __launch_bounds__(threads_of_block) clear_shapes(word* words, std::int64_t count) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= count) return;
    const auto which = static_cast<int>(i - quotient(i, words_of(What)) * words_of(What));
    words[i] = is_shape(What) && (which == low_x_at || which == low_w_at || which == low_p_at) ? ~word{0} : 0;
}

/// Clears the words, then adds up the sums of the labels' cells. `largest`: see add_up_shapes().
template <tally What>
void launch_shapes(const device& on, const labels32& labels, int axes, std::int64_t rows, word* words,
                   std::uint32_t* largest = nullptr) {
    const std::int64_t count = rows * words_of(What);
    cuda::launch(on, clear_shapes<What>, blocks_for(count, threads_of_block), dim3(threads_of_block), 0, words, count);
    if (labels.at.cells() == 0) return;
    const walk by(labels.at, axes, column_rows, true);
    cuda::launch(on, add_up_shapes<What>, by.tiles, dim3(threads_of_block), 0, by, labels, words, largest);
}

}  // namespace nearfield::components
