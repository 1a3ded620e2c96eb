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

/// The caps that a neighbour along `Along` axes leaves of balls, as in box_of(): their ends along these axes, `own`,
/// and their radii along others, `side`. `more`: by how much the neighbour's squared radius is larger; `before`: equal
/// radii leave the cell to the neighbour.
template <int Along, class D, class R, class V, class F>
HWY_INLINE void cap_of(D d, R real, V r2, V more, bool before, F& own, F& side) {
    constexpr float part = 1.0F / Along, along = Along == 1 ? 0.0F : 0.70710678F;
    const auto k = hn::ShiftRight<1>(hn::Not(hn::Sub(more, hn::Set(d, Along))));  // bound_of()
    const auto bound = hn::ConvertTo(real, k), centre = hn::Mul(bound, hn::Set(real, part));
    const auto safe = hn::Mul(hn::ConvertTo(real, r2), hn::Set(real, 1 + 6e-7F));
    const auto disc = hn::Sqrt(hn::Max(hn::Sub(safe, hn::Mul(bound, centre)), hn::Zero(real)));
    const auto first = hn::Gt(more, hn::Set(d, before ? -1 : 0));
    const auto below = hn::RebindMask(real, hn::And(first, hn::Lt(k, hn::Zero(d))));
    const auto lot = hn::Set(real, 1e9F), end = hn::Add(centre, hn::Mul(disc, hn::Set(real, along)));
    own = hn::IfThenElse(Along == 1 ? hn::RebindMask(real, first) : below, end, lot);
    side = hn::IfThenElse(below, disc, lot);
}

/// Lowers the extents of a box along an axis along which the neighbour lies by `Step`.
template <int Step, class V>
HWY_INLINE void lower(V& low, V& high, V own, V side) {
    if constexpr (Step <= 0) low = hn::Min(low, Step < 0 ? own : side);
    if constexpr (Step >= 0) high = hn::Min(high, Step > 0 ? own : side);
}

constexpr int rows_at_once = 16;

/// Rows of balls below this squared radius have squares below 2^20; larger squares of covers cover whole rows of them.
constexpr std::int32_t small_roots = 1 << 19;

/// Uncovered cells of rows, as in leftover.
struct leftovers {
    alignas(64) std::int32_t half[rows_at_once], left[rows_at_once], right[rows_at_once];
};

/// floor_root() in vectors, or -1 for negative numbers. `Small`: those that matter are below 2^20.
template <bool Small, class D, class V>
HWY_INLINE V root_of(D d, V n) {
    const hn::Rebind<float, D> real;
    const auto inside = hn::Max(n, hn::Zero(d));
    auto root = hn::ConvertTo(d, hn::Sqrt(hn::Add(hn::ConvertTo(real, inside), hn::Set(real, 0.5F))));
    if constexpr (!Small) {
        const auto one = hn::Set(d, 1);
        root = hn::Sub(root, hn::IfThenElseZero(hn::Gt(hn::Mul(root, root), inside), one));
        const auto next = hn::Add(root, one);
        root = hn::IfThenElse(hn::Gt(hn::Mul(next, next), inside), root, next);
    }
    return hn::Or(root, hn::BroadcastSignBit(n));
}

/// row_of() and half_of() for many rows of a slice, from row `first` on; returns a bit for each row that has some.
template <bool Small>
inline std::uint32_t find(const slice<std::int32_t>& t, std::int32_t first, leftovers& some) {
    const hn::CappedTag<std::int32_t, 16> d;
    const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
    const auto set = [&](std::int32_t value) { return hn::Set(d, value); };
    const auto one = set(1);
    std::uint32_t some_left = 0;
    for (std::int32_t j = 0; j < rows_at_once && first + j <= t.above; j += lanes) {
        const auto b = hn::Iota(d, first + j), twice = hn::Add(b, b), rest = hn::Sub(set(t.rest), hn::Mul(b, b));
        const auto covered = [&](int k) {
            const auto low = hn::Sub(set(t.cover[k]), twice), high = hn::Add(set(t.cover[k + 6]), twice);
            return hn::Add(rest, hn::Max(hn::Max(low, high), set(t.cover[k + 3])));
        };
        const auto half = root_of<Small>(d, rest), here = root_of<Small>(d, covered(1));
        const auto to = covered(2), from = covered(0);
        const auto ahead = root_of<Small>(d, hn::Add(to, one)), behind = root_of<Small>(d, hn::Add(from, one));
        const auto end = [&](auto of, auto root) { return hn::Or(root, hn::BroadcastSignBit(of)); };
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
