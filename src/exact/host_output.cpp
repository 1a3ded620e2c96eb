#include "exact/host_output.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/lines.hpp"
#include "base/with_bytes.hpp"
#include "exact/half.hpp"
#include "exact/host/roots.hpp"
#include "exact/host/sites.hpp"

namespace nearfield::exact {
namespace {

/// Cells converted at a time; few enough for the first-level cache.
constexpr std::int64_t batch = 512;
/// Outputs of large grids bypass the caches in stretches of at least this many cells.
constexpr std::int64_t least_streamed = 128;

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
T whole_number(V squared, T unit2) {
    return squared < no_site<V>() ? static_cast<T>(static_cast<T>(squared) * unit2) : std::numeric_limits<T>::max();
}

}  // namespace

template <class V, class K>
output_writer<V, K>::output_writer(const plan& p, const arrays<host>& a)
    : p_(p),
      m_(p.as_metric<V>()),
      image_(a.image),
      roots_(p),
      closed_(p.any(border::closed) || p.closed_beside < std::numeric_limits<double>::infinity()),
      open_(p.any(border::open) || p.open_beside < std::numeric_limits<double>::infinity()),
      finished_(!closed_ && p.limit == std::numeric_limits<double>::infinity() && !a.out.trusted.wanted()),
      past_caches_(p.cells >= least_streamed_cells),
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
    const fields<host>& out = a.out;
    if (p.plain() && p.unit2 == 1 && distance_.contiguous && distance_.type == dtype::float32 &&
        !out.squared.wanted() && !out.index.wanted() && !out.coordinates.wanted())
        only_distances_ = reinterpret_cast<float*>(distance_.data);
    const auto look = [&](const target& t) { contiguous_ = contiguous_ && (t.data == nullptr || t.contiguous); };
    bool beside = false;  // coordinates along an axis of one cell
    for (std::size_t source = 0; source < static_cast<std::size_t>(p.image_rank); ++source) {
        look(coordinate_[source]);
        beside = beside || (coordinate_[source].data != nullptr && problem_axis_[source] < 0);
    }
    look(distance_), look(index_);
    plain_sites_ = !closed_ && !p.negative_side && !beside && !out.squared.wanted() && !out.label.wanted() &&
                   !out.trusted.wanted() && (!out.distance.wanted() || distance_.type == dtype::float32);
    plan any_type = p;
    any_type.plain_outputs = true;
    only_index_ = any_type.plain() && index_.contiguous && !out.distance.wanted() && !out.squared.wanted() &&
                  !out.coordinates.wanted() && !out.label.wanted() && !out.trusted.wanted();
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(p.rank); ++axis) {
        linear_[axis] = 1;
        for (std::size_t other = 0; other < static_cast<std::size_t>(p.rank); ++other)
            if (p.source_axis[other] > p.source_axis[axis]) linear_[axis] *= p.size[other];
    }
}

/// fill(from, n, T* values) makes the values of cells [c.first + from, ... + n). Squares of spacings are normal
/// numbers, so that only a site has the value 0.
template <class V, class K>
template <class T, class Fill>
void output_writer<V, K>::put(const target& to, const cells& c, const Fill& fill) const {
    T* const data = reinterpret_cast<T*>(to.data);
    for_each_stretch(c.first, c.count, p_.size.data(), to.stride.data(), p_.rank, to.contiguous,
                     [&](std::int64_t offset, std::int64_t step, std::int64_t length, std::int64_t done) {
                         const bool whole = step == 1 && !p_.negative_side;
                         const bool past_caches = past_caches_ && length >= least_streamed;
                         if (whole && !past_caches) return fill(done, length, data + offset);
                         T part[batch];
                         for (std::int64_t from = 0; from < length; from += batch) {
                             const std::int64_t n = std::min(batch, length - from);
                             fill(done + from, n, part);
                             T* const there = data + offset + from * step;
                             if (whole) {
                                 copy_past_caches(part, n * static_cast<std::int64_t>(sizeof(T)), there);
                                 continue;
                             }
                             if (p_.negative_side)
                                 for (std::int64_t i = 0; i < n; ++i)
                                     part[i] = c.value[done + from + i] == V{0} ? there[i * step] : part[i];
                             for (std::int64_t i = 0; i < n; ++i) there[i * step] = part[i];
                         }
                     });
}

void put_negative(const float* root, std::int64_t count, float* to) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = root[i] > 0 ? -root[i] : to[i];
}

template <class V, class K>
void output_writer<V, K>::write_distances(const V* value, std::int64_t count, float* to) const {
    if (!p_.negative_side) return roots_.roots(value, count, to);
    float root[batch];
    for (std::int64_t from = 0; from < count; from += batch) {
        const std::int64_t n = std::min(batch, count - from);
        roots_.roots(value + from, n, root);
        put_negative(root, n, to + from);
    }
}

template <class V, class K>
void output_writer<V, K>::write(std::int64_t first, std::int64_t count, const V* value, const K* key,
                                const std::int8_t* sign) const {
    if (only_distances_ != nullptr) return write_distances(value, count, only_distances_ + first);
    if (finished_) return write_cells({first, count, value, key, sign, nullptr});
    for (std::int64_t from = 0; from < count; from += batch)
        finish(first + from, std::min(batch, count - from), value + from, key == nullptr ? nullptr : key + from,
               sign == nullptr ? nullptr : sign + from);
}

/// Computes the value of the nearest position beyond the borders of one kind, line by line of the last axis.
template <class V, class K>
void output_writer<V, K>::to_border(border kind, double beside, std::int64_t first, std::int64_t count,
                                    V* value) const {
    const int last = p_.rank - 1;
    const std::int64_t length = m_.size[last];
    const bool along_line = p_.borders[static_cast<std::size_t>(last)] == kind;
    const auto term_at = [&](int axis, std::int64_t at) { return m_.term(axis, std::min(at + 1, m_.size[axis] - at)); };
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t line = (first + done) / length, x = first + done - line * length;
        const std::int64_t n = std::min(length - x, count - done);
        V least = plan::bound<V>(beside);
        std::int64_t rest = line;
        for (int axis = last - 1; axis >= p_.first_axis; --axis) {
            const std::int64_t size = m_.size[axis];
            if (p_.borders[static_cast<std::size_t>(axis)] == kind) least = std::min(least, term_at(axis, rest % size));
            rest /= size;
        }
        for (std::int64_t i = 0; i < n; ++i)
            value[done + i] = along_line ? std::min(least, term_at(last, x + i)) : least;
        done += n;
    }
}

template <class V, class K>
void output_writer<V, K>::finish(std::int64_t first, std::int64_t count, const V* value, const K* key,
                                 const std::int8_t* given_sign) const {
    V values[batch], beyond[batch];
    K keys[batch];
    std::int8_t sign[batch];
    std::uint8_t trusted[batch];
    std::copy_n(value, count, values);
    if (key != nullptr) std::copy_n(key, count, keys);
    if (closed_) {
        to_border(border::closed, p_.closed_beside, first, count, beyond);
        if (key != nullptr)
            for (std::int64_t i = 0; i < count; ++i) keys[i] = beyond[i] < values[i] ? no_key<K> : keys[i];
        for (std::int64_t i = 0; i < count; ++i) values[i] = std::min(values[i], beyond[i]);
    }
    const V limit = plan::bound<V>(p_.limit);
    for (std::int64_t i = 0; i < count; ++i) values[i] = values[i] > limit ? no_site<V>() : values[i];
    if (key != nullptr)
        for (std::int64_t i = 0; i < count; ++i) keys[i] = values[i] < no_site<V>() ? keys[i] : no_key<K>;
    if (trusted_.data != nullptr) {
        const bool limited = p_.limit < std::numeric_limits<double>::infinity();
        if (open_) to_border(border::open, p_.open_beside, first, count, beyond);
        for (std::int64_t i = 0; i < count; ++i)
            trusted[i] = !open_ || (values[i] < no_site<V>() ? !(beyond[i] < values[i]) : limited && beyond[i] > limit);
    }
    if (given_sign != nullptr) std::copy_n(given_sign, count, sign);
    write_cells(
        {first, count, values, key == nullptr ? nullptr : keys, given_sign == nullptr ? nullptr : sign, trusted});
}

template <class V, class K>
void output_writer<V, K>::write_cells(const cells& c) const {
    if (distance_.data != nullptr) write_distance(c);
    if (squared_.data != nullptr) write_squared(c);
    if (p_.sites_wanted) write_sites(c);
    if (label_.data != nullptr) write_label(c);
    if (trusted_.data != nullptr)
        put<std::uint8_t>(trusted_, c, [&](std::int64_t from, std::int64_t n, std::uint8_t* to) {
            std::copy_n(c.trusted + from, n, to);
        });
}

template <class V, class K>
void output_writer<V, K>::write_distance(const cells& c) const {
    const auto fill = [&]<class T>(std::int64_t from, std::int64_t n, T* to) {
        roots_.roots(c.value + from, n, to);
        if (p_.negative_side)
            for (std::int64_t i = 0; i < n; ++i) to[i] = -to[i];
        if (c.sign != nullptr)
            for (std::int64_t i = 0; i < n; ++i) to[i] *= static_cast<T>(c.sign[from + i]);
    };
    if (distance_.type == dtype::float32) return put<float>(distance_, c, fill);
    if (distance_.type == dtype::float64) return put<double>(distance_, c, fill);
    if (distance_.type == dtype::boolean)
        return put<std::uint8_t>(distance_, c, [&](std::int64_t from, std::int64_t n, std::uint8_t* to) {
            for (std::int64_t i = 0; i < n; ++i) to[i] = c.value[from + i] < no_site<V>();
        });
    put<std::uint16_t>(distance_, c, [&](std::int64_t from, std::int64_t n, std::uint16_t* to) {
        double root[batch];
        for (std::int64_t done = 0; done < n; done += batch) {
            const std::int64_t some = std::min(batch, n - done);
            fill(from + done, some, root);
            for (std::int64_t i = 0; i < some; ++i) to[done + i] = half_bits(root[i]);
        }
    });
}

template <class V, class K>
void output_writer<V, K>::write_squared(const cells& c) const {
    const auto number = [&](std::int64_t i) {
        const double sign = p_.negative_side ? -1 : c.sign == nullptr ? 1 : c.sign[i];
        const bool none = !(c.value[i] < no_site<V>());
        return sign * (none ? std::numeric_limits<double>::infinity() : static_cast<double>(c.value[i]) * p_.unit2);
    };
    const auto whole = [&]<class T>(std::int64_t from, std::int64_t n, T* to) {
        const auto unit2 = static_cast<T>(p_.whole_unit2());
        for (std::int64_t i = 0; i < n; ++i) to[i] = whole_number<T>(c.value[from + i], unit2);
    };
    const auto real = [&]<class T>(std::int64_t from, std::int64_t n, T* to) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(number(from + i));
    };
    switch (squared_.type) {
        case dtype::uint16: return put<std::uint16_t>(squared_, c, whole);
        case dtype::uint32: return put<std::uint32_t>(squared_, c, whole);
        case dtype::uint64: return put<std::uint64_t>(squared_, c, whole);
        case dtype::float32: return put<float>(squared_, c, real);
        case dtype::float64: return put<double>(squared_, c, real);
        default:
            return put<std::uint16_t>(squared_, c, [&](std::int64_t from, std::int64_t n, std::uint16_t* to) {
                for (std::int64_t i = 0; i < n; ++i) to[i] = half_bits(number(from + i));
            });
    }
}

template <class V, class K>
template <class T>
void output_writer<V, K>::linear(const K* site, std::int64_t count, T* to) const {
    const site_steps steps{p_.keys, linear_.data(), p_.first_axis, p_.rank};
    if constexpr (std::is_same_v<K, T>) return loops_of_sites().offsets(site, count, steps, to);
    // Sites of 32 bits are of at most 2^31 cells; numbers in 32 bits are of no more.
    K part[batch];
    for (std::int64_t from = 0; from < count; from += batch) {
        const std::int64_t n = std::min(batch, count - from);
        loops_of_sites().offsets(site + from, n, steps, part);
        for (std::int64_t i = 0; i < n; ++i) to[from + i] = static_cast<T>(part[i]);
    }
}

template <class V, class K>
void output_writer<V, K>::write_sites(const cells& c) const {
    const auto linear_of = [&]<class T>(std::int64_t from, std::int64_t n, T* to) { linear(c.key + from, n, to); };
    if (index_.data != nullptr && index_.type == dtype::int64) put<std::int64_t>(index_, c, linear_of);
    if (index_.data != nullptr && index_.type == dtype::int32) put<std::int32_t>(index_, c, linear_of);
    for (std::size_t source = 0; source < static_cast<std::size_t>(p_.image_rank); ++source) {
        if (coordinate_[source].data == nullptr) continue;
        const int axis = problem_axis_[source];
        put<std::int32_t>(coordinate_[source], c, [&](std::int64_t from, std::int64_t n, std::int32_t* to) {
            // Along an axis of one cell the coordinate has no bits.
            loops_of_sites().coordinates(c.key + from, n, axis < 0 ? 0 : p_.keys.shift[axis],
                                         axis < 0 ? 0 : p_.keys.bits[axis], to);
        });
    }
}

template <class V, class K>
void output_writer<V, K>::write_label(const cells& c) const {
    // The cells are of one image.
    std::int64_t start = 0, number = c.first / cells_between(p_.size.data(), p_.first_axis, p_.rank);
    for (int axis = p_.first_axis - 1; axis >= 0; --axis) {
        const std::int64_t size = p_.size[static_cast<std::size_t>(axis)];
        start += number % size * p_.image_stride[static_cast<std::size_t>(axis)];
        number /= size;
    }
    with_bytes(size_of(label_.type), [&]<class T>(T) {
        put<T>(label_, c, [&](std::int64_t from, std::int64_t n, T* to) {
            const T* const image = static_cast<const T*>(image_.data) + start;
            const site_steps from_image{p_.keys, p_.image_stride.data(), p_.first_axis, p_.rank};
            std::int64_t offset[batch];
            for (std::int64_t done = 0; done < n; done += batch) {
                const std::int64_t some = std::min(batch, n - done);
                const K* const site = c.key + from + done;
                loops_of_sites().offsets(site, some, from_image, offset);
                for (std::int64_t i = 0; i < some; ++i) to[done + i] = site[i] == no_key<K> ? T{0} : image[offset[i]];
            }
        });
    });
}

template void output_writer<std::int32_t, std::int32_t>::linear(const std::int32_t*, std::int64_t, std::int32_t*) const;
template void output_writer<std::int32_t, std::int32_t>::linear(const std::int32_t*, std::int64_t, std::int64_t*) const;
template void output_writer<std::int64_t, std::int64_t>::linear(const std::int64_t*, std::int64_t, std::int32_t*) const;
template void output_writer<std::int64_t, std::int64_t>::linear(const std::int64_t*, std::int64_t, std::int64_t*) const;
template void output_writer<double, std::int64_t>::linear(const std::int64_t*, std::int64_t, std::int32_t*) const;
template void output_writer<double, std::int64_t>::linear(const std::int64_t*, std::int64_t, std::int64_t*) const;
template class output_writer<std::int32_t, std::int32_t>;
template class output_writer<std::int64_t, std::int64_t>;
template class output_writer<double, std::int64_t>;

}  // namespace nearfield::exact
