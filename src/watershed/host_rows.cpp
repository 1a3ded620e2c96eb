#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "watershed/host_rows.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <limits>

#include "watershed/host_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::watersheds::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Stores one number for each key of a vector.
template <class D>
HWY_INLINE void put(D d, hn::Vec<D> number, std::int32_t* by) {
    if constexpr (sizeof(hn::TFromD<D>) == 8) {
        const hn::RebindToUnsigned<D> bits;
        const hn::Rebind<std::uint32_t, D> narrow;
        hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(bits, number)), narrow, reinterpret_cast<std::uint32_t*>(by));
    } else {
        hn::StoreU(number, d, by);
    }
}

/// Gathers the bits of lanes for cells [0, count), one vector at a time.
template <class D, class Lanes>
HWY_INLINE chunk_bits bits_where(D d, std::int64_t count, const Lanes& of_lanes) {
    chunk_bits found;
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
        const auto mask = of_lanes(i);
        if (hn::AllFalse(d, mask)) continue;
        std::uint64_t part = 0;
        hn::StoreMaskBits(d, mask, reinterpret_cast<std::uint8_t*>(&part));
        found.word[i / 64] |= part << i % 64;
    }
    if (count % 64 != 0) found.word[count / 64] &= (std::uint64_t{1} << count % 64) - 1;
    return found;
}

template <class Key>
void descent(const Key* key, offsets_of_steps offsets, std::int64_t count, std::int32_t* by) {
    const hn::CappedTag<Key, 64> d;
    [[maybe_unused]] const auto most = hn::Set(d, std::numeric_limits<Key>::max());
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
        auto best = hn::LoadU(d, key + i), chosen = hn::Zero(d);
        for (const std::int32_t offset : offsets) {
            const auto there = hn::LoadU(d, key + offset + i);
            auto takes = offset < 0 ? hn::Not(hn::Lt(best, there)) : hn::Lt(there, best);
            if (sizeof(Key) == 8) takes = hn::And(takes, hn::Lt(there, most));  // also skips places without a cell
            best = hn::Min(best, there);
            chosen = hn::IfThenElse(takes, hn::Set(d, Key{offset}), chosen);
        }
        put(d, chosen, by + i);
    }
}

template <class Key>
chunk_bits lowest(const Key* key, offsets_of_steps offsets, std::int64_t count, std::int32_t* by) {
    const hn::CappedTag<Key, 64> d;
    return bits_where(d, count, [&](std::int64_t i) HWY_ATTR {
        auto best = hn::Set(d, std::numeric_limits<Key>::max()), chosen = hn::Zero(d);
        Key number = 0;
        for (const std::int32_t offset : offsets) {
            const auto there = hn::LoadU(d, key + offset + i);
            chosen = hn::IfThenElse(hn::Lt(there, best), hn::Set(d, ++number), chosen);
            best = hn::Min(best, there);
        }
        put(d, chosen, by + i);
        return hn::Not(hn::Lt(best, hn::LoadU(d, key + i)));
    });
}

template <class Key>
void lowest_by_steps(const Key* key, const std::int32_t* steps, offsets_of_steps offsets, std::int64_t count,
                     std::int32_t* by) {
    Key best[chunk];
    std::int32_t fewest[chunk], number = 0;
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    for (std::int64_t i = 0; i < count; ++i) best[i] = std::numeric_limits<Key>::max(), by[i] = 0, fewest[i] = most;
    for (const std::int32_t offset : offsets) {
        const Key* const from = key + offset;
        const std::int32_t* const taken = steps + offset;
        ++number;
        for (std::int64_t i = 0; i < count; ++i) {
            const bool takes = (from[i] < best[i]) | ((from[i] == best[i]) & (taken[i] < fewest[i]));
            best[i] = takes ? from[i] : best[i], fewest[i] = takes ? taken[i] : fewest[i];
            by[i] = takes ? number : by[i];
        }
    }
}

void differing(const std::int32_t* key, const std::int32_t* code, std::span<const far_step> all, std::int64_t count,
               chunk_bits* found) {
    const hn::CappedTag<std::int32_t, 64> d;
    const auto none = hn::Set(d, -1);
    for (const auto& [offset, between] : all)
        *found++ = bits_where(d, count, [&, far = offset, beside = offsets_of_steps(between)](std::int64_t i) HWY_ATTR {
            const auto a = hn::LoadU(d, code + i), b = hn::LoadU(d, code + far + i);
            const auto differ = hn::And(hn::Ne(a, b), hn::And(hn::Ne(a, none), hn::Ne(b, none)));
            if (beside.empty() || hn::AllFalse(d, differ)) return differ;
            const auto pass = hn::Max(hn::LoadU(d, key + i), hn::LoadU(d, key + far + i));
            auto least = hn::LoadU(d, key + beside[0] + i);
            for (const std::int32_t each : beside) least = hn::Min(least, hn::LoadU(d, key + each + i));
            return hn::And(differ, hn::Lt(pass, least));
        });
}

row_loops<std::int32_t> narrow_loops() {
    return {descent<std::int32_t>, lowest<std::int32_t>, lowest_by_steps<std::int32_t>};
}
row_loops<std::int64_t> wide_loops() {
    return {descent<std::int64_t>, lowest<std::int64_t>, lowest_by_steps<std::int64_t>};
}

}  // namespace nearfield::watersheds::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::watersheds {

HWY_EXPORT(narrow_loops);
HWY_EXPORT(wide_loops);
HWY_EXPORT(differing);

template <>
const row_loops<std::int32_t>& loops() {
    static const row_loops<std::int32_t> found = HWY_DYNAMIC_DISPATCH(narrow_loops)();
    return found;
}
template <>
const row_loops<std::int64_t>& loops() {
    static const row_loops<std::int64_t> found = HWY_DYNAMIC_DISPATCH(wide_loops)();
    return found;
}
void find_differing(const std::int32_t* key, const std::int32_t* code, std::span<const far_step> all,
                    std::int64_t count, chunk_bits* found) {
    HWY_DYNAMIC_DISPATCH(differing)(key, code, all, count, found);
}

}  // namespace nearfield::watersheds
#endif
