// Numbers of values in the order of their first cells, on a device. Small values look themselves up in a table; others,
// for which memory is kept but not touched before one is met, in a hash table. Each value keeps its first cell by
// atomic minimum, a bit marks these cells, and the bits before a value's own count to its number: nothing depends on
// who comes first.
#pragma once

#include "base/wide.hpp"
#include "components/cuda_scan.cuh"

namespace nearfield::components {

/// Integers of any type as unsigned keys; 0 is background.
struct cell_keys {
    array3 at;
    dtype type;
    bool dense;
    std::uint64_t mask;  ///< the type's bits

    cell_keys(const any_input<device>& labels)
        : at(array3_of(labels)),
          type(labels.type),
          dense(at.is_dense()),
          mask(~std::uint64_t{0} >> (64 - 8 * size_of(labels.type))) {}
    __device__ std::uint64_t key(std::int64_t cell) const {
        return static_cast<std::uint64_t>(read_integer(at.data, type, dense ? cell : offset_in(at, cell))) & mask;
    }
};

/// Holds for each value first its first cell, then its number. Both fit `Number`.
template <class Number>
struct value_table {
    static constexpr Number none = ~Number{0};
    Number* small;  ///< indexed by key, for keys up to most_small
    std::uint64_t most_small;
    word* keys;  ///< keys of the hash table; 0 marks an open place
    Number* large;
    std::uint64_t places;      ///< size of the hash table; 0 if no value can be large
    std::uint32_t* any_large;  ///< set to 1 once a large value is met
    hash_seed seed;

    __device__ std::uint64_t place_of(std::uint64_t key) const {
        return static_cast<std::uint64_t>(static_cast<uint128>(scattered(key, seed)) * places >> 64);
    }
    /// The entry of a large value; takes an open place for it if it has none.
    __device__ Number* make(std::uint64_t key) const {
        for (std::uint64_t at = place_of(key);; at = at + 1 == places ? 0 : at + 1) {
            const word before = *static_cast<volatile word*>(keys + at);
            if (before == key) return large + at;
            if (before != 0) continue;
            const word met = atomicCAS(keys + at, word{0}, static_cast<word>(key));
            if (met == 0 || met == key) return large + at;
        }
    }
    /// The value's number; 0 for a value that was not found before, as when another stream writes to the labels.
    __device__ Number number_of(std::uint64_t key) const {
        if (key == 0) return 0;
        if (key <= most_small) return small[key] == none ? 0 : small[key];
        if (!has_large()) return 0;
        std::uint64_t at = place_of(key);
        while (keys[at] != key && keys[at] != 0) at = at + 1 == places ? 0 : at + 1;
        return keys[at] == key ? large[at] : 0;
    }
    __device__ bool has_large() const { return *any_large != 0; }
    /// Number of entries: those of small values, then those of large ones if there are any.
    __device__ std::int64_t entries() const {
        return static_cast<std::int64_t>(most_small + 1 + (has_large() ? places : 0));
    }
    __device__ Number* entry(std::int64_t i) const {
        const auto at = static_cast<std::uint64_t>(i);
        return at <= most_small ? small + at : large + (at - most_small - 1);
    }
};

template <class Number>
__device__ void keep_first(Number* to, std::int64_t cell) {
    const auto mine = static_cast<Number>(cell);
    if (mine < *static_cast<volatile Number*>(to)) atomicMin(to, mine);
}

/// Calls body(i) for i in [0, count) from a grid of any size. Warps stay whole, so a lane may get i >= count.
template <class Body>
__device__ void for_each_item(std::int64_t count, const Body& body) {
    const std::int64_t row = static_cast<std::int64_t>(gridDim.x) * threads_of_block;
    std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    for (const std::int64_t lane = lane_of_thread(); i - lane < count; i += row) body(i);
}

/// Finds the first cells of small or of large values. Among equal neighbouring cells the first one acts for all.
template <class Number, bool Large>
__global__ void __launch_bounds__(threads_of_block)
    find_first_cells(const cell_keys in, const value_table<Number> table) {
    if (Large && !table.has_large()) return;
    for_each_item(in.at.cells(), [&](std::int64_t cell) {
        const std::uint64_t key = cell < in.at.cells() ? in.key(cell) : 0;
        const std::uint64_t before = __shfl_up_sync(cuda::every_lane, key, 1);
        if (key == 0 || (lane_of_thread() > 0 && before == key)) return;
        if (key <= table.most_small) {
            if (!Large) keep_first(table.small + key, cell);
        } else if (Large) {
            keep_first(table.make(key), cell);
        } else {
            *table.any_large = 1;
        }
    });
}

template <class Number>
__global__ void __launch_bounds__(threads_of_block) clear_large(const value_table<Number> table) {
    if (!table.has_large()) return;
    const auto places = static_cast<std::int64_t>(table.places);
    for_each_item(places, [&](std::int64_t i) {
        if (i < places) table.keys[i] = 0, table.large[i] = value_table<Number>::none;
    });
}

/// Sets a bit for each cell that is the first of its value.
template <class Number>
__global__ void __launch_bounds__(threads_of_block)
    mark_first_cells(const value_table<Number> table, std::uint32_t* bits) {
    for_each_item(table.entries(), [&](std::int64_t i) {
        if (i >= table.entries() || *table.entry(i) == value_table<Number>::none) return;
        const Number first = *table.entry(i);
        atomicOr(bits + first / 32, 1u << (first % 32));
    });
}

static __global__ void __launch_bounds__(threads_of_block)
    count_bits(const std::uint32_t* bits, std::int64_t words_of_bits, word* sums) {
    const chunk mine(words_of_bits);
    word sum = 0, all = 0;
    for (std::int64_t i = mine.first + lane_of_thread(); i < mine.last; i += cuda::warp) sum += __popc(bits[i]);
    static_cast<void>(warp_scan(sum, all));
    if (lane_of_thread() == 0) sums[chunk::number()] = all;
}

/// Counts the bits before each word of 32 bits.
template <class Number>
__global__ void __launch_bounds__(threads_of_block)
    rank_words(const std::uint32_t* bits, std::int64_t words_of_bits, const word* sums, Number* before_word) {
    const chunk mine(words_of_bits);
    word before = sums[chunk::number()], all = 0;
    for (std::int64_t i = mine.first; i < mine.last; i += cuda::warp, before += all) {
        const std::int64_t at = i + lane_of_thread();
        const word place = before + warp_scan(at < mine.last ? __popc(bits[at]) : 0, all);
        if (at < mine.last) before_word[at] = static_cast<Number>(place);
    }
}

template <class Number>
__global__ void __launch_bounds__(threads_of_block)
    number_values(const value_table<Number> table, const std::uint32_t* bits, const Number* before_word) {
    for_each_item(table.entries(), [&](std::int64_t i) {
        if (i >= table.entries() || *table.entry(i) == value_table<Number>::none) return;
        Number* const entry = table.entry(i);
        const Number first = *entry;
        *entry = before_word[first / 32] + __popc(bits[first / 32] & ((1u << (first % 32)) - 1)) + 1;
    });
}

/// Owns the tables of one call, in one workspace, and launches its kernels in order.
template <class Number>
class numbering {
public:
    numbering(const device& on, const any_input<device>& labels)
        : on_(on), in_(labels), cells_(in_.at.cells()), words_((cells_ + 31) / 32), memory_(on) {
        const bool narrow = size_of(labels.type) <= 2;
        // For wide types, values up to the number of cells count as small; labels usually are.
        table_.most_small = narrow ? in_.mask : std::min(in_.mask, static_cast<std::uint64_t>(cells_));
        table_.places = narrow ? 0 : static_cast<std::uint64_t>(cells_ + cells_ / 4 + 2);
        const auto small = memory_.reserve<Number>(static_cast<std::int64_t>(table_.most_small) + 1);
        const auto keys = memory_.reserve<word>(static_cast<std::int64_t>(table_.places)),
                   large = memory_.reserve<Number>(static_cast<std::int64_t>(table_.places)),
                   any = memory_.reserve<std::uint32_t>(1), bits = memory_.reserve<std::uint32_t>(words_),
                   ranks = memory_.reserve<Number>(words_), sums = memory_.reserve<word>(chunks + 1);
        memory_.allocate();
        table_.seed = process_seed();
        table_.small = memory_.get<Number>(small), table_.keys = memory_.get<word>(keys);
        table_.large = memory_.get<Number>(large), table_.any_large = memory_.get<std::uint32_t>(any);
        bits_ = memory_.get<std::uint32_t>(bits), ranks_ = memory_.get<Number>(ranks), sums_ = memory_.get<word>(sums);
    }
    /// Afterwards table() has every value's number, and *count() how many there are.
    void run() {
        launch_fill(on_, table_.small, static_cast<std::int64_t>(table_.most_small) + 1, value_table<Number>::none);
        launch_fill(on_, table_.any_large, 1, std::uint32_t{0});
        launch_fill(on_, bits_, words_, std::uint32_t{0});
        over(find_first_cells<Number, false>, cells_, in_, table_);
        if (table_.places > 0) {
            over(clear_large<Number>, static_cast<std::int64_t>(table_.places), table_);
            over(find_first_cells<Number, true>, cells_, in_, table_);
        }
        over(mark_first_cells<Number>, entries(), table_, bits_);
        launch_chunks(on_, words_, count_bits, static_cast<const std::uint32_t*>(bits_), words_, sums_);
        launch_scan(on_, words_, sums_);
        launch_chunks(on_, words_, rank_words<Number>, static_cast<const std::uint32_t*>(bits_), words_,
                      static_cast<const word*>(sums_), ranks_);
        over(number_values<Number>, entries(), table_, static_cast<const std::uint32_t*>(bits_),
             static_cast<const Number*>(ranks_));
    }
    [[nodiscard]] const value_table<Number>& table() const { return table_; }
    [[nodiscard]] const cell_keys& cells() const { return in_; }
    [[nodiscard]] const word* count() const { return sums_ + chunks; }

private:
    template <class... Parameters, class... Arguments>
    void over(void (*kernel)(Parameters...), std::int64_t items, const Arguments&... arguments) const {
        // A kernel that may find no work starts with few blocks.
        constexpr std::int64_t most_blocks = 4096;
        cuda::launch(on_, kernel, std::min(blocks_for(items, threads_of_block), most_blocks), dim3(threads_of_block), 0,
                     arguments...);
    }
    /// Upper limit of the number of entries.
    [[nodiscard]] std::int64_t entries() const {
        return static_cast<std::int64_t>(table_.most_small + 1 + table_.places);
    }
    const device& on_;
    cell_keys in_;
    std::int64_t cells_, words_;
    cuda::workspace memory_;
    value_table<Number> table_{};
    std::uint32_t* bits_ = nullptr;
    Number* ranks_ = nullptr;
    word* sums_ = nullptr;
};

}  // namespace nearfield::components
