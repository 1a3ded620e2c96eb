// The hierarchy of regions, by height, area or volume: the pass at which each minimum's region ends; and its cuts.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "watershed/host_tree.hpp"

namespace nearfield::watersheds {

namespace {

template <class Value, class Key>
double height_between(Key lowest, Key pass, bool maxima, bool roots) {
    const auto a = value_of<Value>(turned(lowest, maxima)), b = value_of<Value>(turned(pass, maxima));
    if (roots) return std::abs(std::sqrt(static_cast<double>(a)) - std::sqrt(static_cast<double>(b)));
    if constexpr (std::is_floating_point_v<Value>) return std::abs(static_cast<double>(a) - static_cast<double>(b));
    else return static_cast<double>(static_cast<std::uint64_t>(pass) - static_cast<std::uint64_t>(lowest));
}

}  // namespace

double region_tree::amount_of(std::size_t basin) const {
    if (into[basin] < 0) return std::numeric_limits<double>::infinity();
    return heights ? std::bit_cast<double>(static_cast<std::uint64_t>(amount[basin]))
                   : static_cast<double>(amount[basin]) / factor;
}
bool region_tree::reaches(std::size_t basin, double least) const {
    const double whole = std::ceil(least * factor);
    return whole < 0x1p127 && amount[basin] >= static_cast<uint128>(whole);
}

template <class Key>
lakes_of_tree merge_tree<Key>::number_lakes(list<Key>& end) const {
    const std::size_t count = cell.size();
    lakes_of_tree l;
    l.first.assign(count + 1, 0), l.joins.assign(count, -1);
    list<std::int32_t> number(count, 0);
    list<Key> last(count);
    const auto begins = [&](std::size_t basin) {
        const auto to = static_cast<std::size_t>(into[basin]);
        const bool some = number[to] == 0 || last[to] != pass[basin];
        number[to] += some ? 1 : 0, last[to] = pass[basin];
        return some;
    };
    for (const std::int32_t each : order) begins(static_cast<std::size_t>(each));
    for (std::size_t i = 0; i < count; ++i) l.first[i + 1] = l.first[i] + 1 + std::exchange(number[i], 0);
    end.assign(static_cast<std::size_t>(l.first.back()), Key{outside<Key>});
    for (const std::int32_t each : order) {
        const auto own = static_cast<std::size_t>(each), to = static_cast<std::size_t>(into[own]);
        const bool some = begins(own);
        l.joins[own] = l.first[to] + number[to];
        if (some) l.begun.push_back(l.joins[own]);
        end[static_cast<std::size_t>(l.joins[own] - 1)] = end[static_cast<std::size_t>(l.first[own + 1] - 1)] =
            pass[own];
    }
    return l;
}

/// Merges lakes from the lowest pass on: among those that meet at a pass, the region with the largest amount continues.
template <class Key>
template <class Value>
void merge_tree<Key>::join_lakes(const lakes_of_tree& l, attribute by, region_tree& tree) const {
    struct lake {
        int128 cells, sum;
        std::int32_t region;  ///< the basin that owns the region
    };
    list<lake> at(l.cells.size());
    for (std::size_t i = 0; i < at.size(); ++i)
        at[i] = {l.cells[i], static_cast<int128>(l.high[i]) * (1LL << 32) + l.low[i], 0};
    for (std::size_t i = 0; i < cell.size(); ++i)
        at[static_cast<std::size_t>(l.first[i])].region = static_cast<std::int32_t>(i);
    list<std::int32_t> next(cell.size(), -1), newest(at.size(), -1);  // linked lists of the basins that join a lake
    for (const std::int32_t each : order)
        next[static_cast<std::size_t>(each)] =
            std::exchange(newest[static_cast<std::size_t>(l.joins[static_cast<std::size_t>(each)])], each);
    std::vector<std::size_t> meet;
    for (const std::int32_t begun : l.begun) {
        const auto to = static_cast<std::size_t>(begun);
        const auto from = static_cast<std::size_t>(newest[to]);
        meet.assign(1, to - 1);
        for (std::int32_t each = newest[to]; each >= 0; each = next[static_cast<std::size_t>(each)])
            meet.push_back(static_cast<std::size_t>(l.first[static_cast<std::size_t>(each) + 1] - 1));
        const int128 level = summand_of<Value>(pass[from], maxima, tree.factor);
        const auto amount = [&](const lake& a) { return by == attribute::area ? a.cells : a.cells * level - a.sum; };
        const auto goes_on = [&](std::size_t a, std::size_t b) {
            const int128 of_a = amount(at[a]), of_b = amount(at[b]);
            if (of_a != of_b) return of_a > of_b;
            return precedes(at[a].region, at[b].region);
        };
        const std::size_t best = *std::min_element(meet.begin(), meet.end(), goes_on);
        at[to].region = at[best].region;
        for (const std::size_t each : meet) {
            at[to].cells += at[each].cells, at[to].sum += at[each].sum;
            if (each == best) continue;
            const auto ends = static_cast<std::size_t>(at[each].region);
            tree.into[ends] = at[best].region, tree.amount[ends] = static_cast<uint128>(amount(at[each]));
            tree.order.push_back(at[each].region);
        }
    }
}

template <class Key>
region_tree merge_tree<Key>::regions(attribute by, bool roots, const fill& fill_lakes) const {
    region_tree tree;
    tree.amount.assign(cell.size(), 0), tree.heights = by == attribute::height;
    if (tree.heights) tree.into = into, tree.order = order;
    else tree.into.assign(cell.size(), -1);
    with_number(type, [&]<class Value>(Value) {
        if constexpr (sizeof(key_of<Value>) <= sizeof(Key)) {
            for (const std::int32_t each : tree.order) {
                const auto own = static_cast<std::size_t>(each);
                tree.amount[own] =
                    std::bit_cast<std::uint64_t>(height_between<Value>(low[own], pass[own], maxima, roots));
            }
            if (tree.heights) return;
            lakes_of_tree lakes;
            tree.factor = fill_lakes(lakes, by == attribute::volume);
            join_lakes<Value>(lakes, by, tree);
        }
    });
    return tree;
}

template <class Key>
std::vector<extinction> merge_tree<Key>::extinctions(const frame& where, const region_tree& tree) const {
    const list<std::uint8_t> stay = staying({0, 0, false, maxima});
    list<std::int32_t> number(cell.size(), -1);
    std::vector<extinction> found;
    const numbering image(where);
    for (std::size_t i = 0; i < cell.size(); ++i) {
        if (stay[i] == 0) continue;
        number[i] = static_cast<std::int32_t>(found.size());
        found.push_back({image(cell[i]), tree.amount_of(i), tree.into[i]});
    }
    for (extinction& each : found)
        if (each.into >= 0) each.into = number[static_cast<std::size_t>(each.into)];
    return found;
}

/// Selects the minima that keep a region of their own.
template <class Key>
list<std::uint8_t> merge_tree<Key>::kept(const region_tree& tree, const cut_options& cut, const height& least) const {
    if (tree.heights && cut.regions == 0) return staying(least);
    list<std::uint8_t> stay = staying({0, 0, false, maxima});
    list<std::int32_t> some;
    std::int64_t whole = 0;
    for (std::size_t i = 0; i < stay.size(); ++i) {
        if (tree.into[i] < 0) ++whole;
        else if (stay[i] != 0 && cut.regions > 0) stay[i] = 0, some.push_back(static_cast<std::int32_t>(i));
        else if (stay[i] != 0) stay[i] = tree.reaches(i, cut.least) ? 1 : 0;
    }
    const auto more = [&](std::int32_t a, std::int32_t b) {
        const uint128 of_a = tree.amount[static_cast<std::size_t>(a)], of_b = tree.amount[static_cast<std::size_t>(b)];
        if (of_a != of_b) return of_a > of_b;
        return precedes(a, b);
    };
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(0, cut.regions - whole));
    if (room < some.size()) {
        std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(room), some.end(), more);
        some.resize(room);
    }
    for (const std::int32_t each : some) stay[static_cast<std::size_t>(each)] = 1;
    return stay;
}

template <class Key>
list<std::int32_t> merge_tree<Key>::labels_of_cut(const region_tree& tree, const cut_options& cut,
                                                  const height& least) const {
    const list<std::uint8_t> stay = kept(tree, cut, least);
    list<std::int32_t> region(cell.size(), 0), of_minimum{0};
    std::int32_t number = 0;
    for (std::size_t i = 0; i < stay.size(); ++i) number += stay[i], region[i] = stay[i] != 0 ? number : 0;
    for (std::size_t i = tree.order.size(); i-- > 0;)  // a region that continues ends later than those it takes over
        if (const auto own = static_cast<std::size_t>(tree.order[i]); stay[own] == 0)
            region[own] = region[static_cast<std::size_t>(tree.into[own])];
    const list<std::uint8_t> any = staying({0, 0, false, maxima});
    for (std::size_t i = 0; i < any.size(); ++i)
        if (any[i] != 0) of_minimum.push_back(region[i]);
    return of_minimum;
}

template struct merge_tree<std::int32_t>;
template struct merge_tree<std::int64_t>;

}  // namespace nearfield::watersheds
