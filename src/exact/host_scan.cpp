#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host_scan.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <iterator>

#include "exact/host_scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using of_position = hn::CappedTag<std::int32_t, 16>;
using positions = hn::Vec<of_position>;

/// Running maximum (or minimum) over the lanes of a vector, in log2(lanes) steps; looking at the outermost lane once
/// more than needed changes neither.
template <bool Max>
struct running {
    static constexpr of_position tag{};
    static constexpr int most_steps = 4;
    decltype(hn::SetTableIndices(of_position(), static_cast<const std::int32_t*>(nullptr))) from[most_steps];
    decltype(hn::SetTableIndices(of_position(), static_cast<const std::int32_t*>(nullptr))) outermost;

    running() {
        const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        HWY_ALIGN std::int32_t index[16];
        for (int k = 0; k < most_steps; ++k) {
            for (std::int32_t i = 0; i < lanes; ++i)
                index[i] = Max ? std::max(i - (1 << k), 0) : std::min(i + (1 << k), lanes - 1);
            from[k] = hn::SetTableIndices(tag, index);
        }
        std::fill(index, index + lanes, Max ? lanes - 1 : 0);
        outermost = hn::SetTableIndices(tag, index);
    }
    HWY_INLINE positions over(positions p, positions carry) const {
        const auto lanes = static_cast<int>(hn::Lanes(tag));
        for (int k = 0; (1 << k) < lanes; ++k) {
            const positions other = hn::TableLookupLanes(p, from[k]);
            p = Max ? hn::Max(p, other) : hn::Min(p, other);
        }
        return Max ? hn::Max(p, carry) : hn::Min(p, carry);
    }
    HWY_INLINE positions carry_of(positions p) const { return hn::TableLookupLanes(p, outermost); }
};

constexpr of_position tag{};
constexpr hn::Rebind<std::uint8_t, of_position> of_byte{};

HWY_INLINE auto is_site(const std::uint8_t* site) {
    return hn::Lt(hn::Zero(tag), hn::PromoteTo(tag, hn::LoadU(of_byte, site)));
}
HWY_INLINE positions here(std::int64_t x) {
    return hn::Add(hn::Iota(tag, 0), hn::Set(tag, static_cast<std::int32_t>(x)));
}

/// Rightwards over cells [first, last), for the site to the left of each cell; `first` is 0 or a multiple of all
/// vectors. `carry` is the last site before them, -no_position for none; returns that of the next cells.
std::int32_t left_sites(const std::uint8_t* site, std::int64_t first, std::int64_t last, std::int32_t carry,
                        std::int32_t* nearest) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    // Made once: for short lines making them took longer than using them.
    static const running<true> up_to;
    positions before = hn::Set(tag, carry);
    for (std::int64_t x = first; x < last; x += lanes) {
        const positions left =
            up_to.over(hn::IfThenElse(is_site(site + x), here(x), hn::Set(tag, -no_position)), before);
        hn::StoreU(left, tag, nearest + x);
        before = up_to.carry_of(left);
    }
    return hn::GetLane(before);
}

/// Then leftwards, for the site to the right of each cell and the nearer of both. `carry`: no_position for none.
std::int32_t nearer_sites(const std::uint8_t* site, std::int64_t first, std::int64_t last, std::int32_t carry,
                          std::int32_t* nearest) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    static const running<false> from;
    positions behind = hn::Set(tag, carry);
    for (std::int64_t x = first + (last - first - 1) / lanes * lanes; x >= first; x -= lanes) {
        const positions right =
            from.over(hn::IfThenElse(is_site(site + x), here(x), hn::Set(tag, no_position)), behind);
        behind = from.carry_of(right);
        const positions left = hn::LoadU(tag, nearest + x);
        const auto nearer_right = hn::Lt(hn::Sub(right, here(x)), hn::Sub(here(x), left));
        const positions site_at = hn::IfThenElse(nearer_right, right, left);
        const auto none = hn::And(hn::Eq(left, hn::Set(tag, -no_position)), hn::Eq(right, hn::Set(tag, no_position)));
        hn::StoreU(hn::IfThenElse(none, hn::Set(tag, -1), site_at), tag, nearest + x);
    }
    return hn::GetLane(behind);
}

// Plain loops: the compiler turns them into this instruction set's vectors.
template <class V, class N>
void values(const std::int32_t* HWY_RESTRICT nearest, std::int64_t first, std::int64_t last, V weight,
            V* HWY_RESTRICT value) {
    for (std::int64_t x = first; x < last; ++x) {
        const N apart = static_cast<N>(static_cast<std::int32_t>(x) - nearest[x]);
        value[x] = nearest[x] < 0 ? no_site<V>() : static_cast<V>(static_cast<N>(weight) * (apart * apart));
    }
}
template <class K>
void keys(const std::int32_t* HWY_RESTRICT nearest, std::int64_t count, int shift, K* HWY_RESTRICT key) {
    for (std::int64_t x = 0; x < count; ++x) {
        const K at = static_cast<K>(std::max(nearest[x], 0));
        key[x] = nearest[x] < 0 ? no_key<K> : static_cast<K>(at << shift);
    }
}
void values_int32(const std::int32_t* n, std::int64_t a, std::int64_t b, std::int32_t w, std::int32_t* v) {
    values<std::int32_t, std::uint32_t>(n, a, b, w, v);
}
void values_int64(const std::int32_t* n, std::int64_t a, std::int64_t b, std::int64_t w, std::int64_t* v) {
    values<std::int64_t, std::uint64_t>(n, a, b, w, v);
}
void values_float64(const std::int32_t* n, std::int64_t a, std::int64_t b, double w, double* v) {
    values<double, double>(n, a, b, w, v);
}
void keys_int32(const std::int32_t* n, std::int64_t c, int shift, std::int32_t* k) { keys(n, c, shift, k); }
void keys_int64(const std::int32_t* n, std::int64_t c, int shift, std::int64_t* k) { keys(n, c, shift, k); }

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(left_sites);
HWY_EXPORT(nearer_sites);
HWY_EXPORT(values_int32);
HWY_EXPORT(values_int64);
HWY_EXPORT(values_float64);
HWY_EXPORT(keys_int32);
HWY_EXPORT(keys_int64);

namespace {

/// Positions of lines beyond max_simd_line, -1 for none.
std::int32_t left_sites_one_by_one(const std::uint8_t* site, std::int64_t first, std::int64_t last, std::int32_t carry,
                                   std::int32_t* nearest) {
    for (std::int64_t x = first; x < last; ++x)
        nearest[x] = carry = site[x] != 0 ? static_cast<std::int32_t>(x) : carry;
    return carry;
}
std::int32_t nearer_sites_one_by_one(const std::uint8_t* site, std::int64_t first, std::int64_t last,
                                     std::int32_t carry, std::int32_t* nearest) {
    for (std::int64_t x = last - 1; x >= first; --x) {
        carry = site[x] != 0 ? static_cast<std::int32_t>(x) : carry;
        if (carry >= 0 && (nearest[x] < 0 || carry - x < x - nearest[x])) nearest[x] = carry;
    }
    return carry;
}

}  // namespace

void nearest_in_line(const std::uint8_t* site, std::int64_t count, const std::function<void()>& ask,
                     std::int32_t* nearest) {
    const bool vectors = count <= max_simd_line;
    std::int32_t left = vectors ? -no_position : -1, right = vectors ? no_position : -1;
    for_each_piece(count, ask, [&](std::int64_t first, std::int64_t last) {
        left = vectors ? HWY_DYNAMIC_DISPATCH(left_sites)(site, first, last, left, nearest)
                       : left_sites_one_by_one(site, first, last, left, nearest);
    });
    // The same pieces from the end on: the first of them may be the short one.
    const std::int64_t piece = count <= longest_whole_line ? count : line_piece;
    for (std::int64_t first = (count - 1) / piece * piece; first >= 0; first -= piece) {
        const std::int64_t last = std::min(first + piece, count);
        right = vectors ? HWY_DYNAMIC_DISPATCH(nearer_sites)(site, first, last, right, nearest)
                        : nearer_sites_one_by_one(site, first, last, right, nearest);
        if (first > 0) ask();
    }
}

void nearest_round_ends(const std::uint8_t* site, std::int64_t count, std::int32_t* nearest) {
    const std::uint8_t* const end = site + count;
    const std::int64_t first = std::find(site, end, std::uint8_t{1}) - site;
    if (first == count) return;
    const std::int64_t last =
        std::find(std::make_reverse_iterator(end), std::make_reverse_iterator(site), 1).base() - site - 1;
    // Of two equally near sites the one with the smaller coordinate.
    for (std::int64_t x = 0; x < first; ++x)
        nearest[x] = static_cast<std::int32_t>(x + count - last < first - x ? last : first);
    for (std::int64_t x = last + 1; x < count; ++x)
        nearest[x] = static_cast<std::int32_t>(first + count - x <= x - last ? first : last);
}

void values_of_line(const std::int32_t* nearest, std::int64_t first, std::int64_t last, std::int32_t weight,
                    std::int32_t* value) {
    HWY_DYNAMIC_DISPATCH(values_int32)(nearest, first, last, weight, value);
}
void values_of_line(const std::int32_t* nearest, std::int64_t first, std::int64_t last, std::int64_t weight,
                    std::int64_t* value) {
    HWY_DYNAMIC_DISPATCH(values_int64)(nearest, first, last, weight, value);
}
void values_of_line(const std::int32_t* nearest, std::int64_t first, std::int64_t last, double weight, double* value) {
    HWY_DYNAMIC_DISPATCH(values_float64)(nearest, first, last, weight, value);
}
void keys_of_line(const std::int32_t* nearest, std::int64_t count, int shift, std::int32_t* key) {
    HWY_DYNAMIC_DISPATCH(keys_int32)(nearest, count, shift, key);
}
void keys_of_line(const std::int32_t* nearest, std::int64_t count, int shift, std::int64_t* key) {
    HWY_DYNAMIC_DISPATCH(keys_int64)(nearest, count, shift, key);
}

}  // namespace nearfield::exact
#endif
