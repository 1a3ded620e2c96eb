#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "chessboard/host_bits.cpp"
#include <bit>

#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "chessboard/host_bits.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::chessboard::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using bytes_tag = hn::CappedTag<std::uint8_t, word_bits>;

void pack(const std::uint8_t* HWY_RESTRICT bytes, std::int64_t words, std::uint64_t* HWY_RESTRICT to) {
    const bytes_tag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (std::int64_t k = 0; k < words; ++k) {
        std::uint64_t word = 0;
        for (std::int64_t x = 0; x < word_bits; x += lanes) {
            std::uint64_t part = 0;
            hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, bytes + k * word_bits + x), hn::Zero(d)),
                              reinterpret_cast<std::uint8_t*>(&part));
            word |= part << x;
        }
        to[k] = word;
    }
}
void unite(const std::uint64_t* HWY_RESTRICT from, std::int64_t words, std::uint64_t* HWY_RESTRICT to) {
    for (std::int64_t k = 0; k < words; ++k) to[k] |= from[k];
}
template <bool Before, bool Behind>
void unite_sides(const std::uint64_t* from, std::int64_t words, std::uint64_t* HWY_RESTRICT to) {
    for (std::int64_t k = 0; k < words; ++k) {
        const std::uint64_t own = from[k], before = own << 1 | from[k - 1] >> (word_bits - 1),
                            behind = own >> 1 | from[k + 1] << (word_bits - 1);
        to[k] = own | (Before ? before : 0) | (Behind ? behind : 0);
    }
}
void unite_beside(const std::uint64_t* from, bool before, bool behind, std::int64_t words, std::uint64_t* to) {
    if (before && behind) unite_sides<true, true>(from, words, to);
    else if (before) unite_sides<true, false>(from, words, to);
    else unite_sides<false, true>(from, words, to);
}
std::int64_t count(const std::uint64_t* from, std::int64_t words) {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < words; ++k) sum += std::popcount(from[k]);
    return sum;
}
void count_without(const std::uint64_t* const* set, int sets, std::int64_t words, std::uint8_t* HWY_RESTRICT to) {
    const bytes_tag d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto one = hn::Set(d, 1), all = hn::Set(d, static_cast<std::uint8_t>(sets));
    for (std::int64_t x = 0; x < words * word_bits; x += lanes) {
        auto sum = all;
        for (int k = 0; k < sets; ++k) {
            const std::uint8_t* const eight = reinterpret_cast<const std::uint8_t*>(set[k]) + x / 8;
            const auto first = static_cast<std::uint8_t>(*eight >> x % 8);
            const auto there = hn::LoadMaskBits(d, lanes < 8 ? &first : eight);
            sum = hn::IfThenElse(there, hn::Sub(sum, one), sum);
        }
        hn::StoreU(sum, d, to + x);
    }
}
void write(const std::uint8_t* HWY_RESTRICT from, std::int64_t cells, std::uint32_t limit, std::uint32_t none,
           std::uint32_t* HWY_RESTRICT to) {
    for (std::int64_t x = 0; x < cells; ++x) to[x] = from[x] > limit ? none : from[x];
}
bit_loops loops() { return {pack, unite, unite_beside, count, count_without, write}; }

}  // namespace nearfield::chessboard::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::chessboard {

HWY_EXPORT(loops);

const bit_loops& loops_over_bits() {
    static const bit_loops found = HWY_DYNAMIC_DISPATCH(loops)();
    return found;
}

}  // namespace nearfield::chessboard
#endif
