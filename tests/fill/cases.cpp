#include "fill/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "scale.hpp"

namespace nearfield::test {
namespace {

shape_t place_of(std::int64_t cell, const shape_t& shape) {
    shape_t at(shape.size());
    for (std::size_t k = shape.size(); k-- > 0;) at[k] = cell % shape[k], cell /= shape[k];
    return at;
}
std::int64_t cell_of(const shape_t& at, const shape_t& shape) {
    std::int64_t cell = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) cell = cell * shape[k] + at[k];
    return cell;
}
double length_of(const std::vector<double>& spacing, std::size_t axis) { return spacing.empty() ? 1 : spacing[axis]; }

/// Squared distance from a cell to the nearest cell beyond a closed end.
double to_end(const fill_case& c, const shape_t& at) {
    double nearest2 = 1e300;
    for (std::size_t k = static_cast<std::size_t>(c.batch_axes); k < at.size(); ++k)
        if (!c.ends.empty() && c.ends[k] == border::closed) {
            const auto cells = static_cast<double>(std::min(at[k] + 1, c.cells[k] - at[k]));
            nearest2 = std::min(nearest2, std::pow(cells * length_of(c.spacing, k), 2));
        }
    return nearest2;
}

/// The cell from which a cell gets its value.
std::int64_t source_of(const fill_case& c, std::int64_t cell) {
    const shape_t at = place_of(cell, c.cells);
    std::int64_t best = cell;
    double best2 = 1e300;
    shape_t key;
    for (std::int64_t s = 0; s < static_cast<std::int64_t>(c.missing.size()); ++s) {
        const shape_t to = place_of(s, c.cells);
        if (c.missing[static_cast<std::size_t>(s)] != 0 ||
            !std::equal(at.begin(), at.begin() + c.batch_axes, to.begin()))
            continue;
        double away2 = 0;
        for (std::size_t k = static_cast<std::size_t>(c.batch_axes); k < at.size(); ++k) {
            std::int64_t step = std::abs(at[k] - to[k]);
            if (!c.ends.empty() && c.ends[k] == border::periodic) step = std::min(step, c.cells[k] - step);
            away2 += std::pow(static_cast<double>(step) * length_of(c.spacing, k), 2);
        }
        const shape_t own(to.rbegin(), to.rend());
        if (away2 < best2 || (away2 == best2 && own < key)) best = s, best2 = away2, key = own;
    }
    return std::sqrt(best2) > c.max_distance || to_end(c, at) < best2 ? cell : best;
}

/// Signed distance from a cell of a slice to a label; infinite if the slice has no such label, or nothing else.
long double signed_distance(const std::vector<std::int64_t>& slice, const shape_t& shape,
                            const std::vector<double>& spacing, std::int64_t cell, std::int64_t label) {
    const bool inside = slice[static_cast<std::size_t>(cell)] == label;
    const shape_t at = place_of(cell, shape);
    long double nearest2 = INFINITY;
    for (std::int64_t s = 0; s < static_cast<std::int64_t>(slice.size()); ++s) {
        if ((slice[static_cast<std::size_t>(s)] == label) == inside) continue;
        const shape_t to = place_of(s, shape);
        long double away2 = 0;
        for (std::size_t k = 0; k < at.size(); ++k) {
            const long double step = static_cast<long double>(at[k] - to[k]) * length_of(spacing, k);
            away2 += step * step;
        }
        nearest2 = std::min(nearest2, away2);
    }
    return inside ? -std::sqrt(nearest2) : std::sqrt(nearest2);
}

std::int64_t rounded(long double x) { return static_cast<std::int64_t>(std::floor(x + 0.5L)); }

/// One position between two slices.
class between {
public:
    between(const slice_case& c, std::vector<std::int64_t> a, std::vector<std::int64_t> b, std::int64_t p,
            std::int64_t q)
        : c_(c), a_(std::move(a)), b_(std::move(b)), p_(p), q_(q) {
        for (std::size_t k = 0; k < c.shape.size(); ++k)
            if (k != static_cast<std::size_t>(c.axis)) {
                shape_.push_back(c.shape[k]);
                spacing_.push_back(length_of(c.spacing, k));
            }
    }

    /// `last`: among labels equally near within 1e-9, takes the last one instead of the first.
    [[nodiscard]] std::vector<std::int64_t> solved(bool last) const {
        std::set<std::int64_t> shared;
        for (const std::int64_t label : a_)
            if (std::find(b_.begin(), b_.end(), label) != b_.end()) shared.insert(label);
        std::vector<std::int64_t> out(a_.size(), 0);
        for (std::int64_t cell = 0; cell < static_cast<std::int64_t>(a_.size()); ++cell) {
            long double best = c_.align ? 0 : INFINITY;
            bool found = c_.align;
            for (const std::int64_t label : shared) {
                if (c_.align && label == 0) continue;
                const long double value = value_of(cell, label);
                if (!found || (last ? value <= best + 1e-9L : value < best - 1e-13L))
                    out[static_cast<std::size_t>(cell)] = label, best = value, found = true;
            }
        }
        return out;
    }

private:
    [[nodiscard]] long double value_of(std::int64_t cell, std::int64_t label) const {
        shape_t from = place_of(cell, shape_), to = from;
        if (c_.align)
            for (std::size_t k = 0; k < shape_.size(); ++k) {
                const std::int64_t d = rounded(centroid(b_, label, k) - centroid(a_, label, k));
                const std::int64_t s = rounded(static_cast<long double>(d * p_) / static_cast<long double>(q_));
                from[k] = std::clamp(from[k] - s, std::int64_t{0}, shape_[k] - 1);
                to[k] = std::clamp(to[k] - s + d, std::int64_t{0}, shape_[k] - 1);
            }
        const long double a = signed_distance(a_, shape_, spacing_, cell_of(from, shape_), label),
                          b = signed_distance(b_, shape_, spacing_, cell_of(to, shape_), label);
        return static_cast<long double>(q_ - p_) * a + static_cast<long double>(p_) * b;
    }
    [[nodiscard]] long double centroid(const std::vector<std::int64_t>& slice, std::int64_t label,
                                       std::size_t axis) const {
        long double sum = 0, count = 0;
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(slice.size()); ++i)
            if (slice[static_cast<std::size_t>(i)] == label)
                sum += static_cast<long double>(place_of(i, shape_)[axis]), ++count;
        return sum / count;
    }

    const slice_case& c_;
    std::vector<std::int64_t> a_, b_;
    std::int64_t p_, q_;
    shape_t shape_;
    std::vector<double> spacing_;
};

std::vector<std::int64_t> slice_of(const slice_case& c, std::int64_t number) {
    std::vector<std::int64_t> slice;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(c.label.size()); ++i)
        if (place_of(i, c.shape)[static_cast<std::size_t>(c.axis)] == number)
            slice.push_back(c.label[static_cast<std::size_t>(i)]);
    return slice;
}

std::vector<std::int64_t> at_position(const slice_case& c, const slice_position& at, bool last) {
    std::vector<std::int64_t> drawn = c.drawn;
    for (std::int64_t k = 0; c.drawn.empty() && k < c.shape[static_cast<std::size_t>(c.axis)]; ++k) drawn.push_back(k);
    for (std::size_t k = 0; k < drawn.size(); ++k) {
        if (at.numerator == drawn[k] * at.denominator) return slice_of(c, drawn[k]);
        if (k + 1 < drawn.size() && at.numerator > drawn[k] * at.denominator &&
            at.numerator < drawn[k + 1] * at.denominator)
            return between(c, slice_of(c, drawn[k]), slice_of(c, drawn[k + 1]),
                           at.numerator - drawn[k] * at.denominator, (drawn[k + 1] - drawn[k]) * at.denominator)
                .solved(last);
    }
    return std::vector<std::int64_t>(slice_of(c, 0).size(), 0);
}

}  // namespace

shape_t fill_case::shape() const {
    shape_t all = cells;
    if (channels > 0) all.push_back(channels);
    return all;
}
shape_t slice_case::answer_shape() const {
    shape_t all = shape;
    all[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(positions.size());
    return all;
}

std::vector<std::byte> packed(const std::vector<std::int64_t>& value, dtype type) {
    const auto size = static_cast<std::size_t>(size_of(type));
    std::vector<std::byte> bytes(value.size() * size + 1);
    for (std::size_t i = 0; i < value.size(); ++i)
        for (std::size_t k = 0; k < size; ++k) bytes[i * size + k] = static_cast<std::byte>(value[i] >> (8 * k));
    return bytes;
}
std::vector<std::int64_t> unpacked(const std::vector<std::byte>& bytes, dtype type) {
    const auto size = static_cast<std::size_t>(size_of(type));
    std::vector<std::int64_t> value(bytes.size() / size);
    for (std::size_t i = 0; i < value.size(); ++i)
        for (std::size_t k = 0; k < size; ++k)
            value[i] |= static_cast<std::int64_t>(static_cast<std::uint64_t>(bytes[i * size + k]) << (8 * k));
    return value;
}

std::vector<std::int64_t> expected(const fill_case& c) {
    std::vector<std::int64_t> out = c.value;
    const std::int64_t channels = std::max<std::int64_t>(c.channels, 1);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(out.size()); ++i)
        out[static_cast<std::size_t>(i)] =
            c.value[static_cast<std::size_t>(source_of(c, i / channels) * channels + i % channels)];
    return out;
}

std::vector<std::int64_t> expected(const slice_case& c, bool last) {
    const shape_t to = c.answer_shape();
    std::vector<std::int64_t> out(static_cast<std::size_t>(cells_of(to)));
    const auto axis = static_cast<std::size_t>(c.axis);
    for (std::size_t k = 0; k < c.positions.size(); ++k) {
        const std::vector<std::int64_t> slice = at_position(c, c.positions[k], last);
        std::size_t next = 0;
        for (std::size_t i = 0; i < out.size(); ++i)
            if (place_of(static_cast<std::int64_t>(i), to)[axis] == static_cast<std::int64_t>(k))
                out[i] = slice[next++];
    }
    return out;
}

fill_case drawn_fill_case(std::uint64_t seed) {
    std::uint64_t state = seed << 20;
    const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
    fill_case c;
    const auto axes = 1 + draw(3);
    constexpr std::uint64_t longest[] = {50, 9, 6};
    c.batch_axes = draw(4) == 0 ? 1 : 0;
    if (c.batch_axes > 0) c.cells.push_back(1 + static_cast<std::int64_t>(draw(3)));
    for (std::uint64_t k = 0; k < axes; ++k) c.cells.push_back(1 + static_cast<std::int64_t>(draw(longest[axes - 1])));
    c.channels = static_cast<std::int64_t>(draw(3));
    constexpr double lengths[][3] = {{1, 2, 3}, {0.5, 1.5, 1}, {4, 4, 4}};
    const auto kind = draw(4);
    for (std::size_t k = 0; k < c.cells.size() && kind > 0; ++k) c.spacing.push_back(lengths[kind - 1][k % 3]);
    for (std::size_t k = 0; k < c.cells.size(); ++k)
        c.ends.push_back(k < static_cast<std::size_t>(c.batch_axes) ? border::open : static_cast<border>(draw(3)));
    if (draw(3) == 0) c.max_distance = static_cast<double>(draw(8)) / 2;
    constexpr dtype types[] = {dtype::boolean, dtype::int8,    dtype::uint16,
                               dtype::float16, dtype::float32, dtype::int64};
    c.type = types[draw(6)];
    const auto density = 1 + draw(12);
    for (std::int64_t i = 0; i < cells_of(c.cells); ++i) c.missing.push_back(draw(density) != 0 ? 1 : 0);
    for (std::int64_t i = 0; i < cells_of(c.shape()); ++i) c.value.push_back(static_cast<std::int64_t>(draw(2)));
    if (c.type != dtype::boolean)
        for (auto& each : c.value) each = static_cast<std::int64_t>(draw(128));
    return c;
}

slice_case drawn_slice_case(std::uint64_t seed, bool real) {
    std::uint64_t state = seed << 20;
    const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
    slice_case c;
    const auto axes = 2 + draw(3);
    constexpr std::uint64_t longest[] = {24, 8, 5};
    for (std::uint64_t k = 0; k < axes; ++k) c.shape.push_back(1 + static_cast<std::int64_t>(draw(longest[axes - 2])));
    c.axis = static_cast<int>(draw(axes));
    const std::int64_t slices = c.shape[static_cast<std::size_t>(c.axis)] = 1 + static_cast<std::int64_t>(draw(5));
    if (draw(2) == 0)
        for (std::int64_t k = 0; k < slices; ++k)
            if (draw(2) == 0) c.drawn.push_back(k);
    const std::uint64_t count = draw(20);
    for (std::uint64_t k = 0; k < count; ++k) {
        const std::int64_t denominator = 1 + static_cast<std::int64_t>(draw(7));
        c.positions.push_back(
            {static_cast<std::int64_t>(draw(static_cast<std::uint64_t>((slices - 1) * denominator + 1))), denominator});
    }
    constexpr double lengths[][3] = {{1, 2, 3}, {0.5, 1.5, 1}, {1.4142135623730951, 3.141592653589793, 1}};
    const auto kind = real ? 4 : draw(4);
    for (std::size_t k = 0; k < c.shape.size() && kind > 1; ++k) c.spacing.push_back(lengths[kind - 2][k % 3]);
    c.align = draw(3) == 0;
    constexpr dtype types[] = {dtype::boolean, dtype::int8, dtype::uint16, dtype::uint32, dtype::int64, dtype::uint64};
    c.type = types[draw(6)];
    const auto labels = 1 + draw(c.type == dtype::boolean ? 2 : 4), run = 1 + draw(6);
    std::int64_t own = 0;
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        if (draw(run) == 0) own = static_cast<std::int64_t>(draw(labels));
        c.label.push_back(own);
    }
    return c;
}

void check_fill(const std::function<std::vector<std::int64_t>(const fill_case&)>& run, std::uint64_t first,
                std::uint64_t end) {
    for (std::uint64_t seed = first; seed < share(first, end); ++seed) {
        const fill_case c = drawn_fill_case(seed);
        ASSERT_EQ(run(c), expected(c)) << "seed " << seed;
    }
}
void check_slices(const std::function<std::vector<std::int64_t>(const slice_case&)>& run, std::uint64_t first,
                  std::uint64_t end, bool real) {
    for (std::uint64_t seed = first; seed < share(first, end); ++seed) {
        const slice_case c = drawn_slice_case(seed, real);
        const std::vector<std::int64_t> came = run(c), wanted = expected(c), other = real ? expected(c, true) : wanted;
        ASSERT_EQ(came.size(), wanted.size());
        for (std::size_t i = 0; i < came.size(); ++i)
            ASSERT_TRUE(came[i] == wanted[i] || came[i] == other[i]) << "seed " << seed << " cell " << i;
    }
}

}  // namespace nearfield::test
