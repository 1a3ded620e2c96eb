// Selects the kernels of gpu/cells/cells.cuh for a call.
#pragma once

#include <type_traits>

#include "label/gpu/call.hpp"
#include "label/gpu/cells/cells.cuh"
#include "label/gpu/cells/write.cuh"
#include "label/gpu/number.cuh"

namespace nearfield::labelling {

template <class Id>
backward_list backward_of(const device_call<Id>& call) {
    backward_list list{};
    for (const std::int64_t step : backward_steps(call.p)) {
        int d[3] = {0, 0, 0};
        for (int axis = 0; axis < call.p.rank; ++axis) d[3 - call.p.rank + axis] = along(step, axis, call.p.rank);
        list.step[list.count++] = {d[0], d[1], d[2], links_along(step, call.p.rank)};
    }
    return list;
}

/// Outputs for the words and node trees of an image; `starts` is null if only the foreground is wanted.
template <class Id>
struct cell_words {
    word* foreground;
    word* starts;
    forest<Id> trees;
    state* states;  ///< cleared by the kernel
    std::int64_t state_count;
};

template <class T, class Id>
cell_source<T> source_of(const device_call<Id>& call) {
    const problem& p = call.p;
    return {static_cast<const T*>(call.image.data),
            call.strides_of(call.image),
            p.colour ? p.channels : 0,
            p.colour ? call.image.stride[static_cast<std::size_t>(call.image.rank - 1)] : 0,
            make_rule<T>(p.options),
            links_along(step_of(0, 0, -1, p.rank), p.rank)};
}

template <class T, class Id>
void find_in(const device_call<Id>& call, const cell_words<Id>& to) {
    const cell_source<T> from = source_of<T>(call);
    if constexpr (std::is_same_v<Id, narrow_id>)
        if (to.starts == nullptr) {
            const std::int64_t warps = cuda::blocks_for(call.grid.all_words(), words_a_warp);
            return cuda::launch_overlapped(call.on, mark_words<T, Id>,
                                           cuda::blocks_for(warps, cell_threads / cuda::warp), cell_threads, 0,
                                           call.grid, from, to.foreground);
        }
    const std::int64_t blocks = cuda::blocks_for(call.grid.all_words(), cell_threads / cuda::warp);
    cuda::launch_overlapped(call.on, mark_cells<T, Id>, blocks, cell_threads, 0, call.grid, from, to.foreground,
                            to.starts, to.trees, to.states, to.state_count);
    cuda::launch_overlapped(call.on, link_cells<T, Id>, blocks, cell_threads, 0, call.grid, from, to.foreground,
                            to.starts, to.trees, backward_of(call));
}

/// Reads cells of any element type; unites connected nodes if `starts` are wanted.
template <class Id>
void find_by_cells(const device_call<Id>& call, const cell_words<Id>& to) {
    switch (call.image.type) {
        case dtype::boolean:
        case dtype::uint8: return find_in<std::uint8_t>(call, to);
        case dtype::int8: return find_in<std::int8_t>(call, to);
        case dtype::int16: return find_in<std::int16_t>(call, to);
        case dtype::uint16: return find_in<std::uint16_t>(call, to);
        case dtype::int32: return find_in<std::int32_t>(call, to);
        case dtype::uint32: return find_in<std::uint32_t>(call, to);
        case dtype::int64: return find_in<std::int64_t>(call, to);
        case dtype::uint64: return find_in<std::uint64_t>(call, to);
        case dtype::float32: return find_in<float>(call, to);
        default: return find_in<double>(call, to);
    }
}

template <class Id>
void run_cells(const device_call<Id>& call) {
    const lattice<Id>& g = call.grid;
    const std::int64_t words = g.all_words(), state_count = 1 + cuda::blocks_for(words, number_block);
    const int shift = call.binary() ? 1 : 0;
    cuda::workspace memory(call.on);
    const std::int64_t foreground = memory.reserve<word>(words), starts = memory.reserve<word>(words);
    const std::int64_t parents = memory.reserve<Id>((words * word_cells) >> shift);
    const std::int64_t states = memory.reserve<state>(state_count), base = memory.reserve<std::int64_t>(g.images + 1);
    memory.allocate();
    const forest<Id> trees{memory.get<Id>(parents), shift};
    const auto* nodes = memory.get<word>(starts);
    auto* before = call.base != nullptr ? call.base : memory.get<std::int64_t>(base);
    find_by_cells<Id>(
        call, {memory.get<word>(foreground), memory.get<word>(starts), trees, memory.get<state>(states), state_count});
    cuda::launch_overlapped(call.on, number_roots<Id>, cuda::blocks_for(words, number_block), number_threads, 0, words,
                            nodes, trees, memory.get<state>(states), words / g.images, g.images, before);
    call.check_label(before);
    const found<Id> f{memory.get<word>(foreground), nodes, trees, before};
    if (call.out.label.wanted())
        call.with_label(call.out.label, [&]<class Label, class Quads>(const label_target<Label>& to, Quads) {
            cuda::launch_overlapped(call.on, write_words<Quads::value, Id, Label>,
                                    cuda::blocks_for(words, write_threads), write_threads, 0, g, f, to);
        });
    put_counts(call.on, g.images, before, call.out.count);
}

}  // namespace nearfield::labelling
