#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host_steps.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>

#include "exact/core.hpp"
#include "exact/host_lanes.hpp"
#include "exact/host_steps.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {

// Plain loops, which the compiler vectorises for this instruction set if they choose by masks.

/// Returns all bits for a cell that is no site.
HWY_INLINE std::uint16_t other(std::uint8_t cell, bool zero_is_site) {
    return static_cast<std::uint16_t>((cell == 0 ? 0 : no_site16) ^ (zero_is_site ? 0 : no_site16));
}
HWY_INLINE std::uint16_t chosen(std::uint16_t mask, int yes, int no) {
    return static_cast<std::uint16_t>((yes & mask) | (no & ~mask));
}
HWY_INLINE std::uint16_t more(std::uint16_t steps, int by) {
    return static_cast<std::uint16_t>(std::min(steps, static_cast<std::uint16_t>(no_site16 - by)) + by);
}

void note(site_bytes line, std::int64_t count, int row, int rows, std::uint16_t* HWY_RESTRICT to_first,
          std::uint16_t* HWY_RESTRICT from_last) {
    const std::uint8_t* HWY_RESTRICT cell = line.cell;
    for (std::int64_t x = 0; x < count; ++x) {
        const std::uint16_t mask = other(cell[x], line.zero_is_site);
        to_first[x] = std::min(to_first[x], static_cast<std::uint16_t>(row | mask));
        from_last[x] = chosen(mask, from_last[x], rows - 1 - row);
    }
}

void carry(const std::uint16_t* HWY_RESTRICT from, std::int64_t count, int rows, std::uint16_t* HWY_RESTRICT further) {
    for (std::int64_t x = 0; x < count; ++x) further[x] = std::min(further[x], more(from[x], rows));
}

void down(site_bytes line, const std::uint16_t* HWY_RESTRICT before, std::int64_t count,
          std::uint16_t* HWY_RESTRICT out) {
    const std::uint8_t* HWY_RESTRICT cell = line.cell;
    for (std::int64_t x = 0; x < count; ++x) out[x] = other(cell[x], line.zero_is_site) & more(before[x], 1);
}

template <bool Toward>
void up(std::uint16_t* HWY_RESTRICT after, std::int64_t count, std::uint16_t* HWY_RESTRICT out,
        std::int16_t* HWY_RESTRICT toward) {
    for (std::int64_t x = 0; x < count; ++x) {
        const std::uint16_t down = out[x], up = chosen(down == 0 ? 0 : no_site16, more(after[x], 1), 0);
        after[x] = up, out[x] = std::min(down, up);
        if constexpr (Toward) toward[x] = static_cast<std::int16_t>(chosen(down <= up ? no_site16 : 0, -down, up));
    }
}
void up_either(std::uint16_t* after, std::int64_t count, std::uint16_t* out, std::int16_t* toward) {
    if (toward == nullptr) up<false>(after, count, out, nullptr);
    else up<true>(after, count, out, toward);
}

void numbers16(const std::uint16_t* HWY_RESTRICT from, std::int64_t count, step_term t, low_bits,
               std::uint16_t* HWY_RESTRICT value) {
    for (std::int64_t x = 0; x < count; ++x) {
        const std::uint32_t steps = from[x];
        value[x] = steps <= t.most ? static_cast<std::uint16_t>(steps * steps * t.weight) : no_site16;
    }
}

template <class N>
void numbers(const std::uint16_t* HWY_RESTRICT from, std::int64_t count, step_term t, low_bits low,
             N* HWY_RESTRICT number) {
    using U = std::make_unsigned_t<N>;
    const std::uint32_t end = sizeof(N) == 4 ? std::uint32_t{1} << (30 - low.bits) : std::uint32_t{1} << 30;
    for (std::int64_t x = 0; x < count; ++x) {
        const std::uint32_t away = from[x], value = t.weight * (away * away);
        const U place = static_cast<U>(low.first + static_cast<std::int32_t>(x) * low.step);
        const bool beyond = (away == no_site16) | (value >= end);
        number[x] = beyond ? no_site<N>() : static_cast<N>(static_cast<U>(value) << low.bits | place);
    }
}

/// Transposes squares of as many cells as 16 bytes hold, by rounds of interleaving; two side by side where vectors are
/// wide enough.
template <class N>
void turn(const N* from, std::int64_t rows, std::int64_t cells, std::int64_t from_pitch, N* to, std::int64_t to_pitch) {
    constexpr std::int64_t side = 16 / sizeof(N);
    const hn::CappedTag<N, 2 * side> tag_of_two;
    const hn::CappedTag<N, side> of_square;
    const bool two = hn::Lanes(tag_of_two) > side;
    for (std::int64_t c = 0; c < cells; c += two ? 2 * side : side)
        for (std::int64_t r = 0; r < rows; r += side) {
            hn::Vec<decltype(tag_of_two)> a[side], b[side];
#pragma GCC unroll 8
            for (std::int64_t i = 0; i < side; ++i) a[i] = hn::LoadU(tag_of_two, from + (r + i) * from_pitch + c);
#pragma GCC unroll 3
            for (std::int64_t done = 1; done < side; done *= 2) {
#pragma GCC unroll 8
                for (std::int64_t i = 0; i < side; ++i)
                    b[i] = i % 2 == 0 ? hn::InterleaveLower(tag_of_two, a[i / 2], a[i / 2 + side / 2])
                                      : hn::InterleaveUpper(tag_of_two, a[i / 2], a[i / 2 + side / 2]);
#pragma GCC unroll 8
                for (std::int64_t i = 0; i < side; ++i) a[i] = b[i];
            }
#pragma GCC unroll 8
            for (std::int64_t i = 0; i < side; ++i) {
                N* const there = to + (c + i) * to_pitch + r;
                if constexpr (hn::MaxLanes(tag_of_two) > side) {
                    hn::StoreU(hn::LowerHalf(of_square, a[i]), of_square, there);
                    hn::StoreU(hn::UpperHalf(of_square, a[i]), of_square, there + side * to_pitch);
                } else {
                    hn::StoreU(a[i], of_square, there);
                }
            }
        }
}

template <class N>
void by_cells(const few_cells<N>& few, const N* term, std::int64_t count, N* best) {
    const hn::CappedTag<N, 64 / sizeof(N)> of_number;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(of_number));
    for (std::int64_t from = 0; from < count; from += lanes) {
        const std::int64_t x = std::min(from, count - lanes);
        auto least = hn::Set(of_number, number<N>::infinite);
        for (int k = 0; k < few.count; ++k) {
            const auto own = hn::Set(of_number, few.number[k]), away = hn::LoadU(of_number, term + x - few.cell[k]);
            if constexpr (sizeof(N) == 2) least = hn::Min(least, hn::SaturatedAdd(own, away));
            else least = hn::Min(least, hn::Add(own, away));
        }
        hn::StoreU(least, of_number, best + x);
    }
}

// Plain loops, which the compiler vectorises for this instruction set.

void sites_by_number(const std::int16_t* HWY_RESTRICT toward, std::int64_t count, std::int32_t start,
                     const cell_number& n, std::int32_t* HWY_RESTRICT site) {
    // Columns without a site hold arbitrary numbers and are never chosen; unsigned numbers may overflow.
    const auto row = static_cast<std::uint32_t>(n.row), cell = static_cast<std::uint32_t>(n.cell);
    for (std::int64_t x = 0; x < count; ++x) {
        const auto by = static_cast<std::uint32_t>(std::int32_t{toward[x]});
        site[x] = static_cast<std::int32_t>(static_cast<std::uint32_t>(start) + by * row +
                                            static_cast<std::uint32_t>(x) * cell);
    }
}

// Vectors compute the places here, and the callers load from them one by one: gather instructions take 40 cycles for 16
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

template <class N>
void cells(const N* HWY_RESTRICT number, std::int64_t count, int bits, std::int32_t absent,
           std::int32_t* HWY_RESTRICT place) {
    const N low = (N{1} << bits) - 1;
    for (std::int64_t x = 0; x < count; ++x)
        place[x] = number[x] < unknown<N> ? static_cast<std::int32_t>(number[x] & low) : absent;
}

template <class N>
void values(const N* HWY_RESTRICT number, std::int64_t count, int bits, std::int32_t* HWY_RESTRICT value) {
    for (std::int64_t x = 0; x < count; ++x)
        value[x] = number[x] < unknown<N> ? static_cast<std::int32_t>(number[x] >> bits) : no_site<std::int32_t>();
}

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

void roots(const std::uint16_t* HWY_RESTRICT squared, std::int64_t count, bool past_caches, float* HWY_RESTRICT out) {
    const hn::ScalableTag<float> of_float;
    const hn::Rebind<std::int32_t, decltype(of_float)> of_int;
    const hn::Rebind<std::uint16_t, decltype(of_float)> of_square;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(of_float));
    const auto one = [&](std::int64_t x) { out[x] = std::sqrt(static_cast<float>(squared[x])); };
    const auto root_at = [&](std::int64_t x) {
        return hn::Sqrt(hn::ConvertTo(of_float, hn::PromoteTo(of_int, hn::LoadU(of_square, squared + x))));
    };
    std::int64_t x = 0;
    if (past_caches) {
        while (x < count && reinterpret_cast<std::uintptr_t>(out + x) % (static_cast<std::size_t>(lanes) * 4) != 0)
            one(x++);
        for (; x + lanes <= count; x += lanes) hn::Stream(root_at(x), of_float, out + x);
    } else {
        for (; x + lanes <= count; x += lanes) hn::StoreU(root_at(x), of_float, out + x);
    }
    for (; x < count; ++x) one(x);
}

/// Numbers with sites have 32 bits at least.
template <class N>
constexpr number_loops<N> loops_for() {
    if constexpr (sizeof(N) == 2) return {numbers16, turn<N>, by_cells<N>, values<N>, nullptr, nullptr, nullptr};
    else return {numbers<N>, turn<N>, by_cells<N>, values<N>, lines<N>, cells<N>, ways<N>};
}
const plane_loops& plane_table() {
    static constexpr plane_loops every{{note, carry, down, up_either, sites_by_number, roots},
                                       loops_for<std::uint16_t>(),
                                       loops_for<std::int32_t>(),
                                       loops_for<std::int64_t>()};
    return every;
}

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(plane_table);
const plane_loops& loops_of_planes() { return HWY_DYNAMIC_DISPATCH(plane_table)(); }

}  // namespace nearfield::exact
#endif
