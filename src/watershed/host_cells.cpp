#include "watershed/host_cells.hpp"

#include <algorithm>

#include "base/with_integer.hpp"

namespace nearfield::watersheds {

template <class Key>
void cells_of_call<Key>::raise(const Key* key, const std::int32_t* basin, const list<Key>& of_basin,
                               const list<std::uint8_t>& reached) {
    fill_frame(team_, f_, level_, outside<Key>);
    fill_frame(team_, f_, steps_, unreached);
    for_rows(team_, f_, [&](std::int64_t row, const std::int64_t*, int) {
        for (std::int64_t i = row; i < row + f_.row_size(); ++i) {
            const auto own = basin[i] == nowhere ? std::size_t{0} : static_cast<std::size_t>(number_of(basin[i]));
            const bool there = basin[i] != nowhere && reached[own] != 0;
            level_[i] = there ? std::max(key[i], of_basin[own]) : outside<Key>;
            steps_[i] = there ? 0 : unreached;
        }
    });
}

/// Chooses parents by level alone, as if no cell had steps; lists the cells that may have some.
template <class Key>
void cells_of_call<Key>::choose_by_level() {
    std::vector<list<std::int32_t>> of_thread(static_cast<std::size_t>(team_.threads()));
    for_rows(team_, f_, [&](std::int64_t row, const std::int64_t* at, int thread) {
        auto& found = of_thread[static_cast<std::size_t>(thread)];
        const auto note = [&](std::int64_t place) {
            if (steps_[place] == 0) found.push_back(static_cast<std::int32_t>(place));
        };
        const auto inner = [&](std::int64_t first, std::int64_t count) {
            if (none_reached(first, count)) return void(std::fill_n(way_.get() + first, count, way{0}));
            std::int32_t by[chunk];
            for_bits(loops<Key>().lowest(level_ + first, near_.offsets, count, by),
                     [&](std::int64_t i) { note(first + i); });
            for (std::int64_t i = 0; i < count; ++i)
                way_.get()[first + i] = steps_[first + i] == unreached ? way{0} : static_cast<way>(by[i]);
        };
        near_.split(row, at, inner, [&](std::int64_t place) {
            Key least = outside<Key>;
            near_.of(place, [&](std::int64_t there) { least = std::min(least, level_[there]); });
            if (least >= level_[place]) note(place);
            choose(place);
        });
    });
    for (const auto& each : of_thread) open_.insert(open_.end(), each.begin(), each.end());
}

/// Counts steps breadth first from the cells that have none.
template <class Key>
void cells_of_call<Key>::count_steps(const list<marker>& markers) {
    for (const std::int32_t place : open_) steps_[place] = open;
    for (const marker& each : markers) steps_[each.place] = 0;
    list<std::int32_t> front;
    front.reserve(open_.size());
    for (const std::int32_t place : open_) {
        bool beside = false;
        near_.of(place, [&](std::int64_t there) { beside |= level_[there] == level_[place] && steps_[there] == 0; });
        if (beside && steps_[place] == open) steps_[place] = 1, front.push_back(place);
    }
    for (std::size_t i = 0; i < front.size(); ++i) {
        const std::int32_t place = front[i];
        near_.of(place, [&](std::int64_t there) {
            if (level_[there] != level_[place] || steps_[there] != open) return;
            steps_[there] = steps_[place] + 1, front.push_back(static_cast<std::int32_t>(there));
        });
        if ((i & 0xffff) == 0) team_.go_on(0);
    }
}

/// Compares by level, then by steps. Callers meet cells in the order of ties, except at periodic ends.
template <class Key>
bool cells_of_call<Key>::less(std::int64_t a, std::int64_t b) const {
    if (level_[a] != level_[b]) return level_[a] < level_[b];
    return steps_[a] != steps_[b] ? steps_[a] < steps_[b] : f_.any_wraps && f_.before(a, b);
}

template <class Key>
void cells_of_call<Key>::choose(std::int64_t place) {
    std::int64_t best = nowhere;
    way chosen = 0;
    if (steps_[place] != unreached)
        near_.ways_of(place, [&](std::int64_t there, way by) {
            if (steps_[there] != unreached && (best == nowhere || less(there, best))) best = there, chosen = by;
        });
    write(way_.get()[place], chosen);
}

template <class Key>
void cells_of_call<Key>::choose_by_steps() {
    for_rows(team_, f_, [&](std::int64_t row, const std::int64_t* at, int) {
        const auto inner = [&](std::int64_t first, std::int64_t count) {
            if (none_reached(first, count)) return;
            std::int32_t by[chunk];
            loops<Key>().lowest_by_steps(level_ + first, steps_ + first, near_.offsets, count, by);
            for (std::int64_t i = 0; i < count; ++i)
                way_.get()[first + i] = steps_[first + i] == unreached ? way{0} : static_cast<way>(by[i]);
        };
        near_.split(row, at, inner, [&](std::int64_t place) { choose(place); });
    });
}

template <class Key>
void cells_of_call<Key>::choose_parents(const list<marker>& markers) {
    constexpr std::int64_t few = 32;  // the lists of open cells are used if fewer than one cell in `few` is open
    choose_by_level();
    count_steps(markers);
    const auto count = static_cast<std::int64_t>(open_.size());
    // A level that equals the key of no cell decides nothing alone; the steps mark cells without a level.
    if (count >= f_.places / few || sizeof(Key) == 8) return choose_by_steps();
    team_.for_each(count, chunk, 0, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t i = first; i < last; ++i) {
            const std::int32_t place = open_[static_cast<std::size_t>(i)];
            choose(place);
            near_.of(place, [&](std::int64_t there) { choose(there); });
        }
    });
}

template <class Key>
bool cells_of_call<Key>::on_line(std::int64_t place, const std::int32_t* code, const list<marker>& markers) const {
    const auto label = [&](std::int64_t at) { return markers[static_cast<std::size_t>(number_of(code[at]))].label; };
    bool found = false;
    near_.of(place, [&](std::int64_t there) {
        if (found || steps_[there] == unreached || code[there] == code[place]) return;
        if (label(there) == label(place)) return;
        const Key own = level_[place], other = level_[there];
        const std::int32_t steps = steps_[place], others = steps_[there];
        found = other != own ? other < own : others != steps ? others < steps : f_.before(there, place);
    });
    return found && markers[static_cast<std::size_t>(number_of(code[place]))].place != place;
}

/// Stores the pointers to parents in place of the steps, unless lines are wanted, which need the steps.
template <class Key>
void cells_of_call<Key>::write_labels(const list<marker>& markers) {
    const host_scratch<std::int32_t> beside(p_.lines ? f_.places : 0);
    std::int32_t* const up = p_.lines ? beside.get() : steps_;
    for_rows(team_, f_, [&](std::int64_t row, const std::int64_t*, int) {
        for (std::int64_t i = row; i < row + f_.row_size(); ++i) {
            const way by = way_.get()[i];
            up[i] = by == 0 ? nowhere : static_cast<std::int32_t>(near_.next(i, by));
        }
    });
    for (std::size_t i = 0; i < markers.size(); ++i) up[markers[i].place] = code_of(static_cast<std::int64_t>(i));
    if (p_.lines)
        for_rows(team_, f_, [&](std::int64_t row, const std::int64_t*, int) {
            for (std::int64_t i = row; i < row + f_.row_size(); ++i) follow(up, i);
        });
    with_integer(p_.label.type, [&]<class Label>(Label) {
        for_rows(team_, f_, [&](std::int64_t row, const std::int64_t* at, int) {
            Label* const to = static_cast<Label*>(p_.label.data) + p_.label.offset(at, f_.axes);
            const std::int64_t along = p_.label.stride[f_.axes - 1];
            for (std::int64_t i = 0; i < f_.row_size(); ++i) {
                const std::int32_t code = follow(up, row + i);
                const bool none = code == nowhere || (p_.lines && on_line(row + i, up, markers));
                to[i * along] =
                    none ? Label{0} : static_cast<Label>(markers[static_cast<std::size_t>(number_of(code))].label);
            }
        });
    });
}

template class cells_of_call<std::int32_t>;
template class cells_of_call<std::int64_t>;

}  // namespace nearfield::watersheds
