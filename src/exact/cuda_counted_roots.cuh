// Where passes that count (cuda_counted.cuh) leave their cells: distances from whole numbers of units, or a state.
#pragma once

#include "exact/cuda_common.cuh"
#include "exact/cuda_counted.hpp"

namespace nearfield::exact {
namespace {

// A word whose line has no site, squared, is larger, and so is every number that a search leaves to doubles.
constexpr float counted_end = 0x1p23f;
constexpr std::uint32_t counted_none = UINT32_MAX;  ///< of a state

/// Cells from a band's first row to another; one product.
__device__ inline std::uint64_t row_step(int row, std::uint32_t inner) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(row)) * inner;
}

/// Cells whose distance only doubles tell.
struct doubtful_roots {
    std::int32_t* count = nullptr;
    std::int64_t* list = nullptr;
    int capacity = 0;

    __device__ void add(std::int64_t cell) const {
        const int nth = atomicAdd(count, 1);
        if (nth < capacity) list[nth] = cell;
    }
};

// Roots' last places beside a middle between floats: T and unit * N make 6 of them at most.
constexpr std::uint32_t doubtful_places = 8;

/// Where the last pass leaves its cells.
struct counted_roots {
    float* to;
    double unit;
    float unit_high, unit_low;  ///< their sum is `unit`, but for 2^-48 of it
    doubtful_roots doubtful;
    double limit = std::numeric_limits<double>::max();  ///< of the bands in double: none

    /// Of a whole number of units, or none.
    __device__ void put(std::int64_t cell, double number) const {
        const double root = __dsqrt_rn(number * unit);
        const std::uint32_t beyond = static_cast<std::uint32_t>(__double2loint(root)) & 0x1fffffff;
        const bool tells = beyond - (0x10000000 - doubtful_places) >= 2 * doubtful_places;
        to[cell] = tells ? static_cast<float>(root) : __int_as_float(0x7fffffff);
        if (!tells) doubtful.add(cell);
    }
    __device__ void put(const metric<double>&, std::int64_t cell, double number, std::int64_t) const {
        put(cell, number);
    }
    /// A lane's rows, `count` of them, some of which reach the limit.
    template <int Rows>
    __device__ void put_limited(const float (&numbers)[Rows], float limit, int count, std::int64_t cell,
                                std::uint32_t inner) const {
#pragma unroll
        for (int i = 0; i < Rows; ++i) {
            if (i >= count) continue;
            if (numbers[i] < limit) put_alone(*this, cell + row_step(i, inner), numbers[i]);
            else put_doubtful(*this, cell + row_step(i, inner));
        }
    }
    /// Of a number below counted_end: the root is made of two floats. What is added to the first guess is known to 2^-20 of it,
    /// where it is large enough to matter; taken 2^-18 smaller and larger it leads to the same root, or `open` is not 0.
    __device__ float root_of(float number, std::uint32_t& open) const {
        const float high = number * unit_high, low = __fmaf_rn(number, unit_low, __fmaf_rn(number, unit_high, -high));
        float guess;
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(high + 1e-30f));  // so that the root of 0 is not 0 * inf
        const float first = high * guess, lacks = __fmaf_rn(-first, first, high) + low;
        const float smaller = __fmaf_rn(lacks, 0.49999809f * guess, first),
                    larger = __fmaf_rn(lacks, 0.50000191f * guess, first);
        open |= __float_as_uint(smaller) ^ __float_as_uint(larger);
        return larger;
    }
    /// A lane's rows, `count` of them.
    template <int Rows>
    __device__ void put_rows(const float (&numbers)[Rows], int count, std::int64_t cell, std::uint32_t inner) const {
        std::uint32_t open = 0;
        float* const first = to + cell;
        if (count >= Rows) {
#pragma unroll
            for (int i = 0; i < Rows; ++i) first[row_step(i, inner)] = root_of(numbers[i], open);
        } else {
#pragma unroll
            for (int i = 0; i < Rows; ++i)
                if (i < count) first[row_step(i, inner)] = root_of(numbers[i], open);
        }
        if (open == 0) return;
#pragma unroll
        for (int i = 0; i < Rows; ++i)
            if (i < count) put_alone(*this, cell + row_step(i, inner), numbers[i]);
    }

private:
    __device__ __noinline__ static void put_alone(const counted_roots& of, std::int64_t cell, float number) {
        of.put(cell, number);
    }
    __device__ __noinline__ static void put_doubtful(const counted_roots& of, std::int64_t cell) {
        of.to[cell] = __int_as_float(0x7fffffff);
        of.doubtful.add(cell);
    }
};

/// And the pass before.
struct counted_state {
    std::uint32_t* to;
    double limit = std::numeric_limits<double>::max();

    __device__ void put(const metric<double>&, std::int64_t cell, double number, std::int64_t) const {
        to[cell] = number < static_cast<double>(counted_none) ? static_cast<std::uint32_t>(number) : counted_none;
    }
    template <int Rows>
    __device__ void put_rows(const float (&numbers)[Rows], int count, std::int64_t cell, std::uint32_t inner) const {
        std::uint32_t* const first = to + cell;
#pragma unroll
        for (int i = 0; i < Rows; ++i)
            if (i < count) first[row_step(i, inner)] = whole(numbers[i]);
    }
    /// Of a number below counted_end.
    __device__ void put_whole(std::int64_t cell, float number) const { to[cell] = whole(number); }

private:
    __device__ static std::uint32_t whole(float number) { return __float_as_uint(number + counted_end) & 0x7fffff; }
};

}  // namespace
}  // namespace nearfield::exact
