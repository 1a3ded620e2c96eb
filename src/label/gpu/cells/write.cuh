// Writes labels by words: a thread looks up the label of each node once, into shared memory; then lanes write 16 bytes
// at a time.
#pragma once

#include "label/gpu/labels_out.cuh"

namespace nearfield::labelling {

/// The engine's result, as bits and trees.
template <class Id>
struct found {
    const word* foreground;
    const word* starts;
    forest<Id> trees;
    const std::int64_t* image_base;
};

constexpr int write_threads = 128, write_slots = 33;  ///< nodes of a word, plus one so that lanes use different banks

/// A thread owns a word while it looks up labels; then lanes write neighbouring cells. Quads: a lane stores four cells
/// at once.
template <bool Quads, class Id, class Label>
__global__ void __launch_bounds__(write_threads) write_words(lattice<Id> g, found<Id> f, label_target<Label> to) {
    __shared__ Label labels[write_threads * write_slots];
    __shared__ word set[write_threads], first[write_threads];
    __shared__ std::int64_t begin[write_threads];
    __shared__ int cells[write_threads];
    cuda::wait_for_kernel_before();
    const int me = static_cast<int>(threadIdx.x);
    const std::int64_t w = std::int64_t{blockIdx.x} * write_threads + me;
    const bool mine = w < g.all_words();
    const place<Id> at(g, mine ? static_cast<typename lattice<Id>::number>(w) : 0, 0);
    set[me] = mine ? f.foreground[w] : 0, first[me] = mine ? f.starts[w] : 0;
    begin[me] = to.at.image(at.image) + to.at.cell(at.z, at.y, at.x);
    cells[me] =
        mine ? static_cast<int>(min(static_cast<typename lattice<Id>::number>(word_cells), g.size[2] - at.x)) : 0;
    const std::int64_t less = g.images > 1 && mine ? f.image_base[at.image] : 0;
    int node = 0;
    for (word left = first[me]; left != 0; left &= left - 1, ++node) {
        Id a = static_cast<Id>(w * word_cells + __ffs(static_cast<int>(left)) - 1);
        do a = *f.trees.slot(a);
        while ((a & forest<Id>::numbered) == 0);
        const Id label = a & ~forest<Id>::numbered;
        labels[me * write_slots + node] = label == 0 ? Label{0} : static_cast<Label>(label - static_cast<Id>(less));
    }
    __syncthreads();
    constexpr int step = Quads ? 4 : 1, per_word = word_cells / step;
    for (int i = me; i < write_threads * per_word; i += write_threads) {
        const int v = i / per_word, x = i % per_word * step;
        if (x >= cells[v]) continue;
        const word bits = set[v] >> x, from = first[v];
        Label* out = to.data + begin[v] + x * to.at.along[2];
        const Label* table = labels + v * write_slots - 1;
        four_labels<Label> four;
#pragma unroll
        for (int j = 0; j < step; ++j)
            four.value[j] = (bits >> j & 1) != 0 ? table[__popc(from & up_to(x + j))] : Label{0};
        if constexpr (Quads) *reinterpret_cast<four_labels<Label>*>(out) = four;
        else *out = four.value[0];
    }
}

}  // namespace nearfield::labelling
