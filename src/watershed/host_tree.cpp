#include "watershed/host_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "watershed/host_sort.hpp"

namespace nearfield::watersheds {

namespace {

std::int32_t top(list<std::int32_t>& up, std::int32_t x) {
    const auto at = [&](std::int32_t i) -> std::int32_t& { return up[static_cast<std::size_t>(i)]; };
    while (at(x) != x) x = at(x) = at(at(x));
    return x;
}

}  // namespace

/// Returns whether basin a is lower than basin b, or equally low and first.
template <class Key>
bool merge_tree<Key>::precedes(std::int32_t a, std::int32_t b) const {
    const Key of_a = low[static_cast<std::size_t>(a)], of_b = low[static_cast<std::size_t>(b)];
    return of_a != of_b ? of_a < of_b : a < b;
}

/// Kruskal's algorithm: a connected set is represented by its lowest basin, by the first of several equally low ones.
template <class Key>
void merge_tree<Key>::connect(list<edge<Key>>& edges) {
    sort_by(edges, [](const edge<Key>& e) { return e.pass; });
    const std::size_t count = low.size();
    into.assign(count, -1), pass.assign(count, Key{outside<Key>});
    list<std::int32_t> up(count);
    std::iota(up.begin(), up.end(), 0);
    for (const edge<Key>& each : edges) {
        std::int32_t a = top(up, each.a), b = top(up, each.b);
        if (a == b) continue;
        if (precedes(b, a)) std::swap(a, b);
        const auto ends = static_cast<std::size_t>(b);
        up[ends] = into[ends] = a, pass[ends] = each.pass, order.push_back(b);
    }
    // Basins that meet at one pass all become part of the lowest, whatever the order in which they were met.
    for (std::size_t i = order.size(); i-- > 0;) {
        const auto own = static_cast<std::size_t>(order[i]), next = static_cast<std::size_t>(into[own]);
        if (into[next] >= 0 && pass[next] == pass[own]) into[own] = into[next];
    }
}

template <class Key>
bool merge_tree<Key>::stays(std::size_t basin, const height& least) const {
    bool high = into[basin] < 0;
    if (!high)
        with_number(type, [&]<class Value>(Value) {
            if constexpr (sizeof(key_of<Value>) <= sizeof(Key)) high = least.reached<Value>(low[basin], pass[basin]);
        });
    return high;
}

template <class Key>
list<std::uint8_t> merge_tree<Key>::staying(const height& least) const {
    list<std::uint8_t> found(cell.size());
    with_number(type, [&]<class Value>(Value) {
        if constexpr (sizeof(key_of<Value>) <= sizeof(Key)) {
            list<double>& apart = kept_.apart[least.roots ? 1 : 0];
            std::call_once(kept_.measured[least.roots ? 1 : 0], [&] {
                list<double> made(cell.size());
                for (std::size_t i = 0; i < made.size(); ++i)
                    made[i] =
                        into[i] < 0 ? std::numeric_limits<double>::infinity() : least.apart<Value>(low[i], pass[i]);
                apart = std::move(made);
            });
            const limits_beside limit(least.limit<Value>());
            std::uint8_t some = 0;  // without branches, which would be mispredicted
            for (std::size_t i = 0; i < found.size(); ++i) {
                const auto above = static_cast<std::uint8_t>(apart[i] > limit.above ? 1 : 0),
                           below = static_cast<std::uint8_t>(apart[i] < limit.below ? 1 : 0);
                found[i] = above, some |= static_cast<std::uint8_t>((above | below) ^ 1);
            }
            for (std::size_t i = 0; some != 0 && i < found.size(); ++i)
                if (!(apart[i] > limit.above) && !(apart[i] < limit.below))
                    found[i] = into[i] < 0 || least.reached<Value>(low[i], pass[i]) ? 1 : 0;
        }
    });
    return found;
}

template <class Key>
double merge_tree<Key>::no_pass() const {
    constexpr double none = std::numeric_limits<double>::infinity();
    return maxima ? -none : none;
}

template <class Key>
std::vector<extremum> merge_tree<Key>::extrema(const frame& where, const height& least) const {
    list<std::int32_t> number(cell.size(), -1);
    std::vector<extremum> found;
    const numbering image(where);
    for (std::size_t i = 0; i < cell.size(); ++i) {
        if (!stays(i, least)) continue;
        number[i] = static_cast<std::int32_t>(found.size());
        extremum one{image(cell[i]), 0, 0, into[i]};
        with_number(type, [&]<class Value>(Value) {
            const auto value = [&](Key k) { return static_cast<double>(value_of<Value>(turned(k, maxima))); };
            if constexpr (sizeof(key_of<Value>) <= sizeof(Key))
                one.value = value(low[i]), one.saddle = one.into >= 0 ? value(pass[i]) : no_pass();
        });
        found.push_back(one);
    }
    for (extremum& each : found) {
        std::int64_t next = each.into;
        while (next >= 0 && number[static_cast<std::size_t>(next)] < 0) next = into[static_cast<std::size_t>(next)];
        each.into = next < 0 ? -1 : number[static_cast<std::size_t>(next)];
    }
    return found;
}

template <class Key>
std::vector<peak> merge_tree<Key>::peaks(const frame& where, const height& least) const {
    std::call_once(kept_.sorted, [&] {
        list<std::int32_t> basins(cell.size());
        std::vector<peak> all;
        std::iota(basins.begin(), basins.end(), 0);
        sort_by(basins, [&](std::int32_t i) { return low[static_cast<std::size_t>(i)]; });
        all.reserve(basins.size());
        const numbering image(where);
        with_number(type, [&]<class Value>(Value) {
            if constexpr (sizeof(key_of<Value>) <= sizeof(Key))
                for (const std::int32_t i : basins) {
                    const auto own = static_cast<std::size_t>(i);
                    all.push_back({image(cell[own]), static_cast<double>(value_of<Value>(turned(low[own], maxima)))});
                }
        });
        kept_.basins = std::move(basins), kept_.peaks = std::move(all);
    });
    const list<std::uint8_t> stay = staying(least);
    std::vector<peak> found(static_cast<std::size_t>(std::count(stay.begin(), stay.end(), 1)) + 1);
    std::size_t count = 0;
    for (std::size_t i = 0; i < stay.size(); ++i)
        found[count] = kept_.peaks[i], count += stay[static_cast<std::size_t>(kept_.basins[i])];
    found.pop_back();
    return found;
}

template <class Key>
list<std::uint8_t> merge_tree<Key>::marked(const height& least) const {
    list<std::uint8_t> found = staying(least);
    for (std::size_t i = order.size(); i-- > 0;) {
        const auto own = static_cast<std::size_t>(order[i]), next = static_cast<std::size_t>(into[own]);
        if (low[next] == low[own]) found[own] = found[next];
    }
    return found;
}

/// Relaxes levels along the tree of merges: upwards from basins in the order in which they merge, then downwards.
template <class Key>
void merge_tree<Key>::spread(list<Key>& level, list<std::uint8_t>& reached) const {
    const auto offer = [&](std::size_t from, std::size_t to, Key lowest) {
        if (reached[from] == 0) return;
        const Key over = std::max(level[from], lowest);
        level[to] = reached[to] != 0 ? std::min(level[to], over) : over, reached[to] = 1;
    };
    for (const std::int32_t i : order) {
        const auto own = static_cast<std::size_t>(i);
        offer(own, static_cast<std::size_t>(into[own]), pass[own]);
    }
    for (std::size_t i = order.size(); i-- > 0;) {
        const auto own = static_cast<std::size_t>(order[i]);
        offer(static_cast<std::size_t>(into[own]), own, pass[own]);
    }
}

template <class Key>
double merge_tree<Key>::pass_between(std::int64_t a, std::int64_t b, Key higher) const {
    bool reached = true;
    while (reached && a != b) {
        const auto of_a = static_cast<std::size_t>(a), of_b = static_cast<std::size_t>(b);
        const bool a_first = into[of_b] < 0 || (into[of_a] >= 0 && pass[of_a] <= pass[of_b]);
        const std::size_t next = a_first ? of_a : of_b;
        reached = into[next] >= 0;
        higher = std::max(higher, pass[next]);
        (a_first ? a : b) = into[next];
    }
    double found = no_pass();
    with_number(type, [&]<class Value>(Value) {
        if constexpr (sizeof(key_of<Value>) <= sizeof(Key))
            if (reached) found = static_cast<double>(value_of<Value>(turned(higher, maxima)));
    });
    return found;
}

template struct merge_tree<std::int32_t>;
template struct merge_tree<std::int64_t>;

}  // namespace nearfield::watersheds
