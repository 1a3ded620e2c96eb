// Sorts by integers of 32 or 64 bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace nearfield::watersheds {

/// Sorts items by key_of(item), an integer, and keeps the order of equal ones. Long lists are sorted by digits of 11
/// bits from the lowest; digits that are the same in all keys are left out.
template <class List, class KeyOf>
void sort_by(List& items, const KeyOf& key_of) {
    constexpr int bits = 11;
    using key = std::make_unsigned_t<decltype(key_of(items.front()))>;
    const auto less = [&](const auto& a, const auto& b) { return key_of(a) < key_of(b); };
    if (items.size() < 1 << 12) return std::stable_sort(items.begin(), items.end(), less);
    const auto least = static_cast<key>(key_of(*std::min_element(items.begin(), items.end(), less)));
    key differ = 0;
    for (const auto& each : items) differ |= static_cast<key>(static_cast<key>(key_of(each)) - least);
    List other(items.size());
    for (int shift = 0; shift < static_cast<int>(8 * sizeof(key)) && (differ >> shift) != 0; shift += bits) {
        if ((differ >> shift & ((1U << bits) - 1)) == 0) continue;
        std::vector<std::size_t> from((std::size_t{1} << bits) + 1);
        const auto digit = [&](const auto& e) {
            return static_cast<std::size_t>(static_cast<key>(static_cast<key>(key_of(e)) - least) >> shift &
                                            ((1U << bits) - 1));
        };
        for (const auto& each : items) ++from[digit(each) + 1];
        std::partial_sum(from.begin(), from.end(), from.begin());
        for (const auto& each : items) other[from[digit(each)]++] = each;
        items.swap(other);
    }
}

}  // namespace nearfield::watersheds
