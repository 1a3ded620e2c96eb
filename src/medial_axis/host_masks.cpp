// Walks bands of rows along the first axis with two planes in memory, so that a site is unpacked about once and each
// pair of neighbours is evaluated once. Loops over rows have no branch and no division. Compiled once per instruction
// set, so that the compiler uses the machine's widest vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "medial_axis/host_masks.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "medial_axis/host_masks.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::medial_axes::HWY_NAMESPACE {

constexpr std::int64_t rows_of_band = 8, planes_of_walk = 16;
constexpr std::int64_t columns_of_walk = 2048;  // walks of 2 million columns took 8 to 16 times as long

/// A row's vectors to sites, their squared lengths, and the marks so far, as one array after another.
template <class Number>
struct cells_of_row {
    std::vector<Number> memory;
    std::int64_t size = 0;

    void resize(std::int64_t cells) {
        size = cells;
        memory.resize(static_cast<std::size_t>(5 * cells));
    }
    [[nodiscard]] Number* part(int which) { return memory.data() + which * size; }
    [[nodiscard]] const Number* part(int which) const { return memory.data() + which * size; }
    [[nodiscard]] cell<Number> at(std::int64_t x) const { return {{part(0)[x], part(1)[x], part(2)[x]}, part(3)[x]}; }
};
constexpr int squared = 3, marks = 4;

/// `Number` holds the squares of distances in the grid.
template <class Number>
class walker {
public:
    walker(const problem& p, const pass& over)
        : p_(p),
          index_(static_cast<const std::int32_t*>(over.index.data)),
          axis_(static_cast<std::uint8_t*>(over.axis.data)),
          by_(rule_of(p)),
          by_row_(p.where.size[2]),
          by_plane_(p.where.size[1]) {
        here_.resize(rows_of_band + 2), next_.resize(rows_of_band + 2);
    }

    /// Marks columns [x, x_end) of rows [y, y_end) of planes [z, z_end).
    void walk(std::int64_t image, std::int64_t z, std::int64_t z_end, std::int64_t y, std::int64_t y_end,
              std::int64_t x, std::int64_t x_end) {
        image_ = image, first_ = y, end_ = y_end, column_ = x, column_end_ = x_end;
        first_read_ = std::max<std::int64_t>(0, x - 1);
        const std::int64_t columns = std::min(x_end + 1, p_.where.size[2]) - first_read_;
        if (columns != here_[0].size) resize(columns);
        if (z > 0) read(z - 1);
        std::swap(here_, next_);
        read(z);
        if (z > 0) between_planes();
        for (; z < z_end; ++z) {
            std::swap(here_, next_);
            if (z + 1 < p_.where.size[0]) {
                read(z + 1);
                between_planes();
            }
            for (std::int64_t row = first_; row < end_; ++row) along_row(of(here_, row));
            for (std::int64_t row = std::max<std::int64_t>(0, first_ - 1); row < std::min(end_, p_.where.size[1] - 1);
                 ++row)
                weigh(of(here_, row), of(here_, row + 1), 1);
            for (std::int64_t row = first_; row < end_; ++row) write(z, row);
        }
    }

private:
    void resize(std::int64_t columns) {
        for (std::vector<cells_of_row<Number>>* plane : {&here_, &next_})
            for (cells_of_row<Number>& each : *plane) each.resize(columns);
        sides_.resize(static_cast<std::size_t>(columns));
    }
    [[nodiscard]] cells_of_row<Number>& of(std::vector<cells_of_row<Number>>& plane, std::int64_t row) const {
        return plane[static_cast<std::size_t>(row - first_ + 1)];
    }

    /// Reads the band's rows of a plane, and the rows and columns beside the band, into `next_`.
    void read(std::int64_t z) {
        const std::int64_t last = std::min(end_ + 1, p_.where.size[1]);
        for (std::int64_t row = std::max<std::int64_t>(0, first_ - 1); row < last; ++row)
            read_row(of(next_, row), z, row);
    }

    void read_row(cells_of_row<Number>& to, std::int64_t z, std::int64_t y) const {
        const std::int64_t size = p_.where.size[2], own = (z * p_.where.size[1] + y) * size + first_read_;
        const std::int32_t* __restrict from = index_ + image_ * p_.where.cells() + own;
        Number* __restrict to0 = to.part(0);
        Number* __restrict to1 = to.part(1);
        Number* __restrict to2 = to.part(2);
        Number* __restrict lengths = to.part(squared);
        const auto rows = static_cast<std::int32_t>(p_.where.size[1]), columns = static_cast<std::int32_t>(size);
        const auto at_z = static_cast<std::int32_t>(z), at_y = static_cast<std::int32_t>(y),
                   at_x = static_cast<std::int32_t>(first_read_), first = static_cast<std::int32_t>(own),
                   count = static_cast<std::int32_t>(to.size);
        const divisor by_row = by_row_, by_plane = by_plane_;
        for (std::int32_t x = 0; x < count; ++x) {
            const std::int32_t site = from[x] < 0 ? first + x : from[x];
            const auto line = static_cast<std::int32_t>(by_row.quotient(static_cast<std::uint32_t>(site)));
            const auto plane = static_cast<std::int32_t>(by_plane.quotient(static_cast<std::uint32_t>(line)));
            const Number dz = plane - at_z, dy = line - plane * rows - at_y, dx = site - line * columns - at_x - x;
            to0[x] = dz, to1[x] = dy, to2[x] = dx;
            lengths[x] = dz * dz + dy * dy + dx * dx;
        }
        std::fill_n(to.part(marks), to.size, 0);
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
        Number* __restrict sides = sides_.data();
        for (std::int64_t x = 0; x < p.size - shift; ++x) {
            const Number e0 = p0[x] - q0[x] - step[0], e1 = p1[x] - q1[x] - step[1], e2 = p2[x] - q2[x] - step[2];
            const Number apart = magnitude(e0) + magnitude(e1) + magnitude(e2);
            const Number side = (ps[x] - qs[x]) - (pa[x] + qa[x]);
            sides[x] = apart > 1 ? (side >= 0 ? 1 : 0) | (side <= 0 ? 2 : 0) : 0;
        }
    }
    static Number magnitude(Number x) { return x < 0 ? -x : x; }

    /// Clears the pairs that the pruning drops.
    void prune(const cells_of_row<Number>& p, const cells_of_row<Number>& q, int axis, std::int64_t shift) {
        if (by_.prune == pruning::constant && by_.least <= 1) return;
        for (std::int64_t x = 0; x < p.size - shift; ++x) {
            Number& side = sides_[static_cast<std::size_t>(x)];
            if (side != 0 && !between(by_, p.at(x), q.at(x + shift), axis).counts) side = 0;
        }
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
        const Number* __restrict marked = row.part(marks) + (column_ - first_read_);
        const Number* __restrict lengths = row.part(squared) + (column_ - first_read_);
        for (std::int64_t x = 0; x < column_end_ - column_; ++x)
            to[x] = static_cast<std::uint8_t>(lengths[x] > 0 ? marked[x] : 0);
    }

    static constexpr bool narrow = std::is_same_v<Number, std::int32_t>;
    using rule_type = std::conditional_t<narrow, rule<std::int32_t, true>, rule<std::int64_t>>;
    static rule_type rule_of(const problem& p) {
        if constexpr (narrow) return narrowed<true>(p.whole);
        else return p.whole;
    }

    const problem& p_;
    const std::int32_t* index_;
    std::uint8_t* axis_;
    rule_type by_;
    divisor by_row_, by_plane_;
    std::vector<Number> sides_;
    std::vector<cells_of_row<Number>> here_, next_;
    std::int64_t image_ = 0, first_ = 0, end_ = 0;               ///< rows of the band
    std::int64_t column_ = 0, column_end_ = 0, first_read_ = 0;  ///< columns to mark, and the first one in memory
};

template <class Number>
void mark_by(const host& on, const problem& p, const pass& over) {
    const std::int64_t(&size)[most_axes] = p.where.size;
    const auto parts = [](std::int64_t cells, std::int64_t of_part) { return (cells + of_part - 1) / of_part; };
    const std::int64_t walks = parts(size[0], planes_of_walk), bands = parts(size[1], rows_of_band),
                       widths = parts(size[2], columns_of_walk);
    const std::int64_t cells = p.where.images * p.where.cells(), tasks = p.where.images * walks * bands * widths;
    workers crew(on, cells);
    crew.for_each(tasks, 1, std::max<std::int64_t>(1, cells / tasks), [&](std::int64_t first, std::int64_t last, int) {
        walker<Number> w(p, over);
        for (std::int64_t task = first; task < last; ++task) {
            const std::int64_t width = task % widths, band = task / widths % bands,
                               walk = task / widths / bands % walks;
            w.walk(task / widths / bands / walks, walk * planes_of_walk, std::min((walk + 1) * planes_of_walk, size[0]),
                   band * rows_of_band, std::min((band + 1) * rows_of_band, size[1]), width * columns_of_walk,
                   std::min((width + 1) * columns_of_walk, size[2]));
        }
    });
}

void mark_masks(const host& on, const problem& p, const pass& over) {
    if (p.masks_fit_int32()) mark_by<std::int32_t>(on, p, over);
    else mark_by<std::int64_t>(on, p, over);
}

}  // namespace nearfield::medial_axes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::medial_axes {

HWY_EXPORT(mark_masks);
void mark_masks(const host& on, const problem& p, const pass& over) { HWY_DYNAMIC_DISPATCH(mark_masks)(on, p, over); }

}  // namespace nearfield::medial_axes
#endif
