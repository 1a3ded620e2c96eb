#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host_sites.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "exact/host_rows.hpp"
#include "exact/host_sites.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Plain loops: the compiler turns them into this instruction set's vectors.
void number(const std::int16_t* HWY_RESTRICT toward, std::int64_t count, std::int32_t start, const cell_number& n,
            std::int32_t* HWY_RESTRICT site) {
    // Columns without a site hold anything, and are never chosen; unsigned numbers may overflow.
    const auto row = static_cast<std::uint32_t>(n.row), cell = static_cast<std::uint32_t>(n.cell);
    for (std::int64_t x = 0; x < count; ++x) {
        const auto by = static_cast<std::uint32_t>(std::int32_t{toward[x]});
        site[x] = static_cast<std::int32_t>(static_cast<std::uint32_t>(start) + by * row +
                                            static_cast<std::uint32_t>(x) * cell);
    }
}

template <class N>
void lines(N* HWY_RESTRICT numbers, std::int64_t count, int from, int to, const std::int32_t* HWY_RESTRICT site,
           std::int64_t length, std::int32_t* HWY_RESTRICT column) {
    const N low = (N{1} << from) - 1;
    const N end = sizeof(N) == 4 ? N{1} << (30 - to) : N{1} << 30;
    for (std::int64_t x = 0; x < count; ++x) {
        // Numbers that do not exist have no line; any will do.
        const N found = numbers[x];
        column[x] = site[(found < unknown<N> ? found & low : N{0}) * length + x];
        const N value = found >> from;
        numbers[x] = (found >= unknown<N>) | (value >= end) ? none<N> : static_cast<N>(value << to | static_cast<N>(x));
    }
}
void lines32(std::int32_t* n, std::int64_t count, int from, int to, const std::int32_t* site, std::int64_t length,
             std::int32_t* column) {
    lines(n, count, from, to, site, length, column);
}
void lines64(std::int64_t* n, std::int64_t count, int from, int to, const std::int32_t* site, std::int64_t length,
             std::int32_t* column) {
    lines(n, count, from, to, site, length, column);
}

template <class N, class T>
HWY_INLINE T cell_of(N number, N low, const std::int32_t* column) {
    return number < unknown<N> ? T{column[number & low]} : T{-1};
}

template <class T>
void cells32(const std::int32_t* HWY_RESTRICT numbers, std::int64_t count, int bits,
             const std::int32_t* HWY_RESTRICT column, bool past_caches, T* HWY_RESTRICT out) {
    const hn::ScalableTag<T> of_out;
    const hn::Rebind<std::int32_t, decltype(of_out)> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(of_out));
    const std::int32_t low = (1 << bits) - 1;
    const auto cells_at = [&](std::int64_t x) {
        const auto found = hn::LoadU(tag, numbers + x);
        const auto chosen = hn::GatherIndex(tag, column, hn::And(found, hn::Set(tag, low)));
        const auto site = hn::IfThenElse(hn::Lt(found, hn::Set(tag, unknown<std::int32_t>)), chosen, hn::Set(tag, -1));
        if constexpr (sizeof(T) == 8) return hn::PromoteTo(of_out, site);
        else return site;
    };
    std::int64_t x = 0;
    if (past_caches) {
        const std::size_t whole = static_cast<std::size_t>(lanes) * sizeof(T);
        for (; x < count && reinterpret_cast<std::uintptr_t>(out + x) % whole != 0; ++x)
            out[x] = cell_of<std::int32_t, T>(numbers[x], low, column);
        for (; x + lanes <= count; x += lanes) hn::Stream(cells_at(x), of_out, out + x);
    } else {
        for (; x + lanes <= count; x += lanes) hn::StoreU(cells_at(x), of_out, out + x);
    }
    for (; x < count; ++x) out[x] = cell_of<std::int32_t, T>(numbers[x], low, column);
}
void cells32_to_32(const std::int32_t* n, std::int64_t count, int bits, const std::int32_t* column, bool past_caches,
                   std::int32_t* out) {
    cells32(n, count, bits, column, past_caches, out);
}
void cells32_to_64(const std::int32_t* n, std::int64_t count, int bits, const std::int32_t* column, bool past_caches,
                   std::int64_t* out) {
    cells32(n, count, bits, column, past_caches, out);
}

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {
namespace {

/// Numbers of 64 bits are rare enough.
template <class T>
void cells64(const std::int64_t* number, std::int64_t count, int bits, const std::int32_t* column, T* out) {
    for (std::int64_t x = 0; x < count; ++x)
        out[x] = number[x] < unknown<std::int64_t> ? T{column[number[x] & ((std::int64_t{1} << bits) - 1)]} : T{-1};
}

}  // namespace

HWY_EXPORT(number);
HWY_EXPORT(lines32);
HWY_EXPORT(lines64);
HWY_EXPORT(cells32_to_32);
HWY_EXPORT(cells32_to_64);

void number_sites(const std::int16_t* toward, std::int64_t count, std::int32_t start, const cell_number& n,
                  std::int32_t* site) {
    HWY_DYNAMIC_DISPATCH(number)(toward, count, start, n, site);
}
void take_lines(std::int32_t* number, std::int64_t count, int from, int to, const std::int32_t* site,
                std::int64_t length, std::int32_t* column) {
    HWY_DYNAMIC_DISPATCH(lines32)(number, count, from, to, site, length, column);
}
void take_lines(std::int64_t* number, std::int64_t count, int from, int to, const std::int32_t* site,
                std::int64_t length, std::int32_t* column) {
    HWY_DYNAMIC_DISPATCH(lines64)(number, count, from, to, site, length, column);
}
void take_cells(const std::int32_t* number, std::int64_t count, int bits, const std::int32_t* column, bool past_caches,
                std::int32_t* out) {
    HWY_DYNAMIC_DISPATCH(cells32_to_32)(number, count, bits, column, past_caches, out);
}
void take_cells(const std::int32_t* number, std::int64_t count, int bits, const std::int32_t* column, bool past_caches,
                std::int64_t* out) {
    HWY_DYNAMIC_DISPATCH(cells32_to_64)(number, count, bits, column, past_caches, out);
}
void take_cells(const std::int64_t* number, std::int64_t count, int bits, const std::int32_t* column, bool,
                std::int32_t* out) {
    cells64(number, count, bits, column, out);
}
void take_cells(const std::int64_t* number, std::int64_t count, int bits, const std::int32_t* column, bool,
                std::int64_t* out) {
    cells64(number, count, bits, column, out);
}

}  // namespace nearfield::exact
#endif
