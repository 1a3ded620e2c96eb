#include "skeleton/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "scale.hpp"

namespace nearfield::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using place = std::array<std::int64_t, 3>;

/// One image of a call, as a volume.
struct image_of_call {
    place size{1, 1, 1};
    std::array<double, 3> spacing{1, 1, 1};
    std::array<border, 3> ends{};
    int rank = 3;

    explicit image_of_call(const skeleton_case& c) : rank(static_cast<int>(c.shape.size()) - c.batch_axes) {
        for (int axis = 0; axis < rank; ++axis) {
            const auto to = static_cast<std::size_t>(3 - rank + axis),
                       from = static_cast<std::size_t>(c.batch_axes + axis);
            size[to] = c.shape[from];
            spacing[to] = c.spacing.empty() ? 1 : c.spacing[c.spacing.size() == 1 ? 0 : from];
            ends[to] = c.ends.empty() ? border::open : c.ends[c.ends.size() == 1 ? 0 : from];
        }
    }
    [[nodiscard]] std::int64_t cells() const { return size[0] * size[1] * size[2]; }
    [[nodiscard]] place at(std::int64_t cell) const {
        return {cell / size[2] / size[1], cell / size[2] % size[1], cell % size[2]};
    }
    [[nodiscard]] bool wraps(std::size_t axis) const { return ends[axis] == border::periodic && size[axis] > 1; }
    /// Number of a cell; -1 beyond an end.
    [[nodiscard]] std::int64_t cell(place p) const {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (wraps(axis)) p[axis] = (p[axis] + size[axis]) % size[axis];
            if (p[axis] < 0 || p[axis] >= size[axis]) return -1;
        }
        return (p[0] * size[1] + p[1]) * size[2] + p[2];
    }
    [[nodiscard]] std::int64_t neighbour(std::int64_t of, int n) const {
        const place p = at(of);
        return cell({p[0] + n / 9 - 1, p[1] + n / 3 % 3 - 1, p[2] + n % 3 - 1});
    }
    [[nodiscard]] surroundings round(const flags_t& shape, std::int64_t of) const {
        surroundings s{};
        for (int n = 0; n < 27; ++n) {
            const std::int64_t other = neighbour(of, n);
            s[static_cast<std::size_t>(n)] = other >= 0 && shape[static_cast<std::size_t>(other)] != 0;
        }
        return s;
    }
    [[nodiscard]] int turn(std::int64_t of) const {
        const place p = at(of);
        int number = 0;
        for (std::size_t axis = 0; axis < 3; ++axis)
            number =
                number * 3 +
                (wraps(axis) && size[axis] % 2 == 1 && p[axis] == size[axis] - 1 ? 2 : static_cast<int>(p[axis] % 2));
        return number;
    }
    /// Squared distances for cells of length 1, or for the call's lengths.
    [[nodiscard]] double squared(const flags_t& shape, std::int64_t of, bool plain) const {
        double least = inf;
        const place p = at(of);
        const auto length = plain ? std::array<double, 3>{1, 1, 1} : spacing;
        for (std::int64_t q = 0; q < cells(); ++q) {
            if (shape[static_cast<std::size_t>(q)] != 0) continue;
            double sum = 0;
            for (std::size_t axis = 3; axis-- > 0;) {
                std::int64_t apart = std::abs(p[axis] - at(q)[axis]);
                if (wraps(axis)) apart = std::min(apart, size[axis] - apart);
                sum += length[axis] * length[axis] * static_cast<double>(apart * apart);
            }
            least = std::min(least, sum);
        }
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (ends[axis] == border::closed) {
                const auto to_end = length[axis] * static_cast<double>(std::min(p[axis] + 1, size[axis] - p[axis]));
                least = std::min(least, to_end * to_end);
            }
        return least;
    }
};

int steps_of(int n) { return std::abs(n / 9 - 1) + std::abs(n / 3 % 3 - 1) + std::abs(n % 3 - 1); }
bool touch(int a, int b, bool faces) {
    const int z = std::abs(a / 9 - b / 9), y = std::abs(a / 3 % 3 - b / 3 % 3), x = std::abs(a % 3 - b % 3);
    return faces ? z + y + x == 1 : std::max({z, y, x}) == 1;
}
bool lies_in(int n, int rank) { return n != 13 && (rank > 2 || n / 9 == 1) && (rank > 1 || n / 3 % 3 == 1); }

bool is_end(const surroundings& s, bool faces) {
    int count = 0;
    for (int n = 0; n < 27; ++n) count += n != 13 && s[static_cast<std::size_t>(n)] && (!faces || steps_of(n) == 1);
    return count == 1;
}
bool is_simple(const surroundings& s, int rank, bool faces) {
    return components_round(s, true, rank, faces) == 1 && components_round(s, false, rank, !faces) == 1;
}

/// Where each cell's layer begins, in sixteenths of the shortest side of the axes with more than one cell. Layers are
/// one sixteenth thick, but two from 256 of them on, four from 512 on and so on.
std::vector<double> layers_of(const image_of_call& image, const flags_t& shape) {
    double shortest = inf;
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (image.size[axis] > 1) shortest = std::min(shortest, image.spacing[axis]);
    // If all spacings are equal, cells count as 1.
    bool equal = true;
    for (std::size_t axis = 3 - static_cast<std::size_t>(image.rank); axis < 3; ++axis)
        equal = equal && image.spacing[axis] == image.spacing[2];
    std::vector<double> layer;
    for (std::int64_t p = 0; p < image.cells(); ++p) {
        const double squared = image.squared(shape, p, equal);
        const double at = 16 * std::sqrt(squared) / (equal ? 1 : shortest);
        double thickness = 1;
        while (squared != inf && at / thickness >= 256) thickness *= 2;
        layer.push_back(squared == inf ? inf : thickness * std::floor(at / thickness));
    }
    return layer;
}

/// Tests the cells of a turn up to a layer; `begin` has the shape as it was when the round began.
void look_at_turn(const image_of_call& image, const std::vector<double>& layers, double layer, int turn,
                  const flags_t& begin, const skeleton_case& c, flags_t& shape, flags_t& held) {
    const flags_t before = shape;
    for (std::int64_t p = 0; p < image.cells(); ++p) {
        const auto k = static_cast<std::size_t>(p);
        if (before[k] == 0 || held[k] != 0 || layers[k] > layer || image.turn(p) != turn) continue;
        const surroundings s = image.round(before, p);
        if ((c.keep == kept_cells::ends && is_end(s, c.faces) && is_end(image.round(begin, p), c.faces)) ||
            (c.keep == kept_cells::isthmuses && components_round(s, true, image.rank, c.faces) > 1))
            held[k] = 1;
        else if (is_simple(s, image.rank, c.faces)) shape[k] = 0;
    }
}

flags_t thinned(const image_of_call& image, flags_t shape, flags_t held, const skeleton_case& c) {
    const std::vector<double> layers = layers_of(image, shape);
    const std::set<double> all(layers.begin(), layers.end());
    for (auto at = all.begin(); at != all.end();) {
        const double layer = *at, next = ++at == all.end() ? inf : *at;
        // A layer has one round for each sixteenth; the last one has rounds until one changes nothing.
        bool changed = true;
        for (double round = layer; changed && (round < next || next == inf); ++round) {
            const flags_t begin = shape;
            for (int turn = 0; turn < 27; ++turn) look_at_turn(image, layers, layer, turn, begin, c, shape, held);
            changed = shape != begin;
        }
    }
    return shape;
}

/// Calls use(image, its cells of `all`, its anchors) for each image of a call.
template <class Use>
void for_each_image(const skeleton_case& c, const flags_t& all, const Use& use) {
    const image_of_call image(c);
    const auto n = image.cells();
    for (std::int64_t first = 0; n > 0 && first < static_cast<std::int64_t>(all.size()); first += n) {
        const auto part = [&](const flags_t& of) {
            return of.empty() ? flags_t(static_cast<std::size_t>(n))
                              : flags_t(of.begin() + first, of.begin() + first + n);
        };
        use(image, part(all), part(c.anchors));
    }
}

std::int64_t count_components(const image_of_call& image, const flags_t& shape, bool value, bool faces) {
    flags_t seen(shape.size());
    std::int64_t count = 0;
    for (std::int64_t p = 0; p < image.cells(); ++p) {
        if (seen[static_cast<std::size_t>(p)] != 0 || (shape[static_cast<std::size_t>(p)] != 0) != value) continue;
        ++count;
        std::vector<std::int64_t> stack{p};
        seen[static_cast<std::size_t>(p)] = 1;
        while (!stack.empty()) {
            const std::int64_t q = stack.back();
            stack.pop_back();
            for (int n = 0; n < 27; ++n) {
                const std::int64_t r = image.neighbour(q, n);
                if (n == 13 || r < 0 || (faces && steps_of(n) != 1)) continue;
                const auto k = static_cast<std::size_t>(r);
                if (seen[k] == 0 && (shape[k] != 0) == value) seen[k] = 1, stack.push_back(r);
            }
        }
    }
    return count;
}

/// Euler number of the union of closed cells; with `faces`, of the complex whose corners are the cells.
std::int64_t euler_number(const image_of_call& image, const flags_t& shape, bool faces) {
    std::int64_t sum = 0;
    place grid = image.size;
    for (std::size_t axis = 0; axis < 3; ++axis) grid[axis] += image.wraps(axis) ? 0 : 1;
    // The grid's elements: at corner `p`, one cell long along the axes whose bits `kind` has.
    for (int kind = 0; kind < 8; ++kind)
        for (std::int64_t i = 0; i < grid[0] * grid[1] * grid[2]; ++i) {
            const place p{i / grid[2] / grid[1], i / grid[2] % grid[1], i % grid[2]};
            bool some = false, all = true;
            for (int n = 0; n < 8; ++n) {
                const auto back = [&](int bit) { return (n >> bit & 1) != 0 ? std::int64_t{1} : 0; };
                const bool varies = faces ? (n & ~kind) == 0 : (n & kind) == 0;
                if (!varies) continue;
                const std::int64_t other = image.cell({p[0] - back(2), p[1] - back(1), p[2] - back(0)});
                const bool in = other >= 0 && shape[static_cast<std::size_t>(other)] != 0;
                some = some || in, all = all && in;
            }
            const int sign = kind == 0 || kind == 3 || kind == 5 || kind == 6 ? 1 : -1;
            if (faces ? all : some) sum += sign;
        }
    return sum;
}

}  // namespace

int components_round(const surroundings& cells, bool value, int rank, bool faces) {
    std::array<bool, 27> seen{};
    int count = 0;
    const auto is_in = [&](int n) {
        return lies_in(n, rank) && cells[static_cast<std::size_t>(n)] == value && (!faces || steps_of(n) < 3);
    };
    for (int start = 0; start < 27; ++start) {
        if (!is_in(start) || seen[static_cast<std::size_t>(start)] || (faces && steps_of(start) != 1)) continue;
        ++count;
        std::vector<int> stack{start};
        seen[static_cast<std::size_t>(start)] = true;
        while (!stack.empty()) {
            const int at = stack.back();
            stack.pop_back();
            for (int n = 0; n < 27; ++n)
                if (is_in(n) && touch(at, n, faces) && !seen[static_cast<std::size_t>(n)])
                    seen[static_cast<std::size_t>(n)] = true, stack.push_back(n);
        }
    }
    return count;
}

skeleton_options skeleton_case::options() const {
    skeleton_options o;
    if (!spacing.empty()) o.spacing = {spacing.data(), spacing.size()};
    if (!ends.empty()) o.border = {ends.data(), ends.size()};
    o.batch_axes = batch_axes, o.keep = keep, o.faces = faces;
    return o;
}

std::string skeleton_case::text() const {
    std::ostringstream out;
    out << "shape";
    for (auto n : shape) out << ' ' << n;
    out << ", spacing";
    for (auto s : spacing) out << ' ' << s;
    out << ", ends";
    for (auto e : ends) out << ' ' << static_cast<int>(e);
    out << ", batch " << batch_axes << ", keep " << static_cast<int>(keep) << (faces ? ", faces" : "")
        << (anchors.empty() ? "" : ", anchors") << ", mask ";
    for (std::size_t i = 0; i < std::min<std::size_t>(mask.size(), 200); ++i) out << static_cast<int>(mask[i]);
    return out.str();
}

flags_t expected(const skeleton_case& c) {
    flags_t all;
    for_each_image(c, c.mask, [&](const image_of_call& image, const flags_t& shape, const flags_t& held) {
        const flags_t part = thinned(image, shape, held, c);
        all.insert(all.end(), part.begin(), part.end());
    });
    return all;
}

topology topology_of(const skeleton_case& c, const flags_t& all) {
    topology sum;
    for_each_image(c, all, [&](const image_of_call& image, const flags_t& shape, const flags_t&) {
        // Background beyond an open end joins all background that touches it, so it is counted with a margin.
        image_of_call wide = image;
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (!image.wraps(axis)) wide.size[axis] += 2;
        flags_t padded(static_cast<std::size_t>(wide.cells()));
        for (std::int64_t p = 0; p < image.cells(); ++p) {
            place at = image.at(p);
            for (std::size_t axis = 0; axis < 3; ++axis) at[axis] += image.wraps(axis) ? 0 : 1;
            padded[static_cast<std::size_t>(wide.cell(at))] = shape[static_cast<std::size_t>(p)];
        }
        // An image lies in a plane: a margin above it would join background that its shape separates.
        if (image.rank < 3) wide = image, padded = shape;
        if (image.rank == 2) {
            for (std::size_t axis = 1; axis < 3; ++axis)
                if (!image.wraps(axis)) wide.size[axis] += 2;
            padded.assign(static_cast<std::size_t>(wide.cells()), 0);
            for (std::int64_t p = 0; p < image.cells(); ++p) {
                place at = image.at(p);
                for (std::size_t axis = 1; axis < 3; ++axis) at[axis] += image.wraps(axis) ? 0 : 1;
                padded[static_cast<std::size_t>(wide.cell(at))] = shape[static_cast<std::size_t>(p)];
            }
        }
        sum.components += count_components(image, shape, true, c.faces);
        sum.outside += image.rank == 1 ? 0 : count_components(wide, padded, false, !c.faces);
        sum.euler += euler_number(image, shape, c.faces);
    });
    return sum;
}

std::int64_t left_over(const skeleton_case& c, const flags_t& all) {
    std::int64_t count = 0;
    for_each_image(c, all, [&](const image_of_call& image, const flags_t& shape, const flags_t& held) {
        for (std::int64_t p = 0; p < image.cells(); ++p) {
            const auto k = static_cast<std::size_t>(p);
            if (shape[k] == 0 || held[k] != 0 || c.keep == kept_cells::isthmuses) continue;
            const surroundings s = image.round(shape, p);
            count += is_simple(s, image.rank, c.faces) && !(c.keep == kept_cells::ends && is_end(s, c.faces));
        }
    });
    return count;
}

skeleton_case drawn_case(std::uint64_t seed) {
    std::uint64_t state = mix(seed + 77);
    const auto below = [&](std::uint64_t n) { return (state = mix(state)) % n; };
    skeleton_case c;
    const std::size_t rank = std::min<std::size_t>(1 + below(6), 4);
    const std::uint64_t most[] = {20, 12, 6, 5};
    c.batch_axes = rank == 4 || (rank > 1 && below(5) == 0) ? 1 : 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        c.shape.push_back(1 + static_cast<std::int64_t>(below(most[rank - 1])));
        c.ends.push_back(static_cast<border>(below(5) % 3));
    }
    if (below(3) == 0) c.ends.clear();
    const std::uint64_t kind = below(5);
    for (std::size_t axis = 0; axis < rank && kind > 1; ++axis)
        c.spacing.push_back(kind == 2   ? static_cast<double>(1 + below(3))
                            : kind == 3 ? 0.5 * static_cast<double>(1 + below(5))
                                        : 0.75);
    c.keep = static_cast<kept_cells>(below(3)), c.faces = below(2) == 0;
    c.bits = below(2) == 0 ? dtype::boolean : dtype::uint8;
    const std::uint64_t share = 2 + below(9), block = 1 + below(3), anchored = below(4);
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        c.mask.push_back(mix(state + static_cast<std::uint64_t>(i) / block) % 10 < share ? 1 : 0);
        if (anchored == 0) c.anchors.push_back(mix(state + 999 + static_cast<std::uint64_t>(i)) % 9 == 0 ? 1 : 0);
    }
    return c;
}

skeleton_case large_case(const shape_t& shape, double wave_length) {
    skeleton_case c;
    c.shape = shape;
    const std::int64_t nx = shape.back(), ny = shape[shape.size() - 2];
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        const auto x = static_cast<double>(i % nx), y = static_cast<double>(i / nx % ny),
                   z = static_cast<double>(i / nx / ny);
        const double k = 6.28 / wave_length;
        const double wave =
            std::sin(k * x + 0.3 * std::sin(k * z)) + std::cos(1.3 * k * y) + std::sin(0.7 * k * z + k * x);
        c.mask.push_back(wave > -0.2 ? 1 : 0);
    }
    return c;
}

void check_skeletons(const skeleton_runner& run, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t seed = first; seed < share(first, end); ++seed) {
        const skeleton_case c = drawn_case(seed);
        ASSERT_EQ(run(c), expected(c)) << "seed " << seed << ": " << c.text();
    }
}

}  // namespace nearfield::test
