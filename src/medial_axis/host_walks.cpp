// Walks bands of rows along the first axis with two planes in memory, so that a site is unpacked about once and each
// pair of neighbours is evaluated once. Loops over rows have no branch and no division. Compiled once per instruction
// set, so that the compiler uses the machine's widest vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "medial_axis/host_walks.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "medial_axis/host_walk_rows.hpp"
#include "medial_axis/host_walks.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::medial_axes::HWY_NAMESPACE {

constexpr std::int64_t rows_of_band = 16, planes_of_walk = 32;
constexpr std::int64_t some_pairs = 64;
constexpr std::int64_t columns_of_walk = 1024;  // walks of 2 million columns took 8 to 16 times as long

/// Compares neighbours of a band and marks them.
template <class Number, bool Unit>
class walker : row_reader<Number, Unit> {
    using base = row_reader<Number, Unit>;
    using base::is_small, base::exists, base::in_grid, base::read_row;
    using base::p_, base::by_, base::halves_, base::image_, base::column_, base::column_end_, base::far_;

public:
    walker(const problem& p, const pass& over)
        : base(p, over),
          axis_(static_cast<std::uint8_t*>(over.axis.data)),
          least_(by_.prune == pruning::constant ? by_.least : 0) {
        const auto rows = static_cast<std::size_t>(std::min(rows_of_band, p.where.size[1]) + 2);
        here_.resize(rows), next_.resize(rows);
    }

    /// Marks columns [x, x_end) of rows [y, y_end) of planes [z, z_end). Returns false if a site is too far for small
    /// numbers; then marks are missing.
    bool walk(std::int64_t image, std::int64_t z, std::int64_t z_end, std::int64_t y, std::int64_t y_end,
              std::int64_t x, std::int64_t x_end) {
        image_ = image, first_ = y, end_ = y_end, column_ = x, column_end_ = x_end, far_ = 0;
        if (x_end - x + 2 != here_[0].size) resize(x_end - x + 2);
        if (exists(0, z - 1)) read(z - 1);
        std::swap(here_, next_);
        read(z);
        if (exists(0, z - 1)) between_planes();
        for (; z < z_end; ++z) {
            std::swap(here_, next_);
            if (exists(0, z + 1)) {
                read(z + 1);
                if (far_ != 0) return false;
                between_planes();
            }
            for (std::int64_t row = first_; row < end_; ++row) along_row(of(here_, row));
            for (std::int64_t row = first_ - 1; row < end_; ++row)
                if (exists(1, row) && exists(1, row + 1)) weigh(of(here_, row), of(here_, row + 1), 1);
            for (std::int64_t row = first_; row < end_; ++row) write(z, row);
        }
        return far_ == 0;
    }

private:
    void resize(std::int64_t columns) {
        for (std::vector<cells_of_row<Number>>* plane : {&here_, &next_})
            for (cells_of_row<Number>& each : *plane) each.resize(columns, halves_);
        sides_.resize(static_cast<std::size_t>(columns));
    }
    [[nodiscard]] cells_of_row<Number>& of(std::vector<cells_of_row<Number>>& plane, std::int64_t row) const {
        return plane[static_cast<std::size_t>(row - first_ + 1)];
    }

    /// Reads the band's rows of a plane, and the rows and columns beside the band, into `next_`.
    void read(std::int64_t z) {
        for (std::int64_t row = first_ - 1; row < end_ + 1; ++row)
            if (exists(1, row)) read_row(of(next_, row), in_grid(0, z), in_grid(1, row));
    }

    /// Sets bit 0 if p may be on the axis and bit 1 if q may: by the sign of `side`, if their sites are not neighbours.
    /// Integers whose magnitudes sum to more than 1 have squares that sum to more than 1.
    void find_sides(const cells_of_row<Number>& p, const cells_of_row<Number>& q, int axis, std::int64_t shift) {
        const Number step[most_axes] = {axis == 0, axis == 1, axis == 2};
        const Number* __restrict p0 = p.part(0);
        const Number* __restrict p1 = p.part(1);
        const Number* __restrict p2 = p.part(2);
        const Number* __restrict q0 = q.part(0) + shift;
        const Number* __restrict q1 = q.part(1) + shift;
        const Number* __restrict q2 = q.part(2) + shift;
        const Number* __restrict pa = p.part(axis);
        const Number* __restrict qa = q.part(axis) + shift;
        const Number* __restrict ps = p.part(squared);
        const Number* __restrict qs = q.part(squared) + shift;
        const Number weight[most_axes] = {by_.weight(0), by_.weight(1), by_.weight(2)}, least = least_;
        Number* __restrict sides = sides_.data();
        for (std::int64_t x = 0; x < p.size - shift; ++x) {
            const auto apart = [](Number a, Number b, Number c) { return static_cast<Number>(a - b - c); };
            const Number counts = far_apart(apart(p0[x], q0[x], step[0]), apart(p1[x], q1[x], step[1]),
                                            apart(p2[x], q2[x], step[2]), weight, least);
            const auto side = static_cast<Number>((ps[x] - qs[x]) - weight[axis] * (pa[x] + qa[x]));
            sides[x] = counts != 0 ? (side >= 0 ? 1 : 0) | (side <= 0 ? 2 : 0) : 0;
        }
        if (p_.labels) find_foreign_sides(p, q, axis, shift);
    }
    static Number magnitude(Number x) { return static_cast<Number>(x < 0 ? -x : x); }

    /// Tells whether two sites that are e apart are no neighbours, nor too near each other to count.
    static Number far_apart(Number e0, Number e1, Number e2, const Number (&weight)[most_axes], Number least) {
        const auto steps = static_cast<Number>(magnitude(e0) + magnitude(e1) + magnitude(e2));
        if constexpr (Unit) return steps > 1;
        else return (steps > 1) & (weight[0] * (e0 * e0) + weight[1] * (e1 * e1) + weight[2] * (e2 * e2) > least);
    }

    /// Sets the bits of pairs with different labels: each cell is a site for the other one. Most cells beside each
    /// other have one label, so a few are compared first.
    void find_foreign_sides(const cells_of_row<Number>& p, const cells_of_row<Number>& q, int axis,
                            std::int64_t shift) {
        for (std::int64_t first = 0; first < p.size - shift; first += some_pairs) {
            const std::int64_t count = std::min(some_pairs, p.size - shift - first);
            std::uint32_t any = 0;
            for (int half = 0; half < halves_; ++half) {
                const std::uint32_t* __restrict of_p = p.labels(half != 0) + first;
                const std::uint32_t* __restrict of_q = q.labels(half != 0) + first + shift;
                for (std::int64_t x = 0; x < count; ++x) any |= of_p[x] ^ of_q[x];
            }
            if (any != 0) find_foreign_sides(p, q, axis, shift, first, count);
        }
    }
    void find_foreign_sides(const cells_of_row<Number>& p, const cells_of_row<Number>& q, int axis, std::int64_t shift,
                            std::int64_t first, std::int64_t count) {
        const Number step[most_axes] = {axis == 0, axis == 1, axis == 2};
        const Number weight[most_axes] = {by_.weight(0), by_.weight(1), by_.weight(2)}, least = least_;
        const Number* __restrict from = p.part(0) + first;
        const Number* __restrict to = q.part(0) + first + shift;
        const std::int64_t n = p.size, high = halves_ > 1 ? n : 0;
        const std::uint32_t* __restrict of_p = p.labels(false) + first;
        const std::uint32_t* __restrict of_q = q.labels(false) + first + shift;
        Number* __restrict sides = sides_.data() + first;
        alignas(64) Number other[some_pairs];
        for (std::int64_t x = 0; x < count; ++x)
            other[x] = ((of_p[x] ^ of_q[x]) | (of_p[high + x] ^ of_q[high + x])) != 0 ? 1 : 0;
        const auto sum = [](Number a, Number b) { return static_cast<Number>(a + b); };
        for (std::int64_t x = 0; x < count; ++x) {
            const Number away_p = far_apart(sum(from[x], -step[0]), sum(from[n + x], -step[1]),
                                            sum(from[2 * n + x], -step[2]), weight, least);
            const Number away_q =
                far_apart(sum(to[x], step[0]), sum(to[n + x], step[1]), sum(to[2 * n + x], step[2]), weight, least);
            // Squares of integers are not below them.
            const Number near_p = Unit || from[squared * n + x] >= weight[axis] * from[axis * n + x],
                         near_q = Unit || to[squared * n + x] + weight[axis] * to[axis * n + x] >= 0;
            sides[x] = other[x] != 0 ? static_cast<Number>((away_p & near_p) | (away_q & near_q) << 1) : sides[x];
        }
    }

    /// Clears the pairs that the pruning drops.
    void prune(const cells_of_row<Number>& p, const cells_of_row<Number>& q, int axis, std::int64_t shift) {
        if constexpr (is_small) return;
        else if (by_.prune == pruning::constant && (!Unit || by_.least <= 1)) return;
        for (std::int64_t x = 0; x < p.size - shift; ++x) {
            Number& side = sides_[static_cast<std::size_t>(x)];
            if (side == 0) continue;
            if (!is_foreign(p, q, x, shift)) {
                if (!between(by_, p.at(x), q.at(x + shift), axis).counts) side = 0;
                continue;
            }
            if (!between(by_, p.at(x), cell<Number>{}, axis).counts) side &= 2;
            if (!between(by_, q.at(x + shift), cell<Number>{}, axis, -1).counts) side &= 1;
        }
    }

    [[nodiscard]] bool is_foreign(const cells_of_row<Number>& p, const cells_of_row<Number>& q, std::int64_t x,
                                  std::int64_t shift) const {
        bool is = false;
        for (int half = 0; half < halves_; ++half) is |= p.labels(half != 0)[x] != q.labels(half != 0)[x + shift];
        return is;
    }

    void weigh(cells_of_row<Number>& p, cells_of_row<Number>& q, int axis) {
        find_sides(p, q, axis, 0);
        prune(p, q, axis, 0);
        Number* __restrict of_p = p.part(marks);
        Number* __restrict of_q = q.part(marks);
        const Number* __restrict sides = sides_.data();
        for (std::int64_t x = 0; x < p.size; ++x) of_p[x] |= sides[x] & 1, of_q[x] |= sides[x] >> 1;
    }

    void along_row(cells_of_row<Number>& row) {
        find_sides(row, row, 2, 1);
        prune(row, row, 2, 1);
        Number* __restrict to = row.part(marks);
        const Number* __restrict sides = sides_.data();
        for (std::int64_t x = 0; x + 1 < row.size; ++x) to[x] |= sides[x] & 1;
        for (std::int64_t x = 0; x + 1 < row.size; ++x) to[x + 1] |= sides[x] >> 1;
    }

    void between_planes() {
        for (std::int64_t row = first_; row < end_; ++row) weigh(of(here_, row), of(next_, row), 0);
    }

    void write(std::int64_t z, std::int64_t y) {
        const cells_of_row<Number>& row = of(here_, y);
        std::uint8_t* __restrict to =
            axis_ + image_ * p_.where.cells() + (z * p_.where.size[1] + y) * p_.where.size[2] + column_;
        const Number* __restrict marked = row.part(marks) + 1;
        const Number* __restrict a = row.part(0) + 1;
        const Number* __restrict b = row.part(1) + 1;
        const Number* __restrict c = row.part(2) + 1;
        const std::int64_t columns = column_end_ - column_;
        for (std::int64_t x = 0; x < columns; ++x)
            to[x] = static_cast<std::uint8_t>((a[x] | b[x] | c[x]) != 0 ? marked[x] : 0);
    }

    std::uint8_t* axis_;
    Number least_;
    std::vector<Number> sides_;
    std::vector<cells_of_row<Number>> here_, next_;
    std::int64_t first_ = 0, end_ = 0;  ///< rows of the band
};

template <class Number, bool Unit>
void mark_by(const host& on, const problem& p, const pass& over) {
    const std::int64_t(&size)[most_axes] = p.where.size;
    const auto parts = [](std::int64_t cells, std::int64_t of_part) { return (cells + of_part - 1) / of_part; };
    const std::int64_t walks = parts(size[0], planes_of_walk), bands = parts(size[1], rows_of_band),
                       widths = parts(size[2], columns_of_walk);
    const std::int64_t cells = p.where.images * p.where.cells(), tasks = p.where.images * walks * bands * widths;
    // Calls in unit spacing without pruning and with open ends take small numbers.
    bool try_near = Unit && p.whole.prune == pruning::constant && p.whole.least <= 1;
    for (const border each : p.where.beyond) try_near = try_near && each == border::open;
    workers crew(on, cells);
    crew.for_each(tasks, 1, std::max<std::int64_t>(1, cells / tasks), [&](std::int64_t first, std::int64_t last, int) {
        walker<small, true> near(p, over);
        walker<Number, Unit> any(p, over);
        for (std::int64_t task = first; task < last; ++task) {
            const std::int64_t width = task % widths, band = task / widths % bands,
                               walk = task / widths / bands % walks;
            const auto mark = [&](auto& by) {
                return by.walk(task / widths / bands / walks, walk * planes_of_walk,
                               std::min((walk + 1) * planes_of_walk, size[0]), band * rows_of_band,
                               std::min((band + 1) * rows_of_band, size[1]), width * columns_of_walk,
                               std::min((width + 1) * columns_of_walk, size[2]));
            };
            const bool done = try_near && mark(near);
            if (!done) mark(any);
            if (try_near) (done ? small_walks_taken.done : small_walks_taken.too_far).fetch_add(1);
        }
    });
}

void mark_rows(const host& on, const problem& p, const pass& over) {
    if (p.unit && p.masks_fit_int32()) mark_by<std::int32_t, true>(on, p, over);
    else if (p.fits_int32()) mark_by<std::int32_t, false>(on, p, over);
    else mark_by<std::int64_t, false>(on, p, over);
}

}  // namespace nearfield::medial_axes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::medial_axes {

HWY_EXPORT(mark_rows);
void mark_rows(const host& on, const problem& p, const pass& over) { HWY_DYNAMIC_DISPATCH(mark_rows)(on, p, over); }

}  // namespace nearfield::medial_axes
#endif
