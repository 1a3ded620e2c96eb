// CUDA's functions of a thread, of a warp and of a block, as far as the engine uses them.
#pragma once

#include <math.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "threads.hpp"

struct alignas(8) int2 {
    std::int32_t x, y;
};
struct alignas(16) int4 {
    std::int32_t x, y, z, w;
};
struct alignas(8) uint2 {
    std::uint32_t x, y;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
struct alignas(16) uint4 {
    std::uint32_t x, y, z, w;
};

struct alignas(16) double2 {
    double x, y;
};
inline int __double2hiint(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x)); }
inline double __hiloint2double(int high, int low) {
    return std::bit_cast<double>(std::uint64_t{static_cast<std::uint32_t>(high)} << 32 |
                                 static_cast<std::uint32_t>(low));
}

template <class A, class B>
    requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
constexpr auto min(A a, B b) -> decltype(a + b) {
    return static_cast<decltype(a + b)>(a) < static_cast<decltype(a + b)>(b) ? a : b;
}
template <class A, class B>
    requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
constexpr auto max(A a, B b) -> decltype(a + b) {
    return static_cast<decltype(a + b)>(a) > static_cast<decltype(a + b)>(b) ? a : b;
}

// Bits of integers.
inline int __clz(int x) { return std::countl_zero(static_cast<std::uint32_t>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<std::uint64_t>(x)); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<std::uint32_t>(x)) + 1; }
inline int __ffsll(long long x) { return x == 0 ? 0 : std::countr_zero(static_cast<std::uint64_t>(x)) + 1; }
inline int __popc(std::uint32_t x) { return std::popcount(x); }
inline int __popcll(std::uint64_t x) { return std::popcount(x); }
inline std::uint32_t __brev(std::uint32_t x) {
    std::uint32_t y = 0;
    for (int i = 0; i < 32; ++i) y |= (x >> i & 1) << (31 - i);
    return y;
}
inline std::uint32_t __funnelshift_l(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
    return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) << (by % 32) >> 32);
}
inline std::uint32_t __funnelshift_r(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
    return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> (by % 32));
}
inline std::uint32_t __byte_perm(std::uint32_t a, std::uint32_t b, std::uint32_t select) {
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    std::uint32_t made = 0;
    for (int i = 0; i < 4; ++i) {
        const std::uint32_t which = select >> 4 * i & 15;
        std::uint32_t byte = both >> 8 * (which & 7) & 255;
        if (which & 8) byte = byte & 128 ? 255 : 0;
        made |= byte << 8 * i;
    }
    return made;
}
inline float __int_as_float(std::int32_t x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(std::uint32_t x) { return std::bit_cast<float>(x); }
inline std::int32_t __float_as_int(float x) { return std::bit_cast<std::int32_t>(x); }
inline std::uint32_t __float_as_uint(float x) { return std::bit_cast<std::uint32_t>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

// Arithmetic.
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline unsigned __vminu4(unsigned a, unsigned b) {
    unsigned both = 0;
    for (int i = 0; i < 32; i += 8) both |= std::min(a >> i & 0xffU, b >> i & 0xffU) << i;
    return both;
}
inline unsigned __vcmpne4(unsigned a, unsigned b) {
    unsigned both = 0;
    for (int i = 0; i < 32; i += 8)
        if ((a >> i & 0xffU) != (b >> i & 0xffU)) both |= 0xffU << i;
    return both;
}
inline unsigned __vmaxu4(unsigned a, unsigned b) { return ~__vminu4(~a, ~b); }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xffU) * (b >> i & 0xffU);
    return c;
}
inline int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) c += static_cast<std::int8_t>(a >> i) * static_cast<std::int8_t>(b >> i);
    return c;
}
inline std::uint32_t __dp2a_lo(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return c + (a & 0xffff) * (b & 255) + (a >> 16) * (b >> 8 & 255);
}
namespace on_cpu {
/// Applies `of` to the lower and the upper halves of a, b and c.
template <class Of>
std::uint32_t by_halves(std::uint32_t a, std::uint32_t b, std::uint32_t c, Of of) {
    const auto one = [&](int at) {
        return std::uint32_t{
            static_cast<std::uint16_t>(of(static_cast<std::uint16_t>(a >> at), static_cast<std::uint16_t>(b >> at),
                                          static_cast<std::uint16_t>(c >> at)))};
    };
    return one(0) | one(16) << 16;
}
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
}  // namespace on_cpu
inline std::uint32_t __vminu2(std::uint32_t a, std::uint32_t b) {
    return on_cpu::by_halves(a, b, 0, [](auto x, auto y, auto) { return min(x, y); });
}
inline std::uint32_t __vmaxu2(std::uint32_t a, std::uint32_t b) {
    return on_cpu::by_halves(a, b, 0, [](auto x, auto y, auto) { return max(x, y); });
}
inline std::uint32_t __vcmpgeu2(std::uint32_t a, std::uint32_t b) {
    return on_cpu::by_halves(a, b, 0, [](auto x, auto y, auto) { return x >= y ? 0xffff : 0; });
}
inline std::uint32_t __viaddmin_u16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return on_cpu::by_halves(a, b, c, [](auto x, auto y, auto z) { return min(static_cast<on_cpu::u16>(x + y), z); });
}
inline std::uint32_t __viaddmax_u16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return on_cpu::by_halves(a, b, c, [](auto x, auto y, auto z) { return max(static_cast<on_cpu::u16>(x + y), z); });
}
inline std::uint32_t __vimin3_u16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return __vminu2(__vminu2(a, b), c);
}
inline std::uint32_t __vimax3_u16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return __vmaxu2(__vmaxu2(a, b), c);
}
inline on_cpu::u32 __vimin3_u32(on_cpu::u32 a, on_cpu::u32 b, on_cpu::u32 c) { return min(min(a, b), c); }
inline on_cpu::s32 __vimin3_s32(on_cpu::s32 a, on_cpu::s32 b, on_cpu::s32 c) { return min(min(a, b), c); }
inline on_cpu::u32 __vimax3_u32(on_cpu::u32 a, on_cpu::u32 b, on_cpu::u32 c) { return max(max(a, b), c); }
inline on_cpu::s32 __vimax3_s32(on_cpu::s32 a, on_cpu::s32 b, on_cpu::s32 c) { return max(max(a, b), c); }
inline std::uint32_t __viaddmin_s16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return on_cpu::by_halves(a, b, c, [](auto x, auto y, auto z) {
        return min(static_cast<std::int16_t>(x + y), static_cast<std::int16_t>(z));
    });
}
inline std::uint32_t __vmaxs2(std::uint32_t a, std::uint32_t b) {
    return on_cpu::by_halves(
        a, b, 0, [](auto x, auto y, auto) { return max(static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)); });
}
inline std::uint64_t __umul64hi(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}
// Sums wrap around.
inline on_cpu::u32 __viaddmin_u32(on_cpu::u32 a, on_cpu::u32 b, on_cpu::u32 c) { return min(a + b, c); }
inline on_cpu::u32 __viaddmax_u32(on_cpu::u32 a, on_cpu::u32 b, on_cpu::u32 c) { return max(a + b, c); }
inline on_cpu::s32 __viaddmin_s32(on_cpu::s32 a, on_cpu::s32 b, on_cpu::s32 c) {
    return min(static_cast<on_cpu::s32>(static_cast<on_cpu::u32>(a) + static_cast<on_cpu::u32>(b)), c);
}
inline on_cpu::s32 __viaddmin_s32_relu(on_cpu::s32 a, on_cpu::s32 b, on_cpu::s32 c) {
    return max(__viaddmin_s32(a, b, c), 0);
}
inline on_cpu::s32 __viaddmax_s32(on_cpu::s32 a, on_cpu::s32 b, on_cpu::s32 c) {
    return max(static_cast<on_cpu::s32>(static_cast<on_cpu::u32>(a) + static_cast<on_cpu::u32>(b)), c);
}

// Memory. Threads switch only where they meet, so everything between two meetings is atomic.
template <class T>
void __stcs(T* to, T what) {
    *to = what;
}
template <class T>
T __ldcs(const T* from) {
    return *from;
}
template <class T>
T __ldcg(const T* from) {
    return *from;
}
template <class T>
T __ldg(const T* from) {
    return *from;
}
template <class T, class B>
T atomicAdd(T* to, B by) {
    const T before = *to;
    return *to = static_cast<T>(before + by), before;
}
template <class T>
T atomicMin(T* to, std::type_identity_t<T> by) {
    const T before = *to;
    return *to = by < before ? by : before, before;
}
template <class T>
T atomicMax(T* to, std::type_identity_t<T> by) {
    const T before = *to;
    return *to = before < by ? by : before, before;
}
template <class T>
T atomicOr(T* to, std::type_identity_t<T> by) {
    const T before = *to;
    return *to = before | by, before;
}
template <class T>
T atomicXor(T* to, std::type_identity_t<T> by) {
    const T before = *to;
    return *to = before ^ by, before;
}
template <class T>
T atomicAnd(T* to, std::type_identity_t<T> by) {
    const T before = *to;
    return *to = before & by, before;
}
template <class T>
T atomicExch(T* to, std::type_identity_t<T> by) {
    const T before = *to;
    return *to = by, before;
}
template <class T>
T atomicCAS(T* to, std::type_identity_t<T> expected, std::type_identity_t<T> by) {
    const T before = *to;
    return *to = before == expected ? by : before, before;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void cudaGridDependencySynchronize() {}

// Functions of a block.
inline void __syncthreads() { on_cpu::meet_block(false, "__syncthreads"); }
inline int __syncthreads_or(int mine) { return on_cpu::meet_block(mine != 0, "__syncthreads_or").yes > 0; }
inline int __syncthreads_count(int mine) { return on_cpu::meet_block(mine != 0, "__syncthreads_count").yes; }
inline int __syncthreads_and(int mine) {
    const on_cpu::counted all = on_cpu::meet_block(mine != 0, "__syncthreads_and");
    return all.yes == all.all;
}

// Functions of a cluster.
inline unsigned __clusterRelativeBlockRank() { return on_cpu::rank_in_cluster(); }
inline void* __cluster_map_shared_rank(const void* mine, unsigned rank) { return on_cpu::shared_of(mine, rank); }
inline void __cluster_barrier_arrive() { on_cpu::arrive_in_cluster(); }
inline void __cluster_barrier_wait() { on_cpu::wait_for_cluster(); }

// Functions of a warp.
namespace on_cpu {
constexpr unsigned every_lane = 0xffffffffu;
template <class T>
std::uint64_t say(T x) {
    static_assert(sizeof(T) <= 8);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof(x));
    return bits;
}
template <class T>
T hear(const told& all, int lane) {
    T x;
    std::memcpy(&x, &all.by_lane[lane], sizeof(x));
    return x;
}
/// The value of lane from(me); a lane's own value if that lies outside its group of `width` lanes.
template <class T, class From>
T shuffle(unsigned mask, T x, int width, const char* name, From from) {
    const told all = meet_warp(say(x), mask, name);
    const int first = all.me / width * width, lane = from(all.me, first);
    return lane < first || lane >= first + width ? x : hear<T>(all, lane);
}
template <class T, class Of>
T reduce(unsigned mask, T x, const char* name, Of of) {
    const told all = meet_warp(say(x), mask, name);
    for (int lane = 0; lane < warp_lanes; ++lane)
        if (lane != all.me && (all.lanes >> lane & 1) != 0) x = of(x, hear<T>(all, lane));
    return x;
}
inline unsigned vote(unsigned mask, bool mine, const char* name) {
    const told all = meet_warp(mine ? 1 : 0, mask, name);
    unsigned votes = 0;
    for (int lane = 0; lane < warp_lanes; ++lane)
        if ((all.lanes >> lane & 1) != 0) votes |= static_cast<unsigned>(all.by_lane[lane]) << lane;
    return votes;
}
}  // namespace on_cpu
inline void __syncwarp(unsigned mask = on_cpu::every_lane) { on_cpu::meet_warp(0, mask, "__syncwarp"); }
inline unsigned __activemask() { return on_cpu::meet_warp(0, on_cpu::every_lane, "__activemask").lanes; }
inline unsigned __ballot_sync(unsigned mask, int mine) { return on_cpu::vote(mask, mine != 0, "__ballot_sync"); }
inline int __any_sync(unsigned mask, int mine) { return on_cpu::vote(mask, mine != 0, "__any_sync") != 0; }
inline int __all_sync(unsigned mask, int mine) { return on_cpu::vote(mask, mine == 0, "__all_sync") == 0; }
template <class T>
T __shfl_sync(unsigned mask, T x, int lane, int width = 32) {
    return on_cpu::shuffle(mask, x, width, "__shfl_sync", [&](int, int first) { return first + (lane & (width - 1)); });
}
template <class T>
T __shfl_up_sync(unsigned mask, T x, unsigned by, int width = 32) {
    return on_cpu::shuffle(mask, x, width, "__shfl_up_sync", [&](int me, int) { return me - static_cast<int>(by); });
}
template <class T>
T __shfl_down_sync(unsigned mask, T x, unsigned by, int width = 32) {
    return on_cpu::shuffle(mask, x, width, "__shfl_down_sync", [&](int me, int) { return me + static_cast<int>(by); });
}
template <class T>
T __shfl_xor_sync(unsigned mask, T x, int with, int width = 32) {
    return on_cpu::shuffle(mask, x, width, "__shfl_xor_sync", [&](int me, int) { return me ^ with; });
}
template <class T>
T __reduce_min_sync(unsigned mask, T x) {
    return on_cpu::reduce(mask, x, "__reduce_min_sync", [](T a, T b) { return a < b ? a : b; });
}
template <class T>
T __reduce_max_sync(unsigned mask, T x) {
    return on_cpu::reduce(mask, x, "__reduce_max_sync", [](T a, T b) { return a < b ? b : a; });
}
template <class T>
T __reduce_add_sync(unsigned mask, T x) {
    return on_cpu::reduce(mask, x, "__reduce_add_sync", [](T a, T b) { return static_cast<T>(a + b); });
}
template <class T>
T __reduce_or_sync(unsigned mask, T x) {
    return on_cpu::reduce(mask, x, "__reduce_or_sync", [](T a, T b) { return static_cast<T>(a | b); });
}

/// Lanes of the warp with the same value; all of them call it.
template <class T>
unsigned __match_any_sync(unsigned mask, T x) {
    unsigned same = 0;
    for (int lane = 0; lane < 32; ++lane)
        if (const T other = __shfl_sync(mask, x, lane); other == x) same |= 1U << lane;
    return same;
}

// Inline PTX of the engine; translate.cmake turns it into calls of these functions.
namespace on_cpu::ptx {
inline std::uint32_t bfind_shiftamt_u32(std::uint32_t x) { return x == 0 ? ~0u : std::countl_zero(x); }
inline float rcp_approx_ftz_f32(float x) { return 1 / x; }
inline float rsqrt_approx_ftz_f32(float x) { return static_cast<float>(1 / std::sqrt(static_cast<double>(x))); }
inline float sqrt_approx_ftz_f32(float x) { return std::sqrt(x); }
inline std::uint32_t sqrt_approx_ftz_f32(std::uint32_t x) {
    return std::bit_cast<std::uint32_t>(std::sqrt(std::bit_cast<float>(x)));
}
}  // namespace on_cpu::ptx
