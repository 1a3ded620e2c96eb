// The last pass of the tiles with options: its kernel, and the fields that it writes itself, which are float32
// distances, with a sign or without, and the trust mask. Others are made from its states.
#pragma once

#include "exact/cuda_options_tile.cuh"

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
    float sign_of_zero = 1, sign_of_others = 1;
    int saturated = 0, beside = 0;
    float factor = 1;
    bool small = true;  ///< values are below 2^23, and `unit` is known
    float unit = 1;     ///< of roots, where that is a power of two
    double unit2 = 1;   ///< what values are counted in

    [[nodiscard]] __device__ float root(float value) const {
        if (small) return root_of_whole(value * factor) * unit;
        return static_cast<float>(__dsqrt_rn(static_cast<double>(value) * static_cast<double>(factor) * unit2));
    }
};

/// The fields of a lane's column of a tile.
class column_fields {
public:
    __device__ column_fields(const tile_fields& to, const step_pass& g, const step_place& place, int lane)
        : to_(to),
          place_(place),
          inner_(static_cast<std::int32_t>(g.lines_between * g.length)),
          lane_(lane),
          first_(place.first_line * g.length + place.word * cuda::warp + lane) {
        if (to.trusted.to != nullptr)
            nearest_end_ = to.trusted.nearest(place.first_line, place.word * cuda::warp + lane);
    }

    /// Of a value as a float that holds it. Without a sign, and nothing but distances.
    __device__ void put_distance(int q, float value) const {
        value = fminf(value, static_cast<float>(to_.beside));
        const float root = to_.root(value);
        to_.distance[cell(q)] = value < static_cast<float>(to_.saturated) ? root : __int_as_float(0x7f800000);
    }

    /// With a sign.
    __device__ void put_signed(int q, float value) const {
        value = fminf(value, static_cast<float>(to_.beside));
        const float root = value < static_cast<float>(to_.saturated) ? to_.root(value) : __int_as_float(0x7f800000);
        const bool zero = to_.zeros[place_.word_at(q)] >> lane_ & 1;
        to_.distance[cell(q)] = root * (zero ? to_.sign_of_zero : to_.sign_of_others);
    }

    __device__ void put(int q, float value) const {
        value = fminf(value, static_cast<float>(to_.beside));
        if (to_.distance != nullptr) {
            float distance = to_.root(value);
            if (!(value < static_cast<float>(to_.saturated))) distance = __int_as_float(0x7f800000);
            if (to_.zeros != nullptr)
                distance *= to_.zeros[place_.word_at(q)] >> lane_ & 1 ? to_.sign_of_zero : to_.sign_of_others;
            to_.distance[cell(q)] = distance;
        }
        if (to_.trusted.to == nullptr) return;
        const trust& by = to_.trusted;
        const int end = by.along.weight > 0 ? min(nearest_end_, by.cost(by.along, q)) : nearest_end_;
        by.to[cell(q)] = by.of(static_cast<float>(end), value);
    }

private:
    [[nodiscard]] __device__ std::int64_t cell(int q) const { return first_ + static_cast<std::int64_t>(q) * inner_; }

    const tile_fields& to_;
    const step_place& place_;
    std::int32_t inner_;
    int lane_, nearest_end_ = 0;
    std::int64_t first_;
};

/// A lane a column: 32 neighbouring cells of a row at a time. `put(q, value)` has the value as a float.
template <int Unrolled, int LaneRows, class Put>
__device__ void each_owned(const step_tile<LaneRows>& t, const step_place& place, int lane, const Put& put) {
#pragma unroll Unrolled
    for (int pair = static_cast<int>(threadIdx.x) / cuda::warp; pair < t.half; pair += step_warps<LaneRows>) {
        const std::uint32_t two = t.word(pair, lane);
        if (place.owns(pair)) put(place.first_row + pair, whole_half<false, 0>(two));
        if (place.owns(pair + t.half)) put(place.first_row + pair + t.half, whole_half<true, 0>(two));
    }
}

template <int LaneRows>
__device__ void put_fields(const step_tile<LaneRows>& t, const step_pass& g, const step_place& place,
                           const tile_fields& to) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    if (lane >= place.columns(g)) return;
    const column_fields column(to, g, place, lane);
    const bool roots_alone = to.distance != nullptr && to.trusted.to == nullptr && to.small;
    if (roots_alone && to.zeros != nullptr)
        each_owned<4>(t, place, lane, [&](int q, float value) { column.put_signed(q, value); });
    else if (roots_alone) each_owned<4>(t, place, lane, [&](int q, float value) { column.put_distance(q, value); });
    else each_owned<2>(t, place, lane, [&](int q, float value) { column.put(q, value); });
}

/// Where a pass reads and writes.
struct step_io {
    const tile_word* words = nullptr;      ///< of the first pass
    const std::uint32_t* zeros = nullptr;  ///< cells that are sites for all
    bool changes = false;
    const std::uint16_t* from = nullptr;  ///< of later passes
    std::uint16_t* to = nullptr;          ///< null: fields are written
    std::int32_t* refused = nullptr;      ///< of the last pass, where it may refuse
    tile_fields fields;
};

/// A block a tile: 32 columns of a line or of a window of it. `last` says what distances along the last axis cost.
template <int LaneRows>
__global__ void __launch_bounds__(step_threads<LaneRows>, step_blocks<LaneRows>)
    step_tiles(const __grid_constant__ step_pass g, const __grid_constant__ step_pass last,
               const __grid_constant__ step_io io) {
    extern __shared__ std::uint32_t step_words[];
    cuda::wait_for_kernel_before();
    // Refused already: what is written here will be written again.
    if (io.refused != nullptr && __syncthreads_or(*static_cast<volatile std::int32_t*>(io.refused))) return;
    const step_tile<LaneRows> t{step_words};
    const step_place place(g);
    if (io.words == nullptr && g.has_flags()) fill_from_states<LaneRows, true>(t, g, place, io.from);
    else if (io.words == nullptr) fill_from_states<LaneRows, false>(t, g, place, io.from);
    else if (io.changes) fill_from_bits<LaneRows, true>(t, g, last, place, io.words, io.zeros);
    else fill_from_bits<LaneRows, false>(t, g, last, place, io.words, io.zeros);
    __syncthreads();
    const int most = step_lines(t, g, place);
    if (io.refused != nullptr) {
        const bool refuses = min(most, io.fields.beside) >= g.saturated;
        if (__syncthreads_or(refuses)) {
            if (threadIdx.x == 0) *io.refused = 1;
            return;
        }
    }
    __syncthreads();
    if (io.to != nullptr) put_states(t, place, io.to);
    else put_fields(t, g, place, io.fields);
}

}  // namespace
}  // namespace nearfield::exact
