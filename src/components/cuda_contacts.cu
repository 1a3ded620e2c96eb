// contacts() on a device: a hash table of pairs, which grows until every pair has a place.
#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "components/cuda_relabel.cuh"
#include "components/engine.hpp"

namespace nearfield::components {
namespace {

constexpr int words_of_pair = 4;  // pairs, then faces for each axis

/// Cells whose values are given by 32 bits: the value itself, or its number.
struct named_cells {
    const std::uint32_t* data;
    array3 at;
};

struct pair_table {
    word *keys, *counts;  ///< a key of 0 marks an open place
    std::uint64_t mask;   ///< number of places - 1
    std::uint32_t* full;
    hash_seed seed;

    __device__ void add(std::uint64_t key, int face, word pairs) const {
        constexpr int tries = 64;
        std::uint64_t at = scattered(key, seed) & mask;
        for (int i = 0; i < tries; ++i, at = (at + 1) & mask) {
            word before = *static_cast<volatile word*>(keys + at);
            if (before == 0) before = atomicCAS(keys + at, word{0}, static_cast<word>(key));
            if (before != 0 && before != key) continue;
            atomicAdd(counts + at * words_of_pair, pairs);
            if (face >= 0) atomicAdd(counts + at * words_of_pair + 1 + face, pairs);
            return;
        }
        *full = 1;
    }
};

__device__ inline std::uint64_t key_of_pair(std::uint32_t a, std::uint32_t b) {
    return a < b ? static_cast<std::uint64_t>(a) << 32 | b : static_cast<std::uint64_t>(b) << 32 | a;
}

/// A thread owns a cell and looks at the neighbours after it. If neighbouring lanes see the same pair, the first of
/// them adds for all.
__global__ void __launch_bounds__(threads_of_block)
    find_pairs(const named_cells cells, const steps3 steps, const pair_table table) {
    const array3& a = cells.at;
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    const std::int64_t line = quotient(cell, a.side[2]), plane = quotient(line, a.side[1]);
    const std::int64_t at[3] = {plane, line - plane * a.side[1], cell - line * a.side[2]};
    const std::uint32_t* const here = cells.data + at[0] * a.step[0] + at[1] * a.step[1] + at[2] * a.step[2];
    const std::uint32_t mine = cell < a.cells() ? *here : 0;
    for (int k = 0; k < steps.count; ++k) {
        const step3 step = steps.all[k];
        bool inside = mine != 0;
        std::int64_t offset = 0;
        for (int axis = 0; axis < 3; ++axis) {
            inside = inside && at[axis] + step.by[axis] >= 0 && at[axis] + step.by[axis] < a.side[axis];
            offset += step.by[axis] * a.step[axis];
        }
        const std::uint32_t other = inside ? here[offset] : 0;
        const std::uint64_t key = other != 0 && other != mine ? key_of_pair(mine, other) : 0;
        const std::uint64_t before = __shfl_up_sync(cuda::every_lane, key, 1);
        const unsigned heads = __ballot_sync(cuda::every_lane, lane_of_thread() == 0 || before != key ? 1 : 0);
        if (key == 0 || (heads >> lane_of_thread() & 1) == 0) continue;
        const unsigned after = heads & ~(lanes_before() * 2 + 1);
        const int end = after == 0 ? cuda::warp : __ffs(static_cast<int>(after)) - 1;
        table.add(key, step.changes() == 1 ? step.axis() : -1, static_cast<word>(end - lane_of_thread()));
    }
}

/// Writes the pairs one after another, in no particular order.
__global__ void __launch_bounds__(threads_of_block)
    gather_pairs(const pair_table table, std::uint64_t places, word* found, word* to) {
    const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= places || table.keys[i] == 0) return;
    word* const pair = to + atomicAdd(found, word{1}) * (1 + words_of_pair);
    pair[0] = table.keys[i];
    for (int k = 0; k < words_of_pair; ++k) pair[1 + k] = table.counts[i * words_of_pair + k];
}

/// Writes 32 bits for each cell in C order: its value if the type has no more bits, else the value's number.
__global__ void __launch_bounds__(threads_of_block) name_values(const cell_keys in, std::uint32_t* to) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (cell < in.at.cells())
        to[cell] = static_cast<std::uint32_t>(read_integer(in.at.data, in.type, offset_in(in.at, cell)));
}
__global__ void __launch_bounds__(threads_of_block)
    name_numbers(const cell_keys in, const value_table<std::uint32_t> table, std::uint32_t* to, word* values) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (cell >= in.at.cells()) return;
    const std::uint64_t key = in.key(cell);
    to[cell] = table.number_of(key);
    if (to[cell] != 0) values[to[cell] - 1] = key;  // the same from every cell of the value
}

template <class T>
std::vector<T> fetch(const device& on, const T* from, std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    if (count > 0)
        cuda::check(cudaMemcpyAsync(values.data(), from, values.size() * sizeof(T), cudaMemcpyDeviceToHost,
                                    cuda::stream_of(on)),
                    "fetching contacts");
    cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "finding contacts");
    return values;
}

/// Finds the pairs by their 32-bit names; returns false if there are more pairs than places.
bool find(const device& on, const named_cells& cells, const steps3& steps, std::int64_t places,
          std::vector<word>& pairs) {
    cuda::workspace memory(on);
    const auto table = memory.reserve<word>(places * (1 + words_of_pair)),
               list = memory.reserve<word>(places * (1 + words_of_pair)), found = memory.reserve<word>(2);
    memory.allocate();
    word* const keys = memory.get<word>(table);
    word* const flags = memory.get<word>(found);
    launch_fill(on, keys, places * (1 + words_of_pair), word{0});
    launch_fill(on, flags, 2, word{0});
    const pair_table to{keys, keys + places, static_cast<std::uint64_t>(places - 1),
                        reinterpret_cast<std::uint32_t*>(flags + 1), process_seed()};
    cuda::launch(on, find_pairs, blocks_for(cells.at.cells(), threads_of_block), dim3(threads_of_block), 0, cells,
                 steps, to);
    cuda::launch(on, gather_pairs, blocks_for(places, threads_of_block), dim3(threads_of_block), 0, to,
                 static_cast<std::uint64_t>(places), flags, memory.get<word>(list));
    const std::vector<word> said = fetch(on, static_cast<const word*>(flags), 2);
    if (said[1] != 0) return false;
    pairs = fetch(on, static_cast<const word*>(memory.get<word>(list)),
                  static_cast<std::int64_t>(said[0]) * (1 + words_of_pair));
    return true;
}

/// Replaces names by the values (the type's keys) for which they stand; if `values` is empty, a name is its value.
std::vector<touch> named(const std::vector<word>& pairs, const std::vector<word>& values, dtype type) {
    const auto value = [&](std::uint32_t name) {
        if (type == dtype::int32 || type == dtype::int16 || type == dtype::int8)
            return static_cast<std::int64_t>(static_cast<std::int32_t>(name));
        if (values.empty()) return static_cast<std::int64_t>(name);
        const auto key = static_cast<std::int64_t>(values[name - 1]);
        if (type == dtype::uint64 && key < 0)
            fail("labels has the value " + std::to_string(values[name - 1]) +
                 ", which int64 cannot hold; relabel() makes small ones");
        return key;
    };
    std::vector<touch> all;
    for (std::size_t i = 0; i < pairs.size(); i += 1 + words_of_pair) {
        const std::int64_t x = value(static_cast<std::uint32_t>(pairs[i] >> 32)),
                           y = value(static_cast<std::uint32_t>(pairs[i]));
        all.push_back({std::min(x, y), std::max(x, y), pairs[i + 1], {pairs[i + 2], pairs[i + 3], pairs[i + 4]}});
    }
    std::sort(all.begin(), all.end(),
              [](const touch& x, const touch& y) { return x.a < y.a || (x.a == y.a && x.b < y.b); });
    return all;
}

}  // namespace

void find_touching(const device& on, const any_input<device>& labels, const steps3& steps, contact_list& to) {
    const cuda::device_guard guard(on);
    const std::int64_t cells = labels.cells();
    if (size_of(labels.type) == 8 && cells >= no_row)
        throw error(error_code::unsupported,
                    "labels has 64-bit values and 2^32 cells or more; relabel() to 32 bits first");
    named_cells names{static_cast<const std::uint32_t*>(labels.data), array3_of(labels)};
    cuda::workspace memory(on);
    const bool narrow = size_of(labels.type) < 4, wide = size_of(labels.type) == 8;
    const auto copy = memory.reserve<std::uint32_t>(narrow || wide ? cells : 0);
    const auto distinct = memory.reserve<word>(wide ? cells : 0);
    memory.allocate();
    std::vector<word> values;
    if (narrow || wide) {
        auto* const to = memory.get<std::uint32_t>(copy);
        const std::int64_t blocks = blocks_for(cells, threads_of_block);
        if (narrow) {
            cuda::launch(on, name_values, blocks, dim3(threads_of_block), 0, cell_keys(labels), to);
        } else {
            numbering<std::uint32_t> numbers(on, labels);
            numbers.run();
            cuda::launch(on, name_numbers, blocks, dim3(threads_of_block), 0, numbers.cells(), numbers.table(), to,
                         memory.get<word>(distinct));
            const auto count = static_cast<std::int64_t>(fetch(on, numbers.count(), 1)[0]);
            values = fetch(on, static_cast<const word*>(memory.get<word>(distinct)), count);
        }
        names.data = to, names.at.step[0] = names.at.side[1] * names.at.side[2];
        names.at.step[1] = names.at.side[2], names.at.step[2] = 1;
    }
    std::vector<word> pairs;
    for (std::int64_t places = std::int64_t{1} << 16; !find(on, names, steps, places, pairs); places *= 8) {
    }
    const std::vector<touch> found = named(pairs, values, labels.type);
    to.expect(std::ssize(found));
    for (const touch& each : found) to.add(each);
}

}  // namespace nearfield::components
