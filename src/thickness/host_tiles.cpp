// The fast host path: squared radii of 32 bits. Compiled once per instruction set, so that the compiler uses the
// machine's widest vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "thickness/host_tiles.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/scratch.hpp"
#include "thickness/host.hpp"
#include "thickness/host_tiles.hpp"
#include "thickness/host_vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::thickness::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Balls up to this squared radius lie within a centre's 26 neighbours.
constexpr std::int32_t small_r2 = 4;

/// Number of centres whose boxes are computed together.
constexpr int centres_at_once = 256;

/// Paints the centres of a few planes and rows, whose values it copies with a rim of zeros. `Unit`: all weights are 1.
template <int Axes, bool Unit>
class tile {
public:
    explicit tile(const plain_call& call, std::int32_t* memory)
        : c_(call),
          lightest_(std::min({call.m.weight[0], call.m.weight[1], call.m.weight[2]})),
          row_cells_(call.g.size[2] + 2),
          plane_cells_(row_cells_ * (call.rows + 2)),
          values_(memory),
          raise_(call) {
        for (int axis = 0; axis < 3; ++axis)
            for (int k = 0; k < most_around; ++k) {
                int step[3];
                step[axis] = k / 9 - 1, step[middle_axis(axis)] = k / 3 % 3 - 1, step[row_axis(axis)] = k % 3 - 1;
                const bool exists = k != 13 && k < 27 && (Axes == 3 || step[0] == 0);
                around& to = around_[axis];
                to.apart[k] =
                    exists ? static_cast<std::int32_t>(step[0] * plane_cells_ + step[1] * row_cells_) + step[2] : 0;
                to.tie[k] = !exists ? unbound<std::int32_t>() : to.apart[k] < 0 ? 0 : 1;
                to.length2[k] = length2(call.m, step[0], step[1], step[2]);
            }
    }

    static std::int64_t memory_cells(const plain_call& call) {
        const std::int64_t plane = std::int64_t{call.g.size[2] + 2} * (call.rows + 2);
        return plane * (Axes == 3 ? call.planes + 2 : 1);
    }

    void solve(std::int64_t image, std::int32_t z, std::int32_t y) {
        field_ = c_.field + image * c_.g.image_cells(), painted_ = c_.painted + image * c_.g.image_cells();
        z0_ = z, y0_ = y;
        z1_ = std::min(z + c_.planes, c_.g.size[0]), y1_ = std::min(y + c_.rows, c_.g.size[1]);
        load();
        for (std::int32_t k = 0; k < z1_ - z0_; ++k) {
            if (c_.g.at_end(0, z0_ + k)) continue;
            for (std::int32_t row = 1; row <= y1_ - y0_; ++row)
                if (!c_.g.at_end(1, y0_ + row - 1)) solve_row(k, row);
            paint(k);
        }
        raise_.finish();
    }

private:
    static constexpr int rim = Axes == 3 ? 1 : 0;

    std::int32_t* values(std::int32_t k) const { return values_ + (k + rim) * plane_cells_; }

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

    /// Finds the centres of a row of whose ball neighbours leave a part; the last vector overlaps the one before it.
    void solve_row(std::int32_t k, std::int32_t row) {
        const hn::CappedTag<std::int32_t, 16> wide;
        const hn::CappedTag<std::int32_t, 1> one;
        if (c_.g.size[2] >= static_cast<std::int32_t>(hn::Lanes(wide))) keep_row(wide, k, row);
        else keep_row(one, k, row);
    }
    template <class D>
    void keep_row(D d, std::int32_t k, std::int32_t row) {
        const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
        const std::int32_t width = c_.g.size[2], start = static_cast<std::int32_t>(row * row_cells_) + 1;
        for (std::int32_t next = 0; next < width; next += lanes) {
            const std::int32_t x = std::min(next, width - lanes);
            // A ball of one cell is there from the start.
            if (hn::AllFalse(d, hn::Gt(hn::LoadU(d, values(k) + start + x), hn::Set(d, lightest_)))) continue;
            const auto at = hn::Iota(d, start + x);
            auto kept = is_kept<Unit, Axes>(d, values(k) + start + x, plane_cells_, row_cells_, c_.m, lightest_);
            kept = hn::And(kept, hn::Gt(at, hn::Set(d, start + next - 1)));
            if (c_.g.wraps[2])
                kept = hn::And(kept, hn::And(hn::Gt(at, hn::Set(d, start)), hn::Lt(at, hn::Set(d, start + width - 1))));
            const std::size_t count = hn::CountTrue(d, kept);
            if (count == 0) continue;
            alignas(64) std::int32_t index[16] = {};
            hn::Store(hn::Compress(at, kept), d, index);
            for (std::size_t j = 0; j < count; ++j) {
                const std::int32_t r2 = values(k)[index[j]];
                if (Unit && r2 <= small_r2) {
                    paint_small(r2, {z0_ + k, y0_ + row - 1, index[j] - start});
                    continue;
                }
                cell_of_[count_] = index[j], row_[count_] = row;
                if (++count_ == centres_at_once) paint(k);
            }
        }
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

    /// Paints the centres found in plane k.
    void paint(std::int32_t k) {
        make_boxes(k);
        for (int j = 0; j < count_; ++j) {
            const std::int32_t place[3] = {z0_ + k, y0_ + row_[j] - 1,
                                           cell_of_[j] - static_cast<std::int32_t>(row_[j] * row_cells_) - 1};
            std::int32_t cells[3];
            for (int axis = 0; axis < 3; ++axis) cells[axis] = down_[axis][j] + up_[axis][j];
            if (cells[0] < 0 || cells[1] < 0 || cells[2] < 0) continue;
            const int axis = Axes == 2 || (cells[0] <= cells[1] && cells[0] <= cells[2]) ? 0
                             : cells[1] <= cells[2]                                      ? 1
                                                                                         : 2;
            const int middle = middle_axis(axis);
            paint_centre(values(k) + cell_of_[j], place,
                         {axis, down_[axis][j], up_[axis][j], down_[middle][j], up_[middle][j]});
        }
        count_ = 0;
    }

    decltype(auto) lengths() const {
        if constexpr (Unit) return unit_metric{};
        else return (c_.m);
    }

    /// box_of() and frame_of() for many centres together, without the eight corners, which cut off less than their
    /// share of the time.
    void make_boxes(std::int32_t k) {
        const hn::CappedTag<std::int32_t, 16> d;
        const hn::CappedTag<float, 16> real;
        const auto lanes = static_cast<int>(hn::Lanes(d));
        const auto& metric_here = lengths();
        for (int j = count_; j > 0 && j % lanes != 0; ++j)
            cell_of_[j] = cell_of_[count_ - 1], row_[j] = row_[count_ - 1];
        for (int j = 0; j < count_; j += lanes) {
            const auto at = hn::Load(d, cell_of_ + j), row = hn::Load(d, row_ + j);
            const auto r2 = hn::GatherIndex(d, values(k), at);
            const auto radius = hn::Sqrt(hn::ConvertTo(real, r2));
            const auto whole = [&](int axis) { return hn::Mul(radius, hn::Set(real, metric_here.across[axis])); };
            auto low_z = whole(0), high_z = low_z, low_y = whole(1), high_y = low_y, low_x = whole(2), high_x = low_x;
            const auto cut = [&]<int K>(std::integral_constant<int, K>) {
                constexpr int z = K / 9 - 1, y = K / 3 % 3 - 1, x = K % 3 - 1;
                if constexpr (K != 13 && z * y * x == 0 && (Axes == 3 || z == 0)) {
                    constexpr int along = (z != 0 ? 1 : 0) | (y != 0 ? 2 : 0) | (x != 0 ? 4 : 0);
                    const std::int64_t apart = z * plane_cells_ + y * row_cells_ + x;
                    const auto more = hn::Sub(hn::GatherIndex(d, values(k) + apart, at), r2);
                    const auto left = cap_of<along>(d, real, metric_here, length2(c_.m, z, y, x), r2, more, apart < 0);
                    if constexpr (Axes == 3) left.template lower<z>(0, low_z, high_z);
                    left.template lower<y>(1, low_y, high_y), left.template lower<x>(2, low_x, high_x);
                }
            };
            [&]<int... K>(std::integer_sequence<int, K...>) {
                (cut(std::integral_constant<int, K>{}), ...);
            }(std::make_integer_sequence<int, 27>{});
            const auto margin = hn::Add(hn::Mul(radius, hn::Set(real, 2e-6F)), hn::Set(real, 0.02F));
            const auto clip = [&](int axis, auto low, auto high, auto place) {
                const auto cells = [&](auto far) { return hn::ConvertTo(d, hn::Floor(hn::Add(far, margin))); };
                const bool wraps = c_.g.wraps[axis];
                const auto most = hn::Set(d, wraps ? unbound<std::int32_t>() : c_.g.size[axis] - 1);
                hn::Store(hn::Min(cells(low), wraps ? most : place), d, down_[axis] + j);
                hn::Store(hn::Min(cells(high), wraps ? most : hn::Sub(most, place)), d, up_[axis] + j);
            };
            const auto one = hn::Set(d, 1);
            clip(0, low_z, high_z, hn::Set(d, z0_ + k));
            clip(1, low_y, high_y, hn::Sub(hn::Add(row, hn::Set(d, y0_)), one));
            clip(2, low_x, high_x,
                 hn::Sub(hn::Sub(at, hn::Mul(row, hn::Set(d, static_cast<std::int32_t>(row_cells_)))), one));
        }
    }

    void paint_centre(const std::int32_t* at, const std::int32_t (&place)[3], const frame& f) {
        const std::int32_t r2 = *at;
        const around& by = around_[f.axis];
        const hn::CappedTag<std::int32_t, most_lanes> d;
        alignas(64) std::int32_t cover[most_around];
        const auto none = hn::Set(d, never<std::int32_t>());
        auto most_cover = none;
        for (int k = 0; k < most_around; k += static_cast<int>(hn::Lanes(d))) {
            const auto more = hn::Sub(hn::GatherIndex(d, at, hn::Load(d, by.apart + k)), hn::Set(d, r2));
            const auto late = hn::Lt(more, hn::Load(d, by.tie + k));
            const auto own = hn::IfThenElse(late, none, hn::Sub(more, hn::Load(d, by.length2 + k)));
            hn::Store(own, d, cover + k), most_cover = hn::Max(most_cover, own);
        }
        if (r2 >= lone_r2 && hn::AllTrue(d, hn::Eq(most_cover, none))) return;  // paint_lone() has painted it
        if (r2 < small_roots) paint_slices<true>(cover, r2, place, f);
        else paint_slices<false>(cover, r2, place, f);
    }

    /// Paints as many slices at a time as a vector has lanes; vectors hold rows of several slices.
    template <bool Small>
    void paint_slices(const std::int32_t* cover, std::int32_t r2, const std::int32_t (&place)[3], const frame& f) {
        const auto w = turned_to<Unit>(c_.m, f.axis);
        const auto lanes = static_cast<int>(hn::Lanes(hn::CappedTag<std::int32_t, most_lanes>()));
        slices t;
        listed_rows rows;
        for (std::int32_t first = -f.first; first <= f.last; first += lanes) {
            std::uint32_t left = prepare<Small>(cover, r2, w, first, f, t);
            const auto paint = [&] {
                for (int at = 0; at < rows.count; at += lanes)
                    paint_rows(find<Small>(t, w, at, rows), rows, at, r2, place, f.axis, first);
                rows.count = 0;
            };
            for (; left != 0; left &= left - 1) {
                const int k = std::countr_zero(left);
                for (std::int32_t b = -t.below[k]; b <= t.above[k]; b += lanes) {
                    if (rows.count > listed_rows::most) paint();
                    rows.add(k, b, std::min(t.above[k] - b + 1, lanes));
                }
            }
            paint();
        }
    }
    /// Paints the rows of `left`, a bit each from row `of` on, of slices from `slice` on.
    void paint_rows(std::uint32_t left, const listed_rows& some, int first, std::int32_t r2,
                    const std::int32_t (&place)[3], int axis, std::int32_t slice) {
        const int along = row_axis(axis), middle = middle_axis(axis);
        const std::int64_t step = c_.g.step(along), rows = c_.g.step(middle), apart = c_.g.step(axis);
        const std::int32_t before = place[along], behind = c_.g.size[along] - 1 - before;
        const bool over_ends = wraps();
        for (; left != 0; left &= left - 1) {
            const int j = std::countr_zero(left);
            std::int64_t at = std::int64_t{place[axis]} + slice + some.slice[first + j],
                         row = std::int64_t{place[middle]} + some.row[first + j];
            if (over_ends) at = wrapped(at, c_.g.size[axis]), row = wrapped(row, c_.g.size[middle]);
            std::int32_t* const line = painted_ + at * apart + row * rows + before * step;
            if (over_ends) {
                raise_.row_over_ends(line, along, -step, some.left[j], some.half[j], before, r2);
                raise_.row_over_ends(line, along, step, some.right[j], some.half[j], behind, r2);
            } else {
                raise_.row(line, -step, some.left[j], std::min(some.half[j], before), r2);
                raise_.row(line, step, some.right[j], std::min(some.half[j], behind), r2);
            }
        }
    }
    [[nodiscard]] bool wraps() const { return c_.g.wraps[0] || c_.g.wraps[1] || c_.g.wraps[2]; }

    const plain_call& c_;
    std::int32_t lightest_;
    std::int64_t row_cells_, plane_cells_;
    /// Neighbours in the order of slice::cover for slices across an axis, slice by slice: their offsets, how much
    /// larger an earlier neighbour is, and their squared distances; places behind the 27 have no neighbour.
    static constexpr int most_around = 32;
    struct alignas(64) around {
        std::int32_t apart[most_around], tie[most_around], length2[most_around];
    };
    around around_[3];
    std::int32_t* values_;
    const std::int32_t* field_ = nullptr;
    std::int32_t* painted_ = nullptr;
    std::int32_t z0_ = 0, z1_ = 0, y0_ = 0, y1_ = 0;
    /// Centres found in a plane: their cells and rows there, and their boxes.
    alignas(64) std::int32_t cell_of_[centres_at_once], row_[centres_at_once];
    alignas(64) std::int32_t down_[3][centres_at_once], up_[3][centres_at_once];
    int count_ = 0;
    raiser raise_;
};

template <int Axes, bool Unit>
void paint_tiles(workers& team, const plain_call& call) {
    const std::int64_t down = (call.g.size[0] + call.planes - 1) / call.planes,
                       across = (call.g.size[1] + call.rows - 1) / call.rows;
    std::vector<host_scratch<std::int32_t>> memory(static_cast<std::size_t>(team.threads()));
    const std::int64_t weight = std::int64_t{call.planes} * call.rows * call.g.size[2];
    team.for_each(call.g.images * down * across, 1, weight, [&](std::int64_t first, std::int64_t last, int thread) {
        host_scratch<std::int32_t>& mine = memory[static_cast<std::size_t>(thread)];
        using tile = tile<Axes, Unit>;
        if (mine.get() == nullptr) mine = host_scratch<std::int32_t>(tile::memory_cells(call));
        tile one(call, mine.get());
        for (std::int64_t k = first; k < last; ++k)
            one.solve(k / (down * across), static_cast<std::int32_t>(k / across % down * call.planes),
                      static_cast<std::int32_t>(k % across * call.rows));
    });
}

void paint(workers& team, const plain_call& call) {
    const bool unit = call.m.weight[0] == 1 && call.m.weight[1] == 1 && call.m.weight[2] == 1;
    if (!unit) paint_tiles<3, false>(team, call);
    else if (call.g.size[0] == 1) paint_tiles<2, true>(team, call);
    else paint_tiles<3, true>(team, call);
}

}  // namespace nearfield::thickness::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::thickness {

HWY_EXPORT(paint);
void paint_crescents(workers& team, const plain_call& call) { HWY_DYNAMIC_DISPATCH(paint)(team, call); }

}  // namespace nearfield::thickness
#endif
