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

/// Tells of which cells at `at` the balls lie in no neighbour's ball, by need_of() for any weights.
template <class D>
auto is_kept_by_bound(D d, const std::int32_t* at, std::int64_t plane_cells, std::int64_t row_cells,
                      const metric<std::int32_t>& m, std::int32_t lightest) {
    const hn::Rebind<float, D> real;
    const auto r2 = hn::LoadU(d, at);
    const auto root = hn::Sqrt(hn::ConvertTo(real, hn::Max(hn::Sub(r2, hn::Set(d, 1)), hn::Zero(d))));
    auto kept = hn::Gt(r2, hn::Set(d, lightest));  // a ball of one cell is there from the start
    for (int v = 1; v < 8; ++v) {
        auto most2 = hn::Zero(d);
        for (int way = 0; way < 8; ++way) {
            if ((way & ~v) != 0) continue;
            const auto step = [&](int axis) { return (v >> axis & 1) * (1 - 2 * (way >> axis & 1)); };
            most2 = hn::Max(most2, hn::LoadU(d, at + step(0) * plane_cells + step(1) * row_cells + step(2)));
        }
        const std::int32_t v2 = length2(m, v & 1, v & 2, v & 4);
        const float longer = std::sqrt(static_cast<float>(v2)) * (1 + 1e-6F);  // by more than all rounding errors
        const auto reach = hn::ConvertTo(d, hn::Floor(hn::Mul(root, hn::Set(real, longer))));
        kept = hn::And(kept, hn::Lt(hn::Sub(most2, r2), hn::Add(hn::Set(d, v2), hn::ShiftLeft<1>(reach))));
    }
    return kept;
}

constexpr int rows_at_once = 16;

/// Rows of balls below this squared radius have squares below 2^20; larger squares of covers cover whole rows of them.
constexpr std::int32_t small_roots = 1 << 19;

/// Uncovered cells of rows, as in leftover.
struct leftovers {
    alignas(64) std::int32_t half[rows_at_once], left[rows_at_once], right[rows_at_once];
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

/// row_of() and half_of() for many rows of a slice, from row `first` on; returns a bit for each row that has some.
template <bool Small, bool Unit>
inline std::uint32_t find(const slice<std::int32_t>& t, const turned<std::int32_t, Unit>& w, std::int32_t first,
                          leftovers& some) {
    const hn::CappedTag<std::int32_t, 16> d;
    const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
    const auto set = [&](std::int32_t value) { return hn::Set(d, value); };
    const auto one = set(1);
    std::uint32_t some_left = 0;
    for (std::int32_t j = 0; j < rows_at_once && first + j <= t.above; j += lanes) {
        const auto b = hn::Iota(d, first + j), rise = Unit ? b : hn::Mul(b, set(w.middle()));
        const auto twice = hn::Add(rise, rise), rest = hn::Sub(set(t.rest), hn::Mul(rise, b));
        const auto covered = [&](int k) {
            const auto low = hn::Sub(set(t.cover[k]), twice), high = hn::Add(set(t.cover[k + 6]), twice);
            return hn::Add(rest, hn::Max(hn::Max(low, high), set(t.cover[k + 3])));
        };
        const auto root = [&](auto of) { return root_of<Small, Unit>(d, of, w.row()); };
        const auto half = root(rest), here = root(covered(1)), to = covered(2), from = covered(0);
        const auto ahead = root(hn::Add(to, set(w.row()))), behind = root(hn::Add(from, set(w.row())));
        const auto end = [&](auto of, auto at) { return hn::Or(at, hn::BroadcastSignBit(of)); };
        const auto left = hn::Max(here, hn::Max(end(to, hn::Sub(ahead, one)), end(from, hn::Add(behind, one))));
        const auto right = hn::Max(here, hn::Max(end(to, hn::Add(ahead, one)), end(from, hn::Sub(behind, one))));
        const auto first_left = hn::Add(hn::Min(left, half), one);
        const auto first_right = hn::IfThenElse(hn::Lt(left, hn::Zero(d)), one, hn::Add(hn::Min(right, half), one));
        hn::Store(half, d, some.half + j), hn::Store(first_left, d, some.left + j);
        hn::Store(first_right, d, some.right + j);
        const auto any =
            hn::And(hn::Lt(b, set(t.above + 1)), hn::Lt(hn::Min(first_left, first_right), hn::Add(half, one)));
        std::uint8_t bits[8] = {};
        hn::StoreMaskBits(d, any, bits);
        some_left |= (bits[0] | static_cast<std::uint32_t>(bits[1]) << 8) << j;
    }
    return some_left;
}

}  // namespace nearfield::thickness::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
