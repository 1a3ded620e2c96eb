// Vectors for the host's inner loops. `hn` is Highway, but on x86-64 up to SSSE3 the same names mean the compiler's own
// vectors of 16 bytes, with SSE2 for operations that have no operator: Highway 1.0.3 has nothing between SSSE3 and
// plain C++, with which 4096^2 and 256^3 take 2.3 to 12 times as long; with SSSE3 it emulates the 16-bit minimum, which
// takes 1.1 to 1.8 times as long.
//
// Include this after "hwy/highway.h"; its end is read once for each instruction set.
#ifndef NEARFIELD_HOST_LANES
#define NEARFIELD_HOST_LANES

#include <hwy/base.h>

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace nearfield::exact::sse2 {

// ---- types --------------------------------------------------------------------------------------------------------

template <class T, std::size_t Lanes>
struct lanes_of {
    using lane = T;
    static constexpr std::size_t count = Lanes;
    typedef T type __attribute__((vector_size(Lanes * sizeof(T))));
};
template <class T>
using ScalableTag = lanes_of<T, 16 / sizeof(T)>;
template <class T, std::size_t Most>
using CappedTag = lanes_of<T, (Most < 16 / sizeof(T) ? Most : 16 / sizeof(T))>;
template <class T, class Tag>
using Rebind = lanes_of<T, Tag::count>;
template <class Tag>
using RebindToSigned = Rebind<std::make_signed_t<typename Tag::lane>, Tag>;
template <class Tag>
using Vec = typename Tag::type;
/// Type of masks: all bits of a lane, or none.
template <class Tag>
using Mask = decltype(Vec<Tag>{} == Vec<Tag>{});

template <class V>
using lane_of = std::remove_cvref_t<decltype(V{}[0])>;
template <class V>
inline constexpr bool short_lanes = std::is_same_v<lane_of<V>, std::uint16_t>;
template <class V>
inline constexpr bool byte_lanes = std::is_same_v<lane_of<V>, std::uint8_t>;
template <class V>
inline constexpr bool long_lanes = std::is_integral_v<lane_of<V>> && sizeof(lane_of<V>) == 8;

template <class Tag>
constexpr std::size_t Lanes(Tag) {
    return Tag::count;
}
template <class Tag>
constexpr std::size_t MaxLanes(Tag) {
    return Tag::count;
}

// ---- memory -------------------------------------------------------------------------------------------------------

template <class Tag>
HWY_INLINE Vec<Tag> LoadU(Tag, const typename Tag::lane* from) {
    Vec<Tag> v;
    std::memcpy(&v, from, sizeof(v));
    return v;
}
template <class Tag>
HWY_INLINE Vec<Tag> Load(Tag tag, const typename Tag::lane* from) {
    return LoadU(tag, from);
}
template <class Tag>
HWY_INLINE void StoreU(Vec<Tag> v, Tag, typename Tag::lane* to) {
    std::memcpy(to, &v, sizeof(v));
}
template <class Tag>
HWY_INLINE void Store(Vec<Tag> v, Tag tag, typename Tag::lane* to) {
    StoreU(v, tag, to);
}
template <class Tag>
HWY_INLINE void Stream(Vec<Tag> v, Tag, typename Tag::lane* to) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), (__m128i)v);
}

// ---- lanes --------------------------------------------------------------------------------------------------------

template <class Tag>
HWY_INLINE Vec<Tag> Zero(Tag) {
    return Vec<Tag>{};
}
template <class Tag>
HWY_INLINE Vec<Tag> Set(Tag, typename Tag::lane value) {
    return value - Vec<Tag>{};
}
template <class V>
HWY_INLINE lane_of<V> GetLane(V v) {
    return v[0];
}
template <class V>
HWY_INLINE V Add(V a, V b) {
    return a + b;
}
template <class V>
HWY_INLINE V Sub(V a, V b) {
    return a - b;
}
template <class V>
HWY_INLINE V Mul(V a, V b) {
    return a * b;
}
template <class V>
HWY_INLINE V SaturatedAdd(V a, V b) {
    static_assert(short_lanes<V> || byte_lanes<V>);
    if constexpr (byte_lanes<V>) return (V)_mm_adds_epu8((__m128i)a, (__m128i)b);
    else return (V)_mm_adds_epu16((__m128i)a, (__m128i)b);
}
template <class V>
HWY_INLINE V SaturatedSub(V a, V b) {
    static_assert(short_lanes<V>);
    return (V)_mm_subs_epu16((__m128i)a, (__m128i)b);
}
// SSE2 cannot compare 64-bit integers, and the compiler would work lane by lane.
template <class V>
HWY_INLINE auto Eq(V a, V b) {
    if constexpr (long_lanes<V>) {
        const __m128i halves = _mm_cmpeq_epi32((__m128i)a, (__m128i)b);
        return (V)_mm_and_si128(halves, _mm_shuffle_epi32(halves, _MM_SHUFFLE(2, 3, 0, 1)));
    } else {
        return a == b;
    }
}
template <class V>
HWY_INLINE auto Lt(V a, V b) {
    if constexpr (long_lanes<V>) {
        // The sign of the difference or, if that overflows, the sign of a.
        const __m128i x = (__m128i)a, y = (__m128i)b, less = _mm_sub_epi64(x, y);
        const __m128i sign = _mm_xor_si128(less, _mm_and_si128(_mm_xor_si128(x, y), _mm_xor_si128(less, x)));
        return (V)_mm_shuffle_epi32(_mm_srai_epi32(sign, 31), _MM_SHUFFLE(3, 3, 1, 1));
    } else {
        return a < b;
    }
}
template <class M, class V>
HWY_INLINE V IfThenElse(M m, V yes, V no) {
    return (V)(((M)yes & m) | ((M)no & ~m));
}
template <class V>
HWY_INLINE V Min(V a, V b) {
    if constexpr (byte_lanes<V>) return (V)_mm_min_epu8((__m128i)a, (__m128i)b);
    else if constexpr (short_lanes<V>) return a - SaturatedSub(a, b);
    else return IfThenElse(Lt(a, b), a, b);
}
template <class V>
HWY_INLINE V Max(V a, V b) {
    if constexpr (short_lanes<V>) return b + SaturatedSub(a, b);
    else return IfThenElse(Lt(b, a), a, b);
}
template <class V>
HWY_INLINE V Sqrt(V v) {
    static_assert(std::is_floating_point_v<lane_of<V>>);
    if constexpr (sizeof(lane_of<V>) == 4) return _mm_sqrt_ps(v);
    else return _mm_sqrt_pd(v);
}
template <class Tag, class V>
HWY_INLINE Vec<Tag> ConvertTo(Tag, V v) {
    return __builtin_convertvector(v, Vec<Tag>);
}
template <class Tag, class V>
HWY_INLINE Vec<Tag> PromoteTo(Tag, V v) {
    return __builtin_convertvector(v, Vec<Tag>);
}
template <class Tag, class V>
HWY_INLINE Vec<Tag> DemoteTo(Tag, V v) {
    return __builtin_convertvector(v, Vec<Tag>);
}
template <class Tag, class V>
HWY_INLINE Vec<Tag> BitCast(Tag, V v) {
    return (Vec<Tag>)v;
}

/// Vectors have no halves here; loops over wide vectors name them.
template <class Tag, class V>
HWY_INLINE Vec<Tag> LowerHalf(Tag, V v) {
    return v;
}
template <class Tag, class V>
HWY_INLINE Vec<Tag> UpperHalf(Tag, V v) {
    return v;
}
template <class Tag>
HWY_INLINE Vec<Tag> InterleaveLower(Tag, Vec<Tag> a, Vec<Tag> b) {
    if constexpr (sizeof(typename Tag::lane) == 2) return (Vec<Tag>)_mm_unpacklo_epi16((__m128i)a, (__m128i)b);
    else if constexpr (sizeof(typename Tag::lane) == 4) return (Vec<Tag>)_mm_unpacklo_epi32((__m128i)a, (__m128i)b);
    else return (Vec<Tag>)_mm_unpacklo_epi64((__m128i)a, (__m128i)b);
}
template <class Tag>
HWY_INLINE Vec<Tag> InterleaveUpper(Tag, Vec<Tag> a, Vec<Tag> b) {
    if constexpr (sizeof(typename Tag::lane) == 2) return (Vec<Tag>)_mm_unpackhi_epi16((__m128i)a, (__m128i)b);
    else if constexpr (sizeof(typename Tag::lane) == 4) return (Vec<Tag>)_mm_unpackhi_epi32((__m128i)a, (__m128i)b);
    else return (Vec<Tag>)_mm_unpackhi_epi64((__m128i)a, (__m128i)b);
}

// ---- masks --------------------------------------------------------------------------------------------------------

template <class M>
HWY_INLINE M Not(M m) {
    return ~m;
}
// Masks of lanes of one size may have two types, because clang distinguishes long from long long.
template <class M, class N>
HWY_INLINE M And(M a, N b) {
    return a & (M)b;
}
template <class M, class N>
HWY_INLINE M Or(M a, N b) {
    return a | (M)b;
}
template <class M, class V>
HWY_INLINE V IfThenZeroElse(M m, V no) {
    return (V)(~m & (M)no);
}
template <class Tag, class M>
HWY_INLINE Mask<Tag> RebindMask(Tag, M m) {
    return (Mask<Tag>)m;
}
template <class Tag, class M>
HWY_INLINE bool AllTrue(Tag, M m) {
    return _mm_movemask_epi8((__m128i)m) == 0xffff;
}
template <class Tag, class M>
HWY_INLINE bool AllFalse(Tag, M m) {
    return _mm_movemask_epi8((__m128i)m) == 0;
}
template <class Tag, class M>
HWY_INLINE std::size_t FindFirstTrue(Tag, M m) {
    const auto bytes = static_cast<unsigned>(_mm_movemask_epi8((__m128i)m));
    return static_cast<std::size_t>(std::countr_zero(bytes)) / sizeof(typename Tag::lane);
}
template <class Tag, class M>
HWY_INLINE void StoreMaskBits(Tag, M m, std::uint8_t* bits) {
    constexpr std::size_t bytes = sizeof(typename Tag::lane);
    if constexpr (bytes == 1) {
        const auto all = static_cast<std::uint16_t>(_mm_movemask_epi8((__m128i)m));
        std::memcpy(bits, &all, sizeof(all));
    } else if constexpr (bytes == 2)
        *bits = static_cast<std::uint8_t>(_mm_movemask_epi8(_mm_packs_epi16((__m128i)m, _mm_setzero_si128())));
    else if constexpr (bytes == 4) *bits = static_cast<std::uint8_t>(_mm_movemask_ps((__m128)m));
    else *bits = static_cast<std::uint8_t>(_mm_movemask_pd((__m128d)m));
}

// ---- all lanes together; only the first lane of the results is valid -----------------------------------------------

template <class V, class Join>
HWY_INLINE V joined(V v, const Join& join) {
    v = join(v, (V)_mm_srli_si128((__m128i)v, 8));
    if constexpr (sizeof(lane_of<V>) <= 4) v = join(v, (V)_mm_srli_si128((__m128i)v, 4));
    if constexpr (sizeof(lane_of<V>) <= 2) v = join(v, (V)_mm_srli_si128((__m128i)v, 2));
    return v;
}
template <class Tag, class V>
HWY_INLINE V MinOfLanes(Tag, V v) {
    return joined(v, [](V a, V b) { return Min(a, b); });
}
template <class Tag, class V>
HWY_INLINE V MaxOfLanes(Tag, V v) {
    return joined(v, [](V a, V b) { return Max(a, b); });
}
template <class Tag, class V>
HWY_INLINE V SumOfLanes(Tag, V v) {
    return joined(v, [](V a, V b) { return Add(a, b); });
}

}  // namespace nearfield::exact::sse2
#endif
#endif

namespace nearfield::exact::HWY_NAMESPACE {
#if defined(__SSE2__) && defined(__GNUC__) && \
    (HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SSSE3)
namespace hn = sse2;
#else
namespace hn = hwy::HWY_NAMESPACE;
#endif
}  // namespace nearfield::exact::HWY_NAMESPACE
