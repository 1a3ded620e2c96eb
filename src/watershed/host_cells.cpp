#include "watershed/host_cells.hpp"

#include <algorithm>

namespace nearfield::watersheds {

template <class Key>
void cells_of_call<Key>::raise(const Key* key, const std::int32_t* basin, const list<Key>& of_basin,
                               const list<std::uint8_t>& reached) {
    Key* const level = level_.get();
    std::int32_t* const steps = steps_.get();
    fill_frame(team_, f_, level, outside<Key>);
    fill_frame(team_, f_, steps, unreached);
    for_rows(team_, f_, [&](std::int64_t row, const std::int64_t*, int) {
        for (std::int64_t i = row; i < row + f_.row_size(); ++i) {
            const bool there = basin[i] != nowhere && reached[static_cast<std::size_t>(number_of(basin[i]))] != 0;
            level[i] = there ? std::max(key[i], of_basin[static_cast<std::size_t>(number_of(basin[i]))]) : outside<Key>;
            steps[i] = there ? 0 : unreached;
        }
    });
}

template <class Key>
void cells_of_call<Key>::find_open() {
    const Key* const level = level_.get();
    std::int32_t* const steps = steps_.get();
    std::vector<list<std::int32_t>> of_thread(static_cast<std::size_t>(team_.threads()));
    for_rows(team_, f_, [&](std::int64_t row, const std::int64_t* at, int thread) {
        auto& found = of_thread[static_cast<std::size_t>(thread)];
        const auto note = [&](std::int64_t place) {
            if (steps[place] == 0) steps[place] = open, found.push_back(static_cast<std::int32_t>(place));
        };
        const auto inner = [&](std::int64_t first, std::int64_t count) {
            if (none_reached(first, count)) return;
            for_bits(loops<Key>().none_lower(level + first, near_.offsets, count),
                     [&](std::int64_t i) { note(first + i); });
        };
        near_.split(row, at, inner, [&](std::int64_t place) {
            Key least = outside<Key>;
            near_.of(place, [&](std::int64_t there) { least = std::min(least, level[there]); });
            if (least >= level[place]) note(place);
        });
    });
    for (const auto& each : of_thread) open_.insert(open_.end(), each.begin(), each.end());
}

template <class Key>
void cells_of_call<Key>::count_steps(const list<marker>& markers) {
    const Key* const level = level_.get();
    std::int32_t* const steps = steps_.get();
    find_open();
    for (const marker& each : markers) steps[each.place] = 0;
    list<std::int32_t> front;
    front.reserve(open_.size());
    for (const std::int32_t place : open_) {
        bool beside = false;
        near_.of(place, [&](std::int64_t there) { beside |= level[there] == level[place] && steps[there] == 0; });
        if (beside && steps[place] == open) steps[place] = 1, front.push_back(place);
    }
    for (std::size_t i = 0; i < front.size(); ++i) {
        const std::int32_t place = front[i];
        near_.of(place, [&](std::int64_t there) {
            if (level[there] != level[place] || steps[there] != open) return;
            steps[there] = steps[place] + 1, front.push_back(static_cast<std::int32_t>(there));
        });
        if ((i & 0xffff) == 0) team_.go_on(0);
    }
}

/// By level and steps; for cells that are met in the order of ties, or at the ends of periodic axes by that too.
template <class Key>
bool cells_of_call<Key>::less(std::int64_t a, std::int64_t b) const {
    const Key of_a = level_.get()[a], of_b = level_.get()[b];
    if (of_a != of_b) return of_a < of_b;
    const std::int32_t steps_a = steps_.get()[a], steps_b = steps_.get()[b];
    return steps_a != steps_b ? steps_a < steps_b : f_.any_wraps && f_.before(a, b);
}

template <class Key>
void cells_of_call<Key>::choose(std::int64_t place) {
    std::int64_t best = nowhere;
    near_.of(place, [&](std::int64_t there) {
        if (steps_.get()[there] != unreached && (best == nowhere || less(there, best))) best = there;
    });
    write(up_.get()[place], static_cast<std::int32_t>(best));
}

/// `ByLevel`: as if all cells had the same steps.
template <class Key>
template <bool ByLevel>
void cells_of_call<Key>::choose_in_rows() {
    const Key* const level = level_.get();
    const std::int32_t* const steps = steps_.get();
    for_rows(team_, f_, [&](std::int64_t row, const std::int64_t* at, int) {
        const auto inner = [&](std::int64_t first, std::int64_t count) {
            if (none_reached(first, count)) return void(std::fill_n(up_.get() + first, count, nowhere));
            std::int32_t by[chunk];
            if constexpr (ByLevel) loops<Key>().lowest(level + first, near_.offsets, count, by);
            else loops<Key>().lowest_by_steps(level + first, steps + first, near_.offsets, count, by);
            for (std::int64_t i = 0; i < count; ++i)
                up_.get()[first + i] = by[i] == 0 || steps[first + i] == unreached
                                           ? nowhere
                                           : static_cast<std::int32_t>(first + i + by[i]);
        };
        near_.split(row, at, inner, [&](std::int64_t place) {
            if (steps[place] != unreached) choose(place);
            else up_.get()[place] = nowhere;
        });
    });
}

template <class Key>
void cells_of_call<Key>::choose_parents(const list<marker>& markers) {
    constexpr std::int64_t few = 32;  // of so many cells one may be open
    up_ = host_scratch<std::int32_t>(f_.places);
    std::int32_t* const up = up_.get();
    fill_frame(team_, f_, up, nowhere);
    const auto count = static_cast<std::int64_t>(open_.size());
    // A level that is the key of no cell decides nothing by itself; the steps of cells without a level do.
    if (count < f_.places / few && sizeof(Key) == 4) {
        choose_in_rows<true>();
        team_.for_each(count, chunk, 0, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t i = first; i < last; ++i) {
                const std::int32_t place = open_[static_cast<std::size_t>(i)];
                choose(place);
                near_.of(place, [&](std::int64_t there) {
                    if (steps_.get()[there] != unreached) choose(there);
                });
            }
        });
    } else {
        choose_in_rows<false>();
    }
    for (std::size_t i = 0; i < markers.size(); ++i) up[markers[i].place] = code_of(static_cast<std::int64_t>(i));
}

template <class Key>
bool cells_of_call<Key>::on_line(std::int64_t place, const list<marker>& markers) const {
    const auto label = [&](std::int64_t at) {
        return markers[static_cast<std::size_t>(number_of(up_.get()[at]))].label;
    };
    bool found = false;
    near_.of(place, [&](std::int64_t there) {
        if (found || up_.get()[there] == nowhere || up_.get()[there] == up_.get()[place]) return;
        if (label(there) == label(place)) return;
        const Key own = level_.get()[place], other = level_.get()[there];
        const std::int32_t steps = steps_.get()[place], others = steps_.get()[there];
        found = other != own ? other < own : others != steps ? others < steps : f_.before(there, place);
    });
    return found && markers[static_cast<std::size_t>(number_of(up_.get()[place]))].place != place;
}

template <class Key>
void cells_of_call<Key>::write_labels(const list<marker>& markers) {
    std::int32_t* const up = up_.get();
    for_rows(team_, f_, [&](std::int64_t row, const std::int64_t*, int) {
        for (std::int64_t i = row; i < row + f_.row_size(); ++i) follow(up, i);
    });
    for_rows(team_, f_, [&](std::int64_t row, const std::int64_t* at, int) {
        const std::int64_t to = p_.label.offset(at, f_.axes), along = p_.label.stride[f_.axes - 1];
        for (std::int64_t i = 0; i < f_.row_size(); ++i) {
            const std::int32_t code = up[row + i];
            const bool none = code == nowhere || (p_.lines && on_line(row + i, markers));
            put_integer(p_.label, to + i * along, none ? 0 : markers[static_cast<std::size_t>(number_of(code))].label);
        }
    });
}

template class cells_of_call<std::int32_t>;
template class cells_of_call<std::int64_t>;

}  // namespace nearfield::watersheds
