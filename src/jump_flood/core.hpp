// The mathematics of jump flooding: which steps a call takes, which site a cell keeps, and which site a cell draws.
//
// A round with step k offers every cell the sites of the 3^d cells whose coordinates differ from its own by -k, 0 or k.
// Steps are powers of two below the longest side, so that their sums reach every cell from every other for any size.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "methods/core.hpp"

namespace nearfield::methods {

/// The steps of all rounds of a call, in order.
inline std::vector<std::int64_t> steps_of(const jump_flood& how, const grid& g) {
    const std::int64_t longest = *std::max_element(g.size, g.size + 3);
    const std::int64_t first =
        longest < 2 ? 0 : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(longest - 1)));
    std::vector<std::int64_t> series(static_cast<std::size_t>(how.rounds_before), 1);
    for (std::int64_t step = first; step > 0; step /= 2) series.push_back(step);
    if (how.steps == jump_flood::order::doubling) std::reverse(series.begin() + how.rounds_before, series.end());
    for (int round = how.rounds_after; round-- > 0;) series.push_back(std::int64_t{1} << round);
    std::vector<std::int64_t> all;
    for (int run = 0; run < how.runs; ++run) all.insert(all.end(), series.begin(), series.end());
    return all;
}

/// The nearest site that a cell has found so far.
template <class V, class Key>
struct nearest {
    V distance2 = no_site<V>();
    Key site = none<Key>;

    /// Takes the offered site if it is nearer. A cell without a site offers no_site and `none`, which no cell takes.
    NF_HD constexpr void offer(V d, Key key) {
        bool take = nearer(d, key, distance2, site);
#ifdef __CUDA_ARCH__
        // Compares two registers at once; the compiler makes three comparisons of nearer().
        if constexpr (sizeof(V) == 4 && sizeof(Key) == 4)
            take = (static_cast<std::int64_t>(d) << 32 | static_cast<std::uint32_t>(key)) <
                   (static_cast<std::int64_t>(distance2) << 32 | static_cast<std::uint32_t>(site));
#endif
        distance2 = take ? d : distance2;
        site = take ? key : site;
    }
};

/// The two nearest sites that a cell has found so far.
template <class V, class Key>
struct two_nearest {
    nearest<V, Key> first, second;

    NF_HD constexpr void offer(V d, Key key) {
        if (key == first.site || key == second.site) return;
        if (nearer(d, key, first.distance2, first.site)) {
            second = first;
            first = {d, key};
        } else {
            second.offer(d, key);
        }
    }
};

/// Random bits for a cell without a site in a round; their remainder by the number of sites selects the site it draws.
NF_HD constexpr std::uint64_t draw_bits(std::uint64_t seed, std::int64_t round, std::int64_t cell) {
    return mixed(mixed(seed) ^ (static_cast<std::uint64_t>(round) << 32 | static_cast<std::uint64_t>(cell)));
}
NF_HD constexpr std::int64_t drawn(std::uint64_t seed, std::int64_t round, std::int64_t cell, std::int64_t count) {
    return static_cast<std::int64_t>(draw_bits(seed, round, cell) % static_cast<std::uint64_t>(count));
}

namespace self_check {
constexpr bool keeps_the_two_nearest() {
    two_nearest<std::int32_t, std::int32_t> pair;
    for (const auto& [d, key] : {std::pair{9, 4}, {4, 7}, {4, 5}, {9, 3}, {4, 5}}) pair.offer(d, key);
    return pair.first.site == 5 && pair.second.site == 7;
}
static_assert(keeps_the_two_nearest());
}  // namespace self_check

}  // namespace nearfield::methods
