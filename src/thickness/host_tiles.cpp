// The fast host path for unit grids without periodic axes. Compiled once per instruction set, so that the compiler
// uses the machine's widest vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "thickness/host_tiles.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/scratch.hpp"
#include "thickness/host.hpp"
#include "thickness/host_tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::thickness::HWY_NAMESPACE {

/// Balls up to this squared radius lie within a centre's 26 neighbours.
constexpr std::int32_t small_r2 = 4;

/// Numbers of centres whose boxes, of rows whose cells, and of cells whose cache lines are waited for together.
constexpr int centres_at_once = 256, rows_at_once = 16, puts_at_once = 128;

/// Paints the centres of a few planes and rows, whose values it copies with a rim of zeros.
template <int Axes>
class tile {
public:
    explicit tile(const plain_call& call, std::int32_t* memory)
        : c_(call),
          row_cells_(call.g.size[2] + 2),
          plane_cells_(row_cells_ * (call.rows + 2)),
          values_(memory),
          faces_(memory + plane_cells_ * (Axes == 3 ? call.planes + 2 : 1)),
          corners_(faces_ + plane_cells_ * (Axes == 3 ? 3 : 1)) {
        for (int k = 0; k < 27; ++k) {
            const int z = k / 9 - 1, y = k / 3 % 3 - 1, x = k % 3 - 1;
            const bool exists = k != 13 && (Axes == 3 || z == 0);
            apart_[k] = exists ? z * plane_cells_ + y * row_cells_ + x : 0;
            tie_[k] = !exists ? unbound<std::int32_t>() : apart_[k] < 0 ? 0 : 1;
            length2_[k] = (z != 0) + (y != 0) + (x != 0);
        }
    }

    static std::int64_t memory_cells(const plain_call& call) {
        const std::int64_t plane = std::int64_t{call.g.size[2] + 2} * (call.rows + 2);
        return plane * (Axes == 3 ? call.planes + 2 + 6 : 3);
    }

    void solve(std::int64_t image, std::int32_t z, std::int32_t y) {
        field_ = c_.field + image * c_.g.image_cells(), painted_ = c_.painted + image * c_.g.image_cells();
        z0_ = z, y0_ = y;
        z1_ = std::min(z + c_.planes, c_.g.size[0]), y1_ = std::min(y + c_.rows, c_.g.size[1]);
        load();
        if (Axes == 3) surround(-1);
        surround(0);
        for (std::int32_t k = 0; k < z1_ - z0_; ++k) {
            if (Axes == 3) surround(k + 1);
            for (std::int32_t row = 1; row <= y1_ - y0_; ++row) solve_row(k, row);
        }
        put_all();
    }

private:
    static constexpr int rim = Axes == 3 ? 1 : 0;

    std::int32_t* values(std::int32_t k) const { return values_ + (k + rim) * plane_cells_; }
    std::int32_t* ring(std::int32_t* of, std::int32_t k) const {
        return of + (k + 3) % (Axes == 3 ? 3 : 1) * plane_cells_;
    }

    void load() {
        const std::int32_t planes = z1_ - z0_;
        std::fill_n(values_, plane_cells_ * (planes + 2 * rim), 0);
        for (std::int32_t k = -rim; k < planes + rim; ++k)
            for (std::int32_t y = std::max(0, y0_ - 1); y < std::min(c_.g.size[1], y1_ + 1); ++y)
                if (z0_ + k >= 0 && z0_ + k < c_.g.size[0])
                    std::memcpy(values(k) + (y - y0_ + 1) * row_cells_ + 1,
                                field_ + (std::int64_t{z0_ + k} * c_.g.size[1] + y) * c_.g.size[2],
                                sizeof(std::int32_t) * static_cast<std::size_t>(c_.g.size[2]));
    }

    /// Computes the largest of the four faces and of the four corners of each cell, within plane k.
    void surround(std::int32_t k) {
        for (std::int64_t row = 1; row <= y1_ - y0_; ++row) {
            const std::int32_t* at = values(k) + row * row_cells_;
            const std::int32_t *up = at - row_cells_, *low = at + row_cells_;
            std::int32_t *face = ring(faces_, k) + row * row_cells_, *corner = ring(corners_, k) + row * row_cells_;
            for (std::int64_t x = 1; x <= c_.g.size[2]; ++x) {
                face[x] = std::max(std::max(at[x - 1], at[x + 1]), std::max(up[x], low[x]));
                corner[x] = std::max(std::max(up[x - 1], up[x + 1]), std::max(low[x - 1], low[x + 1]));
            }
        }
    }

    void solve_row(std::int32_t k, std::int32_t row) {
        const std::int32_t width = c_.g.size[2];
        const std::int32_t* const at = values(k) + row * row_cells_ + 1;
        std::array<std::int32_t, centres_at_once> found;
        std::array<std::uint8_t, centres_at_once> kept;
        int count = 0;
        for (std::int32_t x = 0; x < width; x += centres_at_once) {
            const std::int32_t length = std::min(centres_at_once, width - x);
            keep(k, row, x, length, kept.data());
            for (std::int32_t j = 0; j < length; ++j) {
                if (kept[static_cast<std::size_t>(j)] == 0) continue;
                if (at[x + j] <= small_r2) {
                    paint_small(at[x + j], {z0_ + k, y0_ + row - 1, x + j});
                    continue;
                }
                found[static_cast<std::size_t>(count++)] = x + j;
                if (count == centres_at_once) paint(at, found.data(), count, k, row), count = 0;
            }
        }
        paint(at, found.data(), count, k, row);
    }

    /// Marks the centres among `length` cells from x on whose ball lies in no neighbour's ball.
    void keep(std::int32_t k, std::int32_t row, std::int32_t x, std::int32_t length, std::uint8_t* kept) const {
        const std::int64_t from = row * row_cells_ + 1 + x;
        const std::int32_t *at = values(k) + from, *face = ring(faces_, k) + from, *corner = ring(corners_, k) + from;
        if constexpr (Axes == 2) {
            for (std::int32_t j = 0; j < length; ++j) kept[j] = is_kept(at[j], face[j], corner[j], 0);
        } else {
            const std::int32_t *low = at - plane_cells_, *high = at + plane_cells_;
            const std::int32_t *low_face = ring(faces_, k - 1) + from, *high_face = ring(faces_, k + 1) + from;
            const std::int32_t *low_corner = ring(corners_, k - 1) + from, *high_corner = ring(corners_, k + 1) + from;
            for (std::int32_t j = 0; j < length; ++j)
                kept[j] = is_kept(at[j], std::max(face[j], std::max(low[j], high[j])),
                                  std::max(corner[j], std::max(low_face[j], high_face[j])),
                                  std::max(low_corner[j], high_corner[j]));
        }
    }
    /// Table test for one cell; it keeps all balls beyond the table, which are tested again later.
    std::uint8_t is_kept(std::int32_t r2, std::int32_t beside, std::int32_t edge, std::int32_t corner) const {
        const std::uint32_t need = c_.table[std::min(std::max(r2, 0), table_size - 1)];
        const bool left = (beside - r2 < static_cast<std::int32_t>(need & 1023)) &
                          (edge - r2 < static_cast<std::int32_t>(need >> 10 & 1023)) &
                          (corner - r2 < static_cast<std::int32_t>(need >> 20));
        return (r2 > 1) & (left | (r2 >= table_size));  // a ball of one cell is there from the start
    }

    /// Paints a ball within the 26 neighbours whole.
    void paint_small(std::int32_t r2, const std::array<std::int32_t, 3>& place) const {
        const auto clip = [&](std::size_t axis, std::int32_t way) {
            return way < 0 ? std::max(place[axis] - 1, 0) : std::min(place[axis] + 1, c_.g.size[axis] - 1);
        };
        for (std::int32_t z = clip(0, -1); z <= clip(0, 1); ++z)
            for (std::int32_t y = clip(1, -1); y <= clip(1, 1); ++y)
                for (std::int32_t x = clip(2, -1); x <= clip(2, 1); ++x)
                    if ((z != place[0]) + (y != place[1]) + (x != place[2]) < r2)
                        raise(painted_[z * c_.g.step(0) + y * c_.g.step(1) + x], r2, c_.shared);
    }

    void paint(const std::int32_t* at, const std::int32_t* found, int count, std::int32_t k, std::int32_t row) {
        if (count == 0) return;
        make_boxes(at, found, count);
        for (int j = 0; j < count; ++j) {
            box b;
            bool empty = false;
            b.margin = margin_[j];
            for (int axis = 0; axis < 3; ++axis) {
                b.down[axis] = box_[2 * axis][j], b.up[axis] = box_[2 * axis + 1][j];
                empty = empty || b.down[axis] + b.up[axis] < -2 * b.margin;
            }
            if (empty) continue;
            const std::int32_t place[3] = {z0_ + k, y0_ + row - 1, found[j]};
            const frame f = frame_of<Axes>(b, place, c_.g);
            if (f.first + f.last >= 0) paint_centre(at + found[j], place, f);
        }
    }

    /// box_of() for many centres together, without the eight corners, which cut off less than their share of the time.
    void make_boxes(const std::int32_t* at, const std::int32_t* found, int count) {
        for (int j = 0; j < count; ++j) {
            const float whole = static_cast<float>(at[found[j]]), radius = std::sqrt(whole);
            margin_[j] = 0.02F + radius * 2e-6F;
            for (auto& side : box_) side[j] = radius;
        }
        for (int z = -rim; z <= rim; ++z)
            for (int y = -1; y <= 1; ++y)
                for (int x = -1; x <= 1; ++x)
                    if ((z != 0 || y != 0 || x != 0) && z * y * x == 0) cut(at, found, count, {z, y, x});
    }
    void cut(const std::int32_t* at, const std::int32_t* found, int count, const std::array<int, 3>& step) {
        const int axes = (step[0] != 0) + (step[1] != 0) + (step[2] != 0);
        const std::int64_t apart = step[0] * plane_cells_ + step[1] * row_cells_ + step[2];
        const std::int32_t tie = apart < 0 ? 0 : 1;
        const float part = 1.0F / static_cast<float>(axes), along = std::sqrt(1 - part), lot = 1e9F;
        alignas(64) float own[centres_at_once], side[centres_at_once];
        for (int j = 0; j < count; ++j) {
            const std::int32_t r2 = at[found[j]], other2 = at[found[j] + apart], k = bound_of(other2 - r2 - axes);
            const float kf = static_cast<float>(k), centre = kf * part;
            const float cap = static_cast<float>(r2) * (1 + 6e-7F) - kf * centre;
            const float disc = std::sqrt(std::max(cap, 0.0F));
            const bool first = other2 - r2 >= tie, below = first & (k < 0);
            own[j] = (axes == 1 ? first : below) ? centre + along * disc : lot;
            side[j] = below ? disc : lot;
        }
        for (int axis = Axes == 3 ? 0 : 1; axis < 3; ++axis) {
            const int towards = step[static_cast<std::size_t>(axis)];
            float *down = box_[2 * axis], *up = box_[2 * axis + 1];
            if (towards > 0) lower(up, own, count);
            else if (towards < 0) lower(down, own, count);
            else lower(up, side, count), lower(down, side, count);
        }
    }
    static void lower(float* to, const float* by, int count) {
        for (int j = 0; j < count; ++j) to[j] = std::min(to[j], by[j]);
    }

    void paint_centre(const std::int32_t* at, const std::int32_t (&place)[3], const frame& f) {
        const std::int32_t r2 = *at;
        if (r2 >= table_size && is_in_neighbour(at)) return;
        std::int32_t cover[27], most_cover = never<std::int32_t>();
        for (int k = 0; k < 27; ++k) {
            const std::int32_t more = at[apart_[k]] - r2;
            cover[k] = more >= tie_[k] ? more - length2_[k] : never<std::int32_t>();
            most_cover = most(most_cover, cover[k]);
        }
        if (r2 >= lone_r2 && most_cover == never<std::int32_t>()) return;  // paint_lone() has painted it
        const turned<std::int32_t, true> w{1, 1, 1};
        for (std::int32_t s = -f.first; s <= f.last; ++s) {
            slice<std::int32_t> t = slice_at(cover, r2, w, f.axis, s);
            if (narrow(t, w, f.below, f.above)) paint_slice(t, r2, place, f.axis, s);
        }
    }
    bool is_in_neighbour(const std::int32_t* at) const {
        std::int32_t around[4] = {0, 0, 0, 0};
        for (int k = 0; k < 27; ++k) {
            const int z = k / 9 - 1, y = k / 3 % 3 - 1, x = k % 3 - 1;
            if (Axes == 2 && z != 0) continue;
            std::int32_t& most2 = around[(z != 0) + (y != 0) + (x != 0)];
            most2 = std::max(most2, at[z * plane_cells_ + y * row_cells_ + x]);
        }
        return is_contained(c_.table, *at, around[1], around[2], around[3]);
    }

    void paint_slice(const slice<std::int32_t>& t, std::int32_t r2, const std::int32_t (&place)[3], int axis,
                     std::int32_t s) {
        const int along = row_axis(axis), middle = middle_axis(axis);
        const std::int64_t step = c_.g.step(along), rows = c_.g.step(middle);
        const std::int32_t before = place[along], behind = c_.g.size[along] - 1 - before;
        std::int32_t* const home =
            painted_ + place[0] * c_.g.step(0) + place[1] * c_.g.step(1) + place[2] + s * c_.g.step(axis);
        leftovers some;
        for (std::int32_t first = -t.below; first <= t.above; first += rows_at_once) {
            for (std::uint32_t left = find(t, first, some); left != 0; left &= left - 1) {
                const int j = std::countr_zero(left);
                std::int32_t* const line = home + (first + j) * rows;
                put_row(line, -step, some.left[j], std::min(some.half[j], before), r2);
                put_row(line, step, some.right[j], std::min(some.half[j], behind), r2);
            }
        }
    }
    /// Uncovered cells of rows, as in leftover.
    struct leftovers {
        alignas(64) std::int32_t half[rows_at_once], left[rows_at_once], right[rows_at_once];
    };
    /// row_of() and half_of() for many rows of a slice, from row `first` on; returns a bit for each row that has some.
    static std::uint32_t find(const slice<std::int32_t>& t, std::int32_t first, leftovers& some) {
        const std::int32_t *const c = t.cover, none = -1;
        std::uint32_t some_left = 0;
        for (int j = 0; j < rows_at_once; ++j) {
            const std::int32_t b = first + j, rest = t.rest - b * b, half = root_or(rest, none);
            const std::int32_t here = root_or(rest + most(c[1] - 2 * b, c[4], c[7] + 2 * b), none);
            const std::int32_t to = rest + most(c[2] - 2 * b, c[5], c[8] + 2 * b), ahead = root_or(to + 1, none);
            const std::int32_t from = rest + most(c[0] - 2 * b, c[3], c[6] + 2 * b), behind = root_or(from + 1, none);
            const std::int32_t left = most(here, to < 0 ? none : ahead - 1, from < 0 ? none : behind + 1);
            const std::int32_t right = most(here, to < 0 ? none : ahead + 1, from < 0 ? none : behind - 1);
            some.half[j] = half, some.left[j] = least(left, half) + 1;
            some.right[j] = left < 0 ? 1 : least(right, half) + 1;
            const bool any = (b <= t.above) & (least(some.left[j], some.right[j]) <= half);
            some_left |= any ? 1U << j : 0U;
        }
        return some_left;
    }
    /// floor_root() without branches; `other` if n is negative.
    static std::int32_t root_or(std::int32_t n, std::int32_t other) {
        const std::int32_t inside = most(n, 0);
        auto root = static_cast<std::int32_t>(std::sqrt(static_cast<float>(inside) + 0.5F));
        root -= root * root > inside ? 1 : 0;
        root += (root + 1) * (root + 1) <= inside ? 1 : 0;
        return n < 0 ? other : root;
    }

    /// Raises cells first .. last of a row to r2: a few of them later, whose cache lines are on the way until then.
    void put_row(std::int32_t* line, std::int64_t step, std::int32_t first, std::int32_t last, std::int32_t r2) {
        constexpr std::int32_t few = 8;
        for (std::int32_t a = first; a <= last; ++a) {
            std::int32_t* const cell = line + a * step;
            if (last - first >= few) {
                raise(*cell, r2, c_.shared);
                continue;
            }
            __builtin_prefetch(cell, 1);
            cell_[puts_] = cell, value_[puts_] = r2;
            if (++puts_ == puts_at_once) put_all();
        }
    }
    void put_all() {
        for (int j = 0; j < puts_; ++j) raise(*cell_[j], value_[j], c_.shared);
        puts_ = 0;
    }

    const plain_call& c_;
    std::int64_t row_cells_, plane_cells_;
    std::int64_t apart_[27];              ///< offsets of the neighbours
    std::int32_t tie_[27], length2_[27];  ///< how much larger an earlier neighbour is, and its squared distance
    std::int32_t *values_, *faces_, *corners_;
    const std::int32_t* field_ = nullptr;
    std::int32_t* painted_ = nullptr;
    std::int32_t z0_ = 0, z1_ = 0, y0_ = 0, y1_ = 0;
    alignas(64) float box_[6][centres_at_once];
    alignas(64) float margin_[centres_at_once];
    std::int32_t* cell_[puts_at_once];
    std::int32_t value_[puts_at_once];
    int puts_ = 0;
};

template <int Axes>
void paint_tiles(workers& team, const plain_call& call) {
    const std::int64_t down = (call.g.size[0] + call.planes - 1) / call.planes,
                       across = (call.g.size[1] + call.rows - 1) / call.rows;
    std::vector<host_scratch<std::int32_t>> memory(static_cast<std::size_t>(team.threads()));
    const std::int64_t weight = std::int64_t{call.planes} * call.rows * call.g.size[2];
    team.for_each(call.g.images * down * across, 1, weight, [&](std::int64_t first, std::int64_t last, int thread) {
        host_scratch<std::int32_t>& mine = memory[static_cast<std::size_t>(thread)];
        if (mine.get() == nullptr) mine = host_scratch<std::int32_t>(tile<Axes>::memory_cells(call));
        tile<Axes> one(call, mine.get());
        for (std::int64_t k = first; k < last; ++k)
            one.solve(k / (down * across), static_cast<std::int32_t>(k / across % down * call.planes),
                      static_cast<std::int32_t>(k % across * call.rows));
    });
}

void paint(workers& team, const plain_call& call) {
    if (call.g.size[0] == 1) paint_tiles<2>(team, call);
    else paint_tiles<3>(team, call);
}

}  // namespace nearfield::thickness::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::thickness {
namespace {

HWY_EXPORT(paint);

std::array<std::uint32_t, table_size> table_for(int axes) {
    std::array<std::uint32_t, table_size> table{};
    for (std::int32_t r2 = 1; r2 < table_size; ++r2) table[static_cast<std::size_t>(r2)] = table_entry(r2, axes);
    return table;
}

}  // namespace

void paint_plain(workers& team, const grid3& g, const std::int32_t* field, std::int32_t* painted) {
    static const auto of_images = table_for(2), of_volumes = table_for(3);
    plain_call call{g, field, painted};
    call.table = g.size[0] == 1 ? of_images.data() : of_volumes.data();
    call.shared = team.threads() > 1;
    // A copied tile of about 64 Ki cells per plane stays in the second-level cache together with its neighbours.
    constexpr std::int32_t plane_cells = 1 << 15, most_rows = 64;
    call.rows = std::clamp(plane_cells / std::max(g.size[2], 1), 1, most_rows);
    call.planes = g.size[0] == 1 ? 1 : g.size[2] <= plane_cells ? 8 : 2;
    paint_lone(team, call);
    HWY_DYNAMIC_DISPATCH(paint)(team, call);
}

}  // namespace nearfield::thickness
#endif
