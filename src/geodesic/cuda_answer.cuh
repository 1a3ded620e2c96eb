// Writes a call's results from the keys of its cells.
#pragma once

#include <limits>

#include "geodesic/cuda_grid.cuh"

namespace nearfield::geodesics {

/// The output arrays of a call.
struct answer {
    cell_array cost, index, coordinates, label;
    const std::uint64_t* numbers = nullptr;  ///< seed numbers; null if the keys hold them
    std::int8_t axis_of[max_rank];           ///< grid axis of each coordinate; -1 if it has length 1
    int components = 0;
    double unit = 1;
    std::uint64_t most = 0;
};

template <class T>
__device__ void put_cost(const cell_array& a, std::int64_t to, bool reached, std::uint64_t cost, double unit) {
    using limits = std::numeric_limits<T>;
    if constexpr (limits::is_integer) static_cast<T*>(a.data)[to] = reached ? static_cast<T>(cost) : limits::max();
    else static_cast<T*>(a.data)[to] = reached ? static_cast<T>(static_cast<double>(cost) * unit) : limits::infinity();
}
__device__ inline void put_cost(const cell_array& a, std::int64_t to, bool reached, std::uint64_t cost, double unit) {
    switch (a.type) {
        case dtype::int32: return put_cost<std::int32_t>(a, to, reached, cost, unit);
        case dtype::uint32: return put_cost<std::uint32_t>(a, to, reached, cost, unit);
        case dtype::int64: return put_cost<std::int64_t>(a, to, reached, cost, unit);
        case dtype::uint64: return put_cost<std::uint64_t>(a, to, reached, cost, unit);
        case dtype::float32: return put_cost<float>(a, to, reached, cost, unit);
        default: return put_cost<double>(a, to, reached, cost, unit);
    }
}
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
    const std::int64_t cells = w.where.tiles << w.where.tile_bits;
    Word keys[cells_of_thread];
#pragma unroll
    for (int k = 0; k < cells_of_thread; ++k) keys[k] = own_place(k) < cells ? w.key[own_place(k)] : 0;
    for_cells(w.where, [&](int k, std::int64_t place, const std::int64_t* at, bool inside) {
        if (!inside) return;
        const Word key = keys[k];
        const std::uint64_t cost = key == 0 ? 0 : static_cast<std::uint64_t>(key - 1) >> w.seed_bits;
        const bool reached = key != 0 && key < work<Word, Axes>::far && cost <= a.most;
        if (a.cost.data != nullptr) put_cost(a.cost, a.cost.template at<Axes>(at), reached, cost, a.unit);
        if (a.index.data == nullptr && a.coordinates.data == nullptr && a.label.data == nullptr) return;
        std::uint64_t number = 0;
        if (reached)
            number = a.numbers != nullptr
                         ? a.numbers[place] - 1
                         : static_cast<std::uint64_t>(key - 1) & ((std::uint64_t{1} << w.seed_bits) - 1);
        std::int64_t site[Axes];
#pragma unroll
        for (int axis = 0; axis < Axes; ++axis) {
            site[axis] = at[axis];
            if (axis < w.where.batch) continue;
            const auto size = static_cast<std::uint64_t>(w.where.size[axis]);
            const auto rest =
                static_cast<std::uint64_t>(quotient(static_cast<std::int64_t>(number), w.where.size[axis]));
            site[axis] = static_cast<std::int64_t>(number - rest * size), number = rest;
        }
        put_seed(a, w.where, w.seeds, at, site, reached);
    });
}

}  // namespace nearfield::geodesics
