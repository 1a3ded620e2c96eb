// One pass over rows of cells. Each thread keeps sums of its own, which are added up at the end.
#include "pores/regions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/check.hpp"
#include "base/parallel.hpp"
#include "base/rehearsal.hpp"

namespace nearfield::pores {

place grid::way(const place& from, const place& to) const {
    place moved{};
    for (std::size_t k = 0; k < 3; ++k) {
        moved[k] = to[k] - from[k];
        if (ends[k] != border::periodic) continue;
        if (2 * moved[k] > size[k]) moved[k] -= size[k];
        if (2 * moved[k] <= -size[k]) moved[k] += size[k];
    }
    return moved;
}

namespace {

struct by_labels {
    std::size_t operator()(const pair& p) const {
        return static_cast<std::size_t>(p.first) * 0x9e3779b97f4a7c15u ^ static_cast<std::size_t>(p.second);
    }
};
using contact_table = std::unordered_map<pair, touching, by_labels>;

void add(touching& to, const touching& more) {
    for (std::size_t k = 0; k < 3; ++k) to.faces[k] += more.faces[k];
    to.pass.meet(more.pass.value, more.pass.cell);
}

template <class Label>
std::int64_t label_of(const Label* cells, std::int64_t i) {
    return static_cast<std::int64_t>(cells[i]);
}
template <class Value>
std::uint64_t value_of(const Value* cells, std::int64_t i) {
    if constexpr (std::is_same_v<Value, double>) return std::bit_cast<std::uint64_t>(cells[i]);
    else return cells[i];
}

/// The half of all steps that leads forwards in raster order, also across periodic ends.
std::vector<place> steps_of(const grid& g) {
    std::vector<place> all;
    for (std::int64_t k = 14; k < 27; ++k) {
        const place step{k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
        int axes = 0;
        bool there = true;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            axes += step[axis] != 0 ? 1 : 0;
            there = there && (step[axis] == 0 || g.given[axis]);
        }
        if (there && axes <= g.connectivity) all.push_back(step);
    }
    return all;
}

/// The counts that one thread collects.
template <class Label, class Value>
class counter {
public:
    explicit counter(const grid& g)
        : g_(g), label_(static_cast<const Label*>(g.label.data)), value_(static_cast<const Value*>(g.squared.data)) {}

    std::vector<region> regions;
    contact_table contacts;
    std::int64_t largest = 0, least = 0;

    void count_cells(std::int64_t row) {
        const place at{row / g_.size[1], row % g_.size[1], 0};
        const std::int64_t from = offset(at, g_.label_step), value_from = offset(at, g_.squared_step);
        for (std::int64_t x = 0; x < g_.size[2]; ++x) {
            const std::int64_t label = label_of(label_, from + x * g_.label_step[2]);
            least = std::min(least, label);
            if (label <= 0) continue;
            if (label > g_.cells()) throw_large(label);
            if (label > std::ssize(regions)) regions.resize(static_cast<std::size_t>(std::max(label, 2 * largest)));
            largest = std::max(largest, label);
            region& own = regions[static_cast<std::size_t>(label - 1)];
            ++own.cells;
            own.centre.meet(value_of(value_, value_from + x * g_.squared_step[2]), row * g_.size[2] + x);
        }
    }

    /// Counts the contacts of a row's cells over one step.
    void touch(std::int64_t row, const place& step) {
        const place at{row / g_.size[1], row % g_.size[1], 0};
        place to{at[0] + step[0], at[1] + step[1], 0};
        for (std::size_t k = 0; k < 2; ++k)
            if (!comes_in(to[k], k)) return;
        const std::int64_t from_l = offset(at, g_.label_step), to_l = offset(to, g_.label_step);
        for (std::int64_t x = 0; x < g_.size[2]; ++x) {
            const std::int64_t label = label_of(label_, from_l + x * g_.label_step[2]);
            if (label <= 0) continue;
            std::int64_t x_to = x + step[2];
            if (!comes_in(x_to, 2)) continue;
            const std::int64_t other = label_of(label_, to_l + x_to * g_.label_step[2]);
            if (other > 0 && other != label) meet(label, other, {at[0], at[1], x}, {to[0], to[1], x_to}, step);
        }
    }

private:
    [[noreturn]] void throw_large(std::int64_t label) const {
        fail(fmt::format("regions has label {} in {} cells; number them from 1", label, g_.cells()));
    }
    [[nodiscard]] static std::int64_t offset(const place& at, const place& step) {
        return at[0] * step[0] + at[1] * step[1] + at[2] * step[2];
    }
    [[nodiscard]] std::int64_t cell_of(const place& at) const {
        return (at[0] * g_.size[1] + at[1]) * g_.size[2] + at[2];
    }
    /// Wraps a coordinate around a periodic axis; false if it lies outside the grid.
    bool comes_in(std::int64_t& at, std::size_t axis) const {
        if (at >= 0 && at < g_.size[axis]) return true;
        if (g_.ends[axis] != border::periodic) return false;
        at = at < 0 ? g_.size[axis] - 1 : 0;
        return true;
    }

    void meet(std::int64_t a, std::int64_t b, const place& at, const place& to, const place& step) {
        const std::uint64_t here = value_of(value_, offset(at, g_.squared_step)),
                            there = value_of(value_, offset(to, g_.squared_step));
        const std::int64_t cell = cell_of(at), next = cell_of(to);
        const pair key{std::min(a, b), std::max(a, b)};
        if (last_ == nullptr || key != last_key_) last_ = &contacts[key], last_key_ = key;
        const bool first = here < there || (here == there && cell < next);
        last_->pass.meet(std::min(here, there), first ? cell : next);
        std::size_t axes = 0, across = 0;
        for (std::size_t k = 0; k < 3; ++k)
            if (step[k] != 0) ++axes, across = k;
        if (axes == 1) ++last_->faces[across];
    }

    const grid& g_;
    const Label* label_;
    const Value* value_;
    touching* last_ = nullptr;
    pair last_key_;
};

/// Calls body with a value of the label's type and one of the squared distance's type.
template <class Body>
auto with_types(const grid& g, const Body& body) {
    const auto with_value = [&](auto label) {
        switch (g.squared.type) {
            case dtype::uint32: return body(label, std::uint32_t{});
            case dtype::uint64: return body(label, std::uint64_t{});
            default: return body(label, double{});
        }
    };
    switch (g.label.type) {
        case dtype::int8: return with_value(std::int8_t{});
        case dtype::int16: return with_value(std::int16_t{});
        case dtype::uint16: return with_value(std::uint16_t{});
        case dtype::int32: return with_value(std::int32_t{});
        case dtype::uint32: return with_value(std::uint32_t{});
        case dtype::int64:
        case dtype::uint64: return with_value(std::int64_t{});
        default: return with_value(std::uint8_t{});
    }
}

template <class Label, class Value>
void count_all(workers& team, const grid& g, counted& all) {
    const std::vector<place> steps = steps_of(g);
    std::vector<counter<Label, Value>> own(static_cast<std::size_t>(team.threads()), counter<Label, Value>(g));
    team.for_each(g.size[0] * g.size[1], std::max<std::int64_t>(1, 4096 / g.size[2]), 1,
                  [&](std::int64_t first, std::int64_t last, int thread) {
                      auto& mine = own[static_cast<std::size_t>(thread)];
                      for (std::int64_t row = first; row < last; ++row) {
                          mine.count_cells(row);
                          for (const place& step : steps) mine.touch(row, step);
                      }
                  });
    std::int64_t largest = 0;
    for (const auto& each : own) {
        if (each.least < 0) fail(fmt::format("regions has label {}; give labels from 1, and 0 for solid", each.least));
        largest = std::max(largest, each.largest);
    }
    all.regions.resize(static_cast<std::size_t>(largest));
    for (const auto& each : own) {
        for (std::size_t i = 0; i < std::min(each.regions.size(), all.regions.size()); ++i) {
            if (each.regions[i].cells == 0) continue;
            all.regions[i].cells += each.regions[i].cells;
            all.regions[i].centre.meet(each.regions[i].centre.value, each.regions[i].centre.cell);
        }
        for (const auto& [key, more] : each.contacts) add(all.contacts[key], more);
    }
}

/// Calls body(cell, label, value) for the cells of one end of an axis, or for all cells if the axis is 3.
template <class Label, class Value, class Body>
void for_cells(const grid& g, std::int64_t first_row, std::int64_t last_row, std::size_t axis, std::int64_t only,
               const Body& body) {
    const auto* const label = static_cast<const Label*>(g.label.data);
    const auto* const value = static_cast<const Value*>(g.squared.data);
    for (std::int64_t row = first_row; row < last_row; ++row)
        for (std::int64_t x = axis == 2 ? only : 0, end = axis == 2 ? only + 1 : g.size[2]; x < end; ++x) {
            const place at{row / g.size[1], row % g.size[1], x};
            if (axis < 2 && at[axis] != only) break;
            std::int64_t l = 0, v = 0;
            for (std::size_t k = 0; k < 3; ++k) l += at[k] * g.label_step[k], v += at[k] * g.squared_step[k];
            const std::int64_t own = label_of(label, l);
            if (own > 0) body(at, own, value_of(value, v));
        }
}

/// Adds up the vectors from the regions' centres to their cells.
template <class Label, class Value>
void add_ways(workers& team, const grid& g, counted& all) {
    std::vector<std::vector<place>> own(static_cast<std::size_t>(team.threads()));
    team.for_each(g.size[0] * g.size[1], std::max<std::int64_t>(1, 4096 / g.size[2]), 1,
                  [&](std::int64_t first, std::int64_t last, int thread) {
                      auto& mine = own[static_cast<std::size_t>(thread)];
                      mine.resize(all.regions.size());
                      for_cells<Label, Value>(g, first, last, 3, 0, [&](const place& at, std::int64_t label, auto) {
                          const auto i = static_cast<std::size_t>(label - 1);
                          const place way = g.way(g.at(all.regions[i].centre.cell), at);
                          for (std::size_t k = 0; k < 3; ++k) mine[i][k] += way[k];
                      });
                  });
    for (const auto& each : own)
        for (std::size_t i = 0; i < each.size(); ++i)
            for (std::size_t k = 0; k < 3; ++k) all.regions[i].moved[k] += each[i][k];
}

template <class Label, class Value>
void add_sides(const grid& g, counted& all) {
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (std::int64_t end = 0; end < 2; ++end) {
            if (!g.given[axis] || g.ends[axis] != border::open) continue;
            for_cells<Label, Value>(g, 0, g.size[0] * g.size[1], axis, end == 0 ? 0 : g.size[axis] - 1,
                                    [&](const place& at, std::int64_t label, std::uint64_t value) {
                                        touching& side = all.sides[{2 * static_cast<std::int64_t>(axis) + end, label}];
                                        ++side.faces[axis];
                                        side.pass.meet(value, (at[0] * g.size[1] + at[1]) * g.size[2] + at[2]);
                                    });
        }
}

}  // namespace

counted count(const host& on, const grid& g, bool sides) {
    counted all;
    if (g.cells() == 0) return all;
    with_types(g, [&]<class Label, class Value>(Label, Value) {
        workers team(on, 2 * g.size[0] * g.size[1]);
        count_all<Label, Value>(team, g, all);
        add_ways<Label, Value>(team, g, all);
        if (sides && rehearsing() == nullptr) add_sides<Label, Value>(g, all);
    });
    return all;
}

}  // namespace nearfield::pores
