#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host_sites.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>

#include "exact/host/roots.hpp"
#include "exact/host_lanes.hpp"
#include "exact/host_sites.hpp"
#include "exact/host_steps.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {

// Plain loops, which the compiler vectorises for this instruction set.
void number(const std::int16_t* HWY_RESTRICT toward, std::int64_t count, std::int32_t start, const cell_number& n,
            std::int32_t* HWY_RESTRICT site) {
    // Columns without a site hold arbitrary numbers and are never chosen; unsigned numbers may overflow.
    const auto row = static_cast<std::uint32_t>(n.row), cell = static_cast<std::uint32_t>(n.cell);
    for (std::int64_t x = 0; x < count; ++x) {
        const auto by = static_cast<std::uint32_t>(std::int32_t{toward[x]});
        site[x] = static_cast<std::int32_t>(static_cast<std::uint32_t>(start) + by * row +
                                            static_cast<std::uint32_t>(x) * cell);
    }
}

// Vectors compute the indices here, and single loads follow them below: gather instructions take 40 cycles for 16
// cells on Zen 4, single loads 16, and compilers turn loops of single loads into gathers if the instruction set has
// them.

template <class N>
void lines(N* HWY_RESTRICT numbers, std::int64_t count, int from, int to, std::int32_t length,
           std::int32_t* HWY_RESTRICT place) {
    const N low = (N{1} << from) - 1;
    const N end = sizeof(N) == 4 ? N{1} << (30 - to) : N{1} << 30;
    for (std::int64_t x = 0; x < count; ++x) {
        // Numbers that do not exist have no line; any line is correct.
        const N found = numbers[x], line = found < unknown<N> ? found & low : N{0}, value = found >> from;
        place[x] = static_cast<std::int32_t>(line) * length + static_cast<std::int32_t>(x);
        const bool beyond = (found >= unknown<N>) | (value >= end);
        numbers[x] = beyond ? no_site<N>() : static_cast<N>(value << to | static_cast<N>(x));
    }
}
void lines32(std::int32_t* n, std::int64_t count, int from, int to, std::int32_t length, std::int32_t* place) {
    lines(n, count, from, to, length, place);
}
void lines64(std::int64_t* n, std::int64_t count, int from, int to, std::int32_t length, std::int32_t* place) {
    lines(n, count, from, to, length, place);
}

template <class N>
void cells(const N* HWY_RESTRICT number, std::int64_t count, int bits, std::int32_t absent,
           std::int32_t* HWY_RESTRICT place) {
    const N low = (N{1} << bits) - 1;
    for (std::int64_t x = 0; x < count; ++x)
        place[x] = number[x] < unknown<N> ? static_cast<std::int32_t>(number[x] & low) : absent;
}
void cells32(const std::int32_t* n, std::int64_t count, int bits, std::int32_t absent, std::int32_t* place) {
    cells(n, count, bits, absent, place);
}
void cells64(const std::int64_t* n, std::int64_t count, int bits, std::int32_t absent, std::int32_t* place) {
    cells(n, count, bits, absent, place);
}

template <class N>
void values(const N* HWY_RESTRICT number, std::int64_t count, int bits, std::int32_t* HWY_RESTRICT value) {
    for (std::int64_t x = 0; x < count; ++x)
        value[x] = number[x] < unknown<N> ? static_cast<std::int32_t>(number[x] >> bits) : no_site<std::int32_t>();
}
void values16(const std::uint16_t* n, std::int64_t count, int bits, std::int32_t* v) { values(n, count, bits, v); }
void values32(const std::int32_t* n, std::int64_t count, int bits, std::int32_t* v) { values(n, count, bits, v); }
void values64(const std::int64_t* n, std::int64_t count, int bits, std::int32_t* v) { values(n, count, bits, v); }

/// A batch of vectors to sites. Returns true if one is too long.
template <class N>
bool ways(const N* HWY_RESTRICT number, const std::int32_t* HWY_RESTRICT site, std::int64_t count, int bits,
          std::int32_t first, std::int32_t row, std::int32_t line, const site_ways& to) {
    constexpr N most = N{most_way} * most_way;
    std::int16_t *HWY_RESTRICT rows = to.along[0], *HWY_RESTRICT lines = to.along[1], *HWY_RESTRICT cells = to.along[2],
                               *HWY_RESTRICT squared = to.squared;
    const N low = (N{1} << bits) - 1;
    N far = 0;
    for (std::int64_t x = 0; x < count; ++x) {
        const N is = number[x] < unknown<N> ? N{-1} : N{0}, value = (number[x] >> bits) & is;
        const auto some = static_cast<std::int32_t>(is);
        far |= most - value;
        rows[x] = static_cast<std::int16_t>(((site[x] >> 16) - row) & some);
        lines[x] = static_cast<std::int16_t>(((site[x] & 65535) - line) & some);
        const std::int32_t cell = static_cast<std::int32_t>(number[x] & low) - first - static_cast<std::int32_t>(x);
        cells[x] = static_cast<std::int16_t>(cell & some);
        squared[x] = static_cast<std::int16_t>(value);
    }
    return far < 0;
}
bool ways32(const std::int32_t* n, const std::int32_t* site, std::int64_t count, int bits, std::int32_t first,
            std::int32_t row, std::int32_t line, const site_ways& to) {
    return ways(n, site, count, bits, first, row, line, to);
}
bool ways64(const std::int64_t* n, const std::int32_t* site, std::int64_t count, int bits, std::int32_t first,
            std::int32_t row, std::int32_t line, const site_ways& to) {
    return ways(n, site, count, bits, first, row, line, to);
}

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(number);
HWY_EXPORT(lines32);
HWY_EXPORT(lines64);
HWY_EXPORT(cells32);
HWY_EXPORT(cells64);
HWY_EXPORT(values16);
HWY_EXPORT(values32);
HWY_EXPORT(values64);
HWY_EXPORT(ways32);
HWY_EXPORT(ways64);

namespace {

void places(const std::int32_t* number, std::int64_t count, int bits, std::int32_t absent, std::int32_t* place) {
    HWY_DYNAMIC_DISPATCH(cells32)(number, count, bits, absent, place);
}
void places(const std::int64_t* number, std::int64_t count, int bits, std::int32_t absent, std::int32_t* place) {
    HWY_DYNAMIC_DISPATCH(cells64)(number, count, bits, absent, place);
}

template <class N, class T>
void take(const N* number, std::int64_t count, int bits, const std::int32_t* column, std::int64_t absent,
          bool past_caches, T* out) {
    constexpr std::int64_t batch = 512;
    std::int32_t place[batch];
    for (std::int64_t from = 0; from < count; from += batch) {
        const std::int64_t n = std::min(batch, count - from);
        places(number + from, n, bits, static_cast<std::int32_t>(absent), place);
        if (past_caches) {
            T part[batch];
            for (std::int64_t i = 0; i < n; ++i) part[i] = column[place[i]];
            copy_past_caches(part, n * static_cast<std::int64_t>(sizeof(T)), out + from);
        } else {
            for (std::int64_t i = 0; i < n; ++i) out[from + i] = column[place[i]];
        }
    }
}

template <class N>
bool turn_to_ways(const N* number, std::int64_t count, int bits, const std::int32_t* column, std::int32_t row,
                  std::int32_t line, const site_ways& to) {
    constexpr std::int64_t batch = 512;
    std::int32_t place[batch];
    bool far = false;
    for (std::int64_t from = 0; from < count; from += batch) {
        const std::int64_t n = std::min(batch, count - from);
        places(number + from, n, bits, static_cast<std::int32_t>(count), place);
        for (std::int64_t i = 0; i < n; ++i) place[i] = column[place[i]];
        const site_ways part{{to.along[0] + from, to.along[1] + from, to.along[2] + from}, to.squared + from};
        const auto first = static_cast<std::int32_t>(from);
        if constexpr (sizeof(N) == 4)
            far |= HWY_DYNAMIC_DISPATCH(ways32)(number + from, place, n, bits, first, row, line, part);
        else far |= HWY_DYNAMIC_DISPATCH(ways64)(number + from, place, n, bits, first, row, line, part);
    }
    return !far;
}

}  // namespace

void number_sites(const std::int16_t* toward, std::int64_t count, std::int32_t start, const cell_number& n,
                  std::int32_t* site) {
    HWY_DYNAMIC_DISPATCH(number)(toward, count, start, n, site);
}
void take_lines(std::int32_t* number, std::int64_t count, int from, int to, const std::int32_t* site,
                std::int64_t length, std::int32_t* column) {
    HWY_DYNAMIC_DISPATCH(lines32)(number, count, from, to, static_cast<std::int32_t>(length), column);
    for (std::int64_t x = 0; x < count; ++x) column[x] = site[column[x]];
}
void take_lines(std::int64_t* number, std::int64_t count, int from, int to, const std::int32_t* site,
                std::int64_t length, std::int32_t* column) {
    HWY_DYNAMIC_DISPATCH(lines64)(number, count, from, to, static_cast<std::int32_t>(length), column);
    for (std::int64_t x = 0; x < count; ++x) column[x] = site[column[x]];
}
void values_of(const std::uint16_t* number, std::int64_t count, int bits, std::int32_t* value) {
    HWY_DYNAMIC_DISPATCH(values16)(number, count, bits, value);
}
void values_of(const std::int32_t* number, std::int64_t count, int bits, std::int32_t* value) {
    HWY_DYNAMIC_DISPATCH(values32)(number, count, bits, value);
}
void values_of(const std::int64_t* number, std::int64_t count, int bits, std::int32_t* value) {
    HWY_DYNAMIC_DISPATCH(values64)(number, count, bits, value);
}
void take_cells(const std::int32_t* number, std::int64_t count, int bits, const std::int32_t* column,
                std::int64_t absent, bool past_caches, std::int32_t* out) {
    take(number, count, bits, column, absent, past_caches, out);
}
void take_cells(const std::int32_t* number, std::int64_t count, int bits, const std::int32_t* column,
                std::int64_t absent, bool past_caches, std::int64_t* out) {
    take(number, count, bits, column, absent, past_caches, out);
}
void take_cells(const std::int64_t* number, std::int64_t count, int bits, const std::int32_t* column,
                std::int64_t absent, bool past_caches, std::int32_t* out) {
    take(number, count, bits, column, absent, past_caches, out);
}
void take_cells(const std::int64_t* number, std::int64_t count, int bits, const std::int32_t* column,
                std::int64_t absent, bool past_caches, std::int64_t* out) {
    take(number, count, bits, column, absent, past_caches, out);
}
bool ways_of(const std::int32_t* number, std::int64_t count, int bits, const std::int32_t* column, std::int32_t row,
             std::int32_t line, const site_ways& to) {
    return turn_to_ways(number, count, bits, column, row, line, to);
}
bool ways_of(const std::int64_t* number, std::int64_t count, int bits, const std::int32_t* column, std::int32_t row,
             std::int32_t line, const site_ways& to) {
    return turn_to_ways(number, count, bits, column, row, line, to);
}

}  // namespace nearfield::exact
#endif
