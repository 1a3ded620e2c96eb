#include "exact/host_output.hpp"

#include <algorithm>
#include <limits>

#include "base/lines.hpp"
#include "exact/host_simd.hpp"

namespace nearfield::exact {
namespace {

/// Cells converted at a time; small enough for the first-level cache.
constexpr std::int64_t batch = 512;

target target_of(const plan& p, const any_output<host>& out, int leading_axes) {
    target t;
    t.data = static_cast<std::byte*>(out.data);
    t.type = out.type;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(p.rank); ++axis)
        t.stride[axis] = out.stride[static_cast<std::size_t>(p.source_axis[axis] + leading_axes)];
    t.contiguous = is_contiguous(p.size.data(), t.stride.data(), p.rank);
    return t;
}

template <class T, class V>
T converted(V squared) {
    if (squared < no_site<V>()) return static_cast<T>(squared);
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
    else return std::numeric_limits<T>::max();
}

}  // namespace

output_writer::output_writer(const plan& p, const fields<host>& out) : p_(p) {
    if (out.distance.wanted()) distance_ = target_of(p, out.distance, 0);
    if (out.squared.wanted()) squared_ = target_of(p, out.squared, 0);
    if (out.index.wanted()) index_ = target_of(p, out.index, 0);
    problem_axis_.fill(-1);
    for (int axis = 0; axis < p.rank; ++axis)
        problem_axis_[static_cast<std::size_t>(p.source_axis[static_cast<std::size_t>(axis)])] = axis;
    if (out.coordinates.wanted()) {
        const target plane = target_of(p, out.coordinates, 1);
        for (std::int64_t axis = 0; axis < p.image_rank; ++axis) {
            auto& to = coordinate_[static_cast<std::size_t>(axis)] = plane;
            to.data += axis * out.coordinates.stride[0] * size_of(dtype::int32);
        }
    }
    std::int64_t step = 1;
    for (int axis = p.rank - 1; axis >= 0; --axis) {
        linear_[static_cast<std::size_t>(axis)] = step;
        step *= p.size[static_cast<std::size_t>(axis)];
    }
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
void output_writer::write(std::int64_t first, std::int64_t count, const V* squared, const K* key) const {
    const auto root = [&](std::int64_t from, std::int64_t n, auto* to) { roots(squared + from, n, to); };
    const auto square = [&]<class T>(std::int64_t from, std::int64_t n, T* to) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = converted<T>(squared[from + i]);
    };
    const auto linear = [&](std::int64_t from, std::int64_t n, std::int64_t* to) {
        const K* site = key + from;
        std::fill(to, to + n, 0);
        for (int axis = 0; axis < p_.rank; ++axis) {
            const std::int64_t step = linear_[static_cast<std::size_t>(axis)];
            for (std::int64_t i = 0; i < n; ++i) to[i] += p_.keys.coordinate(site[i], axis) * step;
        }
        for (std::int64_t i = 0; i < n; ++i) to[i] = site[i] == no_key<K> ? -1 : to[i];
    };
    if (distance_.data != nullptr && distance_.type == dtype::float32) put<float>(distance_, first, count, root);
    if (distance_.data != nullptr && distance_.type == dtype::float64) put<double>(distance_, first, count, root);
    if (squared_.data != nullptr && squared_.type == dtype::uint32) put<std::uint32_t>(squared_, first, count, square);
    if (squared_.data != nullptr && squared_.type == dtype::uint64) put<std::uint64_t>(squared_, first, count, square);
    if (squared_.data != nullptr && squared_.type == dtype::float64) put<double>(squared_, first, count, square);
    if (index_.data != nullptr) put<std::int64_t>(index_, first, count, linear);
    for (std::size_t source = 0; source < static_cast<std::size_t>(p_.image_rank); ++source) {
        if (coordinate_[source].data == nullptr) continue;
        const int axis = problem_axis_[source];
        put<std::int32_t>(coordinate_[source], first, count, [&](std::int64_t from, std::int64_t n, std::int32_t* to) {
            for (std::int64_t i = 0; i < n; ++i) {
                const K site = key[from + i];
                to[i] = site == no_key<K> ? -1
                        : axis < 0        ? 0
                                          : static_cast<std::int32_t>(p_.keys.coordinate(site, axis));
            }
        });
    }
}

template void output_writer::write(std::int64_t, std::int64_t, const std::int32_t*, const std::int32_t*) const;
template void output_writer::write(std::int64_t, std::int64_t, const std::int64_t*, const std::int64_t*) const;
template void output_writer::write(std::int64_t, std::int64_t, const double*, const std::int64_t*) const;

}  // namespace nearfield::exact
