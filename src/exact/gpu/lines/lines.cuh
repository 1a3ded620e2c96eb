// One further axis of any problem, exactly: for every number type, class rule and kind of ends.
//
// A block has a tile of 32 neighbouring lines, whose keys it stages in shared memory. The winners of pivot rows bound
// those of the strips between them (pivots.cuh). If lines are longer than a block stages, a separate kernel finds the
// pivots first, and blocks have windows of rows. These kernels serve everything and never decline.
//
// Cost: about two candidates per row and level; 2 to 8 bytes a cell are read, 4 or 8 or the fields are written.
// Workspace of long lines: 8 bytes for each 32 rows.
// Monotone winners: Felzenszwalb and Huttenlocher, "Distance transforms of sampled functions", Theory of Computing 8,
// 2012; Aggarwal, Klawe, Moran, Shor, Wilber, "Geometric applications of a matrix-searching algorithm", Algorithmica
// 2, 1987.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "exact/gpu/lines/near.cuh"
#include "exact/gpu/lines/near_powers.cuh"
#include "exact/gpu/lines/strips.cuh"
#include "exact/gpu/lines/values.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int staged_bytes = 64 << 10;
constexpr int far_apart = 512;  // rows between the winners of a strip's pivots from which on a block shares it
template <keys Stored>
constexpr int staged_rows = staged_bytes / cuda::warp / static_cast<int>(sizeof(typename stored_key<Stored>::in));
template <keys Stored>
constexpr int window_rows = Stored == keys::narrow ? 512 : 256;
constexpr int line_threads = line_warps * cuda::warp;
constexpr int pivot_warps = 16;  // warps of a block that finds the pivots of long lines

/// True if winners of rows bound each other; for a power diagram in double the values decide.
template <class V>
__device__ bool is_ordered(const line_pass<V>& g) {
    if (g.rounds)
        return rows_ordered(g.largest + static_cast<double>(g.extremes[1]), static_cast<double>(g.m.weight[g.axis]));
    return g.ordered;
}

constexpr int pivots_together = 512;  // pivots of a line that a block finds; longer lines have a block for each span
/// Returns the number of blocks that find the pivots of 32 lines.
inline int pivot_blocks(std::int64_t rows) { return static_cast<int>(blocks_for(rows, strip * pivots_together)); }

/// Flags of very long lines, one per block: some pivot is not near.
template <class V>
__device__ std::int32_t* far_spans(const line_pass<V>& g, std::int64_t tile, int blocks) {
    return g.far + (g.columns + cuda::warp - 1) / cuda::warp + tile * blocks;
}

/// Finds the pivots of lines that are longer than a block stages, 32 lines per block. For very long lines a block has a
/// span: it finds the near pivots, and stores the least values; called again (`halves`), it finds the remaining pivots.
template <class V, keys Stored, rule Rule, bool Bent, bool Values>
__global__ void __launch_bounds__(pivot_warps* cuda::warp)
    find_pivots(const __grid_constant__ line_pass<V> g, int blocks, bool halves) {
    using C = column<V, Stored, Rule, Bent, Values>;
    __shared__ std::uint64_t memory[pivot_warps * found_by_warps<C>::bytes / 8];
    if (are_few(g.many) || is_solved(g) || !is_ordered(g)) return;
    const std::int64_t tile = blockIdx.x / blocks;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, strips = (g.rows + strip - 1) / strip;
    const C c(g, tile * cuda::warp + lane);
    const left_strips left(g.left, g.rows, tile);
    const pivot_rows<C, std::int32_t> to{c, g.pivots + tile * (strips + 1) * cuda::warp + lane};
    float* const least = g.least + tile * strips * cuda::warp + lane;
    const int mine = static_cast<int>(blockIdx.x - tile * blocks), first = mine * pivots_together,
              count = mine + 1 == blocks ? strips - first : pivots_together;
    std::int32_t& is_far = blocks == 1 ? g.far[tile] : far_spans(g, tile, blocks)[mine];
    if (!halves) {
        const int most = left.few(g.rows) ? few_near_reach : near_reach;
        const auto wanted = [&](int j) { return (j < strips && left(j)) || (j > 0 && left(j - 1)); };
        const int end = mine + 1 == blocks ? to.count() : first + count;
        const bool near = solve_near_pivots(to, far_keys<C>{c}, first, end, most, wanted);
        if (threadIdx.x == 0) is_far = near ? 0 : 1;
        if (blocks > 1 && mine == 0 && threadIdx.x == 0) g.far[tile] = 1;
        if (blocks == 1 && near) return;
        note_least(to, far_keys<C>{c}, least, first, end);
        if (blocks > 1) return;
    } else if (is_far == 0) {
        return;
    }
    halve_pivots(to, far_keys<C>{c}, least, {first, count, c.joined() && first + count == strips ? 0 : first + count},
                 found_by_warps<C>(memory, pivot_warps));
}

/// A block's tile: 32 lines, or of long lines a window whose pivots are known.
template <class C, keys Stored, bool Last>
class line_tile {
    using in = typename C::in;
    static constexpr int beyond = C::labels ? 1 : 0;  ///< rows from the winners of pivots to where runs may end

public:
    __device__ line_tile(const C& c, unsigned char* memory, const tile_layout<Stored>& layout, std::int64_t tile,
                         int window)
        : c_(c),
          layout_(layout),
          tile_(tile),
          from_(window * layout.strips * strip),
          keys_(reinterpret_cast<in*>(memory)),
          slots_(memory + layout.keys()),
          pivots_(slots_ + layout.slots()),
          least_(reinterpret_cast<float*>(pivots_ + layout.pivots())) {}

    __device__ void solve(bool ordered) {
        const int n = c_.rows(), to = min(from_ + layout_.strips * strip, n),
                  strips = layout_.of_window(from_ / strip, n), all_strips = (n + strip - 1) / strip;
        left_ = left_strips(c_.g.left, n, tile_).mask(from_ / strip, strips);
        int base = 0, rows = n;
        const float* least = nullptr;
        const std::int32_t* known = c_.g.pivots + (tile_ * (all_strips + 1) + from_ / strip) * cuda::warp + lane_;
        if (layout_.is_long && ordered) {
            const int first = __ffs(static_cast<int>(left_)) - 1, last = 32 - __clz(static_cast<int>(left_));
            base = min(__reduce_min_sync(cuda::every_lane, known[first * cuda::warp]), from_ + first * strip) - beyond;
            rows = max(__reduce_max_sync(cuda::every_lane, known[last * cuda::warp]) + 1 + beyond,
                       min(from_ + last * strip, to));
            if (!c_.joined()) base = max(base, 0), rows = min(rows, n);
            rows -= base;
            if (c_.g.far[tile_] != 0) least = c_.g.least + tile_ * all_strips * cuda::warp + lane_;
        }
        const bool staged = rows <= min(layout_.rows, n);
        const bool some = __syncthreads_or(!staged || stage(base, rows)) != 0;
        if (rows == n && !some) return write_none(strips, ordered);
        const keys_of_line<C> at{staged ? keys_ + lane_ : static_cast<const in*>(c_.g.from) + c_.cell(0),
                                 staged ? cuda::warp : c_.g.inner, staged ? base : 0, c_};
        auto* const pivots = reinterpret_cast<std::int16_t*>(pivots_) + lane_;
        if (!layout_.is_long && ordered) {
            const auto wanted = [&](int j) {
                return (j < strips && (left_ >> j & 1) != 0) || (j > 0 && (left_ >> (j - 1) & 1) != 0);
            };
            if (solve_pivots(pivot_rows<C, std::int16_t>{c_, pivots}, at, least_ + lane_,
                             found_by_warps<C>(slots_, line_warps), near_reach, wanted))
                least = least_ + lane_;
        }
        if (threadIdx.x == 0) count(ordered, least != nullptr);
        const auto winner_of = [&](int j) {
            return layout_.is_long ? known[j * cuda::warp] : static_cast<int>(pivots[j * cuda::warp]);
        };
        solve_strips(at, least, strips, winner_of, ordered, ordered && !staged);
    }

private:
    /// Counts the window's strips for a trace.
    __device__ void count(bool ordered, bool halved) const {
        const rung which = !ordered ? rung::plain : c_.g.again ? rung::again : halved ? rung::halving : rung::strips;
        count_solved(c_.g.solved, which, __popc(left_));
        if (layout_.few_lines) count_solved(c_.g.solved, rung::windows, __popc(left_));
    }
    /// Stages rows; returns false if none of those that a thread reads may have a site.
    [[nodiscard]] __device__ bool stage(int base, int rows) {
        // The bits of a key of 16 bits, twice, or of 32 bits, that are set where there is no site.
        constexpr std::uint32_t none = Stored == keys::value ? no_site<std::int32_t>()
                                       : sizeof(in) == 2     ? 0x80008000u
                                                             : 0x80000000u;
        std::uint32_t all = C::labels || sizeof(in) == 8 ? 0 : ~0u;
        constexpr int chunk = 16 / sizeof(in), chunks = cuda::warp / chunk;
        const auto* const source = static_cast<const in*>(c_.g.from);
        const auto row_of = [&](int i) { return c_.row_in(base + i); };
        if (c_.g.inner % cuda::warp == 0) {
            const std::int64_t first = c_.cell(0) - lane_;
            for (int i = static_cast<int>(threadIdx.x); i < rows * chunks; i += threads_) {
                const uint4 u = __ldg(reinterpret_cast<const uint4*>(source + first + row_of(i / chunks) * c_.g.inner +
                                                                     i % chunks * chunk));
                reinterpret_cast<uint4*>(keys_)[i] = u, all &= u.x & u.y & u.z & u.w;
            }
        } else {
            for (int i = warp_; i < rows; i += threads_ / cuda::warp) {
                const in key = source[c_.cell(row_of(i))];
                keys_[i * cuda::warp + lane_] = key, all &= static_cast<std::uint32_t>(key);
            }
        }
        return (all & none) != none;
    }
    /// Writes rows of lines without sites.
    __device__ void write_none(int strips, bool ordered) const {
        if (threadIdx.x == 0) count(ordered, false);
        if (tile_ * cuda::warp + lane_ >= c_.g.columns) return;
        const store_of<C, Last> store(c_);
        for (int i = warp_; i < strips * strip && from_ + i < c_.rows(); i += threads_ / cuda::warp) {
            const winner<typename C::V, typename C::K> none[1] = {
                {no_site<typename C::V>(), no_key<typename C::K>, from_ + i}};
            if ((left_ >> i / strip & 1) != 0) store(from_ + i, 1, none);
        }
    }

    /// Solves strips, whose costs differ: a warp that is done takes the next. Where keys are not staged (`joins`), all
    /// warps then solve the strips together whose winners are far apart, and keep their results where keys would be.
    template <class Keys, class WinnerOf>
    __device__ void solve_strips(const Keys& at, const float* least, int strips, const WinnerOf& winner_of,
                                 bool ordered, bool joins) {
        __shared__ int taken;
        __shared__ std::uint32_t wide;
        const int warps = threads_ / cuda::warp;
        if (threadIdx.x == 0) taken = warps, wide = 0;
        __syncthreads();
        auto* const slots = reinterpret_cast<std::uint16_t*>(slots_) + warp_ * strip_slots * cuda::warp + lane_;
        warps_of_strip<C> by{0, 1, found_by_warps<C>(keys_, warps * (leaf - 1))};
        std::uint32_t rest = 0;
        for (int j = warp_;; j = __shfl_sync(cuda::every_lane, lane_ == 0 ? atomicAdd(&taken, 1) : 0, 0)) {
            if (by.parts == 1 && j >= strips) {
                if (!joins) return;
                __syncthreads();
                by.nth = warp_, by.parts = warps, rest = wide;
                if (threadIdx.x == 0) count_solved(c_.g.solved, rung::shared, __popc(wide));
            }
            if (by.parts > 1) {
                if (rest == 0) return;
                j = __ffs(static_cast<int>(rest)) - 1, rest &= rest - 1;
            }
            if ((left_ >> j & 1) == 0) continue;
            strip_of<C> s{from_ + j * strip, c_.joined() ? -c_.rows() : 0,
                          c_.joined() ? 2 * c_.rows() - 1 : c_.rows() - 1, slots, ordered};
            if (ordered) s.first = winner_of(j), s.next = winner_of(j + 1);
            const int apart = s.next - s.first;
            s.narrows = ordered && apart <= std::numeric_limits<std::uint16_t>::max();
            if (joins && by.parts == 1 && __any_sync(cuda::every_lane, apart >= far_apart)) {
                if (lane_ == 0) atomicOr(&wide, 1u << j);
                continue;
            }
            const bool write = by.nth == 0 && tile_ * cuda::warp + lane_ < c_.g.columns;
            solve_strip<Last>(c_, at, least, s, by, write);
        }
    }

    const C& c_;
    tile_layout<Stored> layout_;
    std::int64_t tile_;
    std::uint32_t left_ = 0;  ///< strips of the window that are still to be solved
    int from_, lane_ = static_cast<int>(threadIdx.x) % cuda::warp, warp_ = static_cast<int>(threadIdx.x) / cuda::warp;
    int threads_ = static_cast<int>(blockDim.x);
    in* keys_;
    unsigned char *slots_, *pivots_;
    float* least_;
};

template <class V, keys Stored, rule Rule, bool Bent, bool Values, bool Last>
__global__ void __launch_bounds__(line_threads, Stored == keys::narrow ? 4
                                                : Stored == keys::word ? 3
                                                                       : 2)
    solve_lines(const __grid_constant__ line_pass<V> g, const tile_layout<Stored> layout, int windows) {
    extern __shared__ uint4 line_memory[];
    using C = column<V, Stored, Rule, Bent, Values>;
    if (are_few(g.many) || is_solved(g)) return;
    const bool ordered = is_ordered(g);
    const auto is_left = [&](std::int64_t nth) {
        const int first = static_cast<int>(nth % windows) * layout.strips;
        return left_strips(g.left, g.rows, nth / windows).mask(first, layout.of_window(first, g.rows)) != 0;
    };
    each_left((g.columns + cuda::warp - 1) / cuda::warp * windows, is_left, [&](std::int64_t nth) {
        const std::int64_t tile = nth / windows;
        if (Last && C::clamps && is_in_vain(g)) return;
        const C c(g, tile * cuda::warp + static_cast<int>(threadIdx.x) % cuda::warp);
        line_tile<C, Stored, Last>(c, reinterpret_cast<unsigned char*>(line_memory), layout, tile,
                                   static_cast<int>(nth % windows))
            .solve(ordered);
    });
}

/// Launches the kernels of a pass.
template <class V, keys Stored, rule Rule, bool Bent, bool Values>
class line_launch {
public:
    line_launch(const device& on, const line_pass<V>& g) : on_(on), g_(g), tiles_(blocks_for(g.columns, cuda::warp)) {}

    /// Returns whether near windows were searched.
    bool solve(const line_form& how) {
        if (!how.after_windows && !begin(how)) g_.left = nullptr;
        if (how.only_windows) return g_.left != nullptr;
        const int staged = most_staged();
        // Few lines leave multiprocessors without a tile, so they are searched in windows too.
        const bool windowed = g_.rows > left_rows && 2 * tiles_ <= cuda::limits().multiprocessors,
                   is_long = g_.rows > staged || windowed;
        if (is_long && g_.ordered) {
            const int blocks = pivot_blocks(g_.rows);
            const dim3 threads(pivot_warps * cuda::warp);
            cuda::launch(on_, find_pivots<V, Stored, Rule, Bent, Values>, tiles_ * blocks, threads, 0, g_, blocks,
                         false);
            if (blocks > 1)
                cuda::launch(on_, find_pivots<V, Stored, Rule, Bent, Values>, tiles_ * blocks, threads, 0, g_, blocks,
                             true);
        }
        const int window = g_.rows > staged ? window_rows<Stored> : windowed ? left_rows : g_.rows;
        const tile_layout<Stored> layout{std::min(g_.rows, staged), (window + strip - 1) / strip, is_long, windowed};
        const int windows = static_cast<int>(blocks_for(g_.rows, window));
        // If there are few rows, use no more warps than strips, a power of two.
        const auto warps = std::min<unsigned>(std::bit_ceil(static_cast<unsigned>(layout.strips)), line_warps);
        auto* kernel = solve_lines<V, Stored, Rule, Bent, Values, true>;
        if constexpr (Stored != keys::row)
            if (!how.last) kernel = solve_lines<V, Stored, Rule, Bent, Values, false>;
        cuda::launch(on_, kernel, blocks_for_left(tiles_ * windows, g_.left != nullptr), dim3(warps * cuda::warp),
                     static_cast<std::size_t>(layout.bytes()), g_, layout, windows);
        return g_.left != nullptr;
    }

private:
    /// Searches the near windows and marks the ends of runs; returns false if the axis has no windows.
    [[nodiscard]] bool begin(const line_form& how) const {
        if constexpr (std::is_same_v<V, std::int64_t> || Stored == keys::wide) return mark_ends(), false;
        else if constexpr (Rule == rule::powers) return search_powers<V, Stored>(on_, g_, how.last);
        else return search_windows(how);
    }
    [[nodiscard]] bool search_windows(const line_form& how) const {
        near_plan plan;
        constexpr bool integers = std::is_same_v<V, std::int32_t>;
        if constexpr (is_position(Stored) || Stored == keys::value) {
            if (how.values) {
                value_plan two;
                // Most windows of signed fields have a cell that is farther than a small reach.
                constexpr int small = 64;
                if constexpr (integers)
                    plan.goes_on = plan_values(how, g_, two) &&
                                   !(g_.by_zero && two.reach < std::min(small, g_.rows - 1)) &&
                                   search_values<Stored, Rule>(on_, how, g_, two);
                if constexpr (Stored == keys::row) mark_ends();
                // Windows of one value a word follow if they reach much farther.
                bool searched = plan.goes_on;
                if (!searched || 5 * std::min(near_most, g_.rows - 1) >= 6 * two.reach)
                    searched = search_near<V, Stored, Rule, true, false>(on_, g_, plan, how.last) || searched;
                // Larger values follow if they reach farther and if roots are not fast anyway.
                const int farthest = std::min(near_most, g_.periodic ? g_.rows / 2 : g_.rows - 1);
                if (searched && 0 < plan.reach && plan.reach < farthest && (!how.last || g_.out.out.unit == 0)) {
                    near_plan large;
                    large.goes_on = true, large.most = 1 << 29;
                    search_near<V, Stored, Rule, true, false>(on_, g_, large, how.last);
                }
                // Columns that windows have solved need no marks.
                if constexpr (Stored != keys::row) mark_ends(searched ? g_.left : nullptr);
                return searched;
            }
        }
        mark_ends();
        constexpr bool any_ends = integers ? Stored != keys::value : Stored == keys::row;
        if constexpr ((any_ends && (!Bent || Rule == rule::plain)) || (is_position(Stored) && !Bent))
            if (how.whole) return search_near<V, Stored, Rule, Bent, true>(on_, g_, plan, how.last);
        return false;
    }
    /// Marks the ends of runs, of all columns or of those with strips that are left.
    void mark_ends(const std::uint8_t* left = nullptr) const {
        if constexpr (Rule == rule::labels) {
            marked to = g_.ends;
            to.left = left, to.unsolved = left != nullptr ? g_.unsolved : g_.many;
            mark_lines(on_, {g_.image, g_.image_bytes, g_.floating}, g_.by_zero ? mark::zero_changes : mark::changes,
                       to);
        }
    }
    /// Returns the rows that a block stages: fewer on GPUs with little shared memory.
    [[nodiscard]] static int most_staged() {
        int rows = staged_rows<Stored>;
        while (static_cast<std::size_t>(tile_layout<Stored>{rows, (rows + strip - 1) / strip, false, false}.bytes()) >
               cuda::limits().shared_bytes)
            rows /= 2;
        return rows;
    }

    const device& on_;
    line_pass<V> g_;
    std::int64_t tiles_;
};

/// Power diagrams, wide keys, which occur with 64-bit numbers only, and plain sites of long rows use the general
/// kernels for straight distances too.
template <class V>
bool solve_pass(const device& on, const line_form& how, const line_pass<V>& g) {
    const bool bent = how.bent || how.clamps;
    const auto with_keys = [&]<rule Rule>() {
        const auto go = [&]<keys Stored, bool Bent, bool Values = false>() {
            return line_launch<V, Stored, Rule, Bent, Values>(on, g).solve(how);
        };
        if constexpr (std::is_same_v<V, std::int32_t>)
            if (how.stored == keys::narrow && how.values)
                return bent ? go.template operator()<keys::narrow, true, true>()
                            : go.template operator()<keys::narrow, false, true>();
        if constexpr (std::is_same_v<V, double> && Rule != rule::powers)
            if (how.stored == keys::row) {
                if constexpr (Rule == rule::labels)
                    if (!bent) return go.template operator()<keys::row, false>();
                return go.template operator()<keys::row, true>();
            }
        if constexpr (!std::is_same_v<V, std::int64_t>) {
            if constexpr (Rule != rule::powers) {
                if (how.stored == keys::narrow && !bent) return go.template operator()<keys::narrow, false>();
                if (how.stored == keys::word && !bent) return go.template operator()<keys::word, false>();
            }
            if (how.stored == keys::narrow) return go.template operator()<keys::narrow, true>();
            if (how.stored == keys::word) return go.template operator()<keys::word, true>();
        }
        if constexpr (std::is_same_v<V, std::int32_t>)
            if (how.stored == keys::value)
                return bent ? go.template operator()<keys::value, true>()
                            : go.template operator()<keys::value, false>();
        return go.template operator()<keys::wide, true>();
    };
    if (how.by == rule::plain) return with_keys.template operator()<rule::plain>();
    if (how.by == rule::labels) return with_keys.template operator()<rule::labels>();
    if constexpr (!std::is_same_v<V, std::int32_t>) return with_keys.template operator()<rule::powers>();
    return false;
}

}  // namespace
}  // namespace nearfield::exact::gpu
