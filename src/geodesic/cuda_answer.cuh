// Writes a call's results from the keys of its cells.
#pragma once

#include <limits>

#include "geodesic/cuda_grid.cuh"

namespace nearfield::geodesics {

/// The output arrays of a call.
struct answer {
    caller_array cost;
    cell_array index, coordinates, label;
    const std::uint64_t* numbers = nullptr;  ///< seed numbers; null if the keys hold them
    std::int8_t axis_of[max_rank];           ///< grid axis of each coordinate; -1 if it has length 1
    int components = 0;
    double unit = 1;
    std::uint64_t most = 0;
};

/// A thread's costs. Bits say which cells lie in the grid, and which of them a path reaches.
struct own_costs {
    std::int64_t to[cells_of_thread];
    std::uint64_t cost[cells_of_thread];
    unsigned inside = 0, reached = 0;

    template <class T>
    __device__ void put(void* data, double unit) const {
        using limits = std::numeric_limits<T>;
#pragma unroll
        for (int k = 0; k < cells_of_thread; ++k) {
            if ((inside >> k & 1) == 0) continue;
            T value = limits::is_integer ? limits::max() : limits::infinity();
            if ((reached >> k & 1) != 0) {
                if constexpr (limits::is_integer) value = static_cast<T>(cost[k]);
                else value = static_cast<T>(static_cast<double>(cost[k]) * unit);
            }
            static_cast<T*>(data)[to[k]] = value;
        }
    }
    __device__ void put(const cell_array& a, double unit) const {
        switch (a.type) {
            case dtype::int32: return put<std::int32_t>(a.data, unit);
            case dtype::uint32: return put<std::uint32_t>(a.data, unit);
            case dtype::int64: return put<std::int64_t>(a.data, unit);
            case dtype::uint64: return put<std::uint64_t>(a.data, unit);
            case dtype::float32: return put<float>(a.data, unit);
            default: return put<double>(a.data, unit);
        }
    }
};
template <class T>
__device__ void copy_label(const cell_array& from, std::int64_t seed, const cell_array& to, std::int64_t at,
                           bool reached) {
    static_cast<T*>(to.data)[at] = reached ? static_cast<const T*>(from.data)[seed] : T{0};
}

/// Writes the outputs that name a cell's seed; `site` is the seed's coordinates, including batch axes.
template <int Axes>
__device__ void put_seed(const answer& a, const device_tiling<Axes>& t, const cell_array& seeds, const std::int64_t* at,
                         const std::int64_t* site, bool reached) {
    if (a.index.data != nullptr) {
        std::int64_t index = 0;
        for (int axis = 0; axis < Axes; ++axis)
            if (axis >= t.batch) index = index * t.size[axis] + site[axis];
        const std::int64_t to = a.index.template at<Axes>(at), number = reached ? index : -1;
        if (a.index.type == dtype::int64) static_cast<std::int64_t*>(a.index.data)[to] = number;
        else static_cast<std::int32_t*>(a.index.data)[to] = static_cast<std::int32_t>(number);
    }
    if (a.coordinates.data != nullptr) {
        auto* const to = static_cast<std::int32_t*>(a.coordinates.data) + a.coordinates.template at<Axes>(at);
        for (int k = 0; k < a.components; ++k) to[k * a.coordinates.component] = -1;
        for (int k = 0; k < a.components && reached; ++k) {
            std::int64_t x = 0;
#pragma unroll
            for (int axis = 0; axis < Axes; ++axis)
                if (axis == a.axis_of[k]) x = site[axis];
            to[k * a.coordinates.component] = static_cast<std::int32_t>(x);
        }
    }
    if (a.label.data == nullptr) return;
    const std::int64_t from = seeds.template at<Axes>(site), to = a.label.template at<Axes>(at);
    switch (size_of(a.label.type)) {
        case 1: return copy_label<std::uint8_t>(seeds, from, a.label, to, reached);
        case 2: return copy_label<std::uint16_t>(seeds, from, a.label, to, reached);
        case 4: return copy_label<std::uint32_t>(seeds, from, a.label, to, reached);
        default: return copy_label<std::uint64_t>(seeds, from, a.label, to, reached);
    }
}

/// Writes the results tile by tile. A thread reads all of its keys before it writes a result.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block)
    write_answer(const __grid_constant__ work<Word, Axes> w, const __grid_constant__ answer a) {
    const own_cells<Axes> own(w.where);
    own_costs costs;
    costs.inside = own.inside(w.where);
    Word keys[cells_of_thread];
#pragma unroll
    for (int k = 0; k < cells_of_thread; ++k) keys[k] = k < own.count ? w.key[own.place(k)] : 0;
#pragma unroll
    for (int k = 0; k < cells_of_thread; ++k) {
        const Word key = keys[k];
        costs.cost[k] = key == 0 ? 0 : static_cast<std::uint64_t>(key - 1) >> w.seed_bits;
        costs.to[k] = own.offset(a.cost, k);
        if (key != 0 && key < work<Word, Axes>::far && costs.cost[k] <= a.most) costs.reached |= 1U << k;
    }
    if (a.cost.data != nullptr) costs.put(a.cost, a.unit);
    if (a.index.data == nullptr && a.coordinates.data == nullptr && a.label.data == nullptr) return;
    for (int k = 0; k < own.count; ++k) {
        if ((costs.inside >> k & 1) == 0) continue;
        const bool reached = (costs.reached >> k & 1) != 0;
        std::uint64_t number = 0;
        if (reached)
            number = a.numbers != nullptr ? a.numbers[own.place(k)] - 1
                                          : static_cast<std::uint64_t>(w.key[own.place(k)] - 1) &
                                                ((std::uint64_t{1} << w.seed_bits) - 1);
        std::int64_t at[Axes], site[Axes];
#pragma unroll
        for (int axis = 0; axis < Axes; ++axis) {
            site[axis] = at[axis] = own.along(w.where, axis, k);
            if (axis < w.where.batch) continue;
            const auto size = static_cast<std::uint64_t>(w.where.size[axis]);
            const auto rest =
                static_cast<std::uint64_t>(quotient(static_cast<std::int64_t>(number), w.where.size[axis]));
            site[axis] = static_cast<std::int64_t>(number - rest * size), number = rest;
        }
        put_seed(a, w.where, w.seeds, at, site, reached);
    }
}

}  // namespace nearfield::geodesics
