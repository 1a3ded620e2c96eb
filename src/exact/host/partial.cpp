#include "exact/partial.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "base/parallel.hpp"
#include "base/quotient.hpp"
#include "base/scratch.hpp"
#include "exact/host/lines.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {
namespace {

/// Cells of tiles that a thread takes at a time, and cells of a scan.
constexpr std::int64_t cells_at_a_time = 1 << 16;
constexpr double most_integer = 0x1p62, most_packed = 0x1p53, most_int32 = 0x1p30;

/// Element that means that there is no site; so does NaN.
template <class V>
constexpr V none_of = std::is_same_v<V, double> ? std::numeric_limits<V>::infinity() : std::numeric_limits<V>::max();

template <class V>
double largest_value(const partial_pass& p, workers& crew) {
    std::vector<V> most(static_cast<std::size_t>(crew.threads()));
    const auto* const value = static_cast<const V*>(p.squared.from);
    crew.for_each(p.cells(), cells_at_a_time, 0, [&](std::int64_t first, std::int64_t end, int thread) {
        V found{};
        for (std::int64_t i = first; i < end; ++i) found = std::max(found, value[i] < none_of<V> ? value[i] : V{});
        V& mine = most[static_cast<std::size_t>(thread)];
        mine = std::max(mine, found);
    });
    return static_cast<double>(*std::max_element(most.begin(), most.end()));
}

/// Conversion between linear indices of the whole grid and keys that compare by the tie rule.
class site_keys {
public:
    explicit site_keys(const partial_pass& p) : p_(p) {
        for (int k = 0; k < p.rank; ++k) cells_ *= p.size[static_cast<std::size_t>(k)];
    }
    std::int64_t key(std::int64_t index) {
        if (index == last_) return last_key_;
        last_ = index, last_key_ = no_key<std::int64_t>;
        if (index < 0 || index >= cells_) return last_key_;
        std::int64_t made = 0;
        for (int k = p_.rank - 1; k >= 0; --k) {
            const std::int64_t n = p_.size[static_cast<std::size_t>(k)], rest = quotient(index, n);
            made |= (index - rest * n) << p_.keys.shift[k], index = rest;
        }
        return last_key_ = made;
    }
    [[nodiscard]] std::int64_t index(std::int64_t key) const {
        if (key < 0) return -1;
        std::int64_t made = 0;
        for (int k = 0; k < p_.rank; ++k)
            made = made * p_.size[static_cast<std::size_t>(k)] + p_.keys.coordinate(key, k);
        return made;
    }

private:
    const partial_pass& p_;
    std::int64_t cells_ = 1, last_ = -1, last_key_ = no_key<std::int64_t>;
};

/// Passes in numbers of type T; elements of the field have type V, and of its sites type S.
template <class T, class V, class S>
class partial_solver {
    using lane = lane_of_number<T>;
    static constexpr std::int64_t columns = number<T>::columns;
    static constexpr bool sited = number<T>::sited, packed = sited && !number<T>::wide;

public:
    partial_solver(const partial_pass& p, double largest, workers& crew)
        : p_(p),
          crew_(crew),
          scale_(packed ? std::ldexp(1.0, p.keys.total()) : 1),
          ordered_(!std::is_same_v<V, double> || packed || rows_ordered(largest, p.weight)),
          terms_(scale_ * p.weight, p.half_cell, p.rows, p.rows),
          mine_(static_cast<std::size_t>(crew.threads())) {}

    void solve() {
        const std::int64_t across = (p_.after + columns - 1) / columns, cells = p_.rows * columns;
        crew_.for_each(p_.before * across, std::max<std::int64_t>(1, cells_at_a_time / cells), cells,
                       [&](std::int64_t first, std::int64_t end, int thread) {
                           auto& mine = mine_[static_cast<std::size_t>(thread)];
                           if (!mine) mine = std::make_unique<buffers>(p_);
                           for (std::int64_t tile = first; tile < end; ++tile) {
                               const std::int64_t column = tile % across * columns;
                               solve_tile(tile / across * p_.rows * p_.after + column,
                                          std::min(columns, p_.after - column), *mine);
                           }
                       });
    }

private:
    struct buffers {
        explicit buffers(const partial_pass& p)
            : value(p.rows * columns),
              best(p.rows * columns),
              label(p.label.to == nullptr ? 0 : p.rows * columns * size_of(p.label.type)),
              sites(p) {}
        host_scratch<T> value, best;
        host_scratch<std::byte> label;
        line_lists lists;
        site_keys sites;
    };

    /// Solves the columns of lines from element `base` on.
    void solve_tile(std::int64_t base, std::int64_t count, buffers& mine) {
        for (std::int64_t r = 0; r < p_.rows; ++r) read_row(base + r * p_.after, count, r, mine);
        line_tile<T> t;
        t.rows = p_.rows, t.periodic = p_.periodic, t.ordered = ordered_, t.terms = &terms_;
        t.value = mine.value.get(), t.best = mine.best.get(), t.lists = &mine.lists, t.team = &crew_;
        line_solver()(t);
        for (std::int64_t r = 0; r < p_.rows; ++r) write_row(base + r * p_.after, count, r, mine);
    }

    void read_row(std::int64_t at, std::int64_t count, std::int64_t r, buffers& mine) const {
        auto* const row = reinterpret_cast<lane*>(mine.value.get() + r * columns);
        for (std::int64_t c = 0; c < columns; ++c) {
            const std::int64_t from = at + std::min(c, count - 1);
            const V value = static_cast<const V*>(p_.squared.from)[from];
            std::int64_t key = 0;
            if constexpr (sited) key = mine.sites.key(static_cast<const S*>(p_.site.from)[from]);
            const bool none = !(value < none_of<V>) || key < 0;
            lane number_here = none ? number<T>::infinite : static_cast<lane>(value);
            if constexpr (packed)
                if (!none) number_here = number_here * scale_ + static_cast<double>(key);
            row[c] = number_here;
            if constexpr (number<T>::wide)
                reinterpret_cast<std::int64_t*>(row)[columns + c] = none ? no_key<std::int64_t> : key;
        }
        if (p_.label.to == nullptr) return;
        const std::int64_t bytes = size_of(p_.label.type);
        std::memcpy(mine.label.get() + r * columns * bytes, static_cast<const std::byte*>(p_.label.from) + at * bytes,
                    static_cast<std::size_t>(count * bytes));
    }

    void write_row(std::int64_t at, std::int64_t count, std::int64_t r, buffers& mine) const {
        const auto* const row = reinterpret_cast<const lane*>(mine.best.get() + r * columns);
        auto* const squared = static_cast<V*>(p_.squared.to) + at;
        for (std::int64_t c = 0; c < count; ++c) {
            const bool none = !(row[c] < number<T>::infinite);
            if constexpr (!sited) squared[c] = none ? none_of<V> : static_cast<V>(row[c]);
            else {
                std::int64_t key = no_key<std::int64_t>;
                lane value = row[c];
                if constexpr (packed) {
                    if (!none) {
                        value = std::floor(row[c] / scale_);
                        key = static_cast<std::int64_t>(row[c] - value * scale_);
                    }
                } else key = reinterpret_cast<const std::int64_t*>(row)[columns + c];
                squared[c] = none ? none_of<V> : static_cast<V>(value);
                static_cast<S*>(p_.site.to)[at + c] = static_cast<S>(mine.sites.index(key));
                if (p_.label.to != nullptr) write_label(at + c, c, key, mine);
            }
        }
    }
    void write_label(std::int64_t at, std::int64_t column, std::int64_t key, const buffers& mine) const {
        const auto bytes = static_cast<std::size_t>(size_of(p_.label.type));
        auto* const to = static_cast<std::byte*>(p_.label.to) + static_cast<std::size_t>(at) * bytes;
        if (key < 0) return (void)std::memset(to, 0, bytes);
        const std::int64_t from = p_.keys.coordinate(key, p_.axis) * columns + column;
        std::memcpy(to, mine.label.get() + static_cast<std::size_t>(from) * bytes, bytes);
    }

    const partial_pass& p_;
    workers& crew_;
    const double scale_;
    const bool ordered_;
    const axis_terms<lane> terms_;
    std::vector<std::unique_ptr<buffers>> mine_;
};

template <class T, class V>
void solve_as(const partial_pass& p, double largest, workers& crew) {
    if (p.site.type == dtype::int32) partial_solver<T, V, std::int32_t>(p, largest, crew).solve();
    else partial_solver<T, V, std::int64_t>(p, largest, crew).solve();
}

/// Solves in the narrowest numbers that hold all sums.
template <class V>
void solve_values(const partial_pass& p, workers& crew) {
    const double largest = largest_value<V>(p, crew) + p.most();
    check_fits(p, largest);
    const bool sites = p.site.to != nullptr;
    if constexpr (std::is_same_v<V, double>) {
        if (sites) solve_as<wide_site<double>, V>(p, largest, crew);
        else solve_as<double, V>(p, largest, crew);
    } else {
        const bool packs = std::ldexp(largest + 1, p.keys.total()) < most_packed;
        if (sites && packs) solve_as<packed_site, V>(p, largest, crew);
        else if (sites) solve_as<wide_site<std::int64_t>, V>(p, largest, crew);
        else if (largest < most_int32) solve_as<std::int32_t, V>(p, largest, crew);
        else solve_as<std::int64_t, V>(p, largest, crew);
    }
}

}  // namespace

void check_fits(const partial_pass& p, double largest) {
    const bool narrow = p.squared.type == dtype::uint32;
    if (p.squared.type != dtype::float64 &&
        !(largest < (narrow ? static_cast<double>(none_of<std::uint32_t>) : most_integer)))
        fail("squared distances of from.squared go beyond its type; give uint64, or float64 from 2^62 on");
}

void solve_partial(const host& on, const partial_pass& p) {
    workers crew(on, p.cells());
    if (p.squared.type == dtype::uint32) solve_values<std::uint32_t>(p, crew);
    else if (p.squared.type == dtype::uint64) solve_values<std::uint64_t>(p, crew);
    else solve_values<double>(p, crew);
}

}  // namespace nearfield::exact
