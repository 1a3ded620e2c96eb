// Whole balls on the host: those whose centre has no earlier neighbour, which no crescent makes smaller.
//
// They are few, but most cells of a shape lie in them, so they are painted first and in another way. A thread paints a
// plane of a volume, or a few rows of an image: it raises the rows of all balls there in vectors, and no other thread
// writes these cells meanwhile. Crescents find most cells as large as they are or larger then.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "thickness/host_lone.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "thickness/host.hpp"
#include "thickness/host_tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::thickness::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A centre by its row in the array, counted over planes and images, and its column.
struct lone_ball {
    std::int64_t row;
    std::int32_t x, r2;
};

/// Returns whether no neighbour of a cell comes earlier.
bool is_lone(const plain_call& c, const std::int32_t* at, std::int32_t z, std::int32_t y, std::int32_t x) {
    for (int dz = z > 0 ? -1 : 0; dz <= (z + 1 < c.g.size[0] ? 1 : 0); ++dz)
        for (int dy = y > 0 ? -1 : 0; dy <= (y + 1 < c.g.size[1] ? 1 : 0); ++dy)
            for (int dx = x > 0 ? -1 : 0; dx <= (x + 1 < c.g.size[2] ? 1 : 0); ++dx) {
                const std::int64_t apart = dz * c.g.step(0) + dy * c.g.step(1) + dx;
                if (at[apart] > *at || (at[apart] == *at && apart < 0)) return false;
            }
    return true;
}

/// Lists the lone centres of a row, except for those with neighbours across periodic ends. Vectors find the cells that
/// are as large as those beside them in other rows.
void list_row(const plain_call& c, std::int64_t row, std::vector<lone_ball>& found) {
    const std::int32_t width = c.g.size[2], y = static_cast<std::int32_t>(row % c.g.size[1]),
                       z = static_cast<std::int32_t>(row / c.g.size[1] % c.g.size[0]);
    if (c.g.at_end(0, z) || c.g.at_end(1, y)) return;
    const std::int32_t* const at = c.field + row * width;
    const std::int32_t *up = y > 0 ? at - c.g.step(1) : at, *low = y + 1 < c.g.size[1] ? at + c.g.step(1) : at;
    const std::int32_t *above = z > 0 ? at - c.g.step(0) : at, *below = z + 1 < c.g.size[0] ? at + c.g.step(0) : at;
    constexpr std::int32_t some = 64;
    for (std::int32_t from = 0; from < width; from += some) {
        std::uint8_t high[some];
        std::uint64_t word;
        const std::int32_t count = std::min(some, width - from);
        for (std::int32_t k = 0; k < count; ++k) {
            const std::int32_t x = from + k, most2 = std::max(std::max(up[x], low[x]), std::max(above[x], below[x]));
            high[k] = (at[x] >= lone_r2) & (at[x] >= most2);
        }
        std::fill(high + count, high + some, std::uint8_t{0});
        for (std::int32_t k = 0; k < some; k += 8) {
            std::memcpy(&word, high + k, sizeof word);
            if (word == 0) continue;
            for (std::int32_t x = from + k; x < std::min(from + k + 8, width); ++x)
                if (high[x - from] != 0 && !c.g.at_end(2, x) && is_lone(c, at + x, z, y, x))
                    found.push_back({row, x, at[x]});
        }
    }
}

/// Raises `count` cells to at least r2. The last vector overlaps the one before it.
template <class D>
void raise_by(D d, std::int32_t* cells, std::int32_t count, std::int32_t r2) {
    const auto value = hn::Set(d, r2);
    const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
    for (std::int32_t k = 0; k < count; k += lanes) {
        std::int32_t* const at = cells + std::min(k, count - lanes);
        hn::StoreU(hn::Max(hn::LoadU(d, at), value), d, at);
    }
}
void raise_row(std::int32_t* cells, std::int32_t count, std::int32_t r2) {
    const hn::CappedTag<std::int32_t, 16> wide;
    const hn::CappedTag<std::int32_t, 4> few;
    if (count >= static_cast<std::int32_t>(hn::Lanes(wide))) raise_by(wide, cells, count, r2);
    else if (count >= static_cast<std::int32_t>(hn::Lanes(few))) raise_by(few, cells, count, r2);
    else
        for (std::int32_t k = 0; k < count; ++k) cells[k] = std::max(cells[k], r2);
}

/// Calls body(place) for a centre, and for its copies across the ends of a periodic axis that reach first .. last.
template <class Body>
void for_copies(const grid3& g, int axis, std::int64_t place, std::int64_t reach, std::int64_t first, std::int64_t last,
                const Body& body) {
    if (!g.wraps[axis]) return body(place);
    const std::int64_t size = g.size[axis], lowest = first - reach;
    for (place = lowest + wrapped(place - lowest, size); place <= last + reach; place += size) body(place);
}

/// Returns how many cells along an axis a ball reaches of whose squared radius `rest` is left.
std::int64_t reach_of(std::int64_t rest, std::int32_t weight) {
    return floor_root(static_cast<std::int32_t>(weight == 1 ? rest : rest / weight));
}

/// Paints what rows first .. last - 1, all of one plane, hold of a ball.
void paint_rows(const plain_call& c, const lone_ball& ball, std::int64_t first, std::int64_t last) {
    const std::int64_t rows = c.g.size[1], top = first / rows * rows, z = first / rows % c.g.size[0];
    const std::int32_t(&weight)[3] = c.m.weight;
    const std::int64_t reach_z = reach_of(ball.r2 - 1, weight[0]);
    for_copies(c.g, 0, ball.row / rows % c.g.size[0], reach_z, z, z, [&](std::int64_t at_z) {
        const std::int64_t rest = ball.r2 - 1 - weight[0] * (z - at_z) * (z - at_z);
        if (rest < 0) return;
        const std::int64_t low = first - top, high = last - 1 - top, reach = reach_of(rest, weight[1]);
        for_copies(c.g, 1, ball.row % rows, reach, low, high, [&](std::int64_t y) {
            for (std::int64_t k = std::max(low, y - reach); k <= std::min(high, y + reach); ++k) {
                const std::int64_t width = c.g.size[2],
                                   half = reach_of(rest - weight[1] * (k - y) * (k - y), weight[2]);
                for_copies(c.g, 2, ball.x, half, 0, width - 1, [&](std::int64_t x) {
                    const std::int64_t from = std::max<std::int64_t>(x - half, 0), to = std::min(x + half, width - 1);
                    raise_row(c.painted + (top + k) * width + from, static_cast<std::int32_t>(to - from + 1), ball.r2);
                });
            }
        });
    });
}

void paint_lone(workers& team, const plain_call& c) {
    const std::int64_t planes = c.g.images * c.g.size[0], rows = c.g.size[1];
    std::vector<std::vector<lone_ball>> lists(static_cast<std::size_t>(team.threads()));
    team.for_each(planes * rows, 64, 0, [&](std::int64_t first, std::int64_t last, int thread) {
        for (std::int64_t row = first; row < last; ++row) list_row(c, row, lists[static_cast<std::size_t>(thread)]);
    });
    std::vector<lone_ball> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    if (all.empty()) return;
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
    std::int32_t largest2 = 0;
    for (const lone_ball& ball : all) largest2 = std::max(largest2, ball.r2);
    const bool volume = c.g.size[0] > 1;
    const std::int64_t image_rows = c.g.size[0] * rows;
    // A part is one plane, or 64 rows of an image. Balls are in the order of their rows, so those that may reach a part
    // follow each other, unless that axis is periodic.
    const int across = volume ? 0 : 1;
    const std::int64_t part = volume ? rows : std::min<std::int64_t>(rows, 64), parts = (rows + part - 1) / part;
    const std::int64_t reach = c.g.wraps[across] ? c.g.size[across] : reach_of(largest2 - 1, c.m.weight[across]);
    const std::int64_t far = volume ? reach * rows + rows : reach;
    team.for_each(planes * parts, 1, 0, [&](std::int64_t one, std::int64_t end, int) {
        for (; one < end; ++one) {
            const std::int64_t plane = one / parts, first = plane * rows + one % parts * part,
                               last = std::min(first + part, (plane + 1) * rows),
                               image = first / image_rows * image_rows;
            const auto before = [](const lone_ball& a, std::int64_t row) { return a.row < row; };
            auto ball = std::lower_bound(all.begin(), all.end(), std::max(first - far, image), before);
            const std::int64_t behind = std::min(last + far, image + image_rows);
            for (; ball != all.end() && ball->row < behind; ++ball) paint_rows(c, *ball, first, last);
        }
    });
}

}  // namespace nearfield::thickness::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::thickness {

HWY_EXPORT(paint_lone);
void paint_lone(workers& team, const plain_call& call) { HWY_DYNAMIC_DISPATCH(paint_lone)(team, call); }

}  // namespace nearfield::thickness
#endif
