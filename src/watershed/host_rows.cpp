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

template <class Key>
chunk_bits none_lower(const Key* key, offsets_of_steps offsets, std::int64_t count) {
    Key least[chunk];
    for (std::int64_t i = 0; i < count; ++i) least[i] = std::numeric_limits<Key>::max();
    for (const std::int32_t offset : offsets) {
        const Key* const from = key + offset;
        for (std::int64_t i = 0; i < count; ++i) least[i] = from[i] < least[i] ? from[i] : least[i];
    }
    std::uint8_t none[chunk];
    for (std::int64_t i = 0; i < count; ++i) none[i] = least[i] >= key[i] ? 1 : 0;
    chunk_bits found;
    for (std::int64_t i = 0; i < count; ++i) found.word[i / 64] |= std::uint64_t{none[i]} << i % 64;
    return found;
}

chunk_bits differing_codes(const std::int32_t* code, std::int32_t offset, std::int64_t count) {
    const hn::CappedTag<std::int32_t, 64> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto none = hn::Set(d, -1);
    chunk_bits found;
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto a = hn::LoadU(d, code + i), b = hn::LoadU(d, code + offset + i);
        const auto differs = hn::And(hn::Ne(a, b), hn::And(hn::Ne(a, none), hn::Ne(b, none)));
        if (hn::AllFalse(d, differs)) continue;
        std::uint64_t part = 0;
        hn::StoreMaskBits(d, differs, reinterpret_cast<std::uint8_t*>(&part));
        found.word[i / 64] |= part << i % 64;
    }
    for (; i < count; ++i)
        if (code[i] != code[i + offset] && code[i] != -1 && code[i + offset] != -1)
            found.word[i / 64] |= std::uint64_t{1} << i % 64;
    return found;
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
