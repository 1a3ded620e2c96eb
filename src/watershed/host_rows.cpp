#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "watershed/host_rows.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <limits>

#include "watershed/host_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::watersheds::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Key>
void lowest(const Key* key, offsets_of_steps offsets, std::int64_t count, std::int32_t* by) {
    Key best[chunk];
    for (std::int64_t i = 0; i < count; ++i) best[i] = std::numeric_limits<Key>::max(), by[i] = 0;
    for (const std::int32_t offset : offsets) {
        const Key* const from = key + offset;
        for (std::int64_t i = 0; i < count; ++i) {
            const bool lower = from[i] < best[i];
            best[i] = lower ? from[i] : best[i], by[i] = lower ? offset : by[i];
        }
    }
}

template <class Key>
void lowest_by_steps(const Key* key, const std::int32_t* steps, offsets_of_steps offsets, std::int64_t count,
                     std::int32_t* by) {
    Key best[chunk];
    std::int32_t fewest[chunk];
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    for (std::int64_t i = 0; i < count; ++i) best[i] = std::numeric_limits<Key>::max(), by[i] = 0, fewest[i] = most;
    for (const std::int32_t offset : offsets) {
        const Key* const from = key + offset;
        const std::int32_t* const taken = steps + offset;
        for (std::int64_t i = 0; i < count; ++i) {
            const bool takes = (from[i] < best[i]) | ((from[i] == best[i]) & (taken[i] < fewest[i]));
            best[i] = takes ? from[i] : best[i], fewest[i] = takes ? taken[i] : fewest[i];
            by[i] = takes ? offset : by[i];
        }
    }
}

/// Bits of lanes for cells [0, count), a whole vector at a time, then one by one.
template <class D, class Lanes, class One>
HWY_INLINE chunk_bits bits_where(D d, std::int64_t count, const Lanes& of_lanes, const One& of_one) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    chunk_bits found;
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto mask = of_lanes(i);
        if (hn::AllFalse(d, mask)) continue;
        std::uint64_t part = 0;
        hn::StoreMaskBits(d, mask, reinterpret_cast<std::uint8_t*>(&part));
        found.word[i / 64] |= part << i % 64;
    }
    for (; i < count; ++i) found.word[i / 64] |= std::uint64_t{of_one(i) ? 1U : 0U} << i % 64;
    return found;
}

template <class Key>
chunk_bits none_lower(const Key* key, offsets_of_steps offsets, std::int64_t count) {
    const hn::CappedTag<Key, 64> d;
    const auto of_lanes = [&](std::int64_t i) HWY_ATTR {
        auto least = hn::LoadU(d, key + i);
        for (const std::int32_t offset : offsets) least = hn::Min(least, hn::LoadU(d, key + offset + i));
        return hn::Eq(least, hn::LoadU(d, key + i));
    };
    return bits_where(d, count, of_lanes, [&](std::int64_t i) HWY_ATTR {
        bool none = true;
        for (const std::int32_t offset : offsets) none &= key[i + offset] >= key[i];
        return none;
    });
}

chunk_bits differing_codes(const std::int32_t* code, std::int32_t offset, std::int64_t count) {
    const hn::CappedTag<std::int32_t, 64> d;
    const auto none = hn::Set(d, -1);
    const auto of_lanes = [&](std::int64_t i) HWY_ATTR {
        const auto a = hn::LoadU(d, code + i), b = hn::LoadU(d, code + offset + i);
        return hn::And(hn::Ne(a, b), hn::And(hn::Ne(a, none), hn::Ne(b, none)));
    };
    return bits_where(d, count, of_lanes, [&](std::int64_t i) HWY_ATTR {
        return code[i] != code[i + offset] && code[i] != -1 && code[i + offset] != -1;
    });
}

row_loops<std::int32_t> narrow_loops() {
    return {lowest<std::int32_t>, lowest_by_steps<std::int32_t>, none_lower<std::int32_t>};
}
row_loops<std::int64_t> wide_loops() {
    return {lowest<std::int64_t>, lowest_by_steps<std::int64_t>, none_lower<std::int64_t>};
}

}  // namespace nearfield::watersheds::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::watersheds {

HWY_EXPORT(narrow_loops);
HWY_EXPORT(wide_loops);
HWY_EXPORT(differing_codes);

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
chunk_bits differing(const std::int32_t* code, std::int32_t offset, std::int64_t count) {
    return HWY_DYNAMIC_DISPATCH(differing_codes)(code, offset, count);
}

}  // namespace nearfield::watersheds
#endif
