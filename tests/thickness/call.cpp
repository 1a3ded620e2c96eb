#include "thickness/call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace nearfield::test {
namespace {

template <class T>
void set(guarded& to, std::int64_t i, T value) {
    std::memcpy(to.element(i), &value, sizeof(T));
}

void set_value(guarded& to, std::int64_t i, std::int64_t value) {
    switch (to.type()) {
        case dtype::boolean: return set(to, i, value != 0);
        case dtype::int8: return set(to, i, static_cast<std::int8_t>(value));
        case dtype::uint8: return set(to, i, static_cast<std::uint8_t>(value));
        case dtype::int16: return set(to, i, static_cast<std::int16_t>(value));
        case dtype::uint16: return set(to, i, static_cast<std::uint16_t>(value));
        case dtype::int32: return set(to, i, static_cast<std::int32_t>(value));
        case dtype::uint32: return set(to, i, static_cast<std::uint32_t>(value));
        case dtype::int64: return set(to, i, value);
        case dtype::uint64: return set(to, i, static_cast<std::uint64_t>(value));
        case dtype::float32: return set(to, i, static_cast<float>(value));
        default: return set(to, i, static_cast<double>(value));
    }
}

double value_of(const guarded& from, std::int64_t i) {
    switch (from.type()) {
        case dtype::uint32: {
            const auto value = from.get<std::uint32_t>(i);
            return value == std::numeric_limits<std::uint32_t>::max() ? std::numeric_limits<double>::infinity() : value;
        }
        case dtype::uint64: {
            const auto value = from.get<std::uint64_t>(i);
            return value == std::numeric_limits<std::uint64_t>::max() ? std::numeric_limits<double>::infinity()
                                                                      : static_cast<double>(value);
        }
        case dtype::float32: return from.get<float>(i);
        default: return from.get<double>(i);
    }
}

/// Expected outputs for one image.
struct expected {
    std::vector<double> squared, thickness;
};

/// Rounds radii down to the sizes, and finds the size of each.
void round_down(const thickness_call& c, std::vector<double>& r2, std::vector<std::pair<double, double>>& size_of) {
    const bool counted = c.cells.unit2 != 0;
    const double unit2 = counted ? c.cells.unit2 : 1;
    for (double& each : r2) {
        if (each == 0 || std::isinf(each)) continue;
        const auto fits = std::upper_bound(c.sizes.begin(), c.sizes.end(), 2 * std::sqrt(unit2 * each));
        if (fits == c.sizes.begin()) {
            each = 0;
            continue;
        }
        const double size = *(fits - 1);
        double least = size / 2 * (size / 2) / unit2;
        if (counted) {
            for (least = 0; 2 * std::sqrt(unit2 * least) < size;) ++least;
        } else {
            while (2 * std::sqrt(least) >= size) least = std::nextafter(least, 0);
            while (2 * std::sqrt(least) < size) least = std::nextafter(least, 1e300);
        }
        each = least;
        size_of.emplace_back(least, size);
    }
}

/// Lowers each squared radius to the least one on the widest way from an inlet, face by face; 0 where no way leads.
void narrow_ways(const oracle::ball_problem& p, const std::vector<std::uint8_t>& inlets, std::vector<double>& r2) {
    std::vector<double> width(r2.size());
    for (std::size_t i = 0; i < r2.size(); ++i) width[i] = inlets[i] != 0 ? r2[i] : 0;
    for (bool changed = true; changed;) {
        changed = false;
        std::int64_t step = 1;
        for (std::size_t axis = p.shape.size(); axis-- > 0; step *= p.shape[axis])
            for (std::int64_t i = 0; i < static_cast<std::int64_t>(r2.size()); ++i) {
                const bool last = i / step % p.shape[axis] + 1 == p.shape[axis];
                if (last && p.border[axis] != oracle::edge::periodic) continue;
                const std::int64_t next = last ? i - step * (p.shape[axis] - 1) : i + step;
                for (const auto& [from, to] : {std::pair{i, next}, std::pair{next, i}}) {
                    auto& wide = width[static_cast<std::size_t>(to)];
                    const double through =
                        std::min(width[static_cast<std::size_t>(from)], r2[static_cast<std::size_t>(to)]);
                    if (through > wide) wide = through, changed = true;
                }
            }
    }
    r2 = width;
}

expected solve(const thickness_call& c, std::size_t first, std::size_t cells) {
    oracle::ball_problem p;
    p.shape.assign(c.shape.begin() + c.batch_axes, c.shape.end());
    p.spacing = c.cells.unit2 != 0 ? c.cells.counts : c.cells.spacing;
    p.border = c.border, p.labels = c.multilabel;
    p.value.assign(c.value.begin() + static_cast<std::ptrdiff_t>(first),
                   c.value.begin() + static_cast<std::ptrdiff_t>(first + cells));
    std::vector<double> r2;
    if (c.radii_given)
        for (const std::int64_t value : p.value) r2.push_back(static_cast<double>(std::max<std::int64_t>(value, 0)));
    else r2 = oracle::radii2(p);
    if (!c.inlets.empty()) narrow_ways(p, c.inlets, r2);
    std::vector<std::pair<double, double>> size_of;
    if (!c.sizes.empty()) round_down(c, r2, size_of);
    expected e;
    std::sort(size_of.begin(), size_of.end());
    for (const double units : oracle::covered2(p, r2)) {
        e.squared.push_back(c.cells.unit2 != 0 ? c.cells.unit2 * units : units);
        double thickness = 2 * std::sqrt(e.squared.back());
        if (!c.sizes.empty() && units > 0 && std::isfinite(units))
            thickness = std::prev(std::upper_bound(size_of.begin(), size_of.end(), std::pair{units, 1e300}))->second;
        e.thickness.push_back(thickness);
    }
    return e;
}

std::string compare(const char* name, const guarded& came, std::size_t cell, double wanted) {
    if (came.type() == dtype::float32) wanted = static_cast<double>(static_cast<float>(wanted));
    const double value = value_of(came, static_cast<std::int64_t>(cell));
    if (value == wanted) return {};
    return std::string(name) + " of cell " + std::to_string(cell) + " is " + std::to_string(value) + ", not " +
           std::to_string(wanted);
}

counted_spacing spacing_for(std::size_t axes, std::uint64_t k) {
    static const std::vector<counted_spacing> all = {
        {{1, 1, 1}, {1, 1, 1}, 1},           {{0.65, 0.65, 0.65}, {1, 1, 1}, 0.65 * 0.65},
        {{3, 3, 3}, {1, 1, 1}, 9},           {{3, 1, 1}, {3, 1, 1}, 1},
        {{1, 2, 3}, {1, 2, 3}, 1},           {{4, 2, 6}, {2, 1, 3}, 4},
        {{2.5, 0.7, 0.7}, {25, 7, 7}, 0.01}, {{1, 70, 1}, {1, 70, 1}, 1},
        {{1, std::sqrt(2.0), 0.94}, {}, 0},  {{0.3 * std::sqrt(3.0), 0.5, 0.5}, {}, 0}};
    counted_spacing one = all[k % all.size()];
    if (axes < 3) {  // the remaining axes may have another unit
        const std::vector<counted_spacing> few = {
            {{1, 1}, {1, 1}, 1}, {{3, 1}, {3, 1}, 1}, {{0.25, 1.5}, {1, 6}, 0.0625}, {{1, std::sqrt(2.0)}, {}, 0}};
        one = axes == 2 ? few[k % few.size()] : counted_spacing{{1.5}, {1}, 2.25};
    }
    return one;
}

dtype squared_type(const thickness_call& c, std::uint64_t k) {
    if (c.cells.unit2 != std::floor(c.cells.unit2) || c.cells.unit2 == 0) return dtype::float64;
    return std::array{dtype::uint32, dtype::uint64, dtype::float64}[k % 3];
}

shape_t shape_for(std::uint64_t k) {
    const auto side = [&](std::uint64_t salt, std::uint64_t most) {
        return static_cast<std::int64_t>(mix(k + salt) % 8 == 0 ? 1 : 1 + mix(k + salt) / 8 % most);
    };
    switch (mix(k) % 4) {
        case 0: return {side(1, 90)};
        case 1: return {side(1, 30), side(2, 40)};
        default: return {side(1, 11), side(2, 12), side(3, 13)};
    }
}

std::vector<std::int64_t> values_for(const shape_t& shape, bool labels, std::uint64_t k) {
    std::vector<std::int64_t> value(static_cast<std::size_t>(cells_of(shape)));
    const double fill = std::array{0.3, 0.6, 0.9, 0.98}[mix(k + 1) % 4];
    if (mix(k + 2) % 3 == 0 && !value.empty()) value = soft_shapes(shape, 2, fill, k);
    else
        for (std::size_t i = 0; i < value.size(); ++i)
            value[i] = static_cast<double>(mix(k * 977 + i) % 1000) < 1000 * fill;
    if (labels)
        for (std::size_t i = 0; i < value.size(); ++i)
            if (value[i] != 0) value[i] = 1 + static_cast<std::int64_t>(i * 3 / value.size());
    if (!value.empty() && mix(k + 3) % 9 != 0) value[mix(k + 4) % value.size()] = 0;
    return value;
}

std::vector<std::uint8_t> some_cells(const shape_t& shape, std::uint64_t k) {
    std::vector<std::uint8_t> cells(static_cast<std::size_t>(cells_of(shape)));
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = mix(mix(k) + 31 + i) % 16 == 0 ? 1 : 0;
    return cells;
}

}  // namespace

thickness_options thickness_call::options() const {
    thickness_options o;
    const auto axes = static_cast<std::size_t>(batch_axes);
    std::vector<double> lengths(axes, 1.0);
    std::vector<nearfield::border> ends(axes, nearfield::border::open);
    lengths.insert(lengths.end(), cells.spacing.begin(), cells.spacing.end());
    for (const oracle::edge each : border) ends.push_back(static_cast<nearfield::border>(each));
    o.spacing = spacing(lengths.data(), lengths.size()), o.border = borders(ends.data(), ends.size());
    o.multilabel = multilabel, o.batch_axes = batch_axes, o.sizes = sizes;
    return o;
}

thickness_call plain_call(const shape_t& shape, const std::vector<std::int64_t>& value) {
    thickness_call c{shape,
                     0,
                     {std::vector<double>(shape.size(), 1), std::vector<double>(shape.size(), 1), 1},
                     std::vector<oracle::edge>(shape.size(), oracle::edge::open),
                     false,
                     false,
                     {},
                     {},
                     1,
                     value,
                     guarded(dtype::uint8, shape, layout::contiguous),
                     {},
                     {}};
    c.thickness.emplace(dtype::float32, shape, layout::contiguous);
    c.squared.emplace(dtype::uint32, shape, layout::contiguous);
    return c;
}

thickness_call random_call(std::uint64_t k) {
    const auto pick = [&](std::uint64_t salt) { return mix(mix(k) + salt); };
    shape_t one = shape_for(k), shape = one;
    thickness_call c = plain_call(shape, {});
    c.batch_axes = pick(1) % 5 == 0 ? 1 + static_cast<int>(pick(2) % 2) : 0;
    for (int axis = 0; axis < c.batch_axes; ++axis) shape.insert(shape.begin(), static_cast<std::int64_t>(pick(3) % 3));
    if (pick(4) % 3 != 0) c.cells = spacing_for(one.size(), pick(5));
    if (pick(6) % 2 == 0)
        for (auto& each : c.border)
            each = static_cast<oracle::edge>(
                pick(7) % 3 == 0 ? pick(8) % 3
                                 : mix(pick(9) + static_cast<std::uint64_t>(&each - c.border.data())) % 3);
    c.multilabel = pick(10) % 4 == 0;
    c.radii_given = !c.multilabel && pick(11) % 5 == 0 && c.cells.unit2 == 1;
    if (pick(12) % 4 == 0) {
        const double unit = c.cells.spacing[0];
        for (double size = unit * 1.5; size < 30 * unit; size *= 1.4) c.sizes.push_back(size);
    }
    c.threads = 1 + static_cast<int>(pick(13) % 3);
    if (!c.multilabel && !c.radii_given && c.batch_axes == 0 && pick(30) % 3 == 0) c.inlets = some_cells(shape, k);
    c.shape = shape;
    c.value = values_for(shape, c.multilabel, k);
    if (c.radii_given)
        for (std::size_t i = 0; i < c.value.size(); ++i)
            c.value[i] = c.value[i] != 0 && pick(20 + i) % 3 == 0 ? static_cast<std::int64_t>(pick(21 + i) % 60) : 0;
    const dtype of_radii[] = {dtype::uint8, dtype::int16, dtype::uint32, dtype::int64, dtype::uint64},
                of_images[] = {dtype::boolean, dtype::uint8, dtype::int16, dtype::uint32, dtype::int64, dtype::float32};
    const dtype element =
        c.radii_given ? of_radii[pick(14) % 5] : of_images[c.multilabel ? 1 + pick(14) % 4 : pick(14) % 6];
    const auto layout_of = [&](std::uint64_t salt) { return all_layouts[pick(salt) % std::size(all_layouts)]; };
    c.image = guarded(element, shape, layout_of(15), k);
    c.thickness.reset(), c.squared.reset();
    const std::uint64_t which = pick(16) % 3;
    const dtype squared =
        c.radii_given && size_of(element) == 8 && pick(17) % 2 == 0 ? dtype::uint64 : squared_type(c, pick(17));
    const bool wide = c.radii_given && size_of(element) == 8 && squared == dtype::uint32;
    if (which != 0)
        c.thickness.emplace(pick(18) % 2 == 0 ? dtype::float32 : dtype::float64, shape, layout_of(19), k + 1);
    if (which != 1) c.squared.emplace(wide ? dtype::uint64 : squared, shape, layout_of(20), k + 2);
    return c;
}

void thickness_on_host(thickness_call& c) {
    const auto out = c.fields_in<host>(c.thickness ? c.thickness->bytes().data() : nullptr,
                                       c.squared ? c.squared->bytes().data() : nullptr);
    c.run(host{c.threads}, c.image.bytes().data(), c.inlets.data(), out);
}

static void prepare(thickness_call& c) {
    c.image.paint();
    for (std::size_t i = 0; i < c.value.size(); ++i) set_value(c.image, static_cast<std::int64_t>(i), c.value[i]);
    if (c.thickness) c.thickness->paint();
    if (c.squared) c.squared->paint();
}

std::string check_thickness(const thickness_engine& engine, thickness_call c) {
    prepare(c);
    const std::vector<std::byte> before = c.image.bytes();
    engine(c);
    if (c.image.bytes() != before) return "the image was changed";
    for (const auto* out : {&c.thickness, &c.squared})
        if (*out && !(*out)->guards_broken().empty()) return (*out)->guards_broken();
    std::size_t cells = 1;
    for (std::size_t axis = static_cast<std::size_t>(c.batch_axes); axis < c.shape.size(); ++axis)
        cells *= static_cast<std::size_t>(c.shape[axis]);
    for (std::size_t first = 0; first < c.value.size(); first += cells) {
        const expected wanted = solve(c, first, cells);
        for (std::size_t i = 0; i < cells; ++i) {
            std::string wrong;
            if (c.squared) wrong = compare("squared", *c.squared, first + i, wanted.squared[i]);
            if (wrong.empty() && c.thickness)
                wrong = compare("thickness", *c.thickness, first + i, wanted.thickness[i]);
            if (!wrong.empty()) return wrong;
        }
    }
    return {};
}

void walk_thickness(const thickness_engine& engine, std::uint64_t cases, std::uint64_t every) {
    for (std::uint64_t k = 1; k <= cases; k += every)
        if (chosen(k)) {
            ASSERT_EQ(check_thickness(engine, random_call(k)), "") << "case " << k;
        }
}

std::string differ(const thickness_engine& a, const thickness_engine& b, const thickness_call& c) {
    thickness_call one = c, two = c;
    prepare(one), prepare(two);
    a(one), b(two);
    if (one.squared && one.squared->bytes() != two.squared->bytes()) return "squared differs";
    if (one.thickness && one.thickness->bytes() != two.thickness->bytes()) return "thickness differs";
    return {};
}

std::vector<std::int64_t> soft_shapes(const shape_t& shape, int radius, double fill, std::uint64_t seed) {
    const auto cells = static_cast<std::size_t>(cells_of(shape));
    std::vector<double> a(cells), b(cells);
    for (std::size_t i = 0; i < cells; ++i) a[i] = static_cast<double>(mix(seed * 131 + i) % 1000);
    std::size_t step = 1;
    for (std::size_t axis = shape.size(); axis-- > 0; step *= static_cast<std::size_t>(shape[axis])) {
        for (std::size_t i = 0; i < cells; ++i) {
            const auto at = static_cast<std::int64_t>(i / step) % shape[axis];
            b[i] = 0;
            for (std::int64_t d = -radius; d <= radius; ++d)
                b[i] +=
                    a[i + static_cast<std::size_t>(std::clamp<std::int64_t>(at + d, 0, shape[axis] - 1) - at) * step];
        }
        std::swap(a, b);
    }
    std::vector<double> sorted = a;
    const std::size_t at = std::min(cells - 1, static_cast<std::size_t>(static_cast<double>(cells) * (1 - fill)));
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(at), sorted.end());
    std::vector<std::int64_t> value(cells);
    for (std::size_t i = 0; i < cells; ++i) value[i] = a[i] > sorted[at] ? 1 : 0;
    return value;
}

std::vector<std::int64_t> rough_plate(std::int64_t depth, std::int64_t side, std::int64_t thick) {
    std::vector<std::int64_t> value;
    for (std::int64_t z = 0; z < depth; ++z)
        for (std::int64_t i = 0; i < side * side; ++i) {
            const auto bump = [&](std::uint64_t salt) {
                return static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(i) * 2 + salt) % 3);
            };
            const std::int64_t low = (depth - thick) / 2;
            value.push_back(z >= low + bump(0) && z < low + thick - bump(1) ? 1 : 0);
        }
    return value;
}

}  // namespace nearfield::test
