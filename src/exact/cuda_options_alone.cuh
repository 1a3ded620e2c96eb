// A field that is alone, contiguous, and needs nothing but the state of its cell: distances or linear indices without a sign,
// closed borders or a trust mask, of one call. The kernel for any fields (cuda_options_finish.cuh) takes 172 instructions
// for such a distance and 341 for an index.
#pragma once

#include "exact/cuda_options_fields.cuh"
#include "exact/cuda_options_finish.cuh"

namespace nearfield::exact {
namespace {

constexpr int alone_loads = 4;  // of a thread, before it makes anything of them
constexpr std::int64_t alone_cells = std::int64_t{finish_threads} * alone_loads;  // of a block

/// Calls `make(cell, state)` for all cells.
template <class State, class Make>
__device__ void each_state(const gate& when, const State* states, std::int64_t cells, const Make& make) {
    each_block(when, [&](std::int64_t block) {
        const std::int64_t first = block * alone_cells + threadIdx.x;
        State loaded[alone_loads];
#pragma unroll
        for (int i = 0; i < alone_loads; ++i) loaded[i] = states[min(first + i * finish_threads, cells - 1)];
#pragma unroll
        for (int i = 0; i < alone_loads; ++i)
            if (first + i * finish_threads < cells) make(first + i * finish_threads, loaded[i]);
    });
}

/// A thread four cells, neighbouring threads neighbouring ones.
template <class V>
__global__ void __launch_bounds__(finish_threads)
    put_distances(const gate when, const V* values, std::int64_t cells, V limit, double unit2, float* to) {
    each_state(when, values, cells, [&](std::int64_t cell, V value) {
        const bool none = !(value < no_site<V>()) || value > limit;
        to[cell] =
            none ? __int_as_float(0x7f800000) : static_cast<float>(__dsqrt_rn(static_cast<double>(value) * unit2));
    });
}

/// The same.
template <class K, class Index>
__global__ void __launch_bounds__(finish_threads) put_indices(const gate when, const K* sites, std::int64_t cells,
                                                              const __grid_constant__ grid_shape grid, Index* to) {
    each_state(when, sites, cells, [&](std::int64_t cell, K site) {
        Index number = 0;
        for (int axis = grid.first_axis; axis < grid.rank; ++axis)
            number = static_cast<Index>(number * static_cast<Index>(grid.size[axis]) +
                                        static_cast<Index>(grid.keys.coordinate(site, axis)));
        to[cell] = site == no_key<K> ? -1 : number;
    });
}

/// Whether a field is alone, and no rule but a limit stands between it and the states.
inline bool is_alone(const plan& p, const item& to, const any_output<device>& field, const target& target) {
    int wanted = 0;
    for (const nearfield::exact::target* each :
         {&to.distance, &to.squared, &to.index, &to.coordinates, &to.label, &to.trusted})
        wanted += each->data != nullptr ? 1 : 0;
    return field.wanted() && wanted == 1 && !p.weighted && !p.is_signed() && !p.any(border::closed) &&
           !(p.closed_beside < std::numeric_limits<double>::infinity()) &&
           is_contiguous(p.size.data(), target.step, p.rank);
}

/// Makes the field of the states, if it is alone; else returns false.
template <class V, class K, bool Keyed>
bool put_alone(const option_call& call, const grid_shape& grid, const state_of<V, K, Keyed>* states,
               const std::int32_t* open) {
    const plan& p = call.p;
    const item& to = call.list[0];
    const std::int64_t blocks = blocks_for(p.cells, alone_cells);
    const dim3 threads(finish_threads);
    if (call.list.size() > 1) return false;
    if constexpr (!Keyed) {
        const auto& field = call.out.distance;
        if (field.type != dtype::float32 || !is_alone(p, to, field, to.distance)) return false;
        launch_gated(call.on, open, put_distances<V>, blocks, threads, 0, states, p.cells, plan::bound<V>(p.limit),
                     p.unit2, reinterpret_cast<float*>(to.distance.data));
        return true;
    } else {
        const auto& field = call.out.index;
        if (p.limit < std::numeric_limits<double>::infinity() || !is_alone(p, to, field, to.index)) return false;
        if (field.type == dtype::int32)
            launch_gated(call.on, open, put_indices<K, std::int32_t>, blocks, threads, 0, states, p.cells, grid,
                         reinterpret_cast<std::int32_t*>(to.index.data));
        else
            launch_gated(call.on, open, put_indices<K, std::int64_t>, blocks, threads, 0, states, p.cells, grid,
                         reinterpret_cast<std::int64_t*>(to.index.data));
        return true;
    }
}

}  // namespace
}  // namespace nearfield::exact
