#include "geodesic/cases.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace nearfield::test {
namespace {

constexpr std::int64_t none64 = std::numeric_limits<std::int64_t>::max();

std::vector<priced_step> drawn_steps(int axes, std::uint64_t kind, std::uint64_t bits) {
    const auto price = [&](int k) { return static_cast<std::int32_t>(1 + (bits >> (8 * k)) % 9); };
    std::vector<std::int32_t> by;
    for (int k = 0; k < axes; ++k) by.push_back(price(k));
    by.resize(1 + bits % static_cast<std::uint64_t>(axes));
    if (kind == 0 && axes == 2) return knight_steps();
    if (kind == 1 && axes <= 3) return euclidean_steps(axes, axes == 1 ? 1 : 1 + static_cast<int>(bits % 3), {}, 64);
    if (kind == 2) by.assign(by.size(), 1 << 28);  // paths that need the wider key
    if (kind == 3) by.front() = 1, by.back() = 200;
    return chamfer_steps(axes, by);
}

}  // namespace

geodesic_case drawn(std::uint64_t seed, std::int64_t longest_2d) {
    std::uint64_t state = seed << 24;
    const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
    geodesic_case c;
    const auto axes = static_cast<int>(1 + draw(4));
    const std::int64_t longest[] = {longest_2d * 8, longest_2d, longest_2d / 2 + 1, 4};
    if (draw(5) == 0) c.batch_axes = 1, c.shape.push_back(1 + static_cast<std::int64_t>(draw(3)));
    for (int k = 0; k < axes; ++k)
        c.shape.push_back(1 + static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(longest[axes - 1]))));
    c.steps = drawn_steps(axes, draw(6), mix(state++));
    for (std::size_t k = 0; k < c.shape.size(); ++k) c.ends.push_back(draw(3) == 0 ? border::periodic : border::open);
    c.cut_corners = draw(2) == 0, c.rule = draw(2) == 0 ? cost_rule::entered : cost_rule::both;
    if (draw(6) == 0) c.max_cost = static_cast<double>(draw(60));
    const auto walls = draw(7), density = 1 + draw(40), dearest = 1 + draw(300);
    const bool costs = draw(3) == 0 && c.steps.front().price < 1 << 20;
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        c.mask.push_back(draw(10) < walls ? 0 : 1);
        c.seeds.push_back(draw(density) == 0 ? static_cast<std::int64_t>(1 + draw(9)) - 4 : 0);
        if (costs) c.cost.push_back(static_cast<std::int64_t>(draw(dearest + 1)));
    }
    return c;
}

geodesic_case maze(std::uint64_t seed, std::int64_t n, std::int64_t wide) {
    geodesic_case c;
    c.shape = {n, n}, c.mask.assign(static_cast<std::size_t>(n * n), 0), c.seeds.assign(c.mask.size(), 0);
    const std::int64_t pitch = wide + 1, rooms = (n - 1) / pitch;
    const auto open = [&](std::int64_t y, std::int64_t x, std::int64_t rows, std::int64_t columns) {
        for (std::int64_t r = y; r < y + rows; ++r)
            for (std::int64_t s = x; s < x + columns; ++s) c.mask[static_cast<std::size_t>(r * n + s)] = 1;
    };
    std::vector<bool> seen(static_cast<std::size_t>(rooms * rooms));
    std::vector<std::int64_t> way{0};  // path of the depth-first search
    std::uint64_t state = seed << 24;
    for (seen[0] = true, open(1, 1, wide, wide); !way.empty();) {
        const std::int64_t y = way.back() / rooms, x = way.back() % rooms;
        std::array<std::int64_t, 4> next{};
        std::size_t count = 0;
        for (const std::int64_t by : {-rooms, rooms, std::int64_t{-1}, std::int64_t{1}}) {
            const std::int64_t to = way.back() + by;
            const bool inside = to >= 0 && to < rooms * rooms && (to / rooms == y || to % rooms == x);
            if (inside && !seen[static_cast<std::size_t>(to)]) next[count++] = to;
        }
        if (count == 0) {
            way.pop_back();
            continue;
        }
        const std::int64_t to = next[mix(state++) % count];
        const std::int64_t top = std::min(y, to / rooms), left = std::min(x, to % rooms);
        open(1 + top * pitch, 1 + left * pitch, to % rooms == x ? wide + pitch : wide,
             to % rooms == x ? wide : wide + pitch);
        seen[static_cast<std::size_t>(to)] = true, way.push_back(to);
    }
    c.seeds[static_cast<std::size_t>(n + 1)] = 1;
    c.steps = chamfer_steps(2, std::array<std::int32_t, 1>{1});
    return c;
}

geodesic_case spiral(std::int64_t n, std::vector<std::int64_t>& way) {
    geodesic_case c;
    c.shape = {n, n}, c.mask.assign(static_cast<std::size_t>(n * n), 0), c.seeds.assign(c.mask.size(), 0);
    std::int64_t y = 0, x = 0, dy = 0, dx = 1;
    const auto open = [&](std::int64_t r, std::int64_t s) {
        return r >= 0 && s >= 0 && r < n && s < n && c.mask[static_cast<std::size_t>(r * n + s)] != 0;
    };
    const auto inside = [&](std::int64_t r, std::int64_t s) { return r >= 0 && s >= 0 && r < n && s < n; };
    for (int turns = 0; turns < 2;) {
        if (!open(y, x)) way.push_back(y * n + x), c.mask[static_cast<std::size_t>(y * n + x)] = 1;
        const bool free = inside(y + dy, x + dx) && !open(y + dy, x + dx) && !open(y + 2 * dy, x + 2 * dx);
        if (free) y += dy, x += dx, turns = 0;
        else std::swap(dy, dx), dx = -dx, ++turns;
    }
    c.seeds[static_cast<std::size_t>(way.front())] = 1;
    c.steps = chamfer_steps(2, std::array<std::int32_t, 1>{1});
    return c;
}

geodesic_case emptied(const shape_t& shape, bool open) {
    geodesic_case c;
    c.shape = shape;
    c.mask.assign(static_cast<std::size_t>(cells_of(shape)), open ? 1 : 0), c.seeds.assign(c.mask.size(), 0);
    c.steps = chamfer_steps(static_cast<int>(shape.size()), std::array<std::int32_t, 1>{1});
    return c;
}

geodesic_case wide_spiral(std::int64_t n, std::int64_t wide) {
    std::vector<std::int64_t> way;
    const geodesic_case narrow = spiral((n + wide - 1) / wide, way);
    geodesic_case c = emptied({n, n}, false);
    for (std::int64_t y = 0; y < n; ++y)
        for (std::int64_t x = 0; x < n; ++x)
            c.mask[static_cast<std::size_t>(y * n + x)] =
                narrow.mask[static_cast<std::size_t>(y / wide * narrow.shape[0] + x / wide)];
    return c;
}

std::size_t first_free(const geodesic_case& c) {
    return static_cast<std::size_t>(std::find(c.mask.begin(), c.mask.end(), 1) - c.mask.begin());
}

geodesic_result on_host(const geodesic_case& c, int threads, bool sites) {
    geodesic_result r;
    const auto cells = c.mask.size();
    r.cost.assign(cells, 7), r.index.assign(cells, -1), r.label.assign(cells, 0);
    const std::vector<std::int32_t> costs(c.cost.begin(), c.cost.end());
    geodesic_fields<host> out;
    out.cost = any_output<host>::contiguous(r.cost.data(), dtype::int64, c.shape);
    if (sites) out.index = any_output<host>::contiguous(r.index.data(), dtype::int64, c.shape);
    if (sites) out.label = any_output<host>::contiguous(r.label.data(), dtype::int64, c.shape);
    geodesic(host{threads, {}}, any_input<host>::contiguous(c.mask.data(), dtype::uint8, c.shape),
             any_input<host>::contiguous(c.seeds.data(), dtype::int64, c.shape), out, c.options(),
             c.cost.empty() ? any_input<host>{} : any_input<host>::contiguous(costs.data(), dtype::int32, c.shape));
    for (std::int64_t& each : r.cost) each = each == none64 ? -1 : each;
    return r;
}

}  // namespace nearfield::test
