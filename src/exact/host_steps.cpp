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

using of_steps = hn::CappedTag<std::uint16_t, 32>;
using of_bytes = hn::Rebind<std::uint8_t, of_steps>;
using steps = hn::Vec<of_steps>;
constexpr of_steps tag{};

/// Calls body(at) for each whole vector of [0, count). Returns the first index behind the last of them.
template <class Body>
HWY_INLINE std::int64_t whole_vectors(std::int64_t count, const Body& body) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    std::int64_t at = 0;
    for (; at + lanes <= count; at += lanes) body(at);
    return at;
}

HWY_INLINE hn::Mask<of_steps> sites_at(site_bytes line, std::int64_t at) {
    const auto zero = hn::Eq(hn::PromoteTo(tag, hn::LoadU(of_bytes(), line.cell + at)), hn::Zero(tag));
    return line.zero_is_site ? zero : hn::Not(zero);
}
HWY_INLINE bool is_site(site_bytes line, std::int64_t at) { return (line.cell[at] == 0) == line.zero_is_site; }
HWY_INLINE std::uint16_t one_more(std::uint16_t v) { return static_cast<std::uint16_t>(v + (v < no_site16 ? 1 : 0)); }

void note(site_bytes line, std::int64_t count, int row, int rows, std::uint16_t* HWY_RESTRICT to_first,
          std::uint16_t* HWY_RESTRICT from_last) {
    const auto first = static_cast<std::uint16_t>(row), last = static_cast<std::uint16_t>(rows - 1 - row);
    const steps first_steps = hn::Set(tag, first), last_steps = hn::Set(tag, last);
    std::int64_t x = whole_vectors(count, [&](std::int64_t at) {
        const auto site = sites_at(line, at);
        const steps f = hn::LoadU(tag, to_first + at), l = hn::LoadU(tag, from_last + at);
        hn::StoreU(hn::IfThenElse(site, hn::Min(f, first_steps), f), tag, to_first + at);
        hn::StoreU(hn::IfThenElse(site, last_steps, l), tag, from_last + at);
    });
    for (; x < count; ++x) {
        if (!is_site(line, x)) continue;
        to_first[x] = std::min(to_first[x], first);
        from_last[x] = last;
    }
}

void carry(const std::uint16_t* HWY_RESTRICT from, std::int64_t count, int rows, std::uint16_t* HWY_RESTRICT further) {
    const steps more = hn::Set(tag, static_cast<std::uint16_t>(rows));
    std::int64_t x = whole_vectors(count, [&](std::int64_t at) {
        const steps sum = hn::SaturatedAdd(hn::LoadU(tag, from + at), more);
        hn::StoreU(hn::Min(hn::LoadU(tag, further + at), sum), tag, further + at);
    });
    for (; x < count; ++x)
        further[x] = std::min(further[x], static_cast<std::uint16_t>(std::min(from[x] + rows, int{no_site16})));
}

void down(site_bytes line, const std::uint16_t* HWY_RESTRICT before, std::int64_t count,
          std::uint16_t* HWY_RESTRICT out) {
    const steps one = hn::Set(tag, 1);
    std::int64_t x = whole_vectors(count, [&](std::int64_t at) {
        const steps more = hn::SaturatedAdd(hn::LoadU(tag, before + at), one);
        hn::StoreU(hn::IfThenZeroElse(sites_at(line, at), more), tag, out + at);
    });
    for (; x < count; ++x) out[x] = is_site(line, x) ? std::uint16_t{0} : one_more(before[x]);
}

template <bool Toward>
void up(std::uint16_t* HWY_RESTRICT after, std::int64_t count, std::uint16_t* HWY_RESTRICT out,
        std::int16_t* HWY_RESTRICT toward) {
    const hn::RebindToSigned<of_steps> of_signed;
    const steps one = hn::Set(tag, 1);
    std::int64_t x = whole_vectors(count, [&](std::int64_t at) {
        const steps down = hn::LoadU(tag, out + at);
        // At a site `down` is 0 and so is the minimum; elsewhere it is at least 1.
        const steps up = hn::SaturatedAdd(hn::LoadU(tag, after + at), one);
        const steps least = hn::Min(down, up);
        hn::StoreU(hn::IfThenZeroElse(hn::Eq(down, hn::Zero(tag)), up), tag, after + at);
        hn::StoreU(least, tag, out + at);
        if constexpr (Toward) {
            const steps by = hn::IfThenElse(hn::Eq(least, down), hn::Sub(hn::Zero(tag), down), up);
            hn::StoreU(hn::BitCast(of_signed, by), of_signed, toward + at);
        }
    });
    for (; x < count; ++x) {
        const std::uint16_t down = out[x];
        after[x] = down == 0 ? std::uint16_t{0} : one_more(after[x]);
        out[x] = std::min(down, after[x]);
        if constexpr (Toward) toward[x] = static_cast<std::int16_t>(out[x] == down ? -down : after[x]);
    }
}
void up_either(std::uint16_t* after, std::int64_t count, std::uint16_t* out, std::int16_t* toward) {
    if (toward == nullptr) up<false>(after, count, out, nullptr);
    else up<true>(after, count, out, toward);
}

void numbers16(const std::uint16_t* HWY_RESTRICT from, std::int64_t count, step_term t, low_bits,
               std::uint16_t* HWY_RESTRICT value) {
    const steps most = hn::Set(tag, t.most), none = hn::Set(tag, no_site16);
    const steps weight = hn::Set(tag, t.weight);
    const auto term_at = [&](steps s) {
        const steps square = hn::Mul(hn::Mul(s, s), weight);
        return hn::IfThenElse(hn::Eq(hn::Max(s, most), most), square, none);
    };
    std::int64_t x =
        whole_vectors(count, [&](std::int64_t at) { hn::StoreU(term_at(hn::LoadU(tag, from + at)), tag, value + at); });
    if (x == count) return;
    HWY_ALIGN std::uint16_t rest[32] = {};
    std::copy(from + x, from + count, rest);
    hn::Store(term_at(hn::Load(tag, rest)), tag, rest);
    std::copy_n(rest, count - x, value + x);
}

// A plain loop, which the compiler vectorises for this instruction set.
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
