// Vectors of centres and of rows for the host's fast path. Only the files that are compiled once per instruction set
// include this header.
#if defined(NEARFIELD_THICKNESS_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef NEARFIELD_THICKNESS_VECTORS
#undef NEARFIELD_THICKNESS_VECTORS
#else
#define NEARFIELD_THICKNESS_VECTORS
#endif

#include "hwy/highway.h"
#include "thickness/core.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::thickness::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The caps that a neighbour leaves of balls, as in box_of(). Bit k of `Along` tells whether it lies along axis k; `v2`
/// is its squared length, `more` by how much its squared radius is larger, `before` whether equal radii leave the cell
/// to it.
template <int Along, class R, class Metric>
struct cap {
    using reals = hn::Vec<R>;
    template <class D, class V>
    HWY_INLINE cap(D d, R real, const Metric& m, std::int32_t v2, V r2, V more, bool before) : real_(real), m_(m) {
        const auto k = hn::ShiftRight<1>(hn::Not(hn::Sub(more, hn::Set(d, v2))));  // bound_of()
        const auto bound = hn::ConvertTo(real, k);
        centre_ = hn::Mul(bound, hn::Set(real, m.part[Along]));
        const auto safe = hn::Mul(hn::ConvertTo(real, r2), hn::Set(real, 1 + 6e-7F));
        disc_ = hn::Sqrt(hn::Max(hn::Sub(safe, hn::Mul(bound, centre_)), hn::Zero(real)));
        const auto first = hn::Gt(more, hn::Set(d, before ? -1 : 0));
        below_ = hn::RebindMask(real, hn::And(first, hn::Lt(k, hn::Zero(d))));
        ends_ = Along == 1 || Along == 2 || Along == 4 ? hn::RebindMask(real, first) : below_;
    }

    /// Lowers the extents of a box along an axis along which the neighbour lies by `Step`.
    template <int Step>
    HWY_INLINE void lower(int axis, reals& low, reals& high) const {
        const auto lot = hn::Set(real_, 1e9F);
        const auto own = hn::Add(centre_, hn::Mul(disc_, hn::Set(real_, m_.along[Along][axis])));
        const auto side = hn::Mul(disc_, hn::Set(real_, m_.across[axis]));
        const auto limit = Step != 0 ? hn::IfThenElse(ends_, own, lot) : hn::IfThenElse(below_, side, lot);
        if constexpr (Step <= 0) low = hn::Min(low, limit);
        if constexpr (Step >= 0) high = hn::Min(high, limit);
    }

private:
    R real_;
    const Metric& m_;
    reals centre_, disc_;
    hn::Mask<R> below_, ends_;
};
template <int Along, class D, class R, class Metric, class V>
HWY_INLINE cap<Along, R, Metric> cap_of(D d, R real, const Metric& m, std::int32_t v2, V r2, V more, bool before) {
    return {d, real, m, v2, r2, more, before};
}

/// is_contained() for cells at `at`: tells which balls their neighbours along the axes leave a part of. A ball of one
/// cell is there from the start.
template <bool Unit, int Axes, class D>
HWY_INLINE auto is_kept(D d, const std::int32_t* at, std::int64_t plane_cells, std::int64_t row_cells,
                        const metric<std::int32_t>& m, std::int32_t lightest) {
    const auto r2 = hn::LoadU(d, at);
    auto sum = hn::Zero(d);
    const auto add = [&](int axis, std::int64_t apart) {
        const auto larger2 = hn::Max(hn::LoadU(d, at - apart), hn::LoadU(d, at + apart));
        const std::int32_t weight = Unit ? 1 : m.weight[axis], enough = floor_root((1 << 29) / weight) + 1;
        // Cut off where this axis alone leaves the ball, so that sums fit.
        const auto more = hn::Min(hn::Sub(larger2, r2), hn::Set(d, 2 * weight * enough - weight));
        auto m2 = hn::Max(hn::Add(more, hn::Set(d, weight)), hn::Zero(d));
        if constexpr (Unit) m2 = hn::ShiftRight<1>(m2);
        else {
            const hn::Rebind<float, D> real;
            const auto twice = hn::Set(d, 2 * weight);
            const auto near =
                hn::ConvertTo(d, hn::Mul(hn::ConvertTo(real, m2), hn::Set(real, 0.5F / static_cast<float>(weight))));
            const auto up = hn::Add(near, hn::Set(d, 1));
            const auto low = hn::IfThenElse(hn::Gt(hn::Mul(near, twice), m2), hn::Sub(near, hn::Set(d, 1)), near);
            m2 = hn::IfThenElse(hn::Gt(hn::Mul(up, twice), m2), low, up);
        }
        m2 = hn::Mul(m2, m2);
        sum = hn::Add(sum, Unit ? m2 : hn::Mul(m2, hn::Set(d, weight)));
    };
    if constexpr (Axes == 3) add(0, plane_cells);
    add(1, row_cells), add(2, 1);
    return hn::And(hn::Gt(r2, hn::Set(d, lightest)), hn::Gt(r2, sum));
}

constexpr int most_lanes = 16;
/// Slices of a ball, one a lane; members are those of `slice`.
struct slices {
    alignas(64) std::int32_t cover[9][most_lanes], rest[most_lanes], below[most_lanes], above[most_lanes];
};

/// Rows of balls below this squared radius have squares below 2^20; larger squares of covers cover whole rows of them.
constexpr std::int32_t small_roots = 1 << 19;

/// Rows of slices, each by its slice and its number there; and uncovered cells, as in leftover, of as many of them as a
/// vector has lanes.
struct listed_rows {
    static constexpr int most = 256;
    alignas(64) std::int32_t slice[most + most_lanes], row[most + most_lanes];
    alignas(64) std::int32_t half[most_lanes], left[most_lanes], right[most_lanes];
    int count = 0;

    /// Adds rows from b on, at most as many as a vector has lanes; `count` is at most `most` before.
    HWY_INLINE void add(std::int32_t of, std::int32_t b, std::int32_t rows) {
        const hn::CappedTag<std::int32_t, most_lanes> d;
        hn::StoreU(hn::Set(d, of), d, slice + count), hn::StoreU(hn::Iota(d, b), d, row + count);
        count += rows;
    }
};

/// floor_root(n / weight) in vectors, or -1 for negative numbers. `Small`: those that matter are below 2^20, where 0.5
/// exceeds all rounding errors, which amount to 3e-7 of n.
template <bool Small, bool Unit, class D, class V>
HWY_INLINE V root_of(D d, V n, std::int32_t weight) {
    const hn::Rebind<float, D> real;
    const auto inside = hn::Max(n, hn::Zero(d));
    auto above = hn::Add(hn::ConvertTo(real, inside), hn::Set(real, 0.5F));
    if constexpr (!Unit) above = hn::Div(above, hn::Set(real, static_cast<float>(weight)));
    auto root = hn::ConvertTo(d, hn::Sqrt(above));
    if constexpr (!Small) {
        const auto one = hn::Set(d, 1);
        const auto squared = [&](auto of) {
            return Unit ? hn::Mul(of, of) : hn::Mul(hn::Mul(of, of), hn::Set(d, weight));
        };
        root = hn::Sub(root, hn::IfThenElseZero(hn::Gt(squared(root), inside), one));
        const auto next = hn::Add(root, one);
        root = hn::IfThenElse(hn::Gt(squared(next), inside), root, next);
    }
    return hn::Or(root, hn::BroadcastSignBit(n));
}

template <class D, class M>
HWY_INLINE std::uint32_t bits_of(D d, M mask) {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, mask, bits);
    return bits[0] | static_cast<std::uint32_t>(bits[1]) << 8;
}

/// slice_at() and narrow() for slices from `first` on; returns a bit for each with rows. `cover` is in the order of
/// slice::cover, slice by slice. In other metrics than the unit one bounds may be larger than those of narrow().
template <bool Small, bool Unit>
inline std::uint32_t prepare(const std::int32_t* cover, std::int32_t r2, const turned<std::int32_t, Unit>& w,
                             std::int32_t first, const frame& f, slices& t) {
    const hn::CappedTag<std::int32_t, most_lanes> d;
    const hn::Rebind<float, decltype(d)> real;
    const auto set = [&](std::int32_t value) { return hn::Set(d, value); };
    const auto s = hn::Iota(d, first), rise = Unit ? s : hn::Mul(s, set(w.slice())), shift = hn::Add(rise, rise);
    const auto rest = hn::Sub(set(r2 - 1), hn::Mul(rise, s));
    const auto bound = [&](int k) __attribute__((always_inline)) {
        const auto low = hn::Sub(set(cover[k]), shift), high = hn::Add(set(cover[18 + k]), shift);
        const auto all = hn::Max(hn::Max(low, high), set(cover[9 + k]));
        hn::Store(all, d, t.cover[k]);
        const auto none = hn::Lt(all, set(never<std::int32_t>() / 2 + 1));
        return hn::IfThenElse(none, set(unbound<std::int32_t>()), hn::ShiftRight<1>(hn::Not(all)));
    };
    const auto cells = [&](auto of, std::int32_t weight) {  // floor_quotient(), or a little more
        if constexpr (Unit) return of;
        else {
            const auto far = hn::Mul(hn::ConvertTo(real, of), hn::Set(real, 1 / static_cast<float>(weight)));
            const auto off = hn::MulAdd(hn::Abs(far), hn::Set(real, 1e-6F), hn::Set(real, 0.01F));
            return hn::ConvertTo(d, hn::Floor(hn::Add(far, off)));
        }
    };
    const auto along = [&](auto of) { return Unit ? of : hn::Mul(of, set(w.row())); };
    const auto reach = root_of<Small, Unit>(d, rest, w.row()), tall = root_of<Small, Unit>(d, rest, w.middle());
    const auto nn = bound(0), low = bound(1), pn = bound(2), back = bound(3), here = bound(4), front = bound(5),
               np = bound(6), high = bound(7), pp = bound(8);
    const auto right = hn::Min(reach, cells(front, w.row())), left = hn::Min(reach, cells(back, w.row()));
    const auto to_left = along(left), to_right = along(right);
    const auto half_sum = [&](auto a, auto b) { return hn::ShiftRight<1>(hn::Add(a, b)); };
    const auto up = hn::Min(hn::Min(hn::Add(pp, to_left), hn::Add(np, to_right)), half_sum(pp, np));
    const auto down = hn::Min(hn::Min(hn::Add(pn, to_left), hn::Add(nn, to_right)), half_sum(pn, nn));
    const auto above = hn::Min(hn::Min(tall, cells(hn::Min(up, high), w.middle())), set(f.above));
    const auto below = hn::Min(hn::Min(tall, cells(hn::Min(down, low), w.middle())), set(f.below));
    // No cell of a slice reaches far enough into a corner (Cauchy's inequality).
    const auto corner = hn::ConvertTo(real, hn::Min(hn::Min(hn::Min(pp, np), hn::Min(pn, nn)), hn::Zero(d)));
    const auto most2 =
        hn::Mul(hn::ConvertTo(real, rest), hn::Set(real, static_cast<float>(w.row() + w.middle()) * (1 + 1e-6F)));
    const auto far = hn::RebindMask(d, hn::Gt(hn::Mul(corner, corner), most2));
    const auto none = hn::Or(hn::Or(hn::Lt(rest, hn::Zero(d)), hn::Lt(here, hn::Zero(d))),
                             hn::Or(hn::Lt(hn::Add(left, right), hn::Zero(d)), hn::Or(far, hn::Gt(s, set(f.last)))));
    hn::Store(rest, d, t.rest), hn::Store(below, d, t.below), hn::Store(above, d, t.above);
    return bits_of(d, hn::AndNot(none, hn::Gt(hn::Add(above, below), set(-1))));
}

/// row_of() and half_of() for a vector of rows from number `first` on; returns a bit for each with uncovered cells.
template <bool Small, bool Unit>
inline std::uint32_t find(const slices& t, const turned<std::int32_t, Unit>& w, int first, listed_rows& some) {
    const hn::CappedTag<std::int32_t, most_lanes> d;
    const auto set = [&](std::int32_t value) { return hn::Set(d, value); };
    const auto one = set(1), b = hn::Load(d, some.row + first), rise = Unit ? b : hn::Mul(b, set(w.middle()));
    // Lanes behind the last row may have any number, which no table takes.
    const auto lanes = set(static_cast<std::int32_t>(hn::Lanes(d)) - 1);
    const auto of_slice = hn::IndicesFromVec(d, hn::And(hn::Load(d, some.slice + first), lanes));
    const auto pick = [&](const std::int32_t* from) { return hn::TableLookupLanes(hn::Load(d, from), of_slice); };
    const auto twice = hn::Add(rise, rise), rest = hn::Sub(pick(t.rest), hn::Mul(rise, b));
    const auto covered = [&](int k) {
        const auto low = hn::Sub(pick(t.cover[k]), twice), high = hn::Add(pick(t.cover[k + 6]), twice);
        return hn::Add(rest, hn::Max(hn::Max(low, high), pick(t.cover[k + 3])));
    };
    const auto root = [&](auto of) { return root_of<Small, Unit>(d, of, w.row()); };
    const auto half = root(rest), here = root(covered(1)), to = covered(2), from = covered(0);
    const auto ahead = root(hn::Add(to, set(w.row()))), behind = root(hn::Add(from, set(w.row())));
    const auto end = [&](auto of, auto at) { return hn::Or(at, hn::BroadcastSignBit(of)); };
    const auto left = hn::Max(here, hn::Max(end(to, hn::Sub(ahead, one)), end(from, hn::Add(behind, one))));
    const auto right = hn::Max(here, hn::Max(end(to, hn::Add(ahead, one)), end(from, hn::Sub(behind, one))));
    const auto first_left = hn::Add(hn::Min(left, half), one);
    const auto first_right = hn::IfThenElse(hn::Lt(left, hn::Zero(d)), one, hn::Add(hn::Min(right, half), one));
    hn::Store(half, d, some.half), hn::Store(first_left, d, some.left), hn::Store(first_right, d, some.right);
    return bits_of(d, hn::Lt(hn::Min(first_left, first_right), hn::Add(half, one))) &
           ((1U << std::min(some.count - first, most_lanes)) - 1);
}

}  // namespace nearfield::thickness::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
