// Strips of 32 rows between two pivots, a warp each: rows 16; 8, 24; 4, 12, 20, 28; then the three rows between two of
// these at once, so that a candidate's key is decoded once for all of them.
#pragma once

#include "exact/gpu/epilogue/put.cuh"
#include "exact/gpu/lines/pivots.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int leaf = 4;  // rows of a strip from one that is searched alone to the next
constexpr int strip_slots = strip / leaf;

/// A lane's strip. Winners lie between those of both pivots; where winners are not ordered, `first` and `next` are the
/// ends of the line for all of its rows.
template <class C>
struct strip_of {
    int r0, first, next;
    std::uint16_t* slots;  ///< winners, relative to `first`: strip_slots * 32, of the lane

    /// Whether the slots hold the rows between, and winners are ordered: else the strip is searched within its bounds
    /// alone.
    bool narrows;

    /// An end of a row's run may lie one row before the winner of the pivot, which bounds all others.
    __device__ void keep(int i, int row) const {
        slots[i / leaf * cuda::warp] = static_cast<std::uint16_t>(max(row - first, 0));
    }
    [[nodiscard]] __device__ int known(int i, bool low) const {
        if (i == 0) return first;
        if (i == strip) return next;
        if (!narrows) return low ? first : next;
        return first + slots[i / leaf * cuda::warp];
    }
};

template <bool Last, class C, class Keys>
__device__ void solve_strip(const C& c, const Keys& at, const float* least, const strip_of<C>& s, bool write) {
    using found = winner<typename C::V, typename C::K>;
    const int r0 = s.r0, n = c.rows();
    const run_word runs(c, r0 / mark_bits);
    const store_of<C, Last> store(c);
    // Row r0 is a pivot, of which the winner's row is known.
#pragma unroll 1
    for (int step = strip; step >= leaf; step /= 2) {
#pragma unroll 1
        for (int i = step % strip; i < strip; i += 2 * step) {
            found best[1] = {{top<typename C::V>(), 0, s.next}};
            if (r0 + i < n) {
                const int low = s.known(i == 0 ? 0 : i - step, true),
                          high = i == 0 && s.narrows ? low : s.known(min(i + step, strip), false);
                search<1>(c, at, least, {r0 + i, low, high, {runs.of(r0 + i)}}, best);
                if (write) store(r0 + i, 1, best);
            }
            if (s.narrows && i > 0) s.keep(i, best[0].row);
        }
    }
#pragma unroll 1
    for (int i = 0; i < strip && r0 + i < n; i += leaf) {
        searched_rows<leaf - 1> rows{r0 + i + 1, s.known(i, true), s.known(i + leaf, false), {}};
#pragma unroll
        for (int k = 0; k < leaf - 1; ++k) rows.ends[k] = runs.of(r0 + i + 1 + k);
        found best[leaf - 1];
        search<leaf - 1>(c, at, least, rows, best);
        if (write) store(r0 + i + 1, n - (r0 + i + 1), best);
    }
}

}  // namespace
}  // namespace nearfield::exact::gpu
