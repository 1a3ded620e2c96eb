// Answers the questions asked of the graph: watersheds, passes, extrema, reconstructions.
#include <algorithm>

#include "base/rehearsal.hpp"
#include "base/share.hpp"
#include "watershed/host_cells.hpp"
#include "watershed/host_graph.hpp"

namespace nearfield::watersheds {

namespace {

/// Returns whether every minimum is high enough, and plateaus need no labels: then there is no need for basins.
asked purpose_of(const problem& p) {
    const bool real = p.image.type == dtype::float32 || p.image.type == dtype::float64;
    const bool all = p.least.h == 0 || (p.least.h <= 1 && !real && !p.least.roots);
    const bool cells = p.label.data != nullptr || p.passes.data != nullptr;
    return all && !cells && p.parts.data == nullptr ? asked::minima : asked::once;
}

}  // namespace

void run(const host& on, const problem& p) {
    const host first = part_of(on, 0, 0.5), second = part_of(on, 0.5, 0.5);
    graph_of(first, p, purpose_of(p))->flood(second, p);
}
std::vector<peak> find_peaks(const host& on, const problem& p) {
    std::vector<peak> found;
    const asked how = purpose_of(p);
    for (const extremum& each : graph_of(on, p, how)->extrema(p.least)) found.push_back({each.cell, each.value});
    return found;
}
void reconstruct(const host& on, const problem& p) {
    const host first = part_of(on, 0, 0.5), second = part_of(on, 0.5, 0.5);
    graph_of(first, p, asked::once)->reconstruct(second, p);
}

// ---- basins ---------------------------------------------------------------------------------------------------------

template <class Key>
std::vector<extremum> host_graph<Key>::extrema(const height& least) const {
    return tree_.extrema(asked_.where, least);
}

template <class Key>
std::vector<peak> host_graph<Key>::peaks(const height& least) const {
    return tree_.peaks(asked_.where, least);
}

template <class Key>
void host_graph<Key>::mark(const host& on, const height& least, const target& out) const {
    const frame& f = asked_.where;
    const list<std::uint8_t> marked = tree_.marked(least);
    workers team(on, f.places);
    for_rows(team, f, [&](std::int64_t row, const std::int64_t* at, int) {
        auto* const to = static_cast<std::uint8_t*>(out.data) + out.offset(at, f.axes);
        for (std::int64_t i = 0; i < f.row_size(); ++i) {
            if (how_ == asked::minima) {
                to[i * out.stride[f.axes - 1]] = lowest_.get()[row + i] == minimal ? 1 : 0;
                continue;
            }
            const std::int32_t code = basin_.get()[row + i];
            const auto own = static_cast<std::size_t>(number_of(code));
            to[i * out.stride[f.axes - 1]] = code != nowhere && key_.get()[row + i] == tree_.low[own] ? marked[own] : 0;
        }
    });
}

template <class Key>
std::vector<double> host_graph<Key>::passes(const std::vector<std::int64_t>& a,
                                            const std::vector<std::int64_t>& b) const {
    std::vector<double> found;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const std::int64_t from = place_in_frame(asked_.where, a[i]), to = place_in_frame(asked_.where, b[i]);
        const std::int32_t x = basin_.get()[from], y = basin_.get()[to];
        found.push_back(x == nowhere || y == nowhere ? tree_.no_pass()
                                                     : tree_.pass_between(number_of(x), number_of(y),
                                                                          std::max(key_.get()[from], key_.get()[to])));
    }
    return found;
}

// ---- cells ----------------------------------------------------------------------------------------------------------

template <class Key>
list<marker> host_graph<Key>::markers_of(workers& team, const problem& p) const {
    list<marker> found;
    if (p.markers.data == nullptr) {
        std::int64_t number = 0;
        for (std::size_t i = 0; i < tree_.cell.size(); ++i)
            if (tree_.stays(i, p.least)) found.push_back({tree_.cell[i], ++number});
        return found;
    }
    const frame& f = p.where;
    std::vector<list<marker>> of_thread(static_cast<std::size_t>(team.threads()));
    for_rows(team, f, [&](std::int64_t row, const std::int64_t* at, int thread) {
        const std::int64_t from = p.markers.offset(at, f.axes), along = p.markers.stride[f.axes - 1];
        for (std::int64_t i = 0; i < f.row_size(); ++i)
            if (const std::int64_t label = integer_at(p.markers, from + i * along);
                label != 0 && basin_.get()[row + i] != nowhere)
                of_thread[static_cast<std::size_t>(thread)].push_back({static_cast<std::int32_t>(row + i), label});
    });
    for (const auto& each : of_thread) found.insert(found.end(), each.begin(), each.end());
    return found;
}

template <class Key>
void host_graph<Key>::write_passes(workers& team, const problem& p, const list<Key>& level,
                                   const list<std::uint8_t>& reached) const {
    const frame& f = p.where;
    with_number(asked_.image.type, [&]<class Value>(Value) {
        if constexpr (sizeof(key_of<Value>) <= sizeof(Key))
            for_rows(team, f, [&](std::int64_t row, const std::int64_t* at, int) {
                Value* const to = static_cast<Value*>(p.passes.data) + p.passes.offset(at, f.axes);
                for (std::int64_t i = 0; i < f.row_size(); ++i) {
                    const std::int32_t code = basin_.get()[row + i];
                    const auto own = code == nowhere ? std::size_t{0} : static_cast<std::size_t>(number_of(code));
                    const bool there = code != nowhere && reached[own] != 0;
                    to[i * p.passes.stride[f.axes - 1]] = pass_value<Value>(
                        there ? std::max(key_.get()[row + i], level[own]) : Key{0}, there, p.maxima, p.passes.type);
                }
            });
    });
}

template <class Key>
void host_graph<Key>::reconstruct(const host& on, const problem& p) const {
    const frame& f = p.where;
    workers team(on, 2 * f.places);
    list<Key> level(tree_.cell.size(), outside<Key>);
    list<std::uint8_t> reached(tree_.cell.size(), 0);
    with_number(asked_.image.type, [&]<class Value>(Value) {
        if constexpr (sizeof(key_of<Value>) <= sizeof(Key))
            for_rows(team, f, [&](std::int64_t row, const std::int64_t* at, int) {
                const Value* const from = static_cast<const Value*>(p.seed.data) + p.seed.offset(at, f.axes);
                for (std::int64_t i = 0; i < f.row_size(); ++i) {
                    const Value v = from[i * p.seed.stride[f.axes - 1]];
                    if (basin_.get()[row + i] == nowhere || !is_number(v)) continue;
                    const Key own = std::max(turned(ordered<Key>(v), p.maxima), key_.get()[row + i]);
                    const auto to = static_cast<std::size_t>(number_of(basin_.get()[row + i]));
                    std::atomic_ref least(level[to]);
                    for (Key now = least.load(std::memory_order_relaxed); own < now;)
                        if (least.compare_exchange_weak(now, own, std::memory_order_relaxed)) break;
                    std::atomic_ref(reached[to]).store(1, std::memory_order_relaxed);
                }
            });
    });
    tree_.spread(level, reached);
    write_passes(team, p, level, reached);
}

template <class Key>
void host_graph<Key>::flood(const host& on, const problem& p) {
    const frame& f = p.where;
    if (p.extrema.data != nullptr) mark({on.threads, {}}, p.least, p.extrema);
    if (p.label.data == nullptr && p.passes.data == nullptr) return;
    workers team(on, 5 * f.places);
    const list<marker> markers = markers_of(team, p);
    list<Key> level_of(tree_.cell.size(), outside<Key>);
    list<std::uint8_t> reached(tree_.cell.size(), 0);
    for (const marker& each : markers) {
        const auto own = static_cast<std::size_t>(number_of(basin_.get()[each.place]));
        level_of[own] = std::min(level_of[own], key_.get()[each.place]), reached[own] = 1;
    }
    tree_.spread(level_of, reached);
    if (p.passes.data != nullptr) write_passes(team, p, level_of, reached);
    if (p.label.data == nullptr) return;
    const bool once = how_ == asked::once;
    const host_scratch<Key> level(once ? 0 : f.places + chunk);
    const host_scratch<std::int32_t> steps(once ? 0 : f.places + chunk);
    cells_of_call<Key> cells(team, p, near_, once ? key_.get() : level.get(), once ? basin_.get() : steps.get());
    cells.raise(key_.get(), basin_.get(), level_of, reached);
    // Estimates of memory assume that a boolean image consists of plateaus, whose cells are listed twice.
    const bool listed = rehearsing() != nullptr && asked_.image.type == dtype::boolean;
    const host_scratch<std::int64_t> supposed(listed ? f.places : 0);
    cells.choose_parents(markers);
    cells.write_labels(markers);
}

template class host_graph<std::int32_t>;
template class host_graph<std::int64_t>;

}  // namespace nearfield::watersheds
