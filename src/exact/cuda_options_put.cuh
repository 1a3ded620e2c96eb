// The last pass of the tiles with options: its kernel, and the fields that it writes itself, which are float32
// distances, with a sign or without, and the trust mask. Others are made from its states.
#pragma once

#include "exact/cuda_options_lines.cuh"
#include "exact/cuda_options_thin.cuh"
#include "exact/cuda_options_tiles.hpp"

namespace nearfield::exact {
namespace {

/// An axis whose ends are open: what lies beyond them may be nearer.
struct open_end {
    std::int64_t lines_between;  ///< lines between two rows; 0 for the last axis
    int rows;
    int weight, far;  ///< so many cells cost `saturated` or more
};

/// Where distances could not become smaller whatever lay beyond the open ends. What those cost is compared with values
/// below `saturated`, or with a limit just below it, so that they too may end there.
struct trust {
    std::uint8_t* to = nullptr;  ///< null is not wanted
    open_end ends[max_rank];
    int count = 0;
    open_end along{};  ///< of the axis of the pass; weight 0 where its ends are not open
    int beside = 0;    ///< of the nearest open end of axes that have a single cell
    int saturated = 0;
    bool half_cell = false, any = false, limited = false;

    [[nodiscard]] __device__ int cost(const open_end& end, int at) const {
        const int cells = min(min(at + 1, end.rows - at), end.far), reach = half_cell ? 2 * cells - 1 : cells;
        return min(end.weight * reach * reach, saturated);
    }
    /// Of a line's cells along the axis of the pass: the nearest end of the other axes.
    [[nodiscard]] __device__ int nearest(std::int64_t line, int x) const {
        int value = beside;
        for (int i = 0; i < count; ++i) {
            const open_end& end = ends[i];
            int at = x;
            if (end.lines_between > 0) {
                const std::int64_t above = quotient(line, end.lines_between);
                at = static_cast<int>(above - quotient(above, end.rows) * end.rows);
            }
            value = min(value, cost(end, at));
        }
        return value;
    }
    /// Of a value as a float that holds it.
    [[nodiscard]] __device__ bool of(float nearest_end, float value) const {
        const auto most = static_cast<float>(saturated);
        return !any || (value < most ? nearest_end >= value : limited && nearest_end >= most);
    }
};

/// What becomes of values.
struct tile_fields {
    float* distance = nullptr;  ///< null is not wanted
    trust trusted;
    const std::uint32_t* zeros = nullptr;  ///< of a sign: which cells are zero
    bool zeros_are_minus = false;          ///< or the others
    int saturated = 0, beside = 0;
    float factor = 1;
    bool small = true;  ///< values are below 2^23, and `unit` is known
    float unit = 1;     ///< of roots, where that is a power of two
    double unit2 = 1;   ///< what values are counted in

    /// Of a value.
    [[nodiscard]] __device__ float distance_of(std::uint32_t bits) const {
        return distance_of(__uint_as_float(0x4b000000u | bits) - 8388608.0f);
    }

private:
    /// Of a value as a float that holds it.
    [[nodiscard]] __device__ float distance_of(float value) const {
        value = fminf(value, static_cast<float>(beside));
        const float distance = root(value);
        return value < static_cast<float>(saturated) ? distance : __int_as_float(0x7f800000);
    }
    [[nodiscard]] __device__ float root(float value) const {
        if (small) return root_of_whole(value * factor) * unit;
        return static_cast<float>(__dsqrt_rn(static_cast<double>(value) * static_cast<double>(factor) * unit2));
    }
};

/// The fields of a lane's column of a tile.
template <int LaneRows>
class column_fields {
public:
    __device__ column_fields(const step_tile<LaneRows>& t, const tile_fields& to, const step_pass& g,
                             const step_place& place, int lane)
        : t_(t),
          to_(to),
          top_(place.first_row),
          inner_(static_cast<std::int32_t>(g.lines_between * g.length)),
          lane_(lane),
          first_(place.first_line * g.length + place.word * cuda::warp + lane) {
        if (to.trusted.to != nullptr)
            nearest_end_ = to.trusted.nearest(place.first_line, place.word * cuda::warp + lane);
    }

    /// Where the distance of row 0 of the tile goes, and the cells from there to the next row.
    [[nodiscard]] __device__ float* distances() const { return to_.distance + cell(0); }
    [[nodiscard]] __device__ std::int32_t inner() const { return inner_; }

    /// With the sign of its cell.
    [[nodiscard]] __device__ float with_sign(int row, float distance) const {
        const std::uint32_t minus = t_.minus(row) << (cuda::warp - 1 - lane_) & 0x80000000u;
        return __uint_as_float(__float_as_uint(distance) ^ minus);
    }

    /// Whether the nearest open end of the rows [from, to) of the column costs as much as any of their values, which
    /// are below `end` or, with a limit, at most that.
    [[nodiscard]] __device__ bool all_trusted(int from, int to, int end) const {
        const trust& by = to_.trusted;
        int nearest = nearest_end_;
        if (by.along.weight > 0)
            nearest = min(nearest, min(by.cost(by.along, top_ + from), by.cost(by.along, top_ + to - 1)));
        return !by.any || (nearest >= end && (end < by.saturated || by.limited));
    }
    __device__ void put_trusted(int row, bool is) const { to_.trusted.to[cell(row)] = is; }

    /// Of a value.
    __device__ void put(int row, std::uint32_t value, float distance) const {
        if (to_.distance != nullptr)
            to_.distance[cell(row)] = to_.zeros != nullptr ? with_sign(row, distance) : distance;
        if (to_.trusted.to == nullptr) return;
        const trust& by = to_.trusted;
        const int end = by.along.weight > 0 ? min(nearest_end_, by.cost(by.along, top_ + row)) : nearest_end_;
        by.to[cell(row)] = by.of(static_cast<float>(end), static_cast<float>(min(static_cast<int>(value), to_.beside)));
    }

private:
    [[nodiscard]] __device__ std::int64_t cell(int row) const {
        return first_ + static_cast<std::int64_t>(top_ + row) * inner_;
    }

    const step_tile<LaneRows>& t_;
    const tile_fields& to_;
    int top_;
    std::int32_t inner_;
    int lane_, nearest_end_ = 0;
    std::int64_t first_;
};

/// A lane a column: 32 neighbouring cells of a row at a time.
template <int Unrolled, int LaneRows, class Put>
__device__ void each_owned(const step_tile<LaneRows>& t, const step_place& place, int lane, const Put& put) {
    constexpr int half = t.half, warps = step_warps<LaneRows>;
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp, both = min(place.end - half, half);
    // Rows of the low halves, then those of the high ones; both at once where both are owed.
    int pair = place.from + warp;
#pragma unroll Unrolled
    for (; pair < both; pair += warps) {
        const std::uint32_t two = t.word(pair, lane);
        put(pair, two & 0xffff);
        put(pair + half, two >> 16);
    }
    for (; pair < min(place.end, half); pair += warps) put(pair, t.word(pair, lane) & 0xffff);
    for (int row = max(place.from - half, 0) + warp; row < min(place.from, place.end - half); row += warps)
        put(row + half, t.word(row, lane) >> 16);
}

/// The same, of distances: `cell_of(row, value)` goes to a row of the column, whose row 0 is at `column`. Without what
/// each_owned works out for each cell: 15 instructions, where these are 8.
template <int LaneRows, class CellOf>
__device__ void put_column(const step_tile<LaneRows>& t, const step_place& place, int lane, float* column,
                           std::int32_t inner, const CellOf& cell_of) {
    constexpr int half = t.half, warps = step_warps<LaneRows>;
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp, both = min(place.end - half, half);
    const auto row_at = [&](int row) { return column + static_cast<std::int64_t>(row) * inner; };
    int pair = place.from + warp;
    float *low = row_at(pair), *high = row_at(pair + half);
    const std::uint32_t* word = &t.word(pair, lane);
    const std::int64_t step = static_cast<std::int64_t>(warps) * inner;
#pragma unroll 4
    for (; pair < both; pair += warps, low += step, high += step) {
        const std::uint32_t two = t.steps_evenly(warps) ? *word : t.word(pair, lane);
        *low = cell_of(pair, two & 0xffff);
        *high = cell_of(pair + half, two >> 16);
        word += t.word_step(warps);
    }
    for (; pair < min(place.end, half); pair += warps) *row_at(pair) = cell_of(pair, t.word(pair, lane) & 0xffff);
    for (int row = max(place.from - half, 0) + warp; row < min(place.from, place.end - half); row += warps)
        *row_at(row + half) = cell_of(row + half, t.word(row, lane) >> 16);
}

/// To be called before put_fields and a barrier, by all threads of a block.
template <int LaneRows>
__device__ void fill_minus(const step_tile<LaneRows>& t, const step_pass& g, const step_place& place,
                           const tile_fields& to) {
    if (to.zeros == nullptr) return;
    const std::uint32_t flip = to.zeros_are_minus ? 0 : ~0u;
    for (int row = static_cast<int>(threadIdx.x); row < 2 * t.half; row += step_threads<LaneRows>)
        if (const int q = place.row(g, row); q >= 0) t.minus(row) = to.zeros[place.word_at(q)] ^ flip;
}

/// `distance_of(value)` as tile_fields has it, of values below `end`.
template <int LaneRows, class DistanceOf>
__device__ void put_fields(const step_tile<LaneRows>& t, const step_pass& g, const step_place& place,
                           const tile_fields& to, int end, const DistanceOf& distance_of) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const column_fields<LaneRows> column(t, to, g, place, lane);
    const bool trusts = to.trusted.to != nullptr,
               all = trusts && __all_sync(cuda::every_lane, column.all_trusted(place.from, place.end, end));
    if (lane >= place.columns(g)) return;
    if (to.distance == nullptr || (trusts && !all))
        return each_owned<2>(t, place, lane,
                             [&](int row, std::uint32_t value) { column.put(row, value, distance_of(value)); });
    if (to.zeros != nullptr)
        put_column(t, place, lane, column.distances(), column.inner(),
                   [&](int row, std::uint32_t value) { return column.with_sign(row, distance_of(value)); });
    else
        put_column(t, place, lane, column.distances(), column.inner(),
                   [&](int, std::uint32_t value) { return distance_of(value); });
    if (!trusts) return;
#pragma unroll 4
    for (int row = place.from + static_cast<int>(threadIdx.x) / cuda::warp; row < place.end;
         row += step_warps<LaneRows>)
        column.put_trusted(row, true);
}

/// The tiles of a pass that half precision leaves.
struct left_tiles {
    std::int32_t* count = nullptr;  ///< 0 at first
    std::int32_t* tiles = nullptr;
};

/// Whether a search by bits leaves any of a place's tiles. For all lanes of a warp.
__device__ inline bool any_left(const near_tiles& of, const step_pass& g, const step_place& place) {
    if (of.left == nullptr) return true;
    const int first = (place.first_row + place.from) / of.rows, end = (place.first_row + place.end - 1) / of.rows + 1;
    const std::uint8_t* const column =
        of.left + quotient(place.first_line, g.rows) * of.down * of.across + place.word / of.words;
    bool any = false;
    for (int y = first + static_cast<int>(threadIdx.x) % cuda::warp; y < end; y += cuda::warp)
        any |= column[static_cast<std::int64_t>(y) * of.across] != 0;
    return __any_sync(cuda::every_lane, any) != 0;
}

/// Where a pass reads and writes.
struct step_io {
    bit_lines lines;                       ///< of the first pass
    const std::uint32_t* zeros = nullptr;  ///< cells that are sites for all
    const std::uint16_t* from = nullptr;   ///< of later passes; null in the first
    std::uint16_t* to = nullptr;           ///< null: fields are written
    std::int32_t* refused = nullptr;       ///< of the last pass, where it may refuse
    left_tiles left;
    near_tiles near;
    tile_fields fields;
    bool may_be_thin = false;  ///< see cuda_options_thin.cuh; of images
};

/// Whether all will be done again.
__device__ inline bool is_refused(const step_io& io) {
    return io.refused != nullptr && *static_cast<const volatile std::int32_t*>(io.refused) != 0;
}

/// From the words or states to finished values; the largest one that is owed of the lines that the calling warp had.
template <int LaneRows, bool Quick, class Costs>
__device__ int finish_values(const step_tile<LaneRows>& t, const step_pass& g, const Costs& last,
                             const step_place& place, const step_io& io, const bit_lines& lines) {
    if (io.from != nullptr && place.flagged) fill_from_states<LaneRows, true, Quick>(t, g, place, io.from);
    else if (io.from != nullptr) fill_from_states<LaneRows, false, Quick>(t, g, place, io.from);
    else if (lines.changes) fill_from_bits<LaneRows, true, Quick>(t, g, last, place, lines, io.zeros);
    else fill_from_bits<LaneRows, false, Quick>(t, g, last, place, lines, io.zeros);
    __syncthreads();
    return step_lines<Quick>(t, g, place);
}

/// What a filled tile becomes, whose values are below `end`.
template <int LaneRows, class DistanceOf>
__device__ void put_tile(const step_tile<LaneRows>& t, const step_pass& g, const step_place& place, const step_io& io,
                         int end, const DistanceOf& distance_of) {
    if (io.to != nullptr) put_states(t, place, io.to);
    else put_fields(t, g, place, io.fields, end, distance_of);
}

/// A block a tile: 32 columns of a line or of a window of it. `last` says what distances along the last axis cost.
/// Tiles that half precision does not suffice for go on a list.
template <int LaneRows>
__global__ void __launch_bounds__(step_threads<LaneRows>, step_blocks<LaneRows>)
    step_tiles_quickly(const __grid_constant__ step_pass g, const __grid_constant__ step_pass last,
                       const __grid_constant__ step_io io) {
    extern __shared__ std::uint32_t step_words[];
    cuda::wait_for_kernel_before();
    const step_tile<LaneRows> t{step_words};
    step_place place(g, blockIdx.x, 0);
    if (!any_left(io.near, g, place) || is_refused(io)) return;
    // Cells with a sign are 1 away from the other class, at least.
    const auto distance_of = [&](std::uint32_t value) {
        return io.fields.distance_of(io.fields.zeros != nullptr ? max(value, 1u) : value);
    };
    if constexpr (t.has_roots)
        if (io.to == nullptr)
            for (int i = static_cast<int>(threadIdx.x); i <= g.quick; i += step_threads<LaneRows>)
                t.roots()[i] = distance_of(static_cast<std::uint32_t>(i));
    if (io.to == nullptr) fill_minus(t, g, place, io.fields);
    bit_lines lines = io.lines;
    __shared__ std::uint32_t known_of_classes;
    thin_class thin;
    if (io.may_be_thin) thin = find_thin(t, g, place, known_of_classes);
    if (thin.any) {
        lines.changes = lines.differences = false;
        lines.flip = thin.turn ^ (io.fields.zeros_are_minus ? 0 : ~0u);
        place.flagged = false;
    }
    const int most = finish_values<LaneRows, true>(t, g, last.quickly, place, io, lines);
    if (__syncthreads_or(g.quick_may_fail() && most >= g.quick)) {
        if (threadIdx.x == 0) io.left.tiles[atomicAdd(io.left.count, 1)] = static_cast<std::int32_t>(blockIdx.x);
        return;
    }
    if (thin.any && thin.looked_up) {
        look_up_inner(t, g, place, thin.turn, io.fields.zeros, io.fields.zeros_are_minus, g.quick);
        __syncthreads();
    }
    put_tile(t, g, place, io, g.quick, [&](std::uint32_t value) {
        if constexpr (t.has_roots) return t.roots()[value];
        else return distance_of(value);
    });
}

/// What that leaves, a block one tile after another; a tile of the list may be several here, since more rows beside it
/// count.
template <int LaneRows>
__global__ void __launch_bounds__(step_threads<LaneRows>, step_blocks<LaneRows>)
    step_tiles(const __grid_constant__ step_pass g, const __grid_constant__ step_pass last,
               const __grid_constant__ step_io io) {
    extern __shared__ std::uint32_t step_words[];
    cuda::wait_for_kernel_before();
    const step_tile<LaneRows> t{step_words};
    const int count = *io.left.count * g.parts;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        // Refused already: what is written here will be written again.
        if (__syncthreads_or(is_refused(io))) return;
        __syncthreads();
        const step_place place(g, io.left.tiles[nth / g.parts], nth % g.parts);
        if (io.to == nullptr) fill_minus(t, g, place, io.fields);
        const int most = finish_values<LaneRows, false>(t, g, last, place, io, io.lines);
        const bool refuses = io.refused != nullptr && min(most, io.fields.beside) >= g.saturated;
        if (__syncthreads_or(refuses)) {
            if (threadIdx.x == 0) *io.refused = 1;
            return;
        }
        put_tile(t, g, place, io, g.saturated, [&](std::uint32_t value) { return io.fields.distance_of(value); });
    }
}

}  // namespace
}  // namespace nearfield::exact
