#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host/rows.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cstring>

#include "base/with_bytes.hpp"
#include "exact/host/rows.hpp"
#include "exact/host_lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {

constexpr std::uint8_t no_mark = 255;

// Plain loops, which the compiler vectorises for this instruction set. Pointers and counts are copies, because stores
// of bytes might change what a lambda holds.

void marks_of_sites(const std::uint8_t* HWY_RESTRICT site, std::int64_t count, std::uint8_t* HWY_RESTRICT marks) {
    for (std::int64_t x = 0; x < count; ++x) marks[x] = site[x] != 0 ? std::uint8_t{0} : no_mark;
}
void marks_of_runs(const void* classes, int bytes, std::int64_t count, std::uint8_t* marks) {
    with_bytes(bytes, [=]<class In>(In) {
        const In* HWY_RESTRICT row = static_cast<const In*>(classes);
        std::uint8_t* HWY_RESTRICT to = marks;
        for (std::int64_t x = 1, end = count - 1; x < end; ++x)
            to[x] = (row[x] != row[x - 1]) | (row[x] != row[x + 1]) ? std::uint8_t{1} : no_mark;
    });
}
void cleared(const void* classes, int bytes, std::int64_t count, std::uint8_t* steps, std::int32_t* far_steps) {
    with_bytes(bytes, [=]<class In>(In) {
        const auto clear = [=](auto* HWY_RESTRICT to) {
            const In* HWY_RESTRICT row = static_cast<const In*>(classes);
            for (std::int64_t x = 0, end = count; x < end; ++x) to[x] = row[x] == 0 ? 0 : to[x];
        };
        if (steps != nullptr) clear(steps);
        else clear(far_steps);
    });
}

/// Packs flags that are 0 or 1 into bits; writes whole vectors.
void pack(const std::uint8_t* flags, std::int64_t count, std::uint8_t* bits) {
    const hn::ScalableTag<std::uint8_t> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    for (std::int64_t x = 0; x < count; x += std::max<std::int64_t>(lanes, 8)) {
        if (lanes >= 8) {
            hn::StoreMaskBits(tag, hn::Not(hn::Eq(hn::LoadU(tag, flags + x), hn::Zero(tag))), bits + x / 8);
        } else {
            std::uint8_t byte = 0;
            for (int i = 0; i < 8; ++i) byte = static_cast<std::uint8_t>(byte | flags[x + i] << i);
            bits[x / 8] = byte;
        }
    }
}
/// Packs the flags that stand from `lead` on; those before and behind repeat the first and the last.
void pack_flags(std::uint8_t* flags, std::int64_t lead, std::int64_t count, std::uint8_t* bits) {
    std::fill_n(flags, lead, flags[lead]);
    std::fill_n(flags + lead + count, 64, flags[lead + count - 1]);
    pack(flags, lead + count, bits);
}
void differing_bits(const void* a, const void* b, int bytes, std::int64_t count, std::int64_t lead, std::uint8_t* flags,
                    std::uint8_t* bits) {
    with_bytes(bytes, [=]<class In>(In) {
        const In *HWY_RESTRICT one = static_cast<const In*>(a), *HWY_RESTRICT other = static_cast<const In*>(b);
        std::uint8_t* HWY_RESTRICT to = flags + lead;
        for (std::int64_t x = 0, end = count; x < end; ++x) to[x] = one[x] != other[x];
    });
    pack_flags(flags, lead, count, bits);
}
void zero_bits(const void* classes, int bytes, std::int64_t count, std::int64_t lead, std::uint8_t* flags,
               std::uint8_t* bits) {
    with_bytes(bytes, [=]<class In>(In) {
        const In* HWY_RESTRICT row = static_cast<const In*>(classes);
        std::uint8_t* HWY_RESTRICT to = flags + lead;
        for (std::int64_t x = 0, end = count; x < end; ++x) to[x] = row[x] == 0;
    });
    pack_flags(flags, lead, count, bits);
}

/// One round of doubling; steps beyond 255 are 255.
void spread(const std::uint8_t* HWY_RESTRICT from, std::int64_t count, int apart, std::uint8_t* HWY_RESTRICT to) {
    const auto most = static_cast<std::uint8_t>(no_mark - apart), extra = static_cast<std::uint8_t>(apart);
    for (std::int64_t x = 0; x < count; ++x) {
        const std::uint8_t nearer = std::min({from[x - apart], from[x + apart], most});
        to[x] = std::min(from[x], static_cast<std::uint8_t>(nearer + extra));
    }
}
std::uint8_t most_steps(const std::uint8_t* HWY_RESTRICT steps, std::int64_t count) {
    std::uint8_t most = 0;
    for (std::int64_t x = 0; x < count; ++x) most = std::max(most, steps[x]);
    return most;
}
std::uint8_t least_steps(const std::uint8_t* HWY_RESTRICT steps, std::int64_t count) {
    std::uint8_t least = no_mark;
    for (std::int64_t x = 0; x < count; ++x) least = std::min(least, steps[x]);
    return least;
}

/// Fills cells before and behind the row, as far as the next round reads.
void extend(std::uint8_t* row, std::int64_t count, int apart, bool periodic) {
    if (!periodic) {
        std::memset(row - apart, no_mark, static_cast<std::size_t>(apart));
        std::memset(row + count, no_mark, row_slack - 64);
        return;
    }
    if (count >= row_slack) {
        std::memcpy(row - apart, row + count - apart, static_cast<std::size_t>(apart));
        std::memcpy(row + count, row, row_slack - 64);
        return;
    }
    for (std::int64_t i = 1, at = count; i <= apart; ++i) row[-i] = row[--at], at = at == 0 ? count : at;
    for (std::int64_t i = 0; i < row_slack - 64; ++i) row[count + i] = row[i];
}

/// Computes the steps of all cells if none has more than 254; `steps` becomes the buffer that holds them.
std::uint8_t near_steps(std::int64_t count, bool periodic, std::uint8_t* marks, std::uint8_t*& steps,
                        std::uint8_t*& other) {
    std::uint8_t* from = marks;
    for (int apart = 1; apart <= 128; apart *= 2) {
        extend(from, count, apart, periodic);
        spread(from, count, apart, steps);
        from = steps;
        if (apart == 8 || apart == 32 || apart == 128) {
            const std::uint8_t most = most_steps(steps, count);
            if (most < 2 * apart || apart == 128) return most;
        }
        std::swap(steps, other), from = other;
    }
    return no_mark;
}

/// Fills the gap between marked cells a and b, or up to a row's end if one of them does not exist.
void fill_gap(std::int64_t from, std::int64_t to, std::int32_t left, std::int32_t right,
              std::int32_t* HWY_RESTRICT steps) {
    const auto length = static_cast<std::int32_t>(to - from);
    for (std::int32_t i = 0; i < length; ++i) steps[from + i] = std::min(left + i, right + length - 1 - i);
}

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(marks_of_sites);
HWY_EXPORT(marks_of_runs);
HWY_EXPORT(cleared);
HWY_EXPORT(differing_bits);
HWY_EXPORT(zero_bits);
HWY_EXPORT(near_steps);
HWY_EXPORT(least_steps);
HWY_EXPORT(most_steps);
HWY_EXPORT(fill_gap);

namespace {

constexpr std::uint8_t not_marked = 255;
constexpr std::int32_t no_steps = 1 << 30;
constexpr std::int64_t piece_cells = 4096, reach_of_bytes = 256;

/// Lists the marked cells; skips eight cells at a time if none is marked.
void list_marks(std::int64_t count, row_scratch& r) {
    r.marked.clear();
    for (std::int64_t x = 0; x < count; ++x) {
        std::uint64_t eight = 0;
        while (x + 8 <= count && (std::memcpy(&eight, r.marks + x, 8), eight == ~std::uint64_t{0})) x += 8;
        if (x < count && r.marks[x] != not_marked) r.marked.push_back(x);
    }
}

void fill_gaps(std::int64_t count, bool periodic, row_scratch& r) {
    list_marks(count, r);
    const std::int64_t first = r.marked.front(), last = r.marked.back();
    const auto mark = [&](std::int64_t x) { return std::int32_t{r.marks[x]}; };
    std::int32_t left = periodic ? mark(last) + static_cast<std::int32_t>(count - last) : no_steps;
    std::int64_t before = -1;
    for (const std::int64_t x : r.marked) {
        HWY_DYNAMIC_DISPATCH(fill_gap)(before + 1, x, left, mark(x) + 1, r.far_steps);
        r.far_steps[x] = mark(x);
        before = x, left = mark(x) + 1;
    }
    const std::int32_t right = periodic ? mark(first) + static_cast<std::int32_t>(first + 1) : no_steps;
    HWY_DYNAMIC_DISPATCH(fill_gap)(before + 1, count, left, right, r.far_steps);
}

/// Splits long rows, which would leave the first-level cache between rounds of doubling, into pieces with as many cells
/// before and behind as matter.
std::uint8_t steps_by_pieces(std::int64_t count, bool periodic, row_scratch& r) {
    row_scratch& p = *r.piece;
    std::uint8_t most = 0;
    for (std::int64_t from = 0; from < count; from += piece_cells) {
        const std::int64_t cells = std::min(piece_cells, count - from);
        for (std::int64_t done = -reach_of_bytes; done < cells + reach_of_bytes;) {
            const std::int64_t at = from + done, place = at < 0 ? at + count : at >= count ? at - count : at;
            std::int64_t some = std::min(cells + reach_of_bytes - done, count - place);
            if (at < 0) some = std::min(some, -at);
            std::uint8_t* const to = p.marks + reach_of_bytes + done;
            if (place == at || periodic) std::memcpy(to, r.marks + place, static_cast<std::size_t>(some));
            else std::memset(to, not_marked, static_cast<std::size_t>(some));
            done += some;
        }
        HWY_DYNAMIC_DISPATCH(near_steps)(cells + 2 * reach_of_bytes, false, p.marks, p.steps, p.other);
        std::memcpy(r.steps + from, p.steps + reach_of_bytes, static_cast<std::size_t>(cells));
        most = std::max(most, HWY_DYNAMIC_DISPATCH(most_steps)(r.steps + from, cells));
    }
    return most;
}

}  // namespace

row_scratch::row_scratch(std::int64_t length, bool sited)
    : bytes_(3 * (length + 2 * row_slack)), far_(length + 2 * row_slack), site_(sited ? length + row_slack : 0) {
    marks = bytes_.get() + row_slack;
    steps = marks + length + 2 * row_slack, other = steps + length + 2 * row_slack;
    far_steps = far_.get() + row_slack, site = site_.get();
    if (length > 2 * piece_cells) piece = std::make_unique<row_scratch>(piece_cells + 2 * reach_of_bytes);
}

void mark_sites(const std::uint8_t* site, std::int64_t count, bool closed, row_scratch& r) {
    HWY_DYNAMIC_DISPATCH(marks_of_sites)(site, count, r.marks);
    if (!closed) return;
    r.marks[0] = std::min<std::uint8_t>(r.marks[0], 1);
    r.marks[count - 1] = std::min<std::uint8_t>(r.marks[count - 1], 1);
}

void mark_runs(const void* classes, int bytes, std::int64_t count, border ends, row_scratch& r) {
    const auto differ = [&](std::int64_t a, std::int64_t b) {
        const auto* const at = static_cast<const std::byte*>(classes);
        return std::memcmp(at + a * bytes, at + b * bytes, static_cast<std::size_t>(bytes)) != 0;
    };
    HWY_DYNAMIC_DISPATCH(marks_of_runs)(classes, bytes, count, r.marks);
    const bool beyond = ends == border::closed || (ends == border::periodic && differ(0, count - 1));
    r.marks[0] = beyond || (count > 1 && differ(0, 1)) ? 1 : not_marked;
    r.marks[count - 1] = beyond || (count > 1 && differ(count - 1, count - 2)) ? 1 : not_marked;
}

row_kind steps_of_row(std::int64_t count, bool periodic, row_scratch& r) {
    if (HWY_DYNAMIC_DISPATCH(least_steps)(r.marks, count) == not_marked) return row_kind::none;
    const std::uint8_t most = r.piece == nullptr
                                  ? HWY_DYNAMIC_DISPATCH(near_steps)(count, periodic, r.marks, r.steps, r.other)
                                  : steps_by_pieces(count, periodic, r);
    if (most != not_marked) return row_kind::near;
    fill_gaps(count, periodic, r);
    return row_kind::far;
}

row_kind clear_background(const void* classes, int bytes, std::int64_t count, row_kind kind, row_scratch& r) {
    if (kind == row_kind::none) {
        // The row has one class: either it is background, or it has no site.
        const auto* const first = static_cast<const std::uint8_t*>(classes);
        if (std::any_of(first, first + bytes, [](std::uint8_t byte) { return byte != 0; })) return kind;
        kind = row_kind::near;
    }
    std::uint8_t* const steps = kind == row_kind::near ? r.steps : nullptr;
    HWY_DYNAMIC_DISPATCH(cleared)(classes, bytes, count, steps, r.far_steps);
    return kind;
}

void differing(const void* a, const void* b, int bytes, std::int64_t count, std::int64_t lead, std::uint8_t* flags,
               std::uint8_t* bits) {
    HWY_DYNAMIC_DISPATCH(differing_bits)(a, b, bytes, count, lead, flags, bits);
}
void zeros(const void* classes, int bytes, std::int64_t count, std::int64_t lead, std::uint8_t* flags,
           std::uint8_t* bits) {
    HWY_DYNAMIC_DISPATCH(zero_bits)(classes, bytes, count, lead, flags, bits);
}

}  // namespace nearfield::exact
#endif
