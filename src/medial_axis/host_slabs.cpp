// Compares neighbours' vectors to their sites while a plane's lines are found: each line with the one before it and
// with the one in the plane behind it, so that vectors are read from the caches. Vectors of planes at the ends of slabs
// are kept, and compared at the end. Compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "medial_axis/host_slabs.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "exact/room.hpp"
#include "medial_axis/host_slabs.hpp"

#ifndef NEARFIELD_MEDIAL_AXIS_LINES
#define NEARFIELD_MEDIAL_AXIS_LINES
namespace nearfield::medial_axes {

/// Numbers of 16 bits. Sums of the differences of two vectors fit, since their sites are at most both vectors and a
/// cell apart. Squares do not, but their last 16 bits are enough: neighbours' distances differ by a cell at most, so
/// that bond::side is at most 4 most_way + 1.
using small = std::int16_t;
static_assert(4 * exact::most_way + 1 < 1 << 15);

/// A line's vectors to sites, the low bits of their squared lengths, and its marks.
struct line_of_ways {
    small* part[5]{};
    static constexpr int squared = 3, marks = 4, parts = 5;
};
/// Largest number of cells of a vector; memory of lines ends at whole ones.
constexpr std::int64_t vector_cells = 32;
struct columns {
    std::int64_t first = 0, end = 0;
};

}  // namespace nearfield::medial_axes
#endif

HWY_BEFORE_NAMESPACE();
namespace nearfield::medial_axes::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using numbers = hn::CappedTag<small, vector_cells>;
using vector = hn::Vec<numbers>;

/// Vectors of some of a line's cells.
struct some_ways {
    HWY_INLINE some_ways(const line_of_ways& line, std::int64_t x) {
        for (int k = 0; k < line_of_ways::marks; ++k) part[k] = hn::LoadU(numbers(), line.part[k] + x);
    }
    vector part[line_of_ways::marks];
};

/// Tells whether p may be on the axis and whether q may, which is a step along `Axis` from p: by the sign of
/// bond::side, if their sites are not neighbours. Integers whose magnitudes sum to more than 1 have squares that do.
template <int Axis>
struct sides {
    HWY_INLINE sides(const some_ways& p, const some_ways& q) {
        const numbers d;
        const auto one = hn::Set(d, 1);
        const auto apart = [&](int axis) {
            const auto way = hn::Sub(p.part[axis], q.part[axis]);
            return hn::Abs(axis == Axis ? hn::Sub(way, one) : way);
        };
        const auto far = hn::Gt(hn::Add(hn::Add(apart(0), apart(1)), apart(2)), one);
        const auto side = hn::Sub(hn::Sub(p.part[3], q.part[3]), hn::Add(p.part[Axis], q.part[Axis]));
        of_p = hn::VecFromMask(d, hn::And(far, hn::Gt(side, hn::Set(d, -1))));
        of_q = hn::VecFromMask(d, hn::And(far, hn::Gt(one, side)));
    }
    vector of_p, of_q;
};

HWY_INLINE void add_marks(vector more, small* to) {
    const numbers d;
    hn::StoreU(hn::Or(hn::LoadU(d, to), more), d, to);
}

template <int Axis>
HWY_INLINE void compare(const line_of_ways& p, const line_of_ways& q, columns at) {
    for (std::int64_t x = at.first; x < at.end; x += static_cast<std::int64_t>(hn::Lanes(numbers()))) {
        const sides<Axis> found({p, x}, {q, x});
        add_marks(found.of_p, p.part[line_of_ways::marks] + x);
        add_marks(found.of_q, q.part[line_of_ways::marks] + x);
    }
}
void compare_planes(const line_of_ways& p, const line_of_ways& q, columns at) { compare<0>(p, q, at); }
void compare_lines(const line_of_ways& p, const line_of_ways& q, columns at) { compare<1>(p, q, at); }

/// Sets the marks of a line from its cells alone.
void compare_cells(const line_of_ways& p, columns at) {
    const numbers d;
    for (std::int64_t x = at.first; x < at.end; x += static_cast<std::int64_t>(hn::Lanes(d))) {
        const some_ways own(p, x);
        const sides<2> before({p, x - 1}, own), behind(own, {p, x + 1});
        hn::StoreU(hn::Or(before.of_q, behind.of_p), d, p.part[line_of_ways::marks] + x);
    }
}

/// to = the marks of cells that are no sites, or those and what it holds.
void write_marks(const line_of_ways& p, std::int64_t count, bool more, std::uint8_t* HWY_RESTRICT to) {
    const small *HWY_RESTRICT a = p.part[0], *HWY_RESTRICT b = p.part[1], *HWY_RESTRICT c = p.part[2],
                              *HWY_RESTRICT marks = p.part[4];
    const auto mark = [&](std::int64_t x) {
        return static_cast<std::uint8_t>(static_cast<small>((a[x] | b[x] | c[x]) != 0) & marks[x]);
    };
    if (more) {
        for (std::int64_t x = 0; x < count; ++x) to[x] |= mark(x);
    } else {
        for (std::int64_t x = 0; x < count; ++x) to[x] = mark(x);
    }
}

}  // namespace nearfield::medial_axes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::medial_axes {

HWY_EXPORT(compare_planes);
HWY_EXPORT(compare_lines);
HWY_EXPORT(compare_cells);
HWY_EXPORT(write_marks);

namespace {

using exact::site_ways, exact::way_taker;

/// Slabs of fewer planes are not worth their ends.
constexpr std::int64_t least_slab = 8;
/// Columns of a line that stay in the first-level cache through its comparisons.
constexpr std::int64_t some_columns = 1024;
std::int64_t whole_vectors(std::int64_t length) { return (length + vector_cells - 1) / vector_cells * vector_cells; }
/// Numbers of a part of a line: a vector's before its cells, and one more behind them.
std::int64_t pitch_of(std::int64_t length) { return whole_vectors(length) + 2 * vector_cells; }

line_of_ways line_at(small* memory, std::int64_t length) {
    line_of_ways made;
    for (small*& part : made.part) part = memory + vector_cells, memory += pitch_of(length);
    return made;
}
/// Copies vectors, with marks of 0.
void copy_ways(const line_of_ways& from, std::int64_t length, const line_of_ways& to) {
    const std::int64_t count = whole_vectors(length);
    for (int part = 0; part < line_of_ways::marks; ++part) std::copy_n(from.part[part], count, to.part[part]);
    std::fill_n(to.part[line_of_ways::marks], count, small{0});
}

/// Vectors of the planes on both sides of each boundary of slabs, and the axis.
struct call {
    way_taker::parts of;
    std::int64_t line_numbers = 0;  ///< of a line in `ends`
    host_scratch<small> ends;
    std::uint8_t* axis = nullptr;

    /// Returns the line before boundary `slab` of an image, which lies before that slab, or behind it.
    [[nodiscard]] line_of_ways end_of(std::int64_t image, std::int64_t slab, bool behind, std::int64_t line) const {
        const std::int64_t plane = (image * (of.slabs() - 1) + slab - 1) * 2 + (behind ? 1 : 0);
        return line_at(ends.get() + (plane * of.lines + line) * line_numbers, of.length);
    }
    void write(const line_of_ways& from, std::int64_t image, std::int64_t plane, std::int64_t line, bool more) const {
        HWY_DYNAMIC_DISPATCH(write_marks)
        (from, of.length, more, axis + ((image * of.planes + plane) * of.lines + line) * of.length);
    }
};

/// Marks a thread's slabs. Lines that all neighbours but those in other slabs have been compared with are written, and
/// the next one gets their memory.
class slab_marker final : public exact::slab_taker {
public:
    explicit slab_marker(const call& c)
        : c_(c),
          memory_(lines_of(c.of) * c.line_numbers),
          above_(static_cast<std::size_t>(c.of.lines)),
          low_(above_),
          high_(above_) {}

    void begin(std::int64_t image, std::int64_t slab) override {
        if (spare_.empty()) {
            std::fill_n(memory_.get(), lines_of(c_.of) * c_.line_numbers, small{0});
            for (std::int64_t k = 0; k < lines_of(c_.of); ++k)
                spare_.push_back(line_at(memory_.get() + k * c_.line_numbers, c_.of.length));
        }
        image_ = image, slab_ = slab, behind_ = std::min((slab + 1) * c_.of.slab, c_.of.planes);
    }
    void begin_group(std::int64_t first, std::int64_t count) override { first_ = first, last_ = first + count - 1; }

    site_ways next() override {
        line_ = spare_.back();
        spare_.pop_back();
        return {{line_.part[0], line_.part[1], line_.part[2]}, line_.part[3]};
    }

    void take(std::int64_t plane, std::int64_t line) override {
        const auto y = static_cast<std::size_t>(line);
        std::vector<line_of_ways>& own = plane == first_ ? low_ : high_;
        const line_of_ways before = plane == first_ + 1 ? low_[y] : high_[y];  // if there is one in the group
        end_line();
        for (std::int64_t x = 0; x < c_.of.length; x += some_columns) {
            const columns at{x, std::min(x + some_columns, c_.of.length)};
            HWY_DYNAMIC_DISPATCH(compare_cells)(line_, at);
            if (line > 0) HWY_DYNAMIC_DISPATCH(compare_lines)(own[y - 1], line_, at);
            if (plane > first_) HWY_DYNAMIC_DISPATCH(compare_planes)(before, line_, at);
            if (plane == last_ && last_ + 1 < behind_) HWY_DYNAMIC_DISPATCH(compare_planes)(line_, above_[y], at);
        }
        if (plane > first_ + 1) write(before, plane - 1, line);
        if (plane == last_ && last_ + 1 < behind_) write(above_[y], last_ + 1, line);
        if (plane + 1 == behind_ && behind_ < c_.of.planes)
            copy_ways(line_, c_.of.length, c_.end_of(image_, slab_ + 1, false, line));
        own[y] = line_;
    }

    void end_group() override {
        if (last_ > first_)
            for (std::int64_t y = 0; y < c_.of.lines; ++y) write(high_[static_cast<std::size_t>(y)], last_, y);
        std::swap(above_, low_);
    }
    void end() override {
        for (std::int64_t y = 0; y < c_.of.lines; ++y) {
            const line_of_ways& line = above_[static_cast<std::size_t>(y)];
            if (slab_ > 0) copy_ways(line, c_.of.length, c_.end_of(image_, slab_, true, y));
            write(line, first_, y);
        }
    }

    /// Returns how many lines have memory: those of the plane behind a group and of the planes at both of its ends. The
    /// line that replaces one of the plane behind is found before that one can go.
    static std::int64_t lines_of(const way_taker::parts& of) { return (of.together == 1 ? 1 : 3) * of.lines + 1; }

private:
    /// Sets the cells beside the line, which have the sites of its ends and so never count.
    void end_line() const {
        for (int axis = 0; axis < most_axes; ++axis) {
            small* const way = line_.part[axis];
            way[-1] = static_cast<small>(way[0] + (axis == 2 ? 1 : 0));
            way[c_.of.length] = static_cast<small>(way[c_.of.length - 1] - (axis == 2 ? 1 : 0));
        }
    }
    void write(const line_of_ways& from, std::int64_t plane, std::int64_t line) {
        c_.write(from, image_, plane, line, false);
        spare_.push_back(from);
    }

    const call& c_;
    host_scratch<small> memory_;
    std::vector<line_of_ways> spare_;
    std::vector<line_of_ways> above_, low_, high_;  ///< the plane behind the group, its first one, and the one before
    line_of_ways line_;
    std::int64_t image_ = 0, slab_ = 0, behind_ = 0;  ///< first plane behind the slab
    std::int64_t first_ = 0, last_ = 0;               ///< planes of the group
};

class slabs_marker final : public way_taker {
public:
    explicit slabs_marker(const any_output<host>& axis) { call_.axis = static_cast<std::uint8_t*>(axis.data); }

    bool prepare(const parts& of) override {
        if (of.slabs() > 1 && of.slab < least_slab) return false;
        call_.of = of, call_.line_numbers = line_of_ways::parts * pitch_of(of.length);
        call_.ends = host_scratch<small>(of.images * (of.slabs() - 1) * 2 * of.lines * call_.line_numbers);
        for (int thread = 0; thread < of.threads; ++thread) each_.push_back(std::make_unique<slab_marker>(call_));
        return true;
    }
    exact::slab_taker& of_thread(int thread) override { return *each_[static_cast<std::size_t>(thread)]; }

    /// Compares the planes on both sides of the boundaries of slabs.
    void join(const host& on) const {
        const way_taker::parts& of = call_.of;
        const std::int64_t ends = of.slabs() - 1, lines = of.images * ends * of.lines;
        workers crew(on, lines);
        crew.for_each(lines, std::max<std::int64_t>(1, (1 << 15) / of.length), 1,
                      [&](std::int64_t first, std::int64_t last, int) {
                          for (std::int64_t k = first; k < last; ++k)
                              join(k / of.lines / ends, k / of.lines % ends + 1, k % of.lines);
                      });
    }

private:
    void join(std::int64_t image, std::int64_t slab, std::int64_t line) const {
        const line_of_ways p = call_.end_of(image, slab, false, line), q = call_.end_of(image, slab, true, line);
        HWY_DYNAMIC_DISPATCH(compare_planes)(p, q, {0, call_.of.length});
        call_.write(p, image, slab * call_.of.slab - 1, line, true);
        call_.write(q, image, slab * call_.of.slab, line, true);
    }

    call call_;
    std::vector<std::unique_ptr<slab_marker>> each_;
};

}  // namespace

bool suits_slabs(const problem& p, const medial_axis_fields<host>& out) {
    for (const border each : p.where.beyond)
        if (each != border::open) return false;
    return p.method == axis_method::integer && !p.labels && p.counted && p.unit && p.whole.prune == pruning::constant &&
           p.whole.least <= 1 && !out.index.wanted() && !out.second.wanted() &&
           is_contiguous(out.axis.shape.data(), out.axis.stride.data(), out.axis.rank);
}

bool mark_slabs(const host& on, const problem& p, const any_input<host>& image, const medial_axis_fields<host>& out) {
    slabs_marker to(out.axis);
    fields<host> wanted;
    wanted.distance = out.distance, wanted.squared = out.squared;
    if (!exact::take_ways(on, image, wanted, p.options, to)) return false;
    to.join({on.threads, {}});
    ++slabs_taken;
    return true;
}

}  // namespace nearfield::medial_axes
#endif
