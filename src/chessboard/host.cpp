// On the host, unless host_levels.hpp has solved the problem: distances along rows, then two sweeps along every other
// axis. A sweep takes each slab one step from the slab before; in the chessboard metric also from all neighbours across
// the solved axes. This suffices, because a shortest path can be ordered so: first its steps along the last axis alone,
// at last those along all axes.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "chessboard/host_cells.hpp"
#include "chessboard/host_levels.hpp"
#include "chessboard/host_rows.hpp"

namespace nearfield::chessboard {
namespace {

constexpr std::int64_t cells_at_once = 1 << 14;
constexpr std::int64_t large_slab = 1 << 15;  ///< cells of a slab from which on all threads share it

template <class T>
class engine {
public:
    engine(workers& crew, const problem& p)
        : p_(p),
          row_(p.size[p.rank - 1]),
          rows_(p.cells / row_),
          crew_(crew),
          distance_(p.cells),
          line_(crew_.threads() * line_cells()),
          has_sites_(rows_),
          site_(crew_.threads() * site_cells()),
          spread_(spreads() ? crew_.threads() * 6 * row_ : 0),
          around_(around_cells()) {
        std::fill_n(spread_.get(), spreads() ? crew_.threads() * 6 * row_ : 0, unreached<T>);
        if (spreads() && p_.ends[p_.rank - 1] == border::closed)
            for (std::int64_t first = row_; first < crew_.threads() * 6 * row_; first += 3 * row_)
                spread_.get()[first - 1] = spread_.get()[first + row_] = 0;
    }

    void solve() {
        if (!starts_in_sweep())
            crew_.for_each(rows_, std::max<std::int64_t>(1, cells_at_once / row_), row_,
                           [&](std::int64_t first, std::int64_t last, int thread) {
                               for (std::int64_t row = first; row < last; ++row) start(row, thread);
                           });
        for (int axis = p_.rank - 2; axis >= p_.batch; --axis) sweep(axis);
    }

private:
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

    [[nodiscard]] std::int64_t line_cells() const { return row_ + 128; }
    [[nodiscard]] std::int64_t site_cells() const { return row_ + 64; }
    /// True if every thread gets planes of its own; then it also starts the rows of these.
    [[nodiscard]] bool starts_in_sweep() const {
        return p_.rank - 1 > p_.batch && p_.product(0, p_.rank - 2) >= crew_.threads();
    }
    [[nodiscard]] T* distance(std::int64_t cell) const { return distance_.get() + cell; }
    [[nodiscard]] bool wraps(int axis) const { return p_.ends[axis] == border::periodic; }
    [[nodiscard]] bool is_closed(int axis) const { return p_.ends[axis] == border::closed; }

    // ---- rows -------------------------------------------------------------------------------------------------------

    void start(std::int64_t row, int thread) {
        std::uint8_t* const site = site_.get() + thread * site_cells();
        read_sites(p_, row, site);
        has_sites_.get()[row] = is_closed(p_.rank - 1) || next_site(site, 0) < row_ ? 1 : 0;
        const std::int64_t sites = both_ways() ? sites_of(site) : 0;
        if (spreads() && sites > row_ / 32) spread(site, thread, distance(row * row_));
        else if (sites > row_ / 8) scan(site, distance(row * row_));
        else fill_between(site, distance(row * row_));
        if (p_.rank - 1 == p_.batch) write(row);
    }
    /// True if rows with many sites are solved by spread(): those that stay in a cache.
    [[nodiscard]] bool spreads() const { return both_ways() && row_ <= cells_at_once; }
    [[nodiscard]] bool both_ways() const { return !wraps(p_.rank - 1) && p_.side[p_.rank - 1] == 0; }
    [[nodiscard]] std::int64_t sites_of(const std::uint8_t* site) const {
        std::int64_t sum = 0, x = 0;
        for (std::uint64_t eight = 0; x + 8 <= row_; x += 8) {
            std::memcpy(&eight, site + x, 8);
            sum += static_cast<std::int64_t>(eight * 0x0101010101010101 >> 56);
        }
        return std::accumulate(site + x, site + row_, sum);
    }
    /// Finds a row's distances, in time that does not depend on its sites: after steps by 1, 2, 4, ..., s a cell knows
    /// all sites nearer than 2 s.
    void spread(const std::uint8_t* site, int thread, T* to) const {
        T *from = spread_.get() + 6 * row_ * thread + row_, *next = from + 3 * row_;
        for (std::int64_t x = 0; x < row_; ++x) from[x] = site[x] != 0 ? 0 : unreached<T>;
        std::int64_t most = row_;
        for (std::int64_t by = 1; by <= row_ && most >= by; by *= 2) {
            most = rows<T>().spread(from, by, row_, next);
            std::swap(from, next);
        }
        std::copy_n(from, row_, to);
    }
    /// Finds a row's distances cell by cell, forwards and back: where sites are near each other.
    void scan(const std::uint8_t* site, T* to) const {
        const bool closed = is_closed(p_.rank - 1);
        const std::int64_t first = closed ? 0 : next_site(site, 0);
        std::fill_n(to, first, unreached<T>);
        T last = 0;
        for (std::int64_t x = first; x < row_; ++x)
            to[x] = last = static_cast<T>((last + 1) & (site[x] - 1));  // no branch
        if (closed) last = 0;
        for (std::int64_t x = row_ - 1; x >= 0; --x) to[x] = last = std::min(to[x], static_cast<T>(last + 1));
    }
    /// Fills in a row's distances between each site and the next.
    void fill_between(const std::uint8_t* site, T* to) const {
        const int last = p_.rank - 1;
        const std::int64_t first = next_site(site, 0);
        std::int64_t before = p_.ends[last] == border::closed ? -1 : none,
                     behind = p_.ends[last] == border::closed ? row_ : none;
        if (wraps(last) && first < row_) {
            behind = first + row_, before = row_ - 1;
            while (site[before] == 0) --before;
            before -= row_;
        }
        for (std::int64_t x = 0, next = first; x < row_; before = next, x = next + 1, next = next_site(site, x)) {
            ramps(to, x, std::min(next, row_), before, next < row_ ? next : behind);
            if (next < row_) to[next] = 0;
        }
    }
    [[nodiscard]] std::int64_t next_site(const std::uint8_t* site, std::int64_t x) const {
        for (std::uint64_t eight = 0; x < row_; x += 8) {
            std::memcpy(&eight, site + x, 8);  // may read past the row, as the buffer is longer
            if (eight != 0) return std::min(row_, x + std::countr_zero(eight) / 8);
        }
        return row_;
    }
    /// Fills in cells [first, end) between two sites, of which either may be missing.
    void ramps(T* to, std::int64_t first, std::int64_t end, std::int64_t before, std::int64_t behind) const {
        const int side = p_.side[p_.rank - 1];
        const bool up = before != none && side <= 0, down = behind != none && side >= 0;
        const std::int64_t middle = up && down ? std::clamp(before + (behind - before) / 2 + 1, first, end)
                                    : up       ? end
                                               : first;
        for (std::int64_t x = first; x < middle; ++x) to[x] = static_cast<T>(x - before);
        if (!down) std::fill(to + middle, to + end, unreached<T>);
        else
            for (std::int64_t x = middle; x < end; ++x) to[x] = static_cast<T>(behind - x);
    }

    // ---- the other axes ---------------------------------------------------------------------------------------------

    void sweep(int axis) {
        const std::int64_t units = p_.product(0, axis), slab = p_.product(axis + 1, p_.rank);
        if (shares(axis)) {
            for (std::int64_t unit = 0; unit < units; ++unit)
                sweep_unit(axis, unit, around_.get(), [&](const auto& rows_of_slab) {
                    const std::int64_t rows = slab / row_, together = std::max<std::int64_t>(1, cells_at_once / row_);
                    crew_.for_each(rows, together, row_ / 2, rows_of_slab);
                });
            return;
        }
        crew_.for_each(
            units, std::max<std::int64_t>(1, cells_at_once / (slab * p_.size[axis])), slab * p_.size[axis],
            [&](std::int64_t first, std::int64_t last, int thread) {
                const std::int64_t rows = slab * p_.size[axis] / row_;
                for (std::int64_t unit = first; unit < last; ++unit) {
                    if (axis == p_.rank - 2 && starts_in_sweep())
                        for (std::int64_t row = 0; row < rows; ++row) start(unit * rows + row, thread);
                    sweep_unit(axis, unit, around_.get() + thread * around_of(axis),
                               [&](const auto& rows_of_slab) { rows_of_slab(std::int64_t{0}, slab / row_, thread); });
                }
            });
    }
    /// True if all threads share each slab of an axis.
    [[nodiscard]] bool shares(int axis) const {
        return p_.product(0, axis) < crew_.threads() && p_.product(axis + 1, p_.rank) >= large_slab;
    }
    /// Returns the cells of least_around() for the slabs of an axis: two slabs, if it has more than two solved axes.
    [[nodiscard]] std::int64_t around_of(int axis) const {
        return p_.diagonal && axis < p_.rank - 3 ? 2 * p_.product(axis + 1, p_.rank) : 0;
    }
    [[nodiscard]] std::int64_t around_cells() const {
        std::int64_t most = 0;
        for (int axis = p_.batch; axis < p_.rank - 3; ++axis)
            most = std::max(most, (shares(axis) ? 1 : crew_.threads()) * around_of(axis));
        return most;
    }

    /// Calls each(body) for every slab of the sweeps; body(first row, last row, thread) processes rows of it. A sweep
    /// begins at the first slab that has distances without it.
    template <class Each>
    void sweep_unit(int axis, std::int64_t unit, T* around, const Each& each) {
        const std::int64_t n = p_.size[axis], slab = p_.product(axis + 1, p_.rank) / row_, first = unit * n * slab;
        const bool forward = p_.side[axis] <= 0, backward = p_.side[axis] >= 0;
        bool all = false;
        for (int direction = forward ? 0 : 1; direction < (backward ? 2 : 1); ++direction) {
            const bool last_one = axis == p_.batch && (direction == 1 || !backward);
            const std::int64_t turns = wraps(axis) && n > 1 ? 2 : 1;
            bool takes = false, some = false;
            for (std::int64_t k = 0; k < turns * n; ++k) {
                const std::int64_t at = direction == 0 ? k % n : n - 1 - k % n;
                const std::int64_t before = direction == 0 ? (at == 0 ? n - 1 : at - 1) : (at == n - 1 ? 0 : at + 1);
                const bool writes = last_one && k >= (turns - 1) * n, lowers = k == 0 && is_closed(axis);
                takes = some, some = some || lowers || has_sites_.get()[first + at * slab] != 0;
                if (!takes && !lowers && !writes) continue;
                const T* from = distance((first + before * slab) * row_);
                if (takes && p_.diagonal) from = least_around(axis, from, around, each);
                each([&](std::int64_t start_row, std::int64_t end_row, int thread) {
                    const std::int64_t start_cell = start_row * row_;
                    if (takes && !p_.diagonal)
                        rows<T>().step(from + start_cell, end_row * row_ - start_cell,
                                       distance((first + at * slab) * row_ + start_cell));
                    for (std::int64_t row = start_row; row < end_row; ++row) {
                        const std::int64_t to = first + at * slab + row;
                        if (takes && p_.diagonal) take_beside(axis, to, from, row, thread);
                        else if (lowers) lower(distance(to * row_));
                        if (writes) write(to);
                    }
                });
            }
            all = all || some;
        }
        has_sites_.get()[first] = all ? 1 : 0;
    }
    void lower(T* to) const {
        for (std::int64_t x = 0; x < row_; ++x) to[x] = std::min<T>(to[x], 1);
    }

    /// Returns, for each cell of a slab, the least distance of it and its neighbours along the solved axes but the last
    /// two, one axis after the other.
    template <class Each>
    const T* least_around(int axis, const T* slab, T* around, const Each& each) const {
        if (axis >= p_.rank - 3) return slab;
        T* other = around + p_.product(axis + 1, p_.rank);
        for (int along = axis + 1; along < p_.rank - 2; ++along) {
            const std::int64_t step = p_.product(along + 1, p_.rank - 1), n = p_.size[along];
            each([&](std::int64_t first, std::int64_t end, int) {
                for (std::int64_t row = first, rows = 0; row < end; row += rows) {
                    rows = std::min(end, (row / step + 1) * step) - row;  // at the same place along the axis
                    least_along(along, step, row / step % n, slab + row * row_, rows, around + row * row_);
                }
            });
            slab = std::exchange(around, std::exchange(other, around));
        }
        return slab;
    }
    /// Finds the least distances of `count` rows, all number `at` along an axis, and of those beside them, `step` rows
    /// away.
    void least_along(int along, std::int64_t step, std::int64_t at, const T* row, std::int64_t count, T* to) const {
        const std::int64_t n = p_.size[along];
        const T *before = row, *behind = row;
        if (p_.side[along] <= 0 && (at > 0 || wraps(along))) before += (at > 0 ? -1 : n - 1) * step * row_;
        if (p_.side[along] >= 0 && (at + 1 < n || wraps(along))) behind += (at + 1 < n ? 1 : 1 - n) * step * row_;
        rows<T>().least_of(row, before, behind, count * row_, to);
    }

    /// Relaxes a row by a step from row `row` of a slab and from all neighbours of that row's cells. Along all axes but
    /// the last two the slab has the least of neighbours already.
    void take_beside(int axis, std::int64_t to_row, const T* slab, std::int64_t row, int thread) {
        T* const to = distance(to_row * row_);
        const T* const from = slab + row * row_;
        T* const least = line_.get() + thread * line_cells() + 64;
        const int last = p_.rank - 1;
        if (axis == last - 1) std::copy_n(from, row_, least);
        else least_along(last - 1, 1, axis == last - 2 ? row : row % p_.size[last - 1], from, 1, least);
        least[-1] = wraps(last) ? least[row_ - 1] : unreached<T>, least[row_] = wraps(last) ? least[0] : unreached<T>;
        rows<T>().step_beside(least - (p_.side[last] <= 0 ? 1 : 0), least, least + (p_.side[last] >= 0 ? 1 : 0), row_,
                              to);
    }

    void write(std::int64_t row) const { write_distances(p_, row, distance(row * row_), rows<T>().write); }

    const problem& p_;
    std::int64_t row_, rows_;
    workers& crew_;
    host_scratch<T> distance_, line_;
    host_scratch<std::uint8_t> has_sites_;  ///< at a slab's first row: whether a cell of the slab has a distance
    host_scratch<std::uint8_t> site_;
    host_scratch<T> spread_;  ///< two rows for each thread, each with a row of cells before it and behind it
    host_scratch<T> around_;  ///< of least_around(), for each thread, or once where all share a slab
};

/// Exchanges axes if rows are short: makes rows of the last axis that has at least `short_row` cells, else of the
/// longest.
/// Processor time in ns a cell before and after, city block, 0.1 % sites, rows of 2, 7, 16, 31 and 64 cells: 16, 6.6,
/// 2.2, 2.4, 1.0 and 2.4, 1.8, 1.8, 2.2, 2.7 (AMD EPYC, AVX-512).
problem with_long_rows(problem p) {
    const int last = p.rank - 1;
    int row = last;
    for (int axis = last - 1; axis >= p.batch && p.size[row] < short_row; --axis)
        if (p.size[axis] > p.size[row]) row = axis;
    exchange(p, row, last);
    return p;
}

}  // namespace

void run(const host& on, const problem& given) {
    const problem p = with_long_rows(given);
    workers crew(on, (2 + p.rank - p.batch) * p.cells);
    if (solve_by_levels(p, crew)) return;
    if (p.most < unreached<std::uint16_t>) engine<std::uint16_t>(crew, p).solve();
    else engine<std::uint32_t>(crew, p).solve();
}

}  // namespace nearfield::chessboard
