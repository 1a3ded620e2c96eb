// Images of 8-byte types: the rank of a value among all values takes the place of a 32-bit key, since watersheds depend
// on the order of values alone; a table gives the values back to tests of heights and to outputs.
//
// Costs two radix sorts of 32 bits and 25 bytes an item; items are places, and as many seeds if there are any.
#pragma once

#include "base/cuda_sort.cuh"
#include "watershed/cuda_grid.cuh"

namespace nearfield::watersheds {

inline constexpr int ranked_by_thread = 4, ranked_by_block = threads_of_block * ranked_by_thread;

struct ranked_items {
    std::int64_t count;
    const std::int64_t* value;   ///< ordered keys of 64 bits
    const std::uint32_t* order;  ///< items from the least value to the greatest; null before the first sort
    cuda::word* before;          ///< for each block, the number of values that first occur before it
    std::uint8_t* fresh;         ///< for each thread's items, a bit for those that are the first of their value

    /// Returns 32 bits of the i-th item's value as part of an unsigned integer of the same order.
    [[nodiscard]] __device__ std::uint32_t part(std::int64_t i, bool high) const {
        const auto bits = static_cast<std::uint64_t>(value[order == nullptr ? i : order[i]]) ^ std::uint64_t{1} << 63;
        return static_cast<std::uint32_t>(high ? bits >> 32 : bits);
    }
};

static __global__ void __launch_bounds__(threads_of_block)
    take_parts(const ranked_items of, bool high, std::uint32_t* to) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < of.count) to[i] = of.part(i, high);
}

/// Marks the items that are the first of their value, and counts them. The very first one does not count.
static __global__ void __launch_bounds__(threads_of_block) count_values(const ranked_items of) {
    __shared__ std::uint32_t held[threads_of_block / cuda::warp];
    const std::int64_t own = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x,
                       first = own * ranked_by_thread, end = min(first + ranked_by_thread, of.count);
    unsigned bits = 0;
    std::int64_t last = first > 0 && first < end ? of.value[of.order[first - 1]] : 0;
    for (std::int64_t i = first; i < end; ++i) {
        const std::int64_t value = of.value[of.order[i]];
        if (i > 0 && value != last) bits |= 1U << (i - first);
        last = value;
    }
    if (first < end) of.fresh[own] = static_cast<std::uint8_t>(bits);
    std::uint32_t all = 0;
    cuda::sum_before(static_cast<std::uint32_t>(__popc(bits)), held, all);
    if (threadIdx.x == 0) of.before[blockIdx.x] = all;
}
/// Writes the ranks of cells and seeds, and the table of values.
static __global__ void __launch_bounds__(threads_of_block)
    write_ranks(const __grid_constant__ work w, const ranked_items of) {
    __shared__ std::uint32_t held[threads_of_block / cuda::warp];
    const std::int64_t own = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x,
                       first = own * ranked_by_thread, end = min(first + ranked_by_thread, of.count);
    const unsigned bits = first < end ? of.fresh[own] : 0;
    std::uint32_t all = 0;
    const std::uint32_t before = cuda::sum_before(static_cast<std::uint32_t>(__popc(bits)), held, all);
    auto rank = static_cast<std::int32_t>(of.before[blockIdx.x] + before);
    for (std::int64_t i = first; i < end; ++i) {
        const bool starts = (bits >> (i - first) & 1) != 0;
        const std::int64_t item = of.order[i], place = item < w.where.places ? item : item - w.where.places;
        rank += starts ? 1 : 0;
        if (starts || i == 0) w.exact[rank] = of.value[item];
        if (place == item && w.way[place] != no_cell) w.key[place] = rank;
        if (place != item && w.seed_key[place] != outside<std::int32_t>) w.seed_key[place] = rank;
    }
}

/// Memory of the ranks of a call, and their kernels.
class ranking {
public:
    ranking(cuda::workspace& memory, std::int64_t items)
        : memory_(memory),
          blocks_(cuda::blocks_for(items, ranked_by_block)),
          parts_(memory.reserve<std::int64_t>(items)),
          numbers_(memory.reserve<std::uint32_t>(2 * items)),
          value_(memory.reserve<std::int64_t>(items)),
          fresh_(memory.reserve<std::uint8_t>(blocks_ * threads_of_block)),
          counts_(
              memory.reserve<cuda::word>(items > 0 ? blocks_ + 1 + cuda::digits * (cuda::most_sort_blocks + 1) : 0)) {
        of_.count = items;
    }
    /// Returns where ordered keys go: those of places, then those of seeds.
    [[nodiscard]] std::int64_t* values() const { return memory_.get<std::int64_t>(value_); }
    /// Returns where the table goes, into the memory of the sorts.
    [[nodiscard]] std::int64_t* table() const { return memory_.get<std::int64_t>(parts_); }

    void run(const device& on, const work& w) {
        auto* const parts = reinterpret_cast<std::uint32_t*>(table());
        auto* const numbers = memory_.get<std::uint32_t>(numbers_);
        of_.value = values(), of_.before = memory_.get<cuda::word>(counts_), of_.order = nullptr;
        of_.fresh = memory_.get<std::uint8_t>(fresh_);
        cuda::word* const digits = of_.before + blocks_ + 1;
        cuda::sorting<std::uint32_t> sort{
            parts,  parts + of_.count,   numbers, numbers + of_.count, digits + cuda::digits,
            digits, {nullptr, of_.count}};
        for (const bool high : {false, true}) {
            launch(on, take_parts, cuda::blocks_for(of_.count, threads_of_block), of_, high, sort.rows);
            of_.order = sort.run(on, 32, of_.order);
        }
        launch(on, count_values, blocks_, of_);
        cuda::launch_sums(on, of_.before, blocks_, of_.before + blocks_);
        launch(on, write_ranks, blocks_, w, of_);
    }

private:
    template <class... Parameters, class... Arguments>
    void launch(const device& on, void (*kernel)(Parameters...), std::int64_t blocks,
                const Arguments&... arguments) const {
        cuda::launch(on, kernel, blocks, dim3(threads_of_block), 0, arguments...);
    }

    cuda::workspace& memory_;
    ranked_items of_{};
    std::int64_t blocks_, parts_, numbers_, value_, fresh_, counts_;
};

}  // namespace nearfield::watersheds
