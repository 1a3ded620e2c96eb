// Rows of vectors to sites, and of labels, for the host's walks. Only the file that is compiled once per instruction
// set includes this header.
#if defined(NEARFIELD_MEDIAL_AXIS_ROWS) == defined(HWY_TARGET_TOGGLE)
#ifdef NEARFIELD_MEDIAL_AXIS_ROWS
#undef NEARFIELD_MEDIAL_AXIS_ROWS
#else
#define NEARFIELD_MEDIAL_AXIS_ROWS
#endif

#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/divide.hpp"
#include "hwy/highway.h"
#include "medial_axis/problem.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::medial_axes::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int squared = 3, marks = 4, parts_of_row = 5;

/// A row's vectors to sites, their squared lengths and the marks so far, and its labels, whose low and high halves
/// follow each other. The first and the last cell lie beside the columns to mark.
template <class Number>
struct cells_of_row {
    std::vector<Number> memory;
    std::vector<std::uint32_t> label;
    std::int64_t size = 0;

    void resize(std::int64_t cells, int halves) {
        size = cells;
        memory.resize(static_cast<std::size_t>(parts_of_row * cells));
        label.resize(static_cast<std::size_t>(halves * cells));
    }
    [[nodiscard]] Number* part(int which) { return memory.data() + which * size; }
    [[nodiscard]] const Number* part(int which) const { return memory.data() + which * size; }
    /// Returns the labels' low halves, or their high ones.
    [[nodiscard]] std::uint32_t* labels(bool high) { return label.data() + (high ? size : 0); }
    [[nodiscard]] const std::uint32_t* labels(bool high) const { return label.data() + (high ? size : 0); }
    [[nodiscard]] cell<Number> at(std::int64_t x) const { return {{part(0)[x], part(1)[x], part(2)[x]}, part(3)[x]}; }
};

/// Type of small numbers, for cells whose sites are less than 4096 cells away along each axis. Sums of three
/// differences of such vectors fit. Squares do not, but their last 16 bits are enough: neighbours are at most a cell
/// farther from their sites than each other, so that squares of at most 7095 cells and two vectors differ by less
/// than 2^15.
using small = std::int16_t;
constexpr std::int32_t near_cells = 4096;

/// divisor::quotient() in vectors.
template <class V>
HWY_INLINE V quotient(V of, const divisor& by) {
#if HWY_TARGET == HWY_SCALAR
    return V(by.quotient(of.raw));
#else
    const hn::DFromV<V> d;
    const hn::RepartitionToWide<decltype(d)> wide;
    const auto divided = [&](auto half) {
        return hn::ShiftRightSame(hn::MulEven(half, hn::Set(d, by.multiplier)), by.shift);
    };
    const auto odd = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, of)));
    return hn::BitCast(d, hn::Or(divided(of), hn::ShiftLeft<32>(divided(odd))));
#endif
}

/// Reads rows. `Number` holds the squares of distances in the grid, or is `small`; `Unit`: all lengths are 1.
template <class Number, bool Unit>
class row_reader {
protected:
    row_reader(const problem& p, const pass& over)
        : p_(p),
          index_(static_cast<const std::int32_t*>(over.index.data)),
          image_of_labels_(over.image),
          by_(rule_of(p)),
          by_row_(p.where.size[2]),
          by_plane_(p.where.size[1]) {
        if (p.labels) halves_ = size_of(over.image.type) > 4 ? 2 : 1;
    }

    static constexpr bool is_small = std::is_same_v<Number, small>;

    static rule<Number, Unit> rule_of(const problem& p) {
        if constexpr (is_small) return {};
        else if constexpr (std::is_same_v<Number, std::int32_t>) return narrowed<Unit>(p.whole);
        else return p.whole;
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

    void read_row(cells_of_row<Number>& to, std::int64_t z, std::int64_t y) {
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
    void read_beside(cells_of_row<Number>& to, std::int64_t z, std::int64_t y, int way) {
        const std::int64_t at = way < 0 ? 0 : to.size - 1, there = in_grid(2, way < 0 ? -1 : column_end_);
        if (there >= 0) return read_columns(to, z, y, there, there + 1, at);
        const bool open = p_.where.beyond[2] == border::open;
        for (int part = 0; part < parts_of_row; ++part) to.part(part)[at] = open ? to.part(part)[at - way] : Number{0};
        for (int half = 0; half < halves_; ++half) to.labels(half != 0)[at] = to.labels(half != 0)[at - way];
        if (open) to.part(2)[at] = static_cast<Number>(to.part(2)[at] - way);
    }

    void read_columns(cells_of_row<Number>& to, std::int64_t z, std::int64_t y, std::int64_t first, std::int64_t last,
                      std::int64_t at) {
        read_sites(to, z, y, first, last, at);
        if constexpr (!is_small)
            for (int axis = 0; axis < most_axes; ++axis)
                if (p_.where.beyond[axis] == border::periodic) shorten(to.part(axis) + at, last - first, axis);
        measure(to, at, last - first);
        if (p_.labels) read_labels(to, z, y, first, last, at);
        if constexpr (is_small) return;
        const std::int64_t start = (z * p_.where.size[1] + y) * p_.where.size[2];
        const std::int32_t* const from = index_ + image_ * p_.where.cells() + start;
        const border(&ends)[most_axes] = p_.where.beyond;
        if (ends[0] == border::closed || ends[1] == border::closed || ends[2] == border::closed)
            for (std::int64_t x = first; x < last; ++x)
                if (from[x] < 0) put_border(to, at + x - first, {z, y, x});
    }
    void shorten(Number* __restrict ways, std::int64_t count, int axis) const {
        const auto size = static_cast<Number>(p_.where.size[axis]);
        for (std::int64_t x = 0; x < count; ++x)
            ways[x] += static_cast<Number>((2 * ways[x] >= size ? -size : 0) + (2 * ways[x] < -size ? size : 0));
    }
    void measure(cells_of_row<Number>& to, std::int64_t at, std::int64_t count) const {
        const Number* __restrict a = to.part(0) + at;
        const Number* __restrict b = to.part(1) + at;
        const Number* __restrict c = to.part(2) + at;
        Number* __restrict lengths = to.part(squared) + at;
        const Number weight[3] = {by_.weight(0), by_.weight(1), by_.weight(2)};
        for (std::int64_t x = 0; x < count; ++x)
            lengths[x] =
                static_cast<Number>(weight[0] * (a[x] * a[x]) + weight[1] * (b[x] * b[x]) + weight[2] * (c[x] * c[x]));
    }
    void put_border(cells_of_row<Number>& to, std::int64_t x, const std::int64_t (&place)[most_axes]) const {
        const cell<Number> found = nearest_border(by_, place, p_.where.size, p_.where.beyond);
        for (int axis = 0; axis < most_axes; ++axis) to.part(axis)[x] = found.to[axis];
        to.part(squared)[x] = found.squared;
    }
    void read_labels(cells_of_row<Number>& to, std::int64_t z, std::int64_t y, std::int64_t first, std::int64_t last,
                     std::int64_t at) const {
        const std::int64_t place[most_axes] = {z, y, first};
        const std::int64_t offset = image_of_labels_.first_of(p_.where, image_) + image_of_labels_.offset(place);
        const auto read = [&]<class T>(T) {
            const T* const from = static_cast<const T*>(image_of_labels_.data) + offset;
            const std::int64_t step = image_of_labels_.step[2], count = last - first;
            std::uint32_t *low = to.labels(false) + at, *high = sizeof(T) > 4 ? to.labels(true) + at : nullptr;
            for (std::int64_t x = 0; x < count; ++x) low[x] = static_cast<std::uint32_t>(from[x * step]);
            if constexpr (sizeof(T) > 4)
                for (std::int64_t x = 0; x < count; ++x) high[x] = static_cast<std::uint32_t>(from[x * step] >> 32);
        };
        switch (size_of(image_of_labels_.type)) {
            case 1: return read(std::uint8_t{});
            case 2: return read(std::uint16_t{});
            case 4: return read(std::uint32_t{});
            default: return read(std::uint64_t{});
        }
    }

    void read_sites(cells_of_row<Number>& to, std::int64_t z, std::int64_t y, std::int64_t begin, std::int64_t last,
                    std::int64_t at) {
        const std::int64_t size = p_.where.size[2], own = (z * p_.where.size[1] + y) * size + begin;
        const std::int32_t* __restrict from = index_ + image_ * p_.where.cells() + own;
        Number* __restrict to0 = to.part(0) + at;
        Number* __restrict to1 = to.part(1) + at;
        Number* __restrict to2 = to.part(2) + at;
        const auto at_z = static_cast<std::int32_t>(z), at_y = static_cast<std::int32_t>(y),
                   at_x = static_cast<std::int32_t>(begin), first = static_cast<std::int32_t>(own),
                   count = static_cast<std::int32_t>(last - begin);
        const auto rows = static_cast<std::int32_t>(p_.where.size[1]), columns = static_cast<std::int32_t>(size);
        std::int32_t far = 0;
        constexpr std::int32_t some = 256;
        alignas(64) std::int32_t line[some], plane[some];
        for (std::int32_t done = 0; done < count; done += some) {
            const std::int32_t few = std::min(some, count - done);
            place_sites(from + done, few, first + done, line, plane);
            for (std::int32_t k = 0; k < few; ++k) {
                const std::int32_t x = done + k, site = from[x] < 0 ? first + x : from[x];
                const std::int32_t way0 = plane[k] - at_z, way1 = line[k] - plane[k] * rows - at_y,
                                   way2 = site - line[k] * columns - at_x - x;
                far |= (way0 + near_cells) | (way1 + near_cells) | (way2 + near_cells);
                to0[x] = static_cast<Number>(way0), to1[x] = static_cast<Number>(way1),
                to2[x] = static_cast<Number>(way2);
            }
        }
        if constexpr (is_small) far_ |= far & ~(2 * near_cells - 1);
    }

    /// Finds the lines and planes of up to 256 sites; a cell without one, of which `first` is the first, has its own.
    void place_sites(const std::int32_t* from, std::int32_t count, std::int32_t first, std::int32_t* line,
                     std::int32_t* plane) const {
        const hn::CappedTag<std::int32_t, 16> d;
        const hn::RebindToUnsigned<decltype(d)> bits;
        const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
        for (std::int32_t k = 0; k < count; k += lanes) {
            const auto own = hn::Iota(d, first + k);
            alignas(64) std::int32_t last[16] = {};
            const bool whole = k + lanes <= count;
            if (!whole) std::copy(from + k, from + count, last);
            const auto read = whole ? hn::LoadU(d, from + k) : hn::Load(d, last);
            const auto lines =
                quotient(hn::BitCast(bits, hn::IfThenElse(hn::Lt(read, hn::Zero(d)), own, read)), by_row_);
            hn::Store(hn::BitCast(d, lines), d, line + k);
            hn::Store(hn::BitCast(d, by_plane_.by == 1 ? lines : quotient(lines, by_plane_)), d, plane + k);
        }
    }

    const problem& p_;
    const std::int32_t* index_;
    const source& image_of_labels_;
    rule<Number, Unit> by_;
    int halves_ = 0;  ///< of labels: 32 bits each
    divisor by_row_, by_plane_;
    std::int64_t image_ = 0;
    std::int64_t column_ = 0, column_end_ = 0;  ///< columns to mark
    std::int32_t far_ = 0;                      ///< not 0: a site is too far for small numbers
};

}  // namespace nearfield::medial_axes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
