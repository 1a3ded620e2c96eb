#include "watershed/split_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <tuple>

#include "scale.hpp"
#include "watershed/cases.hpp"

namespace nearfield::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using place = std::vector<std::int64_t>;

std::vector<place> places_of(const shape_t& shape) {
    std::vector<place> all{{}};
    for (const std::int64_t size : shape) {
        std::vector<place> longer;
        for (const place& each : all)
            for (std::int64_t i = 0; i < size; ++i) longer.push_back(each), longer.back().push_back(i);
        all = longer;
    }
    return all;
}

/// For every cell, the squared distance to the nearest of some cells and, by the tie rule, that cell.
struct nearest_cells {
    std::vector<double> squared;
    std::vector<std::int64_t> cell;
};
nearest_cells nearest(const split_case& c, const std::vector<std::int64_t>& seeds) {
    const auto places = places_of(c.shape);
    nearest_cells found;
    for (const place& own : places) {
        std::tuple<double, place> best{inf, {}};
        std::int64_t which = -1;
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (seeds[i] == 0) continue;
            double sum = 0;
            for (std::size_t axis = 0; axis < own.size(); ++axis) {
                std::int64_t apart = std::abs(own[axis] - places[i][axis]);
                if (!c.ends.empty() && c.ends[axis] == border::periodic) apart = std::min(apart, c.shape[axis] - apart);
                const double length = c.lengths.empty() ? 1 : c.lengths[axis];
                sum += length * length * static_cast<double>(apart * apart);
            }
            const std::tuple<double, place> other{sum, place(places[i].rbegin(), places[i].rend())};
            if (which < 0 || other < best) best = other, which = static_cast<std::int64_t>(i);
        }
        found.squared.push_back(std::get<0>(best)), found.cell.push_back(which);
    }
    return found;
}

watershed_case watershed_like(const split_case& c) {
    watershed_case w;
    w.shape = c.shape, w.ends = c.ends, w.mask = c.mask;
    w.options.connectivity = static_cast<int>(c.shape.size());
    return w;
}

/// Components of the cells that are farther from the background than h.
std::vector<std::int64_t> parts_of(const split_case& c, const std::vector<double>& squared) {
    double largest = 0;
    for (const double each : squared) largest = std::max(largest, each < inf ? each : 0);
    const double h = c.options.h.value_or(std::sqrt(largest) / 2);
    watershed_case w = watershed_like(c);
    for (std::size_t i = 0; i < squared.size(); ++i) w.value.push_back(squared[i] > h * h ? 1 : std::nan(""));
    std::vector<std::int64_t> label(squared.size());
    std::int64_t count = 0;
    for (std::size_t i = 0; i < label.size(); ++i) {
        if (std::isnan(w.value[i]) || label[i] != 0) continue;
        ++count;
        for (const std::int64_t cell : oracle::plateau_of(problem_of(w), static_cast<std::int64_t>(i)))
            label[static_cast<std::size_t>(cell)] = count;
    }
    return label;
}

std::vector<std::int64_t> barycentres(const split_case& c, const std::vector<std::int64_t>& parts) {
    const auto places = places_of(c.shape);
    std::vector<std::int64_t> seeds(parts.size());
    const std::int64_t count = parts.empty() ? 0 : *std::max_element(parts.begin(), parts.end());
    for (std::int64_t part = 1; part <= count; ++part) {
        std::int64_t cell = 0;
        for (std::size_t axis = 0; axis < c.shape.size(); ++axis) {
            double sum = 0, size = 0;
            for (std::size_t i = 0; i < parts.size(); ++i)
                if (parts[i] == part) sum += static_cast<double>(places[i][axis]), ++size;
            cell = cell * c.shape[axis] + static_cast<std::int64_t>(std::floor(sum / size + 0.5));
        }
        if (seeds[static_cast<std::size_t>(cell)] == 0) seeds[static_cast<std::size_t>(cell)] = part;
    }
    return seeds;
}

split_result numbered(const split_case& c, const std::vector<std::int64_t>& label) {
    split_result result;
    std::vector<std::int64_t> size(label.size() + 1), number(label.size() + 1);
    for (const std::int64_t each : label) ++size[static_cast<std::size_t>(each)];
    for (const std::int64_t each : label) {
        const auto own = static_cast<std::size_t>(each);
        if (each != 0 && size[own] >= c.options.smallest && number[own] == 0) number[own] = ++result.count;
        result.label.push_back(static_cast<std::int32_t>(number[own]));
    }
    return result;
}

split_case drawn(std::uint64_t seed, split_method method) {
    auto draw = [state = mix(seed)](std::uint64_t n) mutable { return (state = mix(state)) % n; };
    split_case c;
    const std::uint64_t rank = 1 + draw(3);
    for (std::uint64_t axis = 0; axis < rank; ++axis)
        c.shape.push_back(1 + static_cast<std::int64_t>(draw(rank == 1 ? 40 : rank == 2 ? 14 : 7)));
    const std::uint64_t holes = std::vector<std::uint64_t>{0, 1, 3, 10, 40, 100}[draw(6)];
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) c.mask.push_back(draw(100) < holes ? 0 : 1);
    for (std::uint64_t axis = 0; axis < rank && seed % 3 == 0; ++axis)
        c.lengths.push_back(static_cast<double>(1 + draw(3)));
    for (std::uint64_t axis = 0; axis < rank && seed % 4 == 0; ++axis)
        c.ends.push_back(draw(2) == 0 ? border::periodic : border::open);
    c.options.method = method;
    if (draw(4) != 0) c.options.h = std::vector<double>{0, 0.5, 1, 1.5, 2, 3}[draw(6)];
    c.options.smallest = draw(3) == 0 ? static_cast<std::int64_t>(1 + draw(8)) : 1;
    return c;
}

}  // namespace

std::string split_case::text() const {
    std::ostringstream s;
    for (const std::int64_t n : shape) s << n << ' ';
    s << "method " << static_cast<int>(options.method) << ", h " << options.h.value_or(-1) << ", smallest "
      << options.smallest << (ends.empty() ? "" : ", ends") << (lengths.empty() ? "" : ", lengths");
    return s.str();
}

split_options split_case::asked() const {
    split_options o = options;
    if (!lengths.empty()) o.spacing = spacing(lengths.data(), lengths.size());
    if (!ends.empty()) o.border = {ends.data(), ends.size()};
    return o;
}

split_result expected(const split_case& c) {
    std::vector<std::int64_t> background;
    for (const std::uint8_t each : c.mask) background.push_back(each == 0 ? 1 : 0);
    const nearest_cells away = nearest(c, background);
    watershed_case w = watershed_like(c);
    if (c.options.method == split_method::watershed) {
        w.type = dtype::uint32, w.options.maxima = true, w.options.roots = true;
        w.options.h = c.options.h.value_or(
            0.75 * (c.lengths.empty() ? 1 : *std::min_element(c.lengths.begin(), c.lengths.end())));
        for (const double each : away.squared) w.value.push_back(std::min(each, 4294967295.0));
        return numbered(c, expected(w).label);
    }
    std::vector<std::int64_t> parts = parts_of(c, away.squared);
    if (c.options.method == split_method::geodesic) {
        w.value.assign(c.mask.size(), 0), w.marker = parts;
        return numbered(c, expected(w).label);
    }
    if (c.options.method == split_method::lecture) parts = barycentres(c, parts);
    const nearest_cells to = nearest(c, parts);
    std::vector<std::int64_t> label;
    for (std::size_t i = 0; i < parts.size(); ++i)
        label.push_back(c.mask[i] == 0 || to.cell[i] < 0 ? 0 : parts[static_cast<std::size_t>(to.cell[i])]);
    return numbered(c, label);
}

split_result split_on_host(const split_case& c) {
    split_result result;
    result.label.assign(c.mask.size(), -1);
    const shape_t one{1};
    split(host{1 + static_cast<int>(c.mask.size() % 2), {}},
          any_input<host>::contiguous(c.mask.data(), dtype::uint8, c.shape),
          any_output<host>::contiguous(result.label.data(), dtype::int32, c.shape), c.asked(),
          any_output<host>::contiguous(&result.count, dtype::int64, one));
    return result;
}

void check_splits(const std::function<split_result(const split_case&)>& run, std::uint64_t first, std::uint64_t end,
                  std::initializer_list<split_method> methods) {
    for (std::uint64_t seed = first; seed < share(first, end) && !testing::Test::HasFailure(); ++seed) {
        split_case c = drawn(seed, methods.begin()[seed % methods.size()]);
        const split_result want = expected(c), got = run(c);
        EXPECT_EQ(got.label, want.label) << c.text() << ", seed " << seed;
        EXPECT_EQ(got.count, want.count) << c.text() << ", seed " << seed;
    }
}

}  // namespace nearfield::test
