// Straight lines between cell centres, in exact integers.
#pragma once

#include <cstdint>

#include "base/wide.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::geodesics {

/// Calls use(coordinates) for every cell but the first that the line between two centres touches, even at a corner or
/// edge, until use returns false. Returns true if it never does.
template <class Use>
bool for_line(const std::int64_t* from, const std::int64_t* to, int axes, const Use& use) {
    std::int64_t at[max_rank], there[max_rank];
    std::uint64_t length[max_rank], crossed[max_rank]{};
    for (int k = 0; k < axes; ++k) {
        at[k] = from[k];
        length[k] = static_cast<std::uint64_t>(to[k] < from[k] ? from[k] - to[k] : to[k] - from[k]);
    }
    // Along axis k the line enters its next cell at the fraction (2 crossed + 1) / (2 length) of its way.
    const auto before = [&](int a, int b) {
        return static_cast<uint128>(2 * crossed[a] + 1) * length[b] <
               static_cast<uint128>(2 * crossed[b] + 1) * length[a];
    };
    for (;;) {
        int next[max_rank], count = 0;
        for (int k = 0; k < axes; ++k) {
            if (crossed[k] == length[k]) continue;
            if (count > 0 && before(next[0], k)) continue;
            if (count > 0 && before(k, next[0])) count = 0;
            next[count++] = k;
        }
        if (count == 0) return true;
        for (unsigned some = 1; some < 1U << count; ++some) {
            for (int k = 0; k < axes; ++k) there[k] = at[k];
            for (int i = 0; i < count; ++i)
                if ((some >> i & 1U) != 0) there[next[i]] += to[next[i]] > from[next[i]] ? 1 : -1;
            if (!use(static_cast<const std::int64_t*>(there))) return false;
        }
        for (int i = 0; i < count; ++i) at[next[i]] += to[next[i]] > from[next[i]] ? 1 : -1, ++crossed[next[i]];
    }
}

}  // namespace nearfield::geodesics
