// Distance fields for robots on the host. A thread owns a range of cells, or tiles of a costmap.
#include <algorithm>
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

class costs {
public:
    explicit costs(const inflating& w) : w_(w), of_(static_cast<std::size_t>(w.costs() + 1)) {
        for (std::size_t squared = 0; squared + 1 < of_.size(); ++squared)
            of_[squared] = cost_at(w.farthest, static_cast<std::uint32_t>(squared));
    }

    /// Writes the cells of `to` from the squared distances of `solved` in C order.
    void write(const window& to, const window& solved, const std::uint32_t* squared) const {
        std::uint8_t cost[cells_at_once];
        const std::uint8_t* const of = of_.data();
        const auto most = static_cast<std::uint32_t>(of_.size() - 1);
        squared += (to.y - solved.y) * solved.columns + to.x - solved.x;
        for (std::int64_t y = 0; y < to.rows; ++y, squared += solved.columns)
            for (std::int64_t first = 0; first < to.columns; first += cells_at_once) {
                const std::int64_t count = std::min(cells_at_once, to.columns - first);
                for (std::int64_t x = 0; x < count; ++x) cost[x] = of[std::min(squared[first + x], most)];
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
    const host quiet{on.threads, {}};
    workers team(quiet, w.cells);
    const auto write = [&]<int Axes, class Number>(std::int64_t first, std::int64_t last, Number) {
        for (std::int64_t i = first; i < last; ++i) w.write<Axes>(static_cast<Number>(i));
    };
    team.for_each(w.cells, cells_at_once, 0, [&](std::int64_t first, std::int64_t last, int) {
        const bool few = w.axes() == field_writing::few_axes;
        if (w.wide) write.operator()<max_rank>(first, last, std::int64_t{});
        else if (few) write.operator()<field_writing::few_axes>(first, last, std::int32_t{});
        else write.operator()<max_rank>(first, last, std::int32_t{});
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
