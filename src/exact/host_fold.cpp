// Plain loops: the compiler turns them into each instruction set's vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exact/host_fold.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>

#include "exact/host_fold.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::exact::HWY_NAMESPACE {

template <class T>
void count(const T* HWY_RESTRICT here, const T* HWY_RESTRICT there, std::int64_t count, const std::uint32_t* next,
           std::uint32_t* steps) {
    for (std::int64_t c = 0; c < count; ++c) steps[c] = here[c] == there[c] ? next[c] + 1 : 1;
}
void count_8(const std::uint8_t* a, const std::uint8_t* b, std::int64_t n, const std::uint32_t* x, std::uint32_t* s) {
    count(a, b, n, x, s);
}
void count_16(const std::uint16_t* a, const std::uint16_t* b, std::int64_t n, const std::uint32_t* x,
              std::uint32_t* s) {
    count(a, b, n, x, s);
}
void count_32(const std::uint32_t* a, const std::uint32_t* b, std::int64_t n, const std::uint32_t* x,
              std::uint32_t* s) {
    count(a, b, n, x, s);
}
void count_64(const std::uint64_t* a, const std::uint64_t* b, std::int64_t n, const std::uint32_t* x,
              std::uint32_t* s) {
    count(a, b, n, x, s);
}

/// `N` holds the square of a step without overflow, wrapping where it does not matter.
template <class N, class V, class K>
void offer(const fold_row<V, K>& f) {
    const std::uint32_t* HWY_RESTRICT above = f.above;
    const std::uint32_t* HWY_RESTRICT below = f.below;
    V* HWY_RESTRICT best = f.best;
    const auto window = static_cast<std::uint32_t>(f.window);
    const N twice = f.half_cell ? 2 : 1, less = f.half_cell ? 1 : 0, weight = static_cast<N>(f.weight);
    const auto value_of = [&](std::int64_t c) {
        const std::uint32_t steps = above[c] < below[c] ? above[c] : below[c];
        const N reach = twice * static_cast<N>(steps) - less;
        const V value = static_cast<V>(weight * (reach * reach));
        return steps <= window ? value : no_site<V>();
    };
    if (f.column_key == nullptr) {
        for (std::int64_t c = 0; c < f.count; ++c) {
            const V value = value_of(c);
            best[c] = value < best[c] ? value : best[c];
        }
        return;
    }
    const K* HWY_RESTRICT column_key = f.column_key;
    K* HWY_RESTRICT best_key = f.best_key;
    using U = std::make_unsigned_t<K>;
    const U row = static_cast<U>(f.row);
    for (std::int64_t c = 0; c < f.count; ++c) {
        const V value = value_of(c);
        const U other = above[c] <= below[c] ? row - static_cast<U>(above[c]) : row + static_cast<U>(below[c]);
        const K key = static_cast<K>(static_cast<U>(column_key[c]) | other << f.key_shift);
        // Without | and & the compiler keeps the branches.
        const bool wins = (value < best[c]) | ((value == best[c]) & (value < no_site<V>()) & (key < best_key[c]));
        best[c] = wins ? value : best[c];
        best_key[c] = wins ? key : best_key[c];
    }
}
void offer_int32(const fold_row<std::int32_t, std::int32_t>& f) { offer<std::uint32_t>(f); }
void offer_int64(const fold_row<std::int64_t, std::int64_t>& f) { offer<std::uint64_t>(f); }
void offer_float64(const fold_row<double, std::int64_t>& f) { offer<double>(f); }

template <class V>
void offer_values(const V* HWY_RESTRICT from, std::int64_t count, V term, V* HWY_RESTRICT best) {
    for (std::int64_t c = 0; c < count; ++c) {
        const V value = from[c] + term;
        best[c] = value < best[c] ? value : best[c];
    }
}
template <class V, class K>
void offer_keys(const V* HWY_RESTRICT from, const K* HWY_RESTRICT key, std::int64_t count, V term, V* HWY_RESTRICT best,
                K* HWY_RESTRICT best_key) {
    for (std::int64_t c = 0; c < count; ++c) {
        const V value = from[c] + term;
        const bool wins = (value < best[c]) | ((value == best[c]) & (key[c] < best_key[c]));
        best[c] = wins ? value : best[c];
        best_key[c] = wins ? key[c] : best_key[c];
    }
}

template <class V, class K>
void relax(const tile<V, K>& t) {
    constexpr std::int64_t together = 512;  // columns whose rows stay in the first-level cache
    V best[together];
    K best_key[together];
    for (std::int64_t first = 0; first < t.pitch; first += together) {
        const std::int64_t count = t.pitch - first < together ? t.pitch - first : together;
        for (std::int64_t q = 0; q < t.rows; ++q) {
            const std::int64_t own = q * t.pitch + first, to = q * t.best_pitch + first;
            const std::int64_t from = q > t.window ? q - t.window : 0;
            const std::int64_t end = q + t.window < t.rows ? q + t.window + 1 : t.rows;
            std::copy_n(t.value + own, count, best);
            if (t.key != nullptr) std::copy_n(t.key + own, count, best_key);
            for (std::int64_t r = from; r < end; ++r) {
                if (r == q) continue;
                const std::int64_t at = r * t.pitch + first;
                const V term = t.term[r < q ? q - r : r - q];
                if (t.key == nullptr) offer_values(t.value + at, count, term, best);
                else offer_keys(t.value + at, t.key + at, count, term, best, best_key);
            }
            if (t.best != nullptr) std::copy_n(best, count, t.best + to);
            if (t.key != nullptr) std::copy_n(best_key, count, t.best_key + to);
        }
    }
}
void relax_int32(const tile<std::int32_t, std::int32_t>& t) { relax(t); }
void relax_int64(const tile<std::int64_t, std::int64_t>& t) { relax(t); }

}  // namespace nearfield::exact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::exact {

HWY_EXPORT(count_8);
HWY_EXPORT(count_16);
HWY_EXPORT(count_32);
HWY_EXPORT(count_64);
HWY_EXPORT(offer_int32);
HWY_EXPORT(offer_int64);
HWY_EXPORT(offer_float64);
HWY_EXPORT(relax_int32);
HWY_EXPORT(relax_int64);

template <>
void count_steps(const std::uint8_t* a, const std::uint8_t* b, std::int64_t n, const std::uint32_t* x,
                 std::uint32_t* s) {
    HWY_DYNAMIC_DISPATCH(count_8)(a, b, n, x, s);
}
template <>
void count_steps(const std::uint16_t* a, const std::uint16_t* b, std::int64_t n, const std::uint32_t* x,
                 std::uint32_t* s) {
    HWY_DYNAMIC_DISPATCH(count_16)(a, b, n, x, s);
}
template <>
void count_steps(const std::uint32_t* a, const std::uint32_t* b, std::int64_t n, const std::uint32_t* x,
                 std::uint32_t* s) {
    HWY_DYNAMIC_DISPATCH(count_32)(a, b, n, x, s);
}
template <>
void count_steps(const std::uint64_t* a, const std::uint64_t* b, std::int64_t n, const std::uint32_t* x,
                 std::uint32_t* s) {
    HWY_DYNAMIC_DISPATCH(count_64)(a, b, n, x, s);
}

void offer_rows(const fold_row<std::int32_t, std::int32_t>& f) { HWY_DYNAMIC_DISPATCH(offer_int32)(f); }
void offer_rows(const fold_row<std::int64_t, std::int64_t>& f) { HWY_DYNAMIC_DISPATCH(offer_int64)(f); }
void offer_rows(const fold_row<double, std::int64_t>& f) { HWY_DYNAMIC_DISPATCH(offer_float64)(f); }

void relax_few_rows(const tile<std::int32_t, std::int32_t>& t) { HWY_DYNAMIC_DISPATCH(relax_int32)(t); }
void relax_few_rows(const tile<std::int64_t, std::int64_t>& t) { HWY_DYNAMIC_DISPATCH(relax_int64)(t); }

}  // namespace nearfield::exact
#endif
