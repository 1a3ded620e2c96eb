// Rows of the tables that tiles make. The tile finishes components that lie in it alone. Parts of components in
// several tiles (split) are added in device memory, in 64 bits; their rows are cleared before and finished
// afterwards.
#pragma once

#include "label/gpu/tiles/sums.cuh"

namespace nearfield::labelling {

/// Destination of a tile's sums.
struct table_target {
    statistics::columns to;
    std::int64_t rows;    ///< rows of the longest table
    int axes;             ///< axes of the image
    int row_words;        ///< words of a row of `sums`
    bool whole_vectors;   ///< two open axes, and a row's box and centroid can be stored 16 bytes at a time
    state* sums;          ///< only the rows of split components are used
    const word* split;    ///< a bit for the first cell of each split component
    value_source values;  ///< values of one or two bytes

    /// Words of a row: cells; for each axis the sum of coordinates, ~first, and one past the last; pairs of cells
    /// with a common face; for values `most` minus the lowest, the highest, sum and squares. All begin at 0 and only
    /// grow.
    [[nodiscard]] static constexpr int shape_words(int axes) { return 1 + 3 * axes; }
    [[nodiscard]] __device__ state* sums_of(std::int64_t row) const { return sums + row * row_words; }
    [[nodiscard]] __device__ state* pairs_of(std::int64_t row) const { return sums_of(row) + 1 + 3 * axes; }
    template <class Wish>
    [[nodiscard]] __device__ state* values_of(std::int64_t row) const {
        return pairs_of(row) + (Wish::faces ? 1 : 0);
    }
    /// Returns the image's axis for the lattice's axis `a`; negative if there is none.
    [[nodiscard]] __device__ int axis_of(int a) const { return a - (3 - axes); }
};

constexpr int row_threads = 256;

/// Calls take(row) for the split components whose first cells lie in the warp's words, four to a thread. Words have
/// very different numbers of them: the warp therefore lists them, and its lanes take turns.
template <class Take>
__device__ void each_split_row(std::int64_t words, const component_numbers& numbers, const table_target& to,
                               const Take& take) {
    constexpr std::uint32_t room = 256;
    __shared__ std::uint32_t all_listed[row_threads / cuda::warp][room];
    static_assert(number_words == 4);
    const std::int64_t group = std::int64_t{blockIdx.x} * row_threads + threadIdx.x;
    const std::uint32_t lane = threadIdx.x % cuda::warp;
    std::uint32_t* const listed = all_listed[threadIdx.x / cuda::warp];
    uint4 bits{0, 0, 0, 0}, firsts{0, 0, 0, 0};
    if (group * number_words < words) bits = reinterpret_cast<const uint4*>(to.split)[group];
    const word each[number_words] = {bits.x, bits.y, bits.z, bits.w};
    const auto mine = static_cast<std::uint32_t>(__popc(bits.x) + __popc(bits.y) + __popc(bits.z) + __popc(bits.w));
    if (__ballot_sync(cuda::every_lane, mine != 0 ? 1 : 0) == 0) return;
    std::uint32_t behind = mine, before = 0;
    for (int by = 1; by < cuda::warp; by *= 2) {
        const std::uint32_t other = __shfl_up_sync(cuda::every_lane, behind, by);
        if (static_cast<int>(lane) >= by) behind += other;
    }
    const std::uint32_t total = __shfl_sync(cuda::every_lane, behind, cuda::warp - 1);
    if (mine != 0) firsts = reinterpret_cast<const uint4*>(numbers.firsts)[group], before = numbers.before[group];
    const word each_first[number_words] = {firsts.x, firsts.y, firsts.z, firsts.w};
    for (std::uint32_t begin = 0; begin < total; begin += room) {
        std::uint32_t at = behind - mine, number = before;
#pragma unroll
        for (int i = 0; i < number_words; ++i) {
            for (word left = each[i]; left != 0; left &= left - 1, ++at)
                if (at - begin < room)
                    listed[at - begin] =
                        number + static_cast<std::uint32_t>(__popc(each_first[i] & (left ^ (left - 1))));
            number += static_cast<std::uint32_t>(__popc(each_first[i]));
        }
        __syncwarp();
        for (std::uint32_t k = lane; k < min(total - begin, room); k += cuda::warp) {
            const std::int64_t row = std::int64_t{numbers.staying(listed[k])} - 1;
            if (row >= 0 && row < to.rows) take(row);  // a component that a filter dropped has no row
        }
        __syncwarp();
    }
}

/// Clears the sums of split components. A thread owns four words of marks.
static __global__ void __launch_bounds__(row_threads)
    open_split_rows(std::int64_t words, component_numbers numbers, table_target to) {
    cuda::wait_for_kernel_before();
    const rows_to_clear rows{to.split, to.sums, to.rows, to.row_words};
    each_split_row(words, numbers, to, [&](std::int64_t row) { rows.clear(row); });
}

/// Writes a row's box and centroid along one axis of the lattice; returns whether the component reaches an end.
__device__ inline bool put_lattice_axis(const table_target& to, const narrow_lattice& g, std::int64_t row, int a,
                                        std::uint64_t cells, std::int64_t first, std::int64_t end, std::uint64_t sum) {
    statistics::put_axis(to.to, row, to.axis_of(a), cells, first, end, sum);
    return !g.wraps[a] && (first == 0 || end == g.size[a]);
}

template <class Wish>
__device__ void put_faces(const table_target& to, std::int64_t row, std::uint64_t cells, std::uint64_t pairs) {
    if (Wish::faces && to.to.faces.has(row))
        to.to.faces.put(row, static_cast<std::int64_t>(2 * (static_cast<std::uint64_t>(to.axes) * cells - pairs)));
}

/// Writes a row's measures of values, from sums of natural numbers.
template <class T>
__device__ void put_values(const table_target& to, std::int64_t row, std::uint64_t cells, const state* v) {
    const statistics::value_range range{small_values::most - v[0], v[1]};
    const statistics::value_sums sums{{v[2], 0}, {v[3], 0, 0}};
    statistics::put_range<T>(to.to, row, range);
    if (to.to.want_sums()) statistics::put_sums<T>(to.to, row, cells, range, sums);
}

/// Finishes the rows of split components. A thread owns four words of marks.
template <class Wish>
__global__ void __launch_bounds__(row_threads)
    close_split_rows(std::int64_t words, narrow_lattice g, component_numbers numbers, table_target to) {
    cuda::wait_for_kernel_before();
    each_split_row(words, numbers, to, [&](std::int64_t row) {
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
        if constexpr (Wish::faces) put_faces<Wish>(to, row, sums[0], *to.pairs_of(row));
        if constexpr (Wish::values) {
            const state* const v = to.values_of<Wish>(row);
            using value = typename Wish::value;
            if (to.values.flip != 0) put_values<std::make_signed_t<value>>(to, row, sums[0], v);
            else put_values<value>(to, row, sums[0], v);
        }
    });
}

/// Returns the first coordinate of a tile along an axis of the lattice.
template <class Tiling>
__device__ std::int64_t origin_of(const tile_place<Tiling>& at, int a) {
    return a == 0 ? at.z : a == 1 ? at.y : at.word * word_cells;
}

/// Returns a / b, rounded once, from b's reciprocal, which quotients share (Markstein, IBM J. Res. Dev. 34(1), 1990).
__device__ inline double quotient_by(double a, double b, double reciprocal) {
    double q = a * reciprocal;
    q = fma(fma(-q, b, a), reciprocal, q);
    return fma(fma(-q, b, a), reciprocal, q);
}

/// Returns a / b, rounded once; a below 2^62, b at most 2^30.
__device__ inline double rounded_ratio(std::uint64_t a, std::uint64_t b) {
    if (a < statistics::exact_in_double) return static_cast<double>(a) / static_cast<double>(b);
    std::uint64_t q = a / b, rest = a % b;
    const int up =
        max(0, 55 - (64 - leading_zeros(q)));  // two bits below those of a double; the remainder sets the last one
    q = (q << up) | (rest << up) / b, rest = (rest << up) % b;
    return static_cast<double>(q | (rest != 0 ? 1 : 0)) / static_cast<double>(std::uint64_t{1} << up);
}

/// Writes the value columns of a component that lies in one tile: it has so few cells that 64 bits hold all sums.
template <class Wish>
__device__ void put_few_values(const table_target& to, std::int64_t row, std::uint32_t cells, const small_values& v) {
    using value = typename Wish::value;
    const std::uint32_t flip = to.values.flip, high = small_values::most - v.rest;
    const auto put_end = [&](const statistics::column& column, std::uint32_t natural) {
        if (column.has(row)) column.put(row, static_cast<value>(natural ^ flip));
    };
    put_end(to.to.lowest, v.lowest), put_end(to.to.highest, high);
    const std::int64_t sum = static_cast<std::int64_t>(v.sum) - static_cast<std::int64_t>(flip) * cells;
    if (to.to.sum.has(row)) {
        if (to.to.sum.integers) to.to.sum.put(row, sum);
        else to.to.sum.put(row, static_cast<double>(sum));
    }
    if (to.to.mean.has(row)) to.to.mean.put(row, static_cast<double>(sum) / static_cast<double>(cells));
    if (to.to.variance.has(row))
        to.to.variance.put(
            row, rounded_ratio(v.square * cells - std::uint64_t{v.sum} * v.sum, std::uint64_t{cells} * cells));
}

/// Writes box and centroid of two axes, 16 bytes at a time; returns whether the component reaches an end.
template <class Tiling, class Wish>
__device__ bool put_vectors(const table_target& to, const narrow_lattice& g, const tile_place<Tiling>& at,
                            std::int64_t row, const part_sums<Tiling, Wish>& s) {
    struct alignas(16) cells2 {
        std::int64_t y, x;
    };
    struct alignas(16) point2 {
        double y, x;
    };
    constexpr int last = part_sums<Tiling, Wish>::axes - 1;
    const std::int64_t y = origin_of(at, 1), x = origin_of(at, 2);
    const cells2 first{y + s.low[last - 1], x + s.low[last]}, end{y + s.high[last - 1] + 1, x + s.high[last] + 1};
    if (to.to.box.has(row)) {
        auto* const box = static_cast<cells2*>(to.to.box.data) + 2 * row;
        box[0] = first, box[1] = end;
    }
    if (to.to.centroid.has(row)) {
        const double cells = s.cells, reciprocal = 1 / cells;
        const auto mean = [&](std::int64_t origin, std::uint32_t sum) {
            return quotient_by(fma(cells, static_cast<double>(origin), static_cast<double>(sum)), cells, reciprocal);
        };
        static_cast<point2*>(to.to.centroid.data)[row] = {mean(y, s.sum[last - 1]), mean(x, s.sum[last])};
    }
    return first.y == 0 || first.x == 0 || end.y == g.size[1] || end.x == g.size[2];
}

/// Finishes the row of a component that lies in one tile.
template <class Tiling, class Wish>
__device__ void put_whole(const table_target& to, const narrow_lattice& g, const tile_place<Tiling>& at,
                          std::int64_t row, const part_sums<Tiling, Wish>& s) {
    bool border = false;
    if (Tiling::deep == 1 && to.whole_vectors) {
        border = put_vectors(to, g, at, row, s);
    } else {
#pragma unroll
        for (int i = 0; i < s.axes; ++i) {
            const int a = s.first_axis + i;
            if (to.axis_of(a) < 0) continue;
            const std::int64_t origin = origin_of(at, a);
            border |= put_lattice_axis(to, g, row, a, s.cells, origin + s.low[i], origin + s.high[i] + 1,
                                       std::uint64_t{s.cells} * static_cast<std::uint64_t>(origin) + s.sum[i]);
        }
    }
    statistics::put_size_and_border(to.to, row, s.cells, border);
    put_faces<Wish>(to, row, s.cells, s.pairs);
    if constexpr (Wish::values) put_few_values<Wish>(to, row, s.cells, s.values);
}

/// Adds a part to the sums of its component's row. Testing first whether an end would move is slower (H200, 8192^2, 8
/// neighbours, g = 8, 2026-11-22: 59 instead of 50 us).
template <class Tiling, class Wish>
__device__ void add_to_row(const table_target& to, const tile_place<Tiling>& at, std::int64_t row,
                           const part_sums<Tiling, Wish>& s) {
    state* const sums = to.sums_of(row);
    atomicAdd(sums, state{s.cells});
#pragma unroll
    for (int i = 0; i < s.axes; ++i) {
        const int a = s.first_axis + i, axis = to.axis_of(a);
        if (axis < 0) continue;
        const auto origin = static_cast<state>(origin_of(at, a));
        atomicAdd(sums + 1 + 3 * axis, s.cells * origin + s.sum[i]);
        atomicMax(sums + 2 + 3 * axis, ~(origin + s.low[i]));
        atomicMax(sums + 3 + 3 * axis, origin + s.high[i] + 1);
    }
    if (Wish::faces && s.pairs != 0) atomicAdd(to.pairs_of(row), state{s.pairs});
    if (!Wish::values) return;
    state* const v = to.values_of<Wish>(row);
    atomicMax(v, state{small_values::most - s.values.lowest});
    atomicMax(v + 1, state{small_values::most - s.values.rest});
    atomicAdd(v + 2, state{s.values.sum}), atomicAdd(v + 3, state{s.values.square});
}

}  // namespace nearfield::labelling
