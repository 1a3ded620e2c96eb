// The search outward along a line under any rules, up to 32 rows to either side: the nearest rows one by one, then,
// from nearest to farthest, only those that have a value, found in a bit mask. Sparse and dense lines are cheap alike.
//
// With a limit of so few cells that is the whole search, and the pass along the last axis needs no pass of its own: how
// far the nearest site is along it shows in three words of marks.
#pragma once

#include "exact/cuda_long.cuh"
#include "exact/cuda_options_common.cuh"

namespace nearfield::exact {
namespace {

constexpr int window_reach = 32;
// Rows to either side that are looked at without asking the mask first.
constexpr int direct_rows = 3;
// Values of a block's rows and of the window on either side stay in shared memory: 41 KB with 8 bands of 32 rows of
// int32, 49 KB with 4 of 64 bits.
template <class V>
constexpr int window_bands = sizeof(V) == 4 ? 8 : 4;
template <class V>
constexpr int window_rows = window_bands<V> * mark_bits;
/// What is compared: values; or, in int32 with sites, values and keys in one integer, so that ties decide themselves.
template <class V, bool Keyed>
constexpr bool in_one = Keyed && std::is_same_v<V, std::int32_t>;
template <class V, bool Keyed>
using compared = std::conditional_t<in_one<V, Keyed>, std::int64_t, V>;
template <class V, bool Keyed>
__host__ __device__ constexpr compared<V, Keyed> as_compared(V value) {
    if constexpr (in_one<V, Keyed>) return static_cast<std::int64_t>(value) << 32;
    else return value;
}
template <class V>
constexpr int window_threads = window_bands<V> * cuda::warp;

struct window {
    int radius = window_reach;  ///< at most window_reach, and not farther than a row can be
    bool final = false;         ///< rows beyond the radius do not matter
    int last_radius = 0;        ///< the same along the last axis, where that is searched too

    /// Rows of shared memory before and after the block's own.
    [[nodiscard]] __host__ __device__ int margin() const { return radius > direct_rows ? radius : direct_rows; }
    template <class V, bool Keyed>
    [[nodiscard]] std::size_t shared_bytes() const {
        return static_cast<std::size_t>(cuda::warp) *
                   (static_cast<std::size_t>(window_rows<V> + 2 * margin()) * sizeof(compared<V, Keyed>) +
                    (window_bands<V> + 2) * sizeof(std::uint32_t)) +
               (window_reach + 2) * sizeof(V);
    }
};

/// The rows of a line as the pass before left them.
template <class V, class K, bool Keyed>
struct state_rows {
    using source = const state_of<V, K, Keyed>*;
    any_line<V, K, Keyed> line;
    bool mine;  ///< lanes beyond the last column repeat it and write nothing

    __device__ state_rows(const rules<V>& by, const pass& g, source cells, const window&, std::int64_t group)
        : line(by, g, cells, min(group * cuda::warp + threadIdx.x, g.columns - 1)),
          mine(group * cuda::warp + threadIdx.x < g.columns) {}
    static __host__ __device__ std::int64_t groups(const pass& g, source) {
        return (g.columns + cuda::warp - 1) / cuda::warp;
    }
    /// Of a row of the grid.
    __device__ compared<V, Keyed> entry_at(std::int64_t row) const {
        const auto state = line.load_at(row);
        const V value = line.value_at(state, row);
        if constexpr (in_one<V, Keyed>) {
            if (value < no_site<V>()) return as_compared<V, Keyed>(value) | line.key_at(state, row);
        }
        return as_compared<V, Keyed>(value);
    }
    __device__ K key(std::int64_t row) const { return line.key(line.load(row), row); }
};

/// Marks of sites along the last axis.
struct site_marks {
    const std::uint32_t* bits = nullptr;
    std::int64_t words = 1, length = 1;
};

/// The rows of a line along the last axis but one as marks show them: a warp owns the 32 columns of a word.
template <class V, class K, bool Keyed>
struct marked_rows {
    using source = site_marks;
    any_line<V, K, Keyed> line;
    bool mine;

    __device__ marked_rows(const rules<V>& by, const pass& g, const source& from, const window& how, std::int64_t group)
        : line(by, g, nullptr, column(from, group)),
          mine(group % from.words * mark_bits + threadIdx.x < from.length),
          by_(by),
          radius_(static_cast<unsigned>(how.last_radius)),
          words_(from.words),
          word_(group % from.words),
          bits_(from.bits + group / from.words * g.rows * from.words + word_) {}
    static __host__ __device__ std::int64_t groups(const pass& g, const source& from) {
        return g.columns / from.length * from.words;
    }
    __device__ compared<V, Keyed> entry_at(std::int64_t row) const {
        const gaps near = gaps_at(row);
        if (near.nearest() > radius_) return as_compared<V, Keyed>(no_site<V>());
        const V value = by_.m.term(by_.m.rank - 1, static_cast<steps<V>>(near.nearest()));
        if constexpr (in_one<V, Keyed>) return as_compared<V, Keyed>(value) | key_of(near, row);
        else return value;
    }
    __device__ K key(std::int64_t row) const { return key_of(gaps_at(line.wrapped(row)), line.wrapped(row)); }

private:
    __device__ K key_of(const gaps& near, std::int64_t row) const {
        const std::int64_t x = word_ * mark_bits + threadIdx.x;
        const K last =
            by_.m.keys.template field<K>(by_.m.rank - 1, near.left <= near.right ? x - near.left : x + near.right);
        return line.key_at(last, row);
    }
    static __device__ std::int64_t column(const source& from, std::int64_t group) {
        const std::int64_t x = group % from.words * mark_bits + threadIdx.x;
        return group / from.words * from.length + min(x, from.length - 1);
    }
    __device__ gaps gaps_at(std::int64_t row) const {
        const std::uint32_t* const word = bits_ + row * words_;
        const std::uint32_t before = word_ > 0 ? word[-1] : 0, after = word_ + 1 < words_ ? word[1] : 0;
        const std::uint32_t to_before =
            before ? static_cast<std::uint32_t>(__clz(static_cast<int>(before))) + 1 : no_mark;
        const std::uint32_t to_after =
            after ? static_cast<std::uint32_t>(__ffs(static_cast<int>(after))) + 31 : no_mark;
        return {*word, to_before, to_after, static_cast<int>(threadIdx.x), false};
    }

    const rules<V>& by_;
    unsigned radius_;
    std::int64_t words_, word_;
    const std::uint32_t* bits_;
};

/// The rows around a block of rows: their values, and a bit for each that has one. A lane keeps to its own column.
template <class V, bool Keyed>
struct window_memory {
    using entry = compared<V, Keyed>;
    entry* value;         ///< of the block's first row
    std::uint32_t* mask;  ///< of 32 rows each, from 32 before the block on
    V* terms;             ///< what rows so far away add
    int margin;

    __device__ window_memory(std::byte* shared, const window& how)
        : value(reinterpret_cast<entry*>(shared) + how.margin() * cuda::warp + threadIdx.x),
          mask(reinterpret_cast<std::uint32_t*>(reinterpret_cast<entry*>(shared) +
                                                (window_rows<V> + 2 * how.margin()) * cuda::warp) +
               threadIdx.x),
          terms(reinterpret_cast<V*>(mask - threadIdx.x + (window_bands<V> + 2) * cuda::warp)),
          margin(how.margin()) {}

    /// Up to one row beyond the window, if there is one.
    template <class Line>
    __device__ void fill_terms(const Line& line, const window& how) {
        const int most = how.final ? how.radius : how.radius + 1;
        const int apart = static_cast<int>(threadIdx.y * cuda::warp + threadIdx.x);
        if (apart <= most) terms[apart] = line.term(apart);
    }

    template <class Rows>
    __device__ void fill(const Rows& rows, std::int64_t first) {
        // Without conditions the loads of several rows are in flight at once.
        if (first >= margin && first + window_rows<V> + margin <= rows.line.rows()) fill_rows<true>(rows, first);
        else fill_rows<false>(rows, first);
    }

private:
    template <bool Inside, class Rows>
    __device__ void fill_rows(const Rows& rows, std::int64_t first) {
        constexpr entry none = as_compared<V, Keyed>(no_site<V>());
        for (int word = threadIdx.y; word < window_bands<V> + 2; word += window_bands<V>) {
            std::uint32_t mine = 0;
            const int start = (word - 1) * mark_bits;
            const int from = max(start + margin, 0) - margin, end = min(start + mark_bits, window_rows<V> + margin);
#pragma unroll 8
            for (int r = from; r < end; ++r) {
                entry e = none;
                if constexpr (Inside) e = rows.entry_at(first + r);
                else if (rows.line.has(first + r)) e = rows.entry_at(rows.line.wrapped(first + r));
                value[r * cuda::warp] = e;
                mine |= static_cast<std::uint32_t>(e < none) << (r - start);
            }
            mask[word * cuda::warp] = mine;
        }
    }
};

/// A band's three words of the mask: its own rows and 32 on either side.
struct band_masks {
    std::uint64_t up, down;

    __device__ band_masks(const std::uint32_t* mask) {
        const std::uint64_t here = mask[cuda::warp];
        up = here << mark_bits | mask[0];
        down = static_cast<std::uint64_t>(mask[2 * cuda::warp]) << mark_bits | here;
    }
};

/// The best of the rows that have been offered. In 64 bits with sites keys are looked up only where values are equal.
template <class V, class K, bool Keyed, class Rows>
class best_row {
public:
    using entry = compared<V, Keyed>;
    static constexpr bool looks_up = Keyed && !in_one<V, Keyed>;

    __device__ best_row(const Rows& rows, std::int64_t first, int at, entry own)
        : rows_(rows), first_(first), at_(at), best_(own) {}

    __device__ void offer(entry theirs, int at) {
        if constexpr (!looks_up) {
            best_ = min(best_, theirs);
        } else if (theirs < best_) {
            best_ = theirs, at_ = at, keyed_ = false;
        } else if (theirs == best_ && theirs < no_site<V>()) {
            if (!keyed_) key_ = rows_.key(first_ + at_), keyed_ = true;
            const K key = rows_.key(first_ + at);
            if (key < key_) key_ = key, at_ = at;
        }
    }
    /// No row that adds `extra` or more can win.
    [[nodiscard]] __device__ bool is_settled(V extra) const {
        return settled<Keyed>(best_, as_compared<V, Keyed>(extra));
    }
    [[nodiscard]] __device__ V value() const {
        if constexpr (in_one<V, Keyed>) return static_cast<V>(best_ >> 32);
        else return best_;
    }
    [[nodiscard]] __device__ K key() const {
        if constexpr (in_one<V, Keyed>) return static_cast<K>(best_);
        else if constexpr (Keyed) return keyed_ ? key_ : rows_.key(first_ + at_);
        else return K{0};
    }

private:
    const Rows& rows_;
    std::int64_t first_;
    int at_;
    entry best_;
    K key_ = no_key<K>;
    bool keyed_ = false;
};

/// Whether so many of the rows in reach have values that asking the mask for the next one costs more than looking at all.
__device__ inline bool mostly_filled(const band_masks& masks) {
    const int filled = __popcll(masks.up) + __popcll(masks.down);
    return __popc(__ballot_sync(cuda::every_lane, filled > mark_bits)) > cuda::warp / 2;
}

/// Best row of the window for row `at` of the block, nearest first. `terms` says what rows add.
template <class V, class K, bool Keyed, class Rows>
__device__ best_row<V, K, Keyed, Rows> search_masks(const window_memory<V, Keyed>& memory, const band_masks& masks,
                                                    const Rows& rows, const V* terms, std::int64_t first, int at,
                                                    int radius, V least, bool filled) {
    best_row<V, K, Keyed, Rows> best(rows, first, at, memory.value[at * cuda::warp]);
    const auto offer = [&](int r, V extra) {
        best.offer(memory.value[r * cuda::warp] + as_compared<V, Keyed>(extra), r);
    };
#pragma unroll
    for (int apart = 1; apart <= direct_rows; ++apart) {
        if (apart > radius) return best;
        offer(at - apart, terms[apart]), offer(at + apart, terms[apart]);
    }
    if (filled) {
        for (int apart = direct_rows + 1; apart <= radius; ++apart) {
            const V extra = terms[apart];
            if (best.is_settled(static_cast<V>(extra + least))) break;
            offer(at - apart, extra), offer(at + apart, extra);
        }
        return best;
    }
    if (radius == direct_rows) return best;
    if (best.is_settled(static_cast<V>(terms[direct_rows + 1] + least))) return best;
    const int i = at % mark_bits;
    // Bit 63 is the row itself, lower ones are rows before it; bit 0 is the row after it.
    std::uint64_t up =
        masks.up << (31 - i) & ~std::uint64_t{0} << (63 - radius) & ~std::uint64_t{0} >> (direct_rows + 1);
    std::uint64_t down = (masks.down >> i >> 1) & ((std::uint64_t{1} << radius) - (std::uint64_t{1} << direct_rows));
    while ((up | down) != 0) {
        const int to_up = up != 0 ? __clzll(static_cast<long long>(up)) : 64;
        const int to_down = down != 0 ? __ffsll(static_cast<long long>(down)) : 64;
        const int apart = min(to_up, to_down);
        const V extra = terms[apart];
        if (best.is_settled(static_cast<V>(extra + least))) break;
        if (to_up == apart) offer(at - apart, extra), up &= ~(std::uint64_t{1} << (63 - apart));
        if (to_down == apart) offer(at + apart, extra), down &= down - 1;
    }
    return best;
}

/// A block 32 columns of some bands of 32 rows, a warp a band.
template <class V, class K, bool Keyed, class Rows, bool Last>
__global__ void __launch_bounds__(window_threads<V>)
    search_window(const gate when, const __grid_constant__ pass g, const __grid_constant__ rules<V> by,
                  const __grid_constant__ window how, const typename Rows::source from,
                  const sink<V, K, Keyed, Last> to, std::uint8_t* hard) {
    each_block(when, [&](std::int64_t block) {
        extern __shared__ std::byte shared_window[];
        const auto groups = static_cast<std::uint32_t>(Rows::groups(g, from));
        const std::uint32_t group = block % groups;
        // Searched again as a whole, so that nothing is lost. All threads must agree, since a neighbour may be setting it
        // now.
        if (!how.final && __syncthreads_or(hard[group])) return;
        const Rows rows(by, g, from, how, group);
        const auto& line = rows.line;
        const std::int64_t first = static_cast<std::int64_t>(block / groups) * window_rows<V>;
        window_memory<V, Keyed> memory(shared_window, how);
        memory.fill(rows, first);
        memory.fill_terms(line, how);
        __syncthreads();
        const V least = by.least();
        const band_masks masks(memory.mask + threadIdx.y * cuda::warp);
        const bool filled = mostly_filled(masks);
        const int from_row = threadIdx.y * mark_bits;
        const int end_row = static_cast<int>(min(g.rows - first, static_cast<std::int64_t>(from_row + mark_bits)));
        std::int64_t cell = line.cell(first + from_row);
        for (int at = from_row; at < end_row; ++at, cell += g.inner) {
            const std::int64_t q = first + at;
            const auto best = search_masks<V, K, Keyed, Rows>(memory, masks, rows, memory.terms, first, at, how.radius,
                                                              least, filled);
            if (!how.final) {
                const std::int64_t beyond = how.radius + 1;
                const bool more = q - line.lowest(q) >= beyond || line.highest(q) - q >= beyond;
                const bool open = more && !best.is_settled(static_cast<V>(memory.terms[beyond] + least));
                if (__any_sync(cuda::every_lane, open)) {
                    if (threadIdx.x == 0) hard[group] = 1;
                    return;
                }
            }
            if (!rows.mine) continue;
            const V value = best.value();
            const bool valid = value < no_site<V>() && !(value > by.limit);
            to.put(by.m, cell, valid ? value : no_site<V>(), valid ? best.key() : no_key<K>);
            if (by.next_values != nullptr) by.next_values[cell] = value;
        }
    });
}

}  // namespace
}  // namespace nearfield::exact
