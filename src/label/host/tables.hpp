// Tables of components while labels are made: the summands of runs, and the separation of threads.
#pragma once

#include <deque>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "label/core.hpp"
#include "label/host/columns.hpp"
#include "label/statistics_rows.hpp"
#include "label/statistics_values.hpp"

namespace nearfield::labelling {

/// The purpose of a pass over the image. Sums of floating-point values need each component's range first: two passes.
struct look {
    bool shapes = true, ranges = false, sums = false;
};

/// Components are numbered over all images of the batch; an image has at most `Axes` axes. Threads process parts of the
/// image in parallel. A part adds directly to the components that begin in it, which no other part does, and to earlier
/// ones in tables of its own until they are joined.
template <int Axes>
class component_sums {
public:
    component_sums(const problem& p, const component_tables<host>& tables, std::int64_t components)
        : p_(p),
          to_(statistics::columns::of(tables)),
          values_(tables.intensity),
          rows_(std::min(components, to_.rows())),
          shapes_(to_, p.size.data(), p.rank, rows_, to_.want_sums()) {
        const bool floating = values_.wanted() && values_.type >= dtype::float16;
        with_ranges_ = to_.want_range() || (to_.want_sums() && floating);
        twice_ = to_.want_sums() && floating;
        for (int axis = 0; axis < p.rank; ++axis) open_ |= p.periodic[static_cast<std::size_t>(axis)] ? 0u : 1u << axis;
        range_ = table<statistics::value_range>(with_ranges_);
        sums_ = table<statistics::value_sums>(to_.want_sums());
        if (values_.wanted()) choose_type();
    }

    [[nodiscard]] bool with_faces() const { return shapes_.with_faces(); }
    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] const shape_columns<Axes>& shapes() const { return shapes_; }
    [[nodiscard]] bool none() const { return rows_ == 0; }
    [[nodiscard]] std::vector<look> looks() const {
        std::vector<look> all{{true, with_ranges_, to_.want_sums() && !twice_}};
        if (twice_) all.push_back({false, false, true});
        return all;
    }

    class part;

    /// Adds the runs of row number `row`, over all images.
    void add_row(part& mine, std::int64_t row, std::span<const row_run> runs, const look& what) const;
    /// Adds runs that begin in earlier parts, of which only the shape is wanted.
    void add_earlier(part& mine, std::int64_t row, std::int64_t rows, std::span<const row_run> runs) const;
    void join(part& other);
    void finish(workers& crew) const;

private:
    using shape = statistics::shape_sums<Axes>;
    struct totals {
        shape cells;
        std::uint64_t faces = 0;
        statistics::value_range range;
        statistics::value_sums sums;
    };
    struct place {
        statistics::value_range* range;
        statistics::value_sums* sums;
    };
    using line = row_place<Axes>;

    template <class T>
    host_scratch<T> table(bool wanted) const {
        host_scratch<T> made(wanted ? rows_ : 0);
        if (wanted) std::uninitialized_value_construct_n(made.get(), rows_);
        return made;
    }
    [[nodiscard]] place at(std::int64_t component) const {
        const auto entry = [&](auto* table) { return table == nullptr ? nullptr : table + component; };
        return {entry(range_.get()), entry(sums_.get())};
    }
    [[nodiscard]] line line_of(std::int64_t row) const;
    void add_cells(part& mine, const line& here, std::span<const row_run> runs) const;
    void choose_type();
    template <class V>
    void add_values(part& mine, const line& here, std::span<const row_run> runs, const look& what) const;
    template <class V>
    void put_values(std::int64_t row) const;

    const problem& p_;
    statistics::columns to_;
    any_input<host> values_;
    std::int64_t rows_;
    bool with_ranges_ = false, twice_ = false;
    unsigned open_ = 0;
    shape_columns<Axes> shapes_;
    host_scratch<statistics::value_range> range_;
    host_scratch<statistics::value_sums> sums_;
    void (component_sums::*add_values_)(part&, const line&, std::span<const row_run>, const look&) const = nullptr;
    void (component_sums::*put_values_)(std::int64_t) const = nullptr;
};

template <int Axes>
class component_sums<Axes>::part {
public:
    /// Components from `first_own` on begin in this part, as far as it can tell.
    explicit part(std::int64_t first_own) : first_own_(first_own) {}

private:
    friend class component_sums;
    totals& other(std::int64_t component) {
        if (component == last_) return *found_;
        const auto [entry, is_new] = index_.try_emplace(component, nullptr);
        if (is_new) entry->second = &all_.emplace_back();
        last_ = component, found_ = entry->second;
        return *found_;
    }
    std::int64_t first_own_, last_ = -1;
    totals* found_ = nullptr;
    std::unordered_map<std::int64_t, totals*> index_;
    std::deque<totals> all_;
};

template <int Axes>
template <class V>
void component_sums<Axes>::add_values(part& mine, const line& here, std::span<const row_run> runs,
                                      const look& what) const {
    const statistics::value_line<V> values{static_cast<const V*>(values_.data) + here.offset, here.step};
    for (const row_run& run : runs) {
        if (run.component >= rows_) continue;
        const place whole = at(run.component);
        totals* const apart = run.component >= mine.first_own_ ? nullptr : &mine.other(run.component);
        const place to = apart == nullptr ? whole : place{&apart->range, &apart->sums};
        if (what.ranges) to.range->add(statistics::range_of(values, run.first, run.end));
        if (!what.sums) continue;
        statistics::fixed_scale scale;
        if constexpr (std::is_floating_point_v<V>)
            scale = statistics::fixed_scale::of(statistics::exponent_of<V>(*whole.range));
        constexpr std::int64_t together = 1 << 16;
        for (std::int64_t x = run.first; x < run.end; x += together) {
            const std::int64_t end = std::min(x + together, run.end);
            if (to_.want_squares()) statistics::add_values<V, true>(values, x, end, scale, *to.sums);
            else statistics::add_values<V, false>(values, x, end, scale, *to.sums);
        }
    }
}

template <int Axes>
auto component_sums<Axes>::line_of(std::int64_t row) const -> line {
    line l;
    const auto last = static_cast<std::size_t>(p_.rank - 1);
    std::int64_t rest = row;
    for (std::size_t axis = last; axis-- > 0;) {
        l.at[axis] = rest % p_.size[axis], rest /= p_.size[axis];
        l.at_end = l.at_end || ((open_ >> axis & 1) != 0 && (l.at[axis] == 0 || l.at[axis] == p_.size[axis] - 1));
    }
    if ((open_ >> last & 1) != 0) l.first = 0, l.end = p_.size[last];
    if (!values_.wanted()) return l;
    const int before = p_.batch_axes + p_.rank - 1;
    if (before > 0) l.offset = offset_of(row, values_.shape.data(), values_.stride.data(), before);
    l.step = values_.stride[static_cast<std::size_t>(before)];
    return l;
}

template <int Axes>
void component_sums<Axes>::add_row(part& mine, std::int64_t row, std::span<const row_run> runs,
                                   const look& what) const {
    const line here = line_of(row);
    if (what.shapes) add_cells(mine, here, runs);
    if (what.ranges || what.sums) (this->*add_values_)(mine, here, runs, what);
}

/// Adds runs one by one. To merge adjacent ones of one component costs more, because of
/// mispredicted
template <int Axes>
void component_sums<Axes>::add_cells(part& mine, const line& here, std::span<const row_run> runs) const {
    std::int64_t at[Axes];
    std::copy(here.at, here.at + Axes, at);
    for (const row_run& run : runs) {
        if (run.component >= rows_) continue;
        if (run.component >= mine.first_own_) {
            shapes_.add(run.component, here, run);
            continue;
        }
        totals& apart = mine.other(run.component);
        at[p_.rank - 1] = run.first;
        apart.cells.add_run(at, run.end - run.first, p_.size.data(), p_.rank, open_);
        apart.faces += run.faces;
    }
}

template <int Axes>
void component_sums<Axes>::add_earlier(part& mine, std::int64_t row, std::int64_t rows,
                                       std::span<const row_run> runs) const {
    for (std::int64_t at_row = row; at_row < row + rows && !runs.empty(); ++at_row) {
        line here = line_of(at_row);
        for (const row_run& run : runs) {
            totals& apart = mine.other(run.component);
            here.at[p_.rank - 1] = run.first;
            apart.cells.add_run(here.at, run.end - run.first, p_.size.data(), p_.rank, open_);
            apart.faces += run.faces;
        }
    }
}

template <int Axes>
void component_sums<Axes>::join(part& other) {
    for (const auto& [component, t] : other.index_) {
        const place to = at(component);
        if (t->cells.size > 0) shapes_.add(component, t->cells, t->faces);
        if (with_ranges_) to.range->add(t->range);
        if (to_.want_sums()) to.sums->add(t->sums);
    }
    other = part(other.first_own_);
}

template <int Axes>
template <class V>
void component_sums<Axes>::put_values(std::int64_t row) const {
    const statistics::value_range range = with_ranges_ ? range_.get()[row] : statistics::value_range{};
    if (to_.want_range()) statistics::put_range<V>(to_, row, range);
    if (to_.want_sums()) statistics::put_sums<V>(to_, row, shapes_.size(row), range, sums_.get()[row]);
}

template <int Axes>
void component_sums<Axes>::choose_type() {
    const auto choose = [this]<class V>(V) {
        add_values_ = &component_sums::add_values<V>, put_values_ = &component_sums::put_values<V>;
    };
    switch (values_.type) {
        case dtype::boolean:
        case dtype::uint8: return choose(std::uint8_t{});
        case dtype::int8: return choose(std::int8_t{});
        case dtype::int16: return choose(std::int16_t{});
        case dtype::uint16: return choose(std::uint16_t{});
        case dtype::int32: return choose(std::int32_t{});
        case dtype::uint32: return choose(std::uint32_t{});
        case dtype::int64: return choose(std::int64_t{});
        case dtype::uint64: return choose(std::uint64_t{});
        case dtype::float32: return choose(float{});
        default: return choose(double{});
    }
}

template <int Axes>
void component_sums<Axes>::finish(workers& crew) const {
    constexpr std::int64_t rows_at_once = 4096;
    crew.for_each(rows_, rows_at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t row = first; values_.wanted() && row < last; ++row) (this->*put_values_)(row);
        shapes_.put(first, last);
    });
}

}  // namespace nearfield::labelling
