#include "morphology/cases.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "scale.hpp"

namespace nearfield::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

std::vector<std::int64_t> place_of(std::int64_t cell, const shape_t& shape) {
    std::vector<std::int64_t> at(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) at[axis] = cell % shape[axis], cell /= shape[axis];
    return at;
}

/// Distances within one image, without batch axes; `shapes` are the sides of the searched axes.
struct ruler {
    shape_t shape;
    std::vector<double> spacing;
    std::vector<border> ends;

    [[nodiscard]] double between(std::int64_t p, std::int64_t q) const {
        const auto a = place_of(p, shape), b = place_of(q, shape);
        double sum = 0;
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            std::int64_t apart = std::abs(a[axis] - b[axis]);
            if (ends[axis] == border::periodic) apart = std::min(apart, shape[axis] - apart);
            sum += spacing[axis] * spacing[axis] * static_cast<double>(apart * apart);
        }
        return std::sqrt(sum);
    }
    /// Distance to the first cell beyond a closed end.
    [[nodiscard]] double to_end(std::int64_t p) const {
        const auto a = place_of(p, shape);
        double least = inf;
        for (std::size_t axis = 0; axis < shape.size(); ++axis)
            if (ends[axis] == border::closed)
                least =
                    std::min(least, spacing[axis] * static_cast<double>(std::min(a[axis] + 1, shape[axis] - a[axis])));
        return least;
    }
    /// True if a closed end is within the radius; without closed ends this is false for any radius.
    [[nodiscard]] bool ends_within(std::int64_t p, double radius) const {
        return to_end(p) < inf && to_end(p) <= radius;
    }
    [[nodiscard]] std::int64_t cells() const { return cells_of(shape); }

    /// True if cell p has a cell of `is_site` within the radius.
    template <class IsSite>
    [[nodiscard]] bool near(std::int64_t p, double radius, const IsSite& is_site) const {
        for (std::int64_t q = 0; q < cells(); ++q)
            if (is_site(q) && between(p, q) <= radius) return true;
        return false;
    }
};

using values = std::vector<std::uint64_t>;

values eroded(const ruler& r, const values& v, double radius, bool labels) {
    values out(v.size());
    for (std::int64_t p = 0; p < r.cells(); ++p) {
        const auto own = v[static_cast<std::size_t>(p)];
        const bool stays = own != 0 && !r.ends_within(p, radius) && !r.near(p, radius, [&](std::int64_t q) {
            const auto other = v[static_cast<std::size_t>(q)];
            return labels ? other != own : other == 0;
        });
        out[static_cast<std::size_t>(p)] = !stays ? 0 : labels ? own : 1;
    }
    return out;
}

values dilated(const ruler& r, const values& v, double radius) {
    values out(v.size());
    for (std::int64_t p = 0; p < r.cells(); ++p)
        out[static_cast<std::size_t>(p)] = r.ends_within(p, radius) || r.near(p, radius, [&](std::int64_t q) {
            return v[static_cast<std::size_t>(q)] != 0;
        });
    return out;
}

/// The nearest label within the radius; ties are decided by the last axis first.
values grown(const ruler& r, const values& v, double radius) {
    values out(v.size());
    for (std::int64_t p = 0; p < r.cells(); ++p) {
        double best = inf;
        std::vector<std::int64_t> where;
        for (std::int64_t q = 0; q < r.cells(); ++q) {
            if (v[static_cast<std::size_t>(q)] == 0) continue;
            const double d = r.between(p, q);
            auto at = place_of(q, r.shape);
            std::reverse(at.begin(), at.end());
            if (d > radius || d > best || (d == best && at > where)) continue;
            best = d, where = at, out[static_cast<std::size_t>(p)] = v[static_cast<std::size_t>(q)];
        }
        // Beyond a closed end there is no label, so a strictly nearer end gives 0.
        if (r.to_end(p) < best) out[static_cast<std::size_t>(p)] = 0;
    }
    return out;
}

values opposite(values v) {
    for (auto& each : v) each = each == 0;
    return v;
}

values answer(operation what, ruler r, const values& v, double radius, bool labels) {
    if (what == operation::erosion) return eroded(r, v, radius, labels);
    if (what == operation::dilation) return labels ? grown(r, v, radius) : dilated(r, v, radius);
    const values first = what == operation::opening ? eroded(r, v, radius, labels) : dilated(r, v, radius);
    const values labelled = what == operation::closing && labels ? grown(r, v, radius) : v;
    for (border& end : r.ends)
        if (end == border::closed) end = border::open;
    values second =
        what == operation::opening ? dilated(r, first, radius) : opposite(dilated(r, opposite(first), radius));
    if (labels)
        for (std::size_t i = 0; i < v.size(); ++i) second[i] = second[i] != 0 ? labelled[i] : 0;
    return second;
}

}  // namespace

morphology_options morphology_case::options() const {
    morphology_options o;
    if (!spacing.empty()) o.spacing = {spacing.data(), spacing.size()};
    if (!ends.empty()) o.border = {ends.data(), ends.size()};
    o.batch_axes = batch_axes, o.labels = labels;
    return o;
}

std::string morphology_case::text(operation what) const {
    std::ostringstream out;
    out << "operation " << static_cast<int>(what) << ", shape";
    for (auto n : shape) out << ' ' << n;
    out << ", radius " << radius << ", spacing";
    for (auto s : spacing) out << ' ' << s;
    out << ", ends";
    for (auto e : ends) out << ' ' << static_cast<int>(e);
    out << ", batch " << batch_axes << (labels ? ", labels " : ", mask ") << name_of(type);
    return out.str();
}

std::vector<std::uint64_t> expected(operation what, const morphology_case& c) {
    const auto skip = static_cast<std::ptrdiff_t>(c.batch_axes);
    ruler r{{c.shape.begin() + skip, c.shape.end()}, {}, {}};
    for (std::size_t axis = static_cast<std::size_t>(skip); axis < c.shape.size(); ++axis) {
        r.spacing.push_back(c.spacing.empty() ? 1 : c.spacing[c.spacing.size() == 1 ? 0 : axis]);
        r.ends.push_back(c.ends.empty() ? border::open : c.ends[c.ends.size() == 1 ? 0 : axis]);
    }
    values all;
    const auto n = static_cast<std::size_t>(r.cells());
    for (std::size_t first = 0; first < c.value.size(); first += n) {
        const values image(c.value.begin() + static_cast<std::ptrdiff_t>(first),
                           c.value.begin() + static_cast<std::ptrdiff_t>(first + n));
        const values part = answer(what, r, image, c.radius, c.labels);
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

morphology_case drawn_case(std::uint64_t seed) {
    std::uint64_t state = mix(seed);
    const auto below = [&](std::uint64_t n) { return (state = mix(state)) % n; };
    morphology_case c;
    const std::size_t rank = 1 + below(4);
    const std::int64_t most[] = {40, 9, 6, 4};
    for (std::size_t axis = 0; axis < rank; ++axis) {
        c.shape.push_back(1 + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most[rank - 1]))));
        c.ends.push_back(static_cast<border>(below(4) % 3));
    }
    if (below(8) == 0) c.ends.clear();
    const std::uint64_t kind = below(4);
    for (std::size_t axis = 0; axis < rank && kind > 0; ++axis)
        c.spacing.push_back(kind == 1   ? static_cast<double>(1 + below(3))
                            : kind == 2 ? 0.5 * static_cast<double>(1 + below(5))
                                        : 0.75);
    c.batch_axes = rank > 1 && below(4) == 0 ? 1 : 0;
    const double radii[] = {0, 0.5, 1, 1, 1.5, 2, std::sqrt(2.0), std::sqrt(5.0), 2.5, 3, inf};
    c.radius = radii[below(std::size(radii))];
    c.labels = below(2) == 0;
    const dtype types[] = {dtype::boolean, dtype::uint8,  dtype::int8,   dtype::int16, dtype::uint16,
                           dtype::int32,   dtype::uint32, dtype::uint64, dtype::int64};
    c.type = types[below(std::size(types))];
    c.bits = below(2) == 0 ? dtype::boolean : dtype::uint8;
    const std::uint64_t most_values = c.type == dtype::boolean ? 2 : 2 + below(3), share = 1 + below(6),
                        block = 1 + below(3);
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        const std::uint64_t bits = mix(state + static_cast<std::uint64_t>(i) / block);
        c.value.push_back(bits % 7 < share ? 1 + bits / 7 % (most_values - 1) : 0);
    }
    return c;
}

void check_morphology(const morphology_runner& run, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t seed = first; seed < share(first, end); ++seed) {
        const morphology_case c = drawn_case(seed);
        for (operation what : operations)
            ASSERT_EQ(run(what, c), expected(what, c)) << "seed " << seed << ": " << c.text(what);
    }
}

std::vector<std::byte> packed(const std::vector<std::uint64_t>& value, dtype type) {
    const auto size = static_cast<std::size_t>(size_of(type));
    std::vector<std::byte> bytes(value.size() * size);
    for (std::size_t i = 0; i < value.size(); ++i) std::memcpy(bytes.data() + i * size, &value[i], size);
    return bytes;
}

std::vector<std::uint64_t> unpacked(const std::vector<std::byte>& bytes, dtype type) {
    const auto size = static_cast<std::size_t>(size_of(type));
    std::vector<std::uint64_t> value(bytes.size() / size);
    for (std::size_t i = 0; i < value.size(); ++i) std::memcpy(&value[i], bytes.data() + i * size, size);
    return value;
}

}  // namespace nearfield::test
