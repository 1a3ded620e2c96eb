// A strip of 32 rows between two pivots, whose winners are known. A warp takes it, or all warps of a block if winners
// are far apart, as at the centre of a circle of sites: row 16, rows 8 and 24, rows 4, 12,
// 20 and 28; then the three rows between two of these together, so that a candidate's key is decoded once for all
// three.
//
// If sites are few, as in Voronoi diagrams of seeds, lanes change their winners in different rows, so that each
// search took as long as its longest lane: between all rows of both winners. Such a strip lists its candidates first.
#pragma once

#include <cstdint>
#include <limits>

#include "exact/gpu/epilogue/put.cuh"
#include "exact/gpu/lines/pivots.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int leaf = 4;  // rows of a strip between two that are searched alone
constexpr int strip_slots = strip / leaf;

/// Shared memory of a block, in this order.
template <keys Stored>
struct tile_layout {
    using in = typename stored_key<Stored>::in;
    int rows;    ///< largest number of staged rows
    int strips;  ///< strips of a window
    bool is_long, few_lines;

    /// Returns the strips of a window whose first one this is, in a line of n rows.
    [[nodiscard]] __device__ int of_window(int first, int n) const {
        return min(strips, (n + strip - 1) / strip - first);
    }
    [[nodiscard]] __host__ __device__ int keys() const { return rows * cuda::warp * static_cast<int>(sizeof(in)); }
    /// Winners of strips; during the halving of pivots, the results of warps.
    [[nodiscard]] __host__ __device__ int slots() const {
        return line_warps * cuda::warp * (8 + 4 + static_cast<int>(sizeof(typename stored_key<Stored>::type)));
    }
    [[nodiscard]] __host__ __device__ int pivots() const {
        return (strips + 1) * cuda::warp * static_cast<int>(is_long ? sizeof(std::int32_t) : sizeof(std::int16_t));
    }
    [[nodiscard]] __host__ __device__ int least() const {
        return is_long ? 0 : strips * cuda::warp * static_cast<int>(sizeof(float));
    }
    [[nodiscard]] __host__ __device__ int bytes() const { return keys() + slots() + pivots() + least(); }
};

/// A lane's strip. Winners lie between those of both pivots; if winners are not ordered, `first` and `next` are the
/// ends of the line for all rows.
template <class C>
struct strip_of {
    int r0, first, next;
    std::uint16_t* slots;  ///< winners, relative to `first`: the lane's own of strip_slots * 32

    /// True if the slots hold the rows between and winners are ordered. Otherwise the strip is searched within its
    /// bounds only.
    bool narrows;

    /// Returns the lane's bytes of the slots, 32 apart, for a list instead of winners.
    [[nodiscard]] __device__ std::uint8_t* list() const {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
        return reinterpret_cast<std::uint8_t*>(slots - lane) + lane;
    }
    /// Stores a winner. The end of a row's run may lie one row before the winner of the pivot, which bounds all others.
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

/// Returns a bound of the values of a strip's rows, from the winners of both pivots. It is the larger of their values
/// at the ends of the strip and where they change places.
template <class C, class Keys>
__device__ typename C::V most_in_strip(const C& c, const Keys& at, const strip_of<C>& s, int last) {
    const auto key = at(s.first), next_key = at(s.next);
    const auto beside = c.beside(key, s.first), next_beside = c.beside(next_key, s.next);
    int from = 1;
#pragma unroll 1
    for (int step = strip / 2; step > 0; step /= 2) {
        const int m = s.r0 + from + step - 1;
        if (c.value(beside, m - s.first) < c.value(next_beside, m - s.next)) from += step;
    }
    const int change = s.r0 + from, before = min(change - 1, last);
    return max(max(c.value(beside, s.r0 - s.first), c.value(beside, before - s.first)),
               max(c.value(next_beside, change - s.next), c.value(next_beside, last - s.next)));
}

/// Lists the candidates of a strip, a byte each, in its slots; returns their number, or -1 if some lane has too many.
/// Called by one warp.
template <class C, class Keys>
__device__ int list_candidates(const C& c, const Keys& at, const strip_of<C>& s) {
    constexpr int together = 4, most_listed = 2 * strip_slots;
    if (!__all_sync(cuda::every_lane, s.narrows && s.next - s.first <= std::numeric_limits<std::uint8_t>::max()))
        return -1;
    const int last = min(s.r0 + strip, c.rows()) - 1;
    const auto most = most_in_strip(c, at, s, last);
    __syncwarp();  // the list has the memory of other lanes' winners
    int count = 0;
    for (int first = s.first; __any_sync(cuda::every_lane, first <= s.next); first += together) {
#pragma unroll
        for (int k = 0; k < together; ++k) {
            const int row = min(first + k, s.next);
            const auto beside = c.beside(at(row), row);
            const int away = max(max(s.r0 - row, row - last), 0);
            if (first + k > s.next || beside >= no_site<typename C::V>() || c.value(beside, away) > most) continue;
            if (count < most_listed) s.list()[count * cuda::warp] = static_cast<std::uint8_t>(row - s.first);
            ++count;
        }
        if (__any_sync(cuda::every_lane, count > most_listed)) return -1;
    }
    return count;
}

/// The warps that solve a strip: one, or all of a block, which share the candidates of each row.
template <class C>
struct warps_of_strip {
    int nth = 0, parts = 1;
    found_by_warps<C> found;  ///< of parts * (leaf - 1) warps; unused by one warp

    template <int Count>
    __device__ void join(const C& c, winner<typename C::V, typename C::K> (&best)[Count]) const {
        if (parts == 1) return;
#pragma unroll
        for (int i = 0; i < Count; ++i) found.keep(i * parts + nth, best[i]);
        __syncthreads();
        // One warp decides for all, which would meet equal values in different orders.
        if (nth == 0) {
#pragma unroll
            for (int i = 0; i < Count; ++i) found.join(c, i * parts, parts, best[i]), found.keep(i * parts, best[i]);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < Count; ++i) best[i] = found.kept(i * parts);
        __syncthreads();
    }
};

template <bool Last, class C, class Keys>
__device__ void solve_strip(const C& c, const Keys& at, const float* least, const strip_of<C>& s,
                            const warps_of_strip<C>& by, bool write) {
    using found = winner<typename C::V, typename C::K>;
    const int r0 = s.r0, n = c.rows();
    const run_word runs(c, r0 / mark_bits);
    const store_of<C, Last> store(c);
    listed_rows listed;
    if constexpr (!C::labels) {
        listed = {s.list(), s.first, list_candidates(c, at, s)};
        if (listed.count < 0) listed.rows = nullptr;
    }
    const bool keeps = s.narrows && listed.rows == nullptr;
    __syncwarp();
    // Row r0 is a pivot, so its winner's row is known.
#pragma unroll 1
    for (int step = strip; step >= leaf; step /= 2) {
#pragma unroll 1
        for (int i = step % strip; i < strip; i += 2 * step) {
            found best[1] = {{top<typename C::V>(), 0, s.next}};
            if (r0 + i < n) {
                const int low = s.known(i == 0 ? 0 : i - step, true),
                          high = i == 0 && s.narrows ? low : s.known(min(i + step, strip), false);
                search<1>(c, at, least, {r0 + i, low, high, {runs.of(r0 + i)}, listed, by.nth, by.parts}, best);
                by.join(c, best);
                if (write) store(r0 + i, 1, best);
            }
            if (keeps && i > 0) s.keep(i, best[0].row);
        }
    }
#pragma unroll 1
    for (int i = 0; i < strip && r0 + i < n; i += leaf) {
        searched_rows<leaf - 1> rows{r0 + i + 1, s.known(i, true), s.known(i + leaf, false), {}, listed,
                                     by.nth,     by.parts};
#pragma unroll
        for (int k = 0; k < leaf - 1; ++k) rows.ends[k] = runs.of(r0 + i + 1 + k);
        found best[leaf - 1];
        search<leaf - 1>(c, at, least, rows, best);
        by.join(c, best);
        if (write) store(r0 + i + 1, n - (r0 + i + 1), best);
    }
}

}  // namespace
}  // namespace nearfield::exact::gpu
