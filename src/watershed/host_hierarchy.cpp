// The hierarchy of regions, by height, area or volume: the pass at which each minimum's region ends; and its cuts.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/share.hpp"
#include "base/wide.hpp"
#include "watershed/host_graph.hpp"

namespace nearfield::watersheds {

namespace {

constexpr int fraction_bits = 62;  ///< bits for the largest value of a floating-point image

/// Converts a key to an integer for sums. Floating-point values are multiplied by `factor`, a power of two.
template <class Value, class Key>
std::int64_t whole_of(Key key, bool maxima, double factor) {
    if constexpr (std::is_floating_point_v<Value>) {
        constexpr double most = 1LL << fraction_bits;
        const double v = std::clamp(static_cast<double>(value_of<Value>(turned(key, maxima))) * factor, -most, most);
        return std::llround(maxima ? -v : v);
    } else {
        return static_cast<std::int64_t>(key);  // keys of integers differ as the integers do
    }
}

template <class Value, class Key>
double height_between(Key lowest, Key pass, bool maxima, bool roots) {
    const auto a = value_of<Value>(turned(lowest, maxima)), b = value_of<Value>(turned(pass, maxima));
    if (roots) return std::abs(std::sqrt(static_cast<double>(a)) - std::sqrt(static_cast<double>(b)));
    if constexpr (std::is_floating_point_v<Value>) return std::abs(static_cast<double>(a) - static_cast<double>(b));
    else return static_cast<double>(static_cast<std::uint64_t>(pass) - static_cast<std::uint64_t>(lowest));
}

}  // namespace

/// A lake is a connected set of cells below a level. A basin that is the lowest of its lake owns a sequence of lakes:
/// the next one begins at the pass where others join it. Lakes are numbered basin by basin.
struct lakes_of_graph {
    list<std::int32_t> first;      ///< per basin: its first lake; with one more element at the end
    list<std::int32_t> joins;      ///< per basin: the lake that begins where the basin's last one ends
    list<std::int32_t> begun;      ///< the lakes that begin in this way, sorted by pass
    list<std::int64_t> cells;      ///< per lake: number of cells whose first lake it is
    list<std::int64_t> low, high;  ///< per lake: sums of these cells' values, by their lower 32 bits and the others
};

/// The tree of regions of minima: where one region ends, another one continues.
struct region_tree {
    list<std::int32_t> into, order;  ///< like into_ and order_ of the graph
    list<uint128> amount;            ///< the measure that compares regions; heights are stored as the bits of a double
    bool heights = false;
    double factor = 1;  ///< scale of volumes

    [[nodiscard]] double amount_of(std::size_t basin) const {
        if (into[basin] < 0) return std::numeric_limits<double>::infinity();
        return heights ? std::bit_cast<double>(static_cast<std::uint64_t>(amount[basin]))
                       : static_cast<double>(amount[basin]) / factor;
    }
    [[nodiscard]] bool reaches(std::size_t basin, double least) const {
        const double whole = std::ceil(least * factor);
        return whole < 0x1p127 && amount[basin] >= static_cast<uint128>(whole);
    }
};

/// Numbers the lakes, and fills `end` with the pass at which each one ends.
template <class Key>
lakes_of_graph host_graph<Key>::number_lakes(list<Key>& end) const {
    const std::size_t count = cell_.size();
    lakes_of_graph l;
    l.first.assign(count + 1, 0), l.joins.assign(count, -1);
    list<std::int32_t> number(count, 0);
    list<Key> last(count);
    const auto begins = [&](std::size_t basin) {
        const auto into = static_cast<std::size_t>(into_[basin]);
        const bool some = number[into] == 0 || last[into] != pass_[basin];
        number[into] += some ? 1 : 0, last[into] = pass_[basin];
        return some;
    };
    for (const std::int32_t each : order_) begins(static_cast<std::size_t>(each));
    for (std::size_t i = 0; i < count; ++i) l.first[i + 1] = l.first[i] + 1 + std::exchange(number[i], 0);
    end.assign(static_cast<std::size_t>(l.first.back()), Key{outside<Key>});
    for (const std::int32_t each : order_) {
        const auto own = static_cast<std::size_t>(each), into = static_cast<std::size_t>(into_[own]);
        const bool some = begins(own);
        l.joins[own] = l.first[into] + number[into];
        if (some) l.begun.push_back(l.joins[own]);
        end[static_cast<std::size_t>(l.joins[own] - 1)] = end[static_cast<std::size_t>(l.first[own + 1] - 1)] =
            pass_[own];
    }
    return l;
}

/// Adds every cell to the first lake that covers it.
template <class Key>
template <class Value>
void host_graph<Key>::fill_lakes(workers& team, const list<Key>& end, double factor, lakes_of_graph& l) const {
    const frame& f = asked_.where;
    for (auto* const each : {&l.cells, &l.low, &l.high}) each->assign(end.size(), 0);
    const auto lake_of = [&](std::int32_t code, Key key) {
        auto basin = static_cast<std::size_t>(number_of(code));
        while (into_[basin] >= 0 && pass_[basin] <= key) basin = static_cast<std::size_t>(into_[basin]);
        const auto from = end.begin() + l.first[basin], last = end.begin() + l.first[basin + 1] - 1;
        return static_cast<std::size_t>((key < *from ? from : std::upper_bound(from, last, key)) - end.begin());
    };
    for_rows(team, f, [&](std::int64_t row, const std::int64_t*, int) {
        std::size_t lake = 0;
        std::int64_t sums[3]{};
        const auto add = [&] {
            std::int64_t* const to[] = {l.cells.data() + lake, l.low.data() + lake, l.high.data() + lake};
            for (int i = 0; i < 3; ++i)
                if (sums[i] != 0)
                    std::atomic_ref(*to[i]).fetch_add(std::exchange(sums[i], 0), std::memory_order_relaxed);
        };
        for (std::int64_t i = row; i < row + f.row_size(); ++i) {
            if (basin_.get()[i] == nowhere) continue;
            const Key key = key_.get()[i];
            if (const std::size_t own = lake_of(basin_.get()[i], key); own != lake) add(), lake = own;
            const std::int64_t value = whole_of<Value>(key, asked_.maxima, factor);
            ++sums[0], sums[1] += value & 0xffffffff, sums[2] += value >> 32;
        }
        add();
    });
}

/// Returns the power of two that scales all finite values below 2^fraction_bits.
template <class Key>
template <class Value>
double host_graph<Key>::factor_of(workers& team) const {
    if constexpr (std::is_integral_v<Value>) return 1;
    const frame& f = asked_.where;
    std::vector<double> largest(static_cast<std::size_t>(team.threads()));
    for_rows(team, f, [&](std::int64_t row, const std::int64_t*, int thread) {
        double& most = largest[static_cast<std::size_t>(thread)];
        for (std::int64_t i = row; i < row + f.row_size(); ++i) {
            const double v = std::abs(static_cast<double>(value_of<Value>(turned(key_.get()[i], asked_.maxima))));
            if (basin_.get()[i] != nowhere && std::isfinite(v)) most = std::max(most, v);
        }
    });
    const double most = *std::max_element(largest.begin(), largest.end());
    return most > 0 ? std::ldexp(1.0, std::min(fraction_bits - 1 - std::ilogb(most), 1000)) : 1;
}

/// Merges lakes from the lowest pass on: among those that meet at a pass, the region with the largest amount continues.
template <class Key>
template <class Value>
void host_graph<Key>::join_lakes(const lakes_of_graph& l, attribute by, region_tree& tree) const {
    struct lake {
        int128 cells, sum;
        std::int32_t region;  ///< the basin that owns the region
    };
    list<lake> at(l.cells.size());
    for (std::size_t i = 0; i < at.size(); ++i)
        at[i] = {l.cells[i], static_cast<int128>(l.high[i]) * (1LL << 32) + l.low[i], 0};
    for (std::size_t i = 0; i < cell_.size(); ++i)
        at[static_cast<std::size_t>(l.first[i])].region = static_cast<std::int32_t>(i);
    list<std::int32_t> next(cell_.size(), -1), newest(at.size(), -1);  // linked lists of the basins that join a lake
    for (const std::int32_t each : order_)
        next[static_cast<std::size_t>(each)] =
            std::exchange(newest[static_cast<std::size_t>(l.joins[static_cast<std::size_t>(each)])], each);
    std::vector<std::size_t> meet;
    for (const std::int32_t begun : l.begun) {
        const auto to = static_cast<std::size_t>(begun);
        const auto from = static_cast<std::size_t>(newest[to]);
        meet.assign(1, to - 1);
        for (std::int32_t each = newest[to]; each >= 0; each = next[static_cast<std::size_t>(each)])
            meet.push_back(static_cast<std::size_t>(l.first[static_cast<std::size_t>(each) + 1] - 1));
        const int128 level = whole_of<Value>(pass_[from], asked_.maxima, tree.factor);
        const auto amount = [&](const lake& a) { return by == attribute::area ? a.cells : a.cells * level - a.sum; };
        const auto goes_on = [&](std::size_t a, std::size_t b) {
            const int128 of_a = amount(at[a]), of_b = amount(at[b]);
            if (of_a != of_b) return of_a > of_b;
            const std::int32_t x = at[a].region, y = at[b].region;
            return lowest(x) != lowest(y) ? lowest(x) < lowest(y) : x < y;
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
region_tree host_graph<Key>::regions_by(const host& on, attribute by, bool roots) const {
    region_tree tree;
    tree.amount.assign(cell_.size(), 0), tree.heights = by == attribute::height;
    if (tree.heights) tree.into = into_, tree.order = order_;
    else tree.into.assign(cell_.size(), -1);
    with_value(asked_.image.type, [&]<class Value>(Value) {
        if constexpr (sizeof(key_of<Value>) <= sizeof(Key)) {
            for (const std::int32_t each : tree.order)
                tree.amount[static_cast<std::size_t>(each)] = std::bit_cast<std::uint64_t>(
                    height_between<Value>(lowest(each), pass_[static_cast<std::size_t>(each)], asked_.maxima, roots));
            if (tree.heights) return;
            workers team(on, 2 * asked_.where.places);
            list<Key> end;
            lakes_of_graph lakes = number_lakes(end);
            if (by == attribute::volume) tree.factor = factor_of<Value>(team);
            fill_lakes<Value>(team, end, tree.factor, lakes);
            join_lakes<Value>(lakes, by, tree);
        }
    });
    return tree;
}

template <class Key>
std::vector<extinction> host_graph<Key>::extinctions(attribute by, bool roots) const {
    const region_tree tree = regions_by({}, by, roots);
    const height least{0, 0, false, asked_.maxima};
    list<std::int32_t> number(cell_.size(), -1);
    std::vector<extinction> found;
    for (std::size_t i = 0; i < cell_.size(); ++i) {
        if (!stays(static_cast<std::int64_t>(i), least)) continue;
        number[i] = static_cast<std::int32_t>(found.size());
        found.push_back({number_in_image(cell_[i]), tree.amount_of(i), tree.into[i]});
    }
    for (extinction& each : found)
        if (each.into >= 0) each.into = number[static_cast<std::size_t>(each.into)];
    return found;
}

/// Selects the minima that keep a region of their own.
template <class Key>
list<std::uint8_t> host_graph<Key>::kept(const region_tree& tree, const cut_options& cut, const height& least) const {
    list<std::uint8_t> stay(cell_.size());
    list<std::int32_t> some;
    std::int64_t whole = 0;
    const height any{0, 0, false, asked_.maxima};
    for (std::size_t i = 0; i < stay.size(); ++i) {
        const auto basin = static_cast<std::int32_t>(i);
        stay[i] = stays(basin, any) ? 1 : 0;
        if (tree.into[i] < 0) ++whole;
        else if (stay[i] != 0 && cut.regions > 0) stay[i] = 0, some.push_back(basin);
        else if (stay[i] != 0) stay[i] = (tree.heights ? stays(basin, least) : tree.reaches(i, cut.least)) ? 1 : 0;
    }
    const auto more = [&](std::int32_t a, std::int32_t b) {
        const uint128 of_a = tree.amount[static_cast<std::size_t>(a)], of_b = tree.amount[static_cast<std::size_t>(b)];
        if (of_a != of_b) return of_a > of_b;
        return lowest(a) != lowest(b) ? lowest(a) < lowest(b) : a < b;
    };
    std::sort(some.begin(), some.end(), more);
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(0, cut.regions - whole));
    for (std::size_t i = 0; i < std::min(room, some.size()); ++i) stay[static_cast<std::size_t>(some[i])] = 1;
    return stay;
}

template <class Key>
void host_graph<Key>::cut(const host& on, const cut_options& cut, const height& least, const target& out) {
    const region_tree tree = regions_by(part_of(on, 0, 0.2), cut.by, cut.roots);
    const list<std::uint8_t> stay = kept(tree, cut, least);
    list<std::int32_t> region(cell_.size(), 0), of_minimum{0};
    std::int32_t number = 0;
    for (std::size_t i = 0; i < stay.size(); ++i)
        if (stay[i] != 0) region[i] = ++number;
    for (std::size_t i = tree.order.size(); i-- > 0;)  // a region that continues ends later than those it takes over
        if (const auto own = static_cast<std::size_t>(tree.order[i]); stay[own] == 0)
            region[own] = region[static_cast<std::size_t>(tree.into[own])];
    problem p = asked_;
    p.label = out, p.least = {0, 0, false, asked_.maxima};
    for (std::size_t i = 0; i < cell_.size(); ++i)
        if (stays(static_cast<std::int64_t>(i), p.least)) of_minimum.push_back(region[i]);
    flood(part_of(on, 0.2, 0.7), p);
    const host rest = part_of(on, 0.9, 0.1);
    workers team(rest, p.where.places);
    for_rows(team, p.where, [&](std::int64_t, const std::int64_t* at, int) {
        auto* const to = static_cast<std::int32_t*>(out.data) + out.offset(at, p.where.axes);
        for (std::int64_t i = 0; i < p.where.row_size(); ++i) {
            std::int32_t& label = to[i * out.stride[p.where.axes - 1]];
            label = of_minimum[static_cast<std::size_t>(label)];
        }
    });
}

template class host_graph<std::int32_t>;
template class host_graph<std::int64_t>;

}  // namespace nearfield::watersheds
