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

template <class V, class T>
inline constexpr bool has_lanes = std::is_same_v<std::remove_cvref_t<decltype(V{}[0])>, T>;
template <class V>
inline constexpr bool long_lanes = sizeof(V{}[0]) == 8 && !has_lanes<V, double>;

constexpr std::size_t Lanes(auto tag) { return decltype(tag)::count; }
constexpr std::size_t MaxLanes(auto tag) { return decltype(tag)::count; }

// ---- memory -------------------------------------------------------------------------------------------------------

HWY_INLINE auto LoadU(auto tag, const auto* from) {
    Vec<decltype(tag)> v;
    std::memcpy(&v, from, sizeof(v));
    return v;
}
HWY_INLINE auto Load(auto tag, const auto* from) { return LoadU(tag, from); }
HWY_INLINE void StoreU(auto v, auto, auto* to) { std::memcpy(to, &v, sizeof(v)); }
HWY_INLINE void Store(auto v, auto tag, auto* to) { StoreU(v, tag, to); }
HWY_INLINE void Stream(auto v, auto, auto* to) { _mm_stream_si128(reinterpret_cast<__m128i*>(to), (__m128i)v); }

// ---- lanes --------------------------------------------------------------------------------------------------------

HWY_INLINE auto Zero(auto tag) { return Vec<decltype(tag)>{}; }
HWY_INLINE auto Set(auto tag, typename decltype(tag)::lane value) { return value - Vec<decltype(tag)>{}; }
HWY_INLINE auto GetLane(auto v) { return v[0]; }
HWY_INLINE auto Add(auto a, auto b) { return a + b; }
HWY_INLINE auto Sub(auto a, auto b) { return a - b; }
HWY_INLINE auto Mul(auto a, auto b) { return a * b; }
HWY_INLINE auto SaturatedAdd(auto a, auto b) {
    if constexpr (has_lanes<decltype(a), std::uint8_t>) return (decltype(a))_mm_adds_epu8((__m128i)a, (__m128i)b);
    else return (decltype(a))_mm_adds_epu16((__m128i)a, (__m128i)b);
}
/// a - min(a, b) of 16-bit lanes.
HWY_INLINE auto excess(auto a, auto b) { return (decltype(a))_mm_subs_epu16((__m128i)a, (__m128i)b); }
// SSE2 cannot compare 64-bit integers, and the compiler would work lane by lane.
HWY_INLINE auto Eq(auto a, auto b) {
    if constexpr (long_lanes<decltype(a)>) {
        const __m128i halves = _mm_cmpeq_epi32((__m128i)a, (__m128i)b);
        return (decltype(a))_mm_and_si128(halves, _mm_shuffle_epi32(halves, _MM_SHUFFLE(2, 3, 0, 1)));
    } else {
        return a == b;
    }
}
HWY_INLINE auto Lt(auto a, auto b) {
    if constexpr (long_lanes<decltype(a)>) {
        // The sign of the difference or, if that overflows, the sign of a.
        const __m128i x = (__m128i)a, y = (__m128i)b, less = _mm_sub_epi64(x, y);
        const __m128i sign = _mm_xor_si128(less, _mm_and_si128(_mm_xor_si128(x, y), _mm_xor_si128(less, x)));
        return (decltype(a))_mm_shuffle_epi32(_mm_srai_epi32(sign, 31), _MM_SHUFFLE(3, 3, 1, 1));
    } else {
        return a < b;
    }
}
template <class M>
HWY_INLINE auto IfThenElse(M m, auto yes, auto no) {
    return (decltype(no))(((M)yes & m) | ((M)no & ~m));
}
HWY_INLINE auto Min(auto a, auto b) {
    if constexpr (has_lanes<decltype(a), std::uint8_t>) return (decltype(a))_mm_min_epu8((__m128i)a, (__m128i)b);
    else if constexpr (has_lanes<decltype(a), std::uint16_t>) return a - excess(a, b);
    else return IfThenElse(Lt(a, b), a, b);
}
HWY_INLINE auto Max(auto a, auto b) {
    if constexpr (has_lanes<decltype(a), std::uint16_t>) return b + excess(a, b);
    else return IfThenElse(Lt(b, a), a, b);
}
HWY_INLINE auto Sqrt(auto v) {
    if constexpr (has_lanes<decltype(v), float>) return (decltype(v))_mm_sqrt_ps(v);
    else return (decltype(v))_mm_sqrt_pd(v);
}
HWY_INLINE auto ConvertTo(auto tag, auto v) { return __builtin_convertvector(v, Vec<decltype(tag)>); }
HWY_INLINE auto PromoteTo(auto tag, auto v) { return ConvertTo(tag, v); }
HWY_INLINE auto DemoteTo(auto tag, auto v) { return ConvertTo(tag, v); }
HWY_INLINE auto BitCast(auto tag, auto v) { return (Vec<decltype(tag)>)v; }

/// Vectors have no halves here; loops over wide vectors name them.
HWY_INLINE auto LowerHalf(auto, auto v) { return v; }
HWY_INLINE auto UpperHalf(auto, auto v) { return v; }
HWY_INLINE auto InterleaveLower(auto, auto a, auto b) {
    if constexpr (sizeof(a[0]) == 2) return (decltype(a))_mm_unpacklo_epi16((__m128i)a, (__m128i)b);
    else if constexpr (sizeof(a[0]) == 4) return (decltype(a))_mm_unpacklo_epi32((__m128i)a, (__m128i)b);
    else return (decltype(a))_mm_unpacklo_epi64((__m128i)a, (__m128i)b);
}
HWY_INLINE auto InterleaveUpper(auto, auto a, auto b) {
    if constexpr (sizeof(a[0]) == 2) return (decltype(a))_mm_unpackhi_epi16((__m128i)a, (__m128i)b);
    else if constexpr (sizeof(a[0]) == 4) return (decltype(a))_mm_unpackhi_epi32((__m128i)a, (__m128i)b);
    else return (decltype(a))_mm_unpackhi_epi64((__m128i)a, (__m128i)b);
}

// ---- masks --------------------------------------------------------------------------------------------------------

HWY_INLINE auto Not(auto m) { return ~m; }
// Masks of lanes of one size may have two types, because clang distinguishes long from long long.
HWY_INLINE auto And(auto a, auto b) { return a & (decltype(a))b; }
HWY_INLINE auto Or(auto a, auto b) { return a | (decltype(a))b; }
HWY_INLINE auto IfThenZeroElse(auto m, auto no) { return (decltype(no))(~m & (decltype(m))no); }
HWY_INLINE auto RebindMask(auto tag, auto m) { return (Mask<decltype(tag)>)m; }
HWY_INLINE bool AllTrue(auto, auto m) { return _mm_movemask_epi8((__m128i)m) == 0xffff; }
HWY_INLINE bool AllFalse(auto, auto m) { return _mm_movemask_epi8((__m128i)m) == 0; }
/// Masks of bytes only.
HWY_INLINE void StoreMaskBits(auto, auto m, std::uint8_t* bits) {
    const auto all = static_cast<std::uint16_t>(_mm_movemask_epi8((__m128i)m));
    std::memcpy(bits, &all, sizeof(all));
}

// ---- all lanes together; only the first lane of the results is valid -----------------------------------------------

HWY_INLINE auto joined(auto v, const auto& join) {
    v = join(v, (decltype(v))_mm_srli_si128((__m128i)v, 8));
    if constexpr (sizeof(v[0]) <= 4) v = join(v, (decltype(v))_mm_srli_si128((__m128i)v, 4));
    if constexpr (sizeof(v[0]) <= 2) v = join(v, (decltype(v))_mm_srli_si128((__m128i)v, 2));
    return v;
}
HWY_INLINE auto MinOfLanes(auto, auto v) {
    return joined(v, [](auto a, auto b) { return Min(a, b); });
}
HWY_INLINE auto MaxOfLanes(auto, auto v) {
    return joined(v, [](auto a, auto b) { return Max(a, b); });
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
