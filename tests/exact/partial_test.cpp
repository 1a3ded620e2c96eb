// pass_along: one pass of a partial field, against a search over all pairs of cells of a line.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "nearfield/chunks.hpp"
#include "nearfield/distance.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

template <class V>
constexpr V nothing = std::is_floating_point_v<V> ? std::numeric_limits<V>::infinity() : std::numeric_limits<V>::max();

using shape_t = std::vector<std::int64_t>;

/// A field of sites whose coordinates along the axis are their own, as passes before leave it.
template <class V, class S>
struct field {
    shape_t shape;
    std::vector<V> squared;
    std::vector<S> site;
    std::vector<std::uint16_t> label;

    template <class Element>
    [[nodiscard]] partial_field<Element> view(bool sites, bool labels) {
        partial_field<Element> made;
        made.squared = any_view<Element, host>::contiguous(squared.data(), dtype_of<V>(), shape);
        if (sites) made.site = any_view<Element, host>::contiguous(site.data(), dtype_of<S>(), shape);
        if (labels) made.label = any_view<Element, host>::contiguous(label.data(), dtype::uint16, shape);
        return made;
    }
};

template <class V, class S>
field<V, S> random_field(const shape_t& shape, V largest, double density, unsigned seed) {
    std::mt19937_64 random(seed);
    std::int64_t cells = 1, line = 1;
    for (std::int64_t n : shape) cells *= n;
    for (std::size_t k = 1; k < shape.size(); ++k) line *= shape[k];
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
bool comes_before(std::int64_t a, std::int64_t b, const shape_t& shape) {
    for (std::size_t k = shape.size(); k-- > 0; a /= shape[k], b /= shape[k])
        if (a % shape[k] != b % shape[k]) return a % shape[k] < b % shape[k];
    return false;
}

/// Along the first axis.
template <class V, class S>
field<V, S> searched(const field<V, S>& from, double spacing, bool periodic) {
    field<V, S> to = from;
    const std::int64_t n = from.shape[0], line = static_cast<std::int64_t>(from.squared.size()) / n;
    for (std::int64_t i = 0; i < n * line; ++i)
        for (std::int64_t r = 0; r < n; ++r) {
            const auto j = static_cast<std::size_t>(r * line + i % line), at = static_cast<std::size_t>(i);
            if (from.squared[j] == nothing<V>) continue;
            std::int64_t d = std::abs(i / line - r);
            if (periodic) d = std::min(d, n - d);
            const V value = from.squared[j] + static_cast<V>(spacing * spacing) * static_cast<V>(d * d);
            const bool less = value < to.squared[at] ||
                              (value == to.squared[at] && comes_before(from.site[j], to.site[at], from.shape));
            if (less) to.squared[at] = value, to.site[at] = from.site[j], to.label[at] = from.label[j];
        }
    return to;
}

template <class V, class S>
void expect_searched(const shape_t& shape, V largest, double spacing, double density) {
    for (const bool periodic : {false, true}) {
        const field<V, S> from = random_field<V, S>(shape, largest, density, static_cast<unsigned>(shape[0]));
        const field<V, S> wanted = searched(from, spacing, periodic);
        partial_options options{spacing, periodic ? border::periodic : border::open, shape};
        for (int fields = 0; fields < 3; ++fields) {
            field<V, S> source = from, made = from, own = from;
            const bool sites = fields > 0, labels = fields > 1;
            pass_along(host{2, {}}, source.template view<const void>(sites, labels), 0,
                       made.template view<void>(sites, labels), options);
            EXPECT_EQ(made.squared, wanted.squared);
            EXPECT_EQ(made.site, sites ? wanted.site : from.site);
            EXPECT_EQ(made.label, labels ? wanted.label : from.label);
            pass_along(host{1, {}}, own.template view<const void>(sites, labels), 0,
                       own.template view<void>(sites, labels), options);
            EXPECT_EQ(own.squared, made.squared) << "in place";
            EXPECT_EQ(own.site, made.site);
            EXPECT_EQ(own.label, made.label);
        }
    }
}

TEST(PartialPass, EqualsTheSearchOverAllPairs) {
    for (const shape_t& shape : {shape_t{1, 5}, shape_t{2, 1}, shape_t{40, 3, 7}, shape_t{90, 35}, shape_t{300, 2}})
        for (const double density : {0.0, 0.05, 1.0}) {
            expect_searched<std::uint32_t, std::int32_t>(shape, 900, 1, density);
            expect_searched<std::uint32_t, std::int64_t>(shape, 4000000000U, 3, density);
            expect_searched<std::uint64_t, std::int64_t>(shape, std::uint64_t{1} << 60, 1 << 18, density);
            expect_searched<double, std::int32_t>(shape, 50.0, 0.7182818, density);
        }
    expect_searched<std::uint32_t, std::int64_t>({700, 3}, 1000000, 1, 0.3);
}

/// Slabs, then pencils, are the field of the whole grid.
TEST(PartialPass, PassesMakeTheWholeField) {
    const shape_t shape{23, 17, 29};
    std::mt19937 random(4);
    std::vector<std::uint8_t> image(23 * 17 * 29);
    for (auto& cell : image) cell = random() % 50 != 0;
    std::vector<double> wanted(image.size());
    std::vector<std::int64_t> nearest(image.size());
    fields<host> out;
    out.squared = any_output<host>::contiguous(wanted.data(), dtype::float64, shape);
    out.index = any_output<host>::contiguous(nearest.data(), dtype::int64, shape);
    const double lengths[] = {0.1234567, 0.7182818, 1.0 / 3};
    distance_options whole;
    whole.spacing = spacing(lengths, 3);
    distance_transform(host{1, {}}, any_input<host>::contiguous(image.data(), dtype::uint8, shape), out, whole);
    field<double, std::int64_t> made{shape, {}, {}, {}};
    for (std::size_t i = 0; i < image.size(); ++i) {
        made.squared.push_back(image[i] == 0 ? 0 : nothing<double>);
        made.site.push_back(image[i] == 0 ? static_cast<std::int64_t>(i) : -1);
    }
    for (int axis = 2; axis >= 0; --axis)
        pass_along(host{2, {}}, made.view<const void>(true, false), axis, made.view<void>(true, false),
                   {lengths[axis], border::open, shape});
    EXPECT_EQ(made.squared, wanted);
    EXPECT_EQ(made.site, nearest);
}

TEST(PartialPass, RefusesWhatItCannotDo) {
    const shape_t shape{4, 5};
    auto f = random_field<std::uint32_t, std::int32_t>(shape, 9, 1, 1);
    const auto expect = [&](bool sites, bool labels, int axis, const partial_options& options, const char* words) {
        const auto call = [&] {
            pass_along(host{1, {}}, f.view<const void>(sites, labels), axis, f.view<void>(sites, labels), options);
        };
        expect_refused(call, {words});
    };
    expect(false, false, 2, {}, "axis is 2");
    expect(false, false, 0, {0.5}, "integral");
    expect(false, true, 0, {}, "label is given without site");
    expect(true, false, 0, {}, "grid has 0 axes");
    expect(true, false, 0, {1, border::open, {5, 5}}, "whole lines");
    expect(false, false, 0, {1, border::closed}, "closed");
    expect(false, false, 0, {65536}, "beyond its type");
}

}  // namespace
}  // namespace nearfield::test
