// The part of hierarchies of regions that looks at cells on the host: sums over lakes, and cuts.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/share.hpp"
#include "watershed/host_graph.hpp"

namespace nearfield::watersheds {

/// Adds every cell to the first lake that covers it.
template <class Key>
template <class Value>
void host_graph<Key>::fill_lakes(workers& team, const list<Key>& end, double factor, lakes_of_tree& l) const {
    const frame& f = asked_.where;
    for (auto* const each : {&l.cells, &l.low, &l.high}) each->assign(end.size(), 0);
    const auto lake_of = [&](std::int32_t code, Key key) {
        auto basin = static_cast<std::size_t>(number_of(code));
        while (tree_.into[basin] >= 0 && tree_.pass[basin] <= key) basin = static_cast<std::size_t>(tree_.into[basin]);
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
            const std::int64_t value = summand_of<Value>(key, asked_.maxima, factor);
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
    return factor_for(*std::max_element(largest.begin(), largest.end()));
}

template <class Key>
std::shared_ptr<const region_tree> host_graph<Key>::regions_by(const host& on, attribute by, bool roots) const {
    const auto fill = [&](lakes_of_tree& lakes, bool volumes) {
        double factor = 1;
        workers team(on, 2 * asked_.where.places);
        list<Key> end;
        lakes = tree_.number_lakes(end);
        with_number(asked_.image.type, [&]<class Value>(Value) {
            if constexpr (sizeof(key_of<Value>) <= sizeof(Key)) {
                if (volumes) factor = factor_of<Value>(team);
                fill_lakes<Value>(team, end, factor, lakes);
            }
        });
        return factor;
    };
    return regions_.get(by, roots, [&] { return tree_.regions(by, roots, fill); });
}

template <class Key>
std::vector<extinction> host_graph<Key>::extinctions(attribute by, bool roots) const {
    return tree_.extinctions(asked_.where, *regions_by({}, by, roots));
}

template <class Key>
void host_graph<Key>::cut(const host& on, const cut_options& cut, const height& least, const target& out) {
    const list<std::int32_t> of_minimum =
        tree_.labels_of_cut(*regions_by(part_of(on, 0, 0.2), cut.by, cut.roots), cut, least);
    problem p = asked_;
    p.label = out, p.least = {0, 0, false, asked_.maxima};
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
