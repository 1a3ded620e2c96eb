// The passes on the host: threads own rows, and compare each row with the four beside it.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "medial_axis/host_slabs.hpp"
#include "medial_axis/host_walks.hpp"
#include "medial_axis/steps.hpp"

namespace nearfield::medial_axes {
namespace {

constexpr std::int64_t task_cells = 1 << 15;

/// A row's vectors to sites with their squared lengths, and its labels.
template <class Number>
struct row {
    std::int64_t number = -1;  ///< the row's number in the image
    std::vector<Number> to[most_axes], squared;
    std::vector<std::uint64_t> label;

    void resize(std::int64_t cells, bool labels) {
        for (std::vector<Number>& each : to) each.resize(static_cast<std::size_t>(cells));
        squared.resize(static_cast<std::size_t>(cells));
        if (labels) label.resize(static_cast<std::size_t>(cells));
    }
    [[nodiscard]] cell<Number> at(std::int64_t x) const {
        const auto k = static_cast<std::size_t>(x);
        return {{to[0][k], to[1][k], to[2][k]}, squared[k]};
    }
};

/// Marks the rows of one task. Keeps the rows in use: three in the plane, and those of the planes before and after.
template <class Number, bool Unit>
class marker {
public:
    marker(const problem& p, const pass& over, const rule<Number, Unit>& by) : p_(p), over_(over), by_(by) {
        for (row<Number>& each : rows_) each.resize(p.where.size[2], p.labels);
        beyond_.resize(p.where.size[2], p.labels);
        marked_.resize(static_cast<std::size_t>(p.where.size[2]));
        if (over.second.data != nullptr) farthest_.resize(marked_.size()), second_.resize(marked_.size());
    }

    void mark(std::int64_t image, std::int64_t z, std::int64_t y) {
        if (image != image_) {
            image_ = image;
            for (row<Number>& each : rows_) each.number = -1;
        }
        std::fill(marked_.begin(), marked_.end(), std::uint8_t{0});
        std::fill(farthest_.begin(), farthest_.end(), Number{0});
        std::fill(second_.begin(), second_.end(), std::int64_t{-1});
        const row<Number>& own = row_at(z, y);
        own_ = own.number;
        for (int axis = 0; axis < 2; ++axis)
            for (int direction = -1; direction <= 1; direction += 2) {
                std::int64_t at[2] = {z, y};
                if (moved(at[axis], axis, direction)) look(own, row_at(at[0], at[1]), axis, direction, 0);
                else if (p_.where.beyond[axis] == border::closed) look(own, beyond_, axis, direction, 0);
            }
        for (int direction = -1; direction <= 1; direction += 2) look(own, own, 2, direction, direction);
        write(own, z, y);
    }

private:
    [[nodiscard]] bool moved(std::int64_t& at, int axis, int direction) const {
        const std::int64_t size = p_.where.size[axis];
        at += direction;
        if (at >= 0 && at < size) return true;
        if (p_.where.beyond[axis] != border::periodic) return false;
        at = at < 0 ? size - 1 : 0;
        return true;
    }

    const row<Number>& row_at(std::int64_t z, std::int64_t y) {
        const std::int64_t number = z * p_.where.size[1] + y;
        for (const row<Number>& each : rows_)
            if (each.number == number) return each;
        if (rows_[oldest_].number == own_) oldest_ = (oldest_ + 1) % std::size(rows_);
        row<Number>& made = rows_[oldest_];
        oldest_ = (oldest_ + 1) % std::size(rows_);
        made.number = number;
        read(made, z, y);
        return made;
    }

    void read(row<Number>& made, std::int64_t z, std::int64_t y) const {
        if (over_.index.type == dtype::int32) read_as<std::int32_t>(made, z, y);
        else read_as<std::int64_t>(made, z, y);
        if (!p_.labels) return;
        std::int64_t at = over_.image.first_of(p_.where, image_) + z * over_.image.step[0] + y * over_.image.step[1];
        for (std::uint64_t& each : made.label) each = bits_at(over_.image, at), at += over_.image.step[2];
    }

    template <class Index>
    void read_as(row<Number>& made, std::int64_t z, std::int64_t y) const {
        const grid& g = p_.where;
        const auto* from = static_cast<const Index*>(over_.index.data) + over_.index.first_of(g, image_) +
                           z * over_.index.step[0] + y * over_.index.step[1];
        std::int64_t last = -1, site[most_axes]{};  // the last site, which neighbours often share
        for (std::int64_t x = 0; x < g.size[2]; ++x) {
            const std::int64_t index = from[x * over_.index.step[2]], at[most_axes] = {z, y, x};
            if (index != last && index >= 0) {
                const std::int64_t line = index / g.size[2];
                site[2] = index - line * g.size[2], site[0] = line / g.size[1], site[1] = line - site[0] * g.size[1];
                last = index;
            }
            put(made, x, index < 0 ? nearest_border(by_, at, g.size, g.beyond) : seen_from(at, site));
        }
    }

    [[nodiscard]] cell<Number> seen_from(const std::int64_t* at, const std::int64_t* site) const {
        cell<Number> made;
        for (int axis = 0; axis < most_axes; ++axis) {
            std::int64_t way = site[axis] - at[axis];
            if (p_.where.beyond[axis] == border::periodic) way = shorter_way(way, p_.where.size[axis]);
            made.to[axis] = static_cast<Number>(way);
        }
        made.squared = by_.dot(made.to, made.to);
        return made;
    }

    static void put(row<Number>& made, std::int64_t x, const cell<Number>& value) {
        const auto k = static_cast<std::size_t>(x);
        for (int axis = 0; axis < most_axes; ++axis) made.to[axis][k] = value.to[axis];
        made.squared[k] = value.squared;
    }

    /// Compares each cell of `own` with the one `shift` cells along in `other`, which lies `direction` along `axis`.
    void look(const row<Number>& own, const row<Number>& other, int axis, int direction, std::int64_t shift) {
        const std::int64_t size = p_.where.size[2], first = std::max<std::int64_t>(0, -shift);
        const std::int64_t end = size - std::max<std::int64_t>(0, shift);
        if (p_.labels || over_.second.data != nullptr || by_.prune != pruning::constant) {
            for (std::int64_t x = first; x < end; ++x) look_closely(own, other, axis, direction, x, x + shift);
        } else {
            for (std::int64_t x = first; x < end; ++x) {
                const bond<Number> found = between<true>(by_, own.at(x), other.at(x + shift), axis, direction);
                marked_[static_cast<std::size_t>(x)] |= static_cast<std::uint8_t>(found.counts & (found.side >= 0));
            }
        }
        if (shift == 0 || p_.where.beyond[2] == border::open) return;
        const row<Number>& over_the_end = p_.where.beyond[2] == border::closed ? beyond_ : other;
        look_closely(own, over_the_end, axis, direction, shift < 0 ? 0 : size - 1, shift < 0 ? size - 1 : 0);
    }

    void look_closely(const row<Number>& own, const row<Number>& other, int axis, int direction, std::int64_t x,
                      std::int64_t there) {
        const auto k = static_cast<std::size_t>(x), l = static_cast<std::size_t>(there);
        // A cell with another label is a site.
        const bool foreign = p_.labels && own.label[k] != other.label[l];
        const bond<Number> found = between(by_, own.at(x), foreign ? cell<Number>{} : other.at(there), axis, direction);
        if (!found.counts || found.side < 0) return;
        marked_[k] = 1;
        if (second_.empty() || found.apart2 <= farthest_[k]) return;
        farthest_[k] = found.apart2;
        const std::int64_t number = other.number * p_.where.size[2] + there;
        second_[k] = other.number < 0 ? -1
                     : foreign        ? number
                                      : index_at(over_.index, offset_in_index(other.number, there));
    }

    [[nodiscard]] std::int64_t offset_in_index(std::int64_t number, std::int64_t x) const {
        const std::int64_t at[most_axes] = {number / p_.where.size[1], number % p_.where.size[1], x};
        return over_.index.first_of(p_.where, image_) + over_.index.offset(at);
    }

    void write(const row<Number>& own, std::int64_t z, std::int64_t y) const {
        const std::int64_t at[most_axes] = {z, y, 0};
        auto* to =
            static_cast<std::uint8_t*>(over_.axis.data) + over_.axis.first_of(p_.where, image_) + over_.axis.offset(at);
        for (std::size_t x = 0; x < marked_.size(); ++x, to += over_.axis.step[2])
            *to = own.squared[x] > 0 ? marked_[x] : 0;
        if (second_.empty()) return;
        std::int64_t offset = over_.second.first_of(p_.where, image_) + over_.second.offset(at);
        for (std::size_t x = 0; x < marked_.size(); ++x, offset += over_.second.step[2]) {
            const std::int64_t site = own.squared[x] > 0 ? second_[x] : -1;
            if (over_.second.type == dtype::int32)
                static_cast<std::int32_t*>(over_.second.data)[offset] = static_cast<std::int32_t>(site);
            else static_cast<std::int64_t*>(over_.second.data)[offset] = site;
        }
    }

    const problem& p_;
    const pass& over_;
    const rule<Number, Unit>& by_;
    std::int64_t image_ = -1;
    row<Number> rows_[6];
    row<Number> beyond_;  ///< vectors to sites beyond a closed border
    std::size_t oldest_ = 0;
    std::int64_t own_ = -1;  ///< number of the row that is being marked, which stays in memory
    std::vector<std::uint8_t> marked_;
    std::vector<Number> farthest_;
    std::vector<std::int64_t> second_;
};

/// Owns the memory of a call on the host, and runs its passes.
class backend {
public:
    void* make(std::int64_t bytes) { return memory_.emplace_back(bytes).get(); }

    /// Calls body(image, z, y) for every row; a thread gets consecutive rows.
    template <class Make>
    static void for_rows(const host& on, const problem& p, const Make& make) {
        const std::int64_t rows = p.where.size[0] * p.where.size[1], row_cells = p.where.size[2];
        workers crew(on, p.where.images * rows * row_cells);
        const std::int64_t block = std::max<std::int64_t>(1, task_cells / row_cells);
        crew.for_each(p.where.images * rows, block, row_cells, [&](std::int64_t first, std::int64_t last, int) {
            auto body = make();
            for (std::int64_t number = first; number < last; ++number) {
                const std::int64_t image = number / rows, in_image = number - image * rows;
                body(image, in_image / p.where.size[1], in_image % p.where.size[1]);
            }
        });
    }

    void mark(const host& on, const problem& p, const pass& over, bool dense) const {
        if (has_walks(p, over, dense)) return mark_rows(on, p, over);
        if (!p.counted) return mark_by<double, false>(on, p, over, p.real);
        if (!p.fits_int32()) return mark_by<std::int64_t, false>(on, p, over, p.whole);
        if (p.unit) mark_by<std::int32_t, true>(on, p, over, narrowed<true>(p.whole));
        else mark_by<std::int32_t, false>(on, p, over, narrowed<false>(p.whole));
    }

    void keep_balls(const host& on, const problem& p, const void* squared, dtype type, const target& axis) const {
        if (type == dtype::uint32) keep(on, p, static_cast<const std::uint32_t*>(squared), axis);
        else keep(on, p, static_cast<const std::uint64_t*>(squared), axis);
    }

    void keep_owners(const host& on, const problem& p, const void* squared, dtype type, const void* index,
                     dtype index_type, const target& axis) const {
        auto* const to = static_cast<std::uint8_t*>(axis.data);
        for_rows(on, p, [&] {
            return [&](std::int64_t image, std::int64_t z, std::int64_t y) {
                const std::int64_t at[most_axes] = {z, y, 0}, first = axis.first_of(p.where, image) + axis.offset(at);
                for (std::int64_t x = 0; x < p.where.size[2]; ++x) to[first + x * axis.step[2]] = 0;
            };
        });
        const source owner{index, index_type};
        for_rows(on, p, [&] {
            return [&](std::int64_t image, std::int64_t z, std::int64_t y) {
                const std::int64_t first = ((image * p.where.size[0] + z) * p.where.size[1] + y) * p.where.size[2];
                for (std::int64_t number = first; number < first + p.where.size[2]; ++number)
                    if (has_radius(squared, type, number))
                        std::atomic_ref(to[axis.first_of(p.where, image) +
                                           offset_of_number(p.where, axis, index_at(owner, number))])
                            .store(1, std::memory_order_relaxed);
            };
        });
    }

    void count_radii(const host& on, const problem& p, const source& from, const target& to) const {
        for_rows(on, p, [&] {
            return [&](std::int64_t image, std::int64_t z, std::int64_t y) {
                std::int64_t at[most_axes] = {z, y, 0};
                for (; at[2] < p.where.size[2]; ++at[2])
                    static_cast<std::int64_t*>(to.data)[to.first_of(p.where, image) + to.offset(at)] =
                        counted_radius(number_at(from, from.first_of(p.where, image) + from.offset(at)), p.unit2);
            };
        });
    }

    void cut(const host& on, const problem& p, const double* power, const target& out) const {
        for_rows(on, p, [&] {
            return [&](std::int64_t image, std::int64_t z, std::int64_t y) {
                const double* of_row = power + ((image * p.where.size[0] + z) * p.where.size[1] + y) * p.where.size[2];
                std::int64_t at[most_axes] = {z, y, 0};
                for (; at[2] < p.where.size[2]; ++at[2])
                    if (!(of_row[at[2]] < 0)) clear_at(out, out.first_of(p.where, image) + out.offset(at));
            };
        });
    }

private:
    template <class Number, bool Unit>
    static void mark_by(const host& on, const problem& p, const pass& over, const rule<Number, Unit>& by) {
        for_rows(on, p, [&] {
            return [m = marker<Number, Unit>(p, over, by)](std::int64_t image, std::int64_t z, std::int64_t y) mutable {
                m.mark(image, z, y);
            };
        });
    }

    template <class Squared>
    static void keep(const host& on, const problem& p, const Squared* squared, const target& axis) {
        const ball_steps around = steps_of(p.where, p.whole.weights);
        for_rows(on, p, [&] {
            return [&](std::int64_t image, std::int64_t z, std::int64_t y) {
                const Squared* const first = squared + image * p.where.cells();
                std::int64_t at[most_axes] = {z, y, 0};
                for (; at[2] < p.where.size[2]; ++at[2])
                    static_cast<std::uint8_t*>(axis.data)[axis.first_of(p.where, image) + axis.offset(at)] =
                        keeps_ball(p.where, around, first, at);
            };
        });
    }

    std::vector<host_scratch<std::byte>> memory_;
};

}  // namespace

void run(const host& on, const problem& p, const any_input<host>& image, const medial_axis_fields<host>& out) {
    backend here;
    if (!suits_slabs(p, out)) return steps<host, backend>(on, p, here).axis(image, out);
    const bool sure = p.largest <= longest2_of_slabs;  // no site can be too far
    if (mark_slabs(sure ? on : part_of(on, 0, 2), p, image, out)) return workers(on, 1).go_on(1);
    const host rest = sure ? on : part_of(on, 1, 2);
    steps<host, backend>(rest, p, here).axis(image, out);
}

void rebuild(const host& on, const problem& p, const any_input<host>& axis, const any_input<host>& squared,
             const any_output<host>& out) {
    backend here;
    steps<host, backend>(on, p, here).rebuild(axis, squared, out);
}

}  // namespace nearfield::medial_axes
