// A lane's line: the addresses of its cells, the meaning of its sites' keys, and the cost of its sites.
#pragma once

#include "exact/gpu/ground/common.cuh"
#include "exact/gpu/ground/ladder.hpp"
#include "exact/gpu/ground/line_pass.hpp"

namespace nearfield::exact::gpu {
namespace {

constexpr int far_away = 1 << 30;  // exceeds the rows of any line

template <keys Stored>
struct stored_key;
template <>
struct stored_key<keys::narrow> {
    using in = std::int16_t;    ///< type in memory
    using type = std::int32_t;  ///< type in registers, and in the output of the pass
    static constexpr int done = 1;
};
template <>
struct stored_key<keys::row> {
    using in = std::int32_t;
    using type = std::int32_t;
    static constexpr int done = 1;
};
template <>
struct stored_key<keys::word> {
    using in = std::int32_t;  ///< the last coordinate above the one before it, 16 bits each
    using type = std::int32_t;
    static constexpr int done = 2;
};
template <>
struct stored_key<keys::wide> {
    using in = std::int64_t;
    using type = std::int64_t;
    static constexpr int done = max_rank - 1;
};

template <>
struct stored_key<keys::value> {
    using in = std::int32_t;
    using type = std::int32_t;
    static constexpr int done = 1;
};

/// Adds windows that a rung has solved to the trace's counters; `solved` is null in calls without a trace.
__device__ inline void count_solved(std::uint32_t* solved, rung which, int windows) {
    if (solved != nullptr && windows > 0) atomicAdd(solved + static_cast<int>(which), static_cast<unsigned>(windows));
}

/// The nearest site so far; `row` counts beyond the line's ends if they are joined.
template <class V, class K>
struct winner {
    V value;
    K key;
    int row;
};

/// A line of a pass. `Bent`: some axis is periodic, or distances end at faces. `Values`: sites are not wanted.
template <class V_, keys Stored, rule Rule, bool Bent, bool Values = false>
class column {
public:
    using V = V_;
    using in = typename stored_key<Stored>::in;
    using K = typename stored_key<Stored>::type;
    static constexpr bool labels = Rule == rule::labels, powers = Rule == rule::powers, bent = Bent,
                          values = Values || Stored == keys::value;
    /// Rows note where runs of labels begin, for windows of values.
    static constexpr bool begins = labels && (Stored == keys::narrow || Stored == keys::value);
    /// Wide keys have the value of int32 numbers in their upper half.
    static constexpr bool valued = Stored == keys::wide && std::is_same_v<V, std::int32_t>;
    static constexpr bool clamps = Bent && std::is_same_v<V, std::int32_t>;
    static constexpr int most_done = stored_key<Stored>::done;
    static constexpr int unrolled = most_done <= 2 ? most_done : 1;

    const line_pass<V>& g;

    __device__ column(const line_pass<V>& pass, std::int64_t number) : g(pass), number_(min(number, pass.columns - 1)) {
        const std::int64_t outer = g.columns == g.inner ? 0 : quotient(number_, g.inner);
        std::int64_t rest = number_ - outer * g.inner;
        start_ = outer * g.inner * g.rows;
        first_ = start_ + rest;
#pragma unroll(unrolled)
        for (int i = 0; i < most_done; ++i) {
            own_[i] = 0;
            if (i >= done()) continue;
            if constexpr (Bent) around_[i] = g.m.periodic[axis_of(i)] ? g.done_size[i] : far_away;
            const std::int64_t size = g.done_size[i], above = i + 1 == done() ? 0 : quotient(rest, size);
            own_[i] = static_cast<int>(rest - above * size);
            rest = above;
        }
        if constexpr (Stored == keys::value) here_ = 0;
        else if constexpr (is_position(Stored)) here_ = own_[0];
        else if constexpr (Stored == keys::word) here_ = own_[0] << 16 | own_[1];
        else here_ = packed_here();
        if constexpr (powers) slack_ = g.extremes[0] < 0 ? upper_bound(V{0} - g.extremes[0]) : 0.0f;
    }

    [[nodiscard]] __device__ int rows() const { return g.rows; }
    [[nodiscard]] __device__ std::int64_t number() const { return number_; }
    [[nodiscard]] __device__ std::int64_t cell(int row) const { return first_ + row * g.inner; }
    [[nodiscard]] __device__ bool joined() const { return Bent && g.periodic; }
    /// Returns the row's own number on the unrolled line.
    [[nodiscard]] __device__ int row_in(int row) const { return joined() ? wrapped(row, g.rows) : row; }
    /// Returns the key of a cell of the line that is a site itself.
    [[nodiscard]] __device__ K here() const { return here_; }
    /// Returns the number of finished axes whose coordinates the keys contain.
    [[nodiscard]] __device__ int done() const {
        if constexpr (Stored == keys::value) return 0;
        return Stored == keys::wide ? g.m.rank - 1 - g.axis : stored_key<Stored>::done;
    }
    [[nodiscard]] __device__ int own(int i) const { return own_[i]; }
    /// Returns the first cell of the line's image or, in a pass along another axis, of its part of the image.
    [[nodiscard]] __device__ std::int64_t start() const { return start_; }

    /// Returns the coordinate of a site along finished axis i, the last axis first.
    [[nodiscard]] __device__ int coordinate(K key, int i) const {
        if constexpr (is_position(Stored)) return key;
        else if constexpr (Stored == keys::word) return i == 0 ? key >> 16 : key & 0xffff;
        else return static_cast<int>(g.m.keys.coordinate(key, axis_of(i)));
    }
    /// Returns the key with the coordinate along the axis of the pass added: as the next pass expects it or, after the
    /// first axis, as key_layout packs it.
    [[nodiscard]] __device__ K with_row(K key, int row) const {
        if (Stored == keys::narrow && g.axis > g.m.first_axis) return key << 16 | row_in(row);
        K packed = 0;
#pragma unroll(unrolled)
        for (int i = 0; i < most_done; ++i)
            if (i < done()) packed = g.m.keys.with(packed, axis_of(i), coordinate(key, i));
        return g.m.keys.with(packed, g.axis, row_in(row));
    }

    /// Returns what decides between equal values: the key without its value.
    [[nodiscard]] __device__ static auto tie(K key) {
        if constexpr (valued) return static_cast<std::int32_t>(key);
        else return key;
    }
    /// Returns the stored key of a cell without a site; for narrow keys one that decodes as far away.
    [[nodiscard]] __device__ K none() const {
        return Stored == keys::narrow && g.axis > g.m.first_axis ? std::numeric_limits<K>::min() : no_key<K>;
    }

    [[nodiscard]] __device__ V term(int apart) const { return cost(g.weight, clamped(stretched(apart), g.most_steps)); }
    /// Returns the cost of the way to the nearer end of an axis, for cell `at` of `size`. It selects an end instead of
    /// the minimum of both, which gave 1 in every column of images on GPUs, as if a sign were lost (ptxas 13.0.88).
    [[nodiscard]] __device__ V to_end(V weight, int at, int size, int most_steps) const {
        const int before = at + at + 1 < size ? at : size - 1 - at, steps = stretched(before + 1);
        return cost(weight, std::is_same_v<V, std::int32_t> ? min(steps, most_steps) : steps);
    }
    /// Returns the value of a site in its row, over the axes that are done.
    [[nodiscard]] __device__ V beside(K key, int row) const {
        if constexpr (Stored == keys::value) return key;
        if constexpr (powers) return __ldg(g.before + cell(row_in(row)));
        if (key < 0) return no_site<V>();
        if constexpr (valued) return static_cast<V>(key >> 32);
        V sum = 0;
#pragma unroll(unrolled)
        for (int i = 0; i < most_done; ++i) {
            if (Stored == keys::wide && i >= done()) break;
            const int steps = stretched(apart_along(i, coordinate(key, i)));
            const V more = cost(g.done_weight[i], clamped(steps, g.done_most_steps[i]));
            sum = i == 0 ? more : sum + more;
        }
        return sum;
    }
    /// Returns the value of a site `apart` rows away.
    [[nodiscard]] __device__ V value(V beside, int apart) const { return beside + term(apart); }

    /// Returns the largest distance in rows at which a site can have a value of at most `best`.
    [[nodiscard]] __device__ int reach(V best) const {
        if (best >= no_site<V>()) return far_away;
        float most = static_cast<float>(best);
        if constexpr (powers) {
            most += slack_ + (fabsf(most) + slack_) * 1e-6f;
            if (most != most) return far_away;  // infinite weights
            most = fmaxf(most, 0.0f);
        }
        float steps = near_root(most * g.inverse);
        if (Bent && g.m.half_cell) steps = (steps + 1) * 0.5f;
        return static_cast<int>(fminf(steps * 1.000002f + 0.01f, static_cast<float>(far_away)));
    }
    /// Returns a lower bound of the term of `apart` rows, in the numbers of `least`.
    [[nodiscard]] __device__ float nearly(int apart) const {
        float steps = static_cast<float>(apart);
        if (Bent && g.m.half_cell) steps = fmaxf(2 * steps - 1, 0.0f);
        return g.nearly * steps * steps;
    }

private:
    [[nodiscard]] __device__ int axis_of(int i) const { return g.m.rank - 1 - i; }
    [[nodiscard]] __device__ int stretched(int apart) const {
        if (!Bent || !g.m.half_cell) return apart;
        return max(2 * (apart < 0 ? -apart : apart) - 1, 0);
    }
    /// Returns the steps, or the largest number of them that costs less than no site. That many exceed the limit, see
    /// line_pass::most_steps.
    [[nodiscard]] static __device__ int clamped(int steps, int most) {
        return clamps ? min(steps < 0 ? -steps : steps, most) : steps;
    }
    [[nodiscard]] __device__ int apart_along(int i, int at) const {
        const int direct = at - own_[i];
        if constexpr (!Bent) return direct;
        const int straight = direct < 0 ? -direct : direct;
        return min(straight, around_[i] - straight);
    }
    [[nodiscard]] __device__ K packed_here() const {
        K key = 0;
#pragma unroll(unrolled)
        for (int i = 0; i < most_done; ++i)
            if (i < done()) key = g.m.keys.with(key, axis_of(i), own_[i]);
        return key;
    }
    std::int64_t number_, start_, first_;
    int own_[most_done], around_[Bent ? most_done : 1];  ///< the length of a joined axis, else far_away
    K here_;
    float slack_ = 0;

public:
    /// Returns the cell of a site.
    [[nodiscard]] __device__ std::int64_t site_cell(K key, int row) const {
        std::int64_t at = 0, step = 1;
#pragma unroll(unrolled)
        for (int i = 0; i < most_done; ++i) {
            if (Stored == keys::wide && i >= done()) break;
            at += coordinate(key, i) * step;
            step *= g.done_size[i];
        }
        return start_ + row_in(row) * g.inner + at;
    }

    /// True if a site and a cell of the line belong to different classes.
    [[nodiscard]] __device__ bool differ(K key, int row, int cell_row) const {
        const std::uint64_t a = load_bits(g.image, g.image_bytes, site_cell(key, row)),
                            b = load_bits(g.image, g.image_bytes, cell(cell_row));
        if (!g.by_zero) return a != b;
        return is_zero(a, g.image_bytes, g.floating) != is_zero(b, g.image_bytes, g.floating);
    }
};

/// True if the first of two is nearer, or equally near with the smaller key.
template <class V, class K>
__device__ bool precedes(V value, K key, V other, K other_key) {
    return (value < other) | ((value == other) & (key < other_key));
}
/// Does the same with two comparisons instead of three; requires keys that are not negative.
__device__ inline bool precedes(std::int32_t value, std::int32_t key, std::int32_t other, std::int32_t other_key) {
    const auto both = [](std::int32_t high, std::int32_t low) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 |
                                         static_cast<std::uint32_t>(low));
    };
    return both(value, key) < both(other, other_key);
}

/// Compares a candidate with the best. Candidates come in ascending rows: of equal ones the first stays, and of the
/// copies of one cell of a joined line the one whose own row is smaller.
template <class C>
__device__ void consider(const C& c, winner<typename C::V, typename C::K>& best, typename C::V value, typename C::K key,
                         int row) {
    bool better = C::values ? value < best.value : precedes(value, C::tie(key), best.value, C::tie(best.key));
    if (!C::values && C::bent && c.joined() && value == best.value && key == best.key)
        better = c.row_in(row) < c.row_in(best.row);
    best.value = better ? value : best.value, best.key = better ? key : best.key, best.row = better ? row : best.row;
}

/// The first cells beyond both ends of a row's run, which are sites for it; `far_away` if there is none.
struct run_ends {
    int low = -far_away, high = far_away;
};

/// Run ends of all rows of a word of 32.
template <class C>
struct run_word {
    std::uint32_t bits = 0, before = no_mark, after = no_mark;
    int first = 0;
    /// Farther ends are left out: round a joined line the other end of the run is nearer, and the cost of the whole
    /// line may exceed the numbers.
    std::uint32_t most;

    __device__ run_word(const C& c, int word)
        : first(word * mark_bits), most(static_cast<std::uint32_t>(c.joined() ? c.rows() / 2 : far_away)) {
        if constexpr (C::labels) {
            const std::int64_t at = word * c.g.ends.columns + c.number();
            bits = c.g.ends.bits[at], before = c.g.ends.to_before[at], after = c.g.ends.to_after[at];
        }
    }
    [[nodiscard]] __device__ run_ends of(int row) const {
        run_ends found;
        if constexpr (C::labels) {
            const gaps g(bits, before, after, row - first, true);
            if (g.left <= most) found.low = row - static_cast<int>(g.left);
            if (g.right <= most) found.high = row + static_cast<int>(g.right);
        }
        return found;
    }
};

}  // namespace
}  // namespace nearfield::exact::gpu
