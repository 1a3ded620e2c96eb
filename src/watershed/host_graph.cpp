// Builds the graph: keys, descents, passes between basins that touch, and the tree in which basins merge.
#include "watershed/host_graph.hpp"

#include <algorithm>
#include <numeric>

#include "base/rehearsal.hpp"

namespace nearfield::watersheds {

std::vector<std::int32_t> neighbours::between(const step& s) const {
    std::vector<std::int32_t> found;
    for (int axis = 0; axis < where.axes; ++axis)
        if (const auto part = static_cast<std::int32_t>(s.by[axis] * where.pitch[axis]); part != 0 && part != s.offset)
            found.push_back(part), found.push_back(s.offset - part);
    return found;
}

namespace {

template <class Key>
std::unique_ptr<whole_graph> complete_graph(const host& on, const problem& p, asked how) {
    auto made = std::make_unique<host_graph<Key>>(on, p, how);
    return made->complete() ? std::move(made) : nullptr;
}

}  // namespace

std::unique_ptr<whole_graph> graph_of(const host& on, const problem& p, asked how) {
    std::unique_ptr<whole_graph> made;
    if (rehearsing() != nullptr && how == asked::minima) how = asked::once;  // plateaus may be too large to be searched
    for (const asked each : {how, asked::once}) {
        if (size_of(p.image.type) <= 4) made = complete_graph<std::int32_t>(on, p, each);
        if (made == nullptr && (size_of(p.image.type) == 8 || each != asked::minima))
            made = complete_graph<std::int64_t>(on, p, each);
        if (made != nullptr) break;
    }
    return made;
}

template <class Key>
host_graph<Key>::host_graph(const host& on, const problem& p, asked how)
    : asked_(p),
      how_(how),
      near_(asked_.where, asked_.steps),
      key_(p.where.places + chunk),
      basin_(how == asked::minima ? 0 : p.where.places + chunk),
      part_(p.parts.data == nullptr ? 0 : p.where.places),
      lowest_(how == asked::minima ? p.where.places : 0) {
    tree_.type = p.image.type, tree_.maxima = p.maxima;
    workers team(on, (how == asked::minima ? 3 : 5) * p.where.places);
    read_keys(team);
    if (gap_ != outside<Key>) read_keys(team);
    complete_ = distinct_ || (sizeof(Key) == 8 && how != asked::minima);
    if (!complete_) return;
    if (how == asked::minima) {
        find_minima(team);
        return;
    }
    descend(team);
    list<edge<Key>> edges = find_edges(team);
    tree_.connect(edges);
}

template <class Key>
void host_graph<Key>::read_keys(workers& team) {
    const frame& f = asked_.where;
    Key* const key = key_.get();
    std::int32_t* const basin = basin_.get();
    const std::int32_t* const part = part_.get();
    fill_frame(team, f, key, outside<Key>);
    if (basin != nullptr) fill_frame(team, f, basin, nowhere);
    if (asked_.parts.data != nullptr) read_parts(team);
    constexpr Key first = std::numeric_limits<Key>::lowest();
    std::atomic<bool> ambiguous{false}, at_first{false}, at_zero{false};
    with_number(asked_.image.type, [&]<class Value>(Value) {
        if constexpr (sizeof(key_of<Value>) <= sizeof(Key)) {
            const std::int64_t along = asked_.image.stride[f.axes - 1], masked = asked_.mask.stride[f.axes - 1];
            for_rows(team, f, [&](std::int64_t row, const std::int64_t* at, int) {
                const Value* const from =
                    static_cast<const Value*>(asked_.image.data) + asked_.image.offset(at, f.axes);
                const std::uint8_t* const mask =
                    asked_.mask.data == nullptr
                        ? nullptr
                        : static_cast<const std::uint8_t*>(asked_.mask.data) + asked_.mask.offset(at, f.axes);
                bool some = false, lowest = false, zero = false;
                for (std::int64_t i = 0; i < f.row_size(); ++i) {
                    const Value v = from[i * along];
                    const bool inside = is_number(v) && (mask == nullptr || mask[i * masked] != 0) &&
                                        (part == nullptr || part[row + i] != 0);
                    const Key own = turned(ordered<Key>(v), asked_.maxima);
                    if constexpr (sizeof(Key) == 8) lowest |= inside && own == first, zero |= inside && own == 0;
                    key[row + i] = inside ? static_cast<Key>(own - (own > gap_ ? 1 : 0)) : outside<Key>;
                    some |= inside && key[row + i] == outside<Key>;
                    if (basin != nullptr) basin[row + i] = inside ? static_cast<std::int32_t>(row + i) : nowhere;
                }
                if (some) ambiguous = true;
                if (lowest) at_first = true;
                if (zero) at_zero = true;
            });
        }
    });
    distinct_ = !ambiguous;
    // Single minima need only the order of keys.
    if (sizeof(Key) == 8 && how_ == asked::minima && ambiguous && !(at_first && at_zero)) gap_ = at_first ? 0 : first;
}

template <class Key>
void host_graph<Key>::read_parts(workers& team) {
    const frame& f = asked_.where;
    for_rows(team, f, [&](std::int64_t row, const std::int64_t* at, int) {
        const std::int64_t from = asked_.parts.offset(at, f.axes), along = asked_.parts.stride[f.axes - 1];
        const bool wide = size_of(asked_.parts.type) == 8;
        for (std::int64_t i = 0; i < f.row_size(); ++i) {
            const std::int64_t label = integer_at(asked_.parts, from + i * along);
            if (wide && label >> 32 != 0) fail_wide_label();
            part_.get()[row + i] = static_cast<std::int32_t>(label);
        }
    });
}

/// Points every cell to the lowest neighbour below it, or to an equal one that comes first. Then replaces pointers by
/// the end of the descent, whose number in raster order is the basin's number.
template <class Key>
void host_graph<Key>::descend(workers& team) {
    const frame& f = asked_.where;
    const Key* const key = key_.get();
    std::int32_t* const up = basin_.get();
    list<std::int32_t> ends(static_cast<std::size_t>(f.rows + 1));
    for_rows(team, f, [&](std::int64_t row, const std::int64_t* at, int) {
        const auto inner = [&](std::int64_t first, std::int64_t count) {
            if (std::all_of(up + first, up + first + count, [](std::int32_t to) { return to < 0; })) return;
            std::int32_t by[chunk];
            loops<Key>().descent(key + first, near_.offsets, count, by);
            for (std::int64_t i = 0; i < count; ++i) up[first + i] += up[first + i] < 0 ? 0 : by[i];
        };
        const auto single = [&](std::int64_t place) {
            if (up[place] < 0) return;
            std::int64_t lowest = place;
            near_.of(place, [&](std::int64_t there) {
                const bool lower = key[there] < key[lowest] || (key[there] == key[lowest] && there < lowest);
                if (lower && key[there] < outside<Key> && alike(place, there)) lowest = there;
            });
            up[place] = static_cast<std::int32_t>(lowest);
        };
        if (part_.get() == nullptr) near_.split(row, at, inner, single);
        else
            for (std::int64_t i = 0; i < f.row_size(); ++i) single(row + i);
        std::int32_t found = 0;
        for (std::int64_t i = row; i < row + f.row_size(); ++i) found += up[i] == i ? 1 : 0;
        ends[static_cast<std::size_t>((row - f.base) / f.row_pitch)] = found;
    });
    if (!distinct_) join_highest(team, ends);
    number_ends(team, ends);
}

template <class Key>
void host_graph<Key>::join_highest(workers& team, list<std::int32_t>& ends) {
    const frame& f = asked_.where;
    std::int32_t* const up = basin_.get();
    for_rows(team, f, [&](std::int64_t row, const std::int64_t*, int) {
        std::int32_t found = 0;
        for (std::int64_t i = row; i < row + f.row_size(); ++i) {
            const auto joins = [&](std::int64_t there) {
                return there < i && read(up[there]) != nowhere && alike(i, there);
            };
            if (up[i] == i && key_.get()[i] == outside<Key>) {
                std::int64_t to = i;
                if (joins(i - 1)) to = i - 1;
                else near_.of(i, [&](std::int64_t there) { to = joins(there) ? there : to; });
                write(up[i], static_cast<std::int32_t>(to));
            }
            found += up[i] == i ? 1 : 0;
        }
        ends[static_cast<std::size_t>((row - f.base) / f.row_pitch)] = found;
    });
}

/// Numbers the ends of descents; `ends` holds the number of ends in each row.
template <class Key>
void host_graph<Key>::number_ends(workers& team, list<std::int32_t>& ends) {
    const frame& f = asked_.where;
    std::int32_t* const up = basin_.get();
    std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), 0);
    tree_.cell.resize(static_cast<std::size_t>(ends.back())), tree_.low.resize(tree_.cell.size());
    for_rows(team, f, [&](std::int64_t row, const std::int64_t*, int) {
        std::int32_t number = ends[static_cast<std::size_t>((row - f.base) / f.row_pitch)];
        for (std::int64_t i = row; i < row + f.row_size(); ++i)
            if (up[i] == i)
                tree_.cell[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(i),
                tree_.low[static_cast<std::size_t>(number)] = key_.get()[i], up[i] = code_of(number++);
    });
    for_rows(team, f, [&](std::int64_t row, const std::int64_t*, int) {
        for (std::int64_t i = row; i < row + f.row_size(); ++i) follow(up, i);
    });
}

template <class Key>
void host_graph<Key>::find_minima(workers& team) {
    const frame& f = asked_.where;
    std::uint8_t* const state = lowest_.get();
    team.for_each(f.places, block_places, 0, [&](std::int64_t first, std::int64_t last, int) {
        std::fill(state + first, state + last, untouched);
    });
    // A sixteenth of the rows comes first, and shows most images whose plateaus are too large for searches.
    std::int64_t left = f.places / 32;
    complete_ = mark_plateaus(mark_single(team, 0, f.rows / 16), left);
    left += f.places / 32;
    complete_ = complete_ && mark_plateaus(mark_single(team, f.rows / 16, f.rows), left);
    if (!complete_ || asked_.extrema.data != nullptr) return;
    for (std::int64_t i = 0; i < f.places; ++i)
        if (state[i] == minimal)
            tree_.cell.push_back(static_cast<std::int32_t>(i)),
                tree_.low.push_back(static_cast<Key>(key_.get()[i] + (key_.get()[i] >= gap_ ? 1 : 0)));
    tree_.into.assign(tree_.cell.size(), -1);
}

template <class Key>
list<std::int32_t> host_graph<Key>::mark_single(workers& team, std::int64_t from, std::int64_t upto) {
    const Key* const key = key_.get();
    const frame& f = asked_.where;
    std::vector<list<std::int32_t>> of_thread(static_cast<std::size_t>(team.threads()));
    for_rows(team, f, [&](std::int64_t row, const std::int64_t* at, int thread) {
        if (row < f.base + from * f.row_pitch || row >= f.base + upto * f.row_pitch) return;
        const auto end = [&](std::int64_t place) {
            bool equal = false;
            near_.of(place, [&](std::int64_t there) { equal = equal || key[there] == key[place]; });
            if (equal) of_thread[static_cast<std::size_t>(thread)].push_back(static_cast<std::int32_t>(place));
            else lowest_.get()[place] = minimal;
        };
        const auto inner = [&](std::int64_t first, std::int64_t count) {
            std::int32_t by[chunk];
            if (std::all_of(key + first, key + first + count, [](Key k) { return k == outside<Key>; })) return;
            loops<Key>().descent(key + first, near_.offsets, count, by);
            for (std::int64_t i = first; i < first + count; ++i)
                if (by[i - first] == 0 && key[i] != outside<Key>) end(i);
        };
        near_.split(row, at, inner, [&](std::int64_t place) {
            bool ends = key[place] != outside<Key>;
            near_.of(place, [&](std::int64_t there) { ends = ends && key[there] >= key[place]; });
            if (ends) end(place);
        });
    });
    list<std::int32_t> found;
    for (const auto& each : of_thread) found.insert(found.end(), each.begin(), each.end());
    std::sort(found.begin(), found.end());
    return found;
}

/// Searches the plateau around each end. A search stops at a cell with a lower neighbour, or that an earlier search
/// met, so that all searches together visit a cell once. Returns false if plateaus have more than `left` cells, so that
/// basins take less time: a search takes 20 to 70 ns a cell.
template <class Key>
bool host_graph<Key>::mark_plateaus(const list<std::int32_t>& ends, std::int64_t& left) {
    const Key* const key = key_.get();
    std::uint8_t* const state = lowest_.get();
    list<std::int32_t> level;
    for (const std::int32_t place : ends) {
        if (state[place] != untouched) continue;
        bool minimum = true;
        level.assign(1, place), state[place] = visiting;
        for (std::size_t i = 0; i < level.size() && minimum; ++i) {
            if (--left < 0) return false;
            near_.of(level[i], [&](std::int64_t there) {
                if (key[there] > key[place]) return;
                minimum = minimum && key[there] == key[place] && state[there] != visited;
                if (key[there] == key[place] && state[there] == untouched)
                    state[there] = visiting, level.push_back(static_cast<std::int32_t>(there));
            });
        }
        const bool all = minimum && asked_.extrema.data != nullptr;
        for (const std::int32_t each : level) state[each] = all ? minimal : visited;
        if (minimum) state[place] = minimal;
    }
    return true;
}

/// Collects passes between basins in a direct-mapped cache, which merges repeated pairs that follow each other closely.
template <class Key>
struct host_graph<Key>::edge_cache {
    static constexpr int bits = 12;
    std::vector<edge<Key>> slot = std::vector<edge<Key>>(std::size_t{1} << bits, edge<Key>{-1, -1, 0});
    list<edge<Key>> noted;
    std::vector<chunk_bits> found;  ///< cells whose neighbour is in another basin, per step

    void add(std::int32_t a, std::int32_t b, Key pass) {
        if (a > b) std::swap(a, b);
        const auto mixed = static_cast<std::uint32_t>(a) * 0x9e3779b1U ^ static_cast<std::uint32_t>(b) * 0x85ebca77U;
        edge<Key>& here = slot[mixed >> (32 - bits)];
        if (here.a == a && here.b == b) {
            here.pass = std::min(here.pass, pass);
            return;
        }
        if (here.a >= 0) noted.push_back(here);
        here = {a, b, pass};
    }
    void finish() {
        for (const edge<Key>& each : slot)
            if (each.a >= 0) noted.push_back(each);
    }
};

/// Returns the test of passes that join nothing: if the call's minima need a height, and a pass lies that high above
/// both its basins, then both have a minimum already when water reaches it. Returns null if all passes count.
template <class Key>
auto host_graph<Key>::test_of_passes() const -> bool (*)(const height&, Key, Key) {
    bool (*test)(const height&, Key, Key) = nullptr;
    if (how_ == asked::once && asked_.markers.data == nullptr && asked_.seed.data == nullptr)
        with_number(asked_.image.type, [&]<class Value>(Value) {
            if constexpr (sizeof(key_of<Value>) <= sizeof(Key))
                test = [](const height& h, Key least, Key pass) { return h.reached<Value>(least, pass); };
        });
    return test;
}

template <class Key>
list<edge<Key>> host_graph<Key>::find_edges(workers& team) {
    const frame& f = asked_.where;
    const Key* const key = key_.get();
    const std::int32_t* const basin = basin_.get();
    const Key* const low = tree_.low.data();
    // A pair is skipped if a cell between the two is no higher than its pass, which then leads over that cell, too.
    const std::int32_t* keys = nullptr;
    if constexpr (sizeof(Key) == 4) keys = key;
    const bool some = sizeof(Key) == 4 && part_.get() == nullptr;
    std::vector<far_step> far;
    for (const step& s : asked_.steps)
        if (s.offset > 0) far.push_back({s.offset, some ? near_.between(s) : std::vector<std::int32_t>{}});
    const auto above = test_of_passes();
    std::vector<edge_cache> of_thread(static_cast<std::size_t>(team.threads()));
    for (edge_cache& each : of_thread) each.found.resize(far.size());
    for_rows(team, f, [&](std::int64_t row, const std::int64_t* at, int thread) {
        edge_cache& to = of_thread[static_cast<std::size_t>(thread)];
        const auto look = [&](std::int64_t a, std::int64_t b) {
            if (basin[a] == basin[b] || basin[a] == nowhere || basin[b] == nowhere || !alike(a, b)) return;
            const std::int64_t x = number_of(basin[a]), y = number_of(basin[b]);
            const Key pass = std::max(key[a], key[b]);
            if (above == nullptr || !above(asked_.least, std::max(low[x], low[y]), pass))
                to.add(static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), pass);
        };
        const auto inner = [&](std::int64_t first, std::int64_t count) {
            if (std::all_of(basin + first, basin + first + count, [](std::int32_t b) { return b == nowhere; })) return;
            find_differing(keys == nullptr ? keys : keys + first, basin + first, far, count, to.found.data());
            for (std::size_t k = 0; k < far.size(); ++k)
                for_bits(to.found[k], [&](std::int64_t i) { look(first + i, first + i + far[k].offset); });
        };
        near_.split(row, at, inner,
                    [&](std::int64_t place) { near_.of(place, [&](std::int64_t there) { look(place, there); }); });
    });
    list<edge<Key>> all;
    for (edge_cache& each : of_thread) each.finish(), all.insert(all.end(), each.noted.begin(), each.noted.end());
    return all;
}

template class host_graph<std::int32_t>;
template class host_graph<std::int64_t>;

}  // namespace nearfield::watersheds
