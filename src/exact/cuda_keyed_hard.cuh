// What the searches for nearest sites in words leave (cuda_keyed_search.cuh), by hulls in shared memory. How much it is
// is known on the device only: a fixed number of blocks shares the list.
#pragma once

#include "exact/cuda_keyed_search.cuh"
#include "exact/cuda_short.cuh"

namespace nearfield::exact {
namespace {

/// The first pass's nearest sites along one line of the second: loads are offsets.
class site_of_word {
public:
    __device__ site_of_word(const line_word* words, int bit, std::int32_t x, const metric<std::int32_t>& m)
        : words_(words), bit_(bit), x_(x), m_(m) {}
    __device__ std::int32_t load(std::int64_t row) const {
        const line_word word = words_[row];
        const std::uint32_t upto = word.sites << (31 - bit_), from = word.sites >> bit_;
        const std::int32_t left = upto ? __clz(static_cast<int>(upto)) : gap_before(word, x_ - bit_) + bit_;
        const std::int32_t right = from ? __ffs(static_cast<int>(from)) - 1 : gap_after(word, x_ - bit_) + 31 - bit_;
        return left <= right ? -left : right;
    }
    __device__ std::int32_t value(std::int32_t offset) const {
        return abs(offset) >= too_far ? no_site<std::int32_t>() : offset * offset;
    }
    __device__ std::int32_t key(std::int32_t offset, std::int64_t row) const {
        return m_.keys.with(m_.keys.field<std::int32_t>(m_.rank - 1, x_ + offset), m_.rank - 2, row);
    }

private:
    const line_word* words_;
    int bit_;
    std::int32_t x_;
    const metric<std::int32_t>& m_;
};

/// The second pass's along one line of the third.
class site_of_state {
public:
    template <class Target>
    __device__ site_of_state(const std::uint32_t* first, const Target& t)
        : first_(first), inner_(t.inner), x_(t.x), y_(t.y), m_(t.m) {}
    __device__ std::uint32_t load(std::int64_t row) const { return first_[row * inner_]; }
    __device__ std::int32_t value(std::uint32_t state) const {
        if (state == empty_state) return no_site<std::int32_t>();
        const offset to = offset_of_state(state);
        return to.dx * to.dx + to.dy * to.dy;
    }
    __device__ std::int32_t key(std::uint32_t state, std::int64_t row) const {
        const offset to = offset_of_state(state);
        const std::int32_t x = m_.keys.field<std::int32_t>(m_.rank - 1, x_ + to.dx);
        return m_.keys.with(m_.keys.with(x, m_.rank - 2, y_ + to.dy), m_.rank - 3, row);
    }

private:
    const std::uint32_t* first_;
    std::int64_t inner_;
    std::int32_t x_, y_;
    const metric<std::int32_t>& m_;
};

/// A block one hard group after another. Lanes beyond the last line repeat it; they write the same to the same cells.
template <ending End>
__global__ void __launch_bounds__(short_threads)
    search_hard_sites_of_words(const packed_lines lines, const metric<std::int32_t> m, const hard_lines hard,
                               std::uint32_t* next, const site_sink to) {
    extern __shared__ packed_point points[];
    const int count = *hard.count;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const std::int64_t tile = hard.list[nth], outer = quotient(tile, lines.columns);
        const site_target<End, 1> target =
            target_of_words<End>(lines, m, next, to, outer, static_cast<std::int32_t>(tile - outer * lines.columns));
        const std::int32_t bit = target.x % cuda::warp;
        const site_of_word line(lines.words + tile * lines.rows, bit, target.x, m);
        search_lines<true>(
            points, static_cast<int>(lines.rows), 1, line,
            [&](int q, std::int32_t value, std::int32_t key) { target.put_key(q, value, key); });
        __syncthreads();
    }
}

template <ending End>
__global__ void __launch_bounds__(short_threads)
    search_hard_sites_of_state(const pass g, const metric<std::int32_t> m, const std::uint32_t* cells,
                               const hard_lines hard, const site_sink to) {
    extern __shared__ packed_point points[];
    const int count = *hard.count;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const std::int64_t mine = static_cast<std::int64_t>(hard.list[nth]) * cuda::warp + threadIdx.x;
        const site_target<End, 2> target = target_of_state<End>(g, m, to, min(mine, g.columns - 1));
        const site_of_state line(cells + target.first, target);
        search_lines<true>(
            points, static_cast<int>(g.rows), 1, line,
            [&](int q, std::int32_t value, std::int32_t key) { target.put_key(q, value, key); });
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
