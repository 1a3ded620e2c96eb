// Answers the questions asked of the graph: watersheds, passes, extrema, reconstructions.
#include <algorithm>

#include "base/rehearsal.hpp"
#include "base/share.hpp"
#include "watershed/host_cells.hpp"
#include "watershed/host_graph.hpp"

namespace nearfield::watersheds {

void run(const host& on, const problem& p) {
    const host first = part_of(on, 0, 0.5), second = part_of(on, 0.5, 0.5);
    graph_of(first, p, asked::once)->flood(second, p);
}
std::vector<peak> find_peaks(const host& on, const problem& p) {
    std::vector<peak> found;
    // An 8-byte integer may have the key that stands for no cell; only the graph tells the two apart.
    const bool plain = size_of(p.image.type) <= 4 || p.image.type == dtype::float64;
    const asked how = p.least.h == 0 && p.parts.data == nullptr && plain ? asked::minima : asked::once;
    for (const extremum& each : graph_of(on, p, how)->extrema(p.least)) found.push_back({each.cell, each.value});
    return found;
}
void reconstruct(const host& on, const problem& p) {
    const host first = part_of(on, 0, 0.5), second = part_of(on, 0.5, 0.5);
    graph_of(first, p, asked::once)->reconstruct(second, p);
}

// ---- basins ---------------------------------------------------------------------------------------------------------

template <class Key>
bool host_graph<Key>::stays(std::int64_t basin, const height& least) const {
    const auto i = static_cast<std::size_t>(basin);
    bool high = into_[i] < 0;
    if (!high)
        with_value(asked_.image.type, [&]<class Value>(Value) {
            if constexpr (sizeof(key_of<Value>) <= sizeof(Key)) high = least.reached<Value>(lowest(basin), pass_[i]);
        });
    return high;
}

template <class Key>
std::int64_t host_graph<Key>::number_in_image(std::int64_t place) const {
    const frame& f = asked_.where;
    std::int64_t at[max_rank]{}, number = 0;
    f.locate(place, at);
    for (int axis = 0; axis < f.axes; ++axis) number = number * f.size[axis] + at[axis];
    return number;
}

template <class Key>
std::vector<extremum> host_graph<Key>::extrema(const height& least) const {
    const auto count = static_cast<std::int32_t>(cell_.size());
    list<std::int32_t> number(cell_.size(), -1);
    std::vector<extremum> found;
    for (std::int32_t i = 0; i < count; ++i) {
        if (!stays(i, least)) continue;
        number[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(found.size());
        extremum one{number_in_image(cell_[static_cast<std::size_t>(i)]), 0, 0, into_[static_cast<std::size_t>(i)]};
        with_value(asked_.image.type, [&]<class Value>(Value) {
            const auto value = [&](Key k) { return static_cast<double>(value_of<Value>(turned(k, asked_.maxima))); };
            if constexpr (sizeof(key_of<Value>) <= sizeof(Key)) {
                constexpr double none = std::numeric_limits<double>::infinity();
                one.value = value(lowest(i));
                one.saddle = one.into >= 0 ? value(pass_[static_cast<std::size_t>(i)]) : asked_.maxima ? -none : none;
            }
        });
        found.push_back(one);
    }
    for (extremum& each : found) {
        std::int64_t next = each.into;
        while (next >= 0 && number[static_cast<std::size_t>(next)] < 0) next = into_[static_cast<std::size_t>(next)];
        each.into = next < 0 ? -1 : number[static_cast<std::size_t>(next)];
    }
    return found;
}

template <class Key>
void host_graph<Key>::mark(const host& on, const height& least, const target& out) const {
    const frame& f = asked_.where;
    list<std::uint8_t> marked(cell_.size());
    const auto decide = [&](std::size_t i) {
        const std::int32_t next = into_[i];
        const bool equal = next >= 0 && lowest(next) == lowest(static_cast<std::int64_t>(i));
        marked[i] = equal ? marked[static_cast<std::size_t>(next)] : stays(static_cast<std::int64_t>(i), least) ? 1 : 0;
    };
    for (std::size_t i = 0; i < cell_.size(); ++i)
        if (into_[i] < 0) decide(i);
    for (std::size_t i = order_.size(); i-- > 0;) decide(static_cast<std::size_t>(order_[i]));
    workers team(on, f.places);
    for_rows(team, f, [&](std::int64_t row, const std::int64_t* at, int) {
        auto* const to = static_cast<std::uint8_t*>(out.data) + out.offset(at, f.axes);
        for (std::int64_t i = 0; i < f.row_size(); ++i) {
            const std::int32_t code = basin_.get()[row + i];
            const std::int64_t own = number_of(code);
            to[i * out.stride[f.axes - 1]] =
                code != nowhere && key_.get()[row + i] == lowest(own) ? marked[static_cast<std::size_t>(own)] : 0;
        }
    });
}

template <class Key>
std::vector<double> host_graph<Key>::passes(const std::vector<std::int64_t>& a,
                                            const std::vector<std::int64_t>& b) const {
    const frame& f = asked_.where;
    const auto place = [&](std::int64_t number) {
        std::int64_t sum = f.base;
        for (int axis = f.axes - 1; axis >= 0; number /= f.size[axis--]) sum += number % f.size[axis] * f.pitch[axis];
        return sum;
    };
    std::vector<double> found;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const std::int64_t from = place(a[i]), to = place(b[i]);
        bool reached = basin_.get()[from] != nowhere && basin_.get()[to] != nowhere;
        Key pass = std::max(key_.get()[from], key_.get()[to]);
        for (std::int64_t x = number_of(basin_.get()[from]), y = number_of(basin_.get()[to]); reached && x != y;) {
            const auto of_x = static_cast<std::size_t>(x), of_y = static_cast<std::size_t>(y);
            const bool x_first = into_[of_y] < 0 || (into_[of_x] >= 0 && pass_[of_x] <= pass_[of_y]);
            const std::size_t next = x_first ? of_x : of_y;
            reached = into_[next] >= 0;
            pass = std::max(pass, pass_[next]);
            (x_first ? x : y) = into_[next];
        }
        with_value(asked_.image.type, [&]<class Value>(Value) {
            constexpr double none = std::numeric_limits<double>::infinity();
            if constexpr (sizeof(key_of<Value>) <= sizeof(Key))
                found.push_back(reached ? static_cast<double>(value_of<Value>(turned(pass, asked_.maxima)))
                                        : (asked_.maxima ? -none : none));
        });
    }
    return found;
}

/// Relaxes levels along the tree of merges: upwards from basins in the order in which they merge, then downwards.
template <class Key>
void host_graph<Key>::spread(list<Key>& level, list<std::uint8_t>& reached) const {
    const auto offer = [&](std::size_t from, std::size_t to, Key pass) {
        if (reached[from] == 0) return;
        const Key over = std::max(level[from], pass);
        level[to] = reached[to] != 0 ? std::min(level[to], over) : over, reached[to] = 1;
    };
    for (const std::int32_t i : order_) {
        const auto own = static_cast<std::size_t>(i);
        offer(own, static_cast<std::size_t>(into_[own]), pass_[own]);
    }
    for (std::size_t i = order_.size(); i-- > 0;) {
        const auto own = static_cast<std::size_t>(order_[i]);
        offer(static_cast<std::size_t>(into_[own]), own, pass_[own]);
    }
}

// ---- cells ----------------------------------------------------------------------------------------------------------

template <class Key>
list<marker> host_graph<Key>::markers_of(workers& team, const problem& p) const {
    list<marker> found;
    if (p.markers.data == nullptr) {
        std::int64_t number = 0;
        for (std::size_t i = 0; i < cell_.size(); ++i)
            if (stays(static_cast<std::int64_t>(i), p.least)) found.push_back({cell_[i], ++number});
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
    with_value(asked_.image.type, [&]<class Value>(Value) {
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
    list<Key> level(cell_.size(), outside<Key>);
    list<std::uint8_t> reached(cell_.size(), 0);
    with_value(asked_.image.type, [&]<class Value>(Value) {
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
    spread(level, reached);
    write_passes(team, p, level, reached);
}

template <class Key>
void host_graph<Key>::flood(const host& on, const problem& p) {
    const frame& f = p.where;
    if (p.extrema.data != nullptr) mark({on.threads, {}}, p.least, p.extrema);
    if (p.label.data == nullptr && p.passes.data == nullptr) return;
    workers team(on, 5 * f.places);
    const list<marker> markers = markers_of(team, p);
    list<Key> level_of(cell_.size(), outside<Key>);
    list<std::uint8_t> reached(cell_.size(), 0);
    for (const marker& each : markers) {
        const auto own = static_cast<std::size_t>(number_of(basin_.get()[each.place]));
        level_of[own] = std::min(level_of[own], key_.get()[each.place]), reached[own] = 1;
    }
    spread(level_of, reached);
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
