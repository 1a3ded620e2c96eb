#include "exact/host_output.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/lines.hpp"
#include "exact/half.hpp"
#include "exact/host_simd.hpp"

namespace nearfield::exact {
namespace {

/// Cells converted at a time; small enough for the first-level cache.
constexpr std::int64_t batch = 512;

target target_of(const plan& p, const any_output<host>& out, int leading_axes) {
    target t;
    if (!out.wanted()) return t;
    t.data = static_cast<std::byte*>(out.data);
    t.type = out.type;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(p.rank); ++axis)
        t.stride[axis] = out.stride[static_cast<std::size_t>(p.source_axis[axis] + leading_axes)];
    t.contiguous = is_contiguous(p.size.data(), t.stride.data(), p.rank);
    return t;
}

template <class T, class V>
T whole_number(V squared) {
    return squared < no_site<V>() ? static_cast<T>(squared) : std::numeric_limits<T>::max();
}

/// Walks cells in C order and knows how far each is from the ends of the grid.
template <class V>
class border_walk {
public:
    border_walk(const plan& p, std::int64_t cell) : p_(p), m_(p.as_metric<V>()) {
        for (int axis = p.rank - 1; axis >= 0; --axis) {
            at_[axis] = cell % m_.size[axis];
            cell /= m_.size[axis];
        }
    }
    void step() {
        for (int axis = p_.rank - 1; axis >= 0 && ++at_[axis] == m_.size[axis]; --axis) at_[axis] = 0;
    }
    /// Value of the nearest position beyond the borders of one kind; no_site where there are none.
    [[nodiscard]] V beyond(border kind, double beside) const {
        V least = plan::bound<V>(beside);
        for (int axis = p_.first_axis; axis < p_.rank; ++axis)
            if (p_.borders[static_cast<std::size_t>(axis)] == kind)
                least = std::min(least, m_.term(axis, std::min(at_[axis] + 1, m_.size[axis] - at_[axis])));
        return least;
    }

private:
    const plan& p_;
    const metric<V> m_;
    std::int64_t at_[max_rank]{};
};

}  // namespace

output_writer::output_writer(const plan& p, const arrays<host>& a, const class_field& classes)
    : p_(p),
      image_(a.image),
      classes_(classes),
      plain_(p.plain()),
      distance_(target_of(p, a.out.distance, 0)),
      squared_(target_of(p, a.out.squared, 0)),
      index_(target_of(p, a.out.index, 0)),
      label_(target_of(p, a.out.label, 0)),
      trusted_(target_of(p, a.out.trusted, 0)) {
    problem_axis_.fill(-1);
    for (int axis = 0; axis < p.rank; ++axis)
        problem_axis_[static_cast<std::size_t>(p.source_axis[static_cast<std::size_t>(axis)])] = axis;
    if (a.out.coordinates.wanted()) {
        const target plane = target_of(p, a.out.coordinates, 1);
        for (std::int64_t axis = p.batch_axes; axis < p.image_rank; ++axis) {
            auto& to = coordinate_[static_cast<std::size_t>(axis)] = plane;
            to.data += (axis - p.batch_axes) * a.out.coordinates.stride[0] * size_of(dtype::int32);
        }
    }
    std::int64_t step = 1;
    for (int axis = p.rank - 1; axis >= 0; --axis) {
        linear_[static_cast<std::size_t>(axis)] = step;
        step *= p.size[static_cast<std::size_t>(axis)];
    }
}

bool lends_state(const plan& p, const fields<host>& out, std::int64_t bytes) {
    for (const any_output<host>* field : {&out.distance, &out.squared, &out.index})
        if (field->wanted() && size_of(field->type) == bytes && target_of(p, *field, 0).contiguous) return true;
    return false;
}

std::byte* output_writer::borrow(std::int64_t bytes) const {
    for (const target* t : {&distance_, &squared_, &index_})
        if (t->data != nullptr && t->contiguous && size_of(t->type) == bytes) return t->data;
    return nullptr;
}

/// fill(from, n, T* values) makes the values of cells [first + from, ... + n).
template <class T, class Fill>
void output_writer::put(const target& to, std::int64_t first, std::int64_t count, const Fill& fill) const {
    T* const data = reinterpret_cast<T*>(to.data);
    for_each_stretch(first, count, p_.size.data(), to.stride.data(), p_.rank, to.contiguous,
                     [&](std::int64_t offset, std::int64_t step, std::int64_t length, std::int64_t done) {
                         if (step == 1) return fill(done, length, data + offset);
                         T part[batch];
                         for (std::int64_t from = 0; from < length; from += batch) {
                             const std::int64_t n = std::min(batch, length - from);
                             fill(done + from, n, part);
                             for (std::int64_t i = 0; i < n; ++i) data[offset + (from + i) * step] = part[i];
                         }
                     });
}

template <class V, class K>
void output_writer::write(std::int64_t first, std::int64_t count, const V* value, const K* key) const {
    if (plain_) return write_cells(cells<V, K>{first, count, value, key, nullptr, nullptr});
    for (std::int64_t from = 0; from < count; from += batch)
        finish(first + from, std::min(batch, count - from), value + from, key == nullptr ? nullptr : key + from);
}

template <class V, class K>
void output_writer::finish(std::int64_t first, std::int64_t count, const V* value, const K* key) const {
    V values[batch];
    K keys[batch];
    std::int8_t sign[batch];
    std::uint8_t trusted[batch];
    const V limit = plan::bound<V>(p_.limit);
    const bool limited = p_.limit < std::numeric_limits<double>::infinity();
    const bool closed = p_.any(border::closed) || p_.closed_beside < std::numeric_limits<double>::infinity();
    const bool open = p_.any(border::open) || p_.open_beside < std::numeric_limits<double>::infinity();
    border_walk<V> here(p_, first);
    for (std::int64_t i = 0; i < count; ++i, here.step()) {
        V nearest = value[i];
        bool in_grid = true;
        if (closed) {
            const V to_border = here.beyond(border::closed, p_.closed_beside);
            if (to_border < nearest) nearest = to_border, in_grid = false;
        }
        const bool found = nearest < no_site<V>() && !(nearest > limit);
        values[i] = found ? nearest : no_site<V>();
        if (key != nullptr) keys[i] = found && in_grid ? key[i] : no_key<K>;
        if (trusted_.data != nullptr) {
            const V unseen = open ? here.beyond(border::open, p_.open_beside) : V{};
            trusted[i] = !open || (found ? !(unseen < nearest) : limited && unseen > limit);
        }
        if (p_.is_signed())
            sign[i] = static_cast<std::int8_t>(classes_.inside(first + i) ? p_.inside_sign : p_.outside_sign);
    }
    write_cells(cells<V, K>{first, count, values, key == nullptr ? nullptr : keys, p_.is_signed() ? sign : nullptr, trusted});
}

template <class V, class K>
void output_writer::write_cells(const cells<V, K>& c) const {
    if (distance_.data != nullptr) write_distance(c);
    if (squared_.data != nullptr) write_squared(c);
    if (p_.sites_wanted) write_sites(c);
    if (label_.data != nullptr) write_label(c);
    if (trusted_.data != nullptr)
        put<std::uint8_t>(trusted_, c.first, c.count, [&](std::int64_t from, std::int64_t n, std::uint8_t* to) {
            std::copy_n(c.trusted + from, n, to);
        });
}

template <class V, class K>
void output_writer::write_distance(const cells<V, K>& c) const {
    const auto signed_root = [&](std::int64_t i) {
        const double squared = static_cast<double>(c.value[i]) * (p_.half_cell ? 0.25 : 1.0);
        const double root =
            c.value[i] < no_site<V>() ? std::sqrt(squared) : std::numeric_limits<double>::infinity();
        return c.sign == nullptr ? root : c.sign[i] * root;
    };
    const auto fill = [&]<class T>(std::int64_t from, std::int64_t n, T* to) {
        if (c.sign == nullptr && !p_.half_cell) return roots(c.value + from, n, to);
        for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(signed_root(from + i));
    };
    if (distance_.type == dtype::float32) return put<float>(distance_, c.first, c.count, fill);
    if (distance_.type == dtype::float64) return put<double>(distance_, c.first, c.count, fill);
    put<std::uint16_t>(distance_, c.first, c.count, [&](std::int64_t from, std::int64_t n, std::uint16_t* to) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = half_bits(signed_root(from + i));
    });
}

template <class V, class K>
void output_writer::write_squared(const cells<V, K>& c) const {
    const auto number = [&](std::int64_t i) {
        if (!(c.value[i] < no_site<V>())) return (c.sign == nullptr ? 1 : c.sign[i]) * std::numeric_limits<double>::infinity();
        const double squared = static_cast<double>(c.value[i]) * (p_.half_cell ? 0.25 : 1.0);
        return c.sign == nullptr ? squared : c.sign[i] * squared;
    };
    const auto whole = [&]<class T>(std::int64_t from, std::int64_t n, T* to) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = whole_number<T>(c.value[from + i]);
    };
    const auto real = [&]<class T>(std::int64_t from, std::int64_t n, T* to) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(number(from + i));
    };
    switch (squared_.type) {
        case dtype::uint16: return put<std::uint16_t>(squared_, c.first, c.count, whole);
        case dtype::uint32: return put<std::uint32_t>(squared_, c.first, c.count, whole);
        case dtype::uint64: return put<std::uint64_t>(squared_, c.first, c.count, whole);
        case dtype::float32: return put<float>(squared_, c.first, c.count, real);
        case dtype::float64: return put<double>(squared_, c.first, c.count, real);
        default:
            return put<std::uint16_t>(squared_, c.first, c.count,
                                      [&](std::int64_t from, std::int64_t n, std::uint16_t* to) {
                                          for (std::int64_t i = 0; i < n; ++i) to[i] = half_bits(number(from + i));
                                      });
    }
}

template <class V, class K>
void output_writer::write_sites(const cells<V, K>& c) const {
    const auto linear = [&]<class T>(std::int64_t from, std::int64_t n, T* to) {
        const K* site = c.key + from;
        std::fill(to, to + n, T{0});
        for (int axis = p_.first_axis; axis < p_.rank; ++axis) {
            const auto step = static_cast<T>(linear_[static_cast<std::size_t>(axis)]);
            for (std::int64_t i = 0; i < n; ++i) to[i] += static_cast<T>(p_.keys.coordinate(site[i], axis)) * step;
        }
        for (std::int64_t i = 0; i < n; ++i) to[i] = site[i] == no_key<K> ? -1 : to[i];
    };
    if (index_.data != nullptr && index_.type == dtype::int64) put<std::int64_t>(index_, c.first, c.count, linear);
    if (index_.data != nullptr && index_.type == dtype::int32) put<std::int32_t>(index_, c.first, c.count, linear);
    for (std::size_t source = 0; source < static_cast<std::size_t>(p_.image_rank); ++source) {
        if (coordinate_[source].data == nullptr) continue;
        const int axis = problem_axis_[source];
        put<std::int32_t>(coordinate_[source], c.first, c.count,
                          [&](std::int64_t from, std::int64_t n, std::int32_t* to) {
                              for (std::int64_t i = 0; i < n; ++i) {
                                  const K site = c.key[from + i];
                                  to[i] = site == no_key<K> ? -1
                                          : axis < 0        ? 0
                                                            : static_cast<std::int32_t>(p_.keys.coordinate(site, axis));
                              }
                          });
    }
}

template <class V, class K>
void output_writer::write_label(const cells<V, K>& c) const {
    std::int64_t image_cells = 1;
    for (int axis = p_.first_axis; axis < p_.rank; ++axis) image_cells *= p_.size[static_cast<std::size_t>(axis)];
    const auto carry_over = [&]<class T>(std::int64_t from, std::int64_t n, T* to) {
        for (std::int64_t i = 0; i < n; ++i) {
            const K site = c.key[from + i];
            std::int64_t offset = 0, number = (c.first + from + i) / image_cells;
            for (int axis = p_.first_axis - 1; axis >= 0; --axis) {
                const std::int64_t size = p_.size[static_cast<std::size_t>(axis)];
                offset += number % size * p_.image_stride[static_cast<std::size_t>(axis)];
                number /= size;
            }
            for (int axis = p_.first_axis; axis < p_.rank; ++axis)
                offset += p_.keys.coordinate(site, axis) * p_.image_stride[static_cast<std::size_t>(axis)];
            to[i] = site == no_key<K> ? T{0} : static_cast<const T*>(image_.data)[offset];
        }
    };
    switch (size_of(label_.type)) {
        case 1: return put<std::uint8_t>(label_, c.first, c.count, carry_over);
        case 2: return put<std::uint16_t>(label_, c.first, c.count, carry_over);
        case 4: return put<std::uint32_t>(label_, c.first, c.count, carry_over);
        default: return put<std::uint64_t>(label_, c.first, c.count, carry_over);
    }
}

template void output_writer::write(std::int64_t, std::int64_t, const std::int32_t*, const std::int32_t*) const;
template void output_writer::write(std::int64_t, std::int64_t, const std::int64_t*, const std::int64_t*) const;
template void output_writer::write(std::int64_t, std::int64_t, const double*, const std::int64_t*) const;

}  // namespace nearfield::exact
