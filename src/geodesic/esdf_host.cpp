// Distance fields for robots on the host. A thread owns a range of cells, or tiles of a costmap.
#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "base/rehearsal.hpp"
#include "base/scratch.hpp"
#include "geodesic/esdf_core.hpp"

namespace nearfield::geodesics {
namespace {

constexpr std::int64_t cells_at_once = 1 << 14;

/// A rectangle of a costmap.
struct window {
    std::int64_t y, x, rows, columns;

    /// Returns the window with its surroundings up to `by` cells away.
    [[nodiscard]] window grown(std::int64_t by, const inflating& w) const {
        const std::int64_t top = std::max<std::int64_t>(0, y - by), left = std::max<std::int64_t>(0, x - by);
        return {top, left, std::min(w.rows, y + rows + by) - top, std::min(w.columns, x + columns + by) - left};
    }
    [[nodiscard]] std::int64_t cells() const { return rows * columns; }
};

using one = std::integral_constant<std::int64_t, 1>;  ///< the step of contiguous rows, which vectorizes

/// Marks the lethal cells of a window in C order; returns whether there are any.
bool mark_lethal(const inflating& w, const window& in, std::uint8_t* lethal) {
    const auto* const from = static_cast<const std::uint8_t*>(w.from.data);
    std::uint8_t some = 0;
    const bool around_unknown = w.around_unknown;
    const auto mark = [&](auto step) {
        for (std::int64_t y = 0; y < in.rows; ++y) {
            const std::uint8_t* const row = from + w.offset(w.from, in.y + y, in.x);
            std::uint8_t* const to = lethal + y * in.columns;
            for (std::int64_t x = 0; x < in.columns; ++x) to[x] = inflating::is_lethal(row[x * step], around_unknown);
            some = std::max(some, *std::max_element(to, to + in.columns));
        }
    };
    if (w.from.step[1] == 1) mark(one{});
    else mark(w.from.step[1]);
    return some != 0;
}

/// Writes rows of fields in pieces, by loops that vectorize.
class rows_of_fields {
public:
    explicit rows_of_fields(const field_writing& w) : w_(w), last_(w.axes() - 1), missing_(w.axes() - w.rank) {}

    void write(std::int64_t row) {
        for (int axis = last_ - 1; axis >= 0; --axis)
            at_[axis] = w_.first[axis] + row % w_.size[axis], row /= w_.size[axis];
        for (std::int64_t done = 0; done < w_.size[last_]; done += most) {
            at_[last_] = w_.first[last_] + done;
            write_piece(std::min(most, w_.size[last_] - done));
        }
    }

private:
    static constexpr std::int64_t most = 256;

    void write_piece(std::int64_t count) {
        if (w_.solved != nullptr) {
            if (w_.distance.type == dtype::float64) copy_distances<double>(count);
            else copy_distances<float>(count);
        }
        if (w_.found.data == nullptr) return;
        for (int axis = missing_; axis <= last_; ++axis) {
            const std::int64_t step = w_.found.step[last_];
            if (step == 1) read_sites(axis, count, one{});
            else read_sites(axis, count, step);
        }
        if (w_.site.data != nullptr && w_.site.data != w_.found.data) copy_sites(count);
        if (w_.gradient.data != nullptr) write_gradients(count);
    }
    /// Returns the place in an array that has the box that was solved, or the whole grid.
    [[nodiscard]] std::int64_t in_solved(const std::int64_t* step) const {
        std::int64_t offset = 0;
        for (int axis = missing_; axis <= last_; ++axis) offset += (at_[axis] - w_.solved_first[axis]) * step[axis];
        return offset;
    }
    [[nodiscard]] std::int64_t in_grid(const cell_array& of) const {
        std::int64_t offset = 0;
        for (int axis = missing_; axis <= last_; ++axis) offset += at_[axis] * of.step[axis];
        return offset;
    }

    template <class T>
    void copy_distances(std::int64_t count) const {
        std::int64_t step[max_rank], size = 1;
        for (int axis = last_; axis >= 0; size *= w_.solved_size[axis--]) step[axis] = size;
        const T* const from = static_cast<const T*>(w_.solved) + in_solved(step);
        T* const to = static_cast<T*>(w_.distance.data) + in_grid(w_.distance);
        for (std::int64_t x = 0; x < count; ++x) to[x * w_.distance.step[last_]] = from[x];
    }
    /// Finds the coordinates of sites along an axis, -1 without one, and the ways from there.
    template <class Step>
    void read_sites(int axis, std::int64_t count, Step step) {
        const std::int32_t* const from = static_cast<const std::int32_t*>(w_.found.data) +
                                         (axis - missing_) * w_.found.component + in_solved(w_.found.step);
        const auto here = static_cast<std::int32_t>(at_[axis] - w_.solved_first[axis]);
        const auto first = static_cast<std::int32_t>(w_.solved_first[axis]);
        const double length = w_.length[axis];
        double* const away = away_[axis];
        std::int32_t* const site = site_[axis];
        const std::int32_t walk = axis == last_ ? 1 : 0;
        for (std::int32_t x = 0; x < static_cast<std::int32_t>(count); ++x) {
            const std::int32_t by = from[x * step];
            site[x] = by < 0 ? -1 : by + first;
            away[x] = by < 0 ? 0.0 : length * static_cast<double>(here + walk * x - by);
        }
    }
    void copy_sites(std::int64_t count) const {
        for (int axis = missing_; axis <= last_; ++axis) {
            auto* const to =
                static_cast<std::int32_t*>(w_.site.data) + (axis - missing_) * w_.site.component + in_grid(w_.site);
            for (std::int64_t x = 0; x < count; ++x) to[x * w_.site.step[last_]] = site_[axis][x];
        }
    }
    /// Divides ways by distances, which are negative inside.
    void write_gradients(std::int64_t count) {
        std::fill_n(along_, count, 0.0);
        for (int axis = missing_; axis <= last_; ++axis)
            for (std::int64_t x = 0; x < count; ++x) along_[x] += away_[axis][x] * away_[axis][x];
        for (std::int64_t x = 0; x < count; ++x) along_[x] = std::sqrt(along_[x]);
        if (w_.negative_inside) {
            const std::int64_t from = in_grid(w_.occupancy), step = w_.occupancy.step[last_];
            for (std::int64_t x = 0; x < count; ++x)
                if (!w_.occupancy.is_zero(from + x * step)) along_[x] = -along_[x];
        }
        for (std::int64_t x = 0; x < count; ++x) along_[x] = along_[x] == 0 ? 1.0 : along_[x];
        for (int axis = missing_; axis <= last_; ++axis) {
            auto* const to = static_cast<float*>(w_.gradient.data) + (axis - missing_) * w_.gradient.component +
                             in_grid(w_.gradient);
            const auto put = [&](auto step) {
                for (std::int64_t x = 0; x < count; ++x) to[x * step] = static_cast<float>(away_[axis][x] / along_[x]);
            };
            if (w_.gradient.step[last_] == 1) put(one{});
            else put(w_.gradient.step[last_]);
        }
    }

    const field_writing& w_;
    const int last_, missing_;  ///< the last axis, and the number of axes put in front
    std::int64_t at_[max_rank]{};
    double away_[max_rank][most], along_[most];
    std::int32_t site_[max_rank][most];
};

class costs {
public:
    explicit costs(const inflating& w) : w_(w), of_(static_cast<std::size_t>(w.costs() + 1)) {
        for (std::size_t squared = 0; squared + 1 < of_.size(); ++squared)
            of_[squared] = cost_at(w.farthest, static_cast<std::uint32_t>(squared));
    }

    /// Writes the cells of `to` from the squared distances of `solved` in C order.
    void write(const window& to, const window& solved, const std::uint32_t* squared) const {
        std::uint8_t cost[cells_at_once];
        squared += (to.y - solved.y) * solved.columns + to.x - solved.x;
        for (std::int64_t y = 0; y < to.rows; ++y, squared += solved.columns)
            for (std::int64_t first = 0; first < to.columns; first += cells_at_once) {
                const std::int64_t count = std::min(cells_at_once, to.columns - first);
                for (std::int64_t x = 0; x < count; x += block)
                    look_up(squared + first + x, std::min(block, count - x), cost + x);
                put(to.y + y, to.x + first, count, cost);
            }
    }
    /// Writes the cells of `to`, which is out of reach.
    void copy(const window& to) const {
        const std::uint8_t none[cells_at_once]{};
        for (std::int64_t y = 0; y < to.rows; ++y)
            for (std::int64_t first = 0; first < to.columns; first += cells_at_once)
                put(to.y + y, to.x + first, std::min(cells_at_once, to.columns - first), none);
    }

private:
    static constexpr std::int64_t block = 64;

    /// Finds the costs of consecutive cells. Most of them are far from obstacles, which a loop without lookups tells: a
    /// difference below 0 has the highest bit, and so has a square that says that there is no obstacle.
    void look_up(const std::uint32_t* squared, std::int64_t count, std::uint8_t* cost) const {
        const auto most = static_cast<std::uint32_t>(of_.size() - 1);
        std::uint32_t near = 0;
        for (std::int64_t x = 0; x < count; ++x) near |= (squared[x] - most) & ~squared[x];
        if (near >> 31 == 0) return void(std::fill_n(cost, count, costmap_free));
        const std::uint8_t* const of = of_.data();
        for (std::int64_t x = 0; x < count; ++x) cost[x] = of[std::min(squared[x], most)];
    }
    void put(std::int64_t y, std::int64_t x, std::int64_t count, const std::uint8_t* cost) const {
        const auto* const from = static_cast<const std::uint8_t*>(w_.from.data) + w_.offset(w_.from, y, x);
        auto* const to = static_cast<std::uint8_t*>(w_.to.data) + w_.offset(w_.to, y, x);
        const std::uint8_t least = w_.least_of_unknown();
        const auto raise = [=](auto read, auto written) {
            for (std::int64_t k = 0; k < count; ++k)
                to[k * written] = inflating::raised(from[k * read], cost[k], least);
        };
        if (w_.from.step[1] == 1 && w_.to.step[1] == 1) raise(one{}, one{});
        else raise(w_.from.step[1], w_.to.step[1]);
    }

    const inflating& w_;
    std::vector<std::uint8_t> of_;  ///< by squared distance, and 0 for all that are farther
};

}  // namespace

void write_fields(const host& on, const field_writing& w) {
    const std::int64_t columns = w.size[w.axes() - 1], rows = w.cells / std::max<std::int64_t>(1, columns);
    const host quiet{on.threads, {}};
    workers team(quiet, rows);
    team.for_each(rows, std::max<std::int64_t>(1, cells_at_once / columns), 0,
                  [&](std::int64_t first, std::int64_t last, int) {
                      const auto writer = std::make_unique<rows_of_fields>(w);
                      for (std::int64_t row = first; row < last; ++row) writer->write(row);
                  });
}

void spread_costs(const host& on, const inflating& w, std::int64_t reach) {
    // Surroundings add at most half of a tile's cells.
    const std::int64_t side = std::max<std::int64_t>(512, 8 * reach), across = (w.columns - 1) / side + 1;
    const std::int64_t tiles = ((w.rows - 1) / side + 1) * across,
                       most = std::min(side + 2 * reach, w.rows) * std::min(side + 2 * reach, w.columns);
    const std::int64_t padded = (most + 15) / 16 * 16;
    const costs of(w);
    const host quiet{on.threads, {}};
    workers team(quiet, 1);
    const bool few = tiles < 2 * team.threads();  // then the threads share each tile's search
    const host_scratch<std::uint32_t> squared(padded * (few ? 1 : team.threads()));
    const host_scratch<std::uint8_t> lethal(padded * (few ? 1 : team.threads()));
    const auto solve = [&](const host& by, std::int64_t tile, int thread) {
        const std::int64_t y = tile / across * side, x = tile % across * side, at = thread * padded;
        const window to{y, x, std::min(side, w.rows - y), std::min(side, w.columns - x)}, in = to.grown(reach, w);
        if (!mark_lethal(w, in, lethal.get() + at)) return of.copy(to);
        const std::int64_t shape[] = {in.rows, in.columns};
        find_squared(by, lethal.get() + at, squared.get() + at, shape, reach);
        of.write(to, in, squared.get() + at);
    };
    if (few && rehearsing() == nullptr)
        for (std::int64_t tile = 0; tile < tiles; ++tile) solve(quiet, tile, 0);
    else
        team.for_each(tiles, 1, 0, [&](std::int64_t first, std::int64_t last, int thread) {
            for (std::int64_t tile = first; tile < last; ++tile) solve(host{1, {}}, tile, thread);
        });
}

}  // namespace nearfield::geodesics
