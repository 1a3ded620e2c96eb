#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "label/host/expand.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "label/host/bits.hpp"
#include "label/host/expand.hpp"

#ifndef NEARFIELD_LABEL_COUNTS
#define NEARFIELD_LABEL_COUNTS
namespace nearfield::labelling {

/// Byte i of entry b: number of bits 0 .. i of b that are set.
inline constexpr auto counts_of_byte = [] {
    std::array<std::array<std::uint8_t, 8>, 256> table{};
    for (unsigned b = 0; b < 256; ++b)
        for (unsigned i = 0; i < 8; ++i) table[b][i] = static_cast<std::uint8_t>(std::popcount(b & ((2U << i) - 1)));
    return table;
}();

}  // namespace nearfield::labelling
#endif

HWY_BEFORE_NAMESPACE();
namespace nearfield::labelling::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using word = std::uint64_t;
using of_label = hn::CappedTag<std::uint32_t, spare_labels>;

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
/// Lane i: number of bits 0 .. i that are set; there are as many bits as lanes.
template <class D>
HWY_INLINE hn::Vec<D> counts(D d, unsigned bits) {
    if constexpr (hn::MaxLanes(D()) <= 8) {
        return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, D>(), counts_of_byte[bits & 255].data()));
    } else {
        const hn::Half<D> half;
        const auto low = counts(half, bits & 255), high = counts(half, bits >> 8);
        const auto all_of_low = static_cast<std::uint32_t>(std::popcount(bits & 255));
        return hn::Combine(d, hn::Add(high, hn::Set(half, all_of_low)), low);
    }
}

/// Writes the 64 cells of a word; `label` is the label of the first run that starts in it.
HWY_INLINE void write_word(word f, word s, const std::uint32_t* label, std::uint32_t* out) {
    constexpr of_label d;
    constexpr std::int64_t lanes = hn::MaxLanes(of_label());
    if (f == 0 || (f == ~word{0} && (s & ~word{1}) == 0)) {
        const auto all = hn::Set(d, f == 0 ? 0 : label[static_cast<std::int64_t>(s) - 1]);
        for (std::int64_t x = 0; x < word_bits; x += lanes) hn::StoreU(all, d, out + x);
        return;
    }
    constexpr word lane_bits = (word{1} << lanes) - 1;
    const auto lane_bit = hn::Shl(hn::Set(d, 1), hn::Iota(d, 0));
    for (std::int64_t x = 0; x < word_bits; x += lanes) {
        const auto starts = static_cast<unsigned>(s >> x & lane_bits), own = starts & 1;
        // Index 0 is the run that continues, or the one that starts with the first lane.
        const auto index = hn::Sub(counts(d, starts), hn::Set(d, own));
        const auto labels = hn::LoadU(d, label - 1 + own);
        const auto inside = hn::TestBit(hn::Set(d, static_cast<std::uint32_t>(f >> x & lane_bits)), lane_bit);
        const auto found = hn::TableLookupLanes(labels, hn::IndicesFromVec(d, index));
        hn::StoreU(hn::IfThenElseZero(inside, found), d, out + x);
        label += std::popcount(starts);
    }
}
#else
HWY_INLINE void write_word(word f, word s, const std::uint32_t* label, std::uint32_t* out) {
    --label;
    for (std::int64_t x = 0; x < word_bits; ++x) {
        label += s >> x & 1;
        out[x] = (f >> x & 1) != 0 ? *label : 0;
    }
}
#endif

void expand(const word* foreground, const word* starts, std::int64_t cells, const std::uint32_t* label,
            std::uint32_t* out) {
    for (std::int64_t w = 0; w * word_bits < cells; ++w) {
        const word f = foreground[w], s = starts != nullptr ? starts[w] : f & ~(f << 1 | foreground[w - 1] >> 63);
        const std::int64_t left = cells - w * word_bits;
        if (left >= word_bits) {
            write_word(f, s, label, out + w * word_bits);
            label += std::popcount(s);
            continue;
        }
        std::uint32_t rest[word_bits];
        write_word(f, s, label, rest);
        std::memcpy(out + w * word_bits, rest, static_cast<std::size_t>(left) * sizeof(std::uint32_t));
    }
}

/// Lists the runs of a row. A run ends where the next cell is background or starts another run.
std::int64_t runs_of_row(const word* foreground, const word* starts, std::int64_t words, row_run* out) {
    row_run *first = out, *last = out;
    for (std::int64_t w = 0; w < words; ++w) {
        const word f = foreground[w], next = foreground[w + 1];
        word s = starts != nullptr ? starts[w] : f & ~(f << 1 | foreground[w - 1] >> 63);
        const word next_starts = starts != nullptr ? starts[w + 1] & 1 : 0;
        word ends = f & ~((f >> 1 & ~(s >> 1)) | (next & 1 & ~next_starts) << 63);
        for (; s != 0; s &= s - 1) (first++)->first = w * word_bits + std::countr_zero(s);
        for (; ends != 0; ends &= ends - 1) (last++)->end = w * word_bits + std::countr_zero(ends) + 1;
    }
    return first - out;
}

}  // namespace nearfield::labelling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::labelling {

HWY_EXPORT(expand);
HWY_EXPORT(runs_of_row);

void expand_labels(const std::uint64_t* foreground, const std::uint64_t* starts, std::int64_t cells,
                   const std::uint32_t* label, std::uint32_t* out) {
    HWY_DYNAMIC_DISPATCH(expand)(foreground, starts, cells, label, out);
}
std::int64_t list_runs(const std::uint64_t* foreground, const std::uint64_t* starts, std::int64_t words, row_run* out) {
    return HWY_DYNAMIC_DISPATCH(runs_of_row)(foreground, starts, words, out);
}

}  // namespace nearfield::labelling
#endif
