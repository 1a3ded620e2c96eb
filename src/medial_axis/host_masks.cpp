// Walks bands of rows along the first axis with two planes in memory, so that a site is unpacked about once and each
// pair of neighbours is evaluated once. Loops over rows have no branch and no division.
#include "medial_axis/host_masks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/divide.hpp"
#include "base/parallel.hpp"

namespace nearfield::medial_axes {
namespace {

constexpr std::int64_t rows_of_band = 8, planes_of_walk = 16;

/// A row's vectors to sites, their squared lengths, and the marks so far, as one array after another.
struct cells_of_row {
    std::vector<std::int32_t> memory;
    std::int64_t size = 0;

    void resize(std::int64_t cells) {
        size = cells;
        memory.resize(static_cast<std::size_t>(5 * cells));
    }
    [[nodiscard]] std::int32_t* part(int which) { return memory.data() + which * size; }
    [[nodiscard]] const std::int32_t* part(int which) const { return memory.data() + which * size; }
    [[nodiscard]] cell<std::int32_t> at(std::int64_t x) const {
        return {{part(0)[x], part(1)[x], part(2)[x]}, part(3)[x]};
    }
};
constexpr int squared = 3, marks = 4;

class walker {
public:
    walker(const problem& p, const pass& over)
        : p_(p),
          index_(static_cast<const std::int32_t*>(over.index.data)),
          axis_(static_cast<std::uint8_t*>(over.axis.data)),
          by_(narrowed<true>(p.whole)),
          by_row_(p.where.size[2]),
          by_plane_(p.where.size[1]),
          sides_(static_cast<std::size_t>(p.where.size[2])) {
        for (std::vector<cells_of_row>* plane : {&here_, &next_}) {
            plane->resize(rows_of_band + 2);
            for (cells_of_row& each : *plane) each.resize(p.where.size[2]);
        }
    }

    /// Marks rows [y, y_end) of planes [z, z_end).
    void walk(std::int64_t image, std::int64_t z, std::int64_t z_end, std::int64_t y, std::int64_t y_end) {
        image_ = image, first_ = y, end_ = y_end;
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
    [[nodiscard]] cells_of_row& of(std::vector<cells_of_row>& plane, std::int64_t row) const {
        return plane[static_cast<std::size_t>(row - first_ + 1)];
    }

    /// Reads the band's rows of a plane, and the rows beside the band, into `next_`.
    void read(std::int64_t z) {
        const std::int64_t last = std::min(end_ + 1, p_.where.size[1]);
        for (std::int64_t row = std::max<std::int64_t>(0, first_ - 1); row < last; ++row)
            read_row(of(next_, row), z, row);
    }

    void read_row(cells_of_row& to, std::int64_t z, std::int64_t y) const {
        const std::int64_t size = p_.where.size[2], own = (z * p_.where.size[1] + y) * size;
        const std::int32_t* __restrict from = index_ + image_ * p_.where.cells() + own;
        std::int32_t* __restrict to0 = to.part(0);
        std::int32_t* __restrict to1 = to.part(1);
        std::int32_t* __restrict to2 = to.part(2);
        std::int32_t* __restrict lengths = to.part(squared);
        const auto rows = static_cast<std::int32_t>(p_.where.size[1]), columns = static_cast<std::int32_t>(size);
        const auto at_z = static_cast<std::int32_t>(z), at_y = static_cast<std::int32_t>(y),
                   first = static_cast<std::int32_t>(own);
        const divisor by_row = by_row_, by_plane = by_plane_;
        for (std::int32_t x = 0; x < columns; ++x) {
            const std::int32_t site = from[x] < 0 ? first + x : from[x];
            const auto line = static_cast<std::int32_t>(by_row.quotient(static_cast<std::uint32_t>(site)));
            const auto plane = static_cast<std::int32_t>(by_plane.quotient(static_cast<std::uint32_t>(line)));
            const std::int32_t dz = plane - at_z, dy = line - plane * rows - at_y, dx = site - line * columns - x;
            to0[x] = dz, to1[x] = dy, to2[x] = dx;
            lengths[x] = dz * dz + dy * dy + dx * dx;
        }
        std::fill_n(to.part(marks), size, 0);
    }

    /// Sets bit 0 if p may be on the axis and bit 1 if q may: by the sign of `side`, if their sites are not neighbours.
    /// Integers whose magnitudes sum to more than 1 have squares that sum to more than 1.
    void find_sides(const cells_of_row& p, const cells_of_row& q, int axis, std::int64_t shift) {
        const std::int32_t step[most_axes] = {axis == 0, axis == 1, axis == 2};
        const std::int32_t* __restrict p0 = p.part(0);
        const std::int32_t* __restrict p1 = p.part(1);
        const std::int32_t* __restrict p2 = p.part(2);
        const std::int32_t* __restrict q0 = q.part(0) + shift;
        const std::int32_t* __restrict q1 = q.part(1) + shift;
        const std::int32_t* __restrict q2 = q.part(2) + shift;
        const std::int32_t* __restrict pa = p.part(axis);
        const std::int32_t* __restrict qa = q.part(axis) + shift;
        const std::int32_t* __restrict ps = p.part(squared);
        const std::int32_t* __restrict qs = q.part(squared) + shift;
        std::int32_t* __restrict sides = sides_.data();
        for (std::int64_t x = 0; x < p.size - shift; ++x) {
            const std::int32_t e0 = p0[x] - q0[x] - step[0], e1 = p1[x] - q1[x] - step[1], e2 = p2[x] - q2[x] - step[2];
            const std::int32_t apart = magnitude(e0) + magnitude(e1) + magnitude(e2);
            const std::int32_t side = (ps[x] - qs[x]) - (pa[x] + qa[x]);
            sides[x] = apart > 1 ? (side >= 0 ? 1 : 0) | (side <= 0 ? 2 : 0) : 0;
        }
    }
    static std::int32_t magnitude(std::int32_t x) { return x < 0 ? -x : x; }

    /// Clears the pairs that the pruning drops.
    void prune(const cells_of_row& p, const cells_of_row& q, int axis, std::int64_t shift) {
        if (by_.prune == pruning::constant && by_.least <= 1) return;
        for (std::int64_t x = 0; x < p.size - shift; ++x) {
            std::int32_t& side = sides_[static_cast<std::size_t>(x)];
            if (side != 0 && !between(by_, p.at(x), q.at(x + shift), axis).counts) side = 0;
        }
    }

    void weigh(cells_of_row& p, cells_of_row& q, int axis) {
        find_sides(p, q, axis, 0);
        prune(p, q, axis, 0);
        std::int32_t* __restrict of_p = p.part(marks);
        std::int32_t* __restrict of_q = q.part(marks);
        const std::int32_t* __restrict sides = sides_.data();
        for (std::int64_t x = 0; x < p.size; ++x) of_p[x] |= sides[x] & 1, of_q[x] |= sides[x] >> 1;
    }

    void along_row(cells_of_row& row) {
        find_sides(row, row, 2, 1);
        prune(row, row, 2, 1);
        std::int32_t* __restrict to = row.part(marks);
        const std::int32_t* __restrict sides = sides_.data();
        for (std::int64_t x = 0; x + 1 < row.size; ++x) to[x] |= sides[x] & 1;
        for (std::int64_t x = 0; x + 1 < row.size; ++x) to[x + 1] |= sides[x] >> 1;
    }

    void between_planes() {
        for (std::int64_t row = first_; row < end_; ++row) weigh(of(here_, row), of(next_, row), 0);
    }

    void write(std::int64_t z, std::int64_t y) {
        const cells_of_row& row = of(here_, y);
        std::uint8_t* __restrict to = axis_ + image_ * p_.where.cells() + (z * p_.where.size[1] + y) * row.size;
        const std::int32_t* __restrict marked = row.part(marks);
        const std::int32_t* __restrict lengths = row.part(squared);
        for (std::int64_t x = 0; x < row.size; ++x) to[x] = static_cast<std::uint8_t>(lengths[x] > 0 ? marked[x] : 0);
    }

    const problem& p_;
    const std::int32_t* index_;
    std::uint8_t* axis_;
    rule<std::int32_t, true> by_;
    divisor by_row_, by_plane_;
    std::vector<std::int32_t> sides_;
    std::vector<cells_of_row> here_, next_;
    std::int64_t image_ = 0, first_ = 0, end_ = 0;  ///< rows of the band
};

}  // namespace

void mark_masks(const host& on, const problem& p, const pass& over) {
    const std::int64_t(&size)[most_axes] = p.where.size;
    const std::int64_t walks = (size[0] + planes_of_walk - 1) / planes_of_walk,
                       bands = (size[1] + rows_of_band - 1) / rows_of_band;
    const std::int64_t cells = p.where.images * p.where.cells(), tasks = p.where.images * walks * bands;
    workers crew(on, cells);
    crew.for_each(tasks, 1, std::max<std::int64_t>(1, cells / tasks), [&](std::int64_t first, std::int64_t last, int) {
        walker w(p, over);
        for (std::int64_t task = first; task < last; ++task) {
            const std::int64_t band = task % bands, walk = task / bands % walks;
            w.walk(task / bands / walks, walk * planes_of_walk, std::min((walk + 1) * planes_of_walk, size[0]),
                   band * rows_of_band, std::min((band + 1) * rows_of_band, size[1]));
        }
    });
}

}  // namespace nearfield::medial_axes
