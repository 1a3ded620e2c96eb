// Rows of power diagrams: a block lists the row's sites in shared memory. The winners of every 32nd cell, each found
// among all sites of the row, bound those between. Reads the first values once and writes 2 bytes a cell and the cost
// of the site, which later passes would otherwise look up for each candidate.
#pragma once

#include "exact/core.hpp"
#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/ground/marks.hpp"
#include "exact/gpu/ground/number.cuh"
#include "exact/gpu/rows/first_values.cuh"
#include "exact/plan.hpp"

namespace nearfield::exact::gpu {
namespace {

constexpr int power_threads = 256;

/// A block owns a row.
template <class V>
class power_row {
public:
    __device__ power_row(void* memory, int length, bool periodic, V weight)
        : values_(static_cast<V*>(memory)),
          bits_(reinterpret_cast<std::uint32_t*>(values_ + length)),
          start_(reinterpret_cast<int*>(bits_ + words_of(length))),
          pivots_(start_ + words_of(length) + 1),
          at_(reinterpret_cast<std::int16_t*>(pivots_ + words_of(length) + 1)),
          length_(length),
          words_(words_of(length)),
          periodic_(periodic),
          weight_(weight) {}

    static __host__ __device__ int words_of(int length) { return (length + mark_bits - 1) / mark_bits; }
    static std::size_t bytes(int length) {
        return static_cast<std::size_t>(length) * (sizeof(V) + 2) +
               (3 * static_cast<std::size_t>(words_of(length)) + 2) * 4;
    }

    /// Lists the row's sites, given the first value of each cell; returns false if there is none.
    template <class First>
    __device__ bool list(const First& first) {
        for (int w = warp_; w < words_; w += power_threads / cuda::warp) {
            const int x = w * mark_bits + lane_;
            const std::uint32_t b =
                __ballot_sync(cuda::every_lane, x < length_ && first(min(x, length_ - 1)) < no_site<V>());
            if (lane_ == 0) bits_[w] = b;
        }
        __syncthreads();
        if (warp_ == 0) count_words();
        __syncthreads();
        count_ = start_[words_];
        for (int w = warp_; w < words_; w += power_threads / cuda::warp) {
            const std::uint32_t b = bits_[w];
            if ((b >> lane_ & 1) == 0) continue;
            const int i = start_[w] + __popc(b & ((1u << lane_) - 1)), x = w * mark_bits + lane_;
            at_[i] = static_cast<std::int16_t>(x), values_[i] = first(x);
        }
        __syncthreads();
        return count_ > 0;
    }

    __device__ void write(std::int16_t* to, V* values, bool ordered) {
        const int first = periodic_ ? -count_ : 0, last = periodic_ ? 2 * count_ - 1 : count_ - 1;
        if (ordered)
            for (int w = static_cast<int>(threadIdx.x); w < words_; w += power_threads)
                pivots_[w] = search(w * mark_bits, first, periodic_ && w == 0 ? count_ - 1 : last).place;
        __syncthreads();
        for (int w = warp_; w < words_; w += power_threads / cuda::warp) {
            const int x = w * mark_bits + lane_;
            if (x >= length_) continue;
            const int next = w + 1 < words_ ? pivots_[w + 1] : periodic_ ? pivots_[0] + count_ : last;
            const found best = ordered ? search(x, pivots_[w], next) : search(x, first, last);
            to[x] = at_[wrapped(best.place, count_)], values[x] = best.value;
        }
    }

private:
    __device__ void count_words() {
        int sum = 0;
        for (int first = 0; first < words_; first += cuda::warp) {
            const int w = first + lane_, count = w < words_ ? __popc(bits_[w]) : 0;
            int mine = count;
            for (int o = 1; o < cuda::warp; o *= 2) {
                const int other = __shfl_up_sync(cuda::every_lane, mine, o);
                if (lane_ >= o) mine += other;
            }
            if (w < words_) start_[w] = sum + mine - count;
            sum += __shfl_sync(cuda::every_lane, mine, cuda::warp - 1);
        }
        if (lane_ == 0) start_[words_] = sum;
    }

    struct found {
        V value;
        int place;  ///< place in the list, unrolled if the row is periodic
    };

    /// Returns the winner of cell x among the places [from, to]: of equal ones the smaller coordinate.
    __device__ found search(int x, int from, int to) const {
        found best{no_site<V>(), from};
        for (int i = from; i <= to; ++i) {
            const int own = wrapped(i, count_), turn = i < 0 ? -1 : i >= count_ ? 1 : 0;
            const int apart = at_[own] + turn * length_ - x;
            const V value = values_[own] + cost(weight_, apart);
            if (value < best.value || (value == best.value && at_[own] < at_[wrapped(best.place, count_)]))
                best = {value, i};
        }
        return best;
    }

    V* values_;
    std::uint32_t* bits_;
    int *start_, *pivots_;
    std::int16_t* at_;
    int length_, words_, count_ = 0;
    bool periodic_;
    V weight_;
    int lane_ = static_cast<int>(threadIdx.x) % cuda::warp, warp_ = static_cast<int>(threadIdx.x) / cuda::warp;
};

template <class V>
__global__ void __launch_bounds__(power_threads)
    write_power_rows(const weighted_sites from, const metric<V> m, int length, const V* extremes, double largest,
                     bool rounds, const std::int32_t* many, std::int16_t* to, V* values) {
    extern __shared__ uint4 power_memory[];
    if (are_few(many)) return;
    const std::int64_t start = static_cast<std::int64_t>(blockIdx.x) * length;
    const V weight = m.weight[m.rank - 1];
    power_row<V> row(power_memory, length, m.periodic[m.rank - 1], weight);
    if (!row.list([&](int x) { return from.first(m, start + x); })) {
        for (int x = static_cast<int>(threadIdx.x); x < length; x += power_threads)
            to[start + x] = INT16_MIN, values[start + x] = no_site<V>();
        return;
    }
    row.write(to + start, values + start,
              !rounds || rows_ordered(largest + static_cast<double>(extremes[1]), static_cast<double>(weight)));
}

}  // namespace
}  // namespace nearfield::exact::gpu
