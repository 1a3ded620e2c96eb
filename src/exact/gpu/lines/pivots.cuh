// Winners of pivot rows: every 32nd row and, as the last pivot, the last row or, if the ends of a line are joined, the
// first row again.
//
// If winners are near, a warp finds each one directly. Otherwise pivots are halved, level by level: a row is searched
// between two known winners. If a level has fewer rows than warps, several warps share the candidates of a row.
#pragma once

#include "exact/gpu/lines/search.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int strip = 32;            // rows from a pivot to the next
constexpr int near_reach = 64;       // distance in rows to winners that need no halving
constexpr int few_near_reach = 256;  // the same if few unresolved strips remain
constexpr int line_warps = 8;

constexpr int left_rows = 256;  // rows whose strips share a word of unresolved strips

/// True if a search in 32 bits has met a cell that needs double, so that all are solved again. Called by a whole block.
template <class V>
__device__ bool is_in_vain(const line_pass<V>& g) {
    return g.out.beyond != nullptr && __syncthreads_or(*static_cast<const volatile std::int32_t*>(g.out.beyond)) != 0;
}

/// Strips of a tile to be solved: those that near windows left unresolved, or all.
struct left_strips {
    const std::uint8_t* words = nullptr;

    __device__ left_strips(const std::uint8_t* left, int rows, std::int64_t tile) {
        if (left != nullptr) words = left + tile * ((rows + left_rows - 1) / left_rows);
    }
    __device__ bool operator()(int j) const {
        return words == nullptr || (words[j * strip / left_rows] >> j % (left_rows / strip) & 1) != 0;
    }
    /// True if at most a quarter of the line's strips are to be solved. Called by one warp.
    [[nodiscard]] __device__ bool few(int rows) const {
        if (words == nullptr) return false;
        int count = 0;
        for (int w = static_cast<int>(threadIdx.x) % cuda::warp; w * left_rows < rows; w += cuda::warp)
            count += __popc(words[w]);
        return __reduce_add_sync(cuda::every_lane, count) * 4 * strip <= rows;
    }
    /// Returns a bit for each of at most 32 strips from `first` on, a multiple of 8.
    [[nodiscard]] __device__ std::uint32_t mask(int first, int count) const {
        const std::uint32_t all = count < 32 ? (1u << count) - 1 : ~0u;
        if (words == nullptr) return all;
        constexpr int of_word = left_rows / strip;
        std::uint64_t bits = 0;
        for (int w = first / of_word; w * of_word < first + count; ++w)
            bits |= static_cast<std::uint64_t>(words[w]) << (w - first / of_word) * of_word;
        return all & static_cast<std::uint32_t>(bits >> first % of_word);
    }
};

/// Pivots of 32 neighbouring lines, one per lane, in shared or global memory.
template <class C, class Row>
struct pivot_rows {
    const C& c;
    Row* winners;  ///< winner of pivot j at winners[j * 32], in the lane's line

    [[nodiscard]] __device__ int strips() const { return (c.rows() + strip - 1) / strip; }
    /// Returns the number of pivots to solve; a joined line has one more, which follows from the first.
    [[nodiscard]] __device__ int count() const { return strips() + (c.joined() ? 0 : 1); }
    [[nodiscard]] __device__ int row(int j) const { return min(j * strip, c.rows() - 1); }
    [[nodiscard]] __device__ int winner_of(int j) const { return winners[j * cuda::warp]; }
    __device__ void put(int j, int row) const {
        winners[j * cuda::warp] = static_cast<Row>(row);
        if (c.joined() && j == 0) winners[strips() * cuda::warp] = static_cast<Row>(row + c.rows());
    }
};

/// Returns the largest distance of the winner of row m, in rows, from candidates a few rows on either side.
template <class C, class Keys>
__device__ int reach_of(const C& c, const Keys& at, int m, int most) {
    auto least = min(c.beside(at(m), m), c.g.limit);
    for (int away = 16; away <= most; away *= 2)
        for (int r = m - away; r <= m + away; r += 2 * away)
            if (c.joined() ? away <= c.rows() / 2 : 0 <= r && r < c.rows())
                least = min(least, c.value(c.beside(at(r), r), away));
    return c.reach(least);
}

/// Finds a pivot's winner among all rows up to `most` away; returns false if it may be farther in some lane.
template <class C, class Row, class Keys>
__device__ bool solve_near_pivot(const pivot_rows<C, Row>& to, const Keys& at, int j, int most = near_reach) {
    const C& c = to.c;
    const int m = to.row(j);
    const int reach = reach_of(c, at, m, most);
    if (__any_sync(cuda::every_lane, reach > most)) return false;
    searched_rows<1> rows{m, m - reach, m + reach, {run_word(c, m / mark_bits).of(m)}};
    if (!c.joined()) rows.low = max(rows.low, 0), rows.high = min(rows.high, c.rows() - 1);
    winner<typename C::V, typename C::K> best[1];
    search<1>(c, at, nullptr, rows, best);
    to.put(j, best[0].row);
    return true;
}

/// Returns the least value of a group of a line's rows, rounded down.
template <class C, class Keys>
__device__ float least_of_group(const C& c, const Keys& at, int nth) {
    auto value = no_site<typename C::V>();
    const int end = min(nth * group + group, c.rows());
#pragma unroll 4
    for (int r = nth * group; r < end; ++r) value = min(value, c.beside(at(r), r));
    return lower_bound(value);
}

/// A span of neighbouring pivots that are halved together: first to first + count.
struct pivot_span {
    int first, count;
    int last;  ///< first + count, or 0 where a joined line ends
};

/// A level of the halving: level 0 is the first pivot, level 1 the last one, level 2 the middle one, and so on.
struct pivot_level {
    int number, step, jobs;

    __device__ pivot_level(int number_, const pivot_span& of) : number(number_), step(1), jobs(1) {
        if (number < 2) {
            jobs = number == 1 && of.last == of.first ? 0 : 1;
            return;
        }
        while (step < of.count) step *= 2;
        step >>= number - 1;
        jobs = step == 0 ? 0 : (of.count + step - 1) / (2 * step);
    }
    [[nodiscard]] __device__ int pivot(int job, const pivot_span& of) const {
        return number == 0 ? of.first : number == 1 ? of.last : of.first + step * (2 * job + 1);
    }
};

/// Returns the number of levels for `count` pivots.
__device__ inline int pivot_levels(int count) {
    int levels = 2;
    for (int step = 1; step < count; step *= 2) ++levels;
    return levels;
}

/// Scratch of a block, in which warps that share a row store their results: `found_bytes` per warp.
template <class C>
struct found_by_warps {
    typename C::V* values;
    typename C::K* keys;
    int* rows;

    static constexpr int bytes = cuda::warp * static_cast<int>(sizeof(typename C::V) + sizeof(typename C::K) + 4);
    __device__ explicit found_by_warps(void* memory, int warps)
        : values(static_cast<typename C::V*>(memory)),
          keys(reinterpret_cast<typename C::K*>(values + warps * cuda::warp)),
          rows(reinterpret_cast<int*>(keys + warps * cuda::warp)) {}

    using found = winner<typename C::V, typename C::K>;
    __device__ void keep(int warp, const found& best) const {
        const int at = slot(warp);
        values[at] = best.value, keys[at] = best.key, rows[at] = best.row;
    }
    [[nodiscard]] __device__ found kept(int warp) const {
        const int at = slot(warp);
        return {values[at], keys[at], rows[at]};
    }
    /// Compares the result of a warp with those of the parts - 1 behind it.
    __device__ void join(const C& c, int warp, int parts, found& best) const {
        for (int i = 1; i < parts; ++i) {
            const found other = kept(warp + i);
            if (other.value >= no_site<typename C::V>()) continue;
            // Parts are not in the order of rows.
            const bool equal = other.value == best.value && other.key == best.key;
            if (equal && !c.joined()) best.row = min(best.row, other.row);
            else consider(c, best, other.value, other.key, other.row);
        }
    }

private:
    [[nodiscard]] __device__ static int slot(int warp) {
        return warp * cuda::warp + static_cast<int>(threadIdx.x) % cuda::warp;
    }
};

/// Returns the largest distance of the winner of row m, in rows, from the least values of the groups round it: a group
/// has a site that costs its least value and at most the way to the group's far end.
template <class C>
__device__ int reach_by_groups(const C& c, const float* least, int m) {
    constexpr int most_away = 64;
    const int groups = (c.rows() + group - 1) / group;
    float most = endless();
    for (int away = 0; away <= most_away && c.nearly((away - 1) * group) <= most; ++away)
        for (const int at : {m / group - away, m / group + away}) {
            const int in = c.joined() && groups > most_away ? wrapped(at, groups) : at;
            if (in < 0 || in >= groups) continue;
            // One group more, because at joined ends one group is shorter.
            const float way = upper_bound(c.term(min((away + 2) * group, c.rows() - 1)));
            most = fminf(most, least[in * cuda::warp] + way);
        }
    most += fabsf(most) * 1e-5f;
    if (!(most < static_cast<float>(no_site<typename C::V>()))) return far_away;
    return c.reach(static_cast<typename C::V>(most)) + 1;
}

/// Returns the bounds of the search of pivot j: the winners of the level before, or the reach by groups.
template <class C, class Row>
__device__ searched_rows<1> between_pivots(const pivot_rows<C, Row>& to, const float* least, const pivot_span& of,
                                           const pivot_level& level, int j) {
    const C& c = to.c;
    const int m = to.row(j);
    searched_rows<1> rows{m, 0, c.rows() - 1, {run_word(c, m / mark_bits).of(m)}};
    if (c.joined()) rows.low = m - c.rows() / 2, rows.high = m + c.rows() / 2;
    if (level.number >= 1 && j > 0) rows.low = to.winner_of(level.number == 1 ? of.first : j - level.step);
    if (level.number >= 2) {
        rows.high = to.winner_of(min(j + level.step, of.first + of.count));
    } else {
        const int reach = reach_by_groups(c, least, m);
        rows.low = max(rows.low, m - reach), rows.high = min(rows.high, m + reach);
    }
    return rows;
}

/// Solves the rows of a level from `job` on, as many as a block takes at once; called by all its warps.
template <class C, class Row, class Keys>
__device__ void solve_level(const pivot_rows<C, Row>& to, const Keys& at, const float* least, const pivot_span& of,
                            const pivot_level& level, int job, int parts, const found_by_warps<C>& found) {
    const C& c = to.c;
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const int mine = job + warp / parts, part = warp % parts, j = level.pivot(mine, of);
    winner<typename C::V, typename C::K> best[1];
    if (mine < level.jobs) {
        searched_rows<1> rows = between_pivots(to, least, of, level, j);
        rows.nth = part, rows.parts = parts;
        search<1>(c, at, least, rows, best);
        if (parts == 1) to.put(j, best[0].row);
    }
    if (parts == 1) return;
    __syncthreads();
    if (mine < level.jobs) found.keep(warp, best[0]);
    __syncthreads();
    if (mine >= level.jobs || part > 0) return;
    found.join(c, warp, parts, best[0]);
    to.put(j, best[0].row);
}

/// Finds the winners of those of a span's pivots that are `wanted`; called by all warps of a block. Returns false if
/// one of them is farther than `most` rows.
template <class C, class Row, class Keys, class Wanted>
__device__ bool solve_near_pivots(const pivot_rows<C, Row>& to, const Keys& at, int first, int end, int most,
                                  const Wanted& wanted) {
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp, warps = static_cast<int>(blockDim.x) / cuda::warp;
    bool near = true;
    for (int j = first + warp; j < end; j += warps)
        if (wanted(j) || (j == 0 && to.c.joined() && wanted(to.strips())))
            near = near && solve_near_pivot(to, at, j, most);
    return __syncthreads_or(!near) == 0;
}

/// Stores the least values of a line's groups of rows from `first` on.
template <class C, class Row, class Keys>
__device__ void note_least(const pivot_rows<C, Row>& to, const Keys& at, float* least, int first, int end) {
    static_assert(group == strip);
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp, warps = static_cast<int>(blockDim.x) / cuda::warp;
    for (int nth = first + warp; nth < min(end, to.strips()); nth += warps)
        least[nth * cuda::warp] = least_of_group(to.c, at, nth);
    __syncthreads();
}

/// Finds the winners of all pivots of a span by halving, from the least values of all the line's groups.
template <class C, class Row, class Keys>
__device__ void halve_pivots(const pivot_rows<C, Row>& to, const Keys& at, const float* least, const pivot_span& of,
                             const found_by_warps<C>& found) {
    const int warps = static_cast<int>(blockDim.x) / cuda::warp;
    for (int number = 0; number < pivot_levels(of.count); ++number) {
        const pivot_level level(number, of);
        int parts = 1;  // warps that share a row
        while (parts * 2 * level.jobs <= warps && parts * 2 <= warps) parts *= 2;
        for (int job = 0; job < level.jobs; job += warps / parts) {
            solve_level(to, at, least, of, level, job, parts, found);
            if (parts > 1) __syncthreads();
        }
        __syncthreads();
    }
}

/// Finds the winners of a line's pivots: directly if all that are `wanted` are near, else all of them by halving.
/// Returns true if it halved; `least` then has the least values.
template <class C, class Row, class Keys, class Wanted>
__device__ bool solve_pivots(const pivot_rows<C, Row>& to, const Keys& at, float* least, const found_by_warps<C>& found,
                             int most, const Wanted& wanted) {
    const int strips = to.strips();
    if (solve_near_pivots(to, at, 0, to.count(), most, wanted)) return false;
    note_least(to, at, least, 0, strips);
    halve_pivots(to, at, least, {0, strips, to.c.joined() ? 0 : strips}, found);
    return true;
}

}  // namespace
}  // namespace nearfield::exact::gpu
