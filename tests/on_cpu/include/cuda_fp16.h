// Stands in for CUDA's numbers of half precision, as far as the engine calls them.
#pragma once

#include <bit>
#include <cstdint>

using __half = _Float16;
struct __half2 {
    __half x, y;
    __half2() = default;
    __half2(__half x, __half y) : x(x), y(y) {}
};
inline __half __ushort_as_half(std::uint16_t bits) { return std::bit_cast<__half>(bits); }

// In double every sum and product of halves is exact, so that each result is rounded once.
namespace on_cpu {
template <class Of>
__half2 both_halves(__half2 a, __half2 b, __half2 c, Of of) {
    const auto one = [&](__half x, __half y, __half z) {
        return static_cast<__half>(of(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)));
    };
    return {one(a.x, b.x, c.x), one(a.y, b.y, c.y)};
}
}  // namespace on_cpu
inline __half2 __hadd2(__half2 a, __half2 b) {
    return on_cpu::both_halves(a, b, a, [](double x, double y, double) { return x + y; });
}
inline __half2 __hsub2(__half2 a, __half2 b) {
    return on_cpu::both_halves(a, b, a, [](double x, double y, double) { return x - y; });
}
inline __half2 __hmul2(__half2 a, __half2 b) {
    return on_cpu::both_halves(a, b, a, [](double x, double y, double) { return x * y; });
}
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return on_cpu::both_halves(a, b, c, [](double x, double y, double z) { return x * y + z; });
}
inline __half2 __hfma2_relu(__half2 a, __half2 b, __half2 c) {
    return on_cpu::both_halves(a, b, c, [](double x, double y, double z) { return x * y + z > 0 ? x * y + z : 0; });
}
inline __half2 __hmin2(__half2 a, __half2 b) {
    return on_cpu::both_halves(a, b, a, [](double x, double y, double) { return x < y ? x : y; });
}
inline __half2 __hmax2(__half2 a, __half2 b) {
    return on_cpu::both_halves(a, b, a, [](double x, double y, double) { return x < y ? y : x; });
}
