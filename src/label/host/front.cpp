#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "label/host/front.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "label/host/bits.hpp"
#include "label/host/front.hpp"
#include "label/host/predicates.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::labelling::HWY_NAMESPACE {

void pack(const std::uint8_t* byte, std::int64_t cells, std::uint64_t* words) {
    std::int64_t x = 0;
    for (; x + word_bits <= cells; x += word_bits) *words++ = word_of(byte + x);
    if (x == cells) return;
    std::uint8_t rest[word_bits] = {};
    std::memcpy(rest, byte + x, static_cast<std::size_t>(cells - x));
    *words = word_of(rest);
}

template <class T>
void foreground_bytes(const rule<T>& r, const T* v, int channels, std::int64_t cells, std::uint8_t* out) {
    if (channels > 1) {
        for (std::int64_t x = 0; x < cells; ++x) out[x] = r.foreground(v + x * channels, channels, 1);
    } else if (!r.has_background) {
        std::memset(out, 1, static_cast<std::size_t>(cells));
    } else if (r.nan_background) {
        for (std::int64_t x = 0; x < cells; ++x) out[x] = v[x] == v[x];
    } else {
        const T background = r.background;
        for (std::int64_t x = 0; x < cells; ++x) out[x] = v[x] != background;
    }
}

/// Compares integers as vectors, without an array of bytes; returns false if the row does not suit (less than a word).
template <class T>
bool foreground_by_vectors(const rule<T>& r, const T* v, int channels, std::int64_t cells, std::uint64_t* words) {
    if constexpr (std::is_integral_v<T>) {
        const of_element<T> d;
        if (channels > 1 || !r.has_background || cells < word_bits || hn::Lanes(d) < 8) return false;
        const auto background = hn::Set(d, r.background);
        const auto word_at = [&](std::int64_t x) {
            return word_of_masks<T>([&](std::int64_t i) { return hn::Ne(hn::LoadU(d, v + x + i), background); });
        };
        std::int64_t x = 0;
        for (; x + word_bits <= cells; x += word_bits) *words++ = word_at(x);
        if (x < cells) *words = word_at(cells - word_bits) >> (x + word_bits - cells);
        return true;
    }
    return false;
}

void foreground_row(const label_options& o, const cell_row& row, std::int64_t cells, std::uint8_t* bytes,
                    std::uint64_t* words) {
    words[(cells + word_bits - 1) / word_bits] = 0;
    if (o.criterion == criterion::nonzero && row.channels == 1 && size_of(row.type) == 1)
        return pack(static_cast<const std::uint8_t*>(row.data), cells, words);
    with_elements(row, [&]<class T>(const T* v) {
        const rule<T> r = make_rule<T>(o);
        if (foreground_by_vectors(r, v, row.channels, cells, words)) return;
        foreground_bytes(r, v, row.channels, cells, bytes);
        pack(bytes, cells, words);
    });
}

void west_row(const problem& p, const cell_row& row, std::int64_t cells, std::uint8_t* bytes, std::uint64_t* words) {
    bytes[0] = 0;
    with_elements(row, [&]<class T>(const T* v) {
        const rule<T> r = make_rule<T>(p, 0, 0, -1);
        if (links_by_vectors(r, row.channels, cells)) {
            for (std::int64_t x = 0; x < cells; x += word_bits) *words++ = linked_word(r, v, v, cells, x, -1);
            return;
        }
        linked_bytes(r, v + row.channels, v, row.channels, cells - 1, bytes + 1);
        pack(bytes, cells, words);
    });
}

void straight_row(const problem& p, int dz, int dy, const cell_row& here, const cell_row& there, std::int64_t cells,
                  std::uint64_t* words) {
    with_elements(here, [&]<class T>(const T* v) {
        const rule<T> r = make_rule<T>(p, dz, dy, 0);
        const T* const other = static_cast<const T*>(there.data);
        if (links_by_vectors(r, here.channels, cells)) {
            for (std::int64_t x = 0; x < cells; x += word_bits) *words++ = linked_word(r, v, other, cells, x, 0);
            return;
        }
        for (std::int64_t x = 0; x < cells; x += word_bits) {
            HWY_ALIGN std::uint8_t bytes[word_bits] = {};
            const std::int64_t at = x * here.channels, count = std::min(cells - x, word_bits);
            linked_bytes(r, v + at, other + at, here.channels, count, bytes);
            *words++ = word_of(bytes);
        }
    });
}

std::uint64_t links_of_cells(const label_options& o, link_pair by, const cell_row& here, const void* there,
                             std::int64_t cells) {
    HWY_ALIGN std::uint8_t bytes[word_bits] = {};
    with_elements(here, [&]<class T>(const T* v) {
        const rule<T> r = make_rule<T>(o, by);
        if (cells == word_bits) linked_bytes(r, v, static_cast<const T*>(there), here.channels, word_bits, bytes);
        else linked_bytes(r, v, static_cast<const T*>(there), here.channels, cells, bytes);
    });
    return word_of(bytes);
}

std::int64_t starts_of_row(const std::uint64_t* foreground, const std::uint64_t* west, std::int64_t words,
                           std::uint64_t* starts, std::uint32_t* before) {
    std::uint32_t count = 0;
    std::uint64_t before_it = 0;  // not the word in front of the row, which another thread may be writing
    for (std::int64_t w = 0; w < words; ++w) {
        const std::uint64_t f = foreground[w], shifted = f << 1 | before_it >> 63;
        before_it = f;
        const std::uint64_t s = f & ~(west != nullptr ? shifted & west[w] : shifted);
        if (starts != nullptr) starts[w] = s;
        before[w] = count;
        count += static_cast<std::uint32_t>(std::popcount(s));
    }
    if (starts != nullptr) starts[words] = 0;
    return count;
}

}  // namespace nearfield::labelling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::labelling {

HWY_EXPORT(foreground_row);
HWY_EXPORT(west_row);
HWY_EXPORT(straight_row);
HWY_EXPORT(starts_of_row);
HWY_EXPORT(links_of_cells);

void foreground_words(const label_options& o, const cell_row& row, std::int64_t cells, std::uint8_t* bytes,
                      std::uint64_t* words) {
    HWY_DYNAMIC_DISPATCH(foreground_row)(o, row, cells, bytes, words);
}
void west_words(const problem& p, const cell_row& row, std::int64_t cells, std::uint8_t* bytes, std::uint64_t* words) {
    HWY_DYNAMIC_DISPATCH(west_row)(p, row, cells, bytes, words);
}
void straight_words(const problem& p, int dz, int dy, const cell_row& here, const cell_row& there, std::int64_t cells,
                    std::uint64_t* words) {
    HWY_DYNAMIC_DISPATCH(straight_row)(p, dz, dy, here, there, cells, words);
}
std::uint64_t linked_cells(const label_options& o, link_pair by, const cell_row& here, const void* there,
                           std::int64_t cells) {
    return HWY_DYNAMIC_DISPATCH(links_of_cells)(o, by, here, there, cells);
}
std::int64_t find_starts(const std::uint64_t* foreground, const std::uint64_t* west, std::int64_t words,
                         std::uint64_t* starts, std::uint32_t* before) {
    return HWY_DYNAMIC_DISPATCH(starts_of_row)(foreground, west, words, starts, before);
}

}  // namespace nearfield::labelling
#endif
