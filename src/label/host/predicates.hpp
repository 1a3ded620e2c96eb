// Predicates of cells as bytes and words. Only the files that are compiled once per instruction set include this
// header.
#if defined(NEARFIELD_LABEL_PREDICATES) == defined(HWY_TARGET_TOGGLE)
#ifdef NEARFIELD_LABEL_PREDICATES
#undef NEARFIELD_LABEL_PREDICATES
#else
#define NEARFIELD_LABEL_PREDICATES
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "label/host/bits.hpp"
#include "label/host/front.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::labelling::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using of_byte = hn::CappedTag<std::uint8_t, word_bits>;

/// Bit i: byte i of 64 is not zero.
HWY_INLINE std::uint64_t word_of(const std::uint8_t* byte) {
    const of_byte d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::uint64_t word = 0;
    if (lanes < 8) {
        for (int i = 0; i < word_bits; ++i) word |= static_cast<std::uint64_t>(byte[i] != 0) << i;
        return word;
    }
    for (std::int64_t i = 0; i < word_bits; i += lanes) {
        std::uint64_t part = 0;
        hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, byte + i), hn::Zero(d)), reinterpret_cast<std::uint8_t*>(&part));
        word |= part << i;
    }
    return word;
}

// The compiler vectorises these loops; `cells` is often a constant.

template <class T>
HWY_INLINE void within_bytes(const rule<T>& r, const T* a, const T* b, std::int64_t cells, std::uint8_t* out) {
    if constexpr (std::is_floating_point_v<T>) {
        const double tolerance = r.tolerance;
        for (std::int64_t x = 0; x < cells; ++x) {
            const double d = std::fabs(static_cast<double>(a[x]) - static_cast<double>(b[x]));
            out[x] = static_cast<std::uint8_t>((a[x] == b[x]) | (d <= tolerance));
        }
    } else {
        // The difference of two integers fits the unsigned type of their width.
        using natural = std::make_unsigned_t<T>;
        const auto tolerance =
            static_cast<natural>(std::min<std::uint64_t>(r.tolerance, std::numeric_limits<natural>::max()));
        for (std::int64_t x = 0; x < cells; ++x) {
            const auto one = static_cast<natural>(a[x]), other = static_cast<natural>(b[x]);
            const auto d = static_cast<natural>(a[x] < b[x] ? other - one : one - other);
            out[x] = d <= tolerance;
        }
    }
}

template <class T>
HWY_INLINE void named_bytes(const rule<T>& r, const T* a, const T* b, std::int64_t cells, std::uint8_t* out) {
    if constexpr (std::is_integral_v<T>) {
        const T here = r.here, there = r.there;
        for (std::int64_t x = 0; x < cells; ++x) out[x] = ((a[x] & here) | (b[x] & there)) != 0;
    }
}

template <class T>
HWY_INLINE void linked_bytes(const rule<T>& r, const T* a, const T* b, int channels, std::int64_t cells,
                             std::uint8_t* out) {
    if (channels > 1) {
        for (std::int64_t x = 0; x < cells; ++x) out[x] = r.linked(a + x * channels, b + x * channels, channels, 1);
    } else if (r.kind == criterion::equal) {
        for (std::int64_t x = 0; x < cells; ++x) out[x] = a[x] == b[x];
    } else if (r.kind == criterion::links) {
        named_bytes(r, a, b, cells, out);
    } else {
        within_bytes(r, a, b, cells, out);
    }
}

/// Vector of T whose lanes make at most one word of bits.
template <class T>
using of_element = hn::CappedTag<T, word_bits>;

/// True if words of such rows are made of vectors of T, without an array of bytes.
template <class T>
HWY_INLINE bool links_by_vectors(const rule<T>& r, int channels, std::int64_t cells) {
    if (channels > 1 || cells <= word_bits || hn::Lanes(of_element<T>()) < 8) return false;
    return r.kind == criterion::equal || r.kind == criterion::links || (std::is_integral_v<T> && sizeof(T) <= 4);
}

/// Makes a word from 64 lanes of T; `mask(i)` returns the mask of the vector from lane i on. Masks of 8 lanes are
/// joined in a register, because a word that is stored byte by byte cannot be loaded before all bytes are written. More
/// lanes go through memory: GCC 12 (-O1 with ThreadSanitizer) shifts parts of 32 lanes with stray bits above them.
template <class T, class Mask>
HWY_INLINE std::uint64_t word_of_masks(const Mask& mask) {
    const of_element<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::uint64_t word = 0;
    if constexpr (hn::MaxLanes(of_element<T>()) == 8) {
        for (std::int64_t i = 0; i < word_bits; i += lanes) {
            std::uint8_t bits = 0;
            hn::StoreMaskBits(d, mask(i), &bits);
            word |= std::uint64_t{bits} << i;
        }
    } else {
        std::uint8_t bits[word_bits / 8];
        for (std::int64_t i = 0; i < word_bits; i += lanes) hn::StoreMaskBits(d, mask(i), bits + i / 8);
        std::memcpy(&word, bits, sizeof word);
    }
    return word;
}

/// Bit i: a[i] and b[i], of 64, would be linked.
template <class T>
HWY_INLINE std::uint64_t linked_word(const rule<T>& r, const T* a, const T* b) {
    const of_element<T> d;
    if constexpr (std::is_integral_v<T>) {
        if (r.kind == criterion::links) {
            const auto to = hn::Set(d, r.here), back = hn::Set(d, r.there);
            return word_of_masks<T>([&](std::int64_t i) {
                const auto named = hn::Or(hn::And(hn::LoadU(d, a + i), to), hn::And(hn::LoadU(d, b + i), back));
                return hn::Ne(named, hn::Zero(d));
            });
        }
    }
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) {
        if (r.kind == criterion::within) {
            // The difference of two integers fits the unsigned type of their width.
            using natural = std::make_unsigned_t<T>;
            const hn::Rebind<natural, of_element<T>> n;
            constexpr std::uint64_t most = std::numeric_limits<natural>::max();
            const auto tolerance = hn::Set(n, static_cast<natural>(std::min<std::uint64_t>(r.tolerance, most)));
            return word_of_masks<T>([&](std::int64_t i) {
                const auto one = hn::LoadU(d, a + i), other = hn::LoadU(d, b + i);
                const auto apart = hn::Sub(hn::BitCast(n, hn::Max(one, other)), hn::BitCast(n, hn::Min(one, other)));
                return hn::RebindMask(d, hn::Eq(hn::Min(apart, tolerance), apart));
            });
        }
    }
    return word_of_masks<T>([&](std::int64_t i) { return hn::Eq(hn::LoadU(d, a + i), hn::LoadU(d, b + i)); });
}

/// Bit i: cell `begin` + i of a row and the one `shift` (-1, 0, 1) beside it in another would be linked. If a word
/// reaches beyond the cells that have such a neighbour, one further inside is compared and shifted. Requires
/// links_by_vectors().
template <class T>
HWY_INLINE std::uint64_t linked_word(const rule<T>& r, const T* here, const T* there, std::int64_t cells,
                                     std::int64_t begin, int shift) {
    const std::int64_t low = shift < 0 ? 1 : 0, high = cells - (shift > 0 ? 1 : 0) - word_bits;
    const std::int64_t from = std::clamp(begin, low, high), moved = from - begin;
    if (moved <= -word_bits) return 0;
    const std::uint64_t word = linked_word(r, here + from, there + from + shift);
    return moved >= 0 ? word << moved : word >> -moved;
}

}  // namespace nearfield::labelling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
