// Partial fields and what one pass makes of them, by a search over all pairs of cells of a line.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "nearfield/chunks.hpp"

namespace nearfield::test {

template <class V>
constexpr V nothing = std::is_floating_point_v<V> ? std::numeric_limits<V>::infinity() : std::numeric_limits<V>::max();

using shape_t = std::vector<std::int64_t>;

template <class V, class S>
struct field {
    shape_t shape;
    std::vector<V> squared;
    std::vector<S> site;
    std::vector<std::uint16_t> label;

    template <class Element, class Place = host>
    [[nodiscard]] partial_field<Element, Place> view(bool sites, bool labels) {
        return view_at<Element, Place>(squared.data(), site.data(), label.data(), sites, labels);
    }
    /// The same of arrays that are elsewhere.
    template <class Element, class Place>
    [[nodiscard]] partial_field<Element, Place> view_at(void* values, void* at, void* named, bool sites,
                                                        bool labels) const {
        partial_field<Element, Place> made;
        made.squared = any_view<Element, Place>::contiguous(values, dtype_of<V>(), shape);
        if (sites) made.site = any_view<Element, Place>::contiguous(at, dtype_of<S>(), shape);
        if (labels) made.label = any_view<Element, Place>::contiguous(named, dtype::uint16, shape);
        return made;
    }
    bool operator==(const field&) const = default;
};

/// A field of sites whose coordinates along `axis` and those before are their own, as passes before leave it.
template <class V, class S>
field<V, S> random_field(const shape_t& shape, V largest, double density, unsigned seed, int axis = 0) {
    std::mt19937_64 random(seed);
    std::int64_t cells = 1, line = 1;
    for (std::int64_t n : shape) cells *= n;
    for (auto k = static_cast<std::size_t>(axis) + 1; k < shape.size(); ++k) line *= shape[k];
    field<V, S> made{shape, {}, {}, {}};
    for (std::int64_t i = 0; i < cells; ++i) {
        const bool there = static_cast<double>(random() % 1000) < 1000 * density;
        const auto value = static_cast<V>(static_cast<double>(random() % 4096) / 4096 * static_cast<double>(largest));
        made.squared.push_back(there ? value : nothing<V>);
        made.site.push_back(there ? static_cast<S>(i / line * line + random() % line) : S{-1});
        made.label.push_back(there ? static_cast<std::uint16_t>(random()) : std::uint16_t{0});
    }
    return made;
}

/// Smallest last coordinate first.
inline bool comes_before(std::int64_t a, std::int64_t b, const shape_t& shape) {
    for (std::size_t k = shape.size(); k-- > 0; a /= shape[k], b /= shape[k])
        if (a % shape[k] != b % shape[k]) return a % shape[k] < b % shape[k];
    return false;
}

/// Along the first axis.
template <class V, class S>
field<V, S> searched(const field<V, S>& from, double spacing, bool periodic, bool half_cell) {
    field<V, S> to = from;
    const std::int64_t n = from.shape[0], line = static_cast<std::int64_t>(from.squared.size()) / n;
    for (std::int64_t i = 0; i < n * line; ++i)
        for (std::int64_t r = 0; r < n; ++r) {
            const auto j = static_cast<std::size_t>(r * line + i % line), at = static_cast<std::size_t>(i);
            if (from.squared[j] == nothing<V>) continue;
            std::int64_t d = std::abs(i / line - r);
            if (periodic) d = std::min(d, n - d);
            if (half_cell && d > 0) d = 2 * d - 1;
            const V value = from.squared[j] + static_cast<V>(spacing * spacing) * static_cast<V>(d * d);
            const bool less = value < to.squared[at] ||
                              (value == to.squared[at] && comes_before(from.site[j], to.site[at], from.shape));
            if (less) to.squared[at] = value, to.site[at] = from.site[j], to.label[at] = from.label[j];
        }
    return to;
}

/// run(from, to, sites, labels, options) fills `to`, which may be `from`.
template <class V, class S, class Run>
void expect_searched(const Run& run, const field<V, S>& from, double spacing, bool half_cell) {
    const shape_t& shape = from.shape;
    for (const bool periodic : {false, true}) {
        const field<V, S> found = searched(from, spacing, periodic, half_cell);
        const partial_options options{spacing, periodic ? border::periodic : border::open, shape, half_cell};
        for (int fields = 0; fields < 3; ++fields) {
            const bool sites = fields > 0, labels = fields > 1;
            const field<V, S> wanted{shape, found.squared, sites ? found.site : from.site,
                                     labels ? found.label : from.label};
            field<V, S> source = from, made = from, own = from;
            run(source, made, sites, labels, options);
            EXPECT_TRUE(made == wanted) << shape[0] << " rows, " << fields << (periodic ? " periodic" : " open");
            run(own, own, sites, labels, options);
            EXPECT_TRUE(own == wanted) << "in place";
        }
    }
}

template <class V, class S, class Run>
void expect_searched(const Run& run, const shape_t& shape, V largest, double spacing, double density, bool half_cell) {
    const auto from = random_field<V, S>(shape, largest, density, static_cast<unsigned>(shape[0]));
    expect_searched(run, from, spacing, half_cell);
}

/// Two sites in rows 5 and 64 of a column that are equally near to row 0, and the later one comes first.
inline field<std::uint32_t, std::int32_t> tied_far_away() {
    field<std::uint32_t, std::int32_t> made = random_field<std::uint32_t, std::int32_t>({100, 2}, 1, 0, 1);
    made.squared[5 * 2] = 4071, made.site[5 * 2] = 5 * 2 + 1, made.label[5 * 2] = 1;
    made.squared[64 * 2] = 0, made.site[64 * 2] = 64 * 2, made.label[64 * 2] = 2;
    return made;
}

/// Lines of every length that matters, each with squares of each type.
template <class Run>
void expect_all_searched(const Run& run, bool half_cell = false) {
    for (const shape_t& shape : {shape_t{1, 5}, shape_t{2, 1}, shape_t{40, 3, 7}, shape_t{90, 35}, shape_t{300, 2}})
        for (const double density : {0.0, 0.05, 1.0}) {
            expect_searched<std::uint32_t, std::int32_t>(run, shape, 900, 1, density, half_cell);
            expect_searched<std::uint32_t, std::int64_t>(run, shape, 4000000000U, 3, density, half_cell);
            expect_searched<std::uint64_t, std::int64_t>(run, shape, std::uint64_t{1} << 60, 1 << 18, density,
                                                         half_cell);
            expect_searched<double, std::int32_t>(run, shape, 50.0, 0.7182818, density, half_cell);
        }
    expect_searched<std::uint32_t, std::int64_t>(run, {700, 3}, 1000000, 1, 0.3, half_cell);
    expect_searched<std::uint32_t, std::int32_t>(run, {50, 70}, 10, 1, 0.1, half_cell);  // many ties
    expect_searched(run, tied_far_away(), 1, half_cell);
}

}  // namespace nearfield::test
