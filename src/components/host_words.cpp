#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "components/host_words.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <bit>
#include <type_traits>

#include "components/host_words.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::components::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using word = std::uint64_t;

/// Compares 64 cells: sets bit x if a[x] and b[x] differ.
template <class T>
HWY_INLINE word different_word(const T* a, const T* b) {
    const hn::CappedTag<T, word_bits> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    // Vectors of at most 8 lanes yield a byte of bits, which avoids a merge of registers.
    using bits = std::conditional_t<(hn::MaxLanes(d) <= 8), std::uint8_t, word>;
    word same = 0;
    for (std::int64_t x = 0; x < word_bits; x += lanes) {
        bits part = 0;
        hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, a + x), hn::LoadU(d, b + x)), reinterpret_cast<std::uint8_t*>(&part));
        same |= static_cast<word>(part) << x;
    }
    return ~same;
}

template <class T>
void different(const void* here, const void* there, std::int64_t cells, word* words) {
    const T *const a = static_cast<const T*>(here), *const b = static_cast<const T*>(there);
    std::int64_t x = 0;
    for (; x + word_bits <= cells; x += word_bits) *words++ = different_word(a + x, b + x);
    if (x == cells) return;
    *words = 0;
    if (x > 0) *words = different_word(a + cells - word_bits, b + cells - word_bits) >> (x + word_bits - cells);
    else
        for (std::int64_t i = 0; i < cells; ++i) *words |= static_cast<word>(a[i] != b[i]) << i;
}

void different_of(const void* here, const void* there, std::int64_t bytes, std::int64_t cells, word* words) {
    switch (bytes) {
        case 1: return different<std::uint8_t>(here, there, cells, words);
        case 2: return different<std::uint16_t>(here, there, cells, words);
        case 4: return different<std::uint32_t>(here, there, cells, words);
        default: return different<std::uint64_t>(here, there, cells, words);
    }
}

std::int64_t runs_of(const word* ends, const beside_words& beside, std::int64_t words, found_run* to) {
    found_run* run = to;
    std::int64_t first = 0;
    word faces = 2;
    for (std::int64_t w = 0; w < words; ++w) {
        word of[4] = {}, left = ~word{0};  // bits of cells that belong to no listed run yet
        for (int k = 0; k < beside.count; ++k) of[k] = beside.of[k][w];
        const auto faces_in = [&](word which) {
            word sum = 0;
            for (const word each : of) sum += static_cast<word>(std::popcount(each & which));
            return sum;
        };
        for (word e = ends[w]; e != 0; e &= e - 1) {
            const std::int64_t end = w * word_bits + std::countr_zero(e) + 1;
            *run++ = {-1, first, end, faces + faces_in(left & (e ^ (e - 1)))};
            left = ~(e ^ (e - 1));
            first = end, faces = 2;
        }
        faces += faces_in(left);
    }
    return run - to;
}

}  // namespace nearfield::components::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::components {

HWY_EXPORT(different_of);
HWY_EXPORT(runs_of);

void find_different(const void* here, const void* there, std::int64_t bytes, std::int64_t cells, std::uint64_t* words) {
    HWY_DYNAMIC_DISPATCH(different_of)(here, there, bytes, cells, words);
}
std::int64_t list_runs(const std::uint64_t* ends, const beside_words& beside, std::int64_t words, found_run* to) {
    return HWY_DYNAMIC_DISPATCH(runs_of)(ends, beside, words, to);
}

}  // namespace nearfield::components
#endif
