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

#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "medial_axis/host_walks.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::medial_axes::HWY_NAMESPACE {

constexpr std::int64_t rows_of_band = 8, planes_of_walk = 16;
constexpr std::int64_t columns_of_walk = 2048;  // walks of 2 million columns took 8 to 16 times as long

constexpr int squared = 3, marks = 4, labels = 5;

/// A row's vectors to sites, their squared lengths, the marks so far, and the low and high halves of its labels, as one
/// array after another. The first and the last cell lie beside the columns to mark.
template <class Number>
struct cells_of_row {
    std::vector<Number> memory;
    std::int64_t size = 0;

    void resize(std::int64_t cells, bool with_labels) {
        size = cells;
        memory.resize(static_cast<std::size_t>((with_labels ? labels + 2 : labels) * cells));
    }
    [[nodiscard]] int parts() const { return static_cast<int>(static_cast<std::int64_t>(memory.size()) / size); }
    [[nodiscard]] Number* part(int which) { return memory.data() + which * size; }
    [[nodiscard]] const Number* part(int which) const { return memory.data() + which * size; }
    [[nodiscard]] cell<Number> at(std::int64_t x) const { return {{part(0)[x], part(1)[x], part(2)[x]}, part(3)[x]}; }
};
/// `Number` holds the squares of distances in the grid; `Unit`: all lengths are 1.
template <class Number, bool Unit>
class walker {
public:
    walker(const problem& p, const pass& over)
        : p_(p),
          index_(static_cast<const std::int32_t*>(over.index.data)),
          axis_(static_cast<std::uint8_t*>(over.axis.data)),
          image_of_labels_(over.image),
          by_(rule_of(p)),
          least_(by_.prune == pruning::constant ? by_.least : 0),
          by_row_(p.where.size[2]),
          by_plane_(p.where.size[1]) {
        here_.resize(rows_of_band + 2), next_.resize(rows_of_band + 2);
    }

    /// Marks columns [x, x_end) of rows [y, y_end) of planes [z, z_end).
    void walk(std::int64_t image, std::int64_t z, std::int64_t z_end, std::int64_t y, std::int64_t y_end,
              std::int64_t x, std::int64_t x_end) {
        image_ = image, first_ = y, end_ = y_end, column_ = x, column_end_ = x_end;
        if (x_end - x + 2 != here_[0].size) resize(x_end - x + 2);
        if (exists(0, z - 1)) read(z - 1);
        std::swap(here_, next_);
        read(z);
        if (exists(0, z - 1)) between_planes();
        for (; z < z_end; ++z) {
            std::swap(here_, next_);
            if (exists(0, z + 1)) {
                read(z + 1);
                between_planes();
            }
            for (std::int64_t row = first_; row < end_; ++row) along_row(of(here_, row));
            for (std::int64_t row = first_ - 1; row < end_; ++row)
                if (exists(1, row) && exists(1, row + 1)) weigh(of(here_, row), of(here_, row + 1), 1);
            for (std::int64_t row = first_; row < end_; ++row) write(z, row);
        }
    }

private:
    void resize(std::int64_t columns) {
        for (std::vector<cells_of_row<Number>>* plane : {&here_, &next_})
            for (cells_of_row<Number>& each : *plane) each.resize(columns, p_.labels);
        sides_.resize(static_cast<std::size_t>(columns));
    }
    [[nodiscard]] cells_of_row<Number>& of(std::vector<cells_of_row<Number>>& plane, std::int64_t row) const {
        return plane[static_cast<std::size_t>(row - first_ + 1)];
    }

    /// Tells whether there is a plane, row or column: one of the grid, or beyond an end that is not open.
    [[nodiscard]] bool exists(int axis, std::int64_t place) const {
        return (place >= 0 && place < p_.where.size[axis]) || p_.where.beyond[axis] != border::open;
    }
    /// Returns the place across a periodic end, or -1 beyond a closed one.
    [[nodiscard]] std::int64_t in_grid(int axis, std::int64_t place) const {
        const std::int64_t size = p_.where.size[axis];
        if (place >= 0 && place < size) return place;
        return p_.where.beyond[axis] != border::periodic ? -1 : place < 0 ? size - 1 : 0;
    }

    /// Reads the band's rows of a plane, and the rows and columns beside the band, into `next_`.
    void read(std::int64_t z) {
        for (std::int64_t row = first_ - 1; row < end_ + 1; ++row)
            if (exists(1, row)) read_row(of(next_, row), in_grid(0, z), in_grid(1, row));
    }

    void read_row(cells_of_row<Number>& to, std::int64_t z, std::int64_t y) const {
        std::fill_n(to.part(marks), to.size, Number{0});
        if (z < 0 || y < 0) {  // sites beyond a closed end, of which labels do not matter
            for (int part = 0; part < marks; ++part) std::fill_n(to.part(part), to.size, Number{0});
            return;
        }
        const std::int64_t first = std::max<std::int64_t>(column_ - 1, 0),
                           last = std::min(column_end_ + 1, p_.where.size[2]);
        read_columns(to, z, y, first, last, first - column_ + 1);
        if (column_ == 0) read_beside(to, z, y, -1);
        if (column_end_ == p_.where.size[2]) read_beside(to, z, y, 1);
    }

    /// Sets the cell before the first column or behind the last one: beyond an open end, one whose site is that of the
    /// cell beside it.
    void read_beside(cells_of_row<Number>& to, std::int64_t z, std::int64_t y, int way) const {
        const std::int64_t at = way < 0 ? 0 : to.size - 1, there = in_grid(2, way < 0 ? -1 : column_end_);
        if (there >= 0) return read_columns(to, z, y, there, there + 1, at);
        const bool open = p_.where.beyond[2] == border::open;
        for (int part = 0; part < to.parts(); ++part) to.part(part)[at] = open ? to.part(part)[at - way] : 0;
        if (open) to.part(2)[at] -= static_cast<Number>(way);
    }

    void read_columns(cells_of_row<Number>& to, std::int64_t z, std::int64_t y, std::int64_t first, std::int64_t last,
                      std::int64_t at) const {
        read_sites(to, z, y, first, last, at);
        for (int axis = 0; axis < most_axes; ++axis)
            if (p_.where.beyond[axis] == border::periodic) shorten(to.part(axis) + at, last - first, axis);
        measure(to, at, last - first);
        const std::int64_t start = (z * p_.where.size[1] + y) * p_.where.size[2];
        const std::int32_t* const from = index_ + image_ * p_.where.cells() + start;
        const border(&ends)[most_axes] = p_.where.beyond;
        if (ends[0] == border::closed || ends[1] == border::closed || ends[2] == border::closed)
            for (std::int64_t x = first; x < last; ++x)
                if (from[x] < 0) put_border(to, at + x - first, {z, y, x});
        if (p_.labels) read_labels(to, z, y, first, last, at);
    }
    void shorten(Number* __restrict ways, std::int64_t count, int axis) const {
        const auto size = static_cast<Number>(p_.where.size[axis]);
        for (std::int64_t x = 0; x < count; ++x)
            ways[x] += (2 * ways[x] >= size ? -size : 0) + (2 * ways[x] < -size ? size : 0);
    }
    void measure(cells_of_row<Number>& to, std::int64_t at, std::int64_t count) const {
        const Number* __restrict a = to.part(0) + at;
        const Number* __restrict b = to.part(1) + at;
        const Number* __restrict c = to.part(2) + at;
        Number* __restrict lengths = to.part(squared) + at;
        const Number weight[3] = {by_.weight(0), by_.weight(1), by_.weight(2)};
        for (std::int64_t x = 0; x < count; ++x)
            lengths[x] = weight[0] * (a[x] * a[x]) + weight[1] * (b[x] * b[x]) + weight[2] * (c[x] * c[x]);
    }
    void put_border(cells_of_row<Number>& to, std::int64_t x, const std::int64_t (&place)[most_axes]) const {
        const cell<Number> found = nearest_border(by_, place, p_.where.size, p_.where.beyond);
        for (int axis = 0; axis < most_axes; ++axis) to.part(axis)[x] = found.to[axis];
        to.part(squared)[x] = found.squared;
    }
    void read_labels(cells_of_row<Number>& to, std::int64_t z, std::int64_t y, std::int64_t first, std::int64_t last,
                     std::int64_t at) const {
        const std::int64_t place[most_axes] = {z, y, first};
        std::int64_t offset = image_of_labels_.first_of(p_.where, image_) + image_of_labels_.offset(place);
        for (std::int64_t x = at; x < at + last - first; ++x, offset += image_of_labels_.step[2]) {
            const std::uint64_t bits = bits_at(image_of_labels_, offset);
            to.part(labels)[x] = static_cast<Number>(static_cast<std::uint32_t>(bits));
            to.part(labels + 1)[x] = static_cast<Number>(bits >> 32);
        }
    }

    void read_sites(cells_of_row<Number>& to, std::int64_t z, std::int64_t y, std::int64_t begin, std::int64_t last,
                    std::int64_t at) const {
        const std::int64_t size = p_.where.size[2], own = (z * p_.where.size[1] + y) * size + begin;
        const std::int32_t* __restrict from = index_ + image_ * p_.where.cells() + own;
        Number* __restrict to0 = to.part(0) + at;
        Number* __restrict to1 = to.part(1) + at;
        Number* __restrict to2 = to.part(2) + at;
        const auto rows = static_cast<std::int32_t>(p_.where.size[1]), columns = static_cast<std::int32_t>(size);
        const auto at_z = static_cast<std::int32_t>(z), at_y = static_cast<std::int32_t>(y),
                   at_x = static_cast<std::int32_t>(begin), first = static_cast<std::int32_t>(own),
                   count = static_cast<std::int32_t>(last - begin);
        const divisor by_row = by_row_, by_plane = by_plane_;
        for (std::int32_t x = 0; x < count; ++x) {
            const std::int32_t site = from[x] < 0 ? first + x : from[x];
            const auto line = static_cast<std::int32_t>(by_row.quotient(static_cast<std::uint32_t>(site)));
            const auto plane = static_cast<std::int32_t>(by_plane.quotient(static_cast<std::uint32_t>(line)));
            to0[x] = plane - at_z, to1[x] = line - plane * rows - at_y, to2[x] = site - line * columns - at_x - x;
        }
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
            const Number counts =
                far_apart(p0[x] - q0[x] - step[0], p1[x] - q1[x] - step[1], p2[x] - q2[x] - step[2], weight, least);
            const Number side = (ps[x] - qs[x]) - weight[axis] * (pa[x] + qa[x]);
            sides[x] = counts != 0 ? (side >= 0 ? 1 : 0) | (side <= 0 ? 2 : 0) : 0;
        }
        if (p_.labels) find_foreign_sides(p, q, axis, shift);
    }
    static Number magnitude(Number x) { return x < 0 ? -x : x; }

    /// Tells whether two sites that are e apart are no neighbours, nor too near each other to count.
    static Number far_apart(Number e0, Number e1, Number e2, const Number (&weight)[most_axes], Number least) {
        const Number steps = magnitude(e0) + magnitude(e1) + magnitude(e2);
        if constexpr (Unit) return steps > 1;
        else return (steps > 1) & (weight[0] * (e0 * e0) + weight[1] * (e1 * e1) + weight[2] * (e2 * e2) > least);
    }

    /// Sets the bits of pairs with different labels: each cell is a site for the other one.
    void find_foreign_sides(const cells_of_row<Number>& p, const cells_of_row<Number>& q, int axis,
                            std::int64_t shift) {
        const Number step[most_axes] = {axis == 0, axis == 1, axis == 2};
        const Number weight[most_axes] = {by_.weight(0), by_.weight(1), by_.weight(2)}, least = least_;
        const Number* __restrict from = p.part(0);
        const Number* __restrict to = q.part(0) + shift;
        Number* __restrict sides = sides_.data();
        const std::int64_t n = p.size;
        for (std::int64_t x = 0; x < n - shift; ++x) {
            const Number of_p =
                far_apart(from[x] - step[0], from[n + x] - step[1], from[2 * n + x] - step[2], weight, least);
            const Number of_q = far_apart(to[x] + step[0], to[n + x] + step[1], to[2 * n + x] + step[2], weight, least);
            const Number near_p = from[squared * n + x] >= weight[axis] * from[axis * n + x],
                         near_q = to[squared * n + x] + weight[axis] * to[axis * n + x] >= 0;
            const Number other =
                (from[labels * n + x] ^ to[labels * n + x]) | (from[(labels + 1) * n + x] ^ to[(labels + 1) * n + x]);
            sides[x] = other != 0 ? (of_p & near_p) | (of_q & near_q) << 1 : sides[x];
        }
    }

    /// Clears the pairs that the pruning drops.
    void prune(const cells_of_row<Number>& p, const cells_of_row<Number>& q, int axis, std::int64_t shift) {
        if (by_.prune == pruning::constant && (!Unit || by_.least <= 1)) return;
        for (std::int64_t x = 0; x < p.size - shift; ++x) {
            Number& side = sides_[static_cast<std::size_t>(x)];
            if (side == 0) continue;
            if (!p_.labels || (p.part(labels)[x] == q.part(labels)[x + shift] &&
                               p.part(labels + 1)[x] == q.part(labels + 1)[x + shift])) {
                if (!between(by_, p.at(x), q.at(x + shift), axis).counts) side = 0;
                continue;
            }
            if (!between(by_, p.at(x), cell<Number>{}, axis).counts) side &= 2;
            if (!between(by_, q.at(x + shift), cell<Number>{}, axis, -1).counts) side &= 1;
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
        const Number* __restrict marked = row.part(marks) + 1;
        const Number* __restrict lengths = row.part(squared) + 1;
        for (std::int64_t x = 0; x < column_end_ - column_; ++x)
            to[x] = static_cast<std::uint8_t>(lengths[x] > 0 ? marked[x] : 0);
    }

    static rule<Number, Unit> rule_of(const problem& p) {
        if constexpr (std::is_same_v<Number, std::int32_t>) return narrowed<Unit>(p.whole);
        else return p.whole;
    }

    const problem& p_;
    const std::int32_t* index_;
    std::uint8_t* axis_;
    const source& image_of_labels_;
    rule<Number, Unit> by_;
    Number least_;
    divisor by_row_, by_plane_;
    std::vector<Number> sides_;
    std::vector<cells_of_row<Number>> here_, next_;
    std::int64_t image_ = 0, first_ = 0, end_ = 0;  ///< rows of the band
    std::int64_t column_ = 0, column_end_ = 0;      ///< columns to mark
};

template <class Number, bool Unit>
void mark_by(const host& on, const problem& p, const pass& over) {
    const std::int64_t(&size)[most_axes] = p.where.size;
    const auto parts = [](std::int64_t cells, std::int64_t of_part) { return (cells + of_part - 1) / of_part; };
    const std::int64_t walks = parts(size[0], planes_of_walk), bands = parts(size[1], rows_of_band),
                       widths = parts(size[2], columns_of_walk);
    const std::int64_t cells = p.where.images * p.where.cells(), tasks = p.where.images * walks * bands * widths;
    workers crew(on, cells);
    crew.for_each(tasks, 1, std::max<std::int64_t>(1, cells / tasks), [&](std::int64_t first, std::int64_t last, int) {
        walker<Number, Unit> w(p, over);
        for (std::int64_t task = first; task < last; ++task) {
            const std::int64_t width = task % widths, band = task / widths % bands,
                               walk = task / widths / bands % walks;
            w.walk(task / widths / bands / walks, walk * planes_of_walk, std::min((walk + 1) * planes_of_walk, size[0]),
                   band * rows_of_band, std::min((band + 1) * rows_of_band, size[1]), width * columns_of_walk,
                   std::min((width + 1) * columns_of_walk, size[2]));
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
