// Writes a call's results from the keys of its cells.
#pragma once

#include <limits>

#include "geodesic/cuda_crossings.cuh"

namespace nearfield::geodesics {

/// The output arrays of a call.
struct answer {
    caller_array cost, index, coordinates, label;
    const std::uint64_t* numbers = nullptr;  ///< seed numbers; null if the keys hold them, or
    const std::uint64_t* by_rank = nullptr;  ///< if they hold ranks, the numbers of these
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
__device__ std::uint64_t read(const cell_array& a, std::int64_t i) {
    return static_cast<const T*>(a.data)[i];
}
template <class T>
__device__ void write(const cell_array& a, std::int64_t i, std::uint64_t value) {
    static_cast<T*>(a.data)[i] = static_cast<T>(value);
}

/// The seed of a thread's cells, which is often the same for all of them.
template <int Axes>
struct own_seed {
    std::uint64_t number = ~std::uint64_t{0}, label = 0;
    std::int64_t site[Axes], index = 0;

    /// Finds a seed's coordinates, index and label, unless the thread has just found them.
    __device__ void find(const answer& a, const device_tiling<Axes>& t, const cell_array& seeds,
                         const own_cells<Axes>& own, std::uint64_t of) {
        if (of == number) return;
        number = of;
#pragma unroll
        for (int axis = 0; axis < Axes; ++axis) {
            site[axis] = own.at[axis];
            if (axis < t.batch) continue;
            const auto size = static_cast<std::uint64_t>(t.size[axis]);
            const auto rest = static_cast<std::uint64_t>(quotient(static_cast<std::int64_t>(of), t.size[axis]));
            site[axis] = static_cast<std::int64_t>(of - rest * size), of = rest;
        }
        index = 0;
        for (int axis = 0; axis < Axes; ++axis)
            if (axis >= t.batch) index = index * t.size[axis] + site[axis];
        if (a.label.data == nullptr) return;
        const std::int64_t from = seeds.template at<Axes>(site);
        switch (size_of(a.label.type)) {
            case 1: return void(label = read<std::uint8_t>(seeds, from));
            case 2: return void(label = read<std::uint16_t>(seeds, from));
            case 4: return void(label = read<std::uint32_t>(seeds, from));
            default: return void(label = read<std::uint64_t>(seeds, from));
        }
    }
    /// Writes the outputs of cell k that name its seed.
    __device__ void put(const answer& a, const own_cells<Axes>& own, int k, bool reached) const {
        if (a.index.data != nullptr) {
            const std::int64_t to = own.offset(a.index, k), known = reached ? index : -1;
            if (a.index.type == dtype::int64) static_cast<std::int64_t*>(a.index.data)[to] = known;
            else static_cast<std::int32_t*>(a.index.data)[to] = static_cast<std::int32_t>(known);
        }
        if (a.coordinates.data != nullptr) {
            auto* const to = static_cast<std::int32_t*>(a.coordinates.data) + own.offset(a.coordinates, k);
            for (int component = 0; component < a.components; ++component) {
                std::int64_t x = 0;
#pragma unroll
                for (int axis = 0; axis < Axes; ++axis)
                    if (axis == a.axis_of[component]) x = site[axis];
                to[component * a.coordinates.component] = reached ? static_cast<std::int32_t>(x) : -1;
            }
        }
        if (a.label.data == nullptr) return;
        const std::int64_t to = own.offset(a.label, k);
        switch (size_of(a.label.type)) {
            case 1: return write<std::uint8_t>(a.label, to, reached ? label : 0);
            case 2: return write<std::uint16_t>(a.label, to, reached ? label : 0);
            case 4: return write<std::uint32_t>(a.label, to, reached ? label : 0);
            default: return write<std::uint64_t>(a.label, to, reached ? label : 0);
        }
    }
};

/// True if a step leads from a cell that has a key to this one, which has none.
template <class Word, int Axes>
__device__ bool is_missed(const work<Word, Axes>& w, const own_cells<Axes>& own, int k) {
    std::int64_t at[Axes];
    for (int axis = 0; axis < Axes; ++axis) at[axis] = own.along(w.where, axis, k);
    for (int s = 0; s < w.step_count; ++s) {
        const std::int64_t from = w.where.neighbour(at, w.steps[s].by);
        const Word key = from < 0 ? 0 : w.key[from];
        if (key != 0 && key < work<Word, Axes>::far && is_open(w, at, w.steps[s])) return true;
    }
    return false;
}
/// Tells whether the keys of 32 bits that were tried are no answer: tiles still wait, or one of a thread's cells has no
/// key because it costs too much.
template <class Word, int Axes>
__device__ bool exceeds(const work<Word, Axes>& w, const own_cells<Axes>& own, const Word (&keys)[cells_of_thread],
                        unsigned inside) {
    if (goes_on(*w.queue.counts, w.thin)) return true;
    bool missed = false;
    for (int k = 0; k < own.count && !missed && !w.ends; ++k)
        missed = (inside >> k & 1) != 0 && keys[k] == work<Word, Axes>::far && is_missed(w, own, k);
    return missed;
}

/// Writes the results tile by tile. A thread reads all of its keys before it writes a result.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block)
    write_answer(const __grid_constant__ work<Word, Axes> w, const __grid_constant__ answer a) {
    if (w.tries || w.repeats)
        if (const bool exceeded = w.queue.counts->exceeded != 0; exceeded == w.tries) return;
    const own_cells<Axes> own(w.where);
    own_costs costs;
    costs.inside = own.inside(w.where);
    Word keys[cells_of_thread];
#pragma unroll
    for (int k = 0; k < cells_of_thread; ++k) keys[k] = k < own.count ? w.key[own.place(k)] : 0;
    if (solver_counts& c = *w.queue.counts; w.tries && exceeds(w, own, keys, costs.inside)) {
        c.exceeded = 1;
        if (goes_on(c, w.thin)) c.sampled_before = c.parked[0] > w.few ? 2 : 1;
    }
#pragma unroll
    for (int k = 0; k < cells_of_thread; ++k) {
        const Word key = keys[k];
        costs.cost[k] = key == 0 ? 0 : static_cast<std::uint64_t>(key - 1) >> w.seed_bits;
        costs.to[k] = own.offset(a.cost, k);
        if (key != 0 && key < work<Word, Axes>::far && costs.cost[k] <= a.most) costs.reached |= 1U << k;
    }
    if (a.cost.data != nullptr) costs.put(a.cost, a.unit);
    if (a.index.data == nullptr && a.coordinates.data == nullptr && a.label.data == nullptr) return;
    own_seed<Axes> seed;
#pragma unroll
    for (int k = 0; k < cells_of_thread; ++k) {
        if ((costs.inside >> k & 1) == 0) continue;
        const bool reached = (costs.reached >> k & 1) != 0;
        auto number = static_cast<std::uint64_t>(keys[k] - 1) & ((std::uint64_t{1} << w.seed_bits) - 1);
        if (a.numbers != nullptr) number = a.numbers[own.place(k)] - 1;
        else if (a.by_rank != nullptr && reached) number = a.by_rank[number];
        if (reached) seed.find(a, w.where, w.seeds, own, number);
        seed.put(a, own, k, reached);
    }
}

}  // namespace nearfield::geodesics
